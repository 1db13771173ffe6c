"""iBLEU (Sun and Zhou 2012): BLEU with the references, less BLEU with the message."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from deltableu._types import Array, Steps
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.engine.encoding import Encoded
from deltableu.score.engine.formula import Smoothing
from deltableu.score.engine.ordered_metric import OrderedMetric
from deltableu.score.engine.segment_metric import (
    PreparedReferences,
    ReferenceMetric,
    messages_of,
)
from deltableu.score.metric import Need
from deltableu.score.metrics.bleu import BLEU


@dataclass(frozen=True, slots=True)
class _Both:
    references: Encoded
    messages: Encoded


@dataclass(frozen=True, kw_only=True)
class IBLEU(OrderedMetric, ReferenceMetric):
    """alpha * BLEU(hypothesis, references) - (1 - alpha) * BLEU(hypothesis, message).

    Made for paraphrases, where the source itself is the easiest answer; for dialogue it punishes
    parroting. The score lies in [-100 (1 - alpha), 100 alpha].

    Parameters
    ----------
    alpha : float
        From 0 (only unlikeness to the message counts) to 1 (BLEU).
    order, tokenize, lowercase, normalize, strip_punctuation, smooth, smooth_value, effective_order
        See `BLEU`; both parts use the same.

    Notes
    -----
    A row holds the two rows of BLEU side by side. `refhash` in the signature covers references and
    messages.

    References
    ----------
    Sun and Zhou 2012, "Joint Learning of a Dual SMT System for Paraphrase Generation".

    Examples
    --------
    >>> items = ReferenceSet([["i am fine thank you"]], messages=["how do they feel now"])
    >>> metric = IBLEU()
    >>> encoded = metric.encode(items)
    >>> print(metric.statistics(["i am fine thank you"], encoded).score())
    ibleu-4 = 80.00
    >>> print(metric.statistics(["how do they feel now"], encoded).score())
    ibleu-4 = -20.00
    """

    family: ClassVar[str] = "ibleu"
    summary: ClassVar[str] = "BLEU less likeness to the message (Sun and Zhou 2012)"
    limits: ClassVar[tuple[float, float]] = (-100.0, 100.0)
    needs: ClassVar[frozenset[Need]] = frozenset({"references", "messages"})

    alpha: float = 0.8
    smooth: Smoothing | None = "exp"
    smooth_value: float | None = None
    effective_order: bool = False

    def __post_init__(self) -> None:
        if not (isinstance(self.alpha, int | float) and 0.0 <= self.alpha <= 1.0):
            raise InputError(f"alpha must be a number from 0 to 1, got {self.alpha!r}")
        super().__post_init__()
        _ = self.bleu  # complains of the others

    @property
    def bleu(self) -> BLEU:
        """The BLEU that both parts use."""
        return BLEU(
            order=self.order,
            tokenize=self.tokenize,
            lowercase=self.lowercase,
            normalize=self.normalize,
            strip_punctuation=self.strip_punctuation,
            smooth=self.smooth,
            smooth_value=self.smooth_value,
            effective_order=self.effective_order,
        )

    def encode(
        self,
        references: ReferenceSet | Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> PreparedReferences:
        """Tokenise and hash the references and the messages once, for any number of systems."""
        prepared = super().encode(references, weights)
        both: _Both = prepared.extra
        digest = f"{both.references.info.digest}+{both.messages.info.digest}"
        info = replace(prepared.flat.info, digest=digest)
        return replace(prepared, flat=replace(prepared.flat, info=info))

    def prepare(self, prepared: PreparedReferences) -> _Both:
        messages = [(message,) for message in messages_of(prepared.references)]
        ids = prepared.references.item_ids
        return _Both(
            self.bleu.encode(prepared.references),
            self.bleu.encode(ReferenceSet(messages, item_ids=ids)),
        )

    def rows(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        both: _Both = encoded.extra
        bleu = self.bleu
        return np.hstack(
            [bleu.statistics(hypotheses, part).rows for part in (both.references, both.messages)]
        )

    def aggregate(self, sums: Array) -> Array:
        return self._less_message(*map(self.bleu.aggregate, np.split(sums, 2, axis=-1)))

    def segment_scores(self, rows: Array) -> Array:
        return self._less_message(*map(self.bleu.segment_scores, np.split(rows, 2, axis=-1)))

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("alpha", f"{self.alpha:.12g}"), *self.bleu.settings())

    @property
    def idle_settings(self) -> frozenset[str]:
        return self.bleu.idle_settings

    def _less_message(self, likeness: Array, parroting: Array) -> Array:
        return self.alpha * likeness - (1.0 - self.alpha) * parroting
