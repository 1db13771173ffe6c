"""How metrics are validated: which correlations, levels, tests and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from deltableu.errors import InputError, check_at_least, check_choice, check_share
from deltableu.rate import HumanScale
from deltableu.stats import Method
from deltableu.validate.levels import AccuracyMethod, Level
from deltableu.validate.metric_tests import default_test
from deltableu.validate.winners import MetricCorrection, MetricTest


@dataclass(frozen=True, slots=True, kw_only=True)
class ValidationPlan:
    """Settings of a validation.

    Attributes
    ----------
    scale : {"z", "raw", "mixed"}
        What raw ratings become: standardised by rater, as given, or without the rater effects of a
        mixed model. Ready human scores are taken as they are.
    min_raters : int
        Raters that an output needs for its score to count; also for raw ratings.
    methods : tuple of str
        Correlations; the first is the one that metrics are compared by. Also accuracies
        (`pairwise-accuracy`, `spa`, `acc-eq`, `acc-eq-in-sample`, `acc-eq-by-system`, `auc`,
        `average-precision`), by each of which metrics are compared too; without any correlation
        beside them there is Pearson's.
    levels : tuple of str
        `system`, `pooled` (all outputs together) and `item` (systems within each item, averaged).
    test : str
        How one metric is shown to agree better than another. `auto` is `perm-systems` at level
        system, which speaks about other systems, and `perm-items` at the others, which speaks about
        these systems and other items.
    correction : {"holm", "bh", "none", "wmt"}
        How two-sided tests are corrected for the number of pairs; `wmt` tests each pair both ways,
        one-sided, without correction.
    significance : float
    confidence : float
        The confidence of the intervals.
    resamples : int
        Resamples for bootstrap intervals, and at least so many for tests.
    threshold : float
        For `kendall-like`, pairs that people rate closer than this do not count.
    seed : int
    """

    scale: HumanScale = "z"
    min_raters: int = 1
    methods: tuple[Method | AccuracyMethod, ...] = ("pearson", "spearman", "kendall-b")
    levels: tuple[Level, ...] = ("system", "pooled", "item")
    test: MetricTest | Literal["auto"] = "auto"
    correction: MetricCorrection = "holm"
    significance: float = 0.05
    confidence: float = 0.95
    resamples: int = 1000
    threshold: float = 25.0
    seed: int = 0

    def __post_init__(self) -> None:
        methods = (*get_args(Method), *get_args(AccuracyMethod))
        for name, known in (("methods", methods), ("levels", get_args(Level))):
            given = getattr(self, name)
            if not given:
                raise InputError(f"{name} is empty")
            for one in given:
                if one not in known:
                    raise InputError(f"{name} may hold {', '.join(known)}, got {one!r}")
            if len(set(given)) < len(given):
                raise InputError(f"{name} names one twice")
        check_choice("scale", self.scale, get_args(HumanScale))
        check_choice("test", self.test, ("auto", *get_args(MetricTest)))
        check_choice("correction", self.correction, get_args(MetricCorrection))
        for name in ("significance", "confidence"):
            check_share(name, getattr(self, name))
        for name, least in (("min_raters", 1), ("resamples", 1), ("seed", 0)):
            check_at_least(name, getattr(self, name), least)

    @property
    def correlations(self) -> tuple[Method, ...]:
        """Those of the methods that are correlations."""
        known: tuple[Method, ...] = get_args(Method)
        return tuple(one for name in self.methods for one in known if one == name) or ("pearson",)

    @property
    def accuracies(self) -> tuple[AccuracyMethod, ...]:
        """Those of the methods that are accuracies."""
        known: tuple[AccuracyMethod, ...] = get_args(AccuracyMethod)
        return tuple(one for name in self.methods for one in known if one == name)

    def test_at(self, level: Level) -> MetricTest:
        """The test that decides at a level."""
        return default_test(level) if self.test == "auto" else self.test

    def signature(self) -> str:
        """What results depend on beside the scores."""
        return (
            f"methods:{'+'.join(self.methods)}|test:{self.test}-{self.resamples}"
            f"|correction:{self.correction}|significance:{self.significance:g}"
            f"|ci:{self.confidence:g}|seed:{self.seed}"
        )
