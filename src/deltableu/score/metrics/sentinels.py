"""Sentinels: scores that know nothing of quality, and that every metric of a study should beat."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from typing import ClassVar

import numpy as np

from deltableu._types import Array, Steps
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.engine.ngrams import as_reference_set
from deltableu.score.engine.overlap import shared_ngrams
from deltableu.score.engine.pooled import TokenSettings
from deltableu.score.engine.segment_metric import PreparedReferences, SegmentMetric
from deltableu.score.metric import Need
from deltableu.score.metrics.diversity import ReferenceFree, without_references
from deltableu.text import TokenArrays

__all__ = ["Constant", "MessageOverlap", "Random"]


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

    def encode(
        self,
        references: ReferenceSet | Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> PreparedReferences:
        """Tokenise the messages, which stand in for references; the signature says so."""
        items = without_references(as_reference_set(references, weights))
        texts = [(message,) for message in super().encode(items).messages()]
        return super().encode(replace(items, texts=texts, selection="messages"))

    def prepare(self, prepared: PreparedReferences) -> TokenArrays:
        return self.tokenizer.hash(prepared.flat.texts)

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        tokens = self.hash_hypotheses(hypotheses)
        messages: TokenArrays = encoded.extra
        common = shared_ngrams(tokens, messages, encoded.flat.owners, 1)[:, 0]
        both = np.diff(tokens.bounds) + np.diff(messages.bounds)
        score: Array = 200.0 * common / np.maximum(both, 1)
        return score

    def settings(self) -> tuple[tuple[str, str], ...]:
        return self.text_settings()


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
