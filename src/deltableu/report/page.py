"""One self-contained HTML page for the person who decides: the answer first, the rest folded."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from deltableu._version import __version__
from deltableu.compare import Comparison
from deltableu.corpus import CheckResult, ReferenceSet, ScoreTable, says_simulated
from deltableu.errors import Problem
from deltableu.io import Column, Table, written
from deltableu.report.changes import Changes
from deltableu.report.charts import (
    IntervalChart,
    Scatter,
    difference_chart,
    output_scatter,
    system_scatter,
    weight_histogram,
)
from deltableu.report.compare_verdict import compare_verdict
from deltableu.report.examples import OutputExamples
from deltableu.report.explain_page import ExplainTools
from deltableu.report.failures import ShownFailure
from deltableu.report.methods import methods_paragraph
from deltableu.report.render import render
from deltableu.report.sweep_charts import sweep_chart
from deltableu.report.sweep_verdict import sweep_verdict
from deltableu.report.validate_verdict import validate_verdict
from deltableu.report.validation_charts import consistency_curve, heat_map, violin_chart
from deltableu.score import Scoring
from deltableu.validate import Agreement, Analyses, Level, Sweeps, Validation


@dataclass(frozen=True, slots=True)
class Setting:
    """Scores under one choice of references: single, w>=T or all."""

    name: str
    references: ReferenceSet
    scoring: Scoring


@dataclass(frozen=True, slots=True, kw_only=True)
class StudyReport:
    """All that the page is made of.

    Attributes
    ----------
    title : str
    settings : tuple of Setting
        The last is the main one, which everything else is about.
    comparisons : tuple of Comparison
        One per metric; none where there is nothing to compare.
    baseline : str, optional
        What systems are compared with; by default the best.
    validation : Validation, optional
        Where people rated the outputs.
    analyses : Analyses, optional
        What lies behind the agreement with people.
    failures : tuple of ShownFailure
        Its failure cases, with what the page shows of each.
    examples : OutputExamples, optional
        Outputs of one system, with weighted references.
    sweeps : Sweeps, optional
        Agreement on units of sentences.
    changes : tuple of Changes
        Outputs that changed most.
    buckets : tuple of Table
        Scores by kind of item, under `bucket_metric`.
    confidence : float
        The confidence of all intervals.
    checked : CheckResult, optional
        What is in the study and what is wrong with it.
    note : str, optional
        What readers should know of the study.
    """

    title: str
    settings: tuple[Setting, ...]
    comparisons: tuple[Comparison, ...] = ()
    baseline: str | None = None
    validation: Validation | None = None
    analyses: Analyses | None = None
    failures: tuple[ShownFailure, ...] = ()
    examples: OutputExamples | None = None
    sweeps: Sweeps | None = None
    changes: tuple[Changes, ...] = ()
    buckets: tuple[Table, ...] = ()
    bucket_metric: str = ""
    confidence: float = 0.95
    checked: CheckResult | None = None
    note: str | None = None

    @property
    def main(self) -> Setting:
        """The setting that everything but the table of settings is about."""
        return self.settings[-1]

    @property
    def reference_system(self) -> str | None:
        """The baseline, or the best system where none was named."""
        if self.baseline is not None or not self.comparisons:
            return self.baseline
        return leading(self.comparisons).systems[0].system


def leading(comparisons: Sequence[Comparison]) -> Comparison:
    """The first comparison that has something to say: a clamped score has no intervals."""
    said = (one for one in comparisons if any(pair.interval is not None for pair in one.pairs))
    return next(said, comparisons[0])


def study_page(report: StudyReport) -> str:
    """The page."""
    main, comparisons = report.main, report.comparisons
    baseline = report.reference_system
    compared = [one.table() for one in comparisons]
    charts = _charts(comparisons, baseline)
    scatters = [] if report.validation is None else _scatters(main.scoring, report.validation)
    cases = [one.case for change in report.changes for one in (*change.gains, *change.losses)]
    cases += [one.explained for one in report.failures]
    orders = [case.answers[0].explanation.order for case in cases if case is not None]
    checked = report.checked
    anchors = {
        "differences": ("Differences", bool(charts)),
        "scores": ("Scores", True),
        "people": (f"Against {_whom(report)}", bool(scatters)),
        "units": ("Units of sentences", report.sweeps is not None),
        "examples": ("Examples", report.examples is not None),
        "failures": ("Where they disagree", bool(report.failures)),
        "changes": ("Changed outputs", bool(report.changes)),
        "buckets": ("By kind of item", bool(report.buckets)),
        "rest": ("How this was made", True),
    }
    sections = {
        "about": _about(report, baseline),
        "note": report.note,
        "verdict": compare_verdict(report.comparisons) if report.comparisons else (),
        "links": [(anchor, name) for anchor, (name, there) in anchors.items() if there],
        "baseline": baseline,
        "named_baseline": report.baseline is not None,
        "confidence": f"{100 * report.confidence:g}%",
        "charts": charts,
        "higher": not comparisons or leading(comparisons).higher_is_better,
        "cautions": [f"{one.metric}: {text}" for one in comparisons for text in one.warnings],
        "scored_simulated": main.scoring.simulated,
        "main": compared[0].join(compared[1:]) if compared else main.scoring.best_first().table(),
        "scores_note": _scores_note(report, compared),
        "scatters": scatters,
        "people_verdict": validate_verdict(report.validation) if report.validation else (),
        "simulated": report.validation is not None and report.validation.simulated,
        "whom": _whom(report),
        "swept_whom": _swept_whom(report),
        "simulated_weights": says_simulated(main.references.weights_from),
        "people_source": "" if report.validation is None else _people(report.validation),
        **_behind(report),
        "examples": report.examples,
        "changes": report.changes,
        "explained": bool(orders),
        "longest": max(orders, default=1),
        "tools": ExplainTools(),
        "buckets": report.buckets,
        "bucket_metric": report.bucket_metric,
        "looks": _looks(report),
        "pairs": [one.pairs_table() for one in comparisons],
        "settings": _by_metric(report.settings) if len(report.settings) > 1 else [],
        "histogram": None
        if main.references.weights is None
        else weight_histogram(main.references.items or ()),
        "contents": None if checked is None else checked.table(),
        "systems": None if checked is None else checked.systems_table(),
        "problems": () if checked is None else [_within(checked, one) for one in checked.problems],
        "unlisted": 0 if checked is None else checked.unlisted,
        "signatures": [
            *(one.signature for one in comparisons),
            *([] if report.sweeps is None else [report.sweeps.signature]),
            *([] if report.examples is None else report.examples.signatures.values()),
            *(text for one in report.settings for text in one.scoring.signatures.values()),
        ],
    }
    return render("page.html", title=report.title, version=__version__, **sections)


def _within(checked: CheckResult, problem: Problem) -> Problem:
    """A problem whose file is named from the study's folder: that may have been anywhere."""
    file = Path(problem.file or "")
    if file == checked.path or not file.is_relative_to(checked.path):
        return problem
    return replace(problem, file=file.relative_to(checked.path).as_posix())


def _behind(report: StudyReport) -> dict[str, Any]:
    """What lies behind the agreement with people."""
    found, validation = report.analyses or Analyses(), report.validation
    maps = [] if validation is None else [heat_map(one) for one in validation.comparisons]
    by_metric: dict[str, list[ShownFailure]] = {}
    for one in report.failures:
        by_metric.setdefault(one.case.metric, []).append(one)
    return {
        "advice": [one.text for one in found.advice],
        "violins_charts": [violin_chart(one) for one in found.bins],
        "failures": by_metric,
        "kinds": [found.told(one.table()) for one in found.kinds],
        "heat_maps": [one for one in maps if one is not None],
        "curve_chart": None if found.consistency is None else consistency_curve(found.consistency),
        "facts": None if found.facts is None else found.facts.table(),
        "agreement_tables": []
        if validation is None
        else [
            validation.table(level)
            for level in dict.fromkeys(one.level for one in validation.agreements)
        ],
        "methods": None if validation is None else methods_paragraph(validation),
        "sweeps": []
        if report.sweeps is None
        else [(sweep_chart(one), one.table()) for one in report.sweeps.sweeps],
        "sweeps_verdict": () if report.sweeps is None else sweep_verdict(report.sweeps),
    }


def _whom(report: StudyReport) -> str:
    return "people" if report.validation is None else report.validation.whom


def _swept_whom(report: StudyReport) -> str:
    return "people" if report.sweeps is None else report.sweeps.sweeps[0].whom


def _about(report: StudyReport, baseline: str | None) -> str:
    main = report.main
    systems, items = len(main.scoring.systems), len(main.scoring.item_ids)
    names = (
        len(report.comparisons[0].systems) if report.comparisons else systems
    )  # runs of a system are one
    parts = [_count(names, "system"), _count(items, "item"), f"references: {main.name}"]
    if report.baseline is not None:
        parts.append(f"baseline: {baseline}")
    left = len(main.scoring.dropped)
    if left:
        parts.append(f"{_count(left, 'item')} without a positively weighted reference left out")
    return " · ".join(parts)


def _scores_note(report: StudyReport, compared: Sequence[Table]) -> str:
    bold = "Bold is the best of each metric"
    if not compared:
        return f"{bold}; brackets are {100 * report.confidence:g}% confidence intervals."
    notes = compared[0].notes
    marks = notes.get("letters") or f"* {notes.get('*', '')}"
    sure = notes.get("intervals")
    brackets = f"brackets are intervals{f' ({sure})' if sure else ''}"
    return (
        f"{bold}; {brackets}. {marks[0].upper()}{marks[1:]}. "
        "A score without an interval is clamped, and cannot say how sure it is."
    )


def _charts(
    comparisons: Sequence[Comparison], baseline: str | None
) -> list[tuple[str, IntervalChart]]:
    """The leading metric first."""
    if baseline is None or not comparisons:
        return []
    first = leading(comparisons)
    order = [first, *(one for one in comparisons if one is not first)]
    return [(one.metric, difference_chart(one, baseline)) for one in order]


def _scatters(scoring: Scoring, validation: Validation) -> list[list[Scatter]]:
    """For each metric, people against its scores of systems, and of outputs where it has any."""
    human = validation.human
    table: ScoreTable = scoring.score_table().select(systems=human.systems, items=human.items)
    people = human.values[0]
    groups = []
    for metric in table.metrics:
        scores = table.only(metric)
        group = [
            system_scatter(
                metric,
                _said(validation, metric, "system"),
                table.systems,
                table.total(metric),
                human.totals[0],
            )
        ]
        caption = _said(validation, metric, "pooled")
        group.append(output_scatter(metric, caption, scores.ravel(), people.ravel()))
        groups.append([one for one in group if one.dots or one.squares])
    return groups


def _said(validation: Validation, metric: str, level: Level) -> str:
    found: list[Agreement] = [
        one for one in validation.agreements if (one.metric, one.level) == (metric, level)
    ]
    if not found:
        return ""
    one = found[0]
    number = written(one.value, ".2r").replace("-", "−") if one.value == one.value else "undefined"
    interval = one.interval
    ends = (
        ""
        if interval is None
        else (
            f", {100 * interval.confidence:g}% interval "
            f"{written(interval.low, '.2r')} to {written(interval.high, '.2r')}".replace("-", "−")
        )
    )
    units = {"system": "systems", "pooled": "outputs", "item": "items"}[level]
    return f"{one.method.capitalize()} {number} on {one.units:,} {units}{ends}"


def _people(validation: Validation) -> str:
    """Who rated, in words."""
    if validation.raters is None:
        return f"the ready scores of {validation.whom}"
    rater = "simulated rater" if says_simulated(validation.source) else "rater"
    return f"ratings by {_count(validation.raters.raters, rater)} ({validation.source})"


def _looks(report: StudyReport) -> str:
    """How many intervals were looked at, and what that does to the surprising ones."""
    looks = sum(
        cell.interval is not None for table in report.buckets for row in table.rows for cell in row
    )
    expected = (1.0 - report.confidence) * looks
    if looks < 2:
        return ""
    surprise = "take a surprise here as a question for new data, not as an answer"
    if expected < 0.5:
        return f"These are {looks} looks at the same data: {surprise}."
    missed = f"about {expected:.0f}" if expected >= 1.5 else "one"
    return (
        f"These are {looks} looks at the same data, of whose intervals {missed} can be expected to "
        f"miss by chance alone: {surprise}."
    )


def _by_metric(settings: Sequence[Setting]) -> list[Table]:
    """For each metric, systems in rows and the choices of references in columns."""
    order = settings[-1].scoring.best_first()
    systems = Table([Column("system")], [[name] for name in order.systems])
    tables = []
    for metric in settings[0].scoring.metrics:
        columns = []
        for setting in settings:
            table = setting.scoring.only(metric).table()
            name, scores = table.columns
            columns.append(replace(table, columns=(name, replace(scores, name=_header(setting)))))
        tables.append(replace(systems.join(columns), caption=metric))
    return tables


def _header(setting: Setting) -> str:
    counts = [len(texts) for texts in setting.references.texts]
    header = f"{setting.name} ({sum(counts) / len(counts):.1f} references)"
    dropped = len(setting.scoring.dropped)
    return f"{header}, {_count(dropped, 'item')} left out" if dropped else header


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
