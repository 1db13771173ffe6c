"""How well a reply suits the message, as logs show it, as a metric."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import ClassVar

from deltableu._types import Array
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.io import shown
from deltableu.judges.relevance_model import RelevanceModel, load_relevance, relevance_cosines
from deltableu.judges.ruber_scorers import message_set
from deltableu.score import Need, PreparedReferences, SegmentMetric

RelevanceLike = str | os.PathLike[str] | RelevanceModel


def relevance_model(given: RelevanceLike | None, metric: str) -> RelevanceModel:
    """The model of a metric, as it is or from its file."""
    if not given:
        raise InputError(
            f"{metric} needs a relevance model: train one with `deltableu judge train --kind "
            "relevance`, and give its file (relevance=, --relevance)"
        )
    if isinstance(given, RelevanceModel):
        return given
    if not isinstance(given, str | os.PathLike):
        raise InputError(f"relevance must be a model's file, got {shown(given)}")
    return load_relevance(given)


@dataclass(frozen=True, kw_only=True)
class Relevance(SegmentMetric):
    """How well a reply suits the message: their cosine where logged pairs lie near each other.

    The space is that of a canonical correlation analysis of the sentence vectors of logged
    utterances and responses. An empty reply scores -100. No reference is looked at: messages stand
    in for them, and the signature says so. The system score is the mean over segments.

    Parameters
    ----------
    relevance : str, path or RelevanceModel
        What `deltableu judge train --kind relevance` made.

    References
    ----------
    Hotelling 1936, "Relations between two sets of variates".

    Examples
    --------
    >>> from deltableu.corpus import ReferenceSet
    >>> from deltableu.judges import train_relevance
    >>> logs = [("where is it ?", "over there"), ("thanks !", "you are welcome")] * 20
    >>> metric = Relevance(relevance=train_relevance(logs))
    >>> items = ReferenceSet([["any"], ["any"]], messages=["where is it", "thanks a lot"])
    >>> right, wrong = metric.compute(["over here", "over here"], items).segment_scores()
    >>> bool(right > wrong)
    True
    """

    name: ClassVar[str] = "relevance"
    summary: ClassVar[str] = "how well a reply suits the message, learnt from logs"
    limits: ClassVar[tuple[float, float]] = (-100.0, 100.0)
    needs: ClassVar[frozenset[Need]] = frozenset({"messages"})

    relevance: RelevanceLike | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "_model", relevance_model(self.relevance, self.name))

    @property
    def model(self) -> RelevanceModel:
        """The model at work."""
        found: RelevanceModel = self._model  # type: ignore[attr-defined]
        return found

    def compared_with(self, references: ReferenceSet) -> ReferenceSet:
        """The messages, which stand in for references."""
        return message_set(references)

    def prepare(self, prepared: PreparedReferences) -> Array:
        return self.model.utterances(prepared.flat.texts)

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        replies = self.model.responses(hypotheses)
        return 100.0 * relevance_cosines(encoded.extra, replies, hypotheses)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("model", self.model.signature), ("encoder", self.model.encoder))
