"""Word vectors, files of them, and the vector of a text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from os import PathLike

import numpy as np

from deltableu._types import Array, Keys, Singles
from deltableu.text.keys import empty_keys
from deltableu.text.texts import Texts
from deltableu.text.vector_files import read_table, write_table
from deltableu.text.words import WORD_RULES, WordRule

_BLOCK = 4096
_NOTE = re.compile("<tokenize:(.+)>")


@dataclass(frozen=True, eq=False)
class WordVectors:
    """Vectors of words.

    Attributes
    ----------
    rows : dict
        From a word to its row.
    raw : array
        A vector a row, of any length: as trained, or as a file has it.
    tokenize : str, optional
        The `WordRule` that cut the texts these were trained on, where it is known.
    """

    rows: dict[str, int]
    raw: Singles | Array
    tokenize: str | None = None

    @property
    def dimension(self) -> int:
        """Numbers of a vector."""
        return int(self.raw.shape[1])

    @cached_property
    def matrix(self) -> Array:
        """The vectors, scaled to length 1; those of zeros stay so."""
        return _unit(self.raw)

    @cached_property
    def matrix32(self) -> Singles:
        """`matrix`, rounded to single precision."""
        made = np.empty(self.raw.shape, np.float32)
        at = 0
        for block in self._blocks():
            made[at : at + len(block)] = block
            at += len(block)
        return made

    def keys(self, rule: WordRule | None = None) -> Keys:
        """The key of each row's word; `b""` where that is not exactly one word.

        Where several words differ only in case, the first one has the key and the others `b""`.
        """
        words = list(self.rows)
        made = empty_keys(len(self.raw))
        rule = rule or WordRule(self.tokenize or "words")
        found = rule.hash_each(Texts.of(words))
        (known,) = np.nonzero(found != b"")
        keys, firsts = np.unique(found[known], return_index=True)
        owners = np.fromiter(self.rows.values(), np.int64, len(words))
        made[owners[known[firsts]]] = keys
        return made

    def digest(self) -> str:
        """A short hash of words and numbers, for signatures."""
        made = hashlib.blake2b("\n".join(self.rows).encode(), digest_size=4)
        for block in self._blocks():
            made.update(block.astype("<f8", copy=False).tobytes())
        return made.hexdigest()

    def text_vectors(self, texts: Sequence[Sequence[str]]) -> Array:
        """The mean of the vectors of each text's known words, scaled to length 1; 0 for none."""
        result = np.zeros((len(texts), self.dimension))
        for number, words in enumerate(texts):
            known = [self.rows[word] for word in words if word in self.rows]
            if known:
                result[number] = _unit(self.raw[known]).mean(axis=0)
        return _unit(result)

    def _blocks(self) -> Iterator[Array]:
        """Rows of `matrix`, some at a time."""
        for begin in range(0, len(self.raw), _BLOCK):
            yield _unit(self.raw[begin : begin + _BLOCK])


def read_vectors(path: str | PathLike[str]) -> WordVectors:
    """Read word vectors, in single precision.

    The file is in GloVe's text format (a word and its numbers a line, one size for all; a first
    line with two whole numbers, as in word2vec's text format, is passed over) or in word2vec's
    binary format, which is told by the name (`.bin`) or by what is in it; either may be packed as
    `.gz`. Of a word that comes twice the first one counts. A last word such as
    `<tokenize:ja-mecab>`, as `write_vectors` writes it, tells the rule.
    """
    words, numbers = read_table(path)
    tokenize = None
    if len(words) > 1 and (found := _NOTE.fullmatch(words[-1])) and found[1] in WORD_RULES:
        tokenize = found[1]
        words, numbers = words[:-1], numbers[:-1]
    firsts: dict[str, int] = {}
    for row, word in enumerate(words):
        firsts.setdefault(word, row)
    if len(firsts) < len(words):
        numbers = numbers[list(firsts.values())]
    return WordVectors({word: row for row, word in enumerate(firsts)}, numbers, tokenize)


def write_vectors(vectors: WordVectors, path: str | PathLike[str]) -> None:
    """Write word vectors as they were trained or read, whole or not at all.

    The format is word2vec's binary one where the name ends in `.bin`, else GloVe's text format;
    either is packed where the name ends in `.gz` after that. Neither format has a place for notes:
    where words are not those of the default rule, a last word with a vector of zeros says whose.
    """
    words = sorted(vectors.rows, key=vectors.rows.__getitem__)
    numbers = np.asarray(vectors.raw, np.float32)
    if vectors.tokenize not in (None, "words"):
        words.append(f"<tokenize:{vectors.tokenize}>")
        numbers = np.vstack((numbers, np.zeros(vectors.dimension, np.float32)))
    write_table(words, numbers, path)


def _unit(vectors: Singles | Array) -> Array:
    made = vectors.astype(np.float64)
    lengths = np.linalg.norm(made, axis=1, keepdims=True)
    scaled: Array = np.divide(made, lengths, out=made, where=lengths > 0)
    return scaled
