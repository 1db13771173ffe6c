"""One reference against all there are: which BLEU agrees better with people."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from deltableu import BLEU, SentenceBLEU
from deltableu.stats.correlation import Method, correlate
from deltableu.stats.williams import williams_metrics
from deltableu.text.tokens import Tokenize
from deltableu.validate.difference_bootstrap import bootstrap_difference
from deltableu.validate.levels import Level
from deltableu.validate.permutation import permutation_test
from reproduce.agreement_cells import RESAMPLES, SEED, Agreed, by_item, of_outputs, of_systems
from reproduce.layout import against, number, p_value, table, with_interval
from reproduce.rated_sets import (
    RatedSet,
    References,
    read_dstc7,
    read_mlqe,
    read_multirefeval,
)
from reproduce.scores import segment_scores, system_scores

__all__ = ["PUBLISHED", "nlg_eval_bleu", "section"]

Array = np.ndarray[Any, np.dtype[np.float64]]

ORDERS = (2, 4)
METHODS: dict[Method, str] = {"pearson": "r", "spearman": "rho", "kendall-b": "tau-b"}
LEVELS: dict[Level, str] = {"pooled": "all outputs", "item": "within items", "system": "systems"}

#: results/singleref.log and multiref.log of harsh19/Diverse-Reference-Augmentation (dab1327), the
#: code of Gangal et al. 2021: nlg-eval's sentence BLEU on the 500 responses of multirefeval.
PUBLISHED: dict[tuple[str, int], dict[Method, float]] = {
    ("single", 2): {
        "pearson": 0.19497178092822115,
        "spearman": 0.040361095031753835,
        "kendall-b": 0.02928494628119065,
    },
    ("every", 2): {
        "pearson": 0.22483911291703973,
        "spearman": 0.20333220874014968,
        "kendall-b": 0.14181997568325416,
    },
    ("single", 4): {
        "pearson": 0.08962806950030913,
        "spearman": 0.09280061011348946,
        "kendall-b": 0.06663836075139869,
    },
    ("every", 4): {
        "pearson": 0.14677417774719037,
        "spearman": 0.2806256503231385,
        "kendall-b": 0.19713827861161437,
    },
}

SETTING = """\
sBLEU-n is `sentence-bleu` of order n, method `moses`; its system score is the mean over outputs.
BLEU-n is a system's corpus score. *all outputs* pools them; *within items* correlates the systems
on each item and averages, items on which a metric says nothing counting 0; *systems* correlates
system scores. Intervals are 95%: bootstrap percentiles over items, for systems by formula. The
difference is all references minus one, with a percentile bootstrap of items and systems together
(of items, where there is one system, and of systems for corpus BLEU). p-values are two-sided:
PERM-BOTH exchanges each pair of scores by itself, PERM-SYS all scores of a system ({resamples:,}
exchanges, or all where there are fewer); Williams' test stands beside them for systems.

Read them together: where items are many, as on Reddit, exchanging single scores hardly moves a
system's mean, and PERM-BOTH tells of these systems alone. The bootstrap, PERM-SYS and Williams'
test ask about other systems; where they find nothing, there is no claim about other systems."""

SETS = {
    "multirefeval": """\
**DailyDialog** (Gupta et al. 2019; multirefeval): 100 contexts, 5 systems, one of them people (a
held-out reference); 4 references, the single one being the original; mean of 5 ratings. Tokens as
they are.""",
    "mlqe": """\
**Estonian to English** (Fomicheva et al. 2020; MLQE): 1,000 sentences, one system; the single
reference is the first of two; standardised ratings. 13a tokens, cased.""",
    "dstc7": """\
**Reddit** (Galley et al. 2019; DSTC7 task 2): {items} contexts with references, 9 machine systems,
two of which always say the same or something random; the single reference is what a person replied,
beside which {references:,} were collected ({median:.0f} a context at the median); mean of relevance
and informativeness by 3 judges. Lower-cased 13a tokens. The person's reply cannot be scored by
itself and is no system here.""",
}

EXACT = """\
Published for DailyDialog: what the code of Gangal et al. 2021 prints for these 500 responses
(harsh19/Diverse-Reference-Augmentation, dab1327). It takes nlg-eval's sentence BLEU, which is not
smoothed but for 1e-15; computed here from our n-gram counts."""


@dataclass(frozen=True, slots=True)
class Compared:
    """A metric with one reference and with all, at one level by one method."""

    level: Level
    method: Method
    name: str
    one: Agreed
    every: Agreed
    difference: str
    perm_both: float
    perm_systems: float
    williams: float

    def row(self) -> list[str]:
        where = [LEVELS[self.level], self.name, METHODS[self.method]]
        tests = map(p_value, (self.perm_both, self.perm_systems, self.williams))
        return [*where, str(self.one), str(self.every), self.difference, *tests]


def nlg_eval_bleu(rated: RatedSet, references: References, order: int) -> Array:
    """Sentence BLEU of nlg-eval (coco-caption's), systems x items, from our n-gram counts."""
    metric = BLEU(order=order, tokenize="none")
    encoded = metric.encode(references)
    scores = []
    for own in rated.outputs:
        rows = metric.statistics(own, encoded).rows
        matched, there = rows[:, :order], rows[:, order : 2 * order]
        length, reference_length = rows[:, 2 * order], rows[:, 2 * order + 1]
        precisions = (matched + 1e-15) / (there + 1e-9)
        ratio = (length + 1e-15) / (reference_length + 1e-9)
        penalty = np.where(ratio < 1.0, np.exp(1.0 - 1.0 / ratio), 1.0)
        scores.append(np.exp(np.log(precisions).mean(axis=1)) * penalty)
    return np.stack(scores)


def published_rows(rated: RatedSet) -> Iterator[list[str]]:
    for (kind, order), values in PUBLISHED.items():
        references = rated.single if kind == "single" else rated.every
        scores = nlg_eval_bleu(rated, references, order).ravel()
        cells = []
        for method, value in values.items():
            ours = float(correlate(scores, rated.human.ravel(), method))
            printed, away = against(ours, value, 6)
            cells += [printed, number(ours, 6), away]
        yield [f"BLEU-{order}", "one" if kind == "single" else "all", *cells]


def compare(rated: RatedSet, tokenize: Tokenize, lowercase: bool) -> Iterator[Compared]:
    """All levels, orders and methods."""
    settings: dict[str, Any] = {"tokenize": tokenize, "lowercase": lowercase}
    for order in ORDERS:
        metric = SentenceBLEU(order=order, method="moses", **settings)
        one, every = (
            segment_scores(metric, rated.outputs, references)
            for references in (rated.single, rated.every)
        )
        human = rated.human
        levels: tuple[Level, ...] = ("pooled", "item", "system")
        if len(rated.systems) == 1:
            levels = ("pooled",)
            items = range(human.shape[1])
            one, every, human = by_item(items, one[0], every[0], human[0])
        for level in levels:
            for method in METHODS:
                yield _compared(f"sBLEU-{order}", one, every, human, level, method)
        if len(rated.systems) > 1:
            corpus = BLEU(order=order, **settings)
            totals = [
                system_scores(corpus, rated.outputs, references)
                for references in (rated.single, rated.every)
            ]
            for method in METHODS:
                yield _whole_systems(
                    f"BLEU-{order}", totals[0], totals[1], human.mean(axis=1), method
                )


def _compared(
    name: str, one: Array, every: Array, human: Array, level: Level, method: Method
) -> Compared:
    several = not np.isnan(human).any()
    resample: Literal["both", "items"] = "both" if several else "items"
    options: dict[str, Any] = {"method": method, "level": level, "resamples": RESAMPLES}
    options["seed"] = SEED
    drawn = bootstrap_difference(every, one, human, resample=resample, **options)
    difference = with_interval(drawn.difference, drawn.interval)
    perm_both = permutation_test(every, one, human, **options).p_value
    if level == "system":
        x, y, people = (scores.mean(axis=1) for scores in (one, every, human))
        whole = _whole_systems(name, x, y, people, method)
        return replace(whole, difference=difference, perm_both=perm_both)
    agreed = of_outputs(one, human, method, level), of_outputs(every, human, method, level)
    return Compared(level, method, name, *agreed, difference, perm_both, np.nan, np.nan)


def _whole_systems(name: str, one: Array, every: Array, human: Array, method: Method) -> Compared:
    """From one score a system."""
    agreed = of_systems(one, human, method), of_systems(every, human, method)
    x, y, people = (scores[:, np.newaxis] for scores in (every, one, human))
    options: dict[str, Any] = {"method": method, "resamples": RESAMPLES, "seed": SEED}
    drawn = bootstrap_difference(x, y, people, resample="systems", **options)
    difference = with_interval(drawn.difference, drawn.interval)
    perm_systems = permutation_test(x, y, people, swap="systems", **options).p_value
    williams = np.nan
    if method == "pearson" or method == "spearman":
        williams = williams_metrics(human, every, one, "two-sided", method=method).p_value
    return Compared("system", method, name, *agreed, difference, np.nan, perm_systems, williams)


def _table(found: Iterator[Compared]) -> list[str]:
    order = list(LEVELS)
    rows = sorted(found, key=lambda one: order.index(one.level))
    header = ["level", "metric", "correlation", "one reference", "all references", "difference"]
    header += ["PERM-BOTH p", "PERM-SYS p", "Williams p"]
    return table(header, [one.row() for one in rows])


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    dialogues, translations, reddit = read_multirefeval(data), read_mlqe(data), read_dstc7(data)
    collected = [len(references) - 1 for references in reddit.every]
    about = SETS["dstc7"].format(
        items=len(collected), references=sum(collected), median=np.median(collected)
    )
    header = ["metric", "references"]
    for name in METHODS.values():
        header += [f"published {name}", name, "difference"]
    lines = [
        "## One reference against many",
        "",
        SETTING.format(resamples=RESAMPLES),
        "",
        SETS["multirefeval"],
        "",
        *_table(compare(dialogues, "none", False)),
        "",
        EXACT,
        "",
        *table(header, published_rows(dialogues)),
        "",
        SETS["mlqe"],
        "",
        *_table(compare(translations, "13a", False)),
        "",
        about,
        "",
        *_table(compare(reddit, "13a", True)),
        "",
    ]
    return "\n".join(lines)
