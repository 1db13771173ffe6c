"""Which rating is neutral: weights are counted from there, and it may be found without outputs.

A weight is a rating on a scale whose middle is 0. Where people call most references worse than the
middle, or hardly any, the middle is not what they mean by neither good nor bad.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Literal, TypeAlias

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError, Problem, check_kind
from deltableu.io import Table, Tabular
from deltableu.score.engine.reweighting import Reweighting
from deltableu.score.metric import Metric

Neutral: TypeAlias = float | Literal["auto"]

#: The weights that `auto` tries as the neutral one.
SHIFTS = tuple(round(0.1 * step, 1) for step in range(-9, 10))
#: Pairs of references that are held out at most, spread evenly over all.
PAIRS = 10_000
#: Two are held out, and one at least must be left.
_FEWEST = 3
#: Standard errors within which two weights predict equally well.
_ERRORS = 2.0


def check_neutral(value: object) -> None:
    """Refuse what is neither a weight between -1 and 1 nor `auto`."""
    if value == "auto":
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not -1.0 < value < 1.0:  # type: ignore[operator]
        raise InputError(f"neutral must be a weight between -1 and 1, or auto, got {value!r}")


@dataclass(frozen=True, slots=True)
class NeutralChoice(Tabular):
    """The weight that counts as neutral, and how well each predicts held-out references.

    Attributes
    ----------
    value : float
    shifts, agreement : tuple of float
        What was tried, and for each Kendall's tau within items: pairs of held-out references that
        the metric orders as their weights do, minus pairs that it turns round, over all pairs of
        different weights. A pair of equal scores counts as neither.
    pairs : int
        How many pairs there are; with none, `value` is 0.
    """

    value: float
    shifts: tuple[float, ...]
    agreement: tuple[float, ...]
    pairs: int

    @property
    def summary(self) -> str:
        """One sentence."""
        if not self.pairs:
            return "neutral weight 0: no item has three references of different weights"
        found = dict(zip(self.shifts, self.agreement, strict=True))
        return (
            f"neutral weight {self.value:g}: Kendall's tau with the weights of held-out "
            f"references is {found[self.value]:.3f}, and {found[0.0]:.3f} at 0 "
            f"({self.pairs:,} pairs)"
        )

    def table(self) -> Table:
        """A row per weight that was tried."""
        rows = [
            (f"{shift:g}", f"{tau:.3f}", "chosen" if shift == self.value else "")
            for shift, tau in zip(self.shifts, self.agreement, strict=True)
        ]
        return Table(("neutral", "tau", ""), tuple(rows))


def choose_neutral(metric: Metric, references: ReferenceSet) -> NeutralChoice:
    """Find the neutral weight under which a metric best orders references it has not seen.

    Any two references of an item are held out and scored as if they were outputs, against the
    others, whose weights are counted from each candidate. The best one orders such pairs most as
    their own weights do (Kendall's tau within items: easy items do not count more, and a metric
    that scores all alike gets 0). Of all that lie within two standard errors of it, that nearest to
    0 is chosen, and of two as near the lower one. One that leaves more items without a reference
    above it than 0 does is not tried: metrics refuse such items. No output and no rating of an
    output is looked at.

    Two are held out, not one, so that both meet the same references: without a good reference the
    others are worse on average, which alone would turn the order round.

    Parameters
    ----------
    metric : Metric
        With weights; its own neutral weight does not matter.
    references : ReferenceSet
    """
    check_kind("the metric", metric, WeightedMetric)
    check_kind("the references", references, ReferenceSet)
    rest, texts, signs, items = _held_out(references)
    if not len(signs):
        return NeutralChoice(0.0, (0.0,), (0.0,), 0)
    # Marked as counted already, so that whatever the metric takes for neutral does not matter.
    ready = metric.reweighting(replace(rest, neutral=0.0), texts)
    given = rest.flat_weights
    shifts = _usable(references)
    ordered = np.empty((len(shifts), len(signs)))
    for place, shift in enumerate(shifts):
        rows = ready.rows(_counted(given, shift)[np.newaxis])[0]
        first, second = (metric.segment_scores(rows[:, text]) for text in (0, 1))
        ordered[place] = np.sign(first - second) * signs
    tied = np.flatnonzero(_not_worse(ordered, items)).tolist()
    value = min((shifts[place] for place in tied), key=lambda shift: (abs(shift), shift))
    return NeutralChoice(value, shifts, tuple(ordered.mean(axis=1).tolist()), len(signs))


def _usable(references: ReferenceSet) -> tuple[float, ...]:
    """Weights from which no item has lost its last reference above the neutral one."""
    rows = (np.array(row) for row in references.weights or () if len(row))
    largest = np.array([row.max() for row in rows])
    most = int((largest > 0.0).sum())
    return tuple(one for one in SHIFTS if int((_counted(largest, one) > 0.0).sum()) >= most)


def _not_worse(ordered: Array, items: Ints) -> Bools:
    """Which rows have a mean that lies within two standard errors of the best row's.

    Errors are of the difference, and pairs of one item count as one draw.
    """
    means = ordered.mean(axis=1)
    apart = ordered[int(np.argmax(means))] - ordered
    _, places = np.unique(items, return_inverse=True)
    sums = np.stack([np.bincount(places, weights=one) for one in apart])
    errors = np.sqrt(sums.shape[1] * sums.var(axis=1, ddof=min(1, sums.shape[1] - 1)))
    return np.asarray(sums.sum(axis=1) <= _ERRORS * errors + 1e-9)


def _held_out(references: ReferenceSet) -> tuple[ReferenceSet, list[list[str]], Array, Ints]:
    """For each pair of references of an item: the others, the two texts, which is better; items."""
    if references.weights is None:
        raise InputError("the neutral weight is found from weights, and no reference is rated")
    bounds, every = references.bounds, references.flat_weights
    if np.isnan(every).any():
        item = int(np.searchsorted(bounds, np.argmax(np.isnan(every)), side="right")) - 1
        message = "has a reference without a weight: rate it first"
        raise InputError(Problem(message, item=references.item_name(item)))
    rows: list[tuple[str, ...]] = []
    numbers: list[tuple[float, ...]] = []
    texts: list[list[str]] = [[], []]
    signs, items = [], []
    for item, one, other in _pairs(bounds, every):
        row, own = references.texts[item], every[bounds[item] : bounds[item + 1]].tolist()
        kept = [place for place in range(len(row)) if place not in (one, other)]
        rows.append(tuple(row[place] for place in kept))
        numbers.append(tuple(own[place] for place in kept))
        texts[0].append(row[one])
        texts[1].append(row[other])
        signs.append(1.0 if own[one] > own[other] else -1.0)
        items.append(item)
    return ReferenceSet(rows, numbers), texts, np.array(signs), np.array(items, np.int64)


def _pairs(bounds: Ints, weights: Array) -> list[tuple[int, int, int]]:
    """Item and places of any two references with different weights, where others are left."""
    found = []
    for item, (first, last) in enumerate(pairwise(bounds.tolist())):
        own = weights[first:last]
        if last - first >= _FEWEST:
            ones, others = np.triu_indices(last - first, 1)
            apart = own[ones] != own[others]
            found += [(item, *pair) for pair in zip(ones[apart], others[apart], strict=True)]
    return found[:: max(1, -(-len(found) // PAIRS))]


def _counted(weights: Array, neutral: float) -> Array:
    """As `ReferenceSet.counted_from` counts."""
    counted: Array = np.clip(np.round(weights - neutral, 12), -1.0, 1.0)
    return counted


@dataclass(frozen=True, kw_only=True, repr=False)
class WeightedMetric(Metric):
    """A metric whose weights may be counted from another one than 0.

    Parameters
    ----------
    neutral : float or "auto"
        The weight of a reference that is neither good nor bad. It is taken off all weights, which
        are cut to [-1, 1] then; `auto` finds it from the references alone (`choose_neutral`).
    """

    neutral: Neutral = 0.0

    def __post_init__(self) -> None:
        check_neutral(self.neutral)
        # A base may have nothing to do.
        getattr(super(), "__post_init__", lambda: None)()

    def prepare_references(self, references: ReferenceSet) -> ReferenceSet:
        """The references with weights counted from the neutral one."""
        given = super().prepare_references(references)
        if given.weights is None or given.neutral is not None:
            return given
        return given.counted_from(self._found(given) if self.neutral == "auto" else self.neutral)

    def neutral_choice(self, references: ReferenceSet) -> NeutralChoice | None:
        """What `auto` finds; None where it was not asked for, or nobody rated the references."""
        if self.neutral != "auto":
            return None
        given = replace(self, neutral=0.0).prepare_references(references)
        if given.weights is None or given.neutral is not None:
            return None
        return choose_neutral(self, given)

    def fitted_to(self, references: ReferenceSet) -> Metric:
        """The metric with the neutral weight that these references have."""
        if self.neutral != "auto":
            return self
        choice = self.neutral_choice(references)
        return replace(self, neutral=0.0 if choice is None else choice.value)

    def counted(self, references: ReferenceSet, plain: Reweighting) -> Reweighting:
        """For weights as they were given, unless those of the references are counted already."""
        if references.neutral is not None or self.neutral == 0.0:
            return plain
        found = self._found(references) if self.neutral == "auto" else self.neutral
        return CountedWeights(plain, found)

    def _found(self, references: ReferenceSet) -> float:
        return choose_neutral(self, references).value

    @property
    def encoding_key(self) -> Hashable:
        key = super().encoding_key
        return key if self.neutral == 0.0 else (key, self.neutral)


@dataclass(frozen=True, eq=False)
class CountedWeights(Reweighting):
    """Takes weights as they were given, and counts them from the neutral one."""

    plain: Reweighting
    neutral: float

    @property
    def size(self) -> int:  # type: ignore[override]
        return self.plain.size

    def rows(self, weights: Array) -> Array:
        return self.plain.rows(_counted(weights, self.neutral))

    def without_positive(self, weights: Array) -> Bools:
        return self.plain.without_positive(_counted(weights, self.neutral))
