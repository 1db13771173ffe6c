"""What a simulation found, row by row, and the tables that docs/statistics.md shows of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

__all__ = ["Row", "What", "band", "figure", "measured", "outside", "pivot", "replace_block"]

What = Literal["size", "coverage", "power", "error"]

#: Of the band in which a rate falls if the nominal one is the truth.
_BAND = 0.99


@dataclass(frozen=True, slots=True)
class Row:
    """How often a method was right, or wrong, where the truth is known.

    Attributes
    ----------
    what : {"size", "coverage", "power", "error"}
        The share of tests that reject a true null, of intervals that hold the truth, or of tests
        that reject a false null; or the root of the mean squared error of an estimate. Of the last
        two nothing is promised.
    method : str
        A test or an interval.
    data : str
        The kind of scores.
    null : str
        How the two systems relate in the population.
    n : int
        Items of a sample.
    target : str
        The quantity of the population that the method is about.
    nominal, rate : float
        What the method promises, and what it did.
    low, high : float
        99% binomial band around the nominal rate.
    replications : int
    holds : bool
        Whether the rate lies in the band; of exact tests, that it is not above it.
    attainable : float or None
        Of exact tests: the level closest below the nominal one that the samples allow, on average.
    """

    what: What
    method: str
    data: str
    null: str
    n: int
    target: str
    nominal: float
    rate: float
    low: float
    high: float
    replications: int
    holds: bool
    attainable: float | None = None

    def cell(self) -> str:
        """The rate in per cent, and on which side of the band it lies if not inside.

        Examples
        --------
        >>> measured("size", "koehn", "BLEU", "exchangeable", 50, "0", 0.05, 230, 2000).cell()
        '**11.5** above'
        """
        if self.what == "error":
            return f"{self.rate:.2f}"
        figure = f"{100.0 * self.rate:.1f}"
        if self.low <= self.rate <= self.high:
            return figure
        if self.holds and self.attainable is not None:
            return f"{figure} (of {100.0 * self.attainable:.1f})"
        side = "above" if self.rate > self.high else "below"
        return f"{figure} {side}" if self.holds else f"**{figure}** {side}"


def band(nominal: float, replications: int) -> tuple[float, float]:
    """The rates that 99 of 100 simulations of an exactly nominal method give.

    Examples
    --------
    >>> band(0.05, 2000)
    (0.038, 0.063)
    """
    from scipy.stats import binom

    tail = (1.0 - _BAND) / 2.0
    low, high = binom.ppf((tail, 1.0 - tail), replications, nominal)
    return float(low) / replications, float(high) / replications


def measured(
    what: What,
    method: str,
    data: str,
    null: str,
    n: int,
    target: str,
    nominal: float,
    hits: int,
    replications: int,
    *,
    exact: bool = False,
    attainable: float | None = None,
) -> Row:
    """A row from the number of replications in which the test rejected or the interval covered.

    `exact` tests may stay below the band: few exchanges leave few attainable p-values.
    """
    low, high = band(nominal, replications)
    rate = hits / replications
    return Row(
        what=what,
        method=method,
        data=data,
        null=null,
        n=n,
        target=target,
        nominal=nominal,
        rate=rate,
        low=low,
        high=high,
        replications=replications,
        holds=rate <= high and (exact or rate >= low),
        attainable=attainable,
    )


def figure(
    what: What, method: str, data: str, null: str, n: int, target: str, rate: float, of: int
) -> Row:
    """A row of which nothing was promised, from so many replications."""
    return Row(what, method, data, null, n, target, rate, rate, rate, rate, of, True)


def outside(rows: Sequence[Row]) -> list[Row]:
    """The rows of all lines of a table of which one lies outside of its band."""
    lines = {
        (row.data, row.null, row.n, row.target)
        for row in rows
        if not row.low <= row.rate <= row.high
    }
    return [row for row in rows if (row.data, row.null, row.n, row.target) in lines]


def pivot(rows: Sequence[Row], methods: Sequence[str]) -> str:
    """A Markdown table: a line for what was simulated, a column for each method."""
    found: dict[tuple[str, str, int, str], dict[str, Row]] = {}
    for row in rows:
        found.setdefault((row.data, row.null, row.n, row.target), {})[row.method] = row
    shown = [method for method in methods if any(method in line for line in found.values())]
    heading = ("data", "systems", "n", "target", *shown)
    lines = [heading, ["---"] * 2 + ["--:"] + ["---"] + ["--:"] * len(shown)]
    for (data, null, n, target), line in found.items():
        cells = (line[method].cell() if method in line else "" for method in shown)
        lines.append([data, null, f"{n:,}", target, *cells])
    return "\n".join(_line(line) for line in lines)


def _line(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cells) + " |"


def replace_block(page: str, name: str, content: str) -> str:
    """The page with `content` between the comments `<!-- NAME -->` and `<!-- /NAME -->`.

    Examples
    --------
    >>> print(replace_block("a <!-- t -->old<!-- /t --> b", "t", "new"))
    a <!-- t -->
    new
    <!-- /t --> b
    """
    opening, closing = f"<!-- {name} -->", f"<!-- /{name} -->"
    before, found, rest = page.partition(opening)
    _, ended, after = rest.partition(closing)
    if not found or not ended:
        raise ValueError(f"the page has no block {name!r}")
    return f"{before}{opening}\n{content}\n{closing}{after}"
