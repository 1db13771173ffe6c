"""Comparisons in; which system is better in sentences that never claim more than a test, out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import NormalDist

from deltableu.compare import ComparedPair, Comparison
from deltableu.report.phrases import (
    all_others,
    count,
    decimals,
    fixed,
    listed,
    p_phrase,
    rounded_up,
)

#: The power for which sample sizes are given, as `plan compare` has it.
_POWER = 0.8
#: More items than that nobody collects.
_MOST_ITEMS = 100_000
#: Systems that are each given a sentence.
_MOST_SENTENCES = 5


def compare_verdict(comparisons: Sequence[Comparison]) -> tuple[str, ...]:
    """What comparisons of the same systems under one or more metrics say, in plain sentences.

    The first metric decides what is said; of the others, whether they agree.
    """
    first, *others = comparisons
    sentences = [*_simulated(comparisons), *_too_few(first)]
    tested = [pair for pair in first.pairs if not math.isnan(first.deciding(pair))]
    untested = _untested(first)
    if first.baseline is None and len(first.systems) > 2:
        sentences += _leaders(first)
        sentences += _other_leaders(first, others)
    else:
        said = [_sentence(first, pair) for pair in tested[:_MOST_SENTENCES]]
        sentences += said
        if len(tested) > _MOST_SENTENCES:
            better = sum(pair.better == pair.first for pair in tested)
            worse = sum(pair.better == pair.second for pair in tested)
            sentences.append(
                f"Of {len(tested)} systems, {better} are better than {first.baseline} and {worse} "
                "are worse; the tables name the others."
            )
        elif len(tested) == 1:
            sentences += _others_agree(first, tested[0], others)
    if untested:
        sentences.append(_no_test(first, untested, others))
    return tuple(sentences)


def _simulated(comparisons: Sequence[Comparison]) -> list[str]:
    """Which metrics use weights that nobody gave."""
    names = [one.metric for one in comparisons if one.simulated]
    if not names:
        return []
    use = "uses" if len(names) == 1 else "use"
    return [f"The weights that {listed(names)} {use} are simulated, not people's."]


@dataclass(frozen=True, slots=True)
class _Gain:
    """What the first of two systems gains on the second; more is better for any metric."""

    value: float
    low: float
    high: float
    confidence: float
    known: bool

    @classmethod
    def of(cls, comparison: Comparison, pair: ComparedPair, better: str) -> _Gain:
        sign = 1.0 if comparison.higher_is_better else -1.0
        sign *= 1.0 if better == pair.first else -1.0
        interval = pair.interval
        if interval is None or not math.isfinite(interval.high - interval.low):
            return cls(sign * pair.difference, math.nan, math.nan, 0.0, False)
        low, high = sorted((sign * interval.low, sign * interval.high))
        return cls(sign * pair.difference, low, high, interval.confidence, True)

    @property
    def includes_zero(self) -> bool:
        return self.known and self.low <= 0.0 <= self.high

    @property
    def digits(self) -> int:
        return decimals(self.high - self.low if self.known else abs(self.value))

    def amount(self) -> str:
        return fixed(self.value, self.digits)

    def span(self) -> str:
        low, high = (fixed(end, self.digits) for end in (self.low, self.high))
        return f"{100 * self.confidence:g}% interval {low} to {high}"


def _sentence(comparison: Comparison, pair: ComparedPair) -> str:
    """One pair: better, or what cannot be told."""
    if pair.better is not None:
        return _better(comparison, pair, pair.better)
    return _cannot_tell(comparison, pair)


def _better(comparison: Comparison, pair: ComparedPair, better: str) -> str:
    worse = pair.second if better == pair.first else pair.first
    gain = _Gain.of(comparison, pair, better)
    metric, test = comparison.metric, comparison.tests[0]
    p_value = p_phrase(comparison.deciding(pair))
    if gain.value <= 0.0:
        # A test of something else than the score may speak for the system that scores less.
        return (
            f"By {test}, {better} is better than {worse} ({p_value}), although its {metric} is not "
            f"({fixed(comparison_score(comparison, better), gain.digits)} against "
            f"{fixed(comparison_score(comparison, worse), gain.digits)})."
        )
    by = f"{better} is better than {worse} by {gain.amount()} {metric}"
    if not gain.known:
        return f"{by} ({p_value}, {test})."
    if gain.includes_zero:
        return f"{by} ({p_value}, {test}), though the {gain.span()} includes 0."
    return f"{by} ({gain.span()})."


def _cannot_tell(comparison: Comparison, pair: ComparedPair) -> str:
    units = _units(comparison)
    names = f"{pair.first} and {pair.second}"
    ahead = _ahead(comparison, pair)
    gain = _Gain.of(comparison, pair, ahead)
    metric = comparison.metric
    if pair.difference == 0.0 and (not gain.known or gain.low == gain.high):
        return f"{names} have the same {metric}: these {units} show no difference."
    behind = pair.second if ahead == pair.first else pair.first
    if gain.known and not gain.includes_zero:
        of = count(len(comparison.pairs), "pair")
        corrected = f" after correction for {of}" if comparison.correction != "none" else ""
        return (
            f"{ahead} is {gain.amount()} {metric} ahead of {behind}, which is not "
            f"significant{corrected} ({p_phrase(comparison.deciding(pair))}); the {gain.span()} is "
            "that of this pair alone."
        )
    what = f"These {units} cannot tell {names} apart"
    if not gain.known:
        return f"{what} ({p_phrase(comparison.deciding(pair))})."
    return (
        f"{what}: {ahead} is {gain.amount()} {metric} ahead of {behind}, and the {gain.span()} "
        f"includes 0{_more_items(comparison, gain)}."
    )


def _more_items(comparison: Comparison, gain: _Gain) -> str:
    """How many items would show the difference that was seen, if it is real."""
    needed = items_needed(
        gain.value,
        max(gain.high - gain.value, gain.value - gain.low),
        gain.confidence,
        comparison.items if comparison.groups is None else comparison.groups,
        comparison.significance / (1 if comparison.correction == "none" else len(comparison.pairs)),
    )
    if needed is None:
        return ""
    of = "items" if comparison.groups is None else "groups"
    if needed > _MOST_ITEMS:
        return f"; a true difference so small needs more than {_MOST_ITEMS:,} {of} like these"
    return (
        f"; if that is the true difference, about {needed:,} {of} like these would show it "
        f"({_POWER:.0%} power)"
    )


def items_needed(
    difference: float, reach: float, confidence: float, items: int, significance: float
) -> int | None:
    """Items for which a difference would be significant four times in five, if it is the true one.

    From the interval's half width by the normal approximation, errors falling with the root of the
    number of items; None where that says nothing.

    Examples
    --------
    >>> items_needed(0.4, 2.3, 0.95, 40, 0.05)
    2800
    """
    if not (math.isfinite(reach) and reach > 0.0 and abs(difference) > 0.0):
        return None
    normal = NormalDist()
    error = reach / normal.inv_cdf((1.0 + confidence) / 2.0)
    z = normal.inv_cdf(1.0 - significance / 2.0) + normal.inv_cdf(_POWER)
    wanted = items * (z * error / abs(difference)) ** 2
    if wanted <= items:
        return None
    return rounded_up(min(wanted, 1e12))


def _leaders(comparison: Comparison) -> list[str]:
    """Who is best of many systems, and how many differences are significant."""
    ranked = [one for one in comparison.systems if one.rank is not None]
    if len(ranked) < 2:
        return []
    top = [one.system for one in ranked if one.rank is not None and one.rank[0] == 1]
    significant = sum(pair.significant for pair in comparison.pairs)
    pairs = [pair for pair in comparison.pairs if not math.isnan(comparison.deciding(pair))]
    units = _units(comparison)
    if len(top) == 1:
        best, next_best = top[0], ranked[1].system
        nearest = _sentence(comparison, comparison.pair(best, next_best))
        many = all_others(len(ranked) - 1)
        known = comparison.pair(best, next_best).better == best
        text = f"{best} is best: better than {many} by {comparison.metric}."
        found = [text, nearest] if known else [text]
    elif len(top) == len(ranked) and not significant:
        return [f"These {units} cannot tell any of the {len(ranked)} systems apart."]
    else:
        found = [
            f"These {units} cannot tell which of {listed(top)} is best by {comparison.metric}: no "
            "system is significantly better than any of them."
        ]
    found.append(f"{significant} of {count(len(pairs), 'pair')} differ significantly.")
    return found


def _other_leaders(first: Comparison, others: Sequence[Comparison]) -> list[str]:
    """Whom other metrics put first."""
    named = {one.metric: _top(one) for one in (first, *others)}
    mine = named.pop(first.metric)
    agree = [name for name, top in named.items() if top == mine]
    found = []
    if agree:
        found.append(f"{listed(agree)} {_verb(agree, 'agrees', 'agree')}.")
    for name, top in named.items():
        if top and top != mine:
            found.append(f"By {name}, {listed(top)} {_verb(top, 'comes', 'come')} first.")
    return found


def _top(comparison: Comparison) -> tuple[str, ...]:
    return tuple(
        one.system for one in comparison.systems if one.rank is not None and one.rank[0] == 1
    )


def _others_agree(first: Comparison, pair: ComparedPair, others: Sequence[Comparison]) -> list[str]:
    """Whether other metrics say the same of two systems."""
    sorts: dict[str, list[str]] = {"same": [], "open": [], "opposite": [], "none": []}
    for other in others:
        its = other.pair(pair.first, pair.second)
        if math.isnan(other.deciding(its)):
            sorts["none"].append(other.metric)
        elif its.better is None:
            sorts["open"].append(other.metric)
        else:
            sorts["same" if its.better == pair.better else "opposite"].append(other.metric)
    if pair.better is None:
        found = [
            _better(other, its, its.better)
            for other in others
            if (its := other.pair(pair.first, pair.second)).better is not None
        ]
        if sorts["open"]:
            names = listed(sorts["open"])
            found.append(f"{names} cannot tell them apart either.")
        return found
    found = []
    if sorts["same"]:
        found.append(f"{listed(sorts['same'])} {_verb(sorts['same'], 'agrees', 'agree')}.")
    if sorts["open"]:
        found.append(f"{listed(sorts['open'])} cannot tell them apart.")
    if sorts["opposite"]:
        says = _verb(sorts["opposite"], "says", "say")
        found.append(f"{listed(sorts['opposite'])} {says} the opposite.")
    return found


def _untested(comparison: Comparison) -> list[str]:
    """Systems that are in no pair that could be tested."""
    tested = {
        name
        for pair in comparison.pairs
        if not math.isnan(comparison.deciding(pair))
        for name in (pair.first, pair.second)
    }
    return [one.system for one in comparison.systems if one.system not in tested]


def _no_test(comparison: Comparison, names: list[str], others: Sequence[Comparison]) -> str:
    signed = [one.metric for one in others if one.metric == f"signed-{comparison.metric}"]
    instead = f"; {signed[0]} is tested in its place" if signed else ""
    if set(names) == {one.system for one in comparison.systems}:
        return f"No difference by {comparison.metric} can be tested{instead}."
    return (
        f"{listed(names)} could not be tested by {comparison.metric}: the "
        f"{_verb(names, 'score is', 'scores are')} clamped{instead}."
    )


def _too_few(comparison: Comparison) -> list[str]:
    return [f"{one}." for one in comparison.warnings if "too few for any difference" in one]


def comparison_score(comparison: Comparison, system: str) -> float:
    """The score of a system."""
    return next(one.score for one in comparison.systems if one.system == system)


def _ahead(comparison: Comparison, pair: ComparedPair) -> str:
    higher = pair.first if pair.difference >= 0.0 else pair.second
    lower = pair.second if higher == pair.first else pair.first
    return higher if comparison.higher_is_better else lower


def _units(comparison: Comparison) -> str:
    if comparison.groups is None:
        return count(comparison.items, "item")
    return f"{count(comparison.groups, 'group')} of items"


def _verb(names: Sequence[str], singular: str, plural: str) -> str:
    return singular if len(names) == 1 else plural
