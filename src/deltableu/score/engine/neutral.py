"""Which rating is neutral: weights are counted from there, and it may be found without outputs.

A weight is a rating on a scale whose middle is 0. Where people call most references worse than the
middle, or hardly any, the middle is not what they mean by neither good nor bad.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.io import Table
from deltableu.score.engine.reweighting import Reweighting
from deltableu.score.metric import Metric

Neutral: TypeAlias = float | Literal["auto"]

#: The weights that `auto` tries as the neutral one.
SHIFTS = tuple(round(0.1 * step, 1) for step in range(-9, 10))
#: References that are held out at most, of items spread evenly over all.
HELD_OUT = 10_000
#: With two references, each is compared with the other alone, which says the same of both.
_FEWEST = 3


def check_neutral(value: object) -> None:
    """Refuse what is neither a weight between -1 and 1 nor `auto`."""
    if value == "auto":
        return
    number = isinstance(value, int | float) and not isinstance(value, bool)
    if not number or not -1.0 < value < 1.0:  # type: ignore[operator]
        raise InputError(f"neutral must be a weight between -1 and 1, or auto, got {value!r}")


@dataclass(frozen=True, slots=True)
class NeutralChoice:
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

    Each reference is scored as if it were an output, against the others of its item, whose weights
    are counted from each candidate. The one chosen orders references of the same item most as their
    own weights do (Kendall's tau: pairs within items, so that easy items do not count more, and a
    metric that scores all alike gets 0); of equally good ones that nearest to 0. No output and no
    rating of an output is looked at.

    Parameters
    ----------
    metric : Metric
        With weights; its own neutral weight does not matter.
    references : ReferenceSet
    """
    rest, texts, weights, items = _held_out(references)
    if not texts:
        return NeutralChoice(0.0, SHIFTS, (0.0,) * len(SHIFTS), 0)
    # Marked as counted already, so that whatever the metric takes for neutral does not matter.
    ready = metric.reweighting(replace(rest, neutral=0.0), [texts])
    given = rest.flat_weights
    first, second = _pairs(items, weights)
    signs = np.sign(weights[first] - weights[second])
    agreement = []
    for shift in SHIFTS:
        rows = ready.rows(_counted(given, shift)[np.newaxis])[0, :, 0]
        scores = metric.segment_scores(rows)
        agreement.append(float((np.sign(scores[first] - scores[second]) * signs).mean()))
    value = min(
        zip(agreement, SHIFTS, strict=True), key=lambda one: (-one[0], abs(one[1]), -one[1])
    )
    return NeutralChoice(value[1] if len(first) else 0.0, SHIFTS, tuple(agreement), len(first))


def _held_out(references: ReferenceSet) -> tuple[ReferenceSet, list[str], Array, Ints]:
    """Each reference and the others of its item; texts, weights and items of those held out."""
    if references.weights is None:
        raise InputError("the neutral weight is found from weights, and no reference is rated")
    bounds, every = references.bounds, references.flat_weights
    useful = [
        item
        for item, row in enumerate(references.texts)
        if len(row) >= _FEWEST and np.ptp(every[bounds[item] : bounds[item + 1]]) > 0.0
    ]
    total = sum(len(references.texts[item]) for item in useful)
    step = max(1, -(-total // HELD_OUT))
    rows: list[tuple[str, ...]] = []
    numbers: list[tuple[float, ...]] = []
    texts, weights, items = [], [], []
    for item in useful[::step]:
        row, own = references.texts[item], every[bounds[item] : bounds[item + 1]].tolist()
        for place, text in enumerate(row):
            rows.append((*row[:place], *row[place + 1 :]))
            numbers.append((*own[:place], *own[place + 1 :]))
            texts.append(text)
            weights.append(own[place])
            items.append(item)
    return ReferenceSet(rows, numbers), texts, np.array(weights), np.array(items, np.int64)


def _pairs(items: Ints, weights: Array) -> tuple[Ints, Ints]:
    """Any two of the same item with different weights."""
    starts = np.flatnonzero(np.diff(items, prepend=-1))
    ones, others = [], []
    for start, size in zip(starts.tolist(), np.diff(starts, append=len(items)), strict=True):
        left, right = np.triu_indices(int(size), 1)
        ones.append(left + start)
        others.append(right + start)
    first, second = np.concatenate(ones), np.concatenate(others)
    apart = weights[first] != weights[second]
    return first[apart], second[apart]


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
