"""NIST (Doddington 2002): matches count by the information that they carry."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import inf, log
from typing import ClassVar

import numpy as np

from deltableu._types import Array, Ints
from deltableu.score.engine.ngram_counts import NgramCounts, count_ngrams, find, sum_by
from deltableu.score.engine.ordered_metric import OrderedMetric
from deltableu.score.engine.overlap import ngram_counts
from deltableu.score.engine.segment_metric import PreparedReferences, ReferenceMetric
from deltableu.text import TokenArrays

#: The factor is 1/2 for hypotheses of 2/3 of the reference length.
_BETA = -log(2.0) / log(1.5) ** 2


@dataclass(frozen=True, slots=True)
class _ReferenceNgrams:
    """The n-grams of one order: their information, and how often each item's references have them.

    Entry k says that some reference of item `keys[k] // ngrams.different` has the n-gram
    `keys[k] % ngrams.different` `most[k]` times, and none has it more often.
    """

    ngrams: NgramCounts
    information: Array
    keys: Ints
    most: Ints


@dataclass(frozen=True, slots=True)
class _References:
    orders: tuple[_ReferenceNgrams, ...]
    mean_lengths: Array


@dataclass(frozen=True, kw_only=True)
class NIST(OrderedMetric, ReferenceMetric):
    """Information of the matched n-grams per n-gram, summed over the orders.

    The information of w_1 ... w_n is log2 of how often w_1 ... w_{n-1} occurs in the references of
    all items (all their words, for a unigram) per occurrence of w_1 ... w_n. As in NIST's mteval,
    matches are clipped to the reference that has the n-gram most often, and the brevity factor
    compares with the mean length of an item's references. The score has no upper limit.

    Parameters
    ----------
    order : int
        Longest n-gram.
    tokenize, lowercase, normalize, strip_punctuation
        See `deltableu.text.Tokenizer`. mteval lower-cases.

    Notes
    -----
    A subset or a resampled corpus keeps the information of all references that were encoded.

    References
    ----------
    Doddington 2002, "Automatic Evaluation of Machine Translation Quality Using N-gram
    Co-Occurrence Statistics", Eq. 2-3.

    Examples
    --------
    >>> metric = NIST(order=2)
    >>> rows = metric.compute(["a b", "c d"], [["a b"], ["c e"]])
    >>> rows.score().score  # unigrams 3 of 4 with 2 bits each, bigrams 1 of 2 with none
    1.5
    """

    family: ClassVar[str] = "nist"
    summary: ClassVar[str] = "matches weighted by their information (Doddington 2002)"
    limits: ClassVar[tuple[float, float]] = (0.0, inf)
    needs_all_items: ClassVar[bool] = True

    order: int = 5

    def prepare(self, prepared: PreparedReferences) -> _References:
        """Information and largest counts of all n-grams of the references."""
        flat = prepared.flat
        tokens = self.tokenizer.hash(flat.texts)
        lengths = np.add.reduceat(np.diff(tokens.bounds), flat.bounds[:-1])
        return _References(
            tuple(_reference_ngrams(tokens, flat.owners, self.order)),
            lengths / np.diff(flat.bounds),
        )

    def rows(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        """Information matched and n-grams, an order a column; mean length of the references."""
        references: _References = encoded.extra
        tokens = self.hash_hypotheses(hypotheses)
        counted = count_ngrams(tokens, self.order, [one.ngrams for one in references.orders])
        matched = [
            _matched_information(counts, known, len(hypotheses))
            for counts, known in zip(counted, references.orders, strict=True)
        ]
        totals = ngram_counts(tokens, self.order)
        return np.column_stack((*matched, totals, references.mean_lengths))

    def aggregate(self, sums: Array) -> Array:
        information, totals = sums[..., : self.order], sums[..., self.order : -1]
        score: Array = (information / np.maximum(totals, 1.0)).sum(axis=-1)
        return score * nist_brevity_factor(totals[..., 0], sums[..., -1])


def nist_brevity_factor(hypothesis_length: Array, reference_length: Array) -> Array:
    """Doddington 2002, Eq. 3: exp(beta log^2 min(length ratio, 1)); 0 for no words at all.

    Examples
    --------
    >>> nist_brevity_factor(np.array([0.0, 2.0, 4.0]), np.array([3.0, 3.0, 3.0])).round(3).tolist()
    [0.0, 0.5, 1.0]
    """
    ratio = hypothesis_length / np.maximum(reference_length, np.maximum(hypothesis_length, 1.0))
    with np.errstate(divide="ignore"):
        return np.exp(_BETA * np.log(ratio) ** 2)


def _reference_ngrams(tokens: TokenArrays, owners: Ints, order: int) -> Iterator[_ReferenceNgrams]:
    # How often the n-gram without its last word occurs, at every token where one starts.
    beginning = np.full(len(tokens.keys), float(len(tokens.keys)))
    for ngrams in count_ngrams(tokens, order):
        totals = ngrams.totals
        before = np.empty(len(totals))
        before[ngrams.occurrences] = beginning[ngrams.starts]
        beginning[ngrams.starts] = totals[ngrams.occurrences]
        every = owners[ngrams.texts] * len(totals) + ngrams.places
        keys, entries = np.unique(every, return_inverse=True)
        most = np.zeros(len(keys), dtype=np.int64)
        np.maximum.at(most, entries, ngrams.counts)
        yield _ReferenceNgrams(ngrams, np.log2(before / totals), keys, most)


def _matched_information(counts: NgramCounts, known: _ReferenceNgrams, items: int) -> Array:
    """Information of each hypothesis's clipped matches, for one order."""
    places, different = counts.places, known.ngrams.different
    entries = find(known.keys, counts.texts * different + places)
    matched = (places < different) & (entries >= 0)
    clipped = np.minimum(counts.counts[matched], known.most[entries[matched]])
    gained = known.information[places[matched]] * clipped
    return sum_by(counts.texts[matched], gained, items)
