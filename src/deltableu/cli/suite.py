"""`deltableu validate --suite`: many studies at once."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from deltableu.cli.inputs import check_results
from deltableu.cli.metric_options import MetricOptions
from deltableu.cli.options import chosen_tables, listed, no_use
from deltableu.cli.output import Format, emit, remark
from deltableu.cli.progress import ProgressBar
from deltableu.corpus import ReferenceSet
from deltableu.io import as_record
from deltableu.report import verdict
from deltableu.validate import SUITE_PLAN, ValidationPlan, validate_suite

_TABLES = ("ranks", "studies", "gains", "details")
#: Of `validate`, where nobody chose for many studies.
_LEVELS = ("system", "pooled", "item")
_METHODS = ("pearson", "spearman", "kendall-b")


def print_suite(
    folder: Path,
    plan: ValidationPlan,
    *,
    metrics: str | None,
    options: MetricOptions,
    criterion: str | None,
    tables: str | None,
    format: Format,
    digits: int,
    output: Path | None,
    **settings: Any,
) -> None:
    """Validate metrics over a folder of studies, and print what comes of it.

    The settings are those of `validate_suite`.
    """
    wanted = chosen_tables(",".join(_TABLES) if tables is None else tables, _TABLES)
    check_results(output, (folder, *options.files))
    chosen: dict[str, Any] = {}
    if plan.levels == _LEVELS:
        chosen["levels"] = SUITE_PLAN.levels
    if plan.methods == _METHODS:
        chosen["methods"] = SUITE_PLAN.methods
    made = None
    if metrics is not None:
        made = options.make(metrics, ReferenceSet(()))
    else:
        no_use(options.changed(), "--suite without --metrics")
    with ProgressBar(lines=True) as progress:
        result = validate_suite(
            folder,
            made,
            plan=replace(plan, **chosen),
            criterion=listed(criterion or ""),
            progress=progress,
            **settings,
        )
    for text in result.notes:
        remark(text)
    said = verdict(result)
    shown = result.tables(wanted, digits=digits)
    emit(shown, {**as_record(result), "verdict": list(said)}, format, output, verdict=said)
