"""What a reference's weight does to systems' scores in; what rating it is worth out.

Rows are additive over items, so that one reference of every item can be changed at a time: what
that does to rows is exact, through matched n-grams, the item's largest weight and the closest
length; what rows do to the score of the corpus is linearised, one item being little among many.
"""

from __future__ import annotations

from typing import Literal

import numpy as np

from deltableu._types import Array, Ints
from deltableu.compare.weight_forecast import WeightForecast
from deltableu.score import Metric, Reweighting

Aim = Literal["ranking", "scores"]

#: Pairs of systems without any doubt have no spread to divide by.
_SURE = 1e-12


def weight_effects(
    ready: Reweighting,
    metric: Metric,
    bounds: Ints,
    weights: Array,
    ends: tuple[Array, Array],
) -> Array:
    """References x systems: change of the corpus score per unit of a reference's weight.

    Parameters
    ----------
    ready : Reweighting
        All systems.
    metric : Metric
    bounds : array of int
        Item i has the references from bounds[i] to bounds[i + 1].
    weights : array
        Of all references, while one is changed.
    ends : pair of arrays
        The lower and the higher weight between which each is changed; where they are equal,
        nothing is changed, and the effect is 0.

    Examples
    --------
    >>> from deltableu import DeltaBLEU
    >>> from deltableu.corpus import ReferenceSet
    >>> metric = DeltaBLEU(tokenize="none", order=1)
    >>> references = ReferenceSet([["a b", "c"], ["d e", "f"]], [[1.0, 0.5], [1.0, 0.5]])
    >>> ready = metric.reweighting(references, [["a b", "d e"], ["a c", "d f"]])
    >>> weights = np.array([1.0, 0.5, 1.0, 0.5])
    >>> ends = (weights - 0.1, weights + 0.1)
    >>> weight_effects(ready, metric, references.bounds, weights, ends).round(1).tolist()
    [[0.0, -12.5], [0.0, 25.0], [0.0, -12.5], [0.0, 25.0]]
    """
    low, high = ends
    varied = high > low
    sizes = np.diff(bounds)
    total = ready.rows(weights[None])[0].sum(axis=0)
    gradient = metric.gradient(total)
    effects = np.zeros((len(weights), len(total)))
    for place in range(int(sizes.max())):
        items = np.flatnonzero(sizes > place)
        changed = bounds[items] + place
        items, changed = items[varied[changed]], changed[varied[changed]]
        if not len(changed):
            continue
        both = np.stack([weights, weights])
        both[0, changed], both[1, changed] = low[changed], high[changed]
        rows = ready.rows(both)[:, items]
        moved = np.einsum("isc,sc->is", rows[1] - rows[0], gradient)
        effects[changed] = moved / (high - low)[changed, None]
    return effects


def expected_effects(
    ready: Reweighting,
    metric: Metric,
    bounds: Ints,
    forecast: WeightForecast,
    draws: int,
    rng: np.random.Generator,
) -> Array:
    """The same, a standard deviation up and down, averaged over what the other weights may be."""
    spread = np.where(forecast.rated.missing > 0, forecast.deviation, 0.0)
    ends = (
        np.clip(forecast.mean - spread, -1.0, 1.0),
        np.clip(forecast.mean + spread, -1.0, 1.0),
    )
    found = [
        weight_effects(ready, metric, bounds, weights, ends)
        for weights in forecast.draw(draws, rng)
    ]
    mean: Array = np.mean(found, axis=0)
    return mean


def rating_values(settled: Array, scores: Array, aim: Aim) -> Array:
    """What rating each reference to the end is worth.

    For the ranking: pairs of systems that may be in the wrong order now, each by its chance, times
    the share of the pair's uncertainty that the reference is responsible for; over all references
    that sums to about the number of pairs in the wrong order. For scores: the variance of a
    system's score that it is responsible for, averaged over systems.

    Parameters
    ----------
    settled : array
        References x systems, as `WeightForecast.settled` gives it.
    scores : array
        Draws x systems: scores that may come out in the end.
    aim : {"ranking", "scores"}
    """
    from scipy.special import ndtr

    if aim == "scores" or scores.shape[1] < 2:
        variance: Array = (settled**2).mean(axis=1)
        return variance
    mean, covariance = scores.mean(axis=0), np.cov(scores.T)
    own = np.diag(covariance)
    spread = own[:, None] + own - 2.0 * covariance
    doubt = spread > _SURE
    size = np.sqrt(np.where(doubt, spread, 1.0))
    wrong = ndtr(-np.abs(mean[:, None] - mean) / size)
    # The sum over pairs of factor * (change of one - change of the other)^2, as one product.
    factors = np.where(doubt, wrong / size**2, 0.0)
    form = np.diag(factors.sum(axis=1)) - factors
    value: Array = np.einsum("rs,rs->r", settled @ form, settled)
    return np.maximum(value, 0.0)


def rating_order(values: Array, forecast: WeightForecast) -> tuple[Ints, Array]:
    """Single ratings, the most valuable first: the reference of each, and what it is worth.

    A reference stands there once for each rating that it still needs. The first tells most of it,
    each further one less: they share its value as they lessen the variance of its weight.
    """
    missing = forecast.rated.missing
    places, worths = [], []
    before = whole = forecast.variance_after(0)
    for number in range(1, int(missing.max(initial=0)) + 1):
        after = forecast.variance_after(number)
        wanted = np.flatnonzero(missing >= number)
        share = (before - after)[wanted] / np.maximum(whole[wanted], _SURE)
        places.append(wanted)
        worths.append(values[wanted] * share)
        before = after
    if not places:
        return np.empty(0, dtype=np.int64), np.empty(0)
    place, worth = np.concatenate(places), np.concatenate(worths)
    order = np.argsort(-worth, kind="stable")
    return place[order], worth[order]


def discordant_share(later: Array, now: Array) -> Array:
    """The share of pairs of systems whose order now is contradicted later.

    A later tie contradicts nothing; a tie now is contradicted by any later order. Both may have
    several rows, or one of them a single one.
    """
    systems = later.shape[-1]
    first, second = np.triu_indices(systems, 1)
    order = np.sign(now[..., first] - now[..., second])
    then = np.sign(later[..., first] - later[..., second])
    wrong = (order * then < 0.0) | ((order == 0.0) & (then != 0.0))
    share: Array = wrong.sum(axis=-1) / max(len(first), 1)
    return share


def outlook(
    settled: Array,
    scores: Array,
    shares: Array,
    learnt: Array,
    most_discordant: float,
    rng: np.random.Generator,
    draws: int = 400,
) -> Array:
    """For states of rating that may come: the chance that the ranking then stays.

    Scores are taken for normal. What is known then is drawn once, what is still open a second
    time, and the two rankings are compared.

    Parameters
    ----------
    settled, scores : array
        As in `rating_values`.
    shares : array
        States x references: how much of what rating a reference settles is settled then.
    learnt : array
        For each state, how much is then known of what no single reference is responsible for:
        what references of some origin, or such as some system matches, are worth.
    most_discordant : float
        The share of pairs that may be the other way round.
    """
    mean, covariance = scores.mean(axis=0), np.atleast_2d(np.cov(scores.T))
    own, whole = (settled**2).sum(axis=0), np.maximum(np.diag(covariance), _SURE)
    # References that tell of each other cannot all be counted in full.
    whole = np.maximum(own, whole)
    # The same luck for all states: none may seem worse for having more ratings.
    first, second = rng.normal(size=(2, draws, len(mean))) @ _root(covariance).T
    chances = []
    for known, common in zip(shares, learnt.tolist(), strict=True):
        share = np.minimum((known @ settled**2 + common * (whole - own)) / whole, 1.0)
        then = mean + first * np.sqrt(share)
        end = then + second * np.sqrt(1.0 - share)
        chances.append(float((discordant_share(end, then) <= most_discordant).mean()))
    return np.array(chances)


def _root(covariance: Array) -> Array:
    values, vectors = np.linalg.eigh(covariance)
    root: Array = vectors * np.sqrt(np.maximum(values, 0.0))
    return root
