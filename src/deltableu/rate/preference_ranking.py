"""Preferences in; systems ranked by them, with intervals, and whether position mattered, out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

import numpy as np

from deltableu._types import Array, Ints, Progress, steps_of
from deltableu.errors import InputError, check_at_least, check_choice, check_share
from deltableu.rate.preference_results import (
    PositionEffect,
    PreferenceRanking,
    PreferredPair,
    PreferredSystem,
    Resampled,
)
from deltableu.rate.preferences import Preferences
from deltableu.stats import (
    BradleyTerry,
    ConfidenceInterval,
    Correction,
    adjust,
    crossed_variance,
    fit_bradley_terry,
    rank,
)

#: Systems from which on letters are no help.
_MANY = 40
#: Keys of random streams.
_ITEMS, _RATERS, _BOTH = 1, 2, 3


def rank_by_preference(
    preferences: Preferences,
    *,
    prior: float = 0.0,
    resample: Resampled | None = None,
    resamples: int = 2000,
    correction: Correction = "holm",
    significance: float = 0.05,
    confidence: float = 0.95,
    seed: int = 0,
    progress: Progress | None = None,
) -> PreferenceRanking:
    """Rank systems by Bradley and Terry's model with ties and an effect of position.

    Parameters
    ----------
    preferences
    prior
        As if each system had also been compared so many times with an average one, half won and
        half lost; see `fit_bradley_terry`.
    resample
        What would be others in another study, and is drawn anew: "items", "raters" or
        "items,raters". By default both, or items alone where there is one rater.
    resamples, seed
        Number of draws of each kind, and the seed that repeats them.
    correction
        For the number of pairs.
    significance
        Corrected p-values below it are significant.
    confidence
        That of the intervals, which are Student's with the bootstrap's standard errors.

    Examples
    --------
    >>> from deltableu.corpus import Rating, RatingTable
    >>> from deltableu.rate import preferences
    >>> said = [("A", 1, "B", 0)] * 6 + [("A", 0, "B", 1)] * 2 + [("A", 0.5, "B", 0.5)]
    >>> table = RatingTable.from_records(
    ...     Rating(f"rater {n % 3}", f"item {n}", f"system:{name}", value, pair="p")
    ...     for n, (a, won, b, lost) in enumerate(said) for name, value in ((a, won), (b, lost))
    ... )
    >>> found = rank_by_preference(preferences(table))
    >>> [(one.system, round(one.strength, 3), one.wins) for one in found.systems]
    [('A', 0.549, 6), ('B', -0.549, 2)]
    """
    check_choice("correction", correction, get_args(Correction))
    check_share("significance", significance)
    check_share("confidence", confidence)
    check_at_least("resamples", resamples, 2)
    fit = fit_bradley_terry(preferences.systems, preferences.judgements, prior=prior)
    chosen = _resampled(preferences, resample)
    errors = _errors(preferences, fit, chosen, resamples, seed, progress)
    size = len(preferences.systems)
    upper = np.triu_indices(size, 1)
    differences = fit.strengths[:, None] - fit.strengths
    p_values = _p_values(differences, errors.pair_errors, errors.pair_degrees)
    adjusted = np.ones((size, size))
    adjusted[upper] = adjust(p_values[upper], correction)
    adjusted = np.minimum(adjusted, adjusted.T)
    ranking = rank(
        preferences.systems, fit.strengths, adjusted < significance, letters=size <= _MANY
    )
    won, tied = _counts(preferences)
    reach = _reach(errors.pair_errors, errors.pair_degrees, confidence)
    own_reach = _reach(errors.errors, errors.degrees, confidence)
    method = f"bootstrap over {chosen.replace(',', ' and ')}"

    def interval(value: float, half: float) -> ConfidenceInterval:
        return ConfidenceInterval(value - half, value + half, confidence, method)

    def pair(first: int, second: int) -> PreferredPair:
        value, half = float(differences[first, second]), float(reach[first, second])
        low, high = fit.share(value - half), fit.share(value + half)
        sure = bool(adjusted[first, second] < significance)
        names = preferences.systems[first], preferences.systems[second]
        return PreferredPair(
            first=names[0],
            second=names[1],
            wins=int(won[first, second]),
            ties=int(tied[first, second]),
            losses=int(won[second, first]),
            difference=value,
            interval=interval(value, half),
            share=float(fit.share(value)),
            share_interval=ConfidenceInterval(float(low), float(high), confidence, method),
            p_value=float(p_values[first, second]),
            adjusted=float(adjusted[first, second]),
            better=names[0 if value > 0.0 else 1] if sure else None,
        )

    shares = fit.share(differences)
    np.fill_diagonal(shares, 0.0)
    systems = tuple(
        PreferredSystem(
            system=preferences.systems[place],
            strength=float(fit.strengths[place]),
            interval=interval(float(fit.strengths[place]), float(own_reach[place])),
            rank=ranking.ranks[place],
            cluster=ranking.clusters[place],
            letters=ranking.letters[place],
            share=float(shares[place].sum() / (size - 1)),
            wins=int(won[place].sum()),
            ties=int(tied[place].sum()),
            losses=int(won[:, place].sum()),
        )
        for place in ranking.order
    )
    order = np.array(ranking.order)
    met = (won + won.T + tied)[np.ix_(order, order)]
    compared = order[np.argwhere(np.triu(met, 1))].tolist()
    judged = preferences.judgements
    return PreferenceRanking(
        criterion=preferences.criterion,
        systems=systems,
        pairs=tuple(pair(first, second) for first, second in compared),
        nearest=pair(ranking.order[0], ranking.order[1]),
        position=_position(preferences, fit, errors, confidence, method),
        tie=None if fit.tie is None else math.exp(fit.tie),
        judgements=len(judged),
        ties=int((judged.outcome == 0).sum()),
        items=len(np.unique(preferences.item)),
        raters=len(np.unique(preferences.rater)),
        left_out=preferences.left_out,
        significant=int((adjusted[upper] < significance).sum()),
        resample=chosen,
        resamples=resamples,
        seed=seed,
        correction=correction,
        significance=significance,
        confidence=confidence,
        prior=prior,
        log_likelihood=fit.log_likelihood,
    )


def _resampled(preferences: Preferences, given: Resampled | None) -> Resampled:
    items, raters = (len(np.unique(one)) for one in (preferences.item, preferences.rater))
    if given is None:
        given = "items" if raters < 2 else "raters" if items < 2 else "items,raters"
    check_choice("resample", given, get_args(Resampled))
    for what, number in (("items", items), ("raters", raters)):
        if what in given.split(",") and number < 2:
            raise InputError(f"to draw {what} anew needs at least 2 of them, and there is one")
    return given


@dataclass(frozen=True, slots=True, eq=False)
class _Errors:
    """Standard errors and their degrees of freedom."""

    errors: Array  # strengths, then position, then tie
    degrees: Array
    pair_errors: Array  # systems x systems, of differences
    pair_degrees: Array


def _errors(
    preferences: Preferences,
    fit: BradleyTerry,
    resample: Resampled,
    resamples: int,
    seed: int,
    progress: Progress | None,
) -> _Errors:
    clusters: dict[str, tuple[int, Ints]] = {
        "items": (_ITEMS, preferences.item),
        "raters": (_RATERS, preferences.rater),
    }
    wanted = resample.split(",")
    if len(wanted) == 2:
        both = preferences.item * len(preferences.raters) + preferences.rater
        clusters["both"] = (_BOTH, both)
        wanted.append("both")
    size = len(preferences.systems)
    single, pairs = [], []
    for name in wanted:
        key, cluster = clusters[name]
        steps = steps_of(progress, f"drawing {name}")
        draws = fit.bootstrap(cluster, resamples, seed, key, progress=steps)
        covariance = draws.T @ draws / resamples
        own = np.diag(covariance)
        single.append(own)
        apart = own[:size, None] + own[:size] - 2.0 * covariance[:size, :size]
        pairs.append(np.maximum(apart, 0.0))
    counts = [len(np.unique(clusters[name][1])) for name in wanted]
    errors, degrees = _together(single, counts)
    pair_errors, pair_degrees = _together(pairs, counts)
    if fit.prior:
        # Where somebody wins throughout nothing varies, but what the prior says is not sure.
        own = np.diag(fit.covariance)
        apart = own[:size, None] + own[:size] - 2.0 * fit.covariance[:size, :size]
        errors = np.maximum(errors, np.sqrt(own))
        pair_errors = np.maximum(pair_errors, np.sqrt(np.maximum(apart, 0.0)))
    return _Errors(errors, degrees, pair_errors, pair_degrees)


def _together(variances: list[Array], counts: list[int]) -> tuple[Array, Array]:
    if len(variances) == 3:
        items, raters, both = variances
        variance, degrees = crossed_variance(items, raters, both, (counts[0], counts[1]))
    else:
        variance = variances[0] * counts[0] / (counts[0] - 1.0)
        degrees = np.full(variance.shape, counts[0] - 1.0)
    return np.sqrt(variance), degrees


def _reach(errors: Array, degrees: Array, confidence: float) -> Array:
    """Half the width of Student's interval."""
    from scipy.special import stdtrit

    quantile: Array = stdtrit(np.minimum(degrees, 1e6), (1.0 + confidence) / 2.0)
    return quantile * errors


def _p_values(differences: Array, errors: Array, degrees: Array) -> Array:
    from scipy.special import stdtr

    t = np.abs(differences)
    np.divide(t, errors, out=t, where=errors > 0.0)
    p_values: Array = 2.0 * stdtr(np.minimum(degrees, 1e6), -t)
    # What does not vary at all tells nothing.
    return np.where(errors > 0.0, p_values, 1.0)


def _counts(preferences: Preferences) -> tuple[Ints, Ints]:
    """Systems x systems: how often the row was preferred to the column, and how often they tied."""
    size, judged = len(preferences.systems), preferences.judgements
    won, tied = np.zeros((2, size, size), dtype=np.int64)
    ahead, behind, level = (judged.outcome == one for one in (1, -1, 0))
    np.add.at(won, (judged.first[ahead], judged.second[ahead]), 1)
    np.add.at(won, (judged.second[behind], judged.first[behind]), 1)
    np.add.at(tied, (judged.first[level], judged.second[level]), 1)
    return won, tied + tied.T


def _position(
    preferences: Preferences, fit: BradleyTerry, errors: _Errors, confidence: float, method: str
) -> PositionEffect | None:
    judged = preferences.judgements
    if not judged.order.any():
        return None
    first = judged.order * judged.outcome
    known = judged.order != 0
    wins, ties, losses = (int((first[known] == one).sum()) for one in (1, 0, -1))
    if fit.position is None:
        return PositionEffect(wins, ties, losses, None, None, None, None)
    at = len(preferences.systems)
    value, error = fit.position, errors.errors[at : at + 1]
    half = float(_reach(error, errors.degrees[at : at + 1], confidence)[0])
    p_value = float(_p_values(np.array([value]), error, errors.degrees[at : at + 1])[0])
    interval = ConfidenceInterval(value - half, value + half, confidence, method)
    return PositionEffect(wins, ties, losses, value, interval, p_value, float(fit.share(value)))
