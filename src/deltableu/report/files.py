"""A report in; each of its tables and plots as files for a paper out."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

from deltableu.corpus import SIMULATED_LABEL, labelled, labelled_rows
from deltableu.io import PathLike, Table, atomic_folder, check_new_folder
from deltableu.report.agreement_plots import agreement_figure, scatter_figure
from deltableu.report.difference_plot import difference_figure
from deltableu.report.page import StudyReport
from deltableu.report.plots import drawn
from deltableu.report.sweep_charts import sweep_figure
from deltableu.report.validation_plots import (
    consistency_figure,
    kinds_figure,
    significance_figure,
    violin_figure,
)

_TABLES = ("tsv", "json", "tex")
_PLOTS: tuple[Literal["svg", "pdf"], ...] = ("svg", "pdf")
_FOLDERS = ("plots", "tables")


def check_report_files(folder: PathLike, inputs: list[PathLike]) -> None:
    """Complain where `write_report_files` could not write, or would swallow something."""
    check_new_folder(
        folder, inputs, replace=True, what="the files of a report", strangers=_strangers
    )


def write_report_files(report: StudyReport, folder: PathLike) -> int:
    """Write `tables/NAME.tsv`, `.json` and `.tex`, and `plots/NAME.svg` and `.pdf`.

    Parameters
    ----------
    report : StudyReport
        What `study_page` makes a page of.
    folder : path
        It appears whole or not at all; one of an earlier report is replaced.

    Returns
    -------
    int
        How many files there are.
    """
    written = 0
    with atomic_folder(folder, replace=True) as temporary:
        for name in _FOLDERS:
            (temporary / name).mkdir()
        for name, table in report_tables(report):
            path = temporary / "tables" / name
            # What has no caption has a column that says as much.
            simulated = SIMULATED_LABEL in table.caption
            plain = labelled_rows(table, simulated)
            latex = table.to_latex(caption=table.caption if simulated else None)
            texts = (plain.to_tsv(), plain.to_json(), latex)
            for ending, text in zip(_TABLES, texts, strict=True):
                path.with_name(f"{name}.{ending}").write_text(text, "utf-8")
            written += len(_TABLES)
        for name, figure in report_figures(report):
            for form in _PLOTS:
                (temporary / "plots" / f"{name}.{form}").write_bytes(drawn(figure, form))
            written += len(_PLOTS)
    return written


def report_tables(report: StudyReport) -> Iterator[tuple[str, Table]]:
    """All tables of a report, by names that are fit for files."""
    main = report.main
    if report.comparisons:
        compared = [one.table() for one in report.comparisons]
        simulated = any(one.simulated for one in report.comparisons)
        yield "scores", labelled(compared[0].join(compared[1:]), simulated)
        for one in report.comparisons:
            yield f"pairs-{_file_name(one.metric)}", one.pairs_table()
    else:
        yield "scores", main.scoring.best_first().table()
    if report.validation is not None:
        for level in dict.fromkeys(one.level for one in report.validation.agreements):
            yield f"agreement-{level}", report.validation.table(level)
        for comparison in report.validation.comparisons:
            yield f"metric-tests-{comparison.level}", comparison.table()
    if report.analyses is not None:
        behind = report.analyses
        for found in behind.bins:
            yield f"bins-{_file_name(found.metric)}", behind.told(found.table())
        for kinds in behind.kinds:
            yield f"by-{_file_name(kinds.tag)}", behind.told(kinds.table())
        for name in ("cases", "facts", "consistency"):
            for table in behind.tables(name):
                yield name, table
    if report.examples is not None:
        yield "examples", report.examples.table()
    if report.sweeps is not None:
        yield "sweeps", report.sweeps.tidy_table()
    for table in report.buckets:
        yield f"bucket-{_file_name(table.caption)}", table


def report_figures(report: StudyReport) -> Iterator[tuple[str, Any]]:
    """All plots of a report, drawn for paper."""
    if report.comparisons:
        yield "differences", difference_figure(report.comparisons)
    validation, analyses = report.validation, report.analyses
    if validation is None:
        return
    yield "agreement", agreement_figure(validation)
    if validation.scores is not None:
        yield "scatter-systems", scatter_figure(validation.scores, validation.human)
    for comparison in validation.comparisons:
        if not comparison.unranked and len(comparison.metrics) > 1:
            yield f"metric-tests-{comparison.level}", significance_figure(comparison)
    for sweep in report.sweeps.sweeps if report.sweeps is not None else ():
        yield f"sweep-{sweep.name}", sweep_figure(sweep)
    if analyses is None:
        return
    if analyses.bins:
        yield "bins", violin_figure(analyses.bins)
    if analyses.consistency is not None:
        yield "consistency", consistency_figure(analyses.consistency)
    for kinds in analyses.kinds:
        if validation.scores is not None:
            figure = kinds_figure(validation.scores, validation.human, kinds)
            yield f"by-{_file_name(kinds.tag)}", figure


def _file_name(text: str) -> str:
    """Letters, digits and a few signs; the rest are hyphens."""
    return re.sub(r"[^\w.+-]+", "-", text).strip("-") or "value"


def _strangers(folder: Path) -> list[str]:
    """Names that no report wrote."""
    endings = {"tables": _TABLES, "plots": _PLOTS}
    found = []
    for path in sorted(folder.rglob("*")):
        parts = path.relative_to(folder).parts
        known = len(parts) == 1 and parts[0] in _FOLDERS and path.is_dir()
        if len(parts) == 2 and parts[0] in _FOLDERS and not path.is_dir():
            known = path.suffix[1:] in endings[parts[0]]
        if not known:
            found.append("/".join(parts))
    return found
