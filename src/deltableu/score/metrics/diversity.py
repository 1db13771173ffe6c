"""How diverse and how long the hypotheses are, as DSTC7 reports it; references play no part."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from math import inf
from typing import ClassVar

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.corpus import ReferenceSet
from deltableu.score.engine.chunks import ReferenceInfo
from deltableu.score.engine.ngrams import as_reference_set
from deltableu.score.engine.pooled import PooledMetric, TokenSettings
from deltableu.score.engine.segment_metric import PreparedReferences, ReferenceMetric, SegmentMetric
from deltableu.score.metric import Need
from deltableu.score.results import Signature

__all__ = [
    "Distinct",
    "Distinct1",
    "Distinct2",
    "Entropy",
    "Entropy1",
    "Entropy2",
    "Entropy3",
    "Entropy4",
    "Length",
    "ReferenceFree",
    "without_references",
]


def without_references(references: ReferenceSet) -> ReferenceSet:
    """The same items with an empty text for references, whether they have any or not."""
    texts = [("",)] * len(references.texts)
    return replace(references, texts=texts, weights=None, originals=None, selection="none")


class ReferenceFree(ReferenceMetric):
    """A metric that takes no more from the references than how many items there are."""

    needs: ClassVar[frozenset[Need]] = frozenset()

    def encode(
        self,
        references: ReferenceSet | Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> PreparedReferences:
        """Count the items; they need not have references."""
        return super().encode(without_references(as_reference_set(references, weights)))

    @property
    def encoding_key(self) -> Hashable:
        # Only with each other: the list that other metrics share has the references in it.
        return "items"

    def signature(self, info: ReferenceInfo) -> Signature:
        """Settings and version: scores stay comparable whatever the references are."""
        parts = super().signature(info).parts
        return Signature(tuple(p for p in parts if p[0] not in ("refs", "select", "refhash")))


@dataclass(frozen=True, kw_only=True)
class Distinct(ReferenceFree, PooledMetric):
    """Different n-grams per hundred n-grams of all hypotheses; subclasses give the order.

    The more hypotheses there are the lower it is: compare systems on the same items only. Intervals
    come from the jackknife, since resampled corpora repeat hypotheses.

    Parameters
    ----------
    tokenize, lowercase, normalize, strip_punctuation
        See `deltableu.text.Tokenizer`.

    References
    ----------
    Li et al. 2016, "A Diversity-Promoting Objective Function for Neural Conversation Models".

    Examples
    --------
    >>> rows = Distinct1().compute(["i do", "i do not"], [["yes"], ["no"]])
    >>> rows.score().score
    60.0
    """

    # Diversity is a property of a set of texts.
    has_segments: ClassVar[bool] = False

    def value(self, counts: Ints | Array) -> Array:
        return (counts > 0).astype(np.float64)

    def combine(self, values: Array, totals: Array) -> Array:
        return 100.0 * values / np.maximum(totals, 1)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return self.text_settings()


class Distinct1(Distinct):
    """Different unigrams per hundred; see `Distinct`."""

    name: ClassVar[str] = "distinct-1"
    summary: ClassVar[str] = "different words among all words of a system (Li et al. 2016)"
    ngram: ClassVar[int] = 1


class Distinct2(Distinct):
    """Different bigrams per hundred; see `Distinct`."""

    name: ClassVar[str] = "distinct-2"
    summary: ClassVar[str] = "different bigrams among all bigrams of a system (Li et al. 2016)"
    ngram: ClassVar[int] = 2


@dataclass(frozen=True, kw_only=True)
class Entropy(ReferenceFree, PooledMetric):
    """Entropy, in nats, of the n-grams of all hypotheses; subclasses give the order.

    Few hypotheses cannot have a high one: compare systems on the same items only. Intervals come
    from the jackknife, since resampled corpora repeat hypotheses.

    Parameters
    ----------
    tokenize, lowercase, normalize, strip_punctuation
        See `deltableu.text.Tokenizer`.

    References
    ----------
    Zhang et al. 2018, "Generating Informative and Diverse Conversational Responses via Adversarial
    Information Maximization". Galley et al. 2019, "Grounded Response Generation Task at DSTC7".

    Examples
    --------
    >>> rows = Entropy1().compute(["a b", "a b"], [["yes"], ["no"]])
    >>> round(rows.score().score, 4)  # log 2
    0.6931
    """

    limits: ClassVar[tuple[float, float]] = (0.0, inf)
    has_segments: ClassVar[bool] = False

    def value(self, counts: Ints | Array) -> Array:
        return np.asarray(counts * np.log(np.maximum(counts, 1)), dtype=np.float64)

    def combine(self, values: Array, totals: Array) -> Array:
        # -sum of c/t log(c/t) is log t - (sum of c log c)/t; rounding may leave less than 0.
        some = np.maximum(totals, 1)
        return np.maximum(np.log(some) - values / some, 0.0)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return self.text_settings()


class Entropy1(Entropy):
    """Entropy of unigrams; see `Entropy`."""

    name: ClassVar[str] = "entropy-1"
    summary: ClassVar[str] = "entropy of a system's words, in nats"
    ngram: ClassVar[int] = 1


class Entropy2(Entropy):
    """Entropy of bigrams; see `Entropy`."""

    name: ClassVar[str] = "entropy-2"
    summary: ClassVar[str] = "entropy of a system's bigrams, in nats"
    ngram: ClassVar[int] = 2


class Entropy3(Entropy):
    """Entropy of trigrams; see `Entropy`."""

    name: ClassVar[str] = "entropy-3"
    summary: ClassVar[str] = "entropy of a system's trigrams, in nats"
    ngram: ClassVar[int] = 3


class Entropy4(Entropy):
    """Entropy of 4-grams; see `Entropy`."""

    name: ClassVar[str] = "entropy-4"
    summary: ClassVar[str] = "entropy of a system's 4-grams, in nats"
    ngram: ClassVar[int] = 4


@dataclass(frozen=True, kw_only=True)
class Length(ReferenceFree, TokenSettings, SegmentMetric):
    """Mean number of tokens: a metric that cannot beat it has learned to count words.

    Parameters
    ----------
    tokenize, lowercase, normalize, strip_punctuation
        See `deltableu.text.Tokenizer`.

    References
    ----------
    Galley et al. 2019, "Grounded Response Generation Task at DSTC7".

    Examples
    --------
    >>> rows = Length().compute(["i do", "i do not !"], [["yes"], ["no"]])
    >>> rows.score().score, rows.segment_scores().tolist()
    (3.0, [2.0, 4.0])
    """

    name: ClassVar[str] = "length"
    summary: ClassVar[str] = "mean number of tokens (a sentinel: every metric should beat it)"
    limits: ClassVar[tuple[float, float]] = (0.0, inf)

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        return np.diff(self.hash_hypotheses(hypotheses).bounds).astype(np.float64)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return self.text_settings()
