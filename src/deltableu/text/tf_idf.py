"""Counts of words in, vectors whose products are cosines out."""

from __future__ import annotations

from typing import Any

import numpy as np

from deltableu._types import AnyArray, Array


def rarity(seen: AnyArray, texts: int) -> Array:
    """The idf of words that so many of the texts have: log((texts + 1) / (seen + 1)).

    Examples
    --------
    >>> rarity(np.array([1, 3]), 3).round(3).tolist()
    [0.693, 0.0]
    """
    return np.asarray(np.log((texts + 1) / (seen + 1)))


def tf_idf(counts: Any) -> Any:
    """Weigh counts by log((n + 1) / (n_word + 1)) and scale rows to length 1; empty ones stay 0.

    Parameters
    ----------
    counts : scipy.sparse.csr_array
        Texts x words; the same word may stand in a row several times.

    Examples
    --------
    >>> from scipy.sparse import csr_array
    >>> vectors = tf_idf(csr_array([[2.0, 0, 1], [0, 0, 1], [0, 3, 0]]))
    >>> (vectors @ vectors.T).toarray().round(3)
    array([[1.   , 0.203, 0.   ],
           [0.203, 1.   , 0.   ],
           [0.   , 0.   , 1.   ]])
    """
    weighed = counts.copy()
    weighed.sum_duplicates()
    texts, words = weighed.shape
    seen = np.bincount(weighed.indices, minlength=words)
    weighed.data = weighed.data * rarity(seen, texts)[weighed.indices]
    lengths = np.sqrt(np.asarray(weighed.multiply(weighed).sum(axis=1)).ravel())
    lengths[lengths == 0] = 1.0
    weighed.data /= np.repeat(lengths, np.diff(weighed.indptr))
    return weighed
