"""What planning gives: the power of comparisons by the number of items, for each instrument."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array
from deltableu.io import Cell, Column, Table, Tabular, field_record
from deltableu.stats import ConfidenceInterval


@dataclass(frozen=True, slots=True)
class PowerPoint:
    """The share of simulated studies of one size that found a significant difference.

    `interval` is Wilson's and covers the error of the simulation, not that of the pilot;
    `smoothed` is the power of a curve that never falls.
    """

    items: int
    power: float
    interval: ConfidenceInterval
    smoothed: float


@dataclass(frozen=True, slots=True)
class PowerCurve:
    """Power by the number of items, for so many references per item and raters per reference.

    Attributes
    ----------
    references, raters : int or None
        None is as in the pilot.
    mean_references : float
        Items may have fewer than asked for.
    difference : float
        What the same gap between the systems measures with this instrument.
    points : tuple of PowerPoint
        By the number of items.
    approximate : int
        The items that a normal approximation asks for.
    """

    references: int | None
    raters: int | None
    mean_references: float
    difference: float
    points: tuple[PowerPoint, ...]
    approximate: int

    def needed(self, power: float) -> int | None:
        """The fewest items with this power, interpolated between the (log) sizes tried.

        None if the largest size is not enough; the smallest if that is already.
        """
        return self._crossing([point.smoothed for point in self.points], power)

    def needed_range(self, power: float) -> tuple[int | None, int | None]:
        """The same where the interval of the simulation ends."""
        ends = ([p.interval.high for p in self.points], [p.interval.low for p in self.points])
        least, most = (self._crossing(never_falling(end).tolist(), power) for end in ends)
        return least, most

    def _crossing(self, curve: list[float], power: float) -> int | None:
        sizes = [point.items for point in self.points]
        place = next((k for k, reached in enumerate(curve) if reached >= power), None)
        if place is None or place == 0:
            return None if place is None else sizes[0]
        share = (power - curve[place - 1]) / (curve[place] - curve[place - 1])
        between = sizes[place - 1] * (sizes[place] / sizes[place - 1]) ** share
        # Rounding must not ask for one item more.
        return math.ceil(float(between) - 1e-9)

    def needed_cell(self, power: float) -> Cell:
        """What to say of the items that are needed."""
        needed, largest = self.needed(power), self.points[-1].items
        if needed is None:
            return Cell(f"more than {largest}", note=f"(about {self.approximate})", best=True)
        if needed == self.points[0].items:
            return Cell(f"{needed} or fewer", note=f"(about {self.approximate})", best=True)
        low, high = self.needed_range(power)
        if low is not None and high is not None:
            between = ConfidenceInterval(
                low, high, self.points[0].interval.confidence, "simulation"
            )
            return Cell(needed, between, best=True, form="d")
        ends = (f"more than {largest}" if e is None else str(e) for e in (low, high))
        return Cell(needed, note=f"[{', '.join(ends)}]", best=True, form="d")


@dataclass(frozen=True, slots=True)
class PowerPlan(Tabular):
    """What a comparison of two systems needs, by simulation from a pilot.

    Attributes
    ----------
    metric : str
    systems : (str, str)
        The one with the higher score first.
    pilot_items : int
    pilot_groups : int or None
        Groups of items, where whole groups are drawn; sizes are then numbers of groups.
    dropped : tuple of str
        Items of the pilot without a positively weighted reference.
    pilot_difference : float
        Between the systems' scores on the whole pilot.
    difference : float
        The one to be detected, under all references of the pilot.
    kept : float
        The share of items that show the systems as they are; on the others a coin says which is
        which.
    power, significance : float
    replicates, draws, seed : int
    curves : tuple of PowerCurve
    signature : str
    """

    metric: str
    systems: tuple[str, str]
    pilot_items: int
    pilot_groups: int | None
    dropped: tuple[str, ...]
    pilot_difference: float
    difference: float
    kept: float
    power: float
    significance: float
    replicates: int
    draws: int
    seed: int
    curves: tuple[PowerCurve, ...]
    signature: str

    def curve_name(self, curve: PowerCurve) -> str:
        """The instrument of a curve, in words."""
        name = setting_name(curve.references, curve.raters)
        varied = curve.raters is None and any(one.raters is not None for one in self.curves)
        return f"{name}, all raters" if varied else name

    def table(self, *, digits: int = 2) -> Table:
        """Numbers of items in rows, instruments in columns; the last rows hold the answer."""
        rows: list[list[object]] = [[str(point.items)] for point in self.curves[0].points]
        for curve in self.curves:
            for row, point in zip(rows, curve.points, strict=True):
                row.append(Cell(point.power, point.interval, best=point.power >= self.power))
        rows.append(["difference measured", *(curve.difference for curve in self.curves)])
        needed = (curve.needed_cell(self.power) for curve in self.curves)
        of = "items" if self.pilot_groups is None else "groups"
        rows.append([f"{of} for power {self.power:g}", *needed])
        columns = (Column(self.curve_name(curve), f".{digits}f") for curve in self.curves)
        caption = f"to detect a {self.metric} difference of {self.difference:.4g}"
        first, second = self.systems
        grouped = "" if self.pilot_groups is None else f" in {self.pilot_groups} groups"
        pilot = (
            f"{first} scores {self.pilot_difference:.2f} above {second} on {self.pilot_items} "
            f"items{grouped}; intervals are of the simulation and leave out that a pilot is a "
            "sample itself"
        )
        signatures = {self.metric: self.signature}
        return Table((Column(of), *columns), rows, caption, {"pilot": pilot}, signatures)

    def record(self) -> dict[str, Any]:
        """All of it, and how many items each instrument needs."""
        record = field_record(self)
        for one, curve in zip(record["curves"], self.curves, strict=True):
            one["items_needed"] = curve.needed(self.power)
            one["items_needed_range"] = list(curve.needed_range(self.power))
            one["items_by_normal_approximation"] = one.pop("approximate")
        return record


def setting_name(references: int | None, raters: int | None) -> str:
    """So many references and raters, in words."""
    parts = ["all references" if references is None else _count(references, "reference")]
    return ", ".join(parts if raters is None else [*parts, _count(raters, "rater")])


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def never_falling(shares: ArrayLike, counts: Array | None = None) -> Array:
    """The likeliest chances that never fall (Ayer et al. 1955), given shares of so many."""
    from scipy.optimize import isotonic_regression

    chances: Array = np.clip(isotonic_regression(shares, weights=counts).x, 0.0, 1.0)
    return chances
