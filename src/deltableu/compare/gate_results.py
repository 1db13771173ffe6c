"""What a gate says: a check for each system and metric, sentences, a table."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from deltableu._visible import visible
from deltableu.io import Column, Table, Tabular, field_record
from deltableu.stats import ConfidenceInterval

GateMode = Literal["worse", "non-inferior", "equivalent"]
Sequential = Literal["off", "commits", "items"]

POWER = 0.8


@dataclass(frozen=True, slots=True)
class GateScore:
    """A system's score, as it goes into a history."""

    system: str
    metric: str
    score: float
    interval: ConfidenceInterval | None


@dataclass(frozen=True, slots=True)
class GateCheck:
    """One system against the baseline under one metric.

    Attributes
    ----------
    gain : float
        By how much the system is better than the baseline, whichever way the metric points.
    low, high : float
        One-sided bounds of the gain, each at `significance`; infinite where nothing can be said.
    significance : float
        Of each bound: what the correction for several checks, and earlier looks, leave to it.
    smallest : float
        Mode worse: the loss that such a sample would show with 80% power. Else the margin within
        which it would show equal systems to be, with the same power.
    untested : str
        Why there was no test; empty where there was one.
    """

    system: str
    metric: str
    score: float
    baseline_score: float
    gain: float
    low: float
    high: float
    significance: float
    smallest: float
    passed: bool
    untested: str = ""


@dataclass(frozen=True, slots=True)
class Gate(Tabular):
    """Whether systems may pass, and what that rests on.

    Attributes
    ----------
    checks : tuple of GateCheck
        Systems in their order, and all metrics of each.
    look : int
        Number of this look at these items, from 1, where looks are counted.
    units : int
        Items, or groups of them.
    signatures : tuple of str
        Of the scores, by metric: gates are comparable only if these agree.
    digest : str
        Of what all systems did on all items.
    warnings : tuple of str
    """

    baseline: str
    mode: GateMode
    margin: float
    significance: float
    sequential: Sequential
    look: int
    items: int
    units: int
    units_are: str
    checks: tuple[GateCheck, ...]
    scores: tuple[GateScore, ...]
    signatures: tuple[str, ...]
    digest: str
    warnings: tuple[str, ...]

    @property
    def passed(self) -> bool:
        """Whether every system passes under every metric."""
        return all(check.passed for check in self.checks)

    @property
    def systems(self) -> tuple[str, ...]:
        """Those that were held against the baseline."""
        return tuple(dict.fromkeys(check.system for check in self.checks))

    def of(self, system: str) -> tuple[GateCheck, ...]:
        """The checks of one system."""
        return tuple(check for check in self.checks if check.system == system)

    def sentences(self) -> tuple[str, ...]:
        """The verdict on every system, then what the sample could have shown."""
        return (*(self.sentence(system) for system in self.systems), *self._sizes())

    def sentence(self, system: str) -> str:
        """Whether a system passes, and why."""
        checks = self.of(system)
        failed = [check for check in checks if not check.passed]
        told = "; ".join(self.reason(check) for check in failed or checks)
        return visible(f"{system} {'fails' if failed else 'passes'}: {told}.")

    def reason(self, check: GateCheck) -> str:
        """Why one check came out as it did."""
        metric, base = check.metric, self.baseline
        if check.untested:
            return f"{metric} cannot be tested, because {check.untested}"
        if self.mode == "worse":
            return self._about_worse(check)
        worst = max(-check.low, check.high) if self.mode == "equivalent" else -check.low
        margin = f"the margin of {figure(self.margin)}"
        if self.mode == "equivalent":
            where = f"{figure(worst)} {metric} from {base}"
            return (
                f"within {where}, inside {margin}"
                if check.passed
                else (f"it may be {where}, outside {margin} ({self._difference(check)})")
            )
        if not check.passed:
            return (
                f"it may be {figure(worst)} {metric} worse than {base}, more than {margin} "
                f"({self._difference(check)})"
            )
        if worst <= 0.0:
            return f"at least {figure(-worst)} {metric} better than {base}"
        return f"at most {figure(worst)} {metric} worse than {base}, within {margin}"

    def _about_worse(self, check: GateCheck) -> str:
        metric, base = check.metric, self.baseline
        more = f" by more than {figure(self.margin)}" if self.margin > 0.0 else ""
        if check.passed:
            bounded = math.isfinite(check.low) and check.low < 0.0
            at_worst = f"; at most {figure(-check.low)} worse" if bounded else ""
            return (
                f"not shown to be worse than {base}{more} in {metric} "
                f"({self._difference(check)}{at_worst})"
            )
        beyond = f", more than the margin of {figure(self.margin)}" if self.margin > 0.0 else ""
        return (
            f"worse than {base} by {figure(-check.gain)} {metric} "
            f"(at least {figure(-check.high)}{beyond})"
        )

    def _difference(self, check: GateCheck) -> str:
        if check.gain == 0.0:
            return "no difference"
        return f"{figure(abs(check.gain))} {'better' if check.gain > 0.0 else 'worse'}"

    def _sizes(self) -> Iterator[str]:
        metrics = dict.fromkeys(check.metric for check in self.checks)
        for metric in metrics:
            found = [check.smallest for check in self.checks if check.metric == metric]
            most = max((size for size in found if math.isfinite(size)), default=0.0)
            if most == 0.0:
                continue
            these = f"These {self.units:,} {self.units_are}"
            if self.mode == "worse":
                yield visible(
                    f"{these} would show a loss of {figure(most)} {metric} ({POWER:.0%} power)."
                )
            else:
                yield visible(
                    f"{these} would let equal systems pass from a margin of {figure(most)} "
                    f"{metric} on ({POWER:.0%} power)."
                )

    def record(self) -> dict[str, object]:
        """All fields, whether all passed, and the sentences."""
        return {"passed": self.passed, "verdict": self.sentences(), **field_record(self)}

    def table(self, *, digits: int = 2) -> Table:
        """A row for each check."""
        form = f".{digits}f"
        columns: dict[Column, list[object]] = {
            Column("system"): [one.system for one in self.checks],
            Column("metric"): [one.metric for one in self.checks],
            Column("score", form): [one.score for one in self.checks],
            Column("baseline", form): [one.baseline_score for one in self.checks],
            Column("better by", form, key="gain"): [one.gain for one in self.checks],
            Column("at least", form, key="low"): [_finite(one.low) for one in self.checks],
            Column("at most", form, key="high"): [_finite(one.high) for one in self.checks],
            Column("gate", key="passed"): ["pass" if one.passed else "FAIL" for one in self.checks],
        }
        levels = dict.fromkeys(f"{1.0 - one.significance:.5g}" for one in self.checks)
        notes = {
            "gate": f"{self.mode} than {self.baseline}, margin {self.margin:g}"
            if self.mode == "worse"
            else f"{self.mode} to {self.baseline}, margin {self.margin:g}",
            "at least, at most": f"one-sided bounds at {', '.join(levels)} each",
        }
        if self.sequential == "commits":
            notes["look"] = f"{self.look}, whose bounds leave room for all others"
        elif self.sequential == "items":
            notes["look"] = "bounds hold for all sizes of the sample together"
        if self.sequential != "off":
            notes["bounds"] = (
                f"of the mean score of {self.units_are}, whatever its distribution within the "
                "metric's limits"
            )
        for number, warning in enumerate(self.warnings, start=1):
            notes[f"warning {number}"] = warning
        metrics = dict.fromkeys(one.metric for one in self.checks)
        signatures = dict(zip(metrics, self.signatures, strict=True))
        rows = zip(*columns.values(), strict=True)
        return Table(columns, rows, notes=notes, signatures=signatures)


def figure(value: float) -> str:
    """A difference for a sentence: two decimals, or two digits of a small one.

    Examples
    --------
    >>> figure(3.14159), figure(0.00213), figure(2.0), figure(float("inf"))
    ('3.14', '0.0021', '2', 'infinitely')
    """
    if math.isinf(value):
        return "infinitely"
    text = f"{value:.2f}" if abs(value) >= 0.1 or value == 0.0 else f"{value:.2g}"
    return text.rstrip("0").rstrip(".") if "." in text and "e" not in text else text


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
