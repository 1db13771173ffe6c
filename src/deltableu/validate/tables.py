"""Validations as tables."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING

from deltableu.io import Cell, Column, Table
from deltableu.validate.levels import Level

if TYPE_CHECKING:
    from deltableu.validate.results import Agreement, Validation

__all__ = ["agreement_table", "people_tables", "table_notes"]

_TITLES = {
    "system": "systems by their scores",
    "pooled": "all outputs together",
    "item": "systems within each item, averaged over items",
}
_UNITS = {"system": "systems", "pooled": "outputs", "item": "items"}
_MEASURES: dict[Level, tuple[tuple[str, str], ...]] = {
    "system": (("pairwise", "pairs right"), ("spa", "SPA")),
    "pooled": (),
    "item": (("acc-eq", "acc*eq"),),
}


def agreement_table(validation: Validation, level: Level, digits: int) -> Table:
    """Metrics in rows, best first; correlations with intervals, accuracies, winners in bold."""
    rows = [one for one in validation.agreements if one.level == level]
    methods = list(dict.fromkeys(one.method for one in rows))
    found = {(one.metric, one.method): one for one in rows}
    first = {one.metric: one for one in rows if one.method == methods[0]}
    names = sorted(
        first, key=lambda name: (math.isnan(first[name].value), -first[name].value, name)
    )
    form = f".{digits}r"
    winners = {name for one in validation.comparisons if one.level == level for name in one.winners}
    columns: dict[Column, Mapping[str, object]] = {
        Column("metric"): {
            name: Cell(
                name, note="(sentinel)" * (name in validation.sentinels), best=name in winners
            )
            for name in names
        }
    }
    for place, method in enumerate(methods):
        columns[Column(method, form)] = {name: _cell(found[name, method]) for name in names}
        if place == 0:
            columns[Column("p", "p", align="right")] = {
                name: None if math.isnan(one.p_value) else one.p_value
                for name, one in first.items()
            }
    if level == "pooled" and any(one.without_length is not None for one in rows):
        columns[Column("less length", form)] = {
            name: math.nan if one.without_length is None else one.without_length
            for name, one in first.items()
        }
    spans = validation.raters.annotators if validation.raters and level == "pooled" else {}
    if spans:
        columns[Column("single raters", form)] = {
            name: spans[name].cell(form) if name in spans else math.nan for name in names
        }
    for measure, title in _MEASURES[level]:
        columns[Column(title, form)] = {
            one.metric: Cell(one.value, note=f"chance {Cell(one.chance).text(Column('', form))}")
            for one in validation.accuracies
            if one.measure == measure
        }
    body = [[values.get(name) for values in columns.values()] for name in names]
    ceiling = validation.raters and validation.raters.ceiling(level, methods[0])
    if ceiling:
        empty = [None] * (len(columns) - 2)
        for name, value in ("one rater", ceiling.one_rater), ("half of the raters", ceiling.halves):
            body.append([Cell(name, note="(people with people)"), value, *empty])
    units = max((one.units for one in rows), default=0)
    caption = f"{level}: {_TITLES[level]} ({units} {_UNITS[level]})"
    return Table(columns, body, caption, table_notes(validation))


def _cell(one: Agreement) -> Cell:
    return Cell(one.value, one.interval)


def people_tables(validation: Validation, digits: int) -> list[Table]:
    """What people think of the systems and how far they agree, where there are raw ratings."""
    found, raters = validation.assessment, validation.raters
    tables = []
    if found is not None:
        caption = f"people ({validation.source})"
        tables.append(replace(found.table(digits=digits), caption=caption))
    if raters is not None:
        tables.append(raters.table(digits=digits))
    return [replace(one, notes=table_notes(validation)) for one in tables]


def table_notes(validation: Validation) -> dict[str, str]:
    """What readers of the tables must know, and the signatures."""
    return {
        "bold": "no other metric agrees significantly better at this level",
        "intervals": "system: other systems; pooled and item: other items",
        **{f"note {place}": text for place, text in enumerate(validation.notes, start=1)},
        "validation": validation.signature,
        **validation.signatures,
    }
