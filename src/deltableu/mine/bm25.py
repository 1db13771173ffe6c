"""BM25 of logged pairs and items, on utterance, response or both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Bytes, Ints, Ints32
from deltableu.errors import InputError, check_choice
from deltableu.mine.rows import LogRows, Queries
from deltableu.mine.similarity import Candidates
from deltableu.mine.upper_bounds import UpperBounds, padded
from deltableu.text import TokenArrays, WordNumbers, lanes

_kernel = _kernels.load("mine._join")

Field = Literal["utterance", "response", "both"]
Idf = Literal["lucene", "robertson", "atire"]
Product = Literal["damped", "plain"]


#: Candidates that are collected before the heaps see them.
_CAPACITY = 1 << 16

_IDF: dict[str, Callable[[Array, int], Array]] = {
    "lucene": lambda rows, n: np.log1p((n - rows + 0.5) / (rows + 0.5)),
    "robertson": lambda rows, n: np.log(np.maximum((n - rows + 0.5) / (rows + 0.5), 1.0)),
    "atire": lambda rows, n: np.log(n / rows),
}


def product_factors(product: Product, alpha: float, epsilon: float) -> tuple[float, float]:
    """The slope and constant of `s_u * (slope * s_r + constant)`."""
    return (alpha, (1.0 - alpha) * epsilon) if product == "damped" else (1.0, 0.0)


@dataclass(frozen=True, slots=True)
class BM25:
    """BM25 (Robertson et al. 1995) as a similarity of logged pairs and items.

    A query is an item's message, or its response; a document is a logged utterance, or the
    response to it. On both, the two scores are multiplied.

    Parameters
    ----------
    on : {"both", "utterance", "response"}
    k1, b : float
        How soon repeated words stop to count, and how much long texts lose.
    idf : {"lucene", "robertson", "atire"}
        The variants of Kamphuis et al. (2020). Robertson's is at least 0; ATIRE's term frequency
        part has the factor k1 + 1.
    product : {"damped", "plain"}
        s_u * (alpha * s_r + (1 - alpha) * epsilon), or s_u * s_r.
    alpha, epsilon : float
        Settings of the damped product. With it, a pair whose response is quite different can be
        found.

    References
    ----------
    Robertson, Walker, Jones, Hancock-Beaulieu and Gatford (1995). Okapi at TREC-3.
    Sordoni et al. (2015). A neural network approach to context-sensitive generation.
    Kamphuis, de Vries, Boytsov and Lin (2020). Which BM25 do you mean?
    """

    on: Field = "both"
    k1: float = 1.5
    b: float = 0.75
    idf: Idf = "lucene"
    product: Product = "damped"
    alpha: float = 0.5
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        for name, choices in (("on", Field), ("idf", Idf), ("product", Product)):
            check_choice(name, getattr(self, name), get_args(choices))
        if not 0.0 <= self.k1 < np.inf:
            raise InputError(f"k1 must be 0 or more, got {self.k1}")
        for name in ("b", "alpha"):
            if not 0.0 <= getattr(self, name) <= 1.0:
                raise InputError(f"{name} must lie in [0, 1], got {getattr(self, name)}")
        if not 0.0 <= self.epsilon < np.inf:
            raise InputError(f"epsilon must be 0 or more, got {self.epsilon}")

    @property
    def signature(self) -> str:
        """All that scores depend on, in one line."""
        parts = ["bm25", f"on:{self.on}"]
        if self.on == "both":
            parts.append(f"product:{self.product}")
            if self.product == "damped":
                parts += [f"alpha:{self.alpha!r}", f"epsilon:{self.epsilon!r}"]
        return "|".join((*parts, f"k1:{self.k1!r}", f"b:{self.b!r}", f"idf:{self.idf}"))

    @property
    def own_threads(self) -> bool:
        """One core scores a partition."""
        return False

    def counter(self, queries: Queries) -> Bm25Counter:
        """What goes over the logs first: how often the words of the queries occur."""
        words = (queries.utterances.keys, queries.responses.keys)
        return Bm25Counter(self, queries, WordNumbers.of(np.unique(np.concatenate(words))))


@dataclass(frozen=True, slots=True, eq=False)
class Bm25Counter:
    """Counts rows, words of both fields, and the rows that have a query's word in each field."""

    settings: BM25
    queries: Queries
    vocabulary: WordNumbers

    def empty(self) -> Ints:
        return np.zeros(3 + 2 * self.vocabulary.size, np.int64)

    def count(self, rows: LogRows) -> Ints:
        sums = self.empty()
        sums[0] = len(rows)
        for field, (name, begin) in enumerate(
            (("utterance", 3), ("response", 3 + self.vocabulary.size))
        ):
            if self.settings.on in (name, "both"):
                words = rows.utterances if name == "utterance" else rows.responses
                sums[1 + field] = len(words.keys)
                sums[begin : begin + self.vocabulary.size] = self._rows_with(words)
        return sums

    def add(self, sums: Ints, more: Ints) -> Ints:
        sums += more
        return sums

    def _rows_with(self, words: TokenArrays) -> Ints:
        """How many texts have each term."""
        vocabulary = self.vocabulary
        rows = np.zeros(vocabulary.size, np.int64)
        last = np.full(vocabulary.size, -1, np.int64)
        _kernel.count_rows(
            lanes(words.keys), words.bounds, vocabulary.slots, vocabulary.numbers, last, rows
        )
        return rows

    def scorer(self, sums: Ints) -> Bm25Scorer:
        settings, size = self.settings, self.vocabulary.size
        n = int(sums[0])
        utterance, response = (
            FieldQueries.of(
                settings, words, self.vocabulary, sums[begin : begin + size], n, int(sums[field])
            )
            for words, begin, field in (
                (self.queries.utterances, 3, 1),
                (self.queries.responses, 3 + size, 2),
            )
        )
        if settings.on == "response":
            return Bm25Scorer.of(self.vocabulary, response, utterance, "response", 0.0, 1.0)
        factors = 0.0, 1.0
        if settings.on == "both":
            factors = product_factors(settings.product, settings.alpha, settings.epsilon)
        return Bm25Scorer.of(self.vocabulary, utterance, response, "utterance", *factors)


@dataclass(frozen=True, slots=True, eq=False)
class FieldQueries:
    """The queries to one field, by item.

    Attributes
    ----------
    bounds, terms, weights : array
        Item i has terms `bounds[i]` to `bounds[i + 1]`, in the order of its words.
    totals : array
        The sum of each item's weights.
    shape : array
        k1 * (1 - b), k1 * b / average length, and the factor of the term frequency part.
    average : float
        The average length.
    """

    bounds: Ints
    terms: Ints32
    weights: Array
    totals: Array
    shape: Array
    average: float

    @classmethod
    def of(
        cls,
        settings: BM25,
        words: TokenArrays,
        vocabulary: WordNumbers,
        rows: Ints,
        n: int,
        length: int,
    ) -> FieldQueries:
        """`rows` of the `n` rows have each term; together they have `length` words."""
        seen = np.maximum(rows, 1).astype(np.float64)
        idf = np.where(rows > 0, _IDF[settings.idf](seen, n), 0.0)
        all_terms = vocabulary.find(words.keys)
        count = len(words.bounds) - 1
        item = np.repeat(np.arange(count), np.diff(words.bounds))
        # A term that a query repeats counts as often, at its first place.
        _, first, times = np.unique(
            item * vocabulary.size + all_terms, return_index=True, return_counts=True
        )
        order = np.argsort(first)
        places = first[order]
        terms, items = all_terms[places], item[places]
        weights = idf[terms] * times[order]
        factor = settings.k1 + 1.0 if settings.idf == "atire" else 1.0
        average = length / n if length else 1.0
        slope = settings.k1 * settings.b / average
        return cls(
            np.searchsorted(items, np.arange(count + 1)).astype(np.int64),
            terms,
            weights,
            np.bincount(items, weights, minlength=count).astype(np.float64, copy=False),
            np.array((settings.k1 * (1.0 - settings.b), slope, factor)),
            average,
        )

    def arrays(self) -> tuple[np.ndarray[Any, Any], ...]:
        """As the kernel takes them."""
        return self.shape, self.bounds, self.terms, self.weights


@dataclass(frozen=True, slots=True, eq=False)
class Bm25Scorer:
    """Scores rows against all items.

    The score is `s1 * (slope * s2 + constant)`, s1 being BM25 of the field `first_name`.
    """

    vocabulary: WordNumbers
    first: FieldQueries
    second: FieldQueries
    bounds: UpperBounds
    first_name: Literal["utterance", "response"]
    slope: float
    constant: float

    @classmethod
    def of(
        cls,
        vocabulary: WordNumbers,
        first: FieldQueries,
        second: FieldQueries,
        first_name: Literal["utterance", "response"],
        slope: float,
        constant: float,
    ) -> Bm25Scorer:
        bounds = UpperBounds.of(first, second, vocabulary.size, slope, constant)
        return cls(vocabulary, first, second, bounds, first_name, slope, constant)

    def candidates(
        self,
        rows: LogRows,
        begin: int,
        admitted: Bytes,
        thresholds: Array,
    ) -> Candidates:
        items, size = len(thresholds), self.vocabulary.size
        capacity = items + _CAPACITY
        found_items = np.empty(capacity, np.int32)
        found_rows = np.empty(capacity, np.int64)
        found_scores = np.empty(capacity, np.float64)
        done = np.empty(1, np.int64)
        words = rows.utterances if self.first_name == "utterance" else rows.responses
        others = rows.responses if self.slope else words
        lacks = np.empty(padded(items), np.uint8)
        bounds, dense = self.bounds.arrays(thresholds)
        count = _kernel.score_rows(
            begin,
            len(rows),
            admitted,
            self.vocabulary.slots,
            self.vocabulary.numbers,
            lanes(words.keys),
            words.bounds,
            *self.first.arrays(),
            lanes(others.keys),
            others.bounds,
            *self.second.arrays(),
            self.second.totals,
            self.slope,
            self.constant,
            *bounds,
            thresholds,
            np.zeros(size),
            np.zeros(size),
            np.empty(size, np.int32),
            np.empty(size, np.int32),
            np.empty(2),
            np.empty(2),
            lacks,
            lacks.view(np.uint64),
            np.empty(dense + 4, np.int32),
            np.empty((2 * size + 1, 2), np.int64),
            np.empty(2, np.int32),
            np.empty(items + 1, np.int32),
            found_items,
            found_rows,
            found_scores,
            done,
        )
        return Candidates(
            found_items[:count], found_rows[:count], found_scores[:count], int(done[0])
        )
