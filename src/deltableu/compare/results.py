"""What a comparison gives: systems with ranks and letters, pairs with differences and p-values."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from deltableu.corpus import labelled, labelled_rows
from deltableu.io import Cell, Column, Table, Tabular, field_record
from deltableu.stats import INTERVAL_COLUMNS, ConfidenceInterval, Correction, interval_cells

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
class RunShares:
    """Where the uncertainty of a number comes from: variances from other items and other runs.

    `runs` is what runs differ by beyond what their outputs differ by from item to item.
    """

    items: float
    runs: float
    degrees: float

    @property
    def both(self) -> float:
        """The variance of the number."""
        return self.items + self.runs

    @property
    def run_share(self) -> float:
        """The share of runs: where it is large, more runs help, and else more items."""
        return self.runs / self.both if self.both > 0.0 else 0.0

    def record(self) -> dict[str, float]:
        """The variances, their degrees of freedom and the share."""
        return {**field_record(self), "run_share": self.run_share}


@dataclass(frozen=True, slots=True)
class Probability:
    """An estimated probability and its interval."""

    value: float
    interval: ConfidenceInterval


@dataclass(frozen=True, slots=True)
class Corrected:
    """A score without the bias that noise in the weights causes, under the true mean weights."""

    score: float
    interval: ConfidenceInterval | None


@dataclass(frozen=True, slots=True)
class ComparedSystem:
    """One system among those compared.

    Attributes
    ----------
    system : str
    score : float
        That tests and ranks are about.
    interval : ConfidenceInterval or None
        None for a clamped score, whose spread says nothing.
    rank : (int, int) or None
        Best and worst rank that the significant differences leave possible. None, and no cluster
        and letters, for a system that could not be tested, and where only differences from a
        baseline were.
    cluster : int or None
        WMT's clusters: all systems of a cluster are significantly better than all of the next.
    letters : str
        Systems that share a letter do not differ significantly.
    corrected : Corrected or None
        What the score would be with other raters too, where ratings were resampled.
    variance : VarianceShares, RunShares or None
        Where ratings were resampled, or systems have several runs.
    """

    system: str
    score: float
    interval: ConfidenceInterval | None
    rank: tuple[int, int] | None
    cluster: int | None
    letters: str
    corrected: Corrected | None = None
    variance: VarianceShares | RunShares | None = None


@dataclass(frozen=True, slots=True, repr=False)
class ComparedPair:
    """Two systems; `difference` is the score of the first minus that of the second.

    Attributes
    ----------
    interval : ConfidenceInterval or None
        The interval of the difference; None where a score is clamped.
    p_values : mapping of test to float
        As each test gives them; NaN where a test of clamped scores would mislead.
    favours : mapping of test to str or None
        The system that each test speaks for, significantly or not: the one with the higher score,
        mean or ranks, whichever the test compares.
    holm, bh : mapping of test to float
        Adjusted for the number of pairs.
    significant : bool
        By the first test, corrected as asked.
    better : str or None
        The better system where the difference is significant.
    agreement : Probability or None
        That people see the difference the same way.
    variance : VarianceShares, RunShares or None
        Where the difference varies, if ratings were resampled, or systems have several runs.
    """

    first: str
    second: str
    difference: float
    interval: ConfidenceInterval | None
    p_values: Mapping[str, float]
    favours: Mapping[str, str | None]
    holm: Mapping[str, float]
    bh: Mapping[str, float]
    significant: bool
    better: str | None
    agreement: Probability | None = None
    variance: VarianceShares | RunShares | None = None

    def __repr__(self) -> str:
        interval = "" if self.interval is None else f" {self.interval}"
        tests = ", ".join(f"{test} p={value:.3g}" for test, value in self.p_values.items())
        return (
            f"ComparedPair({self.first} - {self.second} = {self.difference:.2f}{interval}, {tests})"
        )


@dataclass(frozen=True, slots=True, repr=False)
class Comparison(Tabular):
    """Systems under one metric, best first, and the pairs that were tested.

    Attributes
    ----------
    groups : int or None
        Number of groups of items that belong together, where whole groups were resampled.
    tests : tuple of str
        The first decides what is significant.
    exact : bool
        Whether that test enumerated all exchanges of every pair.
    warnings : tuple of str
        What to know before a claim is made.
    signature : str
        All that must agree for two comparisons to be comparable.
    simulated : bool
        Whether the metric's weights come from simulated raters.
    """

    metric: str
    higher_is_better: bool
    items: int
    groups: int | None
    baseline: str | None
    tests: tuple[str, ...]
    correction: Correction
    significance: float
    confidence: float
    systems: tuple[ComparedSystem, ...]
    pairs: tuple[ComparedPair, ...]
    exact: bool
    warnings: tuple[str, ...]
    signature: str
    simulated: bool = False

    def __repr__(self) -> str:
        """The best systems, and how many pairs differ; `table` and `pairs_table` have all."""
        shown = [f"{one.system} {one.score:.2f} {one.letters}".strip() for one in self.systems[:4]]
        more = ", ..." if len(self.systems) > 4 else ""
        sure = sum(pair.significant for pair in self.pairs)
        return (
            f"Comparison({self.metric}: {', '.join(shown)}{more}; {self.items} items, "
            f"{sure} of {len(self.pairs)} pairs significant)"
        )

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
            Column(
                self.metric, f".{digits}f", better="higher" if self.higher_is_better else "lower"
            ),
            Column(*last, align="right", key=f"{self.metric} {last[0]}"),
        ]
        rows: list[list[object]] = [
            [
                one.system,
                Cell(one.score, one.interval, one.letters, best=place == 0),
                one.rank if self.baseline is None else self._against(one.system, self.baseline),
            ]
            for place, one in enumerate(self.systems)
        ]
        if any(one.corrected is not None for one in self.systems):
            name = "with other raters"
            columns.append(Column(name, f".{digits}f", key=f"{self.metric} {name}", drop=3))
            for row, one in zip(rows, self.systems, strict=True):
                row.append(one.corrected and Cell(one.corrected.score, one.corrected.interval))
        caption = self.metric if self.simulated else ""
        return self._labelled(Table(columns, rows, caption))

    def _labelled(self, table: Table) -> Table:
        """With what its readers must know."""
        noted = Table(table.columns, table.rows, table.caption, self._notes(), self._signatures())
        return labelled(noted, self.simulated)

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
            Column("diff", form, key="difference"): [one.difference for one in pairs],
            Column("interval", form): [one.interval for one in pairs],
        }
        for test in self.tests:
            # Where p-values are corrected, those decide.
            drop = 0 if self.correction == "none" and test == self.tests[0] else 2
            columns[Column(f"p {test}", "p", drop=drop)] = [
                self._p_value(one, test) for one in pairs
            ]
        if self.correction != "none":
            name = f"p {_CORRECTIONS[self.correction]}"
            columns[Column(name, "p")] = [self.deciding(one) for one in pairs]
        if any(one.agreement for one in pairs):
            columns[Column("people agree", ".2f", drop=1)] = [
                one.agreement and Cell(one.agreement.value, one.agreement.interval) for one in pairs
            ]
        shares = [one.variance for one in pairs]
        if any(isinstance(one, VarianceShares) for one in shares):
            columns[Column("from raters", ".0%", drop=3)] = [
                one.rater_share if isinstance(one, VarianceShares) else None for one in shares
            ]
        if any(isinstance(one, RunShares) for one in shares):
            columns[Column("from runs", ".0%", drop=3)] = [
                one.run_share if isinstance(one, RunShares) else None for one in shares
            ]
        columns[Column("better")] = [
            Cell(one.better or "-", best=one.better is not None) for one in pairs
        ]
        of = "" if self.groups is None else f" in {self.groups} groups"
        caption = f"{self.metric}: first minus second, {self.items} items{of}"
        caption += "" if self.higher_is_better else ", lower is better"
        rows = zip(*columns.values(), strict=True)
        return self._labelled(Table(columns, rows, caption))

    def _p_value(self, pair: ComparedPair, test: str) -> Cell:
        """Said for whom it speaks where that is not the system with the better score."""
        ahead = pair.first if (pair.difference > 0.0) == self.higher_is_better else pair.second
        favoured = pair.favours[test]
        turned = favoured not in (None, ahead) and pair.difference != 0.0
        return Cell(pair.p_values[test], note=f"for {favoured}" if turned else "")

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
        caption += "; > where the row is better"
        return self._labelled(Table(columns, rows, caption))

    def _notes(self) -> dict[str, str]:
        """What readers of the tables must know."""
        test = f"{self.tests[0]}{' (exact)' if self.exact else ''}"
        how = f"{test}, {_CORRECTIONS[self.correction]}, {self.significance:g}"
        if self.baseline is None:
            notes = {"letters": f"systems that share a letter do not differ significantly ({how})"}
        else:
            notes = {"*": f"significantly different from {self.baseline} ({how})"}
        intervals = [one.interval for one in self.systems] + [one.interval for one in self.pairs]
        methods = dict.fromkeys(one.method for one in intervals if one is not None)
        if methods:
            of = ", ".join(methods)
            notes["intervals"] = f"{100 * self.confidence:g}% {of}"
        if self.simulated:
            notes["simulated raters"] = f"gave the weights that {self.metric} uses"
        for number, warning in enumerate(self.warnings, start=1):
            notes[f"{self.metric}, warning {number}"] = warning
        return notes

    def _signatures(self) -> dict[str, str]:
        return {self.metric: self.signature}


def tidy_systems(comparisons: Sequence[Comparison]) -> Table:
    """A row for each metric and system, for programs."""
    columns = (
        *("metric", "system", "score", *INTERVAL_COLUMNS, "first_rank", "last_rank", "cluster"),
        *("letters", "baseline", "p", "significant", "items", "signature"),
    )
    rows = []
    for found in comparisons:
        for one in found.systems:
            pair = None
            if found.baseline not in (None, one.system):
                pair = found.pair(one.system, str(found.baseline))
            rows.append(
                (
                    *(found.metric, one.system, one.score, *interval_cells(one.interval)),
                    *(one.rank or (None, None)),
                    *(one.cluster, one.letters, found.baseline),
                    None if pair is None else found.deciding(pair),
                    None if pair is None else pair.significant,
                    *(found.items, found.signature),
                )
            )
    return labelled_rows(Table(columns, rows), any(one.simulated for one in comparisons))


def tidy_pairs(comparisons: Sequence[Comparison]) -> Table:
    """A row for each metric and pair, for programs."""
    tests = list(dict.fromkeys(test for found in comparisons for test in found.tests))
    columns = (
        *("metric", "first", "second", "difference", *INTERVAL_COLUMNS),
        *(f"p_{test}" for test in tests),
        *("p_corrected", "correction", "significance", "significant", "better"),
        *("people_agree", "people_agree_low", "people_agree_high", "items", "signature"),
    )
    rows = [
        (
            *(found.metric, one.first, one.second, one.difference),
            *interval_cells(one.interval),
            *(one.p_values.get(test) for test in tests),
            *(found.deciding(one), found.correction, found.significance, one.significant),
            one.better,
            one.agreement and one.agreement.value,
            one.agreement and one.agreement.interval.low,
            one.agreement and one.agreement.interval.high,
            *(found.items, found.signature),
        )
        for found in comparisons
        for one in found.pairs
    ]
    return labelled_rows(Table(columns, rows), any(one.simulated for one in comparisons))
