"""WMT'17, to English: sentence BLEU, chrF and BLEU against Direct Assessment, as published."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from html import unescape
from multiprocessing import get_context
from pathlib import Path
from typing import Any

import numpy as np

from deltableu import BLEU, SentenceBLEU
from deltableu.score.metrics.chrf import ChrF
from deltableu.score.metrics.ter import TER
from reproduce.agreement_cells import Agreed, by_item, of_outputs, of_systems
from reproduce.layout import NOTHING, against, number, table
from reproduce.wmt_systems import NewsTask, read_news_task

__all__ = ["RatedSegments", "read_rated_segments", "section", "system_level"]

Array = np.ndarray[Any, np.dtype[np.float64]]

PAIRS = ("cs", "de", "fi", "lv", "ru", "tr", "zh")
#: Of Wei's notebook (johntzwei/mt_metrics, 9bed07a), which repeats the metrics task's tables.
SENTENCE_BLEU = dict(zip(PAIRS, (0.435, 0.432, 0.571, 0.393, 0.484, 0.538, 0.512), strict=True))
CHRF = dict(zip(PAIRS, (0.514, 0.531, 0.671, 0.525, 0.599, 0.607, 0.591), strict=True))
SYSTEM_BLEU = dict(zip(PAIRS, (0.971, 0.923, 0.903, 0.979, 0.912, 0.976, 0.864), strict=True))
SYSTEM_CHRF = dict(zip(PAIRS, (0.939, 0.968, 0.938, 0.968, 0.952, 0.944, 0.859), strict=True))
SYSTEM_TER = dict(zip(PAIRS, (0.989, 0.906, 0.952, 0.971, 0.912, 0.954, 0.847), strict=True))
#: Wei's Table 2.
SYSTEM_TAU = dict(zip(PAIRS, (1.0, 0.564, 0.867, 0.833, 0.778, 0.911, 0.767), strict=True))

#: Every so many sentences get a TER.
TER_STEP = 10
#: Official scores are printed with six digits.
ROUNDING = 2e-5

SETTING = """\
Bojar et al. 2017; the published values are those of Wei's notebook (johntzwei/mt_metrics, 9bed07a)
and of Wei's Table 2. People: Direct Assessment, standardised. *tau* is Wei's: pairs tied on either
side are dropped.

The texts at hand are lower-cased, tokenised by Moses and HTML-escaped. sentBLEU was computed on
such text, so it is reproduced as it stands (`sentence-bleu`, method `moses`, no tokenizer of ours).
BLEU (`intl` tokens), chrF and TER are computed after the escapes are undone. chrF and TER depend on
case and tokenisation, which these texts have lost: they cannot be reproduced exactly."""

SYSTEM_NOTE = """\
There are no texts and no system ratings of lv, ru and tr in this data: what is
missing is marked with a dash. With 4 systems an interval says little, and none of tau exists."""

TER_NOTE = """\
chrF and TER, system level. TER is slow (sacreBLEU's implementation), so it is computed on every
{step}th sentence only, for which its correlation is a noisy one; |r| as published."""


@dataclass(frozen=True, slots=True, eq=False)
class RatedSegments:
    """Single translations that people rated; several may be of one source sentence."""

    hypotheses: list[str]
    references: list[str]
    human: Array
    sources: list[str]

    def unescaped(self) -> RatedSegments:
        """With HTML escapes undone."""
        return replace(
            self,
            hypotheses=[unescape(text) for text in self.hypotheses],
            references=[unescape(text) for text in self.references],
        )


def read_rated_segments(data: Path) -> dict[str, RatedSegments]:
    """The 560 rated segments of every pair."""
    path = data / "wmt15_17_daseg" / "wmt15_17_daseg.tsv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        header = next(lines).rstrip("\n").split("\t")
        rows = [dict(zip(header, line.rstrip("\n").split("\t"), strict=True)) for line in lines]
    found = {}
    for pair in PAIRS:
        own = [row for row in rows if (row["set"], row["src"]) == ("newstest2017", pair)]
        found[pair] = RatedSegments(
            [row["mt-system"] for row in own],
            [row["reference"] for row in own],
            np.array([float(row["human"]) for row in own]),
            [row["source"] for row in own],
        )
    return found


def sentence_bleu(segments: RatedSegments) -> Array:
    """What Moses' `sentence-bleu` gives on this tokenised text."""
    metric = SentenceBLEU(method="moses", tokenize="none")
    rows = metric.compute(segments.hypotheses, [[text] for text in segments.references])
    return rows.segment_scores()


def chrf(segments: RatedSegments) -> Array:
    """chrF of each segment, of text without escapes."""
    plain = segments.unescaped()
    return ChrF().compute(plain.hypotheses, [[text] for text in plain.references]).segment_scores()


def official_scores(data: Path, pair: str) -> tuple[int, int] | None:
    """How many of the task's own sentBLEU scores are ours too, and of how many."""
    path = data / "wmt17" / "WMT17" / "testset" / f"testset_{pair}-en.tsv"
    if not path.is_file():
        return None
    lines = path.read_text("utf-8").removesuffix("\n").split("\n")[1:]
    _, sources, hypotheses, references, human, official = zip(
        *(line.split("\t") for line in lines), strict=True
    )
    segments = RatedSegments(
        list(hypotheses), list(references), np.array(human, np.float64), list(sources)
    )
    away = np.abs(sentence_bleu(segments) / 100.0 - np.array(official, np.float64))
    return int((away <= ROUNDING).sum()), len(away)


def segment_rows(data: Path) -> Iterator[tuple[list[str], list[str]]]:
    """A row of the table of sentBLEU, and one of that of chrF, for each pair."""
    for pair, segments in read_rated_segments(data).items():
        size = [f"{pair}-en", str(len(segments.human)), str(len(set(segments.sources)))]
        made = []
        for scores, published in (
            (sentence_bleu(segments), SENTENCE_BLEU[pair]),
            (chrf(segments), CHRF[pair]),
        ):
            metric, human = by_item(segments.sources, scores, segments.human)
            r = of_outputs(metric, human, "pearson")
            tau = of_outputs(metric, human, "kendall-wei")
            printed, away = against(r.value, published)
            made.append([*size, printed, str(r), away, str(tau)])
        same = official_scores(data, pair)
        made[0].append(NOTHING if same is None else f"{same[0]} of {same[1]}")
        yield made[0], made[1]


def system_level(data: Path, pair: str) -> NewsTask | None:
    """The systems of a pair, their texts without escapes; None where there are no texts."""
    folder = data / "wmt17" / "WMT17"
    if not (folder / "system-outputs" / f"{pair}-en").is_dir():
        return None
    task = read_news_task(folder, 2017, f"{pair}-en")
    return replace(
        task,
        outputs=tuple([unescape(text) for text in own] for own in task.outputs),
        references=[unescape(text) for text in task.references],
    )


def system_rows(data: Path) -> Iterator[tuple[list[str], list[str]]]:
    """A row of the table of BLEU, and one of that of chrF and TER, for each pair."""
    tasks = {pair: system_level(data, pair) for pair in PAIRS}
    ter = every_ter({pair: task for pair, task in tasks.items() if task is not None})
    for pair, task in tasks.items():
        size = [f"{pair}-en", NOTHING if task is None else str(len(task.systems))]
        if task is None:
            yield (
                [*size, *_unknown(SYSTEM_BLEU[pair]), *_unknown(SYSTEM_TAU[pair])],
                [*size, *_unknown(SYSTEM_CHRF[pair]), NOTHING, *_unknown(SYSTEM_TER[pair])],
            )
            continue
        bleu, chrf_ = task.scores(BLEU(tokenize="intl")), task.scores(ChrF())
        yield (
            [
                *size,
                *_compared(of_systems(bleu, task.human), SYSTEM_BLEU[pair]),
                *_compared(of_systems(bleu, task.human, "kendall-wei"), SYSTEM_TAU[pair]),
            ],
            [
                *size,
                *_compared(of_systems(chrf_, task.human), SYSTEM_CHRF[pair]),
                str(of_systems(chrf_, task.human, "kendall-wei")),
                *_compared(of_systems(-ter[pair], task.human), SYSTEM_TER[pair]),
            ],
        )


def every_ter(tasks: dict[str, NewsTask]) -> dict[str, Array]:
    """TER of all systems on a part of the test set."""
    keys = [(pair, place) for pair, task in tasks.items() for place in range(len(task.systems))]
    texts = [tasks[pair].outputs[place][::TER_STEP] for pair, place in keys]
    references = [tasks[pair].references[::TER_STEP] for pair, _ in keys]
    # It holds the interpreter's lock: processes, not threads.
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        scores = list(pool.map(_ter, texts, references))
    return {
        pair: np.array([score for (own, _), score in zip(keys, scores, strict=True) if own == pair])
        for pair in tasks
    }


def _ter(hypotheses: list[str], references: list[str]) -> float:
    return TER().compute(hypotheses, [[text] for text in references]).score().score


def _compared(found: Agreed, published: float) -> list[str]:
    printed, away = against(found.value, published)
    return [printed, str(found), away]


def _unknown(published: float) -> list[str]:
    return [number(published), NOTHING, NOTHING]


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    sentence_rows, chrf_rows = zip(*segment_rows(data), strict=True)
    common = ["pair", "n", "source sentences", "published r", "r", "difference", "tau"]
    bleu_rows, other_rows = zip(*system_rows(data), strict=True)
    r, tau = ["published r", "r", "difference"], ["published tau", "tau", "difference"]
    chrf_header = ["chrF: published r", "r", "difference", "tau"]
    ter_header = ["TER: published r", "r", "difference"]
    lines = [
        "## WMT'17 to English",
        "",
        SETTING,
        "",
        "sentBLEU, segment level. The last column counts the task's own scores of single segments "
        f"that are ours to {ROUNDING:g}, where they are at hand.",
        "",
        *table([*common, "official scores"], sentence_rows),
        "",
        "chrF, segment level.",
        "",
        *table(common, chrf_rows),
        "",
        SYSTEM_NOTE,
        "",
        "BLEU, system level.",
        "",
        *table(["pair", "n", *r, *tau], bleu_rows),
        "",
        TER_NOTE.format(step=TER_STEP),
        "",
        *table(["pair", "n", *chrf_header, *ter_header], other_rows),
        "",
    ]
    return "\n".join(lines)
