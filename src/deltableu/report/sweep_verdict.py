"""Sweeps in; where each metric agrees best with people, in a sentence, out."""

from __future__ import annotations

import math

from deltableu.corpus import says_simulated
from deltableu.io import written
from deltableu.report.validate_verdict import simulated_verdict
from deltableu.validate import Sweep, Sweeps, UnitAgreement

_PHRASES = {
    "settings": "with references {}",
    "threshold": "with references {}",
    "unit-size": "on units of {}",
    "order": "up to order {}",
    "references": "with {} references per item",
    "origin": "with {} references",
}
_SETTINGS = {
    "single": "with the original reference",
    "original": "with the original references",
    "all": "with all references",
}


def sweep_verdict(found: Sweeps) -> tuple[str, ...]:
    """A sentence for each sweep: the place of each metric's highest correlation.

    It is the highest of those that were seen, and no test: intervals say how sure each is.
    """
    if found.simulated:
        return (simulated_verdict(says_simulated(found.human)),)
    return tuple(said for one in found.sweeps if (said := _of(one)))


def _of(sweep: Sweep) -> str | None:
    best = []
    for metric in sweep.metrics:
        seen = [
            one
            for one in sweep.agreements
            if one.metric == metric and one.method == sweep.methods[0] and not math.isnan(one.value)
        ]
        if seen:
            best.append(max(seen, key=lambda one: one.value))
    if not best or len(sweep.settings) < 2:
        return None
    best.sort(key=lambda one: -one.value)
    places = "; ".join(_place(one, _PHRASES[sweep.name]) for one in best)
    return f"Highest {sweep.methods[0]} with people by {sweep.name}: {places}."


def _place(one: UnitAgreement, phrase: str) -> str:
    where = _SETTINGS.get(one.setting, phrase.format(one.setting))
    return f"{one.metric} {written(one.value, '.3r')} {where}"
