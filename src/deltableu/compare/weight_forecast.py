"""Ratings of some references in; what weights all of them will have in the end, out.

A reference's quality (what endlessly many raters would say on average) is taken to be

    origin + rank + which systems' outputs it matches + how its item and similar texts fare,

the last as a normal deviation that references of one item share in part, similar texts more than
others. How much each counts is estimated from the ratings; where there are none, it is what the
defaults say. A rating is the quality plus noise, and the weight in the end the mean of all ratings.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.compare.item_blocks import ItemBlock
from deltableu.corpus import Item
from deltableu.errors import InputError

#: Mean and standard deviation of quality by origin, before anybody rated: as good as so many rated
#: references.
ORIGIN_QUALITY = {
    "original": (0.6, 0.4),
    "written": (0.4, 0.4),
    "mined": (0.0, 0.5),
    "parrot": (-0.4, 0.4),
    "random": (-0.6, 0.3),
}
_STRENGTH = 5.0
#: Variance of a single rating around the quality, where no reference was rated twice.
RATING_VARIANCE = 0.25
_ORIGIN_SPREAD, _RANK_SPREAD, _MATCH_SPREAD, _GOOD_MATCH_SPREAD, _REACH_SPREAD = (
    0.4,
    0.3,
    0.1,
    0.05,
    0.3,
)
#: How much a single system's matches may tell of quality: all are tried, and count by likelihood.
_SYSTEM_SPREADS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032)
#: Shares of the deviation that all references of an item have in common, and similar ones.
_SHARED = tuple((own, alike) for own in (0.02, 0.1, 0.2, 0.4) for alike in (0.0, 0.2, 0.4, 0.55))
#: Items that are enough to choose shares by.
_ITEMS = 400
_ROUNDS = 2
_TINY = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class RatedSoFar:
    """What was said of each reference until now.

    Attributes
    ----------
    means : array
        Mean rating of each reference on the scale of weights; NaN where there is none.
    counts : array of int
        How many ratings that is of.
    wanted : int
        How many each reference gets in the end; those with more have all.
    variance : float
        Variance of single ratings of one reference.
    """

    means: Array
    counts: Ints
    wanted: int
    variance: float

    @property
    def missing(self) -> Ints:
        """How many ratings each reference still needs."""
        return np.maximum(self.wanted - self.counts, 0)


@dataclass(frozen=True, slots=True, eq=False)
class ReferenceFacts:
    """What is known of references without any rating.

    Attributes
    ----------
    origins : array of int
        Places in the names of `ORIGIN_QUALITY`.
    ranks : array
        Logarithms of ranks among mined references; NaN where there is none.
    matches : array
        References x systems: how far each system's score goes with the weight of the reference.
    """

    origins: Ints
    ranks: Array
    matches: Array

    @classmethod
    def of(cls, items: Sequence[Item], systems: int) -> ReferenceFacts:
        """Of items; what they match is not known yet."""
        names = list(ORIGIN_QUALITY)
        references = [one for item in items for one in item.references]
        ranks = [
            np.nan if one.source is None or one.source.rank is None else max(one.source.rank, 1)
            for one in references
        ]
        return cls(
            np.array([names.index(one.origin) for one in references], dtype=np.int64),
            np.log(np.array(ranks, dtype=np.float64)),
            np.zeros((len(references), systems)),
        )

    def default(self) -> tuple[Array, Array]:
        """Quality and its standard deviation, before anybody rated."""
        table = np.array(list(ORIGIN_QUALITY.values()))[self.origins]
        return table[:, 0], table[:, 1]


@dataclass(frozen=True, slots=True, eq=False)
class _Design:
    """Columns of the regression, with what is thought of their coefficients beforehand."""

    columns: Array
    means: Array
    spreads: Array  # NaN is that of a single system

    def prior(self, spread: float) -> Array:
        return np.where(np.isnan(self.spreads), spread, self.spreads)


def _design(facts: ReferenceFacts, scores: Array) -> _Design:
    defaults = list(ORIGIN_QUALITY.values())
    columns, means, spreads = [], [], []

    def add(column: Array, mean: float, spread: float) -> None:
        columns.append(column)
        means.append(mean)
        spreads.append(spread)

    for origin in np.unique(facts.origins).tolist():
        add((facts.origins == origin).astype(np.float64), defaults[origin][0], _ORIGIN_SPREAD)
    ranked = ~np.isnan(facts.ranks)
    if len(np.unique(facts.ranks[ranked])) > 1:
        add(np.where(ranked, facts.ranks - facts.ranks[ranked].mean(), 0.0), 0.0, _RANK_SPREAD)
    matches = _unit(facts.matches)
    if matches.any():
        common = matches.mean(axis=1)
        add(_unit(common), 0.0, _MATCH_SPREAD)
        places = np.argsort(np.argsort((matches**2).sum(axis=1), kind="stable"), kind="stable")
        reach: Array = places.astype(np.float64) / len(places) - 0.5
        add(reach, 0.0, _REACH_SPREAD)
        add(reach**2 - 1.0 / 12.0, 0.0, _REACH_SPREAD)
        if len(scores) > 1:
            # Good outputs have good words: what better systems say is likelier to be liked.
            add(_unit(matches @ (scores - scores.mean())), 0.0, _GOOD_MATCH_SPREAD)
            for system in range(len(scores)):
                add(matches[:, system] - common, 0.0, np.nan)
    return _Design(np.stack(columns, axis=1), np.array(means), np.array(spreads))


def _unit(values: Array) -> Array:
    size = float(np.sqrt((values**2).mean()))
    scaled: Array = values / size if size > 0.0 else values
    return scaled


@dataclass(frozen=True, slots=True, eq=False)
class _Fitted:
    """One block of items: how residuals of rated references tell of others, and what is left."""

    block: ItemBlock
    gain: Array  # items x references x references
    left: Array  # covariance of the qualities of references that still get ratings
    root: Array


@dataclass(frozen=True, slots=True, eq=False)
class WeightForecast:
    """Weights that references will have when all ratings are given.

    Attributes
    ----------
    mean, deviation : array
        Expected weight of each reference, and its standard deviation: 0 where it is known.
    quality_variance : array
        How unsure the quality of each reference is, which further ratings make surer.
    rated : RatedSoFar
    coefficients : array
        Of the regression, for what they are worth.
    """

    mean: Array
    deviation: Array
    quality_variance: Array
    rated: RatedSoFar
    coefficients: Array
    _design: _Design
    _chances: Array
    _solutions: tuple[tuple[Array, Array], ...]
    _fitted: tuple[_Fitted, ...]

    def draw(self, size: int, rng: np.random.Generator) -> Array:
        """Possible weights, draws x references; every second draw mirrors the one before it."""
        half = (size + 1) // 2
        rated, missing = self.rated, self.rated.missing
        chosen = rng.choice(len(self._chances), size=half, p=self._chances)
        steps = rng.normal(size=(half, len(self.coefficients)))
        coefficients = np.stack(
            [
                self._solutions[k][0] + self._solutions[k][1] @ step
                for k, step in zip(chosen, steps, strict=True)
            ]
        )
        moved = (coefficients - self.coefficients) @ self._design.columns.T
        for one in self._fitted:
            shift = one.block.take(moved)
            shift = shift - np.matmul(one.gain, shift[..., None])[..., 0]
            noise = rng.normal(size=(*shift.shape, 1))
            one.block.put(shift + np.matmul(one.root, noise)[..., 0], moved)
        open_ = missing > 0
        share = missing / rated.wanted
        moved *= share
        spread = np.sqrt(rated.variance * missing) / rated.wanted
        moved += spread * rng.normal(size=moved.shape)
        moved /= np.where(open_, self.deviation, 1.0)
        drawn = np.empty((2 * half, len(self.mean)))
        drawn[0::2], drawn[1::2] = moved, -moved
        # Known weights stay as they are, wherever they lie.
        made: Array = np.where(open_, self._bounded(drawn), self.mean)[:size]
        return made

    def _bounded(self, standard: Array) -> Array:
        """Standard normal numbers as weights: skewed as near the ends of a scale they must be.

        Skewness and kurtosis are those of the beta distribution on [-1, 1] with the same mean and
        variance, by the expansion of Cornish and Fisher (1938).
        """
        mean = np.clip((1.0 + self.mean) / 2.0, 0.02, 0.98)
        spread = mean * (1.0 - mean)
        variance = np.clip((self.deviation / 2.0) ** 2, 1e-9, 0.5 * spread)
        size = spread / variance - 1.0
        skewness = 2.0 * (1.0 - 2.0 * mean) * np.sqrt(size + 1.0)
        skewness /= (size + 2.0) * np.sqrt(spread)
        kurtosis = 6.0 * ((1.0 - 2.0 * mean) ** 2 * (size + 1.0) - spread * (size + 2.0))
        kurtosis /= spread * (size + 2.0) * (size + 3.0)
        square = standard**2
        bent = standard + skewness / 6.0 * (square - 1.0)
        bent += standard * (kurtosis / 24.0 * (square - 3.0))
        bent -= standard * (skewness**2 / 36.0 * (2.0 * square - 5.0))
        weights: Array = np.clip(self.mean + self.deviation * bent, -1.0, 1.0)
        return weights

    def variance_after(self, ratings: int | Ints) -> Array:
        """Variance of each weight when so many ratings more are given."""
        rated = self.rated
        given = np.minimum(ratings, rated.missing)
        left = (rated.missing - given) / rated.wanted
        quality = self.quality_variance
        if rated.variance > 0.0:
            quality = quality / (1.0 + given * quality / rated.variance)
        else:
            quality = np.where(given > 0, 0.0, quality)
        variance: Array = left**2 * quality + rated.variance * left / rated.wanted
        return variance

    def settled(self, effects: Array) -> Array:
        """References x systems: by how much scores would move as a reference's weight is known.

        Standard deviations, signed alike for all systems; similar references of the item, of which
        the weight tells too, are counted in.
        """
        rated, missing = self.rated, self.rated.missing
        share = missing / rated.wanted
        own = rated.variance * missing / rated.wanted**2
        found = np.zeros_like(effects)
        for one in self._fitted:
            block = one.block
            shares = block.take(share)
            covariance = one.left * shares[:, :, None] * shares[:, None, :]
            places = np.arange(covariance.shape[1])
            covariance[:, places, places] += block.take(own)
            deviation = np.sqrt(np.maximum(covariance[:, places, places], _TINY**2))
            moved = np.matmul(covariance, block.rows(effects)) / deviation[..., None]
            block.put_rows(moved, found)
        return found


def forecast_weights(
    facts: ReferenceFacts,
    blocks: Sequence[ItemBlock],
    rated: RatedSoFar,
    scores: Array,
) -> WeightForecast:
    """Estimate from what was rated what the other weights will be.

    Parameters
    ----------
    facts : ReferenceFacts
    blocks : list of ItemBlock
        All items.
    rated : RatedSoFar
    scores : array
        About how good each system is.

    References
    ----------
    Henderson 1975, "Best linear unbiased estimation and prediction under a selection model";
    Rasmussen and Williams 2006, "Gaussian Processes for Machine Learning", chapters 2.7 and 5.4.1
    (an explicit regression below, and choice of covariances by marginal likelihood).
    """
    if rated.wanted < 1:
        raise InputError(f"wanted must be at least 1, got {rated.wanted}")
    design = _design(facts, scores)
    _, spread = facts.default()
    typical = {origin: float(spread[facts.origins == origin][0]) for origin in set(facts.origins)}
    fit = _Fit(design, blocks, rated, facts.origins)
    some = _some_items(blocks)
    usual = _SYSTEM_SPREADS[2]
    shared = _SHARED[5]
    for _ in range(_ROUNDS):
        if rated.counts.any():
            tried = {one: fit.evidence(one, spread, some, usual) for one in _SHARED}
            shared = max(tried, key=lambda one: tried[one])
        _, solutions, chances = fit.solve(shared, spread, blocks)
        coefficients = sum(
            chance * mean for chance, (mean, _) in zip(chances, solutions, strict=True)
        )
        spread = fit.spreads(np.asarray(coefficients), typical)
    parts, solutions, chances = fit.solve(shared, spread, blocks)
    coefficients = np.sum(
        [chance * mean for chance, (mean, _) in zip(chances, solutions, strict=True)], axis=0
    )
    return fit.forecast(parts, solutions, chances, coefficients)


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """One block under one covariance: the matrices of its items, and their normal equations."""

    block: ItemBlock
    covariance: Array
    inverse: Array  # of the covariance of ratings; 0 where there are none
    normal: Array
    right: Array
    squares: float
    log_determinant: float


@dataclass(frozen=True, slots=True, eq=False)
class _Fit:
    design: _Design
    blocks: Sequence[ItemBlock]
    rated: RatedSoFar
    origins: Ints

    @property
    def seen(self) -> Bools:
        return self.rated.counts > 0

    @property
    def noise(self) -> Array:
        """Variance of each mean rating around the quality."""
        counts = np.minimum(self.rated.counts, self.rated.wanted)
        noise: Array = self.rated.variance / np.maximum(counts, 1)
        return noise

    def part(self, block: ItemBlock, shared: tuple[float, float], spread: Array) -> _Part:
        own, alike = shared
        places = np.arange(block.places.shape[1])
        covariance = own + alike * block.similar
        covariance[:, places, places] = 1.0
        spreads = block.take(spread)
        covariance *= spreads[:, :, None] * spreads[:, None, :]
        seen = block.take(self.seen.astype(np.float64))
        both = seen[:, :, None] * seen[:, None, :]
        ratings = covariance * both
        ratings[:, places, places] += np.where(seen > 0.0, block.take(self.noise) + _TINY, 1.0)
        inverse = np.linalg.inv(ratings) * both
        columns = block.rows(self.design.columns)
        values = block.take(np.where(self.seen, self.rated.means, 0.0))
        weighted = np.matmul(inverse, columns)
        size = columns.shape[2]
        return _Part(
            block,
            covariance,
            inverse,
            columns.reshape(-1, size).T @ weighted.reshape(-1, size),
            weighted.reshape(-1, size).T @ values.ravel(),
            float((values * np.matmul(inverse, values[..., None])[..., 0]).sum()),
            float(np.linalg.slogdet(ratings)[1].sum()),
        )

    def evidence(
        self,
        shared: tuple[float, float],
        spread: Array,
        blocks: Sequence[ItemBlock],
        system: float,
    ) -> float:
        return self._posterior([self.part(one, shared, spread) for one in blocks], system)[0]

    def solve(
        self, shared: tuple[float, float], spread: Array, blocks: Sequence[ItemBlock]
    ) -> tuple[list[_Part], list[tuple[Array, Array]], Array]:
        """Coefficients and roots of their covariances, for each spread of systems; its chance."""
        parts = [self.part(one, shared, spread) for one in blocks]
        several = bool(np.isnan(self.design.spreads).any())
        found = [self._posterior(parts, one) for one in _SYSTEM_SPREADS[: None if several else 1]]
        logs = np.array([one[0] for one in found])
        chances = np.exp(logs - logs.max())
        return parts, [(one[1], one[2]) for one in found], chances / chances.sum()

    def _posterior(self, parts: Sequence[_Part], system: float) -> tuple[float, Array, Array]:
        """Log evidence (but for what all have in common), coefficients, root of the covariance."""
        prior = self.design.prior(system)
        precision = prior**-2.0
        normal = np.sum([one.normal for one in parts], axis=0) + np.diag(precision)
        right = np.sum([one.right for one in parts], axis=0) + precision * self.design.means
        root = np.linalg.cholesky(normal)
        # The covariance of coefficients is the inverse of the normal matrix.
        backward = np.linalg.inv(root).T
        mean = backward @ (backward.T @ right)
        squares = sum(one.squares for one in parts) + float(precision @ self.design.means**2)
        log_determinant = sum(one.log_determinant for one in parts)
        log_determinant += 2.0 * float(np.log(np.diag(root)).sum() + np.log(prior).sum())
        return -0.5 * (squares - float(right @ mean) + log_determinant), mean, backward

    def spreads(self, coefficients: Array, typical: dict[int, float]) -> Array:
        """Deviations of quality by origin: of residuals, less the noise of ratings."""
        spread = np.empty(len(self.origins))
        residual = self.rated.means - self.design.columns @ coefficients
        for origin, usual in typical.items():
            own = self.origins == origin
            there = own & self.seen
            left = float((residual[there] ** 2 - self.noise[there]).sum())
            variance = (_STRENGTH * usual**2 + left) / (_STRENGTH + np.count_nonzero(there))
            spread[own] = np.sqrt(max(variance, (0.1 * usual) ** 2))
        return spread

    def forecast(
        self,
        parts: Sequence[_Part],
        solutions: Sequence[tuple[Array, Array]],
        chances: Array,
        coefficients: Array,
    ) -> WeightForecast:
        rated, missing = self.rated, self.rated.missing
        quality = self.design.columns @ coefficients
        residual = np.where(self.seen, rated.means - quality, 0.0)
        variance = np.zeros(len(quality))
        expected = quality.copy()
        fitted = []
        for one in parts:
            block = one.block
            gain = np.matmul(one.covariance, one.inverse)
            places = np.arange(gain.shape[1])
            left = one.covariance - np.matmul(gain, one.covariance)
            open_ = block.take((missing > 0).astype(np.float64))
            left *= open_[:, :, None] * open_[:, None, :]
            left = (left + left.transpose(0, 2, 1)) / 2.0
            block.put(np.maximum(left[:, places, places], 0.0), variance)
            told = np.matmul(gain, block.take(residual)[..., None])[..., 0]
            block.put(block.take(quality) + told, expected)
            safe = left.copy()
            safe[:, places, places] += _TINY
            fitted.append(_Fitted(block, gain, left, np.linalg.cholesky(safe)))
        counts = np.minimum(rated.counts, rated.wanted)
        said = np.where(self.seen, rated.means, 0.0)
        mean = np.where(missing > 0, (counts * said + missing * expected) / rated.wanted, said)
        share = missing / rated.wanted
        deviation = np.sqrt(share**2 * variance + rated.variance * missing / rated.wanted**2)
        return WeightForecast(
            mean,
            deviation,
            variance,
            rated,
            coefficients,
            self.design,
            chances,
            tuple(solutions),
            tuple(fitted),
        )


def _some_items(blocks: Sequence[ItemBlock]) -> list[ItemBlock]:
    """Evenly spread items, no more than are needed."""
    total = sum(len(one.places) for one in blocks)
    step = max(1, total // _ITEMS)
    return [one.some(np.arange(0, len(one.places), step)) for one in blocks]
