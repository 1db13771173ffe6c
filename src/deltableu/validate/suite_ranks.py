"""Agreements of metrics in several studies in; average ranks, means and gains with intervals, out.

Arrays are studies x metrics, or draws x studies x metrics.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array
from deltableu.stats import ConfidenceInterval, draw_counts, percentile_interval, stream
from deltableu.validate.agreement_bootstrap import expanded_level
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.suite_results import (
    Control,
    Standing,
    SuiteGain,
    SuiteRanking,
    SuiteResample,
)
from deltableu.validate.suite_study import MeasuredStudy, Row
from deltableu.validate.winners import rank_metrics

_STUDIES = 13  # key of the random streams
#: Correlations that differ by less are tied.
_DIGITS = 12


def places_among(values: Array, others: Array) -> Array:
    """The rank that each value takes among others, 1 being the highest; ties count half.

    Examples
    --------
    >>> places_among(np.array([0.5, 0.1]), np.array([0.7, 0.5, 0.2])).tolist()
    [2.5, 4.0]
    """
    one, two = values.round(_DIGITS)[..., :, np.newaxis], others.round(_DIGITS)[..., np.newaxis, :]
    return np.asarray(1.0 + (two > one).sum(axis=-1) + 0.5 * (two == one).sum(axis=-1))


def ranks_of(values: Array) -> Array:
    """Ranks along the last axis, 1 for the highest value; equal ones share their mean.

    Examples
    --------
    >>> ranks_of(np.array([0.2, 0.7, 0.2, 0.9])).tolist()
    [3.5, 2.0, 3.5, 1.0]
    """
    # Each ties with itself.
    return places_among(values, values) - 0.5


@dataclass(frozen=True, slots=True, eq=False)
class SuiteDraws:
    """Studies as they are and drawn again: items within each, or whole studies."""

    studies: Sequence[MeasuredStudy]
    plan: ValidationPlan
    resample: SuiteResample

    def only(self, studies: Sequence[MeasuredStudy]) -> SuiteDraws:
        """Some of the studies."""
        return SuiteDraws(studies, self.plan, self.resample)

    def values(self, rows: Sequence[Row]) -> Array:
        """Studies x rows."""
        return np.array([[one.values[row] for row in rows] for one in self.studies])

    def drawn(self, rows: Sequence[Row]) -> Array:
        """Draws x studies x rows, where items are drawn."""
        made = [np.stack([one.draws[row] for row in rows], axis=-1) for one in self.studies]
        return np.stack(made, axis=1)

    def average(self, whole: Array, drawn: Array | None) -> tuple[Array, Array]:
        """Means over studies of what studies x rows say, and of its draws x studies x rows."""
        if drawn is not None:
            return whole.mean(axis=0), drawn.mean(axis=1)
        size = len(whole)
        draws = stream(self.plan.seed, _STUDIES).integers(size, size=(self.plan.resamples, size))
        return whole.mean(axis=0), draw_counts(draws, size) @ whole / size

    def interval(
        self, value: float, drawn: Array, limits: tuple[float, float]
    ) -> ConfidenceInterval | None:
        """Percentiles of the draws; None where one study cannot speak about others."""
        confidence, level = self.plan.confidence, self.plan.confidence
        if self.resample == "studies":
            if len(self.studies) < 2:
                return None
            level = expanded_level(confidence, len(self.studies))
        low, high = percentile_interval(drawn, level)
        # Draws blur ranks, so that all may lie on one side of what was seen.
        low, high = max(min(low, value), limits[0]), min(max(high, value), limits[1])
        return ConfidenceInterval(
            low, high, confidence, f"percentile bootstrap over {self.resample}"
        )

    def error(self, drawn: Array) -> float:
        """The standard error of an average."""
        size = len(self.studies)
        few = size / (size - 1) if self.resample == "studies" and size > 1 else 1.0
        return float(drawn.std(ddof=1)) * few**0.5 if len(drawn) > 1 else float("nan")


def suite_ranking(
    draws: SuiteDraws, metrics: Sequence[str], controls: Sequence[Row]
) -> SuiteRanking:
    """Metrics over studies that all have them; each control over those that have it too."""
    rows: list[Row] = [(name, None) for name in metrics]
    items = draws.resample == "items"
    values = draws.values(rows)
    drawn = draws.drawn(rows) if items else None
    ranked = ranks_of(values)
    rank, rank_draws = draws.average(ranked, ranks_of(drawn) if drawn is not None else None)
    mean, mean_draws = draws.average(values, drawn)
    p_values = _p_values(draws, mean, mean_draws)
    compared = rank_metrics(
        metrics,
        mean,
        p_values,
        correction=draws.plan.correction,
        significance=draws.plan.significance,
    )
    letters = {one.metric: one.letters if len(metrics) > 1 else "" for one in compared.metrics}
    top = ranked.min(axis=1, keepdims=True)
    size = len(metrics)
    standings = [
        Standing(
            name,
            None,
            float(rank[m]),
            draws.interval(float(rank[m]), rank_draws[:, m], (1.0, float(size))),
            float(mean[m]),
            draws.interval(float(mean[m]), mean_draws[:, m], (-1.0, 1.0)),
            int((ranked[:, m : m + 1] == top).sum()),
            len(values),
            letters[name],
        )
        for m, name in enumerate(metrics)
    ]
    standings.sort(key=lambda one: (one.rank, -one.agreement, one.metric))
    standings += [
        _control(draws, rows, row)
        for row in controls
        if (row[1] == "sentinel" or row[0] in metrics)
        and any(row in one.values for one in draws.studies)
    ]
    names = [one.metric for one in compared.metrics]
    apart = np.nan_to_num(compared.adjusted, nan=1.0) < compared.significance
    return SuiteRanking(
        tuple(standings),
        tuple(one.study.name for one in draws.studies),
        draws.plan.levels[0],
        draws.plan.correlations[0],
        {name: _apart(names, apart[m], range(m)) for m, name in enumerate(names)},
        {name: _apart(names, apart[m], range(m + 1, size)) for m, name in enumerate(names)},
    )


def suite_gains(
    draws: SuiteDraws, metrics: Sequence[str], controls: Sequence[Row]
) -> tuple[SuiteGain, ...]:
    """Of every metric over the sentinels and over its own controls."""
    found = []
    for name in metrics:
        for row in controls:
            if row[1] != "sentinel" and row[0] != name:
                continue
            whole: Row = (name, None)
            both = [one for one in draws.studies if whole in one.values and row in one.values]
            if not both:
                continue
            own = draws.only(both)
            gain = own.values([whole]) - own.values([row])
            drawn = None
            if draws.resample == "items":
                drawn = own.drawn([whole]) - own.drawn([row])
            mean, mean_draws = own.average(gain, drawn)
            value = float(mean[0])
            found.append(
                SuiteGain(
                    name,
                    row[0] if row[1] == "sentinel" else str(row[1]),
                    value,
                    own.interval(value, mean_draws[:, 0], (-2.0, 2.0)),
                    int((gain.round(_DIGITS) > 0.0).sum()),
                    len(both),
                )
            )
    return tuple(found)


def _control(draws: SuiteDraws, metrics: Sequence[Row], row: Row) -> Standing:
    """Where a control would stand, and how well it agrees."""
    own = draws.only([one for one in draws.studies if row in one.values])
    values, others = own.values([row]), own.values(metrics)
    places = places_among(values, others)
    drawn = own.drawn([row]) if draws.resample == "items" else None
    place_draws = None if drawn is None else places_among(drawn, own.drawn(metrics))
    rank, rank_draws = own.average(places, place_draws)
    mean, mean_draws = own.average(values, drawn)
    name, control = row
    kind: Control = control or "sentinel"
    return Standing(
        name,
        kind,
        float(rank[0]),
        own.interval(float(rank[0]), rank_draws[:, 0], (1.0, len(metrics) + 1.0)),
        float(mean[0]),
        own.interval(float(mean[0]), mean_draws[:, 0], (-1.0, 1.0)),
        int((places == 1.0).sum()),
        len(own.studies),
    )


def _p_values(draws: SuiteDraws, means: Array, drawn: Array) -> Array:
    """Two-sided, of two metrics having the same mean agreement."""
    from scipy.special import stdtr

    freedom = len(draws.studies) - 1.0 if draws.resample == "studies" else np.inf
    size = len(means)
    found = np.ones((size, size))
    for one in range(size):
        for two in range(one):
            apart = float(means[one] - means[two])
            error = draws.error(drawn[:, one] - drawn[:, two])
            if error > 10.0**-_DIGITS and freedom > 0.0:
                found[one, two] = 2.0 * float(stdtr(freedom, -abs(apart) / error))
            found[two, one] = found[one, two]
    return found


def _apart(names: Sequence[str], apart: Array, places: range) -> tuple[str, ...]:
    return tuple(names[place] for place in places if apart[place])
