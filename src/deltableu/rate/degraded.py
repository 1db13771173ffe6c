"""Texts in, copies of them out in which a phrase is replaced: a reader notices, others do not.

Direct Assessment's bad references. How many words are replaced, and where, is a published table;
what replaces them is a phrase of another text, so that the words are right and the sense is not.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np

from deltableu._types import Ints

Unit = Literal["words", "characters"]

#: Longest phrase that is put in, however many words it replaces.
LONGEST_PHRASE = 6
#: Scripts that are written without spaces.
_WITHOUT_SPACES = (
    *("CJK ", "HIRAGANA ", "KATAKANA ", "HANGZHOU ", "BOPOMOFO ", "IDEOGRAPHIC "),
    *("THAI ", "LAO ", "KHMER ", "MYANMAR ", "TIBETAN "),
)
_WORD = re.compile(r"\S+\s*")
#: Characters that belong to the one before: joiners and variation selectors, beside marks.
_JOINED = frozenset("\u200c\u200d\ufe0e\ufe0f")
#: Phrases drawn at random before all are looked through.
_TRIES = 50


@dataclass(frozen=True, slots=True)
class TextUnits:
    """A text in pieces, each with the space after it; joined, they are the text."""

    unit: Unit
    pieces: tuple[str, ...]

    @classmethod
    def of(cls, text: str) -> TextUnits:
        """Words; or characters, where most of the text is in scripts written without spaces.

        There a run of other letters or digits is one piece, and so is a character with its marks.

        Examples
        --------
        >>> TextUnits.of("it rains  again").pieces
        ('it ', 'rains  ', 'again')
        >>> TextUnits.of("我用 Linux 了。")
        TextUnits(unit='characters', pieces=('我', '用 ', 'Linux ', '了', '。'))
        """
        text = text.strip()
        if not any(map(_is_without_spaces, text)):
            return cls("words", tuple(_WORD.findall(text)))
        pieces = tuple(_characters(text))
        spelt = [piece for piece in pieces if piece[0].isalnum()]
        if 2 * sum(_is_without_spaces(piece[0]) for piece in spelt) <= len(spelt):
            return cls("words", tuple(_WORD.findall(text)))
        return cls("characters", pieces)

    def __len__(self) -> int:
        return len(self.pieces)

    def key(self, first: int, last: int) -> tuple[str, ...]:
        """What phrases are compared by."""
        return tuple(piece.strip().casefold() for piece in self.pieces[first:last])


@lru_cache(maxsize=4096)
def _is_without_spaces(character: str) -> bool:
    return unicodedata.name(character, "").startswith(_WITHOUT_SPACES)


def _characters(text: str) -> Iterator[str]:
    piece, in_word = "", False
    for one in text:
        joins = one in _JOINED or one.isspace() or unicodedata.category(one).startswith("M")
        is_word = one.isalnum() and not _is_without_spaces(one)
        if piece and not joins and not (in_word and is_word and not piece[-1].isspace()):
            yield piece
            piece = ""
        if not joins:
            in_word = is_word
        piece += one
    if piece:
        yield piece


def replaced_words(words: int) -> int:
    """How many words of a text of so many are replaced (Direct Assessment's published table).

    Examples
    --------
    >>> [replaced_words(n) for n in (1, 3, 4, 5, 6, 7, 8, 14, 15, 19, 20, 40)]
    [1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 5, 10]
    """
    for longest, replaced in ((3, 1), (5, 2), (7, 3), (14, 4), (19, 5)):
        if words <= longest:
            return replaced
    return words // 4


def replaced_starts(words: int) -> range:
    """Where the replaced words may start, each with the same probability.

    Of a text of two the first word stays, of three and four the first and the last, of more the
    first and the last two.

    Examples
    --------
    >>> [list(replaced_starts(n)) for n in (1, 2, 3, 4, 5, 7, 8)]
    [[0], [1], [1], [1], [1], [1, 2], [1, 2]]
    """
    if words <= 4:
        return range(min(words - 1, 1), min(words - 1, 1) + 1)
    return range(1, words - replaced_words(words) - 1)


@dataclass(frozen=True, slots=True, eq=False)
class _Phrases:
    """All phrases of one length: those of text k are numbered from `bounds[k]` on."""

    texts: Ints
    bounds: Ints
    first: int

    def place(self, number: int) -> tuple[int, int]:
        """The text of a phrase, and where in it the phrase starts."""
        found = int(np.searchsorted(self.bounds, number, side="right")) - 1
        return int(self.texts[found]), self.first + number - int(self.bounds[found])

    def __len__(self) -> int:
        return int(self.bounds[-1])


class PhrasePool:
    """Phrases of the texts of a campaign, of which degraded copies are made.

    Parameters
    ----------
    texts : sequence of str
    items : sequence of str, optional
        What each text is an answer to. A phrase from another answer to the same item might fit, and
        is never taken; without items, only the text itself is avoided.

    Examples
    --------
    >>> pool = PhrasePool(["the cat sat on the mat", "we sail to Rome on a slow boat"])
    >>> pool.degrade(0, rng=1)
    'the sail to Rome the mat'
    """

    def __init__(self, texts: Sequence[str], items: Sequence[str] | None = None) -> None:
        self._units = [TextUnits.of(text) for text in texts]
        self._items: Sequence[object] = range(len(texts)) if items is None else items
        self._known: dict[tuple[Unit, int, bool], _Phrases] = {}

    def __len__(self) -> int:
        return len(self._units)

    def degrade(self, place: int, rng: np.random.Generator | int = 0) -> str | None:
        """A copy of a text in which a phrase is replaced; None where there is nothing to replace.

        As many words as `replaced_words` says are replaced by a phrase of as many (of six, where
        there are more than five) from inside another text, first and last word excepted. Where no
        other item has so long a phrase, ends of texts and then shorter phrases do. In scripts
        without spaces all this is about characters. A single word keeps its capital.

        Parameters
        ----------
        place
            Of the text.
        rng
        """
        generator = np.random.default_rng(rng)
        units = self._units[place]
        if not len(units):
            return None
        replaced = replaced_words(len(units))
        first = int(generator.choice(replaced_starts(len(units))))
        last = first + replaced
        found = self._phrase(place, (first, last), min(replaced, LONGEST_PHRASE), generator)
        if found is None:
            return None
        pieces = list(found)
        # The space after the phrase is the one that was there.
        kept = units.pieces[last - 1]
        pieces[-1] = pieces[-1].rstrip() + kept[len(kept.rstrip()) :]
        if units.unit == "words":
            pieces[:-1] = [f"{piece.rstrip()} " for piece in pieces[:-1]]
        if len(units) == 1 and units.unit == "words":
            # Of a text of one word, the capital is all that is kept.
            start = pieces[0][0]
            pieces[0] = (start.upper() if kept[0].isupper() else start) + pieces[0][1:]
        return "".join((*units.pieces[:first], *pieces, *units.pieces[last:])).strip()

    def _phrase(
        self, place: int, span: tuple[int, int], size: int, generator: np.random.Generator
    ) -> tuple[str, ...] | None:
        unit, avoided = self._units[place].unit, self._units[place].key(*span)
        for length in range(size, 0, -1):
            for inside in (True, False):
                phrases = self._phrases(unit, length, inside)
                for number in _drawn(len(phrases), generator):
                    text, start = phrases.place(number)
                    units, stop = self._units[text], start + length
                    if self._items[text] == self._items[place] or text == place:
                        continue
                    if units.key(start, stop) != avoided:
                        return units.pieces[start:stop]
        return None

    def _phrases(self, unit: Unit, length: int, inside: bool) -> _Phrases:
        """Those of a length, from inside of texts or from anywhere."""
        key = (unit, length, inside)
        if key not in self._known:
            ends = 2 if inside else 0
            counts = np.array(
                [
                    max(0, len(one) - ends - length + 1) if one.unit == unit else 0
                    for one in self._units
                ],
                dtype=np.int64,
            )
            texts = np.flatnonzero(counts)
            bounds = np.concatenate(([0], np.cumsum(counts[texts])))
            self._known[key] = _Phrases(texts, bounds, int(inside))
        return self._known[key]


def _drawn(size: int, generator: np.random.Generator) -> Iterable[int]:
    """Numbers below `size`, at random; after many, all of them once, so that none is missed."""
    if size == 0:
        return
    for _ in range(_TRIES):
        yield int(generator.integers(size))
    start = int(generator.integers(size))
    for number in range(size):
        yield (start + number) % size
