"""Texts -> arrays of characters, and of the words of chrF++."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deltableu import _kernels
from deltableu.text.texts import Texts
from deltableu.text.tokens import WHITE_SPACE_CLASSES, TokenArrays, Tokenizer

_kernel = _kernels.load("text._tokens")

_PUNCTUATION = bytes(byte in b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" for byte in range(256))


def characters(texts: Sequence[str]) -> TokenArrays:
    """Every character that is no white space, as a hash."""
    joined = Texts.of(texts)
    hashes = np.empty(joined.size, dtype=np.uint64)
    bounds = np.empty(len(joined) + 1, dtype=np.int64)
    places = (joined.data, joined.starts, joined.ends)
    count = _kernel.hash_characters(*places, WHITE_SPACE_CLASSES, hashes, bounds)
    return TokenArrays(hashes[:count], bounds)


def chrf_words(texts: Sequence[str]) -> TokenArrays:
    """Words at white space, one mark of punctuation cut off the end or else the beginning.

    References
    ----------
    Popović 2017, "chrF++: words helping character n-grams".
    """
    tokens, bounds = Tokenizer("none").spans(texts)
    words = np.empty(2 * len(tokens), dtype=np.uint64)
    word_bounds = np.empty(len(bounds), dtype=np.int64)
    count = _kernel.split_punctuation(
        tokens.data, tokens.starts, tokens.ends, bounds, _PUNCTUATION, words, word_bounds
    )
    return TokenArrays(words[:count], word_bounds)
