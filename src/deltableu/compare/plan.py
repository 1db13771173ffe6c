"""How systems are compared: which tests, intervals and corrections, how often resampled."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal, get_args

from deltableu.compare.paired_tests import Test, check_test
from deltableu.errors import InputError, check_at_least, check_choice, check_share
from deltableu.stats import Correction

DifferenceInterval = Literal["studentized", "jackknife", "percentile", "bca"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparisonPlan:
    """Settings of a comparison.

    Attributes
    ----------
    tests : tuple of str
        The first decides; the others are reported beside it.
    correction : {"holm", "bh", "none"}
        For the number of pairs.
    significance : float
        Adjusted p-values below it are significant.
    interval : {"studentized", "jackknife", "percentile", "bca"}
        How intervals of differences are made. Those of scores are made in the same way, except
        that `studentized` takes the jackknife's.
    confidence : float
        The confidence of the intervals.
    trials : int
        Random exchanges, at least: more are drawn where a correction for many pairs needs them.
    resamples : int
        Bootstrap samples.
    seed : int
    """

    tests: tuple[Test, ...] = ("studentized",)
    correction: Correction = "holm"
    significance: float = 0.05
    interval: DifferenceInterval = "studentized"
    confidence: float = 0.95
    trials: int = 10_000
    resamples: int = 2_000
    seed: int = 0

    def __post_init__(self) -> None:
        if not self.tests:
            raise InputError("no test was asked for")
        if isinstance(self.tests, str):
            raise InputError(f"tests must be a list of tests, got {self.tests!r}")
        for test in self.tests:
            check_test(test)
        if len(set(self.tests)) < len(self.tests):
            raise InputError("a test was asked for twice")
        check_choice("correction", self.correction, get_args(Correction))
        check_choice("interval", self.interval, get_args(DifferenceInterval))
        for name, least in (("trials", 1), ("resamples", 1), ("seed", 0)):
            check_at_least(name, getattr(self, name), least)
        for name in ("confidence", "significance"):
            check_share(name, getattr(self, name))
        object.__setattr__(self, "tests", tuple(self.tests))

    def exchanges(self, pairs: int) -> int:
        """As many that the smallest p-value, corrected for so many pairs, can be significant."""
        if self.correction == "none":
            return self.trials
        return max(self.trials, math.ceil(2.0 * pairs / self.significance))

    def signature(self, pairs: int = 1) -> str:
        """What results depend on beside the scores."""
        counts = dict.fromkeys(("studentized", "randomization"), self.exchanges(pairs))
        counts |= dict.fromkeys(("bootstrap", "koehn", "moses"), self.resamples)
        tests = "+".join(f"{t}-{counts[t]}" if t in counts else t for t in self.tests)
        made = f"-{self.resamples}" if self.interval in ("percentile", "bca") else ""
        if self.interval == "studentized" and "studentized" not in self.tests:
            made = f"-{counts['studentized']}"
        return (
            f"test:{tests}|correction:{self.correction}|significance:{self.significance:g}"
            f"|ci:{self.interval}{made}-{self.confidence:g}|seed:{self.seed}"
        )
