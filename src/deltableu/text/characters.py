"""Texts -> arrays of characters, and of the words of chrF++."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deltableu import _kernels
from deltableu.text.keys import empty_longs, key_longs, lanes, unset_keys
from deltableu.text.texts import Texts
from deltableu.text.tokens import WHITE_SPACE_CLASSES, TokenArrays, Tokenizer

_kernel = _kernels.load("text._tokens")

_PUNCTUATION = bytes(byte in b"!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~" for byte in range(256))


def characters(texts: Sequence[str]) -> TokenArrays:
    """Every character that is no white space, as a key."""
    joined = Texts.of(texts)
    keys = unset_keys(joined.size)
    bounds = np.empty(len(joined) + 1, dtype=np.int64)
    places = (joined.data, joined.starts, joined.ends)
    count = _kernel.key_characters(*places, WHITE_SPACE_CLASSES, lanes(keys), bounds)
    return TokenArrays(keys[:count], bounds)


def chrf_words(texts: Sequence[str]) -> TokenArrays:
    """Words at white space, one mark of punctuation cut off the end or else the beginning.

    References
    ----------
    Popović 2017, "chrF++: words helping character n-grams".
    """
    tokens, bounds = Tokenizer("none").spans(texts)
    words = unset_keys(2 * len(tokens))
    longs = empty_longs(tokens.size)
    word_bounds = np.empty(len(bounds), dtype=np.int64)
    places = (tokens.data, tokens.starts, tokens.ends)
    listed = _kernel.split_punctuation(
        *places, bounds, _PUNCTUATION, lanes(words), longs, word_bounds
    )
    numbers, begins, stops = longs[:, :listed]
    key_longs(tokens.data, begins, stops, numbers, words)
    return TokenArrays(words[: word_bounds[-1]], word_bounds)
