"""Metrics whose corpus score is the mean of segment scores: the least there is to write."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from deltableu._types import Array, Steps
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.engine.chunks import FlatReferences, flat_references
from deltableu.score.engine.inputs import as_hypotheses, as_reference_set, first_wrong_text
from deltableu.score.engine.statistics import Statistics
from deltableu.score.metric import Metric
from deltableu.stats import mean_score
from deltableu.text import NotUnicodeError, Texts


@dataclass(frozen=True, slots=True)
class PreparedReferences:
    """References in one list, and whatever a metric made of them (`extra`)."""

    references: ReferenceSet
    flat: FlatReferences
    key: Any
    extra: Any = None

    def messages(self) -> list[str]:
        """The messages that the items answer; an error where one is missing."""
        return messages_of(self.references)


def messages_of(references: ReferenceSet) -> list[str]:
    """The messages that the items answer; an error where one is missing."""
    if references.messages is None:
        raise InputError("this metric needs the message that each item answers")
    for index, message in enumerate(references.messages):
        if message is None:
            name = references.item_name(index)
            raise InputError(f"item {name!r} has no message, which this metric needs")
    return [str(message) for message in references.messages]


class ReferenceMetric(Metric):
    """A metric that works on all references in one list; subclasses give `rows`."""

    def encode(
        self,
        references: ReferenceSet | Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> PreparedReferences:
        """Check the references and prepare what depends only on them."""
        given = self.compared_with(self.prepare_references(as_reference_set(references, weights)))
        flat = flat_references(given, weighted=self._weighted)
        prepared = PreparedReferences(given, flat, self.encoding_key)
        return replace(prepared, extra=self.prepare(prepared))

    def statistics(
        self,
        hypotheses: Sequence[str],
        encoded: PreparedReferences,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Statistics:
        """One row per segment."""
        if encoded.key != self.encoding_key:
            raise InputError(
                "these references were encoded with other settings; encode them with this metric"
            )
        texts = as_hypotheses(hypotheses, encoded.flat.info.items)
        wrong = first_wrong_text(texts)
        if wrong is not None:
            raise InputError(f"hypotheses[{wrong[0]}] is {wrong[1]}, no string")
        try:
            Texts.of(texts)
        except NotUnicodeError as error:
            raise InputError(f"hypotheses[{error.position}] {error.reason}") from None
        return self.checked_statistics(list(texts), encoded)

    def checked_statistics(self, hypotheses: list[str], encoded: PreparedReferences) -> Statistics:
        """The same of hypotheses that are texts, one for each item."""
        return Statistics(self.rows(hypotheses, encoded), self, encoded.flat.info)

    @property
    def encoding_key(self) -> Hashable:
        # Metrics that prepare nothing of their own can share the list.
        if type(self).prepare is ReferenceMetric.prepare:
            return ("flat", self._weighted)
        return self

    @property
    def _weighted(self) -> bool:
        # As the class has it: a metric that asks a judge needs no weights, but looks at them.
        return "weights" in type(self).needs

    def compared_with(self, references: ReferenceSet) -> ReferenceSet:
        """What stands for the references, where they themselves are not looked at."""
        return references

    def prepare(self, prepared: PreparedReferences) -> Any:
        """What can be computed once for all systems; goes into `extra`."""
        return None

    @abstractmethod
    def rows(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        """One float64 row a segment."""


class SegmentMetric(ReferenceMetric):
    """A metric whose corpus score is the mean of its segments; subclasses give `segments`."""

    averages_segments: ClassVar[bool] = True

    def rows(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        scores = np.asarray(self.segments(hypotheses, encoded), dtype=np.float64)
        if scores.shape != (len(hypotheses),):
            raise ValueError(f"{self.name} must give one score a segment")
        return np.column_stack((scores, np.ones(len(hypotheses))))

    @abstractmethod
    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Any:
        """One score a segment; reference j belongs to item `encoded.flat.owners[j]`."""

    def aggregate(self, sums: Array) -> Array:
        return mean_score(sums)
