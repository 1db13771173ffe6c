"""Henderson's equations of a model with crossed random effects: solved, with their deviance.

Outputs belong to one item and one system, so that eliminating first outputs, then items leaves a
dense system as small as raters and systems together.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
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
#: Where others are looked for: coarser where there are three effects.
_FINE, _COARSE = (0.1, 0.4, 1.0, 2.5, 6.0), (0.1, 1.0, 5.0)
#: Of counts of items by raters and systems, above which they are kept as a dense matrix.
_DENSE = 0.25


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """Effects for given ratios of standard deviations.

    Attributes
    ----------
    deviance : float
        -2 log likelihood with fixed effects and residual variance at their best.
    gradient : array
        Of the deviance by the ratios of outputs, items and raters.
    fixed : array
        Means of the systems.
    inverse : array
        Their covariance in units of the residual variance.
    output, item, rater : arrays
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
    residual: float


class Equations:
    """Sums of products that do not depend on the variances, and how to solve with them.

    Values are taken less their mean and in their standard deviations, so that sums of products
    lose no digits; `shift` and `scale` say so.
    """

    def __init__(self, scored: RatingTable, *, restricted: bool) -> None:
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
        ones, rows = np.ones(self.size), np.arange(self.size)
        columns = np.stack((scored.rater, self.raters + scored.system), axis=1).ravel()
        design = csr_array(
            (np.ones(2 * self.size), columns, np.arange(0, 2 * self.size + 1, 2)),
            shape=(self.size, self.raters + self.systems),
        )
        members = csr_array((ones, (self.output, rows)), shape=(len(cells), self.size))
        self.by_output = (members @ design).tocsr()
        self.output_counts = np.bincount(self.output).astype(np.float64)
        self.output_sums = members @ self.values
        self.grouping = csr_array(
            (np.ones(len(cells)), (self.owner, np.arange(len(cells)))),
            shape=(len(scored.items), len(cells)),
        )
        self.products = (design.T @ design).toarray()
        self.sums = design.T @ self.values
        by_item = self.grouping @ self.by_output
        self.dense = by_item.nnz > _DENSE * by_item.shape[0] * by_item.shape[1]
        self.by_item = by_item.toarray() if self.dense else by_item

    def solve(self, ratios: Array) -> Solution:
        """Solve for the ratios of the deviations of outputs, items and raters to the residual's.

        The deviance is that of Bates et al. 2015, profiled; its gradient needs traces of blocks of
        the inverse (Johnson and Thompson 1995, "Restricted Maximum Likelihood Estimation of
        Variance Components for Univariate Animal Models Using Sparse Matrix Techniques and Average
        Information", Journal of Dairy Science 78).
        """
        from scipy.linalg import cho_solve, cholesky

        t_output, t_item, t_rater = ratios.tolist()
        scaling = np.concatenate((np.full(self.raters, t_rater), np.ones(self.systems)))
        shrunk = 1.0 / (1.0 + t_output**2 * self.output_counts)
        left, right, by_item = self.products, self.sums, self.by_item
        if t_output > 0.0:
            left = left - t_output**2 * _gram(self.by_output, shrunk)
            right = right - t_output**2 * (self.by_output.T @ (shrunk * self.output_sums))
            by_item = self.grouping @ _scaled(self.by_output, shrunk)
            by_item = by_item.toarray() if self.dense else by_item
        # Still diagonal once outputs are gone, since each belongs to one item.
        block = 1.0 + t_item**2 * (self.grouping @ (shrunk * self.output_counts))
        item_sums = t_item * (self.grouping @ (shrunk * self.output_sums))
        left = left - t_item**2 * _gram(by_item, 1.0 / block)
        right = right - t_item * (by_item.T @ (item_sums / block))
        left = scaling[:, None] * left * scaling
        left[np.arange(self.raters), np.arange(self.raters)] += 1.0
        factor = cholesky(left, lower=True)
        whole = cho_solve((factor, True), np.eye(len(factor)))
        answer = cho_solve((factor, True), scaling * right)
        rater, fixed = answer[: self.raters], answer[self.raters :]
        item = (item_sums - t_item * (by_item @ (scaling * answer))) / block
        rest = self.output_sums - self.by_output @ (scaling * answer)
        output = t_output * shrunk * (rest - t_item * self.output_counts * item[self.owner])
        residuals = self.values - fixed[self.system] - t_rater * rater[self.rater]
        residuals -= t_item * item[self.item] + t_output * output[self.output]
        penalised = float(residuals @ residuals + rater @ rater + item @ item + output @ output)
        penalised = max(penalised, float(np.finfo(np.float64).tiny))
        degrees = self.size - self.systems if self.restricted else self.size
        logs = 2.0 * np.log(np.diag(factor))
        logs = logs if self.restricted else logs[: self.raters]
        deviance = float(np.log(block).sum() - np.log(shrunk).sum() + logs.sum())
        deviance += degrees * (1.0 + math.log(2.0 * math.pi * penalised / degrees))
        inverse = whole
        if not self.restricted:
            inverse = np.zeros_like(whole)
            corner = (factor[: self.raters, : self.raters], True)
            inverse[: self.raters, : self.raters] = cho_solve(corner, np.eye(self.raters))
        scaled_inverse = scaling[:, None] * inverse * scaling
        traces = np.array(
            [
                self._output_trace(t_output, t_item, shrunk, block, by_item, scaled_inverse),
                (1.0 / block).sum() + t_item**2 * _dot(scaled_inverse, by_item, 1.0 / block**2),
                np.trace(inverse[: self.raters, : self.raters]),
            ]
        )
        sizes = np.array([len(output), len(item), len(rater)], dtype=np.float64)
        pulls = np.array(
            [
                (np.bincount(places, weights=residuals) ** 2).sum()
                for places in (self.output, self.item, self.rater)
            ]
        )
        gradient = np.zeros(3)
        np.divide(sizes - traces, ratios, out=gradient, where=ratios > 0.0)
        gradient = 2.0 * (gradient - ratios * degrees * pulls / penalised)
        return Solution(
            deviance,
            gradient,
            fixed,
            whole[self.raters :, self.raters :],
            output,
            item,
            rater,
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
        cross = mixed.T @ _scaled(by_item, t_item / block)
        cross = cross if isinstance(cross, np.ndarray) else cross.toarray()
        return float(trace - 2.0 * (inverse * cross).sum())


def least_deviance(equations: Equations, free: tuple[bool, bool, bool]) -> Array:
    """The ratios of outputs, items and raters of least deviance; 0 where they are not free."""
    places = np.flatnonzero(free)
    ratios = np.zeros(3)
    if len(places) == 0:
        return ratios

    def deviance(values: Array) -> tuple[float, Array]:
        tried = np.zeros(3)
        tried[places] = values
        solution = equations.solve(tried)
        return solution.deviance, solution.gradient[places]

    starts = [np.ones(len(places))]
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
    grid = _FINE if size < 3 else _COARSE
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


def _scaled(matrix: Any, weights: Array) -> Any:
    """The rows of a dense or sparse matrix times weights."""
    if isinstance(matrix, np.ndarray):
        return weights[:, None] * matrix
    from scipy.sparse import diags_array

    return diags_array(weights) @ matrix


def _gram(matrix: Any, weights: Array) -> Array:
    """Columns by columns: sums of products over rows, weighted."""
    products = matrix.T @ _scaled(matrix, weights)
    return products if isinstance(products, np.ndarray) else np.asarray(products.toarray())


def _dot(inverse: Array, matrix: Any, weights: Array) -> float:
    """Trace of the inverse times a weighted sum of products."""
    return float((inverse * _gram(matrix, weights)).sum())
