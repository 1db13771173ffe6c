"""One self-contained HTML page about a study: its contents, its scores, how they were made."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from deltableu._version import __version__
from deltableu.compare import Comparison
from deltableu.corpus import CheckResult, ReferenceSet, Study
from deltableu.io import Column, Table
from deltableu.report.render import render
from deltableu.report.score_plots import interval_plot, weight_plot
from deltableu.score import Scoring


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
    scoring = main.scoring.best_first()
    compared = [one.table() for one in comparisons]
    sections = {
        "note": study.note,
        "main": scoring.table(),
        "main_name": main.name,
        "interval_plot": interval_plot(scoring),
        "compared": compared[0].join(compared[1:]) if compared else None,
        "pairs": [one.pairs_table() for one in comparisons],
        "cautions": [f"{one.metric}: {text}" for one in comparisons for text in one.warnings],
        "settings": _by_metric(settings, scoring) if len(settings) > 1 else [],
        "weight_plot": None if main.references.weights is None else weight_plot(study.items),
        "contents": checked.table(),
        "systems": checked.systems_table(),
        "problems": checked.problems,
        "unlisted": checked.unlisted,
        "left_out": len(main.scoring.dropped),
        "signatures": [
            *(one.signature for one in comparisons),
            *(text for one in settings for text in one.scoring.signatures.values()),
        ],
    }
    return render("page.html", title=title, version=__version__, **sections)


def _by_metric(settings: list[Setting], order: Scoring) -> list[Table]:
    """For each metric, systems in rows and the choices of references in columns."""
    systems = Table([Column("system")], [[name] for name in order.systems])
    tables = []
    for metric in order.metrics:
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
    if not dropped:
        return header
    return f"{header}, {dropped} item{'s' if dropped > 1 else ''} left out"
