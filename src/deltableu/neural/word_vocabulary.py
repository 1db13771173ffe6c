"""Logs -> their most frequent words, and texts as numbers of these."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from deltableu._types import BytesRead
from deltableu.errors import InputError, check_at_least
from deltableu.neural.encoded_texts import EncodedTexts
from deltableu.text import Texts, WordNumbers, WordRule, word_form

if TYPE_CHECKING:
    from deltableu.logs import Partition


#: 0 is padding.
UNKNOWN, FIRST = 1, 2
_BETWEEN = "\n"
_RULE = WordRule()


class WordVocabulary:
    """Words that mining compares: lower-cased, without punctuation.

    Parameters
    ----------
    words
        Different ones, as `deltableu.text.words.word_form` spells them; numbers from 2 on in this
        order.

    Examples
    --------
    >>> vocabulary = WordVocabulary(["hello", "you"])
    >>> encoded = vocabulary.encode(["Hello, you there!", "", "YOU"])
    >>> encoded.numbers, encoded.bounds
    (array([2, 3, 1, 3], dtype=int32), array([0, 3, 3, 4]))
    """

    kind: ClassVar[str] = "words"

    def __init__(self, words: Sequence[str]) -> None:
        self.words = tuple(words)
        keys = _RULE.hash_each(Texts.of(self.words))
        wrong = any(word_form(one) != one for one in self.words)
        if not self.words or not (keys != b"").all() or wrong:
            raise InputError("a vocabulary has one or more lower-cased words, each without a space")
        self._numbers = WordNumbers.of(keys)
        if self._numbers.size < len(self.words):
            raise InputError("a vocabulary has no word twice")

    def __len__(self) -> int:
        return len(self.words) + FIRST

    def encode(self, texts: Texts | Sequence[str]) -> EncodedTexts:
        """Numbers of the words of each text; those that the vocabulary lacks are 1."""
        if not isinstance(texts, Texts):
            texts = Texts.of(texts)
        found = _RULE.hash(texts)
        numbers = self._numbers.find(found.keys) + np.int32(FIRST)
        numbers[numbers < FIRST] = UNKNOWN
        return EncodedTexts(numbers, found.bounds)

    def decode(self, texts: Sequence[Sequence[int]]) -> list[str]:
        """The words of numbers, between spaces."""
        return [" ".join(self.words[number - FIRST] for number in text) for text in texts]

    def to_bytes(self) -> bytes:
        """A line a word, in UTF-8."""
        return _BETWEEN.join(self.words).encode()

    @classmethod
    def from_bytes(cls, data: bytes) -> WordVocabulary:
        """The vocabulary that gave these bytes."""
        try:
            return cls(data.decode().split(_BETWEEN))
        except (UnicodeDecodeError, InputError) as error:
            message = f"this is not a vocabulary of words, a line each in UTF-8: {error}"
            raise InputError(message) from None


def word_vocabulary(
    partitions: Sequence[Partition],
    *,
    size: int,
    min_count: int = 1,
    tell: BytesRead = lambda read: None,
) -> WordVocabulary:
    """The most frequent words of logs.

    Parameters
    ----------
    partitions
        What `deltableu.logs.partitions.find_partitions` found.
    size
        Words, at most, beside padding and the unknown word.
    min_count
        How often a word occurs, at least.
    tell
        Called with the bytes that were read since the last call; all logs are read once.
    """
    check_at_least("size", size, 1)
    check_at_least("min_count", min_count, 1)
    from deltableu.vectors import count_words

    return WordVocabulary(count_words(partitions, min_count=min_count, most=size, tell=tell).words)
