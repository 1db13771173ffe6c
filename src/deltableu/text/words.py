"""Texts -> words, as retrieval, word vectors and counts of words know them."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from itertools import pairwise
from typing import Any

import numpy as np

from deltableu import _kernels
from deltableu._types import Bools, Bytes, Ints, Keys
from deltableu.errors import check_choice
from deltableu.text.keys import empty_keys, span_keys, unset_keys
from deltableu.text.texts import Texts
from deltableu.text.tokens import TOKENIZERS, TokenArrays, Tokenizer

_kernel = _kernels.load("text._words")

_PLANE = 0x10000
_ASCII = 0x80
_JOINERS = "'\u2019\u02bc"
#: Scripts that are written without spaces; each of their characters is a word.
_WITHOUT_SPACES = ("CJK ", "HIRAGANA ", "KATAKANA ", "HANGZHOU ", "BOPOMOFO ")
_OWN = "words"
#: Texts that are spelt at a time.
_PART = 4096
#: Hardly ever are there more words than one in so many bytes.
_WORD_BYTES = 4
_NO_SPANS = np.empty((0, 2), dtype=np.int64)

#: Bytes that white space may begin with.
_MAY_BE_SPACE = np.isin(
    np.arange(256), [*range(0x09, 0x0E), *range(0x1C, 0x21), 0xC2, 0xE1, 0xE2, 0xE3]
)
_WIDE = "\u3000".encode()

#: Names that a `WordRule` takes: this project's own rule, and all tokenizers.
WORD_RULES: tuple[str, ...] = (_OWN, *TOKENIZERS)


class Kind(IntEnum):
    """What a character does to the word being read; the kernel knows these numbers."""

    BETWEEN = 0
    WORD = 1  # letters, marks and digits
    ALONE = 2  # a word by itself: ideographs, kana, pictures
    JOINER = 3  # an apostrophe
    SPACE = 4


@dataclass(frozen=True, slots=True)
class WordRule:
    """How texts are cut into words where words are looked up or counted.

    Words are compared in small letters, and what has no letter, digit or picture is no word.

    Parameters
    ----------
    tokenize : str
        By default `words`: a word is a run of letters, marks and digits, with apostrophes between
        them; ideographs, kana and pictures are words by themselves; all else only separates. Or a
        tokenizer of sacreBLEU by its name, such as `ja-mecab`, `ko-mecab` or `zh`.

    Examples
    --------
    >>> texts = Texts.of(["Don’t PANIC!", "你好 ok"])
    >>> WordRule().spelt(texts)
    [["don't", 'panic'], ['你', '好', 'ok']]
    >>> WordRule("13a").spelt(Texts.of(["The U.S. won 1,000 times."]))
    [['the', 'u', 's', 'won', '1,000', 'times']]
    """

    tokenize: str = _OWN

    def __post_init__(self) -> None:
        check_choice("tokenize", self.tokenize, WORD_RULES)

    def hash(self, texts: Texts) -> TokenArrays:
        """Keys of the words of each text."""
        return _key_words(texts, _NO_SPANS) if self.tokenize == _OWN else self._cut(texts)[0]

    def spans(self, texts: Texts) -> tuple[TokenArrays, Texts]:
        """What `hash` finds, and the same words as they stand in the texts."""
        if self.tokenize != _OWN:
            return self._cut(texts)
        spans = np.empty((texts.size, 2), dtype=np.int64)
        found = _key_words(texts, spans)
        return found, Texts(texts.data, *spans[: len(found.keys)].T.copy())

    def spelt(self, texts: Texts) -> list[list[str]]:
        """The words of each text, in small letters."""
        found, spans = self.spans(texts)
        words = [word_form(word) for word in spans.strings()]
        return [words[begin:end] for begin, end in pairwise(found.bounds.tolist())]

    def hash_each(self, words: Texts) -> Keys:
        """The key of each of some words, none for what is none: `'s` is a sign and the word `s`."""
        keys = empty_keys(len(words))
        if self.tokenize == _OWN:
            found, spans = self.spans(words)
            (single,) = np.nonzero(np.diff(found.bounds) == 1)
            place = found.bounds[single]
            whole = (spans.starts[place] == words.starts[single]) & (
                spans.ends[place] == words.ends[single]
            )
            keys[single[whole]] = found.keys[place[whole]]
        else:
            found, kept = _key_tokens(words, np.arange(len(words) + 1))
            keys[kept] = found.keys
        return keys

    def _cut(self, texts: Texts) -> tuple[TokenArrays, Texts]:
        tokens, bounds = Tokenizer(self.tokenize).spans(texts.strings())
        found, kept = _key_tokens(tokens, bounds)
        return found, tokens.choose(kept)


def _key_words(texts: Texts, spans: Ints) -> TokenArrays:
    keys = unset_keys(texts.size // _WORD_BYTES)
    bounds = np.zeros(len(texts) + 1, dtype=np.int64)
    count = 0
    for begin, part, spelt, spelt_bounds in spelling_parts(texts):
        words = bounds[begin : begin + len(part) + 1]
        found = _kernel.spell_words(
            part.data, part.starts, part.ends, *character_tables(),
            spelt, spelt_bounds, words, spans[count:],
        )  # fmt: skip
        words += count
        if count + found > len(keys):
            keys = np.concatenate((keys[:count], unset_keys(texts.size)))
        span_keys(spelt, spelt_bounds[:found], spelt_bounds[1 : found + 1], keys[count:])
        count += found
    return TokenArrays(keys[:count], bounds)


def _key_tokens(tokens: Texts, token_bounds: Ints) -> tuple[TokenArrays, Ints]:
    """Those of the tokens that are words, and their places among the tokens."""
    spelt, spelt_bounds = np.empty(2 * tokens.size, np.uint8), np.empty(len(tokens) + 1, np.int64)
    kept = np.empty(len(tokens), dtype=np.int64)
    bounds = np.empty(len(token_bounds), dtype=np.int64)
    count = _kernel.spell_tokens(
        tokens.data, tokens.starts, tokens.ends, token_bounds, *character_tables()[:2],
        spelt, spelt_bounds, bounds, kept,
    )  # fmt: skip
    keys = span_keys(spelt, spelt_bounds[:count], spelt_bounds[1 : count + 1])
    return TokenArrays(keys, bounds), kept[:count]


def spelling_parts(texts: Texts) -> Iterator[tuple[int, Texts, Bytes, Ints]]:
    """Some texts at a time, with the number of the first and room for spelling them.

    The room is for texts in small letters, and for bounds of as many pieces as they may have. It is
    the same each time: what was just spelt is still in the cache, and memory is taken only once.
    """
    room = (np.empty(0, np.uint8), np.empty(0, np.int64))
    for begin in range(0, len(texts), _PART):
        part = texts.choose(slice(begin, begin + _PART))
        # A text of n bytes has at most n words.
        pieces = part.size + len(part)
        if pieces >= len(room[1]):
            room = (np.empty(2 * pieces, np.uint8), np.empty(pieces + 1, np.int64))
        yield begin, part, *room


def hash_texts(texts: Texts) -> Keys:
    """Keys of the exact bytes of texts, such as ids; that of the empty text is `b""`."""
    return span_keys(texts.data, texts.starts, texts.ends)


def blank_texts(texts: Texts) -> Bools:
    """Which texts are nothing but white space, as `str.isspace` has it, or nothing at all.

    Examples
    --------
    >>> blank_texts(Texts.of(["", " ", "\u3000\t", "\u3042", " a"])).tolist()
    [True, True, True, False, False]
    """
    starts, ends = texts.starts, texts.ends
    blank: Bools = starts >= ends
    codes = np.frombuffer(texts.data, np.uint8)
    (filled,) = np.nonzero(~blank)
    if len(filled):
        perhaps = filled[_MAY_BE_SPACE[codes[starts[filled]]]]
        begins = starts[perhaps]
        # Of all that begins as an ideographic space does, as kana do, only that is one.
        wide = codes[begins] == _WIDE[0]
        wide[wide] = (codes[begins[wide] + 1] != _WIDE[1]) | (codes[begins[wide] + 2] != _WIDE[2])
        perhaps = perhaps[~wide]
        blank[perhaps] = [text.isspace() for text in texts.choose(perhaps).strings()]
    return blank


def word_form(word: str) -> str:
    """A word of a text as words are compared; it has the same key as the word.

    Examples
    --------
    >>> word_form("Don’T")
    "don't"
    """
    _, lower, _ = character_tables()
    return "".join(
        "'"
        if character in _JOINERS
        else chr(lower[ord(character)])
        if ord(character) < _PLANE
        else character
        for character in word
    )


@cache
def character_tables() -> tuple[bytes, np.ndarray[Any, np.dtype[np.uint16]], bytes]:
    """The kind and small letter of every character of the Basic Multilingual Plane.

    The last table has the small letter of every byte that is an ASCII letter or digit, else 0.
    """
    kinds = bytearray(_PLANE)
    lower = np.arange(_PLANE, dtype=np.uint16)
    for point in range(_PLANE):
        character = chr(point)
        kinds[point] = _kind(character)
        small = character.lower()
        if len(small) == 1 and ord(small) < _PLANE:
            lower[point] = ord(small)
    plain = bytes(
        lower[byte] if byte < _ASCII and kinds[byte] == Kind.WORD else 0 for byte in range(256)
    )
    return bytes(kinds), lower, plain


def _kind(character: str) -> Kind:
    category = unicodedata.category(character)
    if character in _JOINERS:
        return Kind.JOINER
    if character.isspace():
        return Kind.SPACE
    if category == "Lo" and unicodedata.name(character, "").startswith(_WITHOUT_SPACES):
        return Kind.ALONE
    if category[0] in "LMN":
        return Kind.WORD
    return Kind.ALONE if category == "So" else Kind.BETWEEN
