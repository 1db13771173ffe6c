"""Scores in; how a metric scores outputs that people find bad, average and good out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Ints
from deltableu.corpus import ScoreTable, align_scores
from deltableu.errors import InputError, check_at_least, check_choice
from deltableu.io import Column, Table, Tabular

BinRule = Literal["quantile", "width"]
_THREE = ("bad", "average", "good")


@dataclass(frozen=True, slots=True, eq=False)
class QualityBin:
    """Outputs that people find about equally good.

    Attributes
    ----------
    name : str
        `bad`, `average`, `good`, or the bin's number where there are not three.
    low, high : float
        Human scores above `low` and up to `high` are in it.
    scores : array
        What the metric gives to these outputs, in ascending order.
    """

    name: str
    low: float
    high: float
    scores: Array

    def __repr__(self) -> str:
        return f"QualityBin({self.name}, {len(self.scores)} outputs)"


@dataclass(frozen=True, slots=True)
class QualityBins(Tabular):
    """How one metric scores outputs of each quality.

    Attributes
    ----------
    metric : str
    higher_is_better : bool
    rule : {"quantile", "width"}
        Bins of about equal numbers of outputs, or of equal widths of human scores.
    bins : tuple of QualityBin
        From the worst to the best.
    apart : tuple of float
        For each bin and the next better one, how often an output of the better one has the better
        score (ties count half): 0.5 is no better than chance.
    """

    metric: str
    higher_is_better: bool
    rule: BinRule
    bins: tuple[QualityBin, ...]
    apart: tuple[float, ...]

    def table(self, *, digits: int = 2) -> Table:
        """One row per bin: quartiles of the scores, and how well it is told from the one before."""
        return bins_table([self], digits=digits)


def bins_table(found: Sequence[QualityBins], *, digits: int = 2) -> Table:
    """One row per metric and bin."""
    rows = []
    for metric in found:
        for one, apart in zip(metric.bins, (None, *metric.apart), strict=True):
            quartiles: Sequence[float | None] = (None, None, None)
            if len(one.scores):
                quartiles = np.quantile(one.scores, (0.25, 0.5, 0.75)).tolist()
            low = None if math.isinf(one.low) else one.low
            rows.append(
                (metric.metric, one.name, low, one.high, len(one.scores), *quartiles, apart)
            )
    form = f".{digits}f"
    columns = (
        *("metric", "bin"),
        Column("people above", ".3f"),
        Column("up to", ".3f"),
        "outputs",
        Column("lower quartile", form),
        Column("median", form),
        Column("upper quartile", form),
        Column("told apart", ".3r"),
    )
    rule = "about equally many outputs" if found[0].rule == "quantile" else "equal widths"
    note = "how often its outputs score better than those of the bin before (0.5: chance)"
    return Table(columns, rows, f"scores by quality ({rule})", {"told apart": note})


def bin_edges(human: ArrayLike, bins: int = 3, rule: BinRule = "quantile") -> Array:
    """Edges that cut human scores into bins, open below and closed above.

    Parameters
    ----------
    human
        Scores; NaN is left out.
    bins : int
    rule : {"quantile", "width"}
        `quantile`: about equally many scores in each, as Wei's text describes. `width`: equal
        widths between the lowest and the highest score, as his Figure 6 has it; its first edge lies
        a thousandth of the range below the lowest score, as `pandas.cut` sets it.

    References
    ----------
    Wei, "On conducting better validation studies", section 4.1.

    Examples
    --------
    >>> bin_edges([0, 1, 2, 3, 4, 9], rule="width").round(3).tolist()
    [-0.009, 3.0, 6.0, 9.0]
    >>> bin_edges([0, 1, 2, 3, 4, 9]).tolist()
    [-inf, 1.0, 3.0, 9.0]
    """
    check_at_least("bins", bins, 2)
    check_choice("rule", rule, get_args(BinRule))
    known = np.asarray(human, dtype=np.float64).ravel()
    known = known[~np.isnan(known)]
    if known.size == 0 or known.min() == known.max():
        raise InputError(
            "people gave all outputs the same score: there is nothing to cut into bins"
        )
    if rule == "width":
        edges = np.linspace(known.min(), known.max(), bins + 1)
        edges[0] -= 0.001 * (known.max() - known.min())
        return edges
    # The k-th edge is a score itself, so that equal scores stay together.
    inner = np.quantile(known, np.arange(1, bins) / bins, method="inverted_cdf")
    return np.array([-np.inf, *inner, known.max()])


def bin_places(human: Array, edges: Array) -> Ints:
    """The bin of each human score, from 0; -1 where there is none."""
    places = np.searchsorted(edges, human, side="left") - 1
    return np.where(np.isnan(human), -1, places.clip(0, len(edges) - 2))


def bin_names(bins: int) -> tuple[str, ...]:
    """From the worst to the best."""
    return _THREE if bins == 3 else tuple(f"{place} of {bins}" for place in range(1, bins + 1))


def quality_bins(
    scores: ScoreTable,
    human: ScoreTable,
    *,
    metrics: Sequence[str] | None = None,
    bins: int = 3,
    rule: BinRule = "quantile",
) -> tuple[QualityBins, ...]:
    """How each metric scores outputs that people find bad, average and good.

    Parameters
    ----------
    scores, human : ScoreTable
        `human` has one metric, people.
    metrics : list of str, optional
        By default all that score single outputs.
    bins, rule
        As in `bin_edges`.

    References
    ----------
    Wei, "On conducting better validation studies", section 4.1; Chaganty et al. 2018, "The price of
    debiasing automatic metrics in natural language evaluation".

    Examples
    --------
    >>> people = ScoreTable.of({"people": {"A": [1, 2, 3, 4, 5, 6]}})
    >>> metric = ScoreTable.of({"m": {"A": [0.1, 0.3, 0.2, 0.3, 0.8, 0.9]}})
    >>> quality_bins(metric, people)[0].apart
    (0.625, 1.0)
    """
    scores, people = rated_outputs(scores, human, metrics)
    edges = bin_edges(people, bins, rule)
    places = bin_places(people, edges)
    names = bin_names(bins)
    found = []
    for metric, higher in zip(scores.metrics, scores.higher_is_better, strict=True):
        values, sign = scores.only(metric), 1.0 if higher else -1.0
        parts = [np.sort(values[places == place]) for place in range(bins)]
        members = map(QualityBin, names, edges[:-1].tolist(), edges[1:].tolist(), parts)
        apart = (_told_apart(sign * worse, sign * better) for worse, better in pairwise(parts))
        found.append(QualityBins(metric, higher, rule, tuple(members), tuple(apart)))
    return tuple(found)


def rated_outputs(
    scores: ScoreTable, human: ScoreTable, metrics: Sequence[str] | None = None
) -> tuple[ScoreTable, Array]:
    """Metrics of single outputs and people's scores (systems x items), where both have any."""
    scores, human, _ = align_scores(scores.select(metrics=metrics), human, least=1)
    kept = [metric for metric in scores.metrics if scores.has_items(metric)]
    if not kept:
        raise InputError("no metric scores single outputs")
    return scores.select(metrics=kept), human.values[0]


def _told_apart(worse: Array, better: Array) -> float:
    """How often a score of the better bin is above one of the worse, ties counting half."""
    if not len(worse) or not len(better):
        return float("nan")
    ordered = np.sort(worse)
    below = np.searchsorted(ordered, better, side="left")
    upto = np.searchsorted(ordered, better, side="right")
    return float((below + upto).sum() / (2.0 * len(worse) * len(better)))
