"""Texts -> lower-cased words, as retrieval compares them, and keys of texts that are the same."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any

import numpy as np

from deltableu import _kernels
from deltableu._types import Hashes, Ints

__all__ = ["Kind", "WordArrays", "hash_texts", "hash_words", "word_form", "word_spans"]

_kernel = _kernels.load("text._words")


_PLANE = 0x10000
_JOINERS = "'\u2019\u02bc"
#: Scripts that are written without spaces; each of their characters is a word.
_WITHOUT_SPACES = ("CJK ", "HIRAGANA ", "KATAKANA ", "HANGZHOU ", "BOPOMOFO ")


class Kind(IntEnum):
    """What a character does to the word being read; the kernel knows these numbers."""

    BETWEEN = 0
    WORD = 1  # letters, marks and digits
    ALONE = 2  # a word by itself: ideographs, kana, pictures
    JOINER = 3  # an apostrophe


@dataclass(frozen=True, slots=True, eq=False)
class WordArrays:
    """Word hashes of many texts; text i has `hashes[bounds[i]:bounds[i + 1]]`.

    Attributes
    ----------
    keys : array
        The same for texts of the same words: case, punctuation and spacing do not matter. A text
        without words has a key of its own.
    """

    hashes: Hashes
    bounds: Ints
    keys: Hashes


def hash_words(data: bytes, starts: Ints, ends: Ints) -> WordArrays:
    """The words of texts that lie in one UTF-8 buffer.

    A word is a run of letters, marks and digits, with apostrophes between them. Ideographs, kana
    and pictures are words by themselves. All else only separates.
    """
    kinds, lower = _tables()
    # A text of n bytes has at most n words, and texts may share bytes.
    hashes = np.empty(int((ends - starts).sum()), dtype=np.uint64)
    bounds = np.empty(len(starts) + 1, dtype=np.int64)
    keys = np.empty(len(starts), dtype=np.uint64)
    count = _kernel.hash_words(data, starts, ends, kinds, lower, hashes, bounds, keys)
    return WordArrays(hashes[:count], bounds, keys)


def hash_texts(data: bytes, starts: Ints, ends: Ints) -> Hashes:
    """Hashes of whole texts; that of the empty text is 0."""
    keys = np.empty(len(starts), dtype=np.uint64)
    _kernel.hash_texts(data, starts, ends, keys)
    return keys


def word_spans(data: bytes, starts: Ints, ends: Ints) -> tuple[Ints, Ints]:
    """First byte, and that after the last, of every word that `hash_words` finds, in its order."""
    kinds, _ = _tables()
    most = int((ends - starts).sum())
    begins = np.empty(most, dtype=np.int64)
    stops = np.empty(most, dtype=np.int64)
    count = _kernel.word_spans(data, starts, ends, kinds, begins, stops)
    return begins[:count], stops[:count]


def word_form(word: str) -> str:
    """A word of a text as words are compared; it has the same hash as the word.

    Examples
    --------
    >>> word_form("Don’T")
    "don't"
    """
    _, lower = _tables()
    return "".join(
        "'"
        if character in _JOINERS
        else chr(lower[ord(character)])
        if ord(character) < _PLANE
        else character
        for character in word
    )


@cache
def _tables() -> tuple[bytes, np.ndarray[Any, np.dtype[np.uint16]]]:
    """Of every character of the Basic Multilingual Plane: its kind, and its small letter."""
    kinds = bytearray(_PLANE)
    lower = np.arange(_PLANE, dtype=np.uint16)
    for point in range(_PLANE):
        character = chr(point)
        kinds[point] = _kind(character)
        small = character.lower()
        if len(small) == 1 and ord(small) < _PLANE:
            lower[point] = ord(small)
    return bytes(kinds), lower


def _kind(character: str) -> Kind:
    category = unicodedata.category(character)
    if character in _JOINERS:
        return Kind.JOINER
    if category == "Lo" and unicodedata.name(character, "").startswith(_WITHOUT_SPACES):
        return Kind.ALONE
    if category[0] in "LMN":
        return Kind.WORD
    return Kind.ALONE if category == "So" else Kind.BETWEEN
