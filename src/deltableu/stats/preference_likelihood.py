"""Judgements of two in; how likely they are by Bradley and Terry's model, and its slopes, out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Ints

#: What of the positions the systems must leave unexplained, for their effect to be known.
_UNEXPLAINED = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class Preferred:
    """Judgements of two, a place each.

    Attributes
    ----------
    first, second : arrays of int
        Who was compared: places among the names.
    outcome : array of int
        1 where the first was preferred, -1 where the second was, 0 for a tie.
    order : array of int
        1 where the first was shown first, -1 where the second was, 0 where nobody knows.
    """

    first: Ints
    second: Ints
    outcome: Ints
    order: Ints

    def __len__(self) -> int:
        return len(self.first)


@dataclass(frozen=True, slots=True, eq=False)
class PreferenceLikelihood:
    """Counts of judgements: a row for two systems in one order, then rows of the prior."""

    size: int
    position: bool
    ties: bool
    design: Any  # sparse: rows x (strengths, position)
    counts: Array  # rows x 3: first won, tie, second won
    real: int  # rows that are not the prior's
    place: Ints  # of each judgement: 3 * row + (0, 1, 2)

    @classmethod
    def of(
        cls, size: int, judgements: Preferred, prior: float, position: bool
    ) -> PreferenceLikelihood:
        from scipy.sparse import csr_array, vstack

        low = np.minimum(judgements.first, judgements.second)
        high = np.maximum(judgements.first, judgements.second)
        turned = np.where(judgements.first == low, 1, -1)
        order, outcome = turned * judgements.order, turned * judgements.outcome
        keys, row = np.unique((low * size + high) * 3 + order + 1, return_inverse=True)
        place = 3 * row + 1 - outcome
        counts = np.bincount(place, minlength=3 * len(keys)).reshape(-1, 3).astype(np.float64)
        first, second = keys // 3 // size, keys // 3 % size
        placed = (keys % 3 - 1).astype(np.float64)
        rows, ones = np.arange(len(keys)), np.ones(len(keys))
        shape = (len(keys), size)
        against = csr_array((ones, (rows, first)), shape) - csr_array((ones, (rows, second)), shape)
        known = position and _says_more(against, placed)
        design = against
        if known:
            column = csr_array(placed[:, np.newaxis])
            design = csr_array(vstack([against.T, column.T])).T.tocsr()
        if prior:
            width = size + known
            half = np.full((width, 3), (prior / 2.0, 0.0, prior / 2.0))
            design = csr_array(vstack([design, csr_array(np.eye(width))]))
            counts = np.concatenate((counts, half))
        ties = bool(counts[:, 1].any())
        return cls(size, known, ties, design, counts, len(keys), place)

    @property
    def width(self) -> int:
        """Number of parameters."""
        return self.size + self.position + self.ties

    def start(self) -> Array:
        """Everybody equal, and as many ties as there are."""
        theta = np.zeros(self.width)
        if self.ties:
            won, tied, lost = self.counts[: self.real].sum(axis=0).tolist()
            theta[-1] = math.log(2.0 * tied / max(won + lost, 0.5))
        return theta

    def log_likelihood(self, theta: Array, *, penalised: bool = True) -> float:
        """Up to a constant; of the judgements alone, or with the prior."""
        difference, level, top, weights = self._weights(theta)
        total = (self.counts[:, 0] - self.counts[:, 2]) * difference / 2.0
        if self.ties:
            total[: self.real] += self.counts[: self.real, 1] * level
        total -= self.counts.sum(axis=1) * (top + np.log(weights.sum(axis=1)))
        return float((total if penalised else total[: self.real]).sum())

    def _weights(self, theta: Array) -> tuple[Array, float, Array, Array]:
        """Differences, the level of ties, and what the three outcomes weigh, over exp(top)."""
        difference = self.design @ theta[: self.size + self.position]
        level = float(theta[-1]) if self.ties else -math.inf
        top = np.maximum(np.abs(difference) / 2.0, level)
        top[self.real :] = np.abs(difference[self.real :]) / 2.0
        weights = np.exp(
            np.stack((difference / 2.0 - top, level - top, -difference / 2.0 - top), axis=1)
        )
        weights[self.real :, 1] = 0.0  # the prior's judgements are no ties
        return difference, level, top, weights

    def slopes(self, theta: Array) -> tuple[Array, Array]:
        """The gradient and the curvature (minus the Hessian) of the log-likelihood."""
        from scipy.sparse import diags_array

        *_, weights = self._weights(theta)
        chances = weights / weights.sum(axis=1, keepdims=True)
        number = self.counts.sum(axis=1)
        lead = chances[:, 0] - chances[:, 2]
        wide = self.size + self.position
        gradient, curvature = np.zeros(self.width), np.zeros((self.width, self.width))
        gradient[:wide] = self.design.T @ (
            (self.counts[:, 0] - self.counts[:, 2] - number * lead) / 2.0
        )
        bend = number * (1.0 - chances[:, 1] - lead**2) / 4.0
        curvature[:wide, :wide] = (self.design.T @ (diags_array(bend) @ self.design)).toarray()
        if self.ties:
            tied = chances[:, 1]
            gradient[-1] = (self.counts[:, 1] - number * tied).sum()
            cross = self.design.T @ (-number * lead * tied / 2.0)
            curvature[:wide, -1] = curvature[-1, :wide] = cross
            curvature[-1, -1] = (number * tied * (1.0 - tied)).sum()
        if self.real == len(self.counts):
            # Without a prior all strengths may move alike: their mean stays where it is.
            curvature[: self.size, : self.size] += 1.0 / self.size
        return gradient, curvature

    def inverse(self, theta: Array) -> Array:
        """Of the curvature, for strengths less their mean."""
        found = np.asarray(np.linalg.inv(self.slopes(theta)[1]), dtype=np.float64)
        own = slice(0, self.size)
        found[own] -= found[own].mean(axis=0)
        found[:, own] -= found[:, own].mean(axis=1, keepdims=True)
        return np.asarray((found + found.T) / 2.0)

    def scores(self, theta: Array) -> Any:
        """The gradient of one judgement, for each row and outcome: sparse, 3 rows x parameters."""
        from scipy.sparse import csr_array, diags_array, hstack

        *_, weights = self._weights(theta)
        chances = (weights / weights.sum(axis=1, keepdims=True))[: self.real]
        lead = chances[:, 0] - chances[:, 2]
        pulls = (np.array([1.0, 0.0, -1.0]) - lead[:, np.newaxis]) / 2.0
        row = np.repeat(np.arange(self.real), 3)
        own = diags_array(pulls.ravel()) @ self.design[row]
        if not self.ties:
            return csr_array(own)
        tied = np.array([0.0, 1.0, 0.0]) - chances[:, 1:2]
        return csr_array(hstack([own, csr_array(tied.reshape(-1, 1))]))


def _says_more(against: Any, order: Array) -> bool:
    """Whether positions are not explained by who was shown, so that their effect can be told."""
    total = float(order @ order)
    if total == 0.0:
        return False
    size = against.shape[1]
    pulls = against.T @ order
    matrix = (against.T @ against).toarray() + 1.0 / size
    rest = total - float(pulls @ np.linalg.lstsq(matrix, pulls, rcond=None)[0])
    return rest > _UNEXPLAINED * total
