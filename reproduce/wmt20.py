"""WMT'20: the organisers' correlations, Williams p-values and winners, computed again."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltableu.stats.correlation import Method, correlate
from deltableu.stats.williams import williams_test
from deltableu.validate.winners import rank_metrics
from reproduce.layout import NOTHING, table

__all__ = ["OUTLIERS", "Recomputed", "recompute", "section"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: Systems that WMT20 left out as outliers. Its list is not that of its printed rule; in each
#: language pair only this set gives the published correlation of raw with standardised ratings.
OUTLIERS: dict[str, tuple[str, ...]] = {
    "csen": ("zlabs-nlp.1149", "CUNI-DocTransformer.1457"),
    "encs": ("Online-G.1555", "zlabs-nlp.1151"),
    "ende": ("Online-G.1556", "zlabs-nlp.179", "WMTBiomedBaseline.388"),
    "enja": (),
    "enpl": ("Online-A.1576", "zlabs-nlp.180", "Online-Z.1634"),
    "enru": (),
    "enta": ("SJTU-NICT.386", "TALP_UPC.1049", "Online-G.1561"),
    "iuen": ("Facebook_AI.729", "NiuTrans.1206"),
    "kmen": (),
    "plen": ("zlabs-nlp.1162",),
    "psen": (),
    "taen": ("TALP_UPC.192", "Online-G.1568"),
}
#: en-de has other references beside the first.
REFERENCES = [(pair, "newstest2020", "") for pair in OUTLIERS] + [
    ("ende", f"newstest{name}2020", f"_{name}") for name in "BMP"
]

#: Digits that count as the same.
SAME = 1e-6
#: How the organisers mark what is not significant.
NOT_SIGNIFICANT = "0.12"

SETTING = """\
Mathur et al. 2020 (WMT-Metrics-task/wmt20-metrics, 3e434fc): scores of whole systems, translations
by people left out. Correlations are Kendall's tau-b over all systems and Pearson's r without
outliers; p-values are those of the one-sided Williams test (n - 3 degrees of freedom) of each
metric against each. *same* means to {same:g}; cells that the organisers mark as not significant
count as the same where ours is 0.05 or more. Winners are the metrics that no other significantly
outperforms. Raw human ratings are among the metrics. en-de has three more sets of references (B, P,
and all together, M), whose p-values are published without outliers only. en-iu is left out: its
systems' scores are not at hand.

The winners that differ are Yisi-combi and bleurt-Yisi-combi, whose system scores are one and the
same: the organisers' test of one against the other is 0/0, and both lost their win by it."""


@dataclass(frozen=True, slots=True)
class Recomputed:
    """How many published numbers are ours too, of how many, and the largest difference.

    Attributes
    ----------
    blank : tuple of int
        Cells marked as not significant: so with us, and in all.
    winners : tuple of int or None
        Metrics of which both say the same, and in all; None where winners are not published.
    """

    systems: int
    correlations: tuple[int, int]
    correlations_off: float
    p_values: tuple[int, int]
    p_values_off: float
    blank: tuple[int, int]
    winners: tuple[int, int] | None


def recompute(folder: Path, pair: str, references: str, suffix: str, outliers: bool) -> Recomputed:
    """One language pair, with or without outliers."""
    kind = "" if outliers else "-excloutl"
    out = () if outliers else OUTLIERS[pair]
    scores = _system_scores(folder / f"DA-{references}-{pair}-sys-scores.csv", out)
    human = scores["HUMAN"]
    header, *body = _cells(folder / f"DA-{pair}{suffix}-cor{kind}.csv")
    method: Method = "pearson" if header[1] == "Pearson" else "kendall-b"
    away = np.array([abs(correlate(scores[row[0]], human, method) - float(row[1])) for row in body])
    told_winners = {row[0] for row in body if len(row) > 3 and row[3] == "True"}
    tests = folder / f"DA-{pair}{suffix}-sig{kind}.csv"
    if not tests.is_file():
        correlations = int((away <= SAME).sum()), len(away)
        return Recomputed(len(human), correlations, away.max(), (0, 0), np.nan, (0, 0), None)
    header, *body = _cells(tests)
    names = header[1:]
    published = [row[1:] for row in body]
    p_values, with_human = _williams([scores[name] for name in names], human)
    off, blank = [], []
    for one, row in enumerate(published):
        for two, cell in enumerate(row):
            if cell == NOT_SIGNIFICANT:
                blank.append(p_values[one, two] >= 0.05)
            elif cell and one != two:
                off.append(abs(p_values[one, two] - float(cell)))
    winners = None
    if told_winners:
        ours = set(rank_metrics(names, with_human, p_values, correction="wmt").winners)
        same = [(name in ours) == (name in told_winners) for name in names]
        winners = sum(same), len(same)
    return Recomputed(
        systems=len(human),
        correlations=(int((away <= SAME).sum()), len(away)),
        correlations_off=float(away.max()),
        p_values=(sum(value <= SAME for value in off), len(off)),
        p_values_off=max(off, default=np.nan),
        blank=(sum(blank), len(blank)),
        winners=winners,
    )


def _williams(metrics: Sequence[Array], human: Array) -> tuple[Array, Array]:
    """p-values of each metric being better than each, and each metric's correlation."""
    values = np.stack(metrics)
    with_human = correlate(values, human)
    between = correlate(values[:, np.newaxis], values)
    size = len(values)
    p_values = np.ones((size, size))
    for one in range(size):
        for two in range(size):
            if one != two:
                r12, r13, r23 = with_human[one], with_human[two], between[one, two]
                p_values[one, two] = williams_test(r12, r13, r23, len(human)).p_value
    return p_values, with_human


def _system_scores(path: Path, out: tuple[str, ...]) -> dict[str, Array]:
    """Each metric's scores of the machine systems, people's among them."""
    header, *body = _cells(path, " ")
    kept = [row for row in body if not row[1].startswith("Human") and row[1] not in out]
    columns = dict(zip(header, zip(*kept, strict=True), strict=True))
    # Some metrics did not score all systems.
    return {
        name: np.array(column, np.float64)
        for name, column in columns.items()
        if "" not in column and name not in ("LP", "SYSTEM")
    }


def _cells(path: Path, delimiter: str = "\t") -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return list(csv.reader(lines, delimiter=delimiter))


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    folder = data / "wmt20_metrics" / "results" / "output" / "system-level"
    rows = []
    for pair, references, suffix in REFERENCES:
        for outliers in (True, False):
            found = recompute(folder, pair, references, suffix, outliers)
            name = f"{pair[:2]}-{pair[2:]}{suffix.replace('_', ', ')}"
            rows.append(
                [
                    name,
                    "all" if outliers else "no outliers",
                    str(found.systems),
                    _of(found.correlations),
                    f"{found.correlations_off:.0e}",
                    _of(found.p_values),
                    NOTHING if np.isnan(found.p_values_off) else f"{found.p_values_off:.0e}",
                    _of(found.blank),
                    NOTHING if found.winners is None else _of(found.winners),
                ]
            )
    header = ["pair", "systems", "n", "correlations, same", "largest difference"]
    header += ["p-values, same", "largest difference", "not significant, same", "winners, same"]
    lines = [
        "## WMT'20, Williams' test of all metrics",
        "",
        SETTING.format(same=SAME),
        "",
        *table(header, rows),
        "",
    ]
    return "\n".join(lines)


def _of(counts: tuple[int, int]) -> str:
    return f"{counts[0]} of {counts[1]}" if counts[1] else NOTHING
