"""Metrics that look at no references."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import replace
from typing import ClassVar

from deltableu.corpus import ReferenceSet
from deltableu.score.engine.chunks import ReferenceInfo
from deltableu.score.engine.segment_metric import ReferenceMetric
from deltableu.score.metric import Need
from deltableu.score.results import Signature


def without_references(references: ReferenceSet) -> ReferenceSet:
    """The same items with an empty text for references, whether they have any or not."""
    texts = [("",)] * len(references.texts)
    return replace(references, texts=texts, weights=None, originals=None, selection="none")


class ReferenceFree(ReferenceMetric):
    """A metric that takes no more from the references than how many items there are."""

    needs: ClassVar[frozenset[Need]] = frozenset()

    def compared_with(self, references: ReferenceSet) -> ReferenceSet:
        return without_references(references)

    @property
    def encoding_key(self) -> Hashable:
        # Only with each other: the list that other metrics share has the references in it.
        return "items"

    def signature(self, info: ReferenceInfo) -> Signature:
        """Settings and version: scores stay comparable whatever the references are."""
        parts = super().signature(info).parts
        return Signature(tuple(p for p in parts if p[0] not in ("refs", "select", "refhash")))
