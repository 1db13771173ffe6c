"""E2E and WebNLG 2020: do metrics order data-to-text systems as people do?"""

from __future__ import annotations

import csv
import gzip
import warnings
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltableu import BLEU
from deltableu.corpus import RatingTable
from deltableu.errors import InputWarning
from deltableu.rate.direct_assessment import direct_assessment
from deltableu.score import Metric
from deltableu.score.metrics.chrf import ChrF, ChrFPlusPlus
from deltableu.score.metrics.cider import CIDErD
from deltableu.score.metrics.nist import NIST
from deltableu.score.metrics.rouge import RougeL
from deltableu.score.metrics.sentinels import Length
from reproduce.agreement_cells import of_outputs, of_systems
from reproduce.layout import against, number, table
from reproduce.scores import segment_scores, system_scores
from reproduce.wmt_systems import read_lines

__all__ = ["Task", "read_e2e", "read_webnlg", "section"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: TGen's scores in Dušek et al. 2018.
TGEN = {"BLEU": 65.93, "NIST": 8.6094, "ROUGE-L": 68.50, "CIDEr-D": 2.2338}
CRITERIA = ("Correctness", "DataCoverage", "Fluency", "Relevance", "TextStructure")
#: evaluation/correlation/en/english.ipynb of WebNLG/challenge-2020 (a63ca98).
WEBNLG_SEGMENTS = {
    "BLEU": (0.36, 0.28, 0.40, 0.30, 0.37),
    "chrF++": (0.43, 0.40, 0.41, 0.36, 0.39),
}

SETTING = """\
System level, several references. Intervals are 95%, by formula, and speak of other systems. The
last metric, the length of the outputs, knows nothing of quality: what agrees no better than that
may have measured length."""

E2E = """\
**E2E** (Dušek et al. 2018): {systems} primary systems, {items} meaning representations,
{references:.1f} references each on average. Workers gave five outputs of one representation a
number each, of any size, so only their order is used: the share of the other four that an output
beats (a tie is half), averaged for each system over {quality:,} ratings of quality and
{naturalness:,} of naturalness. The challenge itself ranked by TrueSkill; no correlations of its own
are at hand. Lower-cased 13a tokens."""

TGEN_NOTE = """\
TGen is the challenge's baseline, whose scores are published. Its ROUGE-L and CIDEr-D are
coco-caption's, which has other tokens and weighs recall more; why NIST differs is not known."""

WEBNLG = """\
**WebNLG 2020** (Castro Ferreira et al. 2020), English: {systems} systems on the {items} rated
items, up to 5 references. {ratings:,} ratings of 0-100, standardised by rater; a system's score is
the mean of its items' means. The texts that people wrote are rated too, but no system. 13a tokens,
cased; NIST lower-cased. No published correlations of systems are at hand. Pearson's r, then
Spearman's rho:"""

WEBNLG_NOTE = """\
All outputs of WebNLG 2020 ({outputs:,}), Pearson's r, beside the organisers' notebook
(WebNLG/challenge-2020, a63ca98; two digits). Its BLEU is NLTK's, with references missing from five
filled up by a word."""


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What systems wrote for each item, and its references."""

    systems: tuple[str, ...]
    items: tuple[str, ...]
    outputs: tuple[list[str], ...]
    references: list[list[str]]


def metrics(lowercase: bool) -> dict[str, Metric]:
    """The last one knows nothing of quality."""
    return {
        "BLEU": BLEU(lowercase=lowercase),
        "NIST": NIST(lowercase=True),
        "chrF": ChrF(),
        "chrF++": ChrFPlusPlus(),
        "ROUGE-L": RougeL(),
        "CIDEr-D": CIDErD(lowercase=lowercase),
        "length": Length(),
    }


def read_e2e(data: Path) -> tuple[Task, dict[str, Array], dict[str, int]]:
    """The systems, how people rank them by criterion, and the number of ratings."""
    folder = data / "e2e_nlg"
    references = defaultdict(list)
    path = folder / "testset_w_refs.csv.gz"
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        for row in csv.DictReader(lines):
            references[row["mr"]].append(row["ref"])
    items = tuple(references)
    outputs = {}
    for path in sorted((folder / "primary").glob("*.tsv.gz")):
        rows = (line.split("\t") for line in read_lines(path)[1:])
        written = {_unquoted(item): _unquoted(text) for item, text in rows}
        outputs[path.name.removesuffix(".tsv.gz")] = [written[item] for item in items]
    systems = tuple(outputs)
    human, sizes = {}, {}
    for criterion in ("quality", "naturalness"):
        shares = _shares_beaten(folder / f"{criterion}.tsv.gz")
        human[criterion] = np.array([np.mean(shares[system]) for system in systems])
        sizes[criterion] = sum(map(len, shares.values()))
    task = Task(systems, items, tuple(outputs.values()), [references[item] for item in items])
    return task, human, sizes


def _unquoted(cell: str) -> str:
    """Participants' files differ in quotes and line ends."""
    cell = cell.strip()
    for quote in "\"'":
        if len(cell) > 1 and cell[0] == cell[-1] == quote:
            return cell[1:-1].replace(quote * 2, quote)
    return cell


def _shares_beaten(path: Path) -> Mapping[str, list[float]]:
    """For each system, which share of the outputs beside it every rating of it beats."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as lines:
        header, *rows = (line.rstrip("\n").split("\t") for line in lines)
    tasks: dict[tuple[str, str], list[tuple[str, float]]] = defaultdict(list)
    for row in rows:
        cells = dict(zip(header, row, strict=True))
        tasks[cells["worker"], cells["unit"]].append((cells["system"], float(cells["rating"])))
    shares: dict[str, list[float]] = defaultdict(list)
    for ratings in tasks.values():
        values = np.array([value for _, value in ratings])
        for system, value in ratings:
            # It ties with itself.
            beaten = (values < value).sum() + ((values == value).sum() - 1) / 2
            shares[system].append(float(beaten / (len(values) - 1)))
    return shares


def read_webnlg(data: Path) -> tuple[Task, dict[str, Array], dict[str, Array], int]:
    """The systems; their and their outputs' scores by criterion; and the number of ratings."""
    folder = data / "webnlg2020"
    header, *rows = (line.split("\t") for line in read_lines(folder / "ratings-en.tsv.gz"))
    names, ids, workers = ([row[place] for row in rows] for place in range(3))
    items = tuple(sorted(set(ids), key=int))
    references = {}
    for line in read_lines(folder / "references-en.tsv.gz")[1:]:
        item, _, _, *texts = line.split("\t")
        references[item] = [text for text in texts if text]
    systems = tuple(sorted(set(names) - {"WebNLG-2020-reference"}))
    submitted = {name: read_lines(folder / "submissions" / f"{name}.en.gz") for name in systems}
    task = Task(
        systems,
        items,
        tuple([submitted[name][int(item) - 1] for item in items] for name in systems),
        [references[item] for item in items],
    )
    totals, segments = {}, {}
    order = (items, (*systems, "WebNLG-2020-reference"))
    for criterion in CRITERIA:
        values = [float(row[header.index(criterion)]) for row in rows]
        judgements = RatingTable.of(
            raters=workers, items=ids, systems=names, values=values, order=order
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputWarning)  # raters who gave one value always
            found = direct_assessment(judgements)
        totals[criterion] = found.z[: len(systems)]
        segments[criterion] = found.pooled_z[: len(systems)]
    return task, totals, segments, len(rows)


def _scores(task: Task, made: Mapping[str, Metric]) -> dict[str, Array]:
    return {
        name: system_scores(metric, task.outputs, task.references) for name, metric in made.items()
    }


def e2e(data: Path) -> list[str]:
    task, human, sizes = read_e2e(data)
    scores = {
        name: system_scores(metric, task.outputs, task.references)
        for name, metric in metrics(lowercase=True).items()
    }
    rows = [
        [
            name,
            *(str(of_systems(own, y, m)) for y in human.values() for m in ("pearson", "spearman")),
        ]
        for name, own in scores.items()
    ]
    tgen = []
    for name, published in TGEN.items():
        ours = float(scores[name][task.systems.index("tgen")])
        printed, away = against(ours, published, 2)
        tgen.append([name, printed, number(ours, 2), away])
    header = ["metric", "quality, r", "quality, rho", "naturalness, r", "naturalness, rho"]
    return [
        E2E.format(
            systems=len(task.systems),
            items=len(task.items),
            references=np.mean([len(texts) for texts in task.references]),
            **sizes,
        ),
        "",
        *table(header, rows),
        "",
        TGEN_NOTE,
        "",
        *table(["TGen", "published", "ours", "difference"], tgen),
        "",
    ]


def webnlg(data: Path) -> list[str]:
    task, totals, segments, ratings = read_webnlg(data)
    made = metrics(lowercase=False)
    scores = {
        name: system_scores(metric, task.outputs, task.references) for name, metric in made.items()
    }
    sizes = {"systems": len(task.systems), "items": len(task.items), "ratings": ratings}
    lines = [WEBNLG.format(**sizes), ""]
    for method in ("pearson", "spearman"):
        rows = [
            [name, *(str(of_systems(own, y, method)) for y in totals.values())]
            for name, own in scores.items()
        ]
        lines += [*table(["metric", *CRITERIA], rows), ""]
    rows = []
    for name, published in WEBNLG_SEGMENTS.items():
        own = segment_scores(made[name], task.outputs, task.references)
        for criterion, value in zip(CRITERIA, published, strict=True):
            found = of_outputs(own, segments[criterion])
            printed, away = against(found.value, value, 2)
            rows.append([name, criterion, printed, str(found), away])
    outputs = int((~np.isnan(segments[CRITERIA[0]])).sum())
    header = ["metric", "criterion", "published r", "r", "difference"]
    return [*lines, WEBNLG_NOTE.format(outputs=outputs), "", *table(header, rows), ""]


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    lines = ["## Data to text: E2E and WebNLG 2020", "", SETTING, "", *e2e(data), *webnlg(data)]
    return "\n".join(lines)
