"""A study with some of its references rated in; what to rate next, and when to stop, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import get_args

import numpy as np

from deltableu._types import Array, Ints, Progress
from deltableu.compare.item_blocks import ItemBlock, item_blocks
from deltableu.compare.rating_plan_results import (
    Outlook,
    PlannedPair,
    PlannedSystem,
    RatingPlan,
)
from deltableu.compare.rating_values import (
    Aim,
    discordant_share,
    expected_effects,
    outlook,
    rating_order,
    rating_values,
    weight_effects,
)
from deltableu.compare.weight_forecast import (
    RATING_VARIANCE,
    RatedSoFar,
    ReferenceFacts,
    WeightForecast,
    forecast_weights,
)
from deltableu.corpus import ReferenceSet, Study, reference_set, says_simulated
from deltableu.errors import InputError, check_at_least, check_choice, check_kind, check_known
from deltableu.errors import check_share as check_between
from deltableu.rate import RatingStep, Reliability, mean_reliability, rated_weights
from deltableu.score import Metric, Reweighting
from deltableu.stats import ConfidenceInterval, best_first, stream

#: Ratings per reference where no pilot says how many are needed.
USUAL_RATINGS = 5
#: Draws of the other weights that effects are averaged over.
_EFFECT_DRAWS = 4
#: Numbers held in memory at once.
_NUMBERS = 4_000_000
_DRAWS, _EFFECTS, _OUTLOOK = range(3)
_SHARES = (0.1, 0.25, 0.5, 0.75)


@dataclass(frozen=True, slots=True, eq=False)
class RatingLook:
    """What is known at one moment.

    Attributes
    ----------
    scores : array
        Draws x systems: scores that may come out when all ratings are given.
    expected : array
        Their means, by which systems are ranked now.
    chance : float
        Of the ranking then agreeing with the present one.
    forecast : WeightForecast
    """

    scores: Array
    expected: Array
    chance: float
    forecast: WeightForecast


class RatingPlanner:
    """References and outputs made ready once; then any state of rating can be looked at.

    Parameters
    ----------
    references : ReferenceSet
        Made of items.
    outputs : list of lists of str
        Those of each system.
    metric : Metric
        One that uses weights.
    tau : float
        Kendall's tau of two rankings that are taken to say the same.
    draws : int
        Forecasts of all weights.
    seed : int
    """

    def __init__(
        self,
        references: ReferenceSet,
        outputs: Sequence[Sequence[str]],
        metric: Metric,
        *,
        tau: float = 0.95,
        draws: int = 400,
        seed: int = 0,
    ) -> None:
        if references.items is None:
            raise InputError("ratings cannot be planned for references that belong to no items")
        self.metric, self.seed, self.draws = metric, seed, draws
        self.most_discordant = (1.0 - tau) / 2.0 + 1e-12
        self.bounds = references.bounds
        some = tuple((1.0,) * len(row) for row in references.texts)
        self.ready: Reweighting = metric.reweighting(replace(references, weights=some), outputs)
        self.blocks: tuple[ItemBlock, ...] = item_blocks(references)
        facts = ReferenceFacts.of(references.items, len(outputs))
        mean, spread = facts.default()
        ends = (np.clip(mean - spread, -1.0, 1.0), np.clip(mean + spread, -1.0, 1.0))
        # Clamped scores have no gradient; what references match is still known from others.
        matches = weight_effects(self.ready, metric, self.bounds, mean, ends)
        self.facts = replace(facts, matches=matches)

    def look(self, rated: RatedSoFar) -> RatingLook:
        """The scores that may come out, and whether the ranking will stay."""
        usual, _ = self.facts.default()
        known = np.where(rated.counts > 0, np.nan_to_num(rated.means), usual)
        forecast = forecast_weights(self.facts, self.blocks, rated, self._scores(known[None])[0])
        if not rated.missing.any():
            scores = self._scores(forecast.mean[None])
            return RatingLook(scores, scores[0], 1.0, forecast)
        rng = stream(self.seed, _DRAWS)
        size = max(2, min(64, _NUMBERS // max(self.ready.size, 1)) // 2 * 2)
        parts = []
        for first in range(0, self.draws, size):
            drawn = forecast.draw(min(size, self.draws - first), rng)
            parts.append(self._scores(drawn))
        scores = np.concatenate(parts)
        expected = scores.mean(axis=0)
        same = discordant_share(scores, expected) <= self.most_discordant
        # One more draw is counted against it, so that few draws are never too sure.
        return RatingLook(scores, expected, float(same.sum()) / (len(same) + 1), forecast)

    def values(self, look: RatingLook, aim: Aim = "ranking") -> tuple[Array, Array]:
        """What rating each reference to the end is worth, and what it would settle."""
        missing = look.forecast.rated.missing
        if not missing.any():
            return np.zeros(len(missing)), np.zeros((len(missing), len(look.expected)))
        effects = expected_effects(
            self.ready,
            self.metric,
            self.bounds,
            look.forecast,
            _EFFECT_DRAWS,
            stream(self.seed, _EFFECTS),
        )
        settled = look.forecast.settled(effects)
        return rating_values(settled, look.scores, aim), settled

    def _scores(self, weights: Array) -> Array:
        scores: Array = self.metric.aggregate(self.ready.rows(weights).sum(axis=1))
        return scores


def plan_rating(
    study: Study,
    metric: Metric,
    *,
    systems: Sequence[str] | None = None,
    criterion: str | None = None,
    raters: int | None = None,
    reliability: float = 0.8,
    aim: Aim = "ranking",
    tau: float = 0.95,
    significance: float = 0.05,
    draws: int = 400,
    seed: int = 0,
    progress: Progress | None = None,
) -> RatingPlan:
    """Say how many ratings references need, which to rate next, and whether to stop.

    Parameters
    ----------
    study : Study
        With outputs, and perhaps with ratings of some references. A reference that has a weight
        and no ratings counts as rated to the end.
    metric : Metric
        One that uses weights.
    systems : list of str, optional
        Only these.
    criterion : str, optional
        Which ratings of references; may be left out where all have the same.
    raters : int, optional
        Ratings that each reference gets in the end. By default as many as reach `reliability`
        according to the ratings so far, or 5 where these do not tell.
    reliability : float
        Share of the variance of weights that is that of the references.
    aim : {"ranking", "scores"}
        What rating is worth: systems in the right order, or exact scores.
    tau : float
        Kendall's tau with the ranking under all ratings from which on the conclusion is the same.
    significance : float
        Rating may stop when the chance of another conclusion is no larger.
    draws : int
        Forecasts of the weights that are not known yet.
    seed : int
    progress : callable, optional
        Called with (what is done, done, in all).

    Notes
    -----
    The chance is that of a model: see `deltableu.compare.weight_forecast`. If the model holds, then
    of all studies that are stopped at a chance of 5% or less, no more than 5% come to another
    conclusion than they would have with all ratings, whenever and however often somebody looked,
    and in whatever order references were rated, as long as nobody knew more of them than the model
    does: conditional chances stay right at any stopping time. Nothing is promised for weights that
    behave otherwise, but the simulations of docs/how-to/rate.md were made to.

    References
    ----------
    Berger and Wolpert 1988, "The Likelihood Principle" (stopping rules, section 4.2); Frazier,
    Powell and Dayanik 2009, "The knowledge-gradient policy for correlated normal beliefs".
    """
    check_kind("study", study, Study)
    check_kind("metric", metric, Metric)
    check_choice("aim", aim, get_args(Aim))
    check_between("significance", significance)
    check_between("reliability", reliability)
    if not 0.0 < tau <= 1.0:
        raise InputError(f"tau must lie between 0 and 1, got {tau!r}")
    check_at_least("draws", draws, 20)
    check_at_least("seed", seed, 0)
    if raters is not None:
        check_at_least("raters", raters, 1)
    names = _systems(study, systems)
    references, state, found, note = _state(study, metric, criterion, raters, reliability)
    if progress is not None:
        progress("reading texts", 0, 3)
    outputs = [study.outputs[name] for name in names]
    planner = RatingPlanner(references, outputs, metric, tau=tau, draws=draws, seed=seed)
    if progress is not None:
        progress("forecasting scores", 1, 3)
    look = planner.look(state)
    if progress is not None:
        progress("valuing references", 2, 3)
    values, settled = planner.values(look, aim)
    order, worth = rating_order(values, look.forecast)
    if progress is not None:
        progress("valuing references", 3, 3)
    return RatingPlan(
        metric=metric.name,
        higher_is_better=metric.higher_is_better,
        items=len(references),
        references=len(state.counts),
        complete=int(np.count_nonzero(state.missing == 0)),
        ratings=_given(state),
        ratings_missing=int(state.missing.sum()),
        raters=state.wanted,
        reliability=found,
        target=reliability,
        aim="scores" if len(names) == 1 else aim,
        tau=tau,
        significance=significance,
        chance=look.chance,
        systems=_planned_systems(names, look, metric),
        pairs=_planned_pairs(names, look, metric),
        outlook=_outlook(look, settled, order, planner),
        order=_steps(references, order, worth),
        clamped=tuple(
            name for name, still in zip(names, _clamped(planner, look), strict=True) if still
        ),
        note=note,
        draws=draws,
        seed=seed,
        simulated=says_simulated(references.weights_from)
        or study.ratings[study.ratings.reference >= 0].is_simulated,
    )


def _systems(study: Study, systems: Sequence[str] | None) -> list[str]:
    names = list(study.outputs) if systems is None else list(systems)
    for name in names:
        check_known("system", name, study.outputs)
    if len(set(names)) < len(names):
        raise InputError(f"system {next(n for n in names if names.count(n) > 1)!r} is named twice")
    if not names:
        raise InputError("the study has no system outputs: no reference matters more than others")
    if not study.items:
        raise InputError("the study has no items")
    return names


def _state(
    study: Study, metric: Metric, criterion: str | None, raters: int | None, target: float
) -> tuple[ReferenceSet, RatedSoFar, Reliability | None, str]:
    """Mean ratings so far, and what they say about how many are needed."""
    if "weights" not in metric.needs:
        raise InputError(f"{metric.name} does not look at weights, so ratings do not change it")
    references = reference_set(study)
    for index, row in enumerate(references.texts):
        if not row:
            raise InputError(f"item {references.item_name(index)!r} has no reference")
    size, note = int(references.bounds[-1]), ""
    means, counts = np.full(size, np.nan), np.zeros(size, dtype=np.int64)
    found, variance = None, RATING_VARIANCE
    if criterion is not None or (study.ratings.reference >= 0).any():
        answers = study.ratings.of_references(study.items, criterion)
        references, note = rated_weights(references, answers)
        counts = np.bincount(answers.reference, minlength=size)
        sums = np.bincount(answers.reference, answers.values, minlength=size)
        means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
        found = mean_reliability(answers.values, answers.reference)
        variance = RATING_VARIANCE if found is None else found.within
    wanted = raters or (None if found is None else found.needed(target)) or USUAL_RATINGS
    given = references.flat_weights if references.weights is not None else means
    only = (counts == 0) & ~np.isnan(given)
    means, counts = np.where(only, given, means), np.where(only, wanted, counts)
    return references, RatedSoFar(means, counts, wanted, variance), found, note


def _given(state: RatedSoFar) -> int:
    return int(np.minimum(state.counts, state.wanted).sum())


def _steps(references: ReferenceSet, order: Ints, values: Array) -> tuple[RatingStep, ...]:
    items = references.items or ()
    names = [(item.id, f"reference:{one.id}") for item in items for one in item.references]
    return tuple(
        RatingStep(item, target, value)
        for (item, target), value in zip(
            (names[place] for place in order.tolist()), values.tolist(), strict=True
        )
    )


def _planned_systems(
    names: Sequence[str], look: RatingLook, metric: Metric
) -> tuple[PlannedSystem, ...]:
    order = best_first(names, look.expected, higher_is_better=metric.higher_is_better)
    low, high = np.quantile(look.scores, (0.025, 0.975), axis=0)
    sign = 1.0 if metric.higher_is_better else -1.0
    ranks = 1 + (sign * look.scores[:, None, :] > sign * look.scores[:, :, None]).sum(axis=2)
    return tuple(
        PlannedSystem(
            names[place],
            float(look.expected[place]),
            ConfidenceInterval(float(low[place]), float(high[place]), 0.95, "forecast"),
            rank,
            (int(np.quantile(ranks[:, place], 0.025)), int(np.quantile(ranks[:, place], 0.975))),
        )
        for rank, place in enumerate(order, start=1)
    )


def _planned_pairs(
    names: Sequence[str], look: RatingLook, metric: Metric
) -> tuple[PlannedPair, ...]:
    """Neighbours in the ranking: the chance that their order stays."""
    order = best_first(names, look.expected, higher_is_better=metric.higher_is_better)
    sign = 1.0 if metric.higher_is_better else -1.0
    pairs = []
    for better, worse in pairwise(order):
        differences = sign * (look.scores[:, better] - look.scores[:, worse])
        chance = float((differences >= 0.0).mean())
        pairs.append(
            PlannedPair(names[better], names[worse], float(abs(differences.mean())), chance)
        )
    return tuple(pairs)


def _outlook(
    look: RatingLook, settled: Array, order: Ints, planner: RatingPlanner
) -> tuple[Outlook, ...]:
    if not len(order):
        return ()
    forecast = look.forecast
    whole = np.maximum(forecast.variance_after(0), 1e-12)
    steps = [step for share in _SHARES if (step := round(share * len(order)))]
    given = [np.bincount(order[:step], minlength=len(whole)) for step in steps]
    shares = np.array([1.0 - forecast.variance_after(one) / whole for one in given])
    before = max(int(np.minimum(forecast.rated.counts, forecast.rated.wanted).sum()), 1)
    learnt = np.array([step / (before + step) for step in steps])
    rng = stream(planner.seed, _OUTLOOK)
    chances = outlook(settled, look.scores, shares, learnt, planner.most_discordant, rng)
    return tuple(
        Outlook(step, int(np.count_nonzero(one)), float(chance))
        for step, one, chance in zip(steps, given, chances, strict=True)
    )


def _clamped(planner: RatingPlanner, look: RatingLook) -> list[bool]:
    sums = planner.ready.rows(np.clip(look.forecast.mean, -1.0, 1.0)[None])[0].sum(axis=0)
    return [bool(still) for still in planner.metric.clamped(sums)]
