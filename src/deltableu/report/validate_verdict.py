"""A validation in; sentences that say which metrics agree with people, and how surely, out."""

from __future__ import annotations

import math

from deltableu.corpus import says_simulated
from deltableu.io import written
from deltableu.report.phrases import all_others, count, listed
from deltableu.validate import Agreement, Level, MetricComparison, Validation

_HOW: dict[Level, tuple[str, str]] = {
    "system": ("System by system", "system"),
    "pooled": ("Output by output", "output"),
    "item": ("Within items", "item"),
}


def validate_verdict(validation: Validation) -> tuple[str, ...]:
    """What a validation says, level by level, in plain sentences."""
    if validation.simulated:
        return (simulated_verdict(says_simulated(validation.source)),)
    levels = dict.fromkeys(one.level for one in validation.agreements)
    return tuple(sentence for level in levels for sentence in _level(validation, level))


def simulated_verdict(outputs: bool) -> str:
    """That simulated ratings tell nothing of metrics: ratings of outputs, or of references."""
    if outputs:
        return (
            "The ratings are simulated, not people's: how metrics agree with them says nothing "
            "about the metrics, so none is ranked."
        )
    return (
        "The weights of references are simulated, not people's: how metrics that use them agree "
        "with people says nothing about these metrics, so none is ranked."
    )


def _level(validation: Validation, level: Level) -> list[str]:
    method = validation.agreements[0].method
    measured = [
        one
        for one in validation.agreements
        if one.level == level
        and one.method == method
        and one.metric not in validation.sentinels
        and not math.isnan(one.value)
    ]
    how, unit = _HOW[level]
    if not measured:
        return [f"{how}, no metric has a correlation with people."]
    best = max(measured, key=lambda one: one.value)
    units = count(best.units, unit)
    comparison = next((one for one in validation.comparisons if one.level == level), None)
    if best.value <= 0.0 or (best.interval is not None and best.interval.low <= 0.0):
        return [
            f"{how} ({units}), no metric is shown to agree with people: the best is "
            f"{best.metric}, {_value(best)}."
        ]
    if comparison is not None and comparison.unranked:
        return [
            f"{comparison.unranked.partition(':')[0]} {how.lower()}: {best.metric} is ahead with "
            f"{_value(best)}, which is no proof that it agrees better than the others.",
            *_pairs_in_order(validation, best.metric, level),
        ]
    if best.interval is None:
        return [
            f"{how} ({units}), {best.metric} is ahead with {_value(best)}; so few {unit}s leave "
            "no interval."
        ]
    found = [f"{how} ({units}), {_best(best, measured, comparison)}"]
    found += _pairs_in_order(validation, best.metric, level)
    found += _beaten_by_none(comparison)
    ceiling = validation.raters and validation.raters.ceiling(level, method)
    if ceiling and not math.isnan(ceiling.perfect):
        top = written(ceiling.perfect, ".2r")
        found.append(f"With these raters a perfect metric would reach about {top}.")
    return found


def _pairs_in_order(validation: Validation, metric: str, level: Level) -> list[str]:
    """Kendall's tau read as Wei does: how much more often a metric agrees than it disagrees."""
    for one in validation.accuracies:
        if level == "system" and (one.metric, one.measure) == (metric, "pairwise") and one.pairs:
            right = round(one.value * one.pairs)
            said = (
                f"Of {count(one.pairs, 'pair')} of systems {metric} puts {right} in people's order"
            )
            points = round(100.0 * (2.0 * one.value - 1.0))
            if points <= 0:
                return [f"{said}, no more than chance would."]
            return [f"{said}: it is right more often than not by {points} percentage points."]
    return []


def _best(best: Agreement, measured: list[Agreement], comparison: MetricComparison | None) -> str:
    """Who agrees best, and with whom it is level."""
    says = f"{best.metric} agrees best with people: {_value(best)}"
    others = [one.metric for one in measured if one.metric != best.metric]
    if not others:
        return f"{best.metric} agrees with people: {_value(best)}."
    if comparison is None:
        return f"{says}."
    level_with = [name for name in comparison.winners if name != best.metric and name in others]
    beaten = [name for name in others if _beats(comparison, best.metric, name)]
    if len(beaten) == len(others):
        whom = others[0] if len(others) == 1 else all_others(len(others))
        return f"{says}, significantly better than {whom}."
    open_names = [name for name in others if name not in beaten]
    names = level_with or open_names
    also = f", but significantly better than {listed(beaten)}" if beaten else ""
    return f"{says}, not significantly better than {listed(names)}{also}."


def _beats(comparison: MetricComparison, better: str, worse: str) -> bool:
    names = [one.metric for one in comparison.metrics]
    if better not in names or worse not in names:
        return False
    p_value = float(comparison.adjusted[names.index(better), names.index(worse)])
    return p_value < comparison.significance and names.index(better) < names.index(worse)


def _beaten_by_none(comparison: MetricComparison | None) -> list[str]:
    """Metrics that are not shown to know more than what knows nothing of quality."""
    if comparison is None or not comparison.sentinels or not comparison.beats.size:
        return []
    found = []
    for column, sentinel in enumerate(comparison.sentinels):
        weak = [
            one.metric
            for one, p_value in zip(comparison.metrics, comparison.beats[:, column], strict=True)
            if not p_value < comparison.significance and not math.isnan(p_value)
        ]
        if weak:
            verb = "is" if len(weak) == 1 else "are"
            found.append(
                f"{listed(weak)} {verb} not shown to agree better than {sentinel}, which knows "
                "nothing of quality."
            )
    return found


def _value(agreement: Agreement) -> str:
    text = f"{agreement.method} {written(agreement.value, '.2r')}"
    if agreement.interval is None or math.isnan(agreement.interval.low):
        return text
    low, high = (written(end, ".2r") for end in (agreement.interval.low, agreement.interval.high))
    return f"{text} ({100 * agreement.interval.confidence:g}% interval {low} to {high})"
