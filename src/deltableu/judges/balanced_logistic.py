"""Logistic regression with an L2 penalty, for few features."""

from __future__ import annotations

import numpy as np

from deltableu._types import Array, Bools

_STEPS, _CLOSE = 100, 1e-10


def balanced_logistic(features: Array, labels: Bools, strength: float) -> tuple[Array, float]:
    """The coefficients w and the intercept b that minimise

        |w|^2 / 2 + strength * sum_i c_i * log(1 + exp(-y_i (w . x_i + b))),

    with y = 1 or -1 and c = n / (2 n_y), so that both labels count alike. The intercept is free.

    Parameters
    ----------
    features : array
        An example a row.
    labels : array of bool
        Of both kinds.
    strength : float
        What the loss counts beside the penalty (C).

    Returns
    -------
    array, float

    Examples
    --------
    >>> found, start = balanced_logistic(np.array([[0.0], [1.0]]), np.array([False, True]), 1.0)
    >>> (found.round(4), round(start, 4))
    (array([0.4446]), -0.2223)
    """
    count = len(labels)
    weights = np.where(labels, count / (2.0 * labels.sum()), count / (2.0 * (~labels).sum()))
    weights *= strength
    full = np.column_stack((features, np.ones(count)))
    penalty = np.append(np.ones(features.shape[1]), 0.0)
    signs = np.where(labels, 1.0, -1.0)
    found = np.zeros(full.shape[1])

    def loss(at: Array) -> float:
        margins = signs * (full @ at)
        return float(0.5 * (penalty * at**2).sum() + (weights * np.logaddexp(0.0, -margins)).sum())

    value = loss(found)
    for _ in range(_STEPS):
        chances = 0.5 * (1.0 + np.tanh(0.5 * (full @ found)))
        gradient = penalty * found + full.T @ (weights * (chances - labels))
        if np.abs(gradient).max() < _CLOSE * max(1.0, value):
            break
        curvature = (full * (weights * chances * (1.0 - chances))[:, None]).T @ full
        curvature += np.diag(penalty)
        step = np.linalg.solve(curvature, gradient)
        size = 1.0
        # Newton's step may go too far where examples are well apart.
        while (tried := loss(found - size * step)) > value and size > 1e-8:
            size /= 2.0
        if tried > value:
            break
        found, value = found - size * step, tried
    return found[:-1], float(found[-1])
