"""Comparisons as tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

from deltableu.io import Cell, Column, Table

if TYPE_CHECKING:
    from deltableu.compare.results import ComparedPair, ComparedSystem, Comparison

__all__ = ["matrix_table", "pair_table", "system_table"]

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "no correction"}


def system_table(comparison: Comparison, digits: int) -> Table:
    """Systems in rows, best first: score with letters and interval, then rank or p-value."""
    metric, against = comparison.metric, comparison.baseline is not None
    last = ("p", "p") if against else ("rank", "range")
    columns = [
        Column("system"),
        Column(metric, f".{digits}f"),
        Column(*last, align="right", key=f"{metric} {last[0]}"),
    ]
    rows = [
        (
            one.system,
            Cell(one.score, one.interval, one.letters, best=place == 0),
            _against_baseline(comparison, one) if against else one.rank,
        )
        for place, one in enumerate(comparison.systems)
    ]
    return Table(columns, rows, notes=_notes(comparison))


def _against_baseline(comparison: Comparison, system: ComparedSystem) -> Cell:
    if comparison.baseline is None or system.system == comparison.baseline:
        return Cell("baseline")
    pair = comparison.pair(system.system, comparison.baseline)
    return Cell(comparison.deciding(pair), note="*" if pair.significant else "")


def pair_table(comparison: Comparison, digits: int) -> Table:
    """A row for each pair: the difference, its interval, p-values, who is better."""
    pairs, form = comparison.pairs, f".{digits}f"
    columns = [
        *map(Column, ("first", "second")),
        Column("difference", form),
        Column("interval", form),
    ]
    columns += [Column(f"p {test}", "p") for test in comparison.tests]
    rows: list[list[object]] = [
        [
            one.first,
            one.second,
            one.difference,
            one.interval,
            *map(one.p_values.get, comparison.tests),
        ]
        for one in pairs
    ]

    def add(column: Column, values: list[object]) -> None:
        columns.append(column)
        for row, value in zip(rows, values, strict=True):
            row.append(value)

    if comparison.correction != "none":
        name = f"p {_CORRECTIONS[comparison.correction]}"
        add(Column(name, "p"), [comparison.deciding(one) for one in pairs])
    if any(one.agreement is not None for one in pairs):
        add(Column("people agree", ".2f"), [_agreement(one) for one in pairs])
    if any(one.variance is not None for one in pairs):
        shares = [None if one.variance is None else one.variance.rater_share for one in pairs]
        add(Column("corrected", form), [one.corrected for one in pairs])
        add(Column("from raters", ".0%"), list(shares))
    better = [Cell(one.better or "-", best=one.better is not None) for one in pairs]
    add(Column("better"), list(better))
    caption = f"{comparison.metric}: first minus second, {comparison.items} items"
    return Table(columns, rows, caption, _notes(comparison))


def _agreement(pair: ComparedPair) -> Cell | None:
    found = pair.agreement
    return None if found is None else Cell(found.value, found.interval)


def matrix_table(comparison: Comparison) -> Table:
    """P-values of all pairs, corrected; the mark says that the system of the row is better."""
    names = [one.system for one in comparison.systems]
    rows: list[list[object]] = [
        [row, *(_p_value(comparison, row, column) for column in names)] for row in names
    ]
    caption = f"{comparison.metric}: p-values, {_CORRECTIONS[comparison.correction]}"
    columns = [Column("", key="system"), *(Column(name, "p") for name in names)]
    return Table(columns, rows, f"{caption}; > where the row is better", _notes(comparison))


def _p_value(comparison: Comparison, row: str, column: str) -> object:
    if row == column:
        return float("nan")
    try:
        pair = comparison.pair(row, column)
    except KeyError:
        return None
    return Cell(comparison.deciding(pair), note=">" if pair.better == row else "")


def _notes(comparison: Comparison) -> dict[str, str]:
    """What readers of the tables must know, and the signature."""
    test = f"{comparison.tests[0]}{' (exact)' if comparison.exact else ''}"
    how = f"{test}, {_CORRECTIONS[comparison.correction]}, {comparison.significance:g}"
    if comparison.baseline is None:
        rule = f"systems that share a letter do not differ significantly ({how})"
    else:
        rule = f"significantly different from {comparison.baseline} ({how})"
    first = comparison.systems[0]
    intervals = f"{100 * comparison.level:g}% {first.interval.method}"
    if first.corrected is not None:
        intervals += ", around scores corrected for noise in the weights"
    return {
        "letters" if comparison.baseline is None else "*": rule,
        "intervals": intervals,
        comparison.metric: comparison.signature,
    }
