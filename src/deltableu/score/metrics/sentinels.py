"""Sentinels: scores that know nothing of quality, and that every metric of a study should beat."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from hashlib import blake2b
from math import inf
from typing import ClassVar

import numpy as np

from deltableu._types import Array
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.engine.overlap import shared_ngrams
from deltableu.score.engine.reference_free import ReferenceFree, without_references
from deltableu.score.engine.segment_metric import (
    PreparedReferences,
    SegmentMetric,
    messages_of,
)
from deltableu.score.engine.token_settings import TokenSettings
from deltableu.score.metric import Need
from deltableu.text import TokenArrays


@dataclass(frozen=True, kw_only=True)
class MessageOverlap(TokenSettings, SegmentMetric):
    """How much a hypothesis parrots the message: F1 of the tokens that both have.

    With m tokens in common (each as often as the text that has it less often), the precision is m
    per token of the hypothesis and the recall m per token of the message; their harmonic mean is
    2m / (tokens of both), 0 where either has no token. A corpus scores the mean of its segments.

    Parameters
    ----------
    tokenize, lowercase, normalize, strip_punctuation
        See `deltableu.text.Tokenizer`.

    References
    ----------
    Galley et al. 2015, "deltaBLEU: A Discriminative Metric for Generation Tasks with Intrinsically
    Diverse Targets", on messages that systems parrot.

    Examples
    --------
    >>> items = ReferenceSet([["yes"]], messages=["do you like it ?"])
    >>> MessageOverlap().compute(["i like it"], items).score().score  # 2 * 2 of 3 + 5
    50.0
    """

    name: ClassVar[str] = "message-overlap"
    summary: ClassVar[str] = "how much of the message is parroted, F1 of tokens (a sentinel)"
    higher_is_better: ClassVar[bool] = False
    needs: ClassVar[frozenset[Need]] = frozenset({"messages"})

    def compared_with(self, references: ReferenceSet) -> ReferenceSet:
        """The messages, which stand in for references; the signature says so."""
        texts = [(message,) for message in messages_of(references)]
        return replace(without_references(references), texts=texts, selection="messages")

    def prepare(self, prepared: PreparedReferences) -> TokenArrays:
        return self.tokenizer.hash(prepared.flat.texts)

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        tokens = self.hash_hypotheses(hypotheses)
        messages: TokenArrays = encoded.extra
        common = shared_ngrams(tokens, messages, encoded.flat.owners, 1)[:, 0]
        both = np.diff(tokens.bounds) + np.diff(messages.bounds)
        score: Array = 200.0 * common / np.maximum(both, 1)
        return score


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


@dataclass(frozen=True, kw_only=True)
class Constant(ReferenceFree, SegmentMetric):
    """50 for everything: shows what ties alone give.

    References
    ----------
    Perrella et al. 2024, "Guardians of the Machine Translation Meta-Evaluation: Sentinel Metrics
    Fall In!".

    Examples
    --------
    >>> Constant().compute(["yes", "no"], [["yes"], ["yes"]]).segment_scores().tolist()
    [50.0, 50.0]
    """

    name: ClassVar[str] = "constant"
    summary: ClassVar[str] = "50 for every text (a sentinel)"

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        return np.full(len(hypotheses), 50.0)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return ()


@dataclass(frozen=True, kw_only=True)
class Random(ReferenceFree, SegmentMetric):
    """Uniform noise in [0, 100): shows what chance gives.

    A score depends on nothing but the seed, the item (its id, or its number where items have no
    ids) and the hypothesis, so it comes out the same in any order, subset or process.

    Parameters
    ----------
    seed : int

    References
    ----------
    Perrella et al. 2024, "Guardians of the Machine Translation Meta-Evaluation: Sentinel Metrics
    Fall In!".

    Examples
    --------
    >>> Random(seed=1).compute(["yes", "yes"], [["yes"], ["no"]]).segment_scores().round(2).tolist()
    [12.89, 63.52]
    """

    name: ClassVar[str] = "random"
    summary: ClassVar[str] = "repeatable uniform noise (a sentinel)"

    seed: int = 0

    def __post_init__(self) -> None:
        try:
            object.__setattr__(self, "seed", operator.index(self.seed))
        except TypeError:
            raise InputError(f"seed must be a whole number, got {self.seed!r}") from None

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> list[float]:
        name = encoded.references.item_name
        return [self._noise(name(number), text) for number, text in enumerate(hypotheses)]

    def _noise(self, item: str, text: str) -> float:
        # The length of the item's name keeps "1" + "2x" apart from "12" + "x".
        key = f"{self.seed} {len(item)} {item}{text}".encode("utf-8", "surrogatepass")
        # 53 bits, so that the division is exact and never rounds up to 100.
        bits = int.from_bytes(blake2b(key, digest_size=8).digest(), "big") >> 11
        return 100.0 * (bits / 2**53)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("seed", str(self.seed)),)
