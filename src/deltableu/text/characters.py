"""Texts -> arrays of characters, and of the words of chrF++."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deltableu import _kernels
from deltableu.text.buffer import join_texts
from deltableu.text.tokens import WHITE_SPACE_CLASSES, TokenArrays

__all__ = ["characters", "chrf_words"]

_kernel = _kernels.load("text._tokens")

_PUNCTUATION = bytes(byte in b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" for byte in range(256))


def characters(texts: Sequence[str]) -> TokenArrays:
    """Every character that is no white space, as a hash."""
    buffer = join_texts(texts)
    hashes = np.empty(len(buffer.data), dtype=np.uint64)
    bounds = np.empty(len(buffer.bounds), dtype=np.int64)
    count = _kernel.hash_characters(buffer.data, buffer.bounds, WHITE_SPACE_CLASSES, hashes, bounds)
    return TokenArrays(hashes[:count], bounds)


def chrf_words(texts: Sequence[str]) -> TokenArrays:
    """Words at white space, one mark of punctuation cut off the end or else the beginning.

    References
    ----------
    Popović 2017, "chrF++: words helping character n-grams".
    """
    buffer = join_texts(texts)
    size = len(buffer.data)
    spans = np.empty(max(1, 2 * size), dtype=np.int64)
    bounds = np.empty(len(buffer.bounds), dtype=np.int64)
    hashes = np.empty(size, dtype=np.uint64)
    _kernel.hash_tokens(buffer.data, buffer.bounds, WHITE_SPACE_CLASSES, hashes, bounds, spans)
    words = np.empty(max(1, size), dtype=np.uint64)
    word_bounds = np.empty(len(buffer.bounds), dtype=np.int64)
    count = _kernel.split_punctuation(buffer.data, spans, bounds, _PUNCTUATION, words, word_bounds)
    return TokenArrays(words[:count], word_bounds)
