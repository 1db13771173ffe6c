"""Two probabilities per reference in, one weight out: the rule of the upsilon-BLEU rater."""

from __future__ import annotations

from typing import Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from deltableu.errors import InputError, Problem, check_choice

Triplets: TypeAlias = Literal["max", "mean", "first", "second"]
Magnitude: TypeAlias = Literal["2p-1", "p"]


def check_rule(triplets: str, magnitude: str) -> None:
    """Complain of a rule that does not exist."""
    check_choice("triplets", triplets, get_args(Triplets))
    check_choice("magnitude", magnitude, get_args(Magnitude))


def combined_weights(
    probabilities: ArrayLike, triplets: Triplets = "max", magnitude: Magnitude = "2p-1"
) -> NDArray[np.float64]:
    """Weights in [-1, 1] from what the network says of the two triplets of each reference.

    Parameters
    ----------
    probabilities : array_like
        An array of shape (references, 2, 2): the triplet, (U1, R1, R2) or (U2, R2, R1), then the
        class, negative or positive.
    triplets : {"max", "mean", "first", "second"}
        How two triplets become one m: the maximum of each class over both, their mean, or one of
        them. The authors' later code looks at the first only.
    magnitude : {"2p-1", "p"}
        With p the larger class of m: 2p - 1, as in the authors' code; or p itself, as in the
        paper's text, which leaves a gap between -.5 and .5. It is negative where the negative
        class is at least as large.

    Returns
    -------
    ndarray
        One weight per reference.

    References
    ----------
    Tsuta et al. 2020, uBLEU: Uncertainty-Aware Automatic Evaluation Method for Open-Domain
    Dialogue Systems, section 4.2.

    Examples
    --------
    >>> probabilities = [[[0.2, 0.8], [0.9, 0.1]]]
    >>> for triplets in ("max", "mean", "first", "second"):
    ...     print(triplets, combined_weights(probabilities, triplets).round(3))
    max [-0.8]
    mean [-0.1]
    first [0.6]
    second [-0.8]
    >>> combined_weights(probabilities, "max", "p")
    array([-0.9])
    """
    check_rule(triplets, magnitude)
    given = np.asarray(probabilities, dtype=np.float64)
    if given.ndim != 3 or given.shape[1:] != (2, 2):
        message = f"must have the shape (references, 2, 2), got {given.shape}"
        raise InputError(Problem(message, field="probabilities"))
    if not np.all((given >= 0) & (given <= 1)):
        raise InputError(Problem("must lie in [0, 1]", field="probabilities"))
    if triplets == "max":
        classes = given.max(axis=1)
    elif triplets == "mean":
        classes = given.mean(axis=1)
    else:
        classes = given[:, 0 if triplets == "first" else 1]
    larger = classes.max(axis=1)
    # Rounding may leave both classes a little below one half.
    size = larger if magnitude == "p" else np.maximum(2 * larger - 1, 0)
    signed = np.where(classes[:, 1] > classes[:, 0], size, -size)
    weights: NDArray[np.float64] = signed + 0.0  # -0 becomes 0
    return weights
