"""Past comparisons with human verdicts in; the chance that people agree with a difference out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from statistics import NormalDist
from typing import ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Ints
from deltableu.compare.past_comparisons import PastComparisons
from deltableu.compare.power_results import never_falling
from deltableu.compare.results import Probability
from deltableu.errors import InputError, check_choice, check_share
from deltableu.stats import ConfidenceInterval

AgreementModel = Literal["isotonic", "logistic"]

_FEWEST_PAIRS = 10
#: Halvings of a bracket: more than a float has digits.
_STEPS = 60


@dataclass(frozen=True, slots=True, eq=False)
class AgreementCurve:
    """How likely people agree with a metric about which system is better, by its difference.

    Two systems can be named in either order, so the chance is .5 at a difference of 0 and depends
    on the difference's size alone. A human tie agrees by half; pairs with a metric difference of 0
    say nothing and are left out.

    `isotonic` assumes only that the chance never falls as the difference grows (never rises, where
    people mostly disagreed). Its values at past differences are the likeliest ones; between them,
    and between 0 and the smallest, it is linear, beyond the largest constant. Its interval holds
    the chances that a likelihood ratio test does not reject (Banerjee and Wellner 2001, with the
    larger threshold of chi-square); near the ends, where that test is too sure of itself, it is
    Clopper and Pearson's of the n^(2/3) nearest pairs, whose chances are no larger (lower limit)
    or no smaller (upper limit). `logistic` assumes that the log odds are proportional to the
    difference; its interval holds the slopes that a score test does not reject, and is right only
    as far as the model is. The bootstrap serves neither: of an isotonic curve it hardly ever
    covers the large differences, with which all past pairs agree.

    Pairs of one campaign share systems and thereby luck. Where groups are given, both tests are
    divided by the design effect, how much more the pairs of a group err together than unrelated
    ones would (Rao and Scott 1981); without groups, pairs count as unrelated.

    Attributes
    ----------
    model : {"isotonic", "logistic"}
    metric : str or None
    pairs, ties, left_out : int
        Pairs used; how many of them people tied; how many more had a metric difference of 0.
    groups : int or None
    design_effect : float
        The pairs are worth this many times fewer unrelated ones.
    largest : float
        The largest past difference.
    confidence : float
        The confidence of the intervals.
    slope : float or None
        The slope of the logistic model; infinite where people agreed (or disagreed) throughout.
    notes : tuple of str
        What readers should know.

    References
    ----------
    Ayer et al. 1955, "An Empirical Distribution Function for Sampling with Incomplete Information".
    Banerjee and Wellner 2001, "Likelihood Ratio Tests for Monotone Functions". Rao and Scott 1981,
    "The Analysis of Categorical Data from Complex Sample Surveys". Kocmi et al. 2024, "Navigating
    the Metrics Maze", for agreement by the size of a difference.

    Examples
    --------
    >>> differences = [0.1, 0.2, 0.3, 0.5, 0.8, 1.0, 1.5, 2.0, 2.5, 3.0, 4.0, 5.0]
    >>> verdicts = [1, -1, 1, -1, 1, 1, -1, 1, 1, 1, 1, 1]
    >>> curve = AgreementCurve.fit(PastComparisons.of(differences, verdicts))
    >>> chance = curve.probability(-0.9)
    >>> round(chance.value, 3), str(chance.interval), curve.extrapolates(6.0)
    (0.667, '[0.20, 1.00]', True)
    """

    model: AgreementModel
    metric: str | None
    pairs: int
    ties: int
    left_out: int
    groups: int | None
    design_effect: float
    largest: float
    confidence: float
    slope: float | None
    notes: tuple[str, ...]
    _fitted: _Isotonic | _Logistic

    @classmethod
    def fit(
        cls,
        past: PastComparisons,
        *,
        model: AgreementModel = "isotonic",
        higher_is_better: bool = True,
        confidence: float = 0.95,
    ) -> AgreementCurve:
        """Estimate the curve; at least 10 pairs with a metric difference are needed.

        Parameters
        ----------
        past : PastComparisons
        model : {"isotonic", "logistic"}
        higher_is_better : bool
            Whether more of the metric is better.
        confidence : float
            The confidence of the intervals.
        """
        check_choice("model", model, get_args(AgreementModel))
        check_share("confidence", confidence)
        used = past.differences != 0.0
        pairs = int(used.sum())
        if pairs < _FEWEST_PAIRS:
            among = "" if past.metric is None else f" by {past.metric}"
            raise InputError(
                f"an agreement curve needs at least {_FEWEST_PAIRS} past comparisons{among} in "
                f"which the metric saw a difference, got {pairs}"
            )
        signs = np.sign(past.differences[used]) * (1.0 if higher_is_better else -1.0)
        sizes = np.abs(past.differences[used])
        agreed = (1.0 + signs * past.verdicts[used]) / 2.0
        groups: Ints | None = None
        if past.groups is not None:
            names = [name for name, kept in zip(past.groups, used, strict=True) if kept]
            groups = np.unique(names, return_inverse=True)[1]
        fitted = (
            _Isotonic.fit(sizes, agreed) if model == "isotonic" else _Logistic.fit(sizes, agreed)
        )
        return cls(
            model=model,
            metric=past.metric,
            pairs=pairs,
            ties=int((agreed == 0.5).sum()),
            left_out=len(used) - pairs,
            groups=None if groups is None else int(groups.max()) + 1,
            design_effect=_design_effect(fitted.residuals(sizes, agreed), agreed, groups),
            largest=float(sizes.max()),
            confidence=confidence,
            slope=fitted.slope if isinstance(fitted, _Logistic) else None,
            notes=_notes(agreed, groups),
            _fitted=fitted,
        )

    def probability(self, difference: float) -> Probability:
        """The chance that people agree with the sign of this difference."""
        size = abs(float(difference))
        if math.isnan(size):
            raise InputError("a difference must be a number, got nan")
        method = f"{self._fitted.method} of {self.pairs} past pairs"
        if size == 0.0:
            interval = ConfidenceInterval(
                0.5, 0.5, self.confidence, "no difference, nothing to agree to"
            )
            return Probability(0.5, interval)
        if self.extrapolates(size):
            method += f", beyond their largest difference of {self.largest:.4g}"
        value = self._fitted.value(size)
        low, high = self._fitted.limits(size, self.confidence, self.design_effect)
        return Probability(value, ConfidenceInterval(low, high, self.confidence, method))

    def extrapolates(self, difference: float) -> bool:
        """Whether the difference is larger than any that people have judged."""
        return abs(difference) > self.largest


@dataclass(frozen=True, slots=True, eq=False)
class _Isotonic:
    """Shares of agreement at each size of difference; of disagreement where that prevails."""

    method: ClassVar[str] = "monotone likelihood ratio"

    sizes: Array
    shares: Array
    counts: Array
    curve: Array  # the likeliest, not held to .5 and more
    turned: bool

    @classmethod
    def fit(cls, sizes: Array, agreed: Array) -> _Isotonic:
        turned = float(agreed.mean()) < 0.5
        knots, places, found = np.unique(sizes, return_inverse=True, return_counts=True)
        counts = found.astype(np.float64)
        shares = np.bincount(places, 1.0 - agreed if turned else agreed) / counts
        return cls(knots, shares, counts, never_falling(shares, counts), turned)

    def residuals(self, sizes: Array, agreed: Array) -> Array:
        turned = 1.0 - agreed if self.turned else agreed
        return np.asarray(turned - np.interp(sizes, self.sizes, self.curve))

    def value(self, size: float) -> float:
        curve = np.maximum(self.curve, 0.5)
        value = float(np.interp(size, [0.0, *self.sizes], [0.5, *curve]))
        return 1.0 - value if self.turned else value

    def limits(self, size: float, confidence: float, design_effect: float) -> tuple[float, float]:
        first, last = (int(np.searchsorted(self.sizes, size, side)) for side in ("left", "right"))
        threshold = _chi_square(confidence) * design_effect
        pairs = float(self.counts.sum())
        near = pairs ** (2.0 / 3.0)
        # Near an end few pairs stand in the way of a curve that follows chance.
        if self.counts[last:].sum() < near:
            shares, counts = self.shares[:last][::-1], self.counts[:last][::-1]
            low = _window_limit(shares, counts, near, confidence, design_effect)
        else:
            low = self._ratio_limit(first, last, 0.0, threshold)
        if self.counts[:first].sum() < near:
            shares, counts = 1.0 - self.shares[first:], self.counts[first:]
            high = 1.0 - _window_limit(shares, counts, near, confidence, design_effect)
        else:
            high = self._ratio_limit(first, last, 1.0, threshold)
        if 4.0 * float((self.counts * (self.shares - 0.5)).sum()) ** 2 > threshold * pairs:
            # The side of .5 is beyond doubt: the curve leaves .5 at 0 and does not come back.
            low = max(low, 0.5)
        if self.turned:
            low, high = 1.0 - high, 1.0 - low
        value = self.value(size)
        return min(low, value), max(high, value)

    def _ratio_limit(self, first: int, last: int, end: float, threshold: float) -> float:
        """The chance nearest to an end, 0 or 1, whose likelihood ratio is not too large.

        Knots up to `first` lie below the size in question, those from `last` on above it.
        """
        if (last if end == 0.0 else len(self.curve) - first) == 0:
            return end
        below = never_falling(self.shares[:first], self.counts[:first])
        above = never_falling(self.shares[last:], self.counts[last:])
        at = np.ones(last - first)
        best = self._log_likelihood(self.curve)

        def rejected(chance: float) -> bool:
            curve = (np.minimum(below, chance), at * chance, np.maximum(above, chance))
            return 2.0 * (best - self._log_likelihood(np.concatenate(curve))) > threshold

        # Between two past differences every chance between theirs fits equally well.
        likeliest = self.curve[last - 1] if end == 0.0 else self.curve[first]
        return _edge(rejected, float(likeliest), end)

    def _log_likelihood(self, curve: Array) -> float:
        from scipy.special import xlogy

        terms = xlogy(self.shares, curve) + xlogy(1.0 - self.shares, 1.0 - curve)
        return float((self.counts * terms).sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Logistic:
    """Log odds of agreement are `slope` times the size of the difference."""

    method: ClassVar[str] = "logistic score test"

    sizes: Array
    agreed: Array
    slope: float

    @classmethod
    def fit(cls, sizes: Array, agreed: Array) -> _Logistic:
        """The likeliest slope: where as many agree, weighted by size, as the model expects."""
        if (agreed == agreed[0]).all() and agreed[0] != 0.5:
            return cls(sizes, agreed, math.inf if agreed[0] == 1.0 else -math.inf)
        unit = 1.0 / float(sizes.max())
        low, high = -unit, unit
        start = cls(sizes, agreed, 0.0)
        while start._score(high) > 0.0:
            high *= 2.0
        while start._score(low) < 0.0:
            low *= 2.0
        slope = _edge(lambda slope: start._score(slope) < 0.0, low, high)
        return cls(sizes, agreed, slope)

    def residuals(self, sizes: Array, agreed: Array) -> Array:
        return np.asarray(sizes * (agreed - _expit(self.slope * sizes)))

    def value(self, size: float) -> float:
        return float(_expit(self.slope * size))

    def limits(self, size: float, confidence: float, design_effect: float) -> tuple[float, float]:
        threshold = _chi_square(confidence) * design_effect
        low, high = (self._slope_limit(direction, threshold) for direction in (-1.0, 1.0))
        return float(_expit(low * size)), float(_expit(high * size))

    def _slope_limit(self, direction: float, threshold: float) -> float:
        """The last slope in a direction that the score test does not reject."""
        unit = 1.0 / float(self.sizes.max())
        near = self.slope

        def rejected(slope: float) -> bool:
            return direction * self._score(slope) < 0.0 and self._statistic(slope) > threshold

        if math.isinf(near):
            if near * direction > 0.0:
                return near
            near = math.copysign(unit, near)
            while rejected(near):
                near *= 2.0
        step = unit
        while not rejected(near + direction * step):
            step *= 2.0
        return _edge(rejected, near, near + direction * step)

    def _score(self, slope: float) -> float:
        return float((self.sizes * (self.agreed - _expit(slope * self.sizes))).sum())

    def _statistic(self, slope: float) -> float:
        expected = _expit(slope * self.sizes)
        variance = float((self.sizes**2 * expected * (1.0 - expected)).sum())
        return self._score(slope) ** 2 / variance if variance > 0.0 else math.inf


def _edge(rejected: Callable[[float], bool], inside: float, outside: float) -> float:
    """The last place on the way from inside to outside that is not rejected."""
    if not rejected(outside):
        return outside
    for _ in range(_STEPS):
        middle = (inside + outside) / 2.0
        if rejected(middle):
            outside = middle
        else:
            inside = middle
    return inside


def _window_limit(
    shares: Array, counts: Array, pairs: float, confidence: float, design_effect: float
) -> float:
    """Clopper and Pearson's lower limit from the nearest pairs, whose chances are no larger."""
    from scipy.special import betaincinv

    end = int(np.searchsorted(np.cumsum(counts), pairs)) + 1
    size = float(counts[:end].sum()) / design_effect
    successes = float((shares[:end] * counts[:end]).sum()) / design_effect
    if successes == 0.0:
        return 0.0
    return float(betaincinv(successes, size - successes + 1.0, (1.0 - confidence) / 2.0))


def _design_effect(residuals: Array, agreed: Array, groups: Ints | None) -> float:
    """Variance of the groups' summed residuals over that of as many unrelated residuals."""
    if groups is None or groups.max() == 0:
        return 1.0
    sizes = np.bincount(groups)
    if (agreed == agreed[0]).all():
        # Nothing varies: how far pairs vary together is unknown, so each group counts once.
        return float((sizes**2).sum() / sizes.sum())
    together = float((np.bincount(groups, residuals) ** 2).sum())
    factor = len(sizes) / (len(sizes) - 1.0)
    return max(1.0, factor * together / float((residuals**2).sum()))


def _notes(agreed: Array, groups: Ints | None) -> tuple[str, ...]:
    notes = []
    share = float(agreed.mean())
    if share in (0.0, 1.0):
        always = "agreed" if share else "disagreed"
        notes.append(
            f"people {always} with the metric on all {len(agreed)} pairs, so that nothing shows "
            "where this ends: only one limit of each interval means something"
        )
    elif share < 0.5:
        notes.append(f"people mostly disagreed with the metric ({1.0 - share:.0%} of the pairs)")
    if groups is not None and groups.max() < 4:
        number = int(groups.max()) + 1
        what = "one group" if number == 1 else f"{number} groups"
        notes.append(f"{what} cannot show how much pairs of a group have in common")
    return tuple(notes)


def _expit(log_odds: ArrayLike) -> Array:
    from scipy.special import expit

    return np.asarray(expit(log_odds))


def _chi_square(confidence: float) -> float:
    return NormalDist().inv_cdf((1.0 + confidence) / 2.0) ** 2
