"""How raters agree in; what to make of it, in sentences, out."""

from __future__ import annotations

import math
from collections.abc import Sequence

from deltableu.io import written
from deltableu.rate import RaterAgreement
from deltableu.report.phrases import SIMULATED, count, listed

#: Krippendorff 2004: what data can be relied on, and what only tentative conclusions rest on.
_RELIABLE, _TENTATIVE = 0.8, 2.0 / 3.0


def agreement_verdict(found: Sequence[RaterAgreement]) -> tuple[str, ...]:
    """Whether raters agree, how many are enough, and who agrees with nobody."""
    several = len(found) > 1
    simulated = [SIMULATED] if any(one.simulated for one in found) else []
    sentences = [one for each in found for one in _sentences(each, short=several)]
    return (*simulated, *sentences)


def _sentences(found: RaterAgreement, *, short: bool) -> list[str]:
    alpha = written(found.alpha, ".2r")
    span = ""
    if found.interval is not None:
        low, high = (written(one, ".2r") for one in (found.interval.low, found.interval.high))
        span = f", {100 * found.interval.confidence:g}% interval {low} to {high}"
    how = (
        "agree well"
        if found.alpha >= _RELIABLE
        else "agree fairly well"
        if found.alpha >= _TENTATIVE
        else "agree somewhat"
        if found.alpha >= 0.4
        else "agree little"
        if found.alpha > 0.0
        else "do not agree beyond chance"
    )
    who = "Simulated raters" if found.simulated else "Raters"
    sentences = [f"{who} {how} about {found.name} (Krippendorff's alpha {alpha}{span})."]
    if short:
        return [*sentences, *_enough(found)]
    return [*sentences, *_ceiling(found), *_enough(found), *_strangers(found)]


def _ceiling(found: RaterAgreement) -> list[str]:
    if math.isnan(found.reliability):
        return []
    if found.reliability <= 0.0:
        return ["Halves of the ratings do not agree: their means say nothing that others would."]
    return [
        f"The mean of {written(found.per_unit, '.3g')} ratings has a reliability of "
        f"{written(found.reliability, '.2r')}: no metric can be expected to correlate with it by "
        f"more than {written(found.ceiling, '.2r')}."
    ]


def _enough(found: RaterAgreement) -> list[str]:
    if math.isnan(found.reliability):
        return []
    goal = (
        f"for a mean that correlates by {written(found.target, '.2r')} with what ever more raters "
        "would say"
    )
    if found.enough is None:
        return [f"Even 1,000 ratings per {found.unit} are not enough {goal}."]
    verb = "is" if found.enough == 1 else "are"
    return [f"{count(found.enough, 'rating')} per {found.unit} {verb} enough {goal}."]


def _strangers(found: RaterAgreement) -> list[str]:
    apart = found.strangers()
    if not apart:
        return []
    names, usual = listed([one.rater for one in apart]), written(found.one_rater, ".2r")
    if len(apart) == 1:
        r = written(apart[0].correlation, ".2r")
        return [
            f"{names} does not rate as the others do (r = {r} with their mean, where {usual} is "
            "usual)."
        ]
    return [
        f"{names} do not rate as the others do (r with their mean less than half of the usual "
        f"{usual})."
    ]
