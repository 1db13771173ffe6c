"""How systems are compared: which tests, intervals and corrections, how often resampled."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal, get_args

from deltableu.compare.paired_tests import Test, check_test
from deltableu.errors import InputError
from deltableu.stats import Correction

__all__ = ["ComparisonPlan", "DifferenceInterval"]

DifferenceInterval = Literal["jackknife", "percentile", "bca"]


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
    interval : {"jackknife", "percentile", "bca"}
    level : float
        Of the intervals.
    trials : int
        Random exchanges.
    resamples : int
        Bootstrap samples.
    seed : int
    """

    tests: tuple[Test, ...] = ("randomization",)
    correction: Correction = "holm"
    significance: float = 0.05
    interval: DifferenceInterval = "jackknife"
    level: float = 0.95
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
        for name, choices in (("correction", Correction), ("interval", DifferenceInterval)):
            if getattr(self, name) not in get_args(choices):
                allowed = ", ".join(get_args(choices))
                message = f"{name} must be one of {allowed}, got {getattr(self, name)!r}"
                raise InputError(message)
        for name in ("trials", "resamples", "seed"):
            if not isinstance(getattr(self, name), Integral):
                raise InputError(f"{name} must be a whole number, got {getattr(self, name)!r}")
        for name in ("trials", "resamples"):
            if getattr(self, name) < 1:
                raise InputError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.seed < 0:
            raise InputError(f"seed must not be negative, got {self.seed}")
        for name in ("level", "significance"):
            value = getattr(self, name)
            if not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
                raise InputError(f"{name} must lie between 0 and 1, got {value!r}")
        object.__setattr__(self, "tests", tuple(self.tests))

    def signature(self) -> str:
        """What results depend on beside the scores."""
        counts = {"randomization": self.trials, "bootstrap": self.resamples}
        counts |= {"koehn": self.resamples, "moses": self.resamples}
        tests = "+".join(f"{t}-{counts[t]}" if t in counts else t for t in self.tests)
        made = "" if self.interval == "jackknife" else f"-{self.resamples}"
        return (
            f"test:{tests}|correction:{self.correction}|significance:{self.significance:g}"
            f"|ci:{self.interval}{made}-{self.level:g}|seed:{self.seed}"
        )
