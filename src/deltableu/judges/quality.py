"""How good a rater is on held-out examples: accuracy, calibration, and a baseline beside it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.judges.batches import quadruples
from deltableu.judges.examples import Examples
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.neural import EncodedTexts
from deltableu.text import tf_idf


@dataclass(frozen=True, slots=True)
class CalibrationBin:
    """Examples with a similar probability of being positive.

    Attributes
    ----------
    examples : int
    probability : float
        What the rater says, on average.
    positive : float
        The share that is positive.
    """

    examples: int
    probability: float
    positive: float


def calibration(probabilities: Any, labels: Any, bins: int = 10) -> tuple[CalibrationBin, ...]:
    """What the rater says beside what is so, in bins of equal width; empty ones are left out.

    Examples
    --------
    >>> calibration([0.1, 0.15, 0.9], [0, 1, 1], bins=2)[0]
    CalibrationBin(examples=2, probability=0.125, positive=0.5)
    """
    said = np.asarray(probabilities, np.float64)
    so = np.asarray(labels, np.float64)
    number = np.minimum((said * bins).astype(np.int64), bins - 1)
    counts, *sums = (np.bincount(number, values) for values in (None, said, so))
    there = counts > 0
    columns = (counts[there], *(one[there] / counts[there] for one in sums))
    return tuple(map(CalibrationBin, *(column.tolist() for column in columns)))


def area_under_curve(scores: Any, labels: Any) -> float:
    """How often a positive example scores above a negative one; ties count half.

    Examples
    --------
    >>> area_under_curve([0.1, 0.4, 0.4, 0.8], [0, 0, 1, 1])
    0.875
    """
    from scipy.stats import rankdata

    positive = np.asarray(labels, np.bool_)
    good = int(positive.sum())
    wins = rankdata(scores)[positive].sum() - good * (good + 1) / 2
    return float(wins / (good * (len(positive) - good)))


class OverlapBaseline:
    """Overlap of words in place of a network: what a rater has to beat.

    The cosines of TF-IDF vectors of R1 and R2, of U1 and R2 and of U2 and R1, weighed against
    each other by logistic regression on training examples. As the network, it never compares the
    utterances.
    """

    def __init__(self, pairs: TrainingPairs, examples: Examples) -> None:
        self._vectors = word_vectors(pairs.texts)
        features = self._features(quadruples(pairs, examples))
        self._weights = _logistic(features, examples.labels.astype(np.float64))

    def scores(self, chosen: Ints) -> Array:
        """Log odds of being positive, of quadruples of places among the texts."""
        found: Array = self._features(chosen) @ self._weights
        return found

    def _features(self, chosen: Ints) -> Array:
        cosines = [
            overlap(self._vectors, chosen[:, one], chosen[:, other])
            for one, other in ((1, 3), (0, 3), (2, 1))
        ]
        return np.stack([np.ones(len(chosen)), *cosines], axis=1)


def word_vectors(texts: EncodedTexts) -> Any:
    """TF-IDF of texts, a sparse row each."""
    from scipy.sparse import csr_array

    shape = (len(texts), int(texts.numbers.max(initial=0)) + 1)
    ones = np.ones(len(texts.numbers))
    return tf_idf(csr_array((ones, texts.numbers, texts.bounds), shape=shape))


def overlap(vectors: Any, one: Ints, other: Ints) -> Array:
    """The cosine of each of some rows with another one."""
    found: Array = np.asarray(vectors[one].multiply(vectors[other]).sum(1)).ravel()
    return found


def _logistic(features: Array, labels: Array, steps: int = 25) -> Array:
    """Weights of logistic regression, by Newton's method with a slight ridge."""
    weights = np.zeros(features.shape[1])
    ridge = 1e-3 * np.eye(len(weights))
    for _ in range(steps):
        said = 1 / (1 + np.exp(-np.clip(features @ weights, -30, 30)))
        slope = features.T @ (said - labels) + ridge @ weights
        bend = (features * (said * (1 - said))[:, None]).T @ features + ridge
        change = np.linalg.solve(bend, slope)
        weights -= change
        if np.abs(change).max() < 1e-9:
            break
    return weights
