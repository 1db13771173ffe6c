"""One self-contained HTML page about a study: its contents, its scores, how they were made."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deltableu._version import __version__
from deltableu.corpus import CheckResult, ReferenceSet, Study
from deltableu.errors import InputError
from deltableu.report.plots import interval_plot, weight_plot
from deltableu.report.scores import score_table, signatures
from deltableu.report.study import contents_table, systems_table
from deltableu.report.tables import Table
from deltableu.score.systems import Scoring

__all__ = ["Setting", "study_page"]


@dataclass(frozen=True, slots=True)
class Setting:
    """Scores under one choice of references: single, w>=T or all."""

    name: str
    references: ReferenceSet
    scoring: Scoring


def study_page(title: str, study: Study, checked: CheckResult, settings: list[Setting]) -> str:
    """The page; the last setting is the main one."""
    main = settings[-1]
    rated = main.references.weights is not None
    sections = {
        "note": study.note,
        "main": score_table(main.scoring),
        "main_name": main.name,
        "interval_plot": interval_plot(main.scoring),
        "settings": [_setting(setting) for setting in settings] if len(settings) > 1 else [],
        "weight_plot": weight_plot(study.items) if rated else None,
        "contents": contents_table(checked),
        "systems": systems_table(checked),
        "problems": checked.problems,
        "unlisted": checked.unlisted,
        "signatures": signatures(main.scoring),
    }
    return _render(title=title, version=__version__, **sections)


def _setting(setting: Setting) -> tuple[Table, str]:
    counts = [len(texts) for texts in setting.references.texts]
    dropped = len(setting.scoring.dropped)
    caption = f"{setting.name}: {sum(counts) / len(counts):.1f} references an item"
    if dropped:
        caption += f", {dropped} items without a positive reference left out"
    return score_table(setting.scoring), caption


def _render(**values: Any) -> str:
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise InputError("an HTML report needs more: pip install 'deltableu[report]'") from error
    environment = Environment(
        loader=PackageLoader("deltableu.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html").render(**values)
