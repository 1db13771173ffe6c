"""`deltableu report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from deltableu.cli.inputs import check_outputs, check_results
from deltableu.cli.metric_options import noted_metrics
from deltableu.cli.options import Output, Whole, listed
from deltableu.cli.output import tell, write_page
from deltableu.cli.progress import ProgressBar
from deltableu.compare import ComparisonPlan, compare_systems
from deltableu.corpus import Missing, check_study, read_study, reference_set, system_runs
from deltableu.errors import InputError
from deltableu.io import Own
from deltableu.report import Setting, study_page
from deltableu.score import IntervalPlan, score_systems


def report(
    study: Path,
    *,
    output: Annotated[Path, Output] = Path("report.html"),
    title: str | None = None,
    metrics: str | None = None,
    tokenize: str | None = None,
    select: str | None = None,
    missing: Missing = "error",
    seed: Whole = 0,
) -> None:
    """Write one HTML page with a study's contents and scores.

    Parameters
    ----------
    study
        The folder.
    output
        The page; - is standard output.
    title
        By default the study's folder.
    metrics
        Separated by commas or spaces; by default delta-bleu,bleu,sentence-bleu, without delta-bleu
        where references have no weights.
    tokenize
        As in `deltableu score`.
    select
        The choices of references to show, separated by commas; the last is the main one. By
        default single,w>=0.6,all, without the threshold where references have no weights.
    missing
        What to do with items for which a system has no output: end with an error, score an empty
        text, or drop the item for all systems.
    seed
        Of the tests.
    """
    check_results(output, [study], Own.PAGE)
    data = read_study(study, ratings=False, missing=missing, report=tell)
    check_outputs(data, study)
    references = reference_set(data)
    rated = references.weights is not None
    if metrics is None:
        metrics = "delta-bleu,bleu,sentence-bleu" if rated else "bleu,sentence-bleu"
    if select is None:
        select = "single,w>=0.6,all" if rated else "single,all"
    chosen = noted_metrics(listed(metrics), {} if tokenize is None else {"tokenize": tokenize})
    plan = ComparisonPlan(seed=seed)
    choices = listed(select)
    if not choices:
        raise InputError("--select names no choice of references")
    settings = []
    with ProgressBar() as progress:
        for name in choices:
            picked = references.select(name)
            scoring = score_systems(
                picked,
                data.outputs,
                chosen,
                no_positive="skip",
                intervals=IntervalPlan(),
                progress=progress,
            )
            settings.append(Setting(picked.selection, picked, scoring))
        # One system, or one item, has nothing to be compared with.
        several = len(system_runs(data.outputs)) > 1 and len(settings[-1].scoring.item_ids) > 1
        comparisons = (
            compare_systems(settings[-1].scoring, plan=plan, progress=progress) if several else ()
        )
    name = title or study.resolve().name
    page = study_page(name, data, check_study(study), settings, comparisons)
    write_page(page, output)
