"""What single items do to the corpus score, from rows alone."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deltableu._types import Array
from deltableu.errors import InputError
from deltableu.score.engine.statistics import Statistics

#: Differences of scores on 0-100 below this are rounding errors, and ties.
_DIGITS = 9


@dataclass(frozen=True, slots=True)
class CorpusShare:
    """The corpus score with and without one item.

    `without` is None where there is no other item. `numerators` and `denominators` are the
    corpus's sums with the item.
    """

    score: float
    without: float | None
    numerators: tuple[float, ...]
    denominators: tuple[float, ...]

    @property
    def difference(self) -> float:
        """What the corpus score would gain without the item."""
        return 0.0 if self.without is None else self.without - self.score


@dataclass(frozen=True, slots=True)
class RankedItems:
    """Items in order, and the rule in words."""

    indices: tuple[int, ...]
    rule: str


def corpus_share(rows: Statistics, index: int) -> CorpusShare:
    """The corpus score with and without the item at `index`, from rows alone.

    Examples
    --------
    >>> from deltableu import BLEU
    >>> rows = BLEU(order=1).compute(["a b", "x y"], [["a b"], ["x z"]])
    >>> share = corpus_share(rows, 1)
    >>> share.score, share.without, share.difference
    (75.0, 100.0, 25.0)
    """
    if not 0 <= index < len(rows):
        raise InputError(f"there is no item number {index}: the corpus has {len(rows)}")
    numerators, denominators = rows.metric.ngram_sums(rows.rows.sum(axis=0))
    without = None
    if len(rows) > 1:
        others = np.arange(len(rows)) != index
        without = rows[others].score().score
    return CorpusShare(
        rows.score().score, without, tuple(numerators.tolist()), tuple(denominators.tolist())
    )


def rank_items(rows: Statistics, end: Literal["worst", "best"]) -> RankedItems:
    """All items of a system, the worst or the best first.

    Items go by their own score, ties by what the corpus score would gain without them. Most
    items of geometric delta-BLEU score exactly 0 by themselves, so that there the gain comes
    first and their own score second. What is still tied (a corpus at 0 gains nothing without
    any one item) goes by the mean of the item's raw precisions, which may be negative, and then
    by the order of the items.
    """
    raw = np.round(_raw_precision(rows), _DIGITS)
    own = np.round(rows.segment_scores(), _DIGITS)
    gain = _gains(rows)
    by_gain = rows.metric.mostly_zero
    first, second = (-gain, own) if by_gain else (own, -gain)
    sign = 1.0 if end == "worst" else -1.0
    # lexsort is stable, and its last key counts first.
    indices = np.lexsort((sign * raw, sign * second, sign * first))
    change = "gain" if end == "worst" else "lose"
    influence = f"what the corpus score would {change} without the item"
    keys = (influence, "the item's own score") if by_gain else ("the item's own score", influence)
    rule = f"{keys[0]}, then {keys[1]}, then its mean raw precision"
    return RankedItems(tuple(indices.tolist()), rule)


def _gains(rows: Statistics) -> Array:
    """What the corpus score would gain without each item in turn."""
    if len(rows) == 1:
        return np.zeros(1)
    score, without = rows.leave_one_out()
    return np.round(without - score, _DIGITS)


def _raw_precision(rows: Statistics) -> Array:
    """The mean of numerator / denominator over the orders that exist, not clamped at 0."""
    numerators, denominators = rows.metric.ngram_sums(rows.rows)
    exists = denominators > 0.0
    precisions = np.where(exists, numerators / np.where(exists, denominators, 1.0), 0.0)
    mean: Array = precisions.sum(axis=1) / np.maximum(exists.sum(axis=1), 1)
    return mean
