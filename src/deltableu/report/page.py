"""One self-contained HTML page about a study: its contents, its scores, how they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltableu._version import __version__
from deltableu.compare import Comparison
from deltableu.corpus import CheckResult, ReferenceSet, Study
from deltableu.io import Cell, Table
from deltableu.report.comparisons import comparison_notes, pair_table, system_table
from deltableu.report.plots import interval_plot, weight_plot
from deltableu.report.render import render
from deltableu.report.scores import best_first, score_table, signatures
from deltableu.report.study import contents_table, systems_table
from deltableu.score import Scoring

__all__ = ["Setting", "study_page"]


@dataclass(frozen=True, slots=True)
class Setting:
    """Scores under one choice of references: single, w>=T or all."""

    name: str
    references: ReferenceSet
    scoring: Scoring


def study_page(
    title: str,
    study: Study,
    checked: CheckResult,
    settings: list[Setting],
    comparisons: Sequence[Comparison] = (),
) -> str:
    """The page; the last setting is the main one, and the one that `comparisons` are about."""
    main = settings[-1]
    scoring = best_first(main.scoring)
    rated = main.references.weights is not None
    sections = {
        "note": study.note,
        "main": score_table(scoring),
        "main_name": main.name,
        "interval_plot": interval_plot(scoring),
        "compared": system_table(comparisons) if comparisons else None,
        "pairs": [(one.metric, pair_table(one)) for one in comparisons],
        "comparison_notes": comparison_notes(comparisons) if comparisons else {},
        "settings": _by_metric(settings, scoring) if len(settings) > 1 else [],
        "weight_plot": weight_plot(study.items) if rated else None,
        "contents": contents_table(checked),
        "systems": systems_table(checked),
        "problems": checked.problems,
        "unlisted": checked.unlisted,
        "left_out": len(main.scoring.dropped),
        "signatures": [(setting.name, signatures(setting.scoring)) for setting in settings],
    }
    return render("page.html", title=title, version=__version__, **sections)


def _by_metric(settings: list[Setting], order: Scoring) -> list[tuple[str, Table]]:
    """For each metric, systems in rows and the choices of references in columns."""
    headers = [_header(setting) for setting in settings]
    systems = list(dict.fromkeys(scored.system for scored in order.scores))
    tables = []
    for metric in dict.fromkeys(scored.score.name for scored in order.scores):
        columns = [
            {row[0].text: row[1] for row in score_table(setting.scoring.only(metric)).rows}
            for setting in settings
        ]
        rows = tuple((Cell(system), *(column[system] for column in columns)) for system in systems)
        tables.append((metric, Table(("system", *headers), rows)))
    return tables


def _header(setting: Setting) -> str:
    counts = [len(texts) for texts in setting.references.texts]
    header = f"{setting.name} ({sum(counts) / len(counts):.1f} references)"
    dropped = len(setting.scoring.dropped)
    if not dropped:
        return header
    return f"{header}, {dropped} item{'s' if dropped > 1 else ''} left out"
