"""Logs -> their frequent words, and texts as numbers of these."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import BytesRead, Ints, Ints32, Keys
from deltableu.errors import InputError
from deltableu.logs import Partition, read_blocks
from deltableu.text import Texts, TokenArrays, WordNumbers, WordRule, empty_keys, word_form

_WORDS = WordRule()


@dataclass(frozen=True, slots=True, eq=False)
class CountedWords:
    """Words by falling frequency; those equally frequent are in the order of their letters.

    Attributes
    ----------
    words : tuple of str
        In small letters.
    counts : array
    tokens : int
        Words of the logs, also those that are too rare.
    different : int
        Different ones among them.
    rule : WordRule
        What a word is.
    """

    words: tuple[str, ...]
    counts: Ints
    tokens: int
    different: int
    rule: WordRule
    _numbers: WordNumbers

    def __len__(self) -> int:
        return len(self.words)

    def numbered(self, texts: Texts) -> tuple[Ints32, Ints]:
        """Texts as numbers of words, and their bounds; words that are too rare fall out."""
        found = self.rule.hash(texts)
        numbers = self._numbers.find(found.keys)
        known = numbers >= 0
        before = np.concatenate(([0], np.cumsum(known)))
        return numbers[known], before[found.bounds]


def texts_of(partitions: Sequence[Partition], tell: BytesRead) -> Iterator[Texts]:
    """The utterances of some rows, then their responses, and so on."""
    for block in read_blocks(partitions, tell):
        yield block.utterances
        yield block.responses


def count_words(
    partitions: Sequence[Partition],
    *,
    min_count: int,
    most: int | None,
    tell: BytesRead,
    rule: WordRule = _WORDS,
) -> CountedWords:
    """The `most` most frequent words of logs that occur `min_count` times or more."""
    counter = _Counter(rule)
    for texts in texts_of(partitions, tell):
        counter.add(texts)
    return counter.vocabulary(min_count, most)


class _Counter:
    """Counts of words, and how each one is spelt."""

    def __init__(self, rule: WordRule) -> None:
        self._rule = rule
        self._words: list[str] = []
        self._keys: list[Keys] = []
        self._counts: Ints = np.zeros(0, np.int64)
        self._numbers = WordNumbers.of(empty_keys(0))

    def add(self, texts: Texts) -> None:
        found = self._rule.hash(texts)
        numbers, fresh = self._numbers.add(found.keys)
        counts = np.bincount(numbers, minlength=self._numbers.size)
        counts[: len(self._counts)] += self._counts
        self._counts = counts
        if len(fresh):
            self._keys.append(found.keys[fresh])
            self._words += self._spelt(texts, found, fresh)

    def _spelt(self, texts: Texts, found: TokenArrays, places: Ints) -> list[str]:
        """The words at some places of `found`, as words are compared."""
        owners = np.searchsorted(found.bounds, places, side="right") - 1
        rows, firsts = np.unique(owners, return_index=True)
        _, words = self._rule.spans(texts.choose(rows))
        sizes = found.bounds[rows + 1] - found.bounds[rows]
        offsets = np.cumsum(sizes) - sizes - found.bounds[rows]
        at = places + np.repeat(offsets, np.diff(np.append(firsts, len(places))))
        return [word_form(word) for word in words.choose(at).strings()]

    def vocabulary(self, min_count: int, most: int | None) -> CountedWords:
        counts = self._counts
        tokens = int(counts.sum())
        if not tokens:
            raise InputError("the logs hold no words")
        (frequent,) = np.nonzero(counts >= min_count)
        if not len(frequent):
            raise InputError(
                f"no word occurs {min_count} times or more in the logs (the most frequent one "
                f"{counts.max()} times): lower min_count"
            )
        frequency: list[int] = counts.tolist()
        order = sorted(frequent.tolist(), key=lambda one: (-frequency[one], self._words[one]))
        rows = np.array(order[:most], np.int64)
        words = tuple(self._words[row] for row in rows.tolist())
        table = WordNumbers.of(np.concatenate(self._keys)[rows])
        return CountedWords(words, counts[rows], tokens, len(counts), self._rule, table)
