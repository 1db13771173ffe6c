"""Who was preferred to whom in; strengths, a tendency to tie and an effect of position out.

Bradley and Terry's model with Davidson's ties and Davidson and Beaver's effect of order. With
d = strength of the first - strength of the second, plus the position effect where the first was
shown first, minus it where the second was,

    first wins : tie : second wins  =  exp(d / 2) : exp(tie) : exp(-d / 2).

Strengths are natural logarithms of which only differences count; they are given with mean 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.errors import InputError
from deltableu.stats.comparison_graph import check_comparisons
from deltableu.stats.preference_likelihood import PreferenceLikelihood, Preferred
from deltableu.stats.resampling import draw_counts, in_chunks, stream

#: Newton's method ends where nothing would move further, and gives up after so many steps.
_TOLERANCE = 1e-10
_STEPS, _HALVINGS = 60, 40
#: The longest step, and logarithms of odds that only estimates without end reach.
_LONGEST, _ENDLESS = 5.0, 30.0
#: Numbers of draws held in memory at once.
_DRAWS = 4_000_000


@dataclass(frozen=True, slots=True, eq=False)
class BradleyTerry:
    """A fitted model.

    Attributes
    ----------
    strengths : array
        Natural logarithms, with mean 0.
    position : float or None
        By how much being shown first raises the logarithm of the odds of winning over losing;
        None where positions are unknown, or where who was shown first says nothing beyond who it
        was.
    tie : float or None
        The logarithm of Davidson's nu: equals tie with odds nu : 2. None without ties.
    log_likelihood : float
        That of the judgements alone, also where there is a prior.
    prior : float
    covariance : array
        The inverse of the curvature: strengths, then position, then tie, as far as they are in
        the model. It is what is uncertain if no two judgements belong together.
    """

    strengths: Array
    position: float | None
    tie: float | None
    log_likelihood: float
    prior: float
    covariance: Array
    _scores: Any  # sparse: (row of counts, outcome) x parameters
    _place: Ints  # where each judgement is in that

    def share(self, difference: Any) -> Any:
        """The expected share of a system so much stronger, ties counted half, position aside."""
        half = np.asarray(difference) / 2.0
        level = -math.inf if self.tie is None else self.tie
        top = np.maximum(np.abs(half), level)
        won, lost, tied = np.exp(half - top), np.exp(-half - top), np.exp(level - top)
        return (won + tied / 2.0) / (won + lost + tied)

    def bootstrap(
        self, clusters: Ints, resamples: int, seed: int, key: int = 0, progress: Steps | None = None
    ) -> Array:
        """How estimates would differ with other clusters of judgements: resamples x parameters.

        Clusters are drawn with replacement, as many as there are, and one step of Newton's method
        is made from the estimates. To fit each sample anew is no better: estimates of samples in
        which somebody happens to win throughout have no end.
        """
        from scipy.sparse import csr_array

        names, cluster = np.unique(clusters, return_inverse=True)
        size = len(names)
        members = csr_array(
            (np.ones(len(cluster)), (cluster, self._place)), shape=(size, self._scores.shape[0])
        )
        sums = (members @ self._scores).tocsr()

        def work(number: int, first: int, last: int) -> Array:
            draws = stream(seed, key, number).integers(size, size=(last - first, size))
            moved: Array = (sums.T @ (draw_counts(draws, size) - 1.0).T).T @ self.covariance
            return moved

        chunk = max(1, min(1024, _DRAWS // max(size, len(self.covariance))))
        return in_chunks(work, resamples, chunk, progress=progress)


def fit_bradley_terry(
    names: Sequence[str], judgements: Preferred, *, prior: float = 0.0, position: bool = True
) -> BradleyTerry:
    """Find the likeliest strengths, by Newton's method.

    Parameters
    ----------
    names
        Whom the places stand for.
    judgements
        Each must compare two different ones.
    prior
        As if everybody had also been compared so many times with an average one, and two equals
        with each other, half won and half lost. 0 is maximum likelihood, which has no end where
        somebody wins throughout: that is refused.
    position
        Whether there is an effect of being shown first, as far as judgements can tell.

    References
    ----------
    Bradley and Terry 1952, "Rank Analysis of Incomplete Block Designs: I. The Method of Paired
    Comparisons", Biometrika 39. Davidson 1970, "On Extending the Bradley-Terry Model to Accommodate
    Ties in Paired Comparison Experiments", Journal of the American Statistical Association 65.
    Davidson and Beaver 1977, "On Extending the Bradley-Terry Model to Incorporate Within-Pair Order
    Effects", Biometrics 33. Ford 1957, "Solution of a Ranking Problem from Binary Comparisons",
    American Mathematical Monthly 64 (when strengths have an end).

    Examples
    --------
    >>> three = np.array([0, 0, 0, 0, 0, 0]), np.array([1] * 6)
    >>> said = Preferred(*three, outcome=np.array([1, 1, 1, 0, 0, -1]), order=np.zeros(6, int))
    >>> found = fit_bradley_terry(["A", "B"], said)
    >>> float(np.round(np.diff(found.strengths)[0], 4)) == -round(math.log(3), 4), found.position
    (True, None)
    >>> float(np.round(found.share(np.log(3)), 3))
    0.667
    """
    if not (math.isfinite(prior) and prior >= 0.0):
        raise InputError(f"prior must be a number of judgements, 0 or more, got {prior}")
    check_comparisons(
        names, judgements.first, judgements.second, judgements.outcome, mixed=prior == 0.0
    )
    cells = PreferenceLikelihood.of(len(names), judgements, prior, position)
    theta = _climb(cells)
    if theta is None:
        remedy = "a larger prior makes an end" if prior else "a prior gives them one"
        raise InputError(
            "strengths, ties and positions together explain these judgements without exception, "
            f"so that their estimates have no end: {remedy} (--prior 1)"
        )
    size = len(names)
    return BradleyTerry(
        strengths=theta[:size] - theta[:size].mean(),
        position=float(theta[size]) if cells.position else None,
        tie=float(theta[-1]) if cells.ties else None,
        log_likelihood=cells.log_likelihood(theta, penalised=False),
        prior=prior,
        covariance=cells.inverse(theta),
        _scores=cells.scores(theta),
        _place=cells.place,
    )


def _climb(cells: PreferenceLikelihood) -> Array | None:
    """Newton's method, with shorter steps where a whole one leads down; None without an end."""
    theta = cells.start()
    height = cells.log_likelihood(theta)
    for _ in range(_STEPS):
        gradient, curvature = cells.slopes(theta)
        try:
            step = np.linalg.solve(curvature, gradient)
        except np.linalg.LinAlgError:
            return None
        longest = float(np.abs(step).max())
        if not math.isfinite(longest):
            return None
        if longest < _TOLERANCE:
            return theta
        step *= min(1.0, _LONGEST / longest)
        for _ in range(_HALVINGS):
            higher = cells.log_likelihood(theta + step)
            if higher >= height - 1e-12 * abs(height):
                break
            step /= 2.0
        theta, height = theta + step, higher
        if float(np.abs(theta).max()) > _ENDLESS:
            return None
        if longest < 1e3 * _TOLERANCE:
            return theta  # as near as rounding lets it
    return None
