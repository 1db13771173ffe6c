"""The formulas: summed n-gram statistics -> scores, for one sum or for many at once.

Every function takes numerators and denominators with the n-gram orders on the last axis, and
hypothesis and closest reference lengths without that axis; everything before is free, so a corpus,
all segments or ten thousand bootstrap samples are one call. Scores and precisions are on 0-100.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from deltableu._types import Array, Bools

Smoothing = Literal["none", "floor", "add-k", "exp"]
Method = Literal["bleu+1", "moses", "nakov", "nakov-cdec"]

#: Where weights cancel (.3 - .3) a sum may keep a rounding error, which is no match: smoothing must
#: not depend on the order in which rows were summed.
_NOISE = 1e-12

#: Chen and Cherry 2014, as sacreBLEU has them.
SMOOTH_VALUES: dict[str, float] = {"none": 0.0, "floor": 0.1, "add-k": 1.0, "exp": 0.0}

#: Orders that numpy sums one after the other.
LONGEST_ROW = 7


@dataclass(frozen=True, slots=True)
class Combination:
    """A score with the precisions and the brevity penalty that made it."""

    score: Array
    precisions: Array
    brevity_penalty: Array


def brevity_penalty(hypothesis_length: Array, reference_length: Array) -> Array:
    """Papineni et al. 2002: exp(1 - r/c) where c < r, else 1; 0 if only the hypothesis is empty."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return _penalty(hypothesis_length, reference_length)


def _penalty(hypothesis_length: Array, reference_length: Array) -> Array:
    # fmin: an empty hypothesis against empty references (0/0) is not too short.
    return np.fmin(np.exp(1.0 - reference_length / hypothesis_length), 1.0)


def geometric(
    numerators: Array,
    denominators: Array,
    hypothesis_length: Array,
    reference_length: Array,
    *,
    smooth: Smoothing,
    smooth_value: float,
    effective_order: bool,
    zero_without_match: bool = True,
) -> Combination:
    """BP * exp(mean of log p_n), Eq. 1 of the delta-BLEU paper with sacreBLEU's smoothing.

    A negative numerator counts as no match. `zero_without_match` makes the score 0 where no
    order has a match, whatever the smoothing, as sacreBLEU does since 2.0.
    """
    orders: Any = numerators.shape[-1]
    matched = np.maximum(numerators, 0.0)
    total = denominators
    if smooth == "add-k":
        added = np.array([0.0] + [smooth_value] * (orders - 1))
        matched = matched + added
        total = total + added
    with np.errstate(divide="ignore", invalid="ignore"):
        penalty = _penalty(hypothesis_length, reference_length)
        precisions = matched / total
        positive = precisions > _NOISE
        if positive.all():
            logs = np.log(precisions)
        else:
            # No unigram, nothing at all: add-k must not make up the longer ones.
            exists = np.logical_and.accumulate(total > 0.0, axis=-1)
            precisions = _smoothed(precisions, total, exists, smooth, smooth_value)
            if zero_without_match:
                precisions = precisions * _any_match(numerators, denominators)
            logs = np.log(precisions)
            if effective_order:
                logs = np.where(exists, logs, 0.0)
                orders = exists.sum(axis=-1)
        score = penalty * np.exp(np.add.reduce(logs, axis=-1) / orders)
    # No order at all is 0/0: an empty hypothesis scores 0.
    score = np.where(orders > 0, score, 0.0) if effective_order else score
    return Combination(100.0 * score, 100.0 * precisions, penalty)


def without_match(numerators: Array, denominators: Array) -> Bools:
    """Orders whose matches sum to nothing, or to less."""
    return np.asarray(numerators <= _NOISE * denominators)


def _any_match(numerators: Array, denominators: Array) -> Bools:
    return ~np.logical_and.reduce(without_match(numerators, denominators), axis=-1, keepdims=True)


def _smoothed(
    precisions: Array, total: Array, exists: Bools, smooth: Smoothing, smooth_value: float
) -> Array:
    """Precisions with those of orders that exist without a match replaced; 0 for the others."""
    missed = exists & (precisions <= _NOISE)
    replacement: Any = 0.0
    if smooth == "exp":
        replacement = np.exp2(-np.cumsum(missed, axis=-1, dtype=np.float64)) / total
    elif smooth == "floor":
        replacement = smooth_value / total
    return np.where(missed, replacement, np.where(exists, precisions, 0.0))


def arithmetic(
    numerators: Array, denominators: Array, hypothesis_length: Array, reference_length: Array
) -> Combination:
    """Mean of the signed p_n over the orders that exist; BP multiplies only a positive mean."""
    exists = denominators > 0.0
    precisions = np.where(exists, numerators / np.where(exists, denominators, 1.0), 0.0)
    mean = precisions.sum(axis=-1) / np.maximum(exists.sum(axis=-1), 1)
    penalty = brevity_penalty(hypothesis_length, reference_length)
    score = np.where(mean > 0.0, mean * penalty, mean)
    return Combination(100.0 * score, 100.0 * precisions, penalty)


def arithmetic_row(row: Sequence[float]) -> float:
    """What `arithmetic` makes of one row of up to `LONGEST_ROW` orders, to the last bit."""
    order = len(row) // 2 - 1
    total, exists = 0.0, 0
    for numerator, denominator in zip(row[:order], row[order:], strict=False):
        if denominator > 0.0:
            total += numerator / denominator
            exists += 1
    mean = total / max(exists, 1)
    own, closest = row[2 * order :]
    if mean > 0.0 and own < closest:
        mean *= float(np.exp(1.0 - closest / own))  # of numpy: others may round otherwise
    return 100.0 * mean


def geometric_gradient(
    numerators: Array,
    denominators: Array,
    hypothesis_length: Array,
    reference_length: Array,
    score: Array,
    *,
    added: float,
    effective_order: bool,
) -> Array:
    """Derivatives of a geometric score by numerators, denominators and both lengths.

    `added` is what smoothing adds to all orders but the first. An order without a match has no
    derivative by its numerator. Where outputs are exactly as long as references, the brevity
    penalty is taken to rise half as steeply as for shorter ones.
    """
    extra = np.full(numerators.shape[-1], added)
    extra[0] = 0.0
    matched, total = np.maximum(numerators, 0.0) + extra, denominators + extra
    exists = total > 0.0
    orders = exists.sum(axis=-1, keepdims=True) if effective_order else numerators.shape[-1]
    share = score[..., None] / np.maximum(orders, 1)
    some = exists & ~without_match(numerators, denominators)
    by_numerator = np.divide(share, matched, out=np.zeros_like(total), where=some)
    by_denominator = np.divide(-share, total, out=np.zeros_like(total), where=exists)
    lengths = _by_lengths(score[..., None], hypothesis_length, reference_length)
    return np.concatenate((by_numerator, by_denominator, lengths), axis=-1)


def _by_lengths(score: Array, hypothesis_length: Array, reference_length: Array) -> Array:
    """Derivatives of a score that has the brevity penalty as a factor by the two lengths."""
    lengths = np.stack((hypothesis_length, reference_length), axis=-1)
    some = lengths[..., :1] > 0.0
    slope = np.divide(score, lengths[..., :1], out=np.zeros_like(score), where=some)
    slope = slope * np.heaviside(lengths[..., 1:] - lengths[..., :1], 0.5)
    ratio = np.divide(lengths[..., 1:], lengths[..., :1], out=np.zeros_like(score), where=some)
    return np.concatenate((slope * ratio, -slope), axis=-1)


def arithmetic_gradient(
    numerators: Array, denominators: Array, hypothesis_length: Array, reference_length: Array
) -> Array:
    """The same of the arithmetic score; at 0 that of scores below."""
    exists = denominators > 0.0
    total = np.where(exists, denominators, 1.0)
    found = arithmetic(numerators, denominators, hypothesis_length, reference_length)
    orders = np.maximum(exists.sum(axis=-1, keepdims=True), 1)
    score = found.score[..., None]
    penalty = np.where(score > 0.0, found.brevity_penalty[..., None], 1.0)
    slope = np.where(exists, 100.0 * penalty / (orders * total), 0.0)
    lengths = _by_lengths(np.maximum(score, 0.0), hypothesis_length, reference_length)
    return np.concatenate((slope, -slope * numerators / total, lengths), axis=-1)


def sentence(
    numerators: Array,
    denominators: Array,
    hypothesis_length: Array,
    reference_length: Array,
    method: Method,
) -> Combination:
    """BLEU smoothed for one sentence.

    `bleu+1` is Lin and Och 2004 (add one from bigrams on), `moses` adds one to every order (WMT's
    sentBLEU), `nakov` also adds one to the reference length (Nakov et al. 2012 as Phrasal has it),
    `nakov-cdec` is `bleu+1` with that longer reference and no order above its length.
    """
    orders = numerators.shape[-1]
    added = np.ones(orders)
    if method in ("bleu+1", "nakov-cdec"):
        added[0] = 0.0
    total = denominators + added
    precisions = np.divide(numerators + added, total, out=np.zeros_like(total), where=total > 0.0)
    counted = np.ones_like(precisions, dtype=bool)
    if method == "nakov-cdec":
        counted = np.arange(orders) < np.maximum(reference_length, 1.0)[..., None]
    if method in ("nakov", "nakov-cdec"):
        reference_length = reference_length + 1.0
    penalty = brevity_penalty(hypothesis_length, reference_length)
    with np.errstate(divide="ignore"):
        logs = np.log(precisions, out=np.zeros_like(precisions), where=counted)
    score = penalty * np.exp(logs.sum(axis=-1) / counted.sum(axis=-1))
    # With every order smoothed, an empty hypothesis against an empty reference would score 100.
    score = np.where(hypothesis_length > 0.0, score, 0.0)
    return Combination(100.0 * score, 100.0 * precisions, penalty)
