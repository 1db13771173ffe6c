"""A metric and the candidates of an item in; the expected utility of each candidate out."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array
from deltableu.errors import InputError
from deltableu.score import (
    BLEU,
    ChrF,
    ChrFPlusPlus,
    DeltaBLEU,
    Metric,
    NgramMetric,
    SentenceBLEU,
    SignedDeltaBLEU,
    WeightedMetric,
)
from deltableu.text import TokenArrays, characters, chrf_words
from deltableu.tune.mbr_ngrams import LONGEST, CandidateNgrams

#: Pairs of texts that are scored at once, to bound memory.
_PAIRS = 16_384


class Utility(ABC):
    """Scores candidates of an item against each other; higher is better."""

    #: Whether expected counts can stand for all candidates.
    aggregates = False

    def __init__(self, metric: Metric) -> None:
        self.metric = metric

    @property
    def leaves_itself(self) -> bool:
        """Whether a candidate is no reference of its own, unless something else is asked for.

        In an expectation it is one, as in the literature. In one set of weighted references it
        would match itself completely, and the most probable candidate always win.
        """
        return "weights" in self.metric.needs

    @abstractmethod
    def prepare(self, texts: Sequence[str]) -> Prepared:
        """Encode the different texts of some items, which stand behind each other."""


class Prepared(ABC):
    """Encoded candidates of some items."""

    @abstractmethod
    def exact(self, first: int, last: int, probabilities: Array, *, leave: bool) -> Array:
        """The expected utility of texts `first` up to but not `last`, those of one item."""

    def aggregated(self, first: int, last: int, probabilities: Array, *, leave: bool) -> Array:
        """The utility of each against the expected counts of all."""
        raise NotImplementedError


def expectation(scores: Array, probabilities: Array, *, leave: bool) -> Array:
    """Means of rows of pairwise scores; with `leave` without each text itself.

    Examples
    --------
    >>> scores, probabilities = np.array([[100.0, 20.0], [30.0, 100.0]]), np.array([0.75, 0.25])
    >>> expectation(scores, probabilities, leave=False).tolist()
    [80.0, 47.5]
    >>> expectation(scores, probabilities, leave=True).tolist()
    [20.0, 30.0]
    """
    if not leave:
        return np.asarray(scores @ probabilities)
    apart = 1.0 - np.eye(len(scores))
    return np.asarray((scores * apart) @ probabilities / (apart @ probabilities))


def utility_of(metric: Metric) -> Utility:
    """How a metric compares candidates; compiled for BLEU, delta-BLEU and chrF."""
    _check(metric)
    if type(metric) in (SentenceBLEU, BLEU) and isinstance(metric, NgramMetric):
        return NgramUtility(metric)
    if type(metric) in (ChrF, ChrFPlusPlus) and isinstance(metric, ChrF):
        return ChrFUtility(metric)
    if isinstance(metric, DeltaBLEU) and _is_counted(metric):
        return DeltaBLEUUtility(metric)
    return MetricUtility(metric)


def _is_counted(metric: DeltaBLEU) -> bool:
    """Whether the kernel has the formula with these settings."""
    plain = type(metric) in (DeltaBLEU, SignedDeltaBLEU)
    return plain and metric.variant == "paper" and metric.brevity == "all"


def _check(metric: Metric) -> None:
    name = metric.name
    if "references" not in metric.needs:
        raise InputError(f"{name} compares a text with no reference, so it cannot be a utility")
    if not metric.has_segments:
        raise InputError(f"{name} scores no single texts, so it cannot be a utility")
    if "messages" in metric.needs:
        raise InputError(
            f"{name} needs the message that is answered, and candidates are compared with each "
            "other alone: choose another utility"
        )
    if isinstance(metric, WeightedMetric) and metric.neutral != 0.0:
        raise InputError(
            f"{name} counts weights from {metric.neutral}, and those of candidates are "
            "probabilities: leave neutral out"
        )
    if metric.needs_all_items:
        raise InputError(
            f"{name} weighs n-grams by how rare they are in the references of a whole corpus, "
            "which candidates of one item are not: choose another utility"
        )


class NgramUtility(Utility):
    """BLEU of sentences: each two candidates share counted n-grams."""

    aggregates = True
    metric: NgramMetric

    def prepare(self, texts: Sequence[str]) -> Prepared:
        tokens = self.metric.recipe.tokenizer.hash(texts)
        if np.diff(tokens.bounds).max(initial=0) > LONGEST:
            return _Plain(self.metric, texts)
        return _NgramPairs(self.metric, tokens)


@dataclass(frozen=True, slots=True, eq=False)
class _NgramPairs(Prepared):
    metric: NgramMetric
    tokens: TokenArrays

    def exact(self, first: int, last: int, probabilities: Array, *, leave: bool) -> Array:
        order, texts = self.metric.order, last - first
        ngrams = CandidateNgrams.of(self.tokens, first, last, order)
        shared, scores = ngrams.shared(), np.empty((texts, texts))
        for some in _blocks(texts):
            own = ngrams.totals[some, None]
            rows = np.empty((len(own), texts, 2 * order + 2))
            rows[..., :order] = shared[some]
            rows[..., order : 2 * order] = own
            rows[..., 2 * order] = own[..., 0]
            rows[..., 2 * order + 1] = ngrams.totals[:, 0]
            found = self._scores(rows.reshape(len(own) * texts, -1))
            scores[some] = found.reshape(len(own), texts)
        return expectation(scores, probabilities, leave=leave)

    def aggregated(self, first: int, last: int, probabilities: Array, *, leave: bool) -> Array:
        ngrams = CandidateNgrams.of(self.tokens, first, last, self.metric.order)
        lengths = ngrams.totals[:, :1].astype(np.float64)
        matches = ngrams.expected(probabilities, leave=leave)
        expected = _expected(lengths, probabilities, leave=leave)
        return self._scores(np.concatenate((matches, ngrams.totals, lengths, expected), axis=1))

    def _scores(self, rows: Array) -> Array:
        return self.metric.segment_scores(self.metric.finish_rows(rows))


def _blocks(texts: int) -> Iterator[slice]:
    """Texts whose pairs with all texts are few enough to be scored at once."""
    size = max(1, _PAIRS // texts)
    return (slice(start, start + size) for start in range(0, texts, size))


def _expected(totals: Array, probabilities: Array, *, leave: bool) -> Array:
    """The expected number of n-grams that each text is compared with, an order a column."""
    expected = probabilities @ totals
    if not leave:
        return np.broadcast_to(expected, totals.shape)
    rest = 1.0 - probabilities[:, None]
    return np.asarray(np.maximum(expected - probabilities[:, None] * totals, 0.0) / rest)


class ChrFUtility(Utility):
    """chrF of sentences."""

    aggregates = True
    metric: ChrF

    def prepare(self, texts: Sequence[str]) -> Prepared:
        metric = self.metric
        cased = [text.lower() for text in texts] if metric.lowercase else texts
        kinds = [(characters(cased), metric.char_order)]
        if metric.word_order:
            kinds.append((chrf_words(cased), metric.word_order))
        if max(int(np.diff(tokens.bounds).max(initial=0)) for tokens, _ in kinds) > LONGEST:
            return _Plain(metric, texts)
        return _ChrFPairs(metric, tuple(kinds))


@dataclass(frozen=True, slots=True, eq=False)
class _ChrFPairs(Prepared):
    metric: ChrF
    kinds: tuple[tuple[TokenArrays, int], ...]

    def exact(self, first: int, last: int, probabilities: Array, *, leave: bool) -> Array:
        texts = last - first
        kinds = [CandidateNgrams.of(tokens, first, last, order) for tokens, order in self.kinds]
        shared = [one.shared() for one in kinds]
        scores = np.empty((texts, texts))
        for some in _blocks(texts):
            parts = []
            for ngrams, matches in zip(kinds, shared, strict=True):
                own, other = ngrams.totals[some, None], ngrams.totals
                rows = np.empty((len(own), *other.shape, 3))
                # No n-grams count of an order that the reference has none of.
                rows[..., 0] = own * (other > 0)
                rows[..., 1] = other
                rows[..., 2] = matches[some]
                parts.append(rows.reshape(len(own), texts, -1))
            joined = parts[0] if len(parts) == 1 else np.concatenate(parts, axis=2)
            scores[some] = self.metric.aggregate(joined)
        return expectation(scores, probabilities, leave=leave)

    def aggregated(self, first: int, last: int, probabilities: Array, *, leave: bool) -> Array:
        parts = []
        for tokens, order in self.kinds:
            ngrams = CandidateNgrams.of(tokens, first, last, order)
            totals = ngrams.totals.astype(np.float64)
            expected = _expected(totals, probabilities, leave=leave)
            matches = ngrams.expected(probabilities, leave=leave)
            own = totals * (expected > 0)
            parts.append(np.stack((own, expected, matches), axis=2).reshape(last - first, -1))
        return self.metric.aggregate(np.concatenate(parts, axis=1))


def largest_probability(probabilities: Array, *, leave: bool) -> Array:
    """The largest probability among the references of each text, which has the weight 1.

    With `leave` that is the largest of the others: what is said of a text must not depend on
    whether it is itself the most probable one.

    Examples
    --------
    >>> largest_probability(np.array([0.5, 0.3, 0.2]), leave=True).tolist()
    [0.3, 0.5, 0.5]
    """
    largest = np.full(len(probabilities), probabilities.max())
    if leave:
        place = int(probabilities.argmax())
        largest[place] = np.delete(probabilities, place).max()
    return largest


class DeltaBLEUUtility(Utility):
    """delta-BLEU whose references are the candidates, weighted by their probabilities."""

    metric: DeltaBLEU

    def prepare(self, texts: Sequence[str]) -> Prepared:
        return _WeightedSet(self.metric, self.metric.recipe.tokenizer.hash(texts))


@dataclass(frozen=True, slots=True, eq=False)
class _WeightedSet(Prepared):
    metric: DeltaBLEU
    tokens: TokenArrays

    def exact(self, first: int, last: int, probabilities: Array, *, leave: bool) -> Array:
        ngrams = CandidateNgrams.of(self.tokens, first, last, self.metric.order)
        lengths = ngrams.totals[:, 0].astype(np.float64)
        # All weights of a text's references have the same divisor, and so have its numerators.
        divisors = largest_probability(probabilities, leave=leave)
        rows = (
            ngrams.credited(probabilities, leave=leave) / divisors[:, None],
            ngrams.totals,
            lengths[:, None],
            _closest(lengths, leave=leave)[:, None],
        )
        return self.metric.segment_scores(np.concatenate(rows, axis=1))


def _closest(lengths: Array, *, leave: bool) -> Array:
    """The closest length of each text's references, the shorter where two are."""
    if not leave:
        return lengths
    order = np.argsort(lengths, kind="stable")
    ordered = lengths[order]
    before = np.concatenate(([-np.inf], ordered[:-1]))
    after = np.concatenate((ordered[1:], [np.inf]))
    found = np.empty(len(lengths))
    found[order] = np.where(ordered - before <= after - ordered, before, after)
    return found


class MetricUtility(Utility):
    """Any metric: whatever it says of a candidate and another, or all others, as references."""

    def prepare(self, texts: Sequence[str]) -> Prepared:
        return _Plain(self.metric, texts)


@dataclass(frozen=True, slots=True, eq=False)
class _Plain(Prepared):
    metric: Metric
    texts: Sequence[str]

    def exact(self, first: int, last: int, probabilities: Array, *, leave: bool) -> Array:
        texts = list(self.texts[first:last])
        if "weights" in self.metric.needs:
            return self._as_set(texts, probabilities, leave)
        scores = np.empty((len(texts), len(texts)))
        for some in _blocks(len(texts)):
            given = [one for one in texts[some] for _ in texts]
            others = [[other] for _ in texts[some] for other in texts]
            scores[some] = self._scores(given, others, None).reshape(-1, len(texts))
        return expectation(scores, probabilities, leave=leave)

    def _as_set(self, texts: list[str], probabilities: Array, leave: bool) -> Array:
        weights = probabilities / largest_probability(probabilities, leave=leave)[:, None]
        places = range(len(texts))
        kept = [[j for j in places if not (leave and i == j)] for i in places]
        references = [[texts[j] for j in row] for row in kept]
        return self._scores(
            texts, references, [weights[i, row].tolist() for i, row in enumerate(kept)]
        )

    def _scores(
        self, texts: list[str], references: list[list[str]], weights: list[list[float]] | None
    ) -> Array:
        scores = self.metric.compute(texts, references, weights, threads=1).segment_scores()
        return scores if self.metric.higher_is_better else -scores
