"""How far two judges of the same texts agree: the numbers, and the tables that show them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deltableu._visible import shortened
from deltableu.corpus import labelled
from deltableu.io import Cell, Column, Table, field_record
from deltableu.rate import AlternativeAnnotatorTest
from deltableu.stats import ConfidenceInterval, Method
from deltableu.validate.judged_units import JudgedTargets

#: Letters of a text that a table shows.
_WIDEST = 50
_SIGNS = ("bad", "neutral", "good")


@dataclass(frozen=True, slots=True)
class JudgeCorrelation:
    """One correlation over texts, with an interval over items."""

    method: Method
    value: float
    interval: ConfidenceInterval


@dataclass(frozen=True, slots=True)
class JudgedSigns:
    """Which texts are bad, neutral and good to the one and to the other.

    Attributes
    ----------
    counts : tuple of tuples of int
        Rows are the first judge's bad, neutral and good texts, columns the second's.
    other : float
        The share of texts that are good to the one and bad to the other.
    kappa : float
        Cohen's, of the three classes.
    """

    counts: tuple[tuple[int, int, int], ...]
    other: float
    kappa: float


@dataclass(frozen=True, slots=True)
class JudgedBin:
    """Texts of which the second judge says about the same, and what the first says of them."""

    low: float
    high: float
    texts: int
    said: float
    meant: float
    interval: ConfidenceInterval


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A text about which they disagree; `text` is empty where there is no study."""

    item: str
    target: str
    first: float
    second: float
    text: str = ""


@dataclass(frozen=True, slots=True)
class RankedByBoth:
    """A system by the first and by the second judge."""

    system: str
    first: float
    second: float
    first_rank: int
    second_rank: int


@dataclass(frozen=True, slots=True)
class SwappedRanking:
    """What becomes of the ranking of systems when the second judge takes the first one's place.

    Attributes
    ----------
    measure : str
        What systems are ranked by: a metric with either's weights, or means of what they say.
    systems : tuple of RankedByBoth
        By the first judge.
    tau : float
        Kendall's tau-b of the two rankings.
    swapped : int
        Pairs of systems that change places.
    items : int
    """

    measure: str
    systems: tuple[RankedByBoth, ...]
    tau: float
    swapped: int
    items: int


@dataclass(frozen=True, slots=True)
class SwappedAgreement:
    """A metric's correlation with people, output by output, when the judges change places.

    Attributes
    ----------
    metric : str
    people : str
        What it is compared with: people's ratings where the judges weigh references; else each
        judge's own.
    first, second : float
        Pearson's r.
    difference : float
    interval : ConfidenceInterval
        Of first - second, over items.
    outputs : int
    """

    metric: str
    people: str
    first: float
    second: float
    difference: float
    interval: ConfidenceInterval
    outputs: int


@dataclass(frozen=True, slots=True)
class JudgeAgreement:
    """How far two judges agree.

    Attributes
    ----------
    first, second : str
        The second is the one in question, as a model beside people.
    targets : str
    texts, items : int
        Those that both judge.
    first_only, second_only : int
        Texts that one of them judges alone: left out.
    scaled : bool
        Whether both scales are known, so that values lie in [-1, 1] and have signs.
    correlations : tuple of JudgeCorrelation
    bias : float or None
        By how much the second is higher, on average; None without scales.
    bias_interval : ConfidenceInterval or None
    distance : float or None
        Mean absolute difference.
    signs : JudgedSigns or None
    calibration : tuple of JudgedBin
    disagreements : tuple of Disagreement
        The largest.
    ranking : SwappedRanking or None
    agreement : SwappedAgreement or None
    replacement : AlternativeAnnotatorTest or None
        Whether the second can replace one of the first's raters.
    missing : dict of str to str
        Why something is None.
    confidence : float
    simulated : bool
        Whether raters of any of it are.
    """

    first: str
    second: str
    targets: JudgedTargets
    texts: int
    items: int
    first_only: int
    second_only: int
    scaled: bool
    correlations: tuple[JudgeCorrelation, ...]
    bias: float | None
    bias_interval: ConfidenceInterval | None
    distance: float | None
    signs: JudgedSigns | None
    calibration: tuple[JudgedBin, ...]
    disagreements: tuple[Disagreement, ...]
    ranking: SwappedRanking | None
    agreement: SwappedAgreement | None
    replacement: AlternativeAnnotatorTest | None
    missing: dict[str, str]
    confidence: float
    simulated: bool = False

    def measures_table(self, *, digits: int = 2) -> Table:
        """Correlations, bias and signs."""
        kind = f".{digits}r"
        rows: list[tuple[str, Cell]] = [
            (f"correlation, {one.method}", Cell(one.value, one.interval))
            for one in self.correlations
        ]
        if self.bias is not None:
            rows.append((f"{self.second} is higher by", Cell(self.bias, self.bias_interval)))
            rows.append(("mean distance", Cell(self.distance)))
        if self.signs is not None:
            rows.append(("share of other signs", Cell(self.signs.other)))
            rows.append(("kappa of signs", Cell(self.signs.kappa)))
        size = f"{self.texts:,} {self.targets} of {self.items:,} items"
        caption = f"{self.first} and {self.second} ({size}, {self.confidence:.0%} intervals)"
        return Table((Column("measure"), Column("value", kind)), rows, caption)

    def signs_table(self) -> Table | None:
        """Who finds which texts good and bad."""
        if self.signs is None:
            return None
        columns = (
            Column(f"{self.first} says"),
            *(Column(f"{self.second}: {name}", ",d") for name in _SIGNS),
        )
        rows = ((name, *own) for name, own in zip(_SIGNS, self.signs.counts, strict=True))
        return Table(columns, rows, "signs: below, at and above the neutral point")

    def calibration_table(self, *, digits: int = 2) -> Table | None:
        """What the first says where the second says about so much."""
        if not self.calibration:
            return None
        kind = f".{digits}f"
        rows = (
            (
                f"{one.low:{kind}} to {one.high:{kind}}",
                one.texts,
                one.said,
                Cell(one.meant, one.interval),
            )
            for one in self.calibration
        )
        columns = (
            Column(f"where {self.second} says"),
            Column("texts", ",d"),
            Column("mean", kind),
            Column(f"{self.first} says", kind),
        )
        return Table(columns, rows, "calibration")

    def disagreements_table(self, *, digits: int = 2) -> Table | None:
        """The texts that they disagree most about."""
        if not self.disagreements:
            return None
        kind = f".{digits}f"
        columns = [Column("item"), Column("target"), Column(self.first, kind)]
        columns.append(Column(self.second, kind))
        texts = any(one.text for one in self.disagreements)
        columns += [Column("text", drop=1)] if texts else []
        rows = (
            (
                one.item,
                one.target,
                one.first,
                one.second,
                *((shortened(one.text, _WIDEST),) if texts else ()),
            )
            for one in self.disagreements
        )
        return Table(columns, rows, "the largest disagreements")

    def ranking_table(self, *, digits: int = 2) -> Table | None:
        """Systems by the one and by the other."""
        if self.ranking is None:
            return None
        kind = f".{digits}f"
        columns = (
            Column("system"),
            Column(f"by {self.first}", kind),
            Column("rank"),
            Column(f"by {self.second}", kind),
            Column("rank there"),
        )
        rows = (
            (one.system, one.first, one.first_rank, one.second, one.second_rank)
            for one in self.ranking.systems
        )
        caption = f"systems by {self.ranking.measure} ({self.ranking.items:,} items)"
        return Table(columns, rows, caption)

    def tables(self, names: Sequence[str], *, digits: int = 2) -> list[Table]:
        """Those that are asked for, as far as there are any."""
        raters = None if self.replacement is None else self.replacement.table(digits=digits)
        made = {
            "measures": self.measures_table(digits=digits),
            "signs": self.signs_table(),
            "calibration": self.calibration_table(digits=digits),
            "disagreements": self.disagreements_table(digits=digits),
            "systems": self.ranking_table(digits=digits),
            "raters": raters,
        }
        found = [table for table in (made[name] for name in names) if table is not None]
        return [labelled(table, self.simulated) for table in found]

    def record(self) -> dict[str, Any]:
        """All of it."""
        record = field_record(self)
        if self.replacement is not None:
            record["replacement"]["passed"] = self.replacement.passed
        return record
