"""Validations as tables and as records for JSON."""

from __future__ import annotations

import math
from typing import Any

from deltableu.io import Cell, Table
from deltableu.report.comparisons import p_text
from deltableu.report.scores import interval_record, number
from deltableu.validate import (
    Accuracy,
    Agreement,
    Level,
    MetricComparison,
    RaterSummary,
    Span,
    Validation,
)

__all__ = [
    "agreement_table",
    "human_table",
    "metric_matrix",
    "rater_table",
    "validation_notes",
    "validation_records",
]

_TITLES = {
    "system": "systems by their scores",
    "pooled": "all outputs together",
    "item": "systems within each item, averaged over items",
}
_MEASURES: dict[Level, tuple[tuple[str, str], ...]] = {
    "system": (("pairwise", "pairs right"), ("spa", "SPA")),
    "pooled": (),
    "item": (("acc-eq", "acc*eq"),),
}


def agreement_table(validation: Validation, level: Level, *, digits: int = 3) -> Table:
    """Metrics in rows, best first; correlations with intervals, accuracies, winners in bold."""
    rows = [one for one in validation.agreements if one.level == level]
    methods = list(dict.fromkeys(one.method for one in rows))
    found = {(one.metric, one.method): one for one in rows}
    winners = _winners(validation, level)
    measures = _MEASURES[level]
    partial = level == "pooled" and any(one.without_length is not None for one in rows)
    columns = ["metric"]
    for place, method in enumerate(methods):
        columns += [method] if place else [method, "p"]
    spans = validation.raters.annotators if validation.raters and level == "pooled" else {}
    columns += ["less length"] * partial + ["single raters"] * bool(spans)
    columns += [title for _, title in measures]
    body = []
    for metric in _best_first(found, methods[0]):
        mark = "(sentinel)" if metric in validation.sentinels else ""
        cells = [Cell(metric, mark, metric in winners)]
        for place, method in enumerate(methods):
            value, p_value = _agreement_cells(found[metric, method], digits)
            cells += [value] if place else [value, p_value]
        if partial:
            cells.append(Cell(_value(found[metric, methods[0]].without_length, digits)))
        if spans:
            span = spans.get(metric)
            cells.append(Cell("-" if span is None else _span(span, digits)))
        for measure, _ in measures:
            cells.append(_accuracy_cell(validation, metric, measure, digits))
        body.append(tuple(cells))
    raters = validation.raters
    ceiling = None if raters is None else raters.ceiling(level, methods[0])
    if ceiling is not None:
        body += [
            _filled("one rater", ceiling.one_rater, len(columns), digits),
            _filled("half of the raters", ceiling.halves, len(columns), digits),
        ]
    units = max((one.units for one in rows), default=0)
    what = {"system": "systems", "pooled": "outputs", "item": "items"}[level]
    return Table(tuple(columns), tuple(body), f"{level}: {_TITLES[level]} ({units} {what})")


def _winners(validation: Validation, level: Level) -> frozenset[str]:
    return frozenset(
        name for one in validation.comparisons if one.level == level for name in one.winners
    )


def _best_first(found: dict[tuple[str, Any], Agreement], method: str) -> list[str]:
    values = {metric: one.value for (metric, how), one in found.items() if how == method}
    return sorted(values, key=lambda name: (math.isnan(values[name]), -values[name], name))


def _agreement_cells(one: Agreement, digits: int) -> list[Cell]:
    note = ""
    if one.interval is not None:
        note = f"[{_value(one.interval.low, digits)}, {_value(one.interval.high, digits)}]"
    p_value = "" if math.isnan(one.p_value) else p_text(one.p_value)
    return [Cell(_value(one.value, digits), note), Cell(p_value)]


def _accuracy_cell(validation: Validation, metric: str, measure: str, digits: int) -> Cell:
    for one in validation.accuracies:
        if (one.metric, one.measure) == (metric, measure):
            return Cell(_value(one.value, digits), f"chance {_value(one.chance, digits)}")
    return Cell("")


def _filled(name: str, value: float, columns: int, digits: int) -> tuple[Cell, ...]:
    cells = [Cell(name, "(people with people)"), Cell(_value(value, digits))]
    return (*cells, *[Cell("")] * (columns - 2))


def human_table(validation: Validation, *, digits: int = 3) -> Table | None:
    """What people think of the systems; None where there are only ready scores."""
    found = validation.assessment
    if found is None:
        return None
    rows = []
    for place in found.ranking.order:
        best, worst = found.ranking.ranks[place]
        rows.append(
            (
                Cell(found.systems[place]),
                Cell(number(float(found.z[place]), digits)),
                Cell(number(float(found.raw[place]), 1)),
                Cell(str(best) if best == worst else f"{best}-{worst}"),
                Cell(str(found.ranking.clusters[place])),
                Cell(str(int(found.segments[place]))),
                Cell(str(int(found.judgements[place]))),
            )
        )
    columns = ("system", "z", "raw", "rank", "cluster", "segments", "judgements")
    return Table(columns, tuple(rows), f"people ({validation.source})")


def rater_table(validation: Validation, *, digits: int = 3) -> Table | None:
    """How far raters agree with each other; None where no output has two raters."""
    found = validation.raters
    if found is None:
        return None
    rows = {
        "raters": str(found.raters),
        "Krippendorff's alpha, interval, raw": _value(found.alpha, digits),
        "Krippendorff's alpha, interval, z": _value(found.alpha_z, digits),
        "two raters, mean (lowest to highest)": "-"
        if found.pairs is None
        else _span(found.pairs, digits),
        "reliability of all raters together": _value(found.reliability, digits),
    }
    cells = tuple((Cell(name), Cell(value)) for name, value in rows.items())
    return Table(("agreement among raters", ""), cells)


def _span(span: Span, digits: int) -> str:
    low, high = _value(span.low, digits), _value(span.high, digits)
    return f"{_value(span.mean, digits)} ({low} to {high})"


def metric_matrix(comparison: MetricComparison) -> Table:
    """One-sided p-values of the row's metric agreeing better than the column's."""
    names = [metric.metric for metric in comparison.metrics]
    rows = []
    for row, metric in enumerate(comparison.metrics):
        cells = [Cell(metric.metric, f"rank {metric.rank}", metric.winner)]
        for column in range(len(names)):
            value = float(comparison.adjusted[row, column])
            better = not math.isnan(value) and value < comparison.significance
            cells.append(Cell("-" if math.isnan(value) else p_text(value), best=better))
        rows.append(tuple(cells))
    caption = (
        f"{comparison.level}: p-values, row better than column "
        f"({comparison.test}, {comparison.method})"
    )
    return Table(("metric", *names), tuple(rows), caption)


def validation_notes(validation: Validation) -> dict[str, str]:
    """What readers of the tables must know, and the signature."""
    notes = {f"note {place}": text for place, text in enumerate(validation.notes, start=1)}
    return {
        "bold": "no other metric agrees significantly better at this level",
        "intervals": "system: other systems; pooled and item: other items",
        **notes,
        "validation": validation.signature,
    }


def validation_records(validation: Validation) -> dict[str, Any]:
    """What `--format json` prints: unrounded numbers and every ingredient."""
    human = validation.human
    found = validation.assessment
    return {
        "human": {
            "source": validation.source,
            "systems": [
                {
                    "system": name,
                    "score": _finite(float(human.totals[0, place])),
                    **(
                        {}
                        if found is None
                        else {
                            "z": _finite(float(found.z[found.systems.index(name)])),
                            "raw": _finite(float(found.raw[found.systems.index(name)])),
                            "cluster": found.ranking.clusters[found.systems.index(name)],
                        }
                    ),
                }
                for place, name in enumerate(human.systems)
            ],
            "raters": None if validation.raters is None else _rater_record(validation.raters),
        },
        "agreements": [_agreement_record(one) for one in validation.agreements],
        "accuracies": [_accuracy_record(one) for one in validation.accuracies],
        "comparisons": [_comparison_record(one) for one in validation.comparisons],
        "sentinels": list(validation.sentinels),
        "notes": list(validation.notes),
        "signature": validation.signature,
    }


def _rater_record(found: RaterSummary) -> dict[str, Any]:
    return {
        "raters": found.raters,
        "alpha": _finite(found.alpha),
        "alpha_z": _finite(found.alpha_z),
        "pairs": None if found.pairs is None else _span_record(found.pairs),
        "reliability": _finite(found.reliability),
        "ceilings": [
            {
                "level": one.level,
                "method": one.method,
                "one_rater": _finite(one.one_rater),
                "halves": _finite(one.halves),
            }
            for one in found.ceilings
        ],
        "annotators": {name: _span_record(span) for name, span in found.annotators.items()},
    }


def _span_record(span: Span) -> dict[str, float]:
    return {"mean": span.mean, "low": span.low, "high": span.high}


def _agreement_record(one: Agreement) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "level": one.level,
        "method": one.method,
        "value": _finite(one.value),
        "interval": interval_record(one.interval),
        "p_value": _finite(one.p_value),
        "units": one.units,
        "dropped": one.dropped,
        "population": one.population,
        "without_length": one.without_length,
    }


def _accuracy_record(one: Accuracy) -> dict[str, Any]:
    return {
        "metric": one.metric,
        "measure": one.measure,
        "value": _finite(one.value),
        "chance": _finite(one.chance),
        "pairs": one.pairs,
        "epsilon": one.epsilon,
    }


def _comparison_record(one: MetricComparison) -> dict[str, Any]:
    return {
        "level": one.level,
        "method": one.method,
        "test": one.test,
        "correction": one.correction,
        "significance": one.significance,
        "winners": list(one.winners),
        "metrics": [
            {
                "metric": metric.metric,
                "agreement": metric.agreement,
                "winner": metric.winner,
                "rank": metric.rank,
                "cluster": metric.cluster,
                "letters": metric.letters,
            }
            for metric in one.metrics
        ],
        "p_values": [[_finite(float(value)) for value in row] for row in one.p_values],
        "adjusted": [[_finite(float(value)) for value in row] for row in one.adjusted],
    }


def _finite(value: float) -> float | None:
    return None if math.isnan(value) else value


def _value(value: float | None, digits: int) -> str:
    """A correlation as papers print it, without the zero before the point."""
    if value is None or math.isnan(value):
        return "-"
    text = number(value, digits)
    return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
