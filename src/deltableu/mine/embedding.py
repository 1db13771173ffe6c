"""Cosine of text vectors of logged pairs and items, on utterance, response or both."""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Bytes, Ints, Singles
from deltableu.errors import InputError, check_choice
from deltableu.mine.bm25 import Field, Product, product_factors
from deltableu.mine.rows import LogRows, Queries
from deltableu.mine.similarity import Candidates
from deltableu.text import TextVectors, dot_products

_kernel = _kernels.load("mine._embed")


#: LogRows that are multiplied at once, and candidates that are collected before the heaps see them.
_STEP, _FIRST_STEP = 2048, 128
_CAPACITY = 1 << 15


@dataclass(frozen=True, slots=True)
class Embedding:
    """Cosine of text vectors as a similarity of logged pairs and items.

    Parameters
    ----------
    source : TextVectors
        Averages of word vectors (`WordAverages`), or a sentence encoder (`Encoder`).
    on : {"utterance", "both", "response"}
        Utterances alone find more diverse responses (Tsuta et al. 2020).
    product : {"damped", "plain"}
        On both: s_u * (alpha * s_r + (1 - alpha) * epsilon), or s_u * s_r.
    alpha, epsilon : float
        Settings of the damped product.

    References
    ----------
    Tsuta, Yoshinaga and Toyoda (2020). uBLEU: uncertainty-aware automatic evaluation method for
    open-domain dialogue systems.
    """

    source: TextVectors
    on: Field = "utterance"
    product: Product = "damped"
    alpha: float = 0.5
    epsilon: float = 0.1

    def __post_init__(self) -> None:
        for name, choices in (("on", Field), ("product", Product)):
            check_choice(name, getattr(self, name), get_args(choices))
        if not 0.0 <= self.alpha <= 1.0:
            raise InputError(f"alpha must lie in [0, 1], got {self.alpha}")
        if not 0.0 <= self.epsilon < np.inf:
            raise InputError(f"epsilon must be 0 or more, got {self.epsilon}")

    @property
    def signature(self) -> str:
        """All that scores depend on, in one line."""
        parts = ["cosine", self.source.signature, f"on:{self.on}"]
        if self.on == "both":
            parts.append(f"product:{self.product}")
            if self.product == "damped":
                parts += [f"alpha:{self.alpha!r}", f"epsilon:{self.epsilon!r}"]
        return "|".join(parts)

    @property
    def own_threads(self) -> bool:
        """Whether several partitions at once would only stand in each other's way."""
        return self.source.own_threads

    @property
    def tokenize(self) -> str | None:
        """What a word is, where the source cuts texts into words."""
        return getattr(self.source, "tokenize", None)

    def counter(self, queries: Queries) -> EmbeddingCounter:
        """What goes over the logs first: what the vectors of the queries need of them."""
        return EmbeddingCounter(self, queries)


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingCounter:
    """Cosines need no statistics of the log."""

    settings: Embedding
    queries: Queries

    def empty(self) -> Ints:
        return np.zeros(0, np.int64)

    def count(self, rows: LogRows) -> Ints:
        return self.empty()

    def add(self, sums: Ints, more: Ints) -> Ints:
        sums += more
        return sums

    def scorer(self, sums: Ints) -> EmbeddingScorer:
        settings, source = self.settings, self.settings.source
        texts = {
            "utterances": self.queries.utterance_texts,
            "responses": self.queries.response_texts,
        }
        names = tuple(name for name in texts if settings.on in ("both", name.removesuffix("s")))
        queries = tuple(
            np.ascontiguousarray(source.vectors(texts[name]), np.float64) for name in names
        )
        singles = tuple(np.ascontiguousarray(one.T, np.float32) for one in queries)
        factors = product_factors(settings.product, settings.alpha, settings.epsilon)
        return EmbeddingScorer(source, names, queries, singles, *factors)


@dataclass(frozen=True, slots=True, eq=False)
class EmbeddingScorer:
    """Matrix products of single precision find who might matter; double precision decides.

    The score is `s1 * (slope * s2 + constant)`, s1 and s2 being cosines of the named fields; of one
    field it is s1.
    """

    source: TextVectors
    names: tuple[str, ...]
    queries: tuple[Array, ...]
    singles: tuple[Singles, ...]
    slope: float
    constant: float

    def candidates(
        self,
        rows: LogRows,
        begin: int,
        admitted: Bytes,
        thresholds: Array,
    ) -> Candidates:
        # Until most heaps are full nearly all is a candidate, and products would be in vain.
        step = _STEP if np.count_nonzero(thresholds) * 2 > len(thresholds) else _FIRST_STEP
        end = min(len(rows), begin + step)
        texts = (getattr(rows.block, name) for name in self.names)
        part = [self.source.vectors(one.choose(slice(begin, end))) for one in texts]
        rough = self._rough(part)
        limits = (thresholds - self._slack()).astype(np.float32)
        capacity = _CAPACITY + len(thresholds)
        chosen = _buffer("chosen", (capacity,), np.int64)
        items = _buffer("items", (capacity,), np.int32)
        done = np.empty(1, np.int64)
        count = _kernel.find_over(rough, limits, admitted[begin:end], chosen, items, done)
        chosen, items = chosen[:count], items[:count]
        scores = self._exact(part, chosen, items)
        kept = scores > thresholds[items]
        return Candidates(items[kept], chosen[kept] + begin, scores[kept], begin + int(done[0]))

    def _slack(self) -> float:
        """How far a rough score may be below the exact one: all vectors have length 1 or 0."""
        one = 2.0**-23 * (int(self.queries[0].shape[1]) + 8)
        return one if len(self.names) == 1 else one * (2.0 * self.slope + self.constant + 1.0)

    def _rough(self, part: Sequence[Array | Singles]) -> Singles:
        products = []
        for name, mine, query in zip(self.names, part, self.singles, strict=True):
            out = _buffer(name, (len(mine), query.shape[1]), np.float32)
            products.append(np.matmul(mine.astype(np.float32, copy=False), query, out=out))
        if len(products) == 2:
            products[1] *= np.float32(self.slope)
            products[1] += np.float32(self.constant)
            products[0] *= products[1]
        rough: Singles = products[0]
        return rough

    def _exact(self, part: Sequence[Array | Singles], chosen: Any, items: Any) -> Array:
        rows, places = np.unique(chosen, return_inverse=True)
        exact = []
        for mine, query in zip(part, self.queries, strict=True):
            left = mine[rows].astype(np.float64, copy=False)
            exact.append(dot_products(left, query, places.astype(np.int64), items))
        if len(exact) == 1:
            return exact[0]
        return np.asarray(exact[0] * (self.slope * exact[1] + self.constant))


_thread = threading.local()


def _buffer(name: str, shape: tuple[int, ...], kind: type) -> Any:
    """Memory that this thread uses again: fresh memory costs as much as the product itself."""
    size = math.prod(shape)
    have = getattr(_thread, name, None)
    if have is None or have.size < size:
        have = np.empty(size, kind)
        setattr(_thread, name, have)
    return have[:size].reshape(shape)
