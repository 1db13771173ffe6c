"""What is swept through to see how a metric's agreement with people depends on it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, get_args

from deltableu.errors import InputError, check_at_least, hint_at
from deltableu.rate import HumanScale
from deltableu.stats import Method, check_method
from deltableu.validate.unit_intervals import UnitIntervalPlan
from deltableu.validate.units import UnitPlan

SweepName = Literal["settings", "threshold", "unit-size", "order", "references", "origin"]

#: Units of a pair of systems below which correlations within it say nothing.
_FEWEST_UNITS = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class SweepPlan:
    """Settings of sweeps, by default those of the delta-BLEU paper.

    Attributes
    ----------
    units : UnitPlan
        The units of all sweeps but that of their size, which is cut down where a study has too
        few items for two units of it.
    intervals : UnitIntervalPlan
    methods : tuple of str
        Correlations; curves have the first of them.
    thresholds : tuple of float
        Least weights of references.
    unit_sizes : tuple of int
    orders : tuple of int
        Longest n-grams.
    reference_counts : tuple of int
        How many references per item; beside these, all.
    reference_draws : int
        How often so many references are drawn at random.
    scale : {"z", "raw", "mixed"}
        What raw ratings become.
    min_raters : int
    """

    units: UnitPlan = field(default_factory=UnitPlan)
    intervals: UnitIntervalPlan = field(default_factory=UnitIntervalPlan)
    methods: tuple[Method, ...] = ("spearman", "kendall-b")
    thresholds: tuple[float, ...] = (1.0, 0.6, 0.2, -0.2, -0.6, -1.0)
    unit_sizes: tuple[int, ...] = (1, 10, 20, 50, 100)
    orders: tuple[int, ...] = (1, 2, 3, 4)
    reference_counts: tuple[int, ...] = (1, 2, 4, 8)
    reference_draws: int = 10
    scale: HumanScale = "z"
    min_raters: int = 1

    def __post_init__(self) -> None:
        for name in ("methods", "thresholds", "unit_sizes", "orders", "reference_counts"):
            given = getattr(self, name)
            if not given:
                raise InputError(f"{name} is empty")
            if len(set(given)) < len(given):
                raise InputError(f"{name} names one twice")
        for method in self.methods:
            check_method(method)
            if method == "kendall-like":
                raise InputError("kendall-like counts pairs of ratings, not of differences")
        for name in ("unit_sizes", "orders", "reference_counts"):
            for one in getattr(self, name):
                check_at_least(name, one, 1)
        for threshold in self.thresholds:
            if not -1.0 <= threshold <= 1.0:
                raise InputError(f"thresholds must lie in [-1, 1], got {threshold:g}")
        check_at_least("reference_draws", self.reference_draws, 1)
        check_at_least("min_raters", self.min_raters, 1)

    def largest_unit(self, items: int) -> int:
        """The size that is used for so many items of a pair: the one asked for, or a smaller one.

        Examples
        --------
        >>> SweepPlan().largest_unit(2114), SweepPlan().largest_unit(68)
        (100, 20)
        """
        if self.units.size * _FEWEST_UNITS <= items:
            return self.units.size
        fitting = [one for one in (1, 10, 20, 50, 100) if one * _FEWEST_UNITS <= items]
        return max(fitting, default=1)

    def fitting_sizes(self, items: int) -> tuple[int, ...]:
        """Those of the sizes of which so many items make at least two units."""
        fitting = tuple(one for one in self.unit_sizes if one * _FEWEST_UNITS <= items)
        if not fitting:
            raise InputError(
                f"{items} items make no two units of {min(self.unit_sizes)}: choose smaller units"
            )
        return fitting


def check_sweeps(names: str | Sequence[str]) -> tuple[SweepName, ...]:
    """Refuse what cannot be swept through."""
    given = (names,) if isinstance(names, str) else tuple(names)
    known: tuple[SweepName, ...] = get_args(SweepName)
    for name in given or ("",):
        if name not in known:
            raise InputError(f"sweep takes {', '.join(known)}, got {name!r}{hint_at(name, known)}")
    return tuple(one for name in dict.fromkeys(given) for one in known if one == name)
