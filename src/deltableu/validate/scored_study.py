"""Metric scores and people's of the same outputs, and what belongs together among the items."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array
from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.score import Scoring
from deltableu.validate.paired_scores import Groups


@dataclass(frozen=True, slots=True, eq=False)
class ScoredStudy:
    """Scores and people side by side, and `everything` that was scored, rated or not."""

    scores: ScoreTable
    human: ScoreTable
    everything: ScoreTable
    scorings: tuple[Scoring, ...]
    labels: dict[str, Any] | None

    @property
    def groups(self) -> Groups | None:
        """Groups of the items that have metric and human scores."""
        return None if self.labels is None else [self.labels[item] for item in self.scores.items]

    @property
    def people(self) -> Array:
        """Human scores, systems x items."""
        scores: Array = self.human.values[0]
        return scores

    @property
    def shared(self) -> bool:
        """Whether any item has outputs of two systems."""
        return bool(((~np.isnan(self.people)).sum(axis=0) > 1).any())


def group_labels(
    groups: Groups | Mapping[str, str] | None, items: Sequence[str]
) -> dict[str, Any] | None:
    """The group of each item, by its id."""
    if groups is None:
        return None
    if isinstance(groups, Mapping):
        for item in items:
            if item not in groups:
                raise InputError(f"groups name none for item {item!r}")
        return {item: groups[item] for item in items}
    if len(groups) != len(items):
        raise InputError(
            f"groups must name one for each item: {len(groups)} for {len(items)} items"
        )
    return dict(zip(items, groups, strict=True))
