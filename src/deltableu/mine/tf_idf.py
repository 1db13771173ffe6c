"""Cosine of TF-IDF vectors of logged utterances (or responses) and items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from deltableu._types import Array, Bytes, Ints, Ints32, Keys
from deltableu.errors import check_choice
from deltableu.mine.rows import LogRows, Queries
from deltableu.mine.similarity import Candidates
from deltableu.text import TokenArrays, WordNumbers, empty_keys, halves, key_order, lanes, rarity

OneField = Literal["utterance", "response"]

#: Rows that are multiplied at once: few while nearly all is a candidate.
_STEP, _FIRST_STEP = 2048, 128
#: Counts begin with the rows, and with how many words have been put together.
_HEAD = 2
#: Words that are at most waiting before they are put together with the others.
_WAITING = 1 << 16


@dataclass(frozen=True, slots=True)
class TfIdf:
    """Cosine of TF-IDF vectors as a similarity of logged pairs and items.

    A word counts as often as it occurs, times log((n + 1) / (rows with it + 1)); n is the number of
    rows of the log. All words of a text count in its length, also those that no item has.

    Parameters
    ----------
    on : {"utterance", "response"}

    References
    ----------
    Liu, Lowe, Serban, Noseworthy, Charlin and Pineau (2016). How NOT to evaluate your dialogue
    system: an empirical study of unsupervised evaluation metrics for dialogue response generation.
    """

    on: OneField = "utterance"

    def __post_init__(self) -> None:
        check_choice("on", self.on, get_args(OneField))

    @property
    def signature(self) -> str:
        """All that scores depend on, in one line."""
        return f"tf-idf|on:{self.on}"

    @property
    def own_threads(self) -> bool:
        """One core scores a partition."""
        return False

    def counter(self, queries: Queries) -> TfIdfCounter:
        """What goes over the logs first: in how many texts each word of the queries occurs."""
        words = queries.utterances if self.on == "utterance" else queries.responses
        return TfIdfCounter(self.on, words)


@dataclass(frozen=True, slots=True, eq=False)
class TfIdfCounter:
    """Counts rows, and the rows that have each word: of all words, so that counts grow with them.

    Counts are the rows, how many words were put together, and of every word both numbers of its key
    and its rows; a word may be there again among those that wait to be put together.
    """

    on: OneField
    queries: TokenArrays

    def empty(self) -> Ints:
        return np.zeros(_HEAD, np.int64)

    def count(self, rows: LogRows) -> Ints:
        words = _words(rows, self.on)
        table = WordNumbers.of(empty_keys(0))
        numbers, places = table.add(words.keys)
        row = np.repeat(np.arange(len(rows)), np.diff(words.bounds))
        once = np.unique(row * max(table.size, 1) + numbers)
        having = np.bincount(once % max(table.size, 1), minlength=table.size)
        return _counts(len(rows), 0, words.keys[places], having)

    def add(self, sums: Ints, more: Ints) -> Ints:
        joined = np.concatenate((sums, more[_HEAD:]))
        joined[0] += more[0]
        size = (len(joined) - _HEAD) // 3
        return _together(joined) if size > 2 * int(sums[1]) + _WAITING else joined

    def scorer(self, sums: Ints) -> TfIdfScorer:
        n = int(sums[0])
        keys, having = _entries(_together(sums))
        asked = np.unique(self.queries.keys)
        # Whatever else is in the log is in one row: half of all words need no place in the table.
        often = having > 1
        rare = WordNumbers.of(keys[~often]).has(asked)
        vocabulary = WordNumbers.of(keys[often])
        vocabulary.add(asked)
        seen = np.zeros(vocabulary.size, np.int64)
        seen[: int(often.sum())] = having[often]
        seen[vocabulary.find(asked[rare])] = 1
        idf = rarity(seen, n)
        vectors = _vectors(self.queries, vocabulary, idf, 0.0)
        (other,) = rarity(np.ones(1), n).tolist()
        return TfIdfScorer(self.on, vocabulary, idf, other, vectors.T.tocsr())


def _words(rows: LogRows, on: OneField) -> TokenArrays:
    return rows.utterances if on == "utterance" else rows.responses


def _counts(rows: int, together: int, keys: Keys, having: Ints) -> Ints:
    found = np.empty(_HEAD + 3 * len(keys), np.int64)
    found[:_HEAD] = rows, together
    entries = found[_HEAD:].reshape(-1, 3)
    entries[:, :2] = lanes(np.ascontiguousarray(keys)).view(np.int64).reshape(-1, 2)
    entries[:, 2] = having
    return found


def _entries(sums: Ints) -> tuple[Keys, Ints]:
    """The words, and how many rows have each."""
    entries = sums[_HEAD:].reshape(-1, 3)
    keys = empty_keys(len(entries))
    lanes(keys).reshape(-1, 2)[:] = entries[:, :2].view(np.uint64)
    return keys, entries[:, 2]


def _together(sums: Ints) -> Ints:
    """The same counts, each word once, in the order of keys."""
    keys, having = _entries(sums)
    if not len(keys):
        return sums
    order = key_order(keys)
    keys, having = keys[order], having[order]
    new = np.ones(len(keys), np.bool_)
    first, second = halves(keys)
    new[1:] = (first[1:] != first[:-1]) | (second[1:] != second[:-1])
    starts = np.flatnonzero(new)
    return _counts(int(sums[0]), len(starts), keys[starts], np.add.reduceat(having, starts))


def _vectors(words: TokenArrays, vocabulary: WordNumbers, idf: Array, other: float) -> Any:
    """Texts x words of the vocabulary, as scipy's sparse rows of length 1.

    Words beyond the vocabulary have the idf `other` and count in the length alone. All sums go by
    the numbers of words, so that the vector of a text does not depend on what stands beside it, and
    texts of the same words have the same vector to the last bit.
    """
    from scipy.sparse import csr_array

    texts = len(words.bounds) - 1
    numbers = vocabulary.find(words.keys).astype(np.int64)
    (unknown,) = np.nonzero(numbers < 0)
    others = WordNumbers.of(empty_keys(0))
    numbers[unknown] = others.add(words.keys[unknown])[0] + np.int64(vocabulary.size)
    columns = vocabulary.size + others.size
    counts = csr_array((np.ones(len(numbers)), numbers, words.bounds.copy()), (texts, columns))
    counts.sum_duplicates()
    row = np.repeat(np.arange(texts), np.diff(counts.indptr))
    known = counts.indices < vocabulary.size
    beyond = np.bincount(row[~known], counts.data[~known] ** 2, minlength=texts)
    row, columns_known = row[known], counts.indices[known]
    weights = counts.data[known] * idf[columns_known]
    squares = np.bincount(row, weights**2, minlength=texts) + other**2 * beyond
    squares[squares == 0.0] = 1.0
    bounds = np.searchsorted(row, np.arange(texts + 1))
    values = weights / np.sqrt(squares)[row]
    return csr_array((values, columns_known, bounds), (texts, vocabulary.size))


@dataclass(frozen=True, slots=True, eq=False)
class TfIdfScorer:
    """Products of sparse vectors in double precision.

    Attributes
    ----------
    on : {"utterance", "response"}
    vocabulary : WordNumbers
        Words of items, and those that several rows have.
    idf : array
        Of each word of the vocabulary.
    other : float
        The idf of all other words.
    queries : scipy.sparse.csr_array
        Words x items.
    """

    on: OneField
    vocabulary: WordNumbers
    idf: Array
    other: float
    queries: Any

    def candidates(
        self,
        rows: LogRows,
        begin: int,
        admitted: Bytes,
        thresholds: Array,
    ) -> Candidates:
        # Until most heaps are full nearly all is a candidate.
        step = _STEP if np.count_nonzero(thresholds) * 2 > len(thresholds) else _FIRST_STEP
        end = min(len(rows), begin + step)
        words = _words(rows, self.on)
        bounds = words.bounds[begin : end + 1]
        part = TokenArrays(words.keys[bounds[0] : bounds[-1]], bounds - bounds[0])
        vectors = _vectors(part, self.vocabulary, self.idf, self.other)
        products = vectors @ self.queries
        row = np.repeat(np.arange(begin, end), np.diff(products.indptr))
        kept = (products.data > thresholds[products.indices]) & (admitted[row] == 1)
        items: Ints32 = products.indices[kept].astype(np.int32)
        return Candidates(items, row[kept], products.data[kept], end)
