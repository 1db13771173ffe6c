"""What sways a judge, as numbers with intervals and as sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any

import numpy as np

from deltableu.io import Column, Table, Tabular
from deltableu.stats import INTERVAL_COLUMNS, ConfidenceInterval, interval_cells


@dataclass(frozen=True, slots=True)
class BiasFinding:
    """One thing that was looked for.

    Attributes
    ----------
    check : str
        Such as position, length, own outputs or itself.
    measure : str
        What the value is.
    value : float
    interval : ConfidenceInterval or None
    count : int
        Of pairs, texts or items.
    swayed : bool or None
        Whether the interval leaves out what an unbiased judge would have; None where there is no
        such value.
    sentence : str
    """

    check: str
    measure: str
    value: float
    interval: ConfidenceInterval | None
    count: int
    swayed: bool | None
    sentence: str

    @classmethod
    def position(cls, count: int, value: float, interval: ConfidenceInterval) -> BiasFinding:
        """Of pairs that were shown in both orders."""
        pairs = "1 pair that was" if count == 1 else f"{count:,} pairs that were"
        said = (
            f"Order decides {value:.1%} {_percents(interval)} of {pairs} shown both ways: "
            "there the same place won twice, whatever stood in it."
        )
        return cls("position", "share decided by order", value, interval, count, None, said)

    @classmethod
    def first(cls, count: int, value: float, interval: ConfidenceInterval) -> BiasFinding:
        """Of all comparisons whose order is known, whether both orders are there or not."""
        swayed = not interval.low <= 0.5 <= interval.high
        place = "first" if value > 0.5 else "second"
        said = f"What is shown first wins {value:.1%} {_percents(interval)} of comparisons: "
        said += f"the judge favours the {place} place." if swayed else "no place is favoured."
        return cls("shown first", "share won by the first", value, interval, count, swayed, said)

    @classmethod
    def length(
        cls,
        count: int,
        value: float,
        interval: ConfidenceInterval | None,
        *,
        beside_people: bool,
    ) -> BiasFinding:
        """The correlation of ratings with length."""
        swayed = None if interval is None else not interval.low <= 0.0 <= interval.high
        given = "at equal ratings by people" if beside_people else "of texts"
        measure = "partial correlation, people's ratings given" if beside_people else "correlation"
        said = f"Length: ratings go with the length {given} by {value:+.2f} {_plain(interval)}"
        if not swayed:
            said += ", which does not show that length sways the judge."
        elif beside_people:
            said += f": the judge favours {'longer' if value > 0 else 'shorter'} texts."
        else:
            said += "; whether these are better, people's ratings would say (--study)."
        shown = swayed if beside_people else None
        return cls("length", measure, value, interval, count, shown, said)

    @classmethod
    def longer(cls, count: int, value: float, interval: ConfidenceInterval) -> BiasFinding:
        """Of comparisons of two outputs that differ in length."""
        said = (
            f"The longer of two outputs wins {value:.1%} {_percents(interval)} of "
            f"{count:,} comparisons; it may be the better one."
        )
        return cls("longer", "share won by the longer", value, interval, count, None, said)

    @classmethod
    def own(
        cls, names: Sequence[str], count: int, value: float, interval: ConfidenceInterval
    ) -> BiasFinding:
        """How much more a judge thinks of its own outputs than people do, beside others."""
        swayed = not interval.low <= 0.0 <= interval.high
        who = " and ".join(names)
        said = (
            f"Own outputs: beside other systems, the judge rates {who} {abs(value):.2f} standard "
            f"deviations {_plain(interval)} {'higher' if value >= 0 else 'lower'} than people do"
        )
        said += "." if swayed else ", which may be chance."
        measure = "more than people, in standard deviations"
        return cls("own outputs", measure, value, interval, count, swayed, said)

    @classmethod
    def itself(
        cls,
        raters: int,
        targets: str,
        count: int,
        value: float,
        interval: ConfidenceInterval | None,
        icc: float | None,
    ) -> BiasFinding:
        """How ratings agree that one judge gave to the same text."""
        beside = "" if icc is None or math.isnan(icc) else f"; ICC1 {icc:.2f}"
        said = (
            f"Itself: {raters} ratings each of {count:,} {targets} agree with Krippendorff's "
            f"alpha {value:.2f} {_plain(interval)}{beside}."
        )
        measure = f"alpha of repeated ratings of {targets}"
        return cls("itself", measure, value, interval, count, None, said)


@dataclass(frozen=True, slots=True)
class JudgeBias(Tabular):
    """What sways one judge.

    Attributes
    ----------
    judge : str
    findings : tuple of BiasFinding
    missing : mapping of str to str
        What could not be looked at, and why.
    """

    judge: str
    findings: tuple[BiasFinding, ...]
    missing: Mapping[str, str]

    @property
    def swayed_by(self) -> tuple[str, ...]:
        """The checks that show a bias."""
        return tuple(one.check for one in self.findings if one.swayed)

    def sentences(self) -> tuple[str, ...]:
        """What matters first."""
        looked = ", ".join(
            dict.fromkeys(one.check for one in self.findings if one.swayed is not None)
        )
        if self.swayed_by:
            names = " and ".join(dict.fromkeys(self.swayed_by))
            first = f"{self.judge} is swayed by: {names}."
        elif looked:
            first = f"{self.judge} is not shown to be swayed by: {looked}."
        else:
            first = f"Whether anything sways {self.judge} cannot be told from these ratings."
        return (first, *(one.sentence for one in self.findings))

    def table(self) -> Table:
        """A row for each finding."""
        columns = (
            Column("check"),
            Column("measure", room=20),
            Column("value", ".3f"),
            Column("low", ".3f"),
            Column("high", ".3f"),
            Column("n", key="count"),
        )
        rows = [
            [one.check, one.measure, one.value, *interval_cells(one.interval)[:2], one.count]
            for one in self.findings
        ]
        notes = {f"not looked at: {check}": why for check, why in self.missing.items()}
        return Table(columns, rows, caption=self.judge, notes=notes)

    def record(self) -> dict[str, Any]:
        """For programs."""
        return {
            "judge": self.judge,
            "swayed_by": self.swayed_by,
            "findings": self.findings,
            "missing": dict(self.missing),
            "verdict": list(self.sentences()),
        }


def tidy_biases(found: Sequence[JudgeBias]) -> Table:
    """All findings of all judges, one a row."""
    columns = ("judge", "check", "measure", "value", *INTERVAL_COLUMNS, "count", "swayed")
    rows = [
        [
            *(bias.judge, one.check, one.measure, one.value),
            *interval_cells(one.interval),
            *(one.count, one.swayed),
        ]
        for bias in found
        for one in bias.findings
    ]
    return Table(columns, rows)


def clustered_share(
    values: Sequence[float], groups: Sequence[int], confidence: float
) -> ConfidenceInterval:
    """Wilson's interval of a share, for as many observations as the groups are worth.

    What belongs to one item is alike, so that it counts for less than as many items would. Where
    all values are equal nothing tells how much less, and each item counts once.

    References
    ----------
    Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference". Kish 1965,
    "Survey Sampling" (the design effect).

    Examples
    --------
    >>> found = clustered_share([1, 0, 1, 1, 0, 1, 1, 1], range(8), 0.95)
    >>> round(found.low, 3), round(found.high, 3)
    (0.409, 0.929)
    """
    array = np.asarray(values, dtype=np.float64)
    _, group = np.unique(np.asarray(groups), return_inverse=True)
    clusters, size, share = int(group.max()) + 1, len(array), float(array.mean())
    sums = np.bincount(group, weights=array - share)
    spread = float((sums**2).sum()) / size**2 * clusters / max(clusters - 1, 1)
    worth = float(clusters)
    if spread > 0.0 and clusters > 1:
        alone = share * (1.0 - share) / (size - 1)
        worth = min(float(size), max(1.0, size * alone / spread))
    z = NormalDist().inv_cdf((1.0 + confidence) / 2.0)
    middle = (share + z * z / (2.0 * worth)) / (1.0 + z * z / worth)
    reach = z / (1.0 + z * z / worth)
    reach *= math.sqrt(share * (1.0 - share) / worth + z * z / (4.0 * worth**2))
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    return ConfidenceInterval(low, high, confidence, "wilson, by item")


def _percents(interval: ConfidenceInterval) -> str:
    return f"({interval.confidence:.0%} interval {interval.low:.1%} to {interval.high:.1%})"


def _plain(interval: ConfidenceInterval | None) -> str:
    if interval is None:
        return "(no interval)"
    return f"({interval.confidence:.0%} interval {interval.low:.2f} to {interval.high:.2f})"
