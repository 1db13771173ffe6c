"""How people agree with people, and metrics with single people: what a metric can be asked for."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array
from deltableu.corpus import RatingTable, ScoreTable
from deltableu.errors import InputError
from deltableu.io import Cell, Column, Table, fact_table, written
from deltableu.rate import (
    annotator_correlations,
    human_ceiling,
    inter_rater_correlations,
    krippendorff_alpha,
    rater_rows,
    split_half_reliability,
    standardise,
)
from deltableu.stats import Method
from deltableu.validate.levels import Level, agreement
from deltableu.validate.plan import ValidationPlan

#: Random splits of the raters; their mean needs no more.
_SHUFFLES = 100


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How well people agree with people at a level.

    Attributes
    ----------
    one_rater : float
        One rating of each output with the mean of its others, mean over random choices.
    halves : float
        Means of two random halves of each output's ratings.
    """

    level: Level
    method: Method
    one_rater: float
    halves: float


@dataclass(frozen=True, slots=True)
class Span:
    """Mean, lowest and highest of several correlations."""

    mean: float
    low: float
    high: float

    def cell(self, form: str) -> Cell:
        """The mean, with lowest and highest in small print."""
        return Cell(self.mean, note=f"({written(self.low, form)} to {written(self.high, form)})")


@dataclass(frozen=True, slots=True)
class RaterSummary:
    """How raters agree.

    Attributes
    ----------
    raters : int
    alpha : float
        Krippendorff's, interval data, of raw values.
    alpha_z : float
        The same after standardising each rater.
    pairs : Span or None
        Correlations of two raters on what both rated (the `human` row of Tsuta et al. 2020,
        Table 3); None where no two raters have enough in common.
    reliability : float
        Of all raters' means: split halves, Spearman-Brown.
    ceilings : tuple of Ceiling
        By level and method.
    annotators : mapping of str to Span
        Each metric's correlations with single raters.
    """

    raters: int
    alpha: float
    alpha_z: float
    pairs: Span | None
    reliability: float
    ceilings: tuple[Ceiling, ...]
    annotators: Mapping[str, Span]

    def ceiling(self, level: Level, method: Method) -> Ceiling | None:
        """The ceiling of a level by a method."""
        for one in self.ceilings:
            if (one.level, one.method) == (level, method):
                return one
        return None

    def table(self, *, digits: int = 3) -> Table:
        """How far raters agree with each other."""
        form = f".{digits}r"
        facts = {
            "raters": Cell(self.raters, form=""),
            "Krippendorff's alpha, interval, raw": self.alpha,
            "Krippendorff's alpha, interval, z": self.alpha_z,
            "two raters, mean (lowest to highest)": self.pairs.cell(form) if self.pairs else "-",
            "reliability of all raters together": self.reliability,
        }
        return fact_table(("agreement among raters", Column("", form)), facts)


def rater_summary(
    judgements: RatingTable, scores: ScoreTable, plan: ValidationPlan
) -> RaterSummary | None:
    """Agreement among the raters of a validation; None where no output has two of them."""
    raw = judgements.scored()
    standard = standardise(judgements)[0].scored()
    _, rows = rater_rows(standard)
    several = (~np.isnan(rows)).sum(axis=0) >= 2
    if several.sum() < 3:
        return None
    method = plan.methods[0] if plan.methods[0] != "kendall-like" else "kendall-wei"
    reliability = split_half_reliability(
        standard, method=method, by="unit", shuffles=_SHUFFLES, seed=plan.seed
    )
    return RaterSummary(
        raters=len(judgements.raters),
        alpha=krippendorff_alpha(raw).value,
        alpha_z=krippendorff_alpha(standard).value,
        pairs=_pairs(standard, method),
        reliability=reliability.reliability.mean,
        ceilings=_ceilings(standard, several, plan),
        annotators=_annotators(standard, scores, method),
    )


def _pairs(judgements: RatingTable, method: Method) -> Span | None:
    try:
        found = inter_rater_correlations(judgements, method=method)
    except InputError:
        return None
    return Span(found.mean, found.lowest, found.highest)


def _ceilings(judgements: RatingTable, several: Any, plan: ValidationPlan) -> tuple[Ceiling, ...]:
    shape = (len(judgements.systems), len(judgements.items))
    found = []
    for level in plan.levels:
        for method in plan.methods:
            if method == "kendall-like":
                continue  # its threshold is on the raw scale

            def between(x: Array, y: Array, level: Level = level, method: Method = method) -> float:
                tables = np.full((2, shape[0] * shape[1]), np.nan)
                tables[:, several] = x, y
                first, second = tables.reshape(2, *shape)
                try:
                    return float(agreement(first, second, method=method, level=level))
                except InputError:
                    return float("nan")

            made = human_ceiling(judgements, between, by="unit", shuffles=_SHUFFLES, seed=plan.seed)
            found.append(Ceiling(level, method, made.one.mean, made.halves.mean))
    return tuple(found)


def _annotators(judgements: RatingTable, scores: ScoreTable, method: Method) -> dict[str, Span]:
    """Each metric against each rater, on outputs that the rater rated."""
    spans = {}
    rows = [judgements.systems.index(name) for name in scores.systems]
    places = {name: place for place, name in enumerate(judgements.items)}
    cells = np.ix_(rows, [places[name] for name in scores.items])
    for metric, values in zip(scores.metrics, scores.values, strict=True):
        table = np.full((len(judgements.systems), len(judgements.items)), np.nan)
        table[cells] = values
        try:
            found = annotator_correlations(table, judgements, method=method)
        except InputError:
            continue
        known = found.values[~np.isnan(found.values)]
        if len(known):
            spans[metric] = Span(float(known.mean()), float(known.min()), float(known.max()))
    return spans
