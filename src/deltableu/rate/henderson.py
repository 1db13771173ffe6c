"""Henderson's equations of a model with crossed random effects: solved, with their deviance.

Outputs belong to one item and one system, so that eliminating first outputs, then items leaves a
dense system as small as raters, their tastes (one for each system that a rater saw) and systems
together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array
from deltableu.corpus import RatingTable

#: A ratio of standard deviations below this is tried as 0.
_NOTHING = 1e-3
_LARGEST = 1e4
#: Ratings from which on one valley is all there is.
_MANY = 1000
#: Where others are looked for: the coarser, the more effects there are.
_FINE, _COARSE = (0.1, 0.4, 1.0, 2.5, 6.0), (0.1, 1.0, 5.0)
_GRIDS = {1: _FINE, 2: _FINE, 3: _COARSE, 4: (0.15, 2.0)}
#: Counts are kept as a dense matrix if they are few, or if more than a share of them is not 0.
_SMALL, _DENSE = 100_000, 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Effects for given ratios of standard deviations.

    Attributes
    ----------
    deviance : float
        -2 log likelihood with fixed effects and residual variance at their best.
    gradient : array
        The gradient of the deviance by the ratios of outputs, items, raters and tastes.
    fixed : array
        Means of the systems.
    inverse : array
        Their covariance in units of the residual variance.
    output, item, rater, taste : arrays
        Random effects in units of their own standard deviation.
    residual : float
        Variance.
    """

    deviance: float
    gradient: Array
    fixed: Array
    inverse: Array
    output: Array
    item: Array
    rater: Array
    taste: Array
    residual: float


class Equations:
    """Sums of products that do not depend on the variances, and how to solve with them.

    Values are taken less their mean and in their standard deviations, so that sums of products
    lose no digits; `shift` and `scale` say so. Without `tastes` there are no columns for them.
    """

    def __init__(self, scored: RatingTable, *, restricted: bool, tastes: bool = False) -> None:
        from scipy.sparse import csr_array

        self.restricted = restricted
        self.size = len(scored)
        self.raters, self.systems = len(scored.raters), len(scored.systems)
        self.rater, self.item, self.system = scored.rater, scored.item, scored.system
        self.shift = float(scored.values.mean())
        self.scale = float(scored.values.std())
        self.values = (scored.values - self.shift) / self.scale
        cells, self.output = np.unique(
            scored.item * self.systems + scored.system, return_inverse=True
        )
        self.owner = cells // self.systems
        tasted, self.taste = np.unique(
            scored.rater * self.systems + scored.system, return_inverse=True
        )
        self.tastes = len(tasted) if tastes else 0
        self.effects = self.raters + self.tastes
        ones, rows = np.ones(self.size), np.arange(self.size)
        groups = [scored.rater, self.effects + scored.system]
        if tastes:
            groups.insert(1, self.raters + self.taste)
        columns, each = np.stack(groups, axis=1).ravel(), len(groups)
        design = csr_array(
            (np.ones(each * self.size), columns, np.arange(0, each * self.size + 1, each)),
            shape=(self.size, self.effects + self.systems),
        )
        members = csr_array((ones, (self.output, rows)), shape=(len(cells), self.size))
        by_output = (members @ design).tocsr()
        self.output_counts = np.bincount(self.output).astype(np.float64)
        self.output_sums = members @ self.values
        grouping = csr_array(
            (np.ones(len(cells)), (self.owner, np.arange(len(cells)))),
            shape=(len(scored.items), len(cells)),
        )
        self.products = (design.T @ design).toarray()
        self.sums = design.T @ self.values
        self.by_output, self.grouping = _stored(by_output), _stored(grouping)
        self.by_item = _stored(grouping @ by_output)

    def solve(self, ratios: Array) -> Solution:
        """Solve for the ratios of the deviations of all effects to the residual's.

        The deviance is that of Bates et al. 2015, profiled; its gradient needs traces of blocks of
        the inverse (Johnson and Thompson 1995, "Restricted Maximum Likelihood Estimation of
        Variance Components for Univariate Animal Models Using Sparse Matrix Techniques and Average
        Information", Journal of Dairy Science 78).
        """
        from scipy.linalg import cho_solve, cholesky

        t_output, t_item, t_rater, t_taste = ratios.tolist()
        scaling = np.repeat((t_rater, t_taste, 1.0), (self.raters, self.tastes, self.systems))
        shrunk = 1.0 / (1.0 + t_output**2 * self.output_counts)
        left, right, by_item = self.products, self.sums, self.by_item
        if t_output > 0.0:
            left = left - t_output**2 * _gram(self.by_output, shrunk)
            right = right - t_output**2 * (self.by_output.T @ (shrunk * self.output_sums))
            by_item = self.grouping @ _scaled(self.by_output, shrunk)
            by_item = _dense(by_item) if isinstance(self.by_item, np.ndarray) else by_item
        # Still diagonal once outputs are gone, since each belongs to one item.
        block = 1.0 + t_item**2 * (self.grouping @ (shrunk * self.output_counts))
        item_sums = t_item * (self.grouping @ (shrunk * self.output_sums))
        left = left - t_item**2 * _gram(by_item, 1.0 / block)
        right = right - t_item * (by_item.T @ (item_sums / block))
        left = scaling[:, None] * left * scaling
        left[np.arange(self.effects), np.arange(self.effects)] += 1.0
        factor = cholesky(left, lower=True)
        whole = cho_solve((factor, True), np.eye(len(factor)))
        answer = cho_solve((factor, True), scaling * right)
        rater, taste, fixed = np.split(answer, (self.raters, self.effects))
        item = (item_sums - t_item * (by_item @ (scaling * answer))) / block
        rest = self.output_sums - self.by_output @ (scaling * answer)
        output = t_output * shrunk * (rest - t_item * self.output_counts * item[self.owner])
        residuals = self.values - fixed[self.system] - t_rater * rater[self.rater]
        residuals -= t_item * item[self.item] + t_output * output[self.output]
        if self.tastes:
            residuals -= t_taste * taste[self.taste]
        made = (output, item, rater, taste)
        penalised = float(residuals @ residuals + sum(one @ one for one in made))
        penalised = max(penalised, float(np.finfo(np.float64).tiny))
        degrees = self.size - self.systems if self.restricted else self.size
        logs = 2.0 * np.log(np.diag(factor))
        logs = logs if self.restricted else logs[: self.effects]
        deviance = float(np.log(block).sum() - np.log(shrunk).sum() + logs.sum())
        deviance += degrees * (1.0 + math.log(2.0 * math.pi * penalised / degrees))
        inverse = whole
        if not self.restricted:
            inverse = np.zeros_like(whole)
            corner = (factor[: self.effects, : self.effects], True)
            inverse[: self.effects, : self.effects] = cho_solve(corner, np.eye(self.effects))
        scaled_inverse = scaling[:, None] * inverse * scaling
        traces = np.array(
            [
                self._output_trace(t_output, t_item, shrunk, block, by_item, scaled_inverse),
                (1.0 / block).sum() + t_item**2 * _dot(scaled_inverse, by_item, 1.0 / block**2),
                *(part.sum() for part in np.split(np.diag(inverse)[: self.effects], [self.raters])),
            ]
        )
        sizes = np.array([len(one) for one in made], dtype=np.float64)
        pulls = np.array(
            [
                (np.bincount(places, weights=residuals) ** 2).sum()
                for places in (self.output, self.item, self.rater, self.taste)
            ]
        )
        gradient = np.zeros(4)
        np.divide(sizes - traces, ratios, out=gradient, where=ratios > 0.0)
        gradient = 2.0 * (gradient - ratios * degrees * pulls / penalised)
        return Solution(
            deviance,
            gradient,
            fixed,
            whole[self.effects :, self.effects :],
            *made,
            penalised / degrees,
        )

    def _output_trace(
        self,
        t_output: float,
        t_item: float,
        shrunk: Array,
        block: Array,
        by_item: Any,
        inverse: Array,
    ) -> float:
        """Trace of the inverse's block of outputs, summed without making that block."""
        if t_output == 0.0:
            return float(len(shrunk))
        links = t_output * t_item * self.output_counts * shrunk
        weights = self.grouping @ links**2
        trace = shrunk.sum() + (weights / block).sum()
        trace += t_item**2 * _dot(inverse, by_item, weights / block**2)
        trace += t_output**2 * _dot(inverse, self.by_output, shrunk**2)
        mixed = self.grouping @ _scaled(self.by_output, t_output * shrunk * links)
        cross = _dense(mixed.T @ _scaled(by_item, t_item / block))
        return float(trace - 2.0 * (inverse * cross).sum())


def least_deviance(equations: Equations, free: Sequence[bool]) -> Array:
    """The ratios of outputs, items, raters and tastes of least deviance; 0 where not free."""
    places = np.flatnonzero(free)
    ratios = np.zeros(len(free))
    if len(places) == 0:
        return ratios

    def deviance(values: Array) -> tuple[float, Array]:
        tried = np.zeros(len(free))
        tried[places] = values
        solution = equations.solve(tried)
        return solution.deviance, solution.gradient[places]

    # Few tastes and no rater at all may explain as much as raters without tastes.
    starts = [np.ones(len(places)), np.where(places == 3, 0.1, 1.0)][: 1 + bool(equations.tastes)]
    if equations.size < _MANY:
        starts = _valleys(lambda values: deviance(values)[0], len(places))
    best, lowest = starts[0], np.inf
    for start in starts:
        found, least = _descend(deviance, start)
        if least < lowest:
            best, lowest = found, least
    ratios[places] = best
    for place in places[best < _NOTHING].tolist():
        tried = ratios.copy()
        tried[place] = 0.0
        if equations.solve(tried).deviance <= lowest + 1e-6:
            ratios = tried
    return ratios


def _valleys(deviance: Callable[[Array], float], size: int) -> list[Array]:
    """Points of a grid below all their neighbours: few ratings may have several valleys."""
    grid = _GRIDS[size]
    points = {
        place: deviance(np.array([grid[step] for step in place]))
        for place in itertools.product(range(len(grid)), repeat=size)
    }
    steps = list(itertools.product((-1, 0, 1), repeat=size))

    def lowest_around(place: tuple[int, ...]) -> float:
        beside = (tuple(a + b for a, b in zip(place, step, strict=True)) for step in steps)
        return min(points[one] for one in beside if one in points)

    return [
        np.array([grid[step] for step in place])
        for place, height in points.items()
        if height <= lowest_around(place)
    ]


def _descend(deviance: Callable[[Array], tuple[float, Array]], start: Array) -> tuple[Array, float]:
    from scipy.optimize import minimize

    for _ in range(4):
        found = minimize(
            deviance,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=[(0.0, _LARGEST)] * len(start),
            options={"ftol": 1e-14, "gtol": 1e-7, "maxiter": 500},
        )
        # The gradient vanishes at 0 whether or not that is the minimum: look just beside it.
        lost = (found.x < _NOTHING) & (deviance(np.maximum(found.x, _NOTHING))[1] < 0.0)
        if not lost.any():
            break
        start = np.where(lost, 0.1, found.x)
    return found.x, float(found.fun)


def _stored(matrix: Any) -> Any:
    """A sparse matrix as an array where that is faster."""
    cells = matrix.shape[0] * matrix.shape[1]
    return matrix.toarray() if cells <= _SMALL or matrix.nnz > _DENSE * cells else matrix


def _dense(matrix: Any) -> Array:
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def _scaled(matrix: Any, weights: Array) -> Any:
    """The rows of a dense or sparse matrix times weights."""
    if isinstance(matrix, np.ndarray):
        return weights[:, None] * matrix
    from scipy.sparse import diags_array

    return diags_array(weights) @ matrix


def _gram(matrix: Any, weights: Array) -> Array:
    """Columns by columns: sums of products over rows, weighted."""
    return _dense(matrix.T @ _scaled(matrix, weights))


def _dot(inverse: Array, matrix: Any, weights: Array) -> float:
    """Trace of the inverse times a weighted sum of products."""
    return float((inverse * _gram(matrix, weights)).sum())
