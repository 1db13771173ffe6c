"""Word vectors of a text, pooled as RUBER's referenced scorer has it (Tao et al. 2018)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array
from deltableu.errors import check_choice
from deltableu.text import WordVectors

Pooling = Literal["max-min", "avg", "all"]

_PARTS = {"max-min": ("max", "min"), "avg": ("mean",), "all": ("max", "min", "mean")}


def pooled(vectors: ArrayLike, pooling: Pooling = "max-min") -> Array:
    """The largest and the smallest number of each column beside each other; or the means, or all.

    Parameters
    ----------
    vectors : array_like
        A word's vector a row; one or more.
    pooling : {"max-min", "avg", "all"}

    References
    ----------
    Tao et al. 2018, RUBER: An Unsupervised Method for Automatic Evaluation of Open-Domain Dialog
    Systems, section 3.1.

    Examples
    --------
    >>> one, other = pooled([[1, 0], [0, 2]]), pooled([[1, -1], [0, 1]])
    >>> one, other
    (array([1., 2., 0., 0.]), array([ 1.,  1.,  0., -1.]))
    >>> cosines(one[None], other[None]).round(4)
    array([0.7746])
    """
    check_choice("pooling", pooling, get_args(Pooling))
    rows = np.asarray(vectors, np.float64)
    return np.concatenate([getattr(rows, part)(axis=0) for part in _PARTS[pooling]])


def pooled_texts(
    vectors: WordVectors, texts: Sequence[Sequence[str]], pooling: Pooling = "max-min"
) -> Array:
    """The pooled vectors of each text's words; words without a vector are passed over.

    A text in which no word has a vector gets zeros.
    """
    found = np.zeros((len(texts), vectors.dimension * len(_PARTS[pooling])))
    for number, words in enumerate(texts):
        known = [vectors.rows[word] for word in words if word in vectors.rows]
        if known:
            found[number] = pooled(vectors.raw[known], pooling)
    return found


def cosines(one: Array, other: Array) -> Array:
    """The cosine of each row of both; 0 where either is all zeros.

    Examples
    --------
    >>> cosines(np.array([[1.0, 0.0], [0.0, 0.0]]), np.array([[-2.0, 0.0], [1.0, 0.0]]))
    array([-1.,  0.])
    """
    products = np.einsum("ij,ij->i", one, other)
    lengths = np.linalg.norm(one, axis=1) * np.linalg.norm(other, axis=1)
    found = np.divide(products, lengths, out=np.zeros(len(one)), where=lengths > 0)
    within: Array = np.clip(found, -1.0, 1.0) + 0.0
    return within
