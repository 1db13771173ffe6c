"""Ratings of some outputs and a metric on all in; how good systems are, and what to rate next."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal, get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import ScoreTable, labelled, says_simulated
from deltableu.errors import InputError, check_at_least, check_choice, check_known, check_share
from deltableu.io import Cell, Column, Table, field_record
from deltableu.rate.fewer_ratings import (
    QualityDifference,
    QualityEstimate,
    as_estimate,
    estimate_difference,
)
from deltableu.rate.quality_fits import EstimateMethod, FitSettings, fit_mean
from deltableu.rate.rating_order import RatingStep
from deltableu.rate.strata import FEWEST_RATED, metric_strata
from deltableu.stats import adjust, best_first, stream

_SHOWN = 10
Allocation = Literal["proportional", "neyman"]
#: A stratum's spread is believed as far as it has ratings, and else that of all.
_STRENGTH = 20.0


@dataclass(frozen=True, slots=True)
class SystemQuality:
    """A system's mean rating, and its rank by it."""

    system: str
    rank: int
    quality: QualityEstimate


@dataclass(frozen=True, slots=True)
class QualityPair:
    """Two systems, the better one first; `p_adjusted` is corrected for all pairs (Holm)."""

    better: str
    worse: str
    difference: QualityDifference
    p_adjusted: float
    significant: bool


@dataclass(frozen=True, slots=True)
class QualityEstimates:
    """What few ratings and a metric say of systems.

    Attributes
    ----------
    metric : str
    method : str
    finite : bool
        Whether qualities are those of these outputs, or of all that systems might give.
    baseline : str or None
        The system that pairs are differences from, where not all are wanted.
    confidence, significance : float
    outputs : int
        Outputs of each system.
    systems : tuple of SystemQuality
        The best first; without those that have too few ratings.
    pairs : tuple of QualityPair
        By the ranks of the systems.
    unrated : tuple of str
        Systems with too few ratings.
    order : tuple of RatingStep
        Outputs without ratings, the most valuable first.
    signature : str
        That of the metric.
    simulated : bool
        Whether the raters are.
    """

    metric: str
    method: EstimateMethod
    finite: bool
    baseline: str | None
    confidence: float
    significance: float
    outputs: int
    systems: tuple[SystemQuality, ...]
    pairs: tuple[QualityPair, ...]
    unrated: tuple[str, ...]
    order: tuple[RatingStep, ...]
    signature: str
    simulated: bool = False

    @property
    def rated(self) -> int:
        """Rated outputs."""
        return sum(one.quality.rated for one in self.systems)

    @property
    def saved(self) -> float:
        """So many more rated outputs would have been needed without the metric."""
        return sum(one.quality.equivalent_ratings - one.quality.rated for one in self.systems)

    def systems_table(self, *, digits: int = 2) -> Table:
        """Systems by their quality."""
        rows = (
            (
                one.rank,
                one.system,
                Cell(one.quality.mean, one.quality.interval),
                one.quality.rated,
                one.quality.correlation,
                one.quality.equivalent_ratings,
            )
            for one in self.systems
        )
        columns = (
            Column("rank"),
            Column("system"),
            Column("quality", f".{digits}f", better="higher"),
            Column("rated", "d"),
            Column("r", ".2r", drop=1),
            Column("worth", ".0f"),
        )
        notes = {
            "r": f"correlation of ratings with {self.metric} over the rated outputs",
            "worth": "so many rated outputs would be needed without the metric",
        }
        whose = "these outputs" if self.finite else "outputs on items like these"
        caption = f"mean rating of {whose}, {self.confidence:.0%} intervals ({self.method})"
        signatures = {self.metric: self.signature}
        return labelled(Table(columns, rows, caption, notes, signatures), self.simulated)

    def pairs_table(self, *, digits: int = 2) -> Table:
        """All pairs."""
        rows = (
            (
                one.better,
                one.worse,
                Cell(one.difference.difference, one.difference.interval, best=one.significant),
                one.p_adjusted,
                one.difference.saving,
            )
            for one in self.pairs
        )
        columns = (
            Column("better"),
            Column("worse"),
            Column("difference", f".{digits}f"),
            Column("p (Holm)", "p"),
            Column("saving", ".2f", drop=1),
        )
        notes = {
            "saving": "as many times fewer ratings than without the metric",
            "bold": f"significant at {self.significance:g}",
        }
        made = Table(columns, rows, "differences of mean ratings", notes)
        return labelled(made, self.simulated)

    def order_table(self, most: int = _SHOWN) -> Table:
        """What to rate first."""
        rows = ((one.item, one.target, one.value) for one in self.order[:most])
        columns = (Column("item"), Column("target"), Column("value", ".2g"))
        notes = {"value": "by so much the variance of the system's mean rating becomes smaller"}
        made = Table(columns, rows, f"to be rated first, of {len(self.order):,}", notes)
        return labelled(made, self.simulated)

    def tables(self, *, digits: int = 2) -> list[Table]:
        """All that people are shown."""
        tables = [self.systems_table(digits=digits)] if self.systems else []
        tables += [self.pairs_table(digits=digits)] if self.pairs else []
        return tables + ([self.order_table()] if self.order else [])

    def record(self) -> dict[str, Any]:
        """All of it."""
        return {**field_record(self), "rated": self.rated, "saved": self.saved}


def estimate_systems(
    human: ScoreTable,
    scores: ScoreTable,
    *,
    method: EstimateMethod = "stratified",
    finite: bool = False,
    baseline: str | None = None,
    allocation: Allocation = "proportional",
    confidence: float = 0.95,
    significance: float = 0.05,
    seed: int = 0,
) -> QualityEstimates:
    """Estimate the mean rating of each system, and all differences, with the help of a metric.

    Parameters
    ----------
    human : ScoreTable
        What people said of outputs, as `human_scores` gives it; NaN where nobody said anything.
    scores : ScoreTable
        One metric on all outputs of these systems and items.
    method : {"stratified", "control-variates", "ppi", "ratings"}
        See `estimate_quality`.
    finite : bool
        Estimate the means that these outputs would have if all of them were rated, rather than
        those of all outputs that the systems might give to items like these, which is what a claim
        about systems needs.
    baseline : str, optional
        Only differences from this system.
    allocation : {"proportional", "neyman"}
        How many outputs of each stratum are to be rated next: as many as it has, or more where
        ratings differ more.
    confidence, significance : float
    seed : int
        Of the order in which outputs are to be rated.

    Notes
    -----
    What to rate next is drawn at random in strata of the metric: each next output is of the stratum
    and system in which it makes the sum of the variances of all systems' means smallest. Where
    strata leave the choice, the same items are taken for all systems, so that differences are known
    better. With Neyman's allocation (1934) spreads are those of the ratings so far. That saves
    ratings where some strata are noisier; but a stratum whose rare values nobody has met yet looks
    quiet, and intervals for skewed ratings then hold less often.

    References
    ----------
    Neyman 1934, "On the two different aspects of the representative method"; Ohlsson 1995,
    "Coordination of samples using permanent random numbers".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> metric = rng.normal(size=(2, 200))
    >>> said = 3 + metric + rng.normal(size=(2, 200)) + [[0.5], [0.0]]
    >>> said[:, 60:] = np.nan
    >>> items = [str(number) for number in range(200)]
    >>> human = ScoreTable.from_arrays(["human"], "AB", items, said[None])
    >>> found = estimate_systems(human, ScoreTable.from_arrays(["m"], "AB", items, metric[None]))
    >>> [(one.system, round(one.quality.mean, 1)) for one in found.systems], len(found.order)
    ([('A', 3.7), ('B', 2.8)], 280)
    """
    check_choice("method", method, get_args(EstimateMethod))
    check_choice("allocation", allocation, get_args(Allocation))
    check_share("confidence", confidence)
    check_share("significance", significance)
    check_at_least("seed", seed, 0)
    said, metric = _aligned(human, scores)
    names = list(scores.systems)
    if baseline is not None:
        check_known("system", baseline, names)
    needed = 2 if method == "ratings" else 3
    known = [s for s in range(len(names)) if np.count_nonzero(~np.isnan(said[s])) >= needed]
    for s in known:
        own = said[s][~np.isnan(said[s])]
        if np.all(own == own[0]):
            raise InputError(
                f"all ratings of system {names[s]!r} are equal: nothing tells how sure that is"
            )
    settings = FitSettings(method, "t", None, finite)
    qualities = {s: _quality(names[s], said[s], metric[s], settings, confidence) for s in known}
    means = [qualities[s].mean for s in known]
    ranked = [known[place] for place in best_first([names[s] for s in known], means)]
    systems = tuple(
        SystemQuality(names[s], rank, qualities[s]) for rank, s in enumerate(ranked, start=1)
    )
    pairs = _pairs(names, ranked, said, metric, method, confidence, finite, baseline, significance)
    return QualityEstimates(
        metric=scores.metrics[0],
        method=method,
        finite=finite,
        baseline=baseline,
        confidence=confidence,
        significance=significance,
        outputs=said.shape[1],
        systems=systems,
        pairs=tuple(pairs),
        unrated=tuple(name for s, name in enumerate(names) if s not in qualities),
        order=_next_outputs(names, scores.items, said, metric, allocation, seed),
        signature=scores.signatures[0],
        simulated=says_simulated(human.signatures[0]),
    )


def _aligned(human: ScoreTable, scores: ScoreTable) -> tuple[Array, Array]:
    """Ratings and scores, systems x items, in the order of the scores."""
    if len(scores.metrics) != 1:
        raise InputError(f"one metric helps to estimate, got {len(scores.metrics)}")
    name = scores.metrics[0]
    if not scores.items or np.isnan(scores.values).all():
        raise InputError(
            f"{name} does not score single outputs, so that it cannot help: choose another"
        )
    missing = scores.first_missing()
    if missing is not None:
        raise InputError(
            f"{name} has no score for system {missing[1]!r}, item {missing[2]!r}: it must have one "
            "for every output"
        )
    said = np.full(scores.values.shape[1:], np.nan)
    systems = {one: place for place, one in enumerate(human.systems)}
    items = {one: place for place, one in enumerate(human.items)}
    rows = [systems.get(one, -1) for one in scores.systems]
    columns = [items.get(one, -1) for one in scores.items]
    people = np.pad(human.values[0], ((0, 1), (0, 1)), constant_values=np.nan)
    said[:] = people[np.ix_(rows, columns)]
    return said, scores.values[0]


def _quality(
    name: str, said: Array, metric: Array, settings: FitSettings, confidence: float
) -> QualityEstimate:
    rated = ~np.isnan(said)
    try:
        fit = fit_mean(said[rated], metric, rated, settings)
    except InputError as error:
        raise InputError(f"system {name!r}: {error}") from None
    return as_estimate(fit, said[rated][:, None], metric[rated], settings, confidence)


def _pairs(
    names: Sequence[str],
    ranked: Sequence[int],
    said: Array,
    metric: Array,
    method: EstimateMethod,
    confidence: float,
    finite: bool,
    baseline: str | None,
    significance: float,
) -> Iterator[QualityPair]:
    wanted = [
        (better, worse)
        for better, worse in combinations(ranked, 2)
        if baseline is None or baseline in (names[better], names[worse])
    ]
    found = [
        estimate_difference(
            said[better],
            said[worse],
            metric[better],
            metric[worse],
            method=method,
            confidence=confidence,
            finite=finite,
        )
        for better, worse in wanted
    ]
    adjusted = adjust([one.p_value for one in found], "holm").tolist() if found else []
    for (better, worse), one, p_value in zip(wanted, found, adjusted, strict=True):
        yield QualityPair(
            names[better], names[worse], one, float(p_value), bool(p_value < significance)
        )


def _next_outputs(
    names: Sequence[str],
    items: Sequence[str],
    said: Array,
    metric: Array,
    allocation: Allocation,
    seed: int,
) -> tuple[RatingStep, ...]:
    keys = stream(seed).permutation(len(items))
    spread = _spread(said, metric)
    spreads = _spreads(said, metric, spread) if allocation == "neyman" else None
    values, systems, places = [], [], []
    for s in range(len(names)):
        strata = metric_strata(metric[s])
        for stratum in range(int(strata.max()) + 1):
            own = np.flatnonzero(strata == stratum)
            open_: Ints = own[np.isnan(said[s, own])]
            open_ = open_[np.argsort(keys[open_])]
            rated = len(own) - len(open_)
            share = len(own) / len(items)
            counts = np.maximum(rated + np.arange(len(open_)), 0.5)
            own_spread = spread if spreads is None else spreads[s][stratum]
            values.append(share**2 * own_spread**2 / (counts * (counts + 1.0)))
            systems.append(np.full(len(open_), s))
            places.append(open_)
    value, system, place = map(np.concatenate, (values, systems, places))
    order = np.lexsort((keys[place], -value))
    return tuple(
        RatingStep(items[place[one]], f"system:{names[system[one]]}", float(value[one]))
        for one in order.tolist()
    )


def _spread(said: Array, metric: Array) -> float:
    """How ratings vary within strata of all systems; 1 before that is known."""
    squares, freedom = 0.0, 0
    for own, scores in zip(said, metric, strict=True):
        strata = metric_strata(scores)
        for stratum in range(int(strata.max()) + 1):
            known = own[(strata == stratum) & ~np.isnan(own)]
            if len(known) >= FEWEST_RATED:
                squares += float(((known - known.mean()) ** 2).sum())
                freedom += len(known) - 1
    return float(np.sqrt(max(squares / freedom, 1e-12))) if freedom else 1.0


def _spreads(said: Array, metric: Array, common: float) -> list[Array]:
    """How ratings vary in each stratum of each system, as far as it is known."""
    found = []
    for own, scores in zip(said, metric, strict=True):
        strata = metric_strata(scores)
        spreads = np.empty(int(strata.max()) + 1)
        for stratum in range(len(spreads)):
            known = own[(strata == stratum) & ~np.isnan(own)]
            within = float(((known - known.mean()) ** 2).sum()) if len(known) else 0.0
            freedom = max(len(known) - 1, 0) + _STRENGTH
            spreads[stratum] = np.sqrt((within + _STRENGTH * common**2) / freedom)
        found.append(spreads)
    return found
