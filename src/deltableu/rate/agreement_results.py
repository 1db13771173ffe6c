"""How raters agree, by one criterion: every measure, how many are enough, and each rater."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

from deltableu.corpus import SIMULATED_LABEL, labelled
from deltableu.io import Cell, Column, Table, Tabular, field_record, written
from deltableu.rate.consistency import Consistency
from deltableu.rate.intraclass import IntraclassCorrelations
from deltableu.rate.pairwise_kappas import PairwiseKappas
from deltableu.rate.rated_units import Targets
from deltableu.rate.rater_agreement import RaterCorrelations
from deltableu.rate.rater_use import RaterUse
from deltableu.stats import ConfidenceInterval

#: Numbers of ratings that a table tells of, as far as they are needed.
_NUMBERS = (1, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 50, 100, 200, 500)
#: Standard errors that make it sure, among many raters.
_SURE = 3.0
_PERFECT = 1.0 - 1e-9
_SINGULAR = {"outputs": "output", "references": "reference", "pairs": "pair"}


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RaterAgreement(Tabular):
    """How raters of one sort of targets agree by one criterion.

    Attributes
    ----------
    targets : {"outputs", "references", "pairs"}
    criterion : str
    scale : str or None
    values : {"raw", "z"}
        Which values reliability, ceiling, consistency and correlations are of.
    raters, ratings, units, shared : int
        Units are outputs, references or pairs of outputs; shared ones were rated by two or more.
    per_unit : float
        Mean number of ratings of a unit.
    alpha : float
        Krippendorff's, interval data, raw values; with its interval.
    alpha_ordinal, alpha_nominal, alpha_z : float or None
        Of ranks; of categories, where there are categories; of standardised values.
    categories : int or None
        Number of categories; None where values are too many to be categories.
    kappas : PairwiseKappas or None
        Cohen's, of all pairs of raters with enough in common.
    fleiss : float or None
        Fleiss' kappa of the units that have `fleiss_each` ratings, the most common number.
    fleiss_each, fleiss_units : int
    one_way : float
        ICC1 from all shared units, however many ratings each has.
    intraclass : IntraclassCorrelations or None
        All six, of units that all raters rated.
    correlations : RaterCorrelations or None
    one_rater : float
        Correlation of one rating with the mean of the unit's others.
    reliability : float
        Of the averaged ratings, from halves of each unit's ratings.
    target : float
    enough : int or None
        How many ratings per unit make their mean correlate by the target with what ever more
        raters would say; None where even 1000 do not.
    consistency : Consistency or None
        The measured curve, where 20 units have four ratings or more.
    rater_use : tuple of RaterUse
    missing : mapping of str to str
        Which measures could not be had, and why.
    simulated : bool
        Whether raters are.
    """

    targets: Targets
    criterion: str
    scale: str | None
    values: str
    raters: int
    ratings: int
    units: int
    shared: int
    per_unit: float
    alpha: float
    interval: ConfidenceInterval | None
    alpha_ordinal: float
    alpha_nominal: float | None
    alpha_z: float | None
    categories: int | None
    kappas: PairwiseKappas | None
    fleiss: float | None
    fleiss_each: int
    fleiss_units: int
    one_way: float
    intraclass: IntraclassCorrelations | None
    correlations: RaterCorrelations | None
    one_rater: float
    reliability: float
    target: float
    enough: int | None
    consistency: Consistency | None
    rater_use: tuple[RaterUse, ...]
    missing: Mapping[str, str]
    simulated: bool
    _inverse: float  # mean of 1 / ratings over units

    def __repr__(self) -> str:
        """The figures that people ask for; `table` has all."""
        alpha, reliability = (written(one, ".3r") for one in (self.alpha, self.reliability))
        return (
            f"RaterAgreement({self.name}: {self.ratings:,} ratings by {self.raters:,} raters, "
            f"alpha {alpha}, reliability {reliability})"
        )

    @property
    def name(self) -> str:
        """Such as `overall of outputs`."""
        return f"{self.criterion} of {self.targets}"

    @property
    def unit(self) -> str:
        """What one of the targets is called."""
        return _SINGULAR[self.targets]

    @property
    def ceiling(self) -> float:
        """What a perfect metric's correlation with the averaged ratings is."""
        return math.sqrt(self.reliability) if self.reliability > 0.0 else 0.0

    @property
    def ratio(self) -> float:
        """Variance of single ratings over that of what ever more raters would say."""
        if self.reliability <= 0.0:
            return math.inf
        return (1.0 / self.reliability - 1.0) / self._inverse

    def expected(self, number: int) -> float:
        """The reliability of the mean of so many ratings (Spearman and Brown)."""
        return number / (number + self.ratio) if math.isfinite(self.ratio) else 0.0

    def strangers(self) -> tuple[RaterUse, ...]:
        """Raters who surely agree with the others less than half as well as is usual."""
        usual = max(self.one_rater, 0.0) / 2.0
        found = []
        for one in sorted(self.rater_use, key=lambda one: (self._likeness(one), one.rater)):
            if one.shared > 3 and not math.isnan(one.correlation):
                reach = math.tanh(_z(one.correlation) + _SURE / math.sqrt(one.shared - 3))
                found += [one] if reach < usual else []
        return tuple(found)

    def _likeness(self, one: RaterUse) -> float:
        """How far a rater's correlation lies above what is usual, in standard errors."""
        if math.isnan(one.correlation) or math.isnan(self.one_rater):
            return math.inf
        return (_z(one.correlation) - _z(self.one_rater)) * math.sqrt(max(one.shared - 3, 0))

    def record(self) -> dict[str, object]:
        """All but matrices of raters by raters, of which means and numbers are kept."""
        made = field_record(self, without=("kappas", "correlations"))
        made |= {"ceiling": self.ceiling, "variance_ratio": self.ratio}
        made["strangers"] = [one.rater for one in self.strangers()]
        kappas, found = self.kappas, self.correlations
        made["cohen"] = kappas and {
            "mean": kappas.mean,
            "mean_quadratic": kappas.mean_quadratic,
            "pairs": kappas.pairs,
            "undefined": kappas.undefined,
        }
        made["correlations"] = found and {
            "method": found.method,
            "mean": found.mean,
            "lowest": found.lowest,
            "highest": found.highest,
            "pairs": found.pairs,
            "undefined": found.undefined,
        }
        return made

    def table(self, *, digits: int = 3) -> Table:
        """A row for each measure, and what it rests on."""
        rows = [row for row in self.measures() if row[1] is not None]
        columns = (
            Column("agreement among raters", room=24),
            Column("", f".{digits}r", key="value"),
            Column("from", align="left", room=14),
        )
        return Table(columns, rows, self._caption(), self._notes())

    def measures(self) -> list[tuple[str, object, str]]:
        """Name, value (or a cell; None where there is none) and what it rests on."""
        units, kappas, found = f"{self.shared:,} {self.targets}", self.kappas, self.correlations
        values = "z" if self.values == "z" else "raw"
        rows: list[tuple[str, object, str]] = [
            ("Krippendorff's alpha, interval", Cell(self.alpha, self.interval), units),
            ("Krippendorff's alpha, ordinal", self.alpha_ordinal, units),
            ("Krippendorff's alpha, nominal", self.alpha_nominal, units),
            ("Krippendorff's alpha, interval, z", self.alpha_z, units),
            (
                "Fleiss' kappa",
                self.fleiss,
                f"{self.fleiss_units:,} with {self.fleiss_each} ratings",
            ),
        ]
        if kappas is not None:
            of = f"{kappas.pairs:,} pairs"
            rows.append(("Cohen's kappa, mean", kappas.mean, of))
            rows.append(("Cohen's kappa, quadratic, mean", kappas.mean_quadratic, of))
        rows.append(("ICC1: one rating, any rater", self.one_way, units))
        if self.intraclass is not None:
            of = f"{self.intraclass.units:,} that all rated"
            for form, what in (("ICC2", "one of such raters"), ("ICC3", "one of these raters")):
                one = self.intraclass[form]  # type: ignore[index]
                rows.append((f"{form}: {what}", Cell(one.value, one), of))
        if found is not None:
            low, high = (written(one, ".2r") for one in (found.lowest, found.highest))
            of = f"{found.pairs:,} pairs, {low} to {high}"
            rows.append((f"correlation of two raters, {values}", found.mean, of))
        rows += [
            (f"one rating with the others, {values}", self.one_rater, units),
            (f"reliability of their means, {values}", self.reliability, self._averaged()),
            ("ceiling of a metric's correlation", self.ceiling, "root of reliability"),
        ]
        return rows

    def _averaged(self) -> str:
        return f"means of {written(self.per_unit, '.3g')} ratings"

    def _caption(self) -> str:
        scale = "" if self.scale is None else f", scale {self.scale}"
        return self._said(f"{self.name}: {self.ratings:,} ratings by {self.raters:,} raters{scale}")

    def _said(self, caption: str) -> str:
        return f"{caption} {SIMULATED_LABEL}" if self.simulated else caption

    def _notes(self) -> dict[str, str]:
        notes = {f"no {name}": reason for name, reason in self.missing.items()}
        if self.shared < 50:
            notes["few"] = (
                f"only {self.shared} {self.targets} were rated by two or more: all of this is rough"
            )
        return notes

    def enough_table(self, *, digits: int = 3) -> Table:
        """How good means of so many ratings are, and as far as it was measured."""
        most = max(self.enough or 10, math.ceil(self.per_unit), 3)
        numbers = {n for n in _NUMBERS if n <= 1.7 * most} | {self.enough or 1}
        form = f".{digits}r"
        curve = self.consistency
        columns = [
            Column("ratings", align="right"),
            Column("reliability", form),
            Column("correlation", form),
        ]
        if curve is not None:
            columns.append(Column("measured", form))
        rows = []
        for number in sorted(numbers):
            row: list[object] = [number, self.expected(number)]
            row.append(Cell(math.sqrt(self.expected(number)), best=number == self.enough))
            if curve is not None:
                known = number <= curve.n // 2
                row.append(float(curve.correlations[number - 1]) if known else None)
            rows.append(row)
        notes = {
            "ratings": f"per {self.unit}, and how reliable their mean is",
            "correlation": "of the mean with what ever more raters would say: the root",
            "bold": f"enough for {written(self.target, '.3r')}",
        }
        if curve is not None:
            notes["measured"] = (
                f"mean of so many ratings with that of the other {curve.n} less so many, over "
                f"{curve.segments:,} {self.targets}"
            )
        caption = self._said(f"{self.name}: how many ratings are enough")
        return Table(columns, rows, caption, notes)

    def raters_table(self, *, most: int | None = None, digits: int = 2) -> Table:
        """A row for each rater, or for those who agree least with the others; they come first."""
        form = f".{digits}f"
        rated = self.targets != "pairs"
        columns = [Column("rater"), Column("ratings")]
        if rated:
            columns += [
                Column("mean", form, drop=2),
                Column("spread", form, drop=2),
                Column("severity", form),
                Column("noise", form),
            ]
        columns.append(Column("r with others", f".{digits}r"))
        ordered = sorted(self.rater_use, key=lambda one: (self._likeness(one), one.rater))
        rows = []
        for one in ordered[:most]:
            row: list[object] = [one.rater, one.ratings]
            if rated:
                row += [one.mean, one.deviation, one.severity, one.noise]
            rows.append([*row, one.correlation])
        some = (
            ""
            if most is None or most >= len(ordered)
            else (f", the {most} of {len(ordered):,} who agree least with the others")
        )
        notes = {
            "severity": "how much lower than others the rater rates the same",
            "noise": "standard deviation of single ratings around what the others say, severity "
            "taken out",
        }
        caption = self._said(f"{self.name}: raters{some}")
        return Table(columns, rows, caption, notes if rated else {})

    def correlations_table(self, *, digits: int = 2) -> Table | None:
        """Raters by raters."""
        if self.correlations is None:
            return None
        return labelled(self.correlations.table(digits=digits), self.simulated)

    def intraclass_table(self, *, digits: int = 3) -> Table | None:
        """All six intraclass correlations, where all raters rated some units."""
        if self.intraclass is None:
            return None
        return labelled(self.intraclass.table(digits=digits), self.simulated)


def _z(correlation: float) -> float:
    """Fisher's transformation; of a perfect correlation no infinity."""
    return math.atanh(max(-_PERFECT, min(_PERFECT, correlation)))
