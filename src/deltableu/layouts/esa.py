"""Error span annotation (ESA) as Appraise exports it: a score of 0 to 100, and marked errors.

Kocmi et al. (2024), "Error Span Annotation: A Balanced Approach for Human Evaluation of Machine
Translation"; the columns are those of github.com/wmt-conference/ErrorSpanAnnotation.
"""

from __future__ import annotations

from dataclasses import replace
from typing import ClassVar

from deltableu.errors import InputError, Problem
from deltableu.io import Report, decode, shown
from deltableu.layouts.appraise import AppraiseRow, appraise_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.segments import Segments

_WEIGHTS = {"major": 5.0, "minor": 1.0, "critical": 5.0, "neutral": 0.0}


class EsaLayout(Layout):
    """A row is a score (criterion `esa`) and its errors (`esa-errors`, five for a major one)."""

    name: ClassVar[str] = "esa"
    summary: ClassVar[str] = "error span annotations that Appraise exports: scores and spans"
    example: ClassVar[str] = (
        "esa scores.csv --refs ref.txt --sources source.txt --systems outputs/*.txt"
    )

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        segments = Segments(request)
        for row in appraise_rows(request, segments, report, understood):
            rating = row.rating
            try:
                if not 0 <= rating.value <= 100:
                    message = f"must lie in 0 to 100, got {rating.value:g}"
                    raise InputError(Problem(message, field="score"))
                penalty = span_penalty(row)
            except InputError as error:
                problem = error.problem
                report(Problem(problem.message, row.place.file, row.place.line, problem.field))
                continue
            yield replace(rating, criterion="esa", scale="0-100"), row.place
            errors = replace(rating, criterion="esa-errors", value=0.0 - penalty, scale=None)
            yield errors, row.place
        yield from segments.read(report, field="item")


def span_penalty(row: AppraiseRow) -> float:
    """How much the marked errors weigh: 5 for a major one, 1 for a minor one."""
    if row.spans is None:
        message = "there is no column of error spans: scores alone are of layout appraise"
        raise InputError(Problem(message, field="spans"))
    try:
        spans = decode(row.spans)
    except ValueError as error:
        raise InputError(Problem(f"is not valid JSON: {error}", field="spans")) from None
    if not isinstance(spans, list):
        raise InputError(Problem(f"must be a list, got {shown(spans)}", field="spans"))
    total = 0.0
    for span in spans:
        severity = span.get("severity") if isinstance(span, dict) else None
        weight = _WEIGHTS.get(severity.lower()) if isinstance(severity, str) else None
        if weight is None:
            message = f"a severity must be major or minor, got {shown(severity)}"
            raise InputError(Problem(message, field="spans"))
        total += weight
    return total
