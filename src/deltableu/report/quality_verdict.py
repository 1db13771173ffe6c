"""Qualities estimated from few ratings in; who is best, and what the metric saved, out."""

from __future__ import annotations

from deltableu.rate import QualityEstimates, QualityPair
from deltableu.report.phrases import SIMULATED, all_others, count, decimals, fixed, listed, p_phrase

#: A saving below it is not worth a sentence of praise.
_WORTH = 0.05


def quality_verdict(found: QualityEstimates) -> tuple[str, ...]:
    """Who is best, how many differences are sure, and what the metric was worth."""
    first = _differences(found) if found.baseline is not None and found.pairs else _best(found)
    if found.simulated:
        first = [SIMULATED, *first]
    said = tuple(filter(None, (*first, _sure(found), _saved(found), _unrated(found))))
    who = "simulated raters" if found.simulated else "people"
    return tuple(_said_by(sentence, who) for sentence in said)


def _said_by(sentence: str, who: str) -> str:
    if who == "people" or sentence == SIMULATED:
        return sentence
    return sentence.replace("people", who).replace("People", who.capitalize())


def _best(found: QualityEstimates) -> list[str]:
    if not found.systems:
        return ["No system has enough ratings yet: rate the outputs of the order first."]
    if len(found.systems) == 1:
        only = found.systems[0]
        interval = only.quality.interval
        digits = decimals(interval.high - interval.low)
        return [
            f"People would rate {only.system} {fixed(only.quality.mean, digits)} on average "
            f"({interval.confidence:.0%} interval {fixed(interval.low, digits)} to "
            f"{fixed(interval.high, digits)})."
        ]
    first = found.systems[0].system
    others = [one for one in found.pairs if one.better == first]
    doubtful = [one.worse for one in others if not one.significant]
    nearest = _difference(min(others, key=lambda one: one.difference.interval.low))
    if not doubtful:
        everybody = all_others(len(others))
        return [f"{first} is best: people would rate it higher than {everybody}.", nearest]
    return [
        f"These {count(found.rated, 'rated output')} cannot tell which of "
        f"{listed([first, *doubtful])} people would rate highest.",
        nearest,
    ]


def _differences(found: QualityEstimates) -> list[str]:
    """Each system against the baseline, those that differ first."""
    sure = [_difference(one) for one in found.pairs if one.significant]
    corrected = f" after correction for {len(found.pairs):,} pairs" if len(found.pairs) > 1 else ""
    rest = [
        f"{_difference(one).removesuffix('.')}, which is not significant{corrected} "
        f"({p_phrase(one.p_adjusted)})."
        for one in found.pairs
        if not one.significant
    ]
    return [*sure, *rest]


def _difference(pair: QualityPair) -> str:
    one = pair.difference
    digits = decimals(one.interval.high - one.interval.low)
    numbers = [fixed(value, digits) for value in (one.interval.low, one.interval.high)]
    return (
        f"{pair.better} is {fixed(one.difference, digits)} ahead of {pair.worse} "
        f"({one.interval.confidence:.0%} interval {numbers[0]} to {numbers[1]})."
    )


def _sure(found: QualityEstimates) -> str:
    if len(found.systems) < 3 or found.baseline is not None:
        return ""
    sure = sum(one.significant for one in found.pairs)
    return f"{sure:,} of {count(len(found.pairs), 'pair')} differ significantly."


def _saved(found: QualityEstimates) -> str:
    if not found.systems or found.method == "ratings" or found.simulated:
        return ""
    if found.finite and not found.order and not found.unrated:
        return "All outputs are rated, so that nothing about them had to be estimated."
    share = found.saved / max(found.rated, 1)
    if share < _WORTH:
        return f"{found.metric} saves hardly any ratings here ({_percent(share)})."
    return (
        f"With {found.metric} the {count(found.rated, 'rated output')} tell as much as "
        f"{found.rated + round(found.saved):,} would without it ({_percent(share)})."
    )


def _percent(share: float) -> str:
    return f"{'+' if share >= 0.0 else '-'}{abs(share):.0%}"


def _unrated(found: QualityEstimates) -> str:
    if not found.unrated or not found.systems:
        return ""
    has = "has" if len(found.unrated) == 1 else "have"
    return f"{listed(found.unrated)} {has} too few ratings to say anything."
