"""A suite of studies in; which metric ranks best, and whether it is any good, in words, out."""

from __future__ import annotations

from collections.abc import Iterable

from deltableu.io import written
from deltableu.report.phrases import all_others, fixed, listed
from deltableu.stats import ConfidenceInterval
from deltableu.validate import Standing, SuiteGain, SuiteRanking, SuiteValidation

#: What a metric is not shown to agree better than.
_CONTROLS = {
    "blind": "with the references of other items",
    "shuffled": "with shuffled weights",
}


def suite_verdict(suite: SuiteValidation) -> tuple[str, ...]:
    """What a suite says, in plain sentences."""
    found: list[str] = []
    for ranking in suite.rankings:
        found += _ranking(ranking, suite)
    found += _controls(suite.gains)
    if suite.failures:
        number = len(suite.failures)
        could = "1 study" if number == 1 else f"{number:,} studies"
        names = listed([one.study for one in suite.failures])
        found.append(f"{could} could not be used: {names}.")
    return tuple(found)


def _ranking(ranking: SuiteRanking, suite: SuiteValidation) -> list[str]:
    metrics, population = ranking.metrics, suite.population
    best = metrics[0]
    number = len(ranking.studies)
    over = f"Over {number:,} studies" if number > 1 else f"In {ranking.studies[0]}"
    if number < len(suite.studies):
        only = "the only study" if number == 1 else "those"
        over += f", {only} with all {len(metrics)} metrics"
    measure = f"{ranking.method}, level {ranking.level}"
    if len(metrics) == 1:
        return [
            f"{over}, {best.metric} agrees with people by {_agreement(best)} on average "
            f"({measure}; {population})."
        ]
    level = [one.metric for one in metrics[1:] if one.rank == best.rank]
    rank = f"average rank of {len(metrics)} metrics, {fixed(best.rank, 1)}"
    if best.rank_interval is not None:
        rank += f" ({_span(best.rank_interval, 1)}; {population})"
    if level:
        return [f"{over}, {listed([best.metric, *level])} share the best {rank}, by {measure}."]
    return [
        f"{over}, {best.metric} has the best {rank}, by {measure}.",
        _means(ranking, best, [one.metric for one in metrics[1:]]),
    ]


def _means(ranking: SuiteRanking, best: Standing, others: list[str]) -> str:
    """How the mean agreement of the best compares with that of the others."""
    lower, higher = ranking.lower[best.metric], ranking.higher[best.metric]
    says = f"Its mean agreement, {_agreement(best)}, is"
    if len(lower) == len(others):
        whom = others[0] if len(others) == 1 else all_others(len(others))
        return f"{says} significantly higher than that of {whom}."
    open_names = [name for name in others if name not in lower and name not in higher]
    parts = []
    if higher:
        parts.append(f"significantly lower than that of {listed(higher)}")
    if open_names:
        parts.append(f"not significantly different from that of {listed(open_names)}")
    if lower:
        parts.append(f"significantly higher than that of {listed(lower)}")
    return f"{says} {', but '.join(parts)}."


def _controls(gains: Iterable[SuiteGain]) -> list[str]:
    """Metrics that are not shown to know more than controls do."""
    by_control: dict[str, list[SuiteGain]] = {}
    for one in gains:
        by_control.setdefault(one.over, []).append(one)
    found = []
    for over, own in by_control.items():
        what = _CONTROLS.get(over, f"{over}, which knows nothing of quality")
        weak = [one.metric for one in own if not one.shown]
        if weak:
            verb = "is" if len(weak) == 1 else "are"
            found.append(f"{listed(weak)} {verb} not shown to agree better than {what}.")
        else:
            whose = "Both" if len(own) == 2 else f"All {len(own)}"
            who = f"{own[0].metric} agrees" if len(own) == 1 else f"{whose} metrics agree"
            found.append(f"{who} better than {what}, on average.")
    return found


def _agreement(one: Standing) -> str:
    text = written(one.agreement, ".2r")
    if one.agreement_interval is None:
        return text
    low, high = one.agreement_interval.low, one.agreement_interval.high
    share = f"{100 * one.agreement_interval.confidence:g}%"
    return f"{text} ({share} interval {written(low, '.2r')} to {written(high, '.2r')})"


def _span(interval: ConfidenceInterval, digits: int) -> str:
    ends = f"{fixed(interval.low, digits)} to {fixed(interval.high, digits)}"
    return f"{100 * interval.confidence:g}% interval {ends}"
