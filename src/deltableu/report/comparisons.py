"""Comparisons as tables and as records for JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from deltableu.compare import ComparedPair, ComparedSystem, Comparison
from deltableu.io import Cell, Table
from deltableu.report.scores import interval_record, number

__all__ = [
    "comparison_notes",
    "comparison_records",
    "matrix_table",
    "p_text",
    "pair_table",
    "system_table",
]

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "no correction"}


def system_table(comparisons: Sequence[Comparison], *, digits: int = 2) -> Table:
    """Systems in rows, by the first metric's order; scores with letters and intervals."""
    columns = ["system"]
    for one in comparisons:
        columns += [one.metric, "rank"] if one.baseline is None else [one.metric, "p"]
    rows = []
    for place in comparisons[0].systems:
        cells = [Cell(place.system)]
        for one in comparisons:
            cells += _system_cells(one, place.system, digits)
        rows.append(tuple(cells))
    return Table(tuple(columns), tuple(rows))


def _system_cells(comparison: Comparison, name: str, digits: int) -> list[Cell]:
    found = next(system for system in comparison.systems if system.system == name)
    low, high = number(found.interval.low, digits), number(found.interval.high, digits)
    leads = found.system == comparison.systems[0].system
    letters = f"{found.letters} " if found.letters else ""
    score = Cell(number(found.score, digits), f"{letters}[{low}, {high}]", leads)
    if comparison.baseline is None:
        return [score, Cell(_rank(found))]
    if name == comparison.baseline:
        return [score, Cell("baseline")]
    pair = comparison.pair(name, comparison.baseline)
    return [score, Cell(_deciding(comparison, pair), "*" if pair.significant else "")]


def pair_table(comparison: Comparison, *, digits: int = 2) -> Table:
    """A row for each pair: the difference, its interval, p-values, who is better."""
    shown = comparison.pairs
    agreement = any(pair.agreement is not None for pair in shown)
    raters = any(pair.variance is not None for pair in shown)
    columns = ["first", "second", "difference", "interval"]
    columns += [f"p {test}" for test in comparison.tests]
    if comparison.correction != "none":
        columns.append(f"p {_CORRECTIONS[comparison.correction]}")
    columns += ["people agree"] * agreement + ["corrected", "from raters"] * raters + ["better"]
    rows = []
    for pair in shown:
        low, high = number(pair.interval.low, digits), number(pair.interval.high, digits)
        cells = [pair.first, pair.second, number(pair.difference, digits), f"[{low}, {high}]"]
        cells += [p_text(pair.p_values[test]) for test in comparison.tests]
        if comparison.correction != "none":
            cells.append(_deciding(comparison, pair))
        if agreement:
            cells.append(_agreement(pair))
        if raters:
            cells.append("" if pair.corrected is None else number(pair.corrected, digits))
            share = pair.variance.rater_share if pair.variance is not None else None
            cells.append("" if share is None else f"{100 * share:.0f}%")
        rows.append((*map(Cell, cells), Cell(pair.better or "-", best=pair.better is not None)))
    align = ("left", "left", *["right"] * (len(columns) - 3), "left")
    caption = f"{comparison.metric}: first minus second, {comparison.items} items"
    return Table(tuple(columns), tuple(rows), caption, align)  # type: ignore[arg-type]


def matrix_table(comparison: Comparison) -> Table:
    """Adjusted p-values of all pairs; the mark says that the system of the row is better."""
    names = [system.system for system in comparison.systems]
    rows = []
    for row in names:
        cells = [Cell(row)]
        for column in names:
            try:
                pair = comparison.pair(row, column)
            except KeyError:
                cells.append(Cell("-" if row == column else ""))
                continue
            cells.append(Cell(_deciding(comparison, pair), ">" if pair.better == row else ""))
        rows.append(tuple(cells))
    caption = f"{comparison.metric}: p-values, {_CORRECTIONS[comparison.correction]}"
    return Table(("", *names), tuple(rows), f"{caption}; > where the row is better")


def comparison_notes(comparisons: Sequence[Comparison]) -> dict[str, str]:
    """What readers of the tables must know, and the signatures."""
    first = comparisons[0]
    test = f"{first.tests[0]}{' (exact)' if first.exact else ''}"
    how = f"{test}, {_CORRECTIONS[first.correction]}, {first.significance:g}"
    if first.baseline is None:
        rule = f"systems that share a letter do not differ significantly ({how})"
    else:
        rule = f"significantly different from {first.baseline} ({how})"
    intervals = f"{100 * first.level:g}% {first.systems[0].interval.method}"
    if first.systems[0].corrected is not None:
        intervals += ", around scores corrected for noise in the weights"
    notes = {"letters" if first.baseline is None else "*": rule, "intervals": intervals}
    return notes | {one.metric: one.signature for one in comparisons}


def comparison_records(comparisons: Sequence[Comparison]) -> list[dict[str, Any]]:
    """What `--format json` prints: unrounded numbers and every ingredient."""
    return [_record(one) for one in comparisons]


def p_text(value: float) -> str:
    """A p-value as papers print it.

    Examples
    --------
    >>> p_text(0.0123), p_text(0.00004), p_text(1.0)
    ('.012', '<.001', '1.000')
    """
    if value < 0.0005:
        return "<.001"
    return f"{value:.3f}".removeprefix("0")


def _deciding(comparison: Comparison, pair: ComparedPair) -> str:
    values = {"holm": pair.holm, "bh": pair.bh, "none": pair.p_values}[comparison.correction]
    return p_text(values[comparison.tests[0]])


def _rank(system: ComparedSystem) -> str:
    if system.rank is None:
        return ""
    best, worst = system.rank
    return f"{best}" if best == worst else f"{best}-{worst}"


def _agreement(pair: ComparedPair) -> str:
    if pair.agreement is None:
        return ""
    found = pair.agreement
    return f"{found.value:.2f} [{found.interval.low:.2f}, {found.interval.high:.2f}]"


def _record(comparison: Comparison) -> dict[str, Any]:
    return {
        "metric": comparison.metric,
        "items": comparison.items,
        "baseline": comparison.baseline,
        "tests": list(comparison.tests),
        "exact": comparison.exact,
        "correction": comparison.correction,
        "significance": comparison.significance,
        "level": comparison.level,
        "systems": [_system_record(system) for system in comparison.systems],
        "pairs": [_pair_record(pair) for pair in comparison.pairs],
        "signature": comparison.signature,
    }


def _system_record(system: ComparedSystem) -> dict[str, Any]:
    return {
        "system": system.system,
        "score": system.score,
        "interval": interval_record(system.interval),
        "rank": None if system.rank is None else list(system.rank),
        "cluster": system.cluster,
        "letters": system.letters,
        "corrected": system.corrected,
        "variance": _variance(system),
    }


def _pair_record(pair: ComparedPair) -> dict[str, Any]:
    agreement = pair.agreement
    return {
        "first": pair.first,
        "second": pair.second,
        "difference": pair.difference,
        "interval": interval_record(pair.interval),
        "p_values": dict(pair.p_values),
        "holm": dict(pair.holm),
        "bh": dict(pair.bh),
        "significant": pair.significant,
        "better": pair.better,
        "corrected": pair.corrected,
        "agreement": None
        if agreement is None
        else {"value": agreement.value, "interval": interval_record(agreement.interval)},
        "variance": _variance(pair),
    }


def _variance(one: ComparedSystem | ComparedPair) -> dict[str, float] | None:
    shares = one.variance
    if shares is None:
        return None
    return {
        "items": shares.items,
        "raters": shares.raters,
        "both": shares.both,
        "rater_share": shares.rater_share,
    }
