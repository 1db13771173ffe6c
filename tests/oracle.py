"""The formulas once more, letter by letter: plain loops over Counters and floats, no numpy.

Section numbers are those of the project's notes on semantics; they follow Galley et al. 2015
(Eq. 1-3), the author's fork of sacreBLEU (galley2019), the upsilon-BLEU code (tsuta2020) and, for
sentence BLEU, Moses, Phrasal and cdec.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

NOISE = 1e-12  # where weights cancel, a sum may keep a rounding error


@dataclass
class Row:
    """The statistics of one segment."""

    numerators: list[float]
    denominators: list[float]
    hypothesis_length: int
    reference_length: int

    def values(self) -> list[float]:
        lengths = [self.hypothesis_length, self.reference_length]
        return [*self.numerators, *self.denominators, *lengths]


def ngrams(tokens: Sequence[str], n: int) -> Counter[tuple[str, ...]]:
    return Counter(tuple(tokens[i : i + n]) for i in range(len(tokens) - n + 1))


def closest_length(hypothesis: Sequence[str], references: Sequence[Sequence[str]]) -> int:
    """The length next to the hypothesis's; of two as near, the shorter."""
    lengths = [len(reference) for reference in references]
    return min(lengths, key=lambda length: (abs(length - len(hypothesis)), length))


def credit(
    gram: tuple[str, ...],
    count: int,
    references: Sequence[Counter[tuple[str, ...]]],
    weights: Sequence[float],
    variant: str,
) -> float:
    """What `count` occurrences of an n-gram in the hypothesis add to the numerator (section 1)."""
    having = [j for j in range(len(references)) if references[j][gram] > 0]
    if not having:
        return 0.0
    if variant == "galley2019":
        best_weight = max(weights[j] for j in having)
        return best_weight * min(count, max(references[j][gram] for j in having))
    best = max(weights[j] * min(count, references[j][gram]) for j in having)
    if variant == "tsuta2020":
        return max(0.0, best)
    return best


def row(
    hypothesis: Sequence[str],
    references: Sequence[Sequence[str]],
    weights: Sequence[float],
    order: int,
    variant: str = "paper",
    *,
    signed: bool = False,
    brevity: str = "all",
) -> Row:
    """Numerators and denominators of every order, and the two lengths."""
    scale = max(abs(weight) for weight in weights) if signed else max(weights)
    numerators, denominators = [], []
    for n in range(1, order + 1):
        reference_counts = [ngrams(reference, n) for reference in references]
        numerator = 0.0
        denominator = 0.0
        for gram, count in ngrams(hypothesis, n).items():
            numerator += credit(gram, count, reference_counts, weights, variant)
            denominator += scale * count
        numerators.append(numerator)
        denominators.append(denominator)
    eligible = list(references)
    if brevity == "positive" and any(weight > 0 for weight in weights):
        eligible = [references[j] for j in range(len(references)) if weights[j] > 0]
    return Row(numerators, denominators, len(hypothesis), closest_length(hypothesis, eligible))


def add(rows: Sequence[Row]) -> Row:
    """The corpus: sums of rows."""
    return Row(
        [math.fsum(column) for column in zip(*(one.numerators for one in rows), strict=True)],
        [math.fsum(column) for column in zip(*(one.denominators for one in rows), strict=True)],
        sum(one.hypothesis_length for one in rows),
        sum(one.reference_length for one in rows),
    )


def brevity_penalty(hypothesis_length: int, reference_length: int) -> float:
    if hypothesis_length >= reference_length:
        return 1.0
    if hypothesis_length == 0:
        return 0.0
    return math.exp(1 - reference_length / hypothesis_length)


def geometric(
    sums: Row,
    smooth: str = "none",
    smooth_value: float | None = None,
    *,
    effective_order: bool = False,
    zero_without_match: bool = True,
) -> float:
    """BP * (p_1 ... p_N)^(1/N) on 0-100, smoothed as sacreBLEU does; negative sums count as 0."""
    value = {"floor": 0.1, "add-k": 1.0}.get(smooth, 0.0) if smooth_value is None else smooth_value
    numerators = [
        numerator if numerator > NOISE * denominator else 0.0
        for numerator, denominator in zip(sums.numerators, sums.denominators, strict=True)
    ]
    if zero_without_match and not any(numerators):
        return 0.0
    precisions = []
    misses = 0
    for n, (numerator, denominator) in enumerate(
        zip(numerators, sums.denominators, strict=True), start=1
    ):
        if smooth == "add-k" and n > 1:
            numerator += value
            denominator += value
        if denominator == 0.0:
            break
        if numerator == 0.0 and smooth == "exp":
            misses += 1
            numerator = 1 / 2**misses
        elif numerator == 0.0 and smooth == "floor":
            numerator = value
        precisions.append(numerator / denominator)
    orders = len(precisions) if effective_order else len(sums.numerators)
    if orders == 0 or len(precisions) < orders or 0.0 in precisions:
        return 0.0
    mean = math.fsum(math.log(precision) for precision in precisions) / orders
    return 100 * brevity_penalty(sums.hypothesis_length, sums.reference_length) * math.exp(mean)


def arithmetic(sums: Row) -> float:
    """The signed form (section 8): mean p_n; the penalty multiplies only a positive result."""
    precisions = [
        numerator / denominator
        for numerator, denominator in zip(sums.numerators, sums.denominators, strict=True)
        if denominator > 0
    ]
    if not precisions:
        return 0.0
    mean = sum(precisions) / len(precisions)
    if mean > 0:
        mean *= brevity_penalty(sums.hypothesis_length, sums.reference_length)
    return 100 * mean


def sentence(counts: Row, method: str) -> float:
    """The table of section 2; an empty hypothesis scores 0."""
    if counts.hypothesis_length == 0:
        return 0.0
    orders = len(counts.numerators)
    length = counts.reference_length
    if method == "nakov-cdec":
        orders = min(orders, max(length, 1))
    if method in ("nakov", "nakov-cdec"):
        length += 1
    product = 1.0
    for n in range(1, orders + 1):
        matches, total = counts.numerators[n - 1], counts.denominators[n - 1]
        if n == 1 and method in ("bleu+1", "nakov-cdec"):
            product *= matches / total
        else:
            product *= (matches + 1) / (total + 1)
    return 100 * brevity_penalty(counts.hypothesis_length, length) * product ** (1 / orders)
