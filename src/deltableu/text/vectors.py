"""Word vectors from a text file, and the vector of a text."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np

from deltableu.corpus.files import read_lines
from deltableu.errors import InputError, Problem

__all__ = ["WordVectors", "read_vectors"]

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class WordVectors:
    """Unit vectors of words."""

    rows: dict[str, int]
    matrix: Array

    def digest(self) -> str:
        """A short hash of words and numbers, for signatures."""
        made = hashlib.blake2b("\n".join(self.rows).encode(), digest_size=4)
        made.update(self.matrix.astype("<f8", copy=False).tobytes())
        return made.hexdigest()

    def text_vectors(self, texts: Sequence[Sequence[str]]) -> Array:
        """The mean of the vectors of each text's known words, scaled to length 1; 0 for none."""
        result = np.zeros((len(texts), self.matrix.shape[1]))
        for number, words in enumerate(texts):
            known = [self.rows[word] for word in words if word in self.rows]
            if known:
                result[number] = self.matrix[known].mean(axis=0)
        lengths = np.linalg.norm(result, axis=1, keepdims=True)
        scaled: Array = np.divide(result, lengths, out=result, where=lengths > 0)
        return scaled


def read_vectors(path: str | PathLike[str]) -> WordVectors:
    """Read vectors from GloVe's text format: a word and its numbers a line, one size for all.

    A first line with two whole numbers (word2vec's text format) is passed over.
    """
    rows: dict[str, int] = {}
    vectors: list[Array] = []
    for line, text in read_lines(path):
        parts = text.rstrip(" ").split(" ")
        if line == 1 and len(parts) == 2 and all(part.isdigit() for part in parts):
            continue
        try:
            vector = np.array(parts[1:], dtype=np.float64)
        except ValueError:
            problem = Problem("holds something that is no number", file=str(path), line=line)
            raise InputError(problem) from None
        if not len(vector) or not np.isfinite(vector).all():
            raise InputError(Problem("holds no vector", file=str(path), line=line))
        if vectors and len(vector) != len(vectors[0]):
            message = f"has {len(vector)} numbers, but the first word has {len(vectors[0])}"
            raise InputError(Problem(message, file=str(path), line=line))
        if rows.setdefault(parts[0], len(vectors)) == len(vectors):
            vectors.append(vector)
    if not vectors:
        raise InputError(Problem("holds no word vectors", file=str(path)))
    matrix = np.stack(vectors)
    lengths = np.linalg.norm(matrix, axis=1, keepdims=True)
    return WordVectors(rows, np.divide(matrix, lengths, out=matrix, where=lengths > 0))
