"""What a comparison gives: systems with ranks and letters, pairs with differences and p-values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from deltableu.io import Cell, Column, Table, field_record
from deltableu.stats import ConfidenceInterval, Correction

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "no correction"}


@dataclass(frozen=True, slots=True)
class VarianceShares:
    """Where the uncertainty of a number comes from: variances of its resampled values.

    `both` has items and ratings resampled together; it need not be the sum of the two.
    """

    items: float
    raters: float
    both: float

    @property
    def rater_share(self) -> float:
        """The raters' share of the two sources' sum."""
        total = self.items + self.raters
        return self.raters / total if total > 0.0 else 0.0

    def record(self) -> dict[str, float]:
        """The variances and the share."""
        return {**field_record(self), "rater_share": self.rater_share}


@dataclass(frozen=True, slots=True)
class Probability:
    """An estimated probability and its interval."""

    value: float
    interval: ConfidenceInterval


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """One system among those compared.

    Attributes
    ----------
    system : str
    score : float
    interval : ConfidenceInterval
    rank : (int, int) or None
        Best and worst rank that the significant differences leave possible; None, as are cluster
        and letters, where only differences from a baseline were tested.
    cluster : int or None
        WMT's clusters: all systems of a cluster are significantly better than all of the next.
    letters : str
        Systems that share a letter do not differ significantly.
    corrected : float or None
        The score without the bias that noise in the weights causes, where ratings were resampled;
        the interval is around it.
    variance : VarianceShares or None
        Where ratings were resampled.
    """

    system: str
    score: float
    interval: ConfidenceInterval
    rank: tuple[int, int] | None
    cluster: int | None
    letters: str
    corrected: float | None = None
    variance: VarianceShares | None = None


@dataclass(frozen=True, slots=True)
class ComparedPair:
    """Two systems; `difference` is the score of the first minus that of the second.

    Attributes
    ----------
    interval : ConfidenceInterval
        Of the difference.
    p_values : mapping of test to float
        As each test gives them.
    holm, bh : mapping of test to float
        Adjusted for the number of pairs.
    significant : bool
        By the first test, corrected as asked.
    better : str or None
        The better system where the difference is significant.
    corrected : float or None
        The difference of corrected scores, where ratings were resampled.
    agreement : Probability or None
        That people see the difference the same way.
    variance : VarianceShares or None
        Of the difference, where ratings were resampled.
    """

    first: str
    second: str
    difference: float
    interval: ConfidenceInterval
    p_values: Mapping[str, float]
    holm: Mapping[str, float]
    bh: Mapping[str, float]
    significant: bool
    better: str | None
    corrected: float | None = None
    agreement: Probability | None = None
    variance: VarianceShares | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Systems under one metric, best first, and the pairs that were tested.

    Attributes
    ----------
    tests : tuple of str
        The first decides what is significant.
    exact : bool
        Whether that test enumerated all exchanges of every pair.
    signature : str
        All that must agree for two comparisons to be comparable.
    """

    metric: str
    higher_is_better: bool
    items: int
    baseline: str | None
    tests: tuple[str, ...]
    correction: Correction
    significance: float
    level: float
    systems: tuple[ComparedSystem, ...]
    pairs: tuple[ComparedPair, ...]
    exact: bool
    signature: str

    def pair(self, first: str, second: str) -> ComparedPair:
        """The pair of these two systems, in the order in which it was tested."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {first, second}:
                return pair
        raise KeyError(f"{first!r} and {second!r} were not compared")

    def deciding(self, pair: ComparedPair) -> float:
        """The p-value that says whether a pair's difference is significant."""
        values = {"holm": pair.holm, "bh": pair.bh, "none": pair.p_values}[self.correction]
        return values[self.tests[0]]

    def with_agreement(self, probability: Callable[[float], Probability]) -> Comparison:
        """The same with the probability that people agree with each difference."""
        pairs = (replace(pair, agreement=probability(pair.difference)) for pair in self.pairs)
        return replace(self, pairs=tuple(pairs))

    def table(self, *, digits: int = 2) -> Table:
        """Systems in rows, best first; scores with letters and intervals, ranks or p-values."""
        last = ("rank", "range") if self.baseline is None else ("p", "p")
        columns = [
            Column("system"),
            Column(self.metric, f".{digits}f"),
            Column(*last, align="right", key=f"{self.metric} {last[0]}"),
        ]
        rows = [
            (
                one.system,
                Cell(one.score, one.interval, one.letters, best=place == 0),
                one.rank if self.baseline is None else self._against(one.system, self.baseline),
            )
            for place, one in enumerate(self.systems)
        ]
        return Table(columns, rows, notes=self._notes())

    def _against(self, system: str, baseline: str) -> Cell:
        if system == baseline:
            return Cell("baseline")
        pair = self.pair(system, baseline)
        return Cell(self.deciding(pair), note="*" if pair.significant else "")

    def pairs_table(self, *, digits: int = 2) -> Table:
        """A row for each pair: the difference, its interval, p-values, who is better."""
        pairs, form = self.pairs, f".{digits}f"
        columns: dict[Column, list[object]] = {
            Column("first"): [one.first for one in pairs],
            Column("second"): [one.second for one in pairs],
            Column("difference", form): [one.difference for one in pairs],
            Column("interval", form): [one.interval for one in pairs],
        }
        for test in self.tests:
            columns[Column(f"p {test}", "p")] = [one.p_values[test] for one in pairs]
        if self.correction != "none":
            name = f"p {_CORRECTIONS[self.correction]}"
            columns[Column(name, "p")] = [self.deciding(one) for one in pairs]
        if any(one.agreement for one in pairs):
            columns[Column("people agree", ".2f")] = [
                one.agreement and Cell(one.agreement.value, one.agreement.interval) for one in pairs
            ]
        if any(one.variance for one in pairs):
            columns[Column("corrected", form)] = [one.corrected for one in pairs]
            columns[Column("from raters", ".0%")] = [
                one.variance and one.variance.rater_share for one in pairs
            ]
        columns[Column("better")] = [
            Cell(one.better or "-", best=one.better is not None) for one in pairs
        ]
        caption = f"{self.metric}: first minus second, {self.items} items"
        return Table(columns, zip(*columns.values(), strict=True), caption, self._notes())

    def matrix_table(self) -> Table:
        """P-values of all pairs, corrected; the mark says that the system of the row is better."""
        names = [one.system for one in self.systems]
        found: dict[tuple[str, str], object] = {(name, name): float("nan") for name in names}
        for pair in self.pairs:
            for row, column in ((pair.first, pair.second), (pair.second, pair.first)):
                mark = ">" if pair.better == row else ""
                found[row, column] = Cell(self.deciding(pair), note=mark)
        rows = [[row, *(found.get((row, column)) for column in names)] for row in names]
        columns = [Column("", key="system"), *(Column(name, "p") for name in names)]
        caption = f"{self.metric}: p-values, {_CORRECTIONS[self.correction]}"
        return Table(columns, rows, f"{caption}; > where the row is better", self._notes())

    def _notes(self) -> dict[str, str]:
        """What readers of the tables must know, and the signature."""
        test = f"{self.tests[0]}{' (exact)' if self.exact else ''}"
        how = f"{test}, {_CORRECTIONS[self.correction]}, {self.significance:g}"
        if self.baseline is None:
            notes = {"letters": f"systems that share a letter do not differ significantly ({how})"}
        else:
            notes = {"*": f"significantly different from {self.baseline} ({how})"}
        first = self.systems[0]
        notes["intervals"] = f"{100 * self.level:g}% {first.interval.method}"
        if first.corrected is not None:
            notes["intervals"] += ", around scores corrected for noise in the weights"
        return notes | {self.metric: self.signature}
