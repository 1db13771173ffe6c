"""Texts that unkeyed hashes of 64 bits take for one another, and words to search for more."""

from __future__ import annotations

import numpy as np

#: Equal under FNV-1a of 64 bits; a search with distinguished points found them in a minute.
COLLIDING_WORDS = ("rowibcgbunwzdf", "txblzeraumfbwf")
#: Equal where n-grams are hashed from FNV-1a hashes of their words as `old_ngram_hash` does; found
#: among a million random words.
COLLIDING_BIGRAMS = ("qmlbtqtg jgkpyert", "gtzxlltl seseowxx")

_MASK = (1 << 64) - 1


def fnv_1a(word: str) -> int:
    """Fowler, Noll and Vo's hash, as published."""
    found = 0xCBF29CE484222325
    for byte in word.encode():
        found = ((found ^ byte) * 0x100000001B3) & _MASK
    return found


def old_ngram_hash(words: str) -> int:
    """How n-grams were once hashed."""
    found = 0
    for word in words.split():
        token = fnv_1a(word)
        for shift in (32, 29):
            token = ((token ^ (token >> shift)) * 0xD6E8FEB86659FD93) & _MASK
        token ^= token >> 32
        found = ((found + token) * 0x9E3779B97F4A7C15) & _MASK
        found ^= found >> 32
    return found


def random_words(number: int, size: int, seed: int) -> bytes:
    """So many words of `size` small letters, one a line."""
    letters = np.random.default_rng(seed).integers(97, 123, (number, size + 1), dtype=np.uint8)
    letters[:, -1] = 10
    return letters.tobytes()[:-1]
