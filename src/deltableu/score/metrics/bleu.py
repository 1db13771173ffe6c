"""BLEU (Papineni et al. 2002) with any number of references, as sacreBLEU counts it."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar, Literal

import numpy as np

from deltableu._types import Array, Bools
from deltableu.errors import InputError, check_choice
from deltableu.score.engine.formula import (
    LONGEST_ROW,
    SMOOTH_VALUES,
    Combination,
    Smoothing,
    arithmetic,
    arithmetic_gradient,
    arithmetic_row,
    geometric,
    geometric_gradient,
    without_match,
)
from deltableu.score.engine.ngram_metric import NgramMetric
from deltableu.score.results import BLEUScore, Signature

#: Sums of matches, and of lengths beyond the references', that other items may turn round: so many
#: of their standard errors from 0.
_NEAR_CLAMP = 3.0
_NEAR_LENGTH = 2.0


def _errors(rows: Array) -> Array:
    """Standard errors of sums of rows."""
    units = len(rows)
    return np.asarray(np.sqrt(units * rows.var(axis=0, ddof=1))) if units > 1 else np.zeros(1)


@dataclass(frozen=True, kw_only=True, repr=False)
class BLEU(NgramMetric):
    """Corpus BLEU.

    Parameters
    ----------
    order : int
        Longest n-gram.
    tokenize, lowercase, normalize, strip_punctuation
        See `deltableu.text.Tokenizer`.
    smooth : {"none", "floor", "add-k", "exp"}
        What to do with an order that has no match.
    smooth_value : float, optional
        For `floor` (0.1 by default) and `add-k` (1).
    effective_order : bool
        Leave out orders longer than every hypothesis. Segment scores always do.
    combine : {"geometric", "arithmetic"}
        How precisions are averaged.

    References
    ----------
    Papineni et al. 2002, "BLEU: a method for automatic evaluation of machine translation".
    Chen and Cherry 2014, "A systematic comparison of smoothing techniques for sentence-level BLEU".

    Examples
    --------
    >>> metric = BLEU(order=2)
    >>> encoded = metric.encode([["the cat is on the mat", "there is a cat on the mat"]])
    >>> score = metric.statistics(["the the the cat"], encoded).score()
    >>> score.numerators, score.denominators
    ((3.0, 1.0), (4.0, 3.0))
    """

    family: ClassVar[str] = "bleu"
    summary: ClassVar[str] = "n-gram precision with a brevity penalty (Papineni et al. 2002)"

    smooth: Smoothing | None = "exp"
    smooth_value: float | None = None
    effective_order: bool = False
    combine: Literal["geometric", "arithmetic"] = "geometric"

    def __post_init__(self) -> None:
        if self.smooth is not None:
            check_choice("smooth", self.smooth, SMOOTH_VALUES)
        check_choice("combine", self.combine, ("geometric", "arithmetic"))
        value = self.smooth_value
        if value is not None and not (isinstance(value, int | float) and 0.0 <= value < inf):
            raise InputError(f"smooth_value must be a number of at least 0, got {value!r}")
        super().__post_init__()

    def aggregate(self, sums: Array) -> Array:
        return self._combine(sums, effective_order=self.effective_order).score

    def gradient(self, sums: Array) -> Array:
        if self.combine == "arithmetic":
            return arithmetic_gradient(*self._parts(sums))
        return geometric_gradient(
            *self._parts(sums),
            self.aggregate(sums),
            added=self._smooth_value() if self.smoothing == "add-k" else 0.0,
            effective_order=self.effective_order,
        )

    def clamped(self, sums: Array) -> Bools:
        """Where an order has no match in all: its precision is 0, or made up by smoothing."""
        if self.combine == "arithmetic":
            return np.zeros(sums.shape[:-1], dtype=bool)
        return np.asarray(without_match(*self.ngram_sums(sums)).any(axis=-1))

    def bends(self, rows: Array) -> tuple[str, ...]:
        """The clamp, and the brevity penalty where lengths matter more than matches."""
        sums, found = rows.sum(axis=0), []
        if self.combine == "geometric":
            matches, _ = self.ngram_sums(rows)
            if (matches.sum(axis=0) < _NEAR_CLAMP * _errors(matches)).any():
                found.append("matches of some order are so few that other items may have none")
        own, other = rows[:, 2 * self.order], rows[:, 2 * self.order + 1]
        near = abs(float((own - other).sum())) < _NEAR_LENGTH * float(_errors(own - other))
        slopes = self.gradient(sums)[: 2 * self.order]
        apart = rows[:, : 2 * self.order] @ slopes
        ratio = float(other.sum()) / max(float(own.sum()), 1.0)
        lengths = float(self.aggregate(sums)) / max(float(own.sum()), 1.0) * (ratio * own - other)
        if near and _errors(apart + lengths) ** 2 > 2.0 * _errors(apart) ** 2:
            found.append("outputs are about as long as references, and lengths decide")
        return tuple(found)

    def segment_scores(self, rows: Array) -> Array:
        return self._combine(rows, effective_order=True).score

    def row_score(self, rows: Array) -> float:
        if self.combine == "arithmetic" and self.order <= LONGEST_ROW:
            return arithmetic_row(rows[0].tolist())
        return super().row_score(rows)

    def ngram_sums(self, rows: Array) -> tuple[Array, Array]:
        return rows[..., : self.order], rows[..., self.order : 2 * self.order]

    def result(self, sums: Array, segments: int, signature: Signature) -> BLEUScore:
        combination = self._combine(sums, effective_order=self.effective_order)
        return self._result(sums, segments, signature, combination)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (
            ("order", str(self.order)),
            *self._variant_settings(),
            *self._combine_settings(),
            *self.text_settings(),
        )

    @property
    def idle_settings(self) -> frozenset[str]:
        if self.combine == "arithmetic":
            return frozenset({"smooth", "smooth_value", "effective_order"})
        return frozenset(() if self.smoothing in ("floor", "add-k") else {"smooth_value"})

    @property
    def smoothing(self) -> Smoothing:
        """The smoothing in force."""
        return "none" if self.smooth is None else self.smooth

    def _combine(self, sums: Array, *, effective_order: bool) -> Combination:
        if self.combine == "arithmetic":
            return arithmetic(*self._parts(sums))
        return geometric(
            *self._parts(sums),
            smooth=self.smoothing,
            smooth_value=self._smooth_value(),
            effective_order=effective_order,
            zero_without_match=self._stops_without_match(),
        )

    def _parts(self, sums: Array) -> tuple[Array, Array, Array, Array]:
        lengths = sums[..., 2 * self.order], sums[..., 2 * self.order + 1]
        return (*self.ngram_sums(sums), *lengths)

    def _stops_without_match(self) -> bool:
        return True

    def _smooth_value(self) -> float:
        value = self.smooth_value
        return SMOOTH_VALUES[self.smoothing] if value is None else value

    def _variant_settings(self) -> tuple[tuple[str, str], ...]:
        return ()

    def _combine_settings(self) -> tuple[tuple[str, str], ...]:
        if self.combine == "arithmetic":
            return (("combine", "arithmetic"),)
        smoothing = self.smoothing
        value = f"[{self._smooth_value():.12g}]" if smoothing in ("floor", "add-k") else ""
        return (
            ("combine", "geometric"),
            ("eff", "yes" if self.effective_order else "no"),
            ("smooth", smoothing + value),
        )
