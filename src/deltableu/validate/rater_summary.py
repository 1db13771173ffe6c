"""How people agree with people, metrics with single people, and how well a perfect metric would."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array
from deltableu.corpus import RatingTable, ScoreTable
from deltableu.errors import InputError
from deltableu.io import Cell, Column, Table, Tabular, fact_table, written
from deltableu.rate import (
    annotator_correlations,
    fit_mixed_model,
    human_ceiling,
    inter_rater_correlations,
    krippendorff_alpha,
    rater_rows,
    standardise,
)
from deltableu.stats import Method, correlate
from deltableu.validate.levels import Level, agreement
from deltableu.validate.plan import ValidationPlan

#: Random splits of the raters; their mean needs no more.
_SHUFFLES = 100
#: Doubly rated outputs; with fewer, how people agree with people is itself a rough guess.
_FEW = 50


@dataclass(frozen=True, slots=True)
class Ceiling:
    """How well people agree with people at a level.

    Attributes
    ----------
    one_rater : float
        One rating of each output with the mean of its others, mean over random choices.
    halves : float
        Means of two random halves of each output's ratings.
    perfect : float
        The ceiling: how well a metric that gives each output its true mean rating would agree with
        the averaged ratings. By Pearson's correlation the square root of their reliability. NaN
        where people do not agree with each other at all.
    """

    level: Level
    method: Method
    one_rater: float
    halves: float
    perfect: float

    def disattenuated(self, value: float) -> float:
        """A metric's correlation with the true mean ratings, estimated: it may exceed 1.

        The observed correlation over the ceiling (Spearman 1904): exact for Pearson's where
        everything is linear, nearly so for Spearman's. For Kendall's no such rule holds: NaN.
        """
        return value / self.perfect if self.method in ("pearson", "spearman") else math.nan


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
class RaterSummary(Tabular):
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
        The reliability of the averaged ratings of outputs: split halves, Spearman-Brown.
    doubly_rated, outputs : int
        Outputs that two raters or more rated, which all of this rests on, and those rated at all.
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
    doubly_rated: int
    outputs: int
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
            "outputs that two raters or more rated": f"{self.doubly_rated} of {self.outputs}",
            "reliability of the averaged ratings": self.reliability,
            "a perfect metric's correlation with them": math.sqrt(max(self.reliability, 0.0)),
        }
        return fact_table(("agreement among raters", Column("", form)), facts)

    def notes(self) -> dict[str, str]:
        """What readers of ceilings must know."""
        found = {
            "perfect metric": "gives each output what ever more such raters would say on average",
            "disattenuated": "the correlation over that of a perfect metric: an estimate of the "
            "correlation without rating noise, which may exceed 1",
        }
        if self.doubly_rated < _FEW:
            found["people with people"] = (
                f"rests on the {self.doubly_rated} of {self.outputs} outputs that two raters or "
                "more rated: too few to rely on, and so is the ceiling"
            )
        return found


def rater_summary(
    judgements: RatingTable, scores: ScoreTable, plan: ValidationPlan
) -> RaterSummary | None:
    """Agreement among the raters of a validation; None where no output has two of them."""
    raw = judgements.scored()
    standard = standardise(judgements)[0].scored()
    used = _counted(_on_scale(judgements, standard, plan), scores, plan)
    _, rows = rater_rows(used)
    raters = (~np.isnan(rows)).sum(axis=0)
    several = raters >= 2
    if several.sum() < 3:
        return None
    first = plan.correlations[0]
    method: Method = first if first != "kendall-like" else "kendall-wei"

    def pearson(x: Array, y: Array) -> float:
        return float(correlate(x, y, "pearson"))

    pooled = human_ceiling(used, pearson, by="unit", shuffles=_SHUFFLES, seed=plan.seed)
    return RaterSummary(
        raters=len(judgements.raters),
        alpha=krippendorff_alpha(raw).value,
        alpha_z=krippendorff_alpha(standard).value,
        pairs=_pairs(standard, method),
        reliability=pooled.perfect**2,
        doubly_rated=int(several.sum()),
        outputs=int((raters > 0).sum()),
        ceilings=_ceilings(used, several, plan),
        annotators=_annotators(standard, scores, method),
    )


def _on_scale(judgements: RatingTable, standard: RatingTable, plan: ValidationPlan) -> RatingTable:
    """Ratings whose means are the human scores that metrics are compared with."""
    if plan.scale == "z":
        return standard
    if plan.scale == "raw":
        return judgements[np.isin(judgements.rater, standard.rater)].scored()
    scored = judgements.scored()
    effects = fit_mixed_model(judgements, outputs=True).rater_effects
    return scored.with_values(scored.values - effects[scored.rater])


def _counted(ratings: RatingTable, scores: ScoreTable, plan: ValidationPlan) -> RatingTable:
    """Ratings of outputs that the metrics scored and enough raters rated."""
    ratings = ratings.without_repeats()
    outputs = ratings.system * len(ratings.items) + ratings.item
    enough = np.bincount(outputs)[outputs] >= plan.min_raters
    system = np.isin(ratings.systems, scores.systems)[ratings.system]
    item = np.isin(ratings.items, scores.items)[ratings.item]
    return ratings[enough & system & item]


def _pairs(judgements: RatingTable, method: Method) -> Span | None:
    try:
        found = inter_rater_correlations(judgements, method=method)
    except InputError:
        return None
    return Span(found.mean, found.lowest, found.highest)


def _ceilings(judgements: RatingTable, several: Any, plan: ValidationPlan) -> tuple[Ceiling, ...]:
    shape = (len(judgements.systems), len(judgements.items))
    systems = len(np.unique(judgements.system))
    found = []
    for level in plan.levels:
        for method in plan.correlations:
            if method == "kendall-like":
                continue  # its threshold is on the raw scale

            def between(x: Array, y: Array, level: Level = level, method: Method = method) -> float:
                tables = np.full((2, shape[0] * shape[1]), np.nan)
                tables[:, several] = x, y
                first, second = tables.reshape(2, *shape)
                try:
                    return float(
                        agreement(first, second, method=method, level=level, undefined="drop")
                    )
                except InputError:
                    return float("nan")

            try:
                made = human_ceiling(
                    judgements,
                    between,
                    method=method,
                    compared=None if level == "pooled" else systems,
                    averaged=level == "system",
                    by="unit",
                    shuffles=_SHUFFLES,
                    seed=plan.seed,
                )
            except InputError:
                continue  # too few outputs have two raters at this level
            found.append(Ceiling(level, method, made.one.mean, made.halves.mean, made.perfect))
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
