"""`deltableu plan rate`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from deltableu.cli.inputs import check_outputs, check_results, read_people
from deltableu.cli.metric_options import NgramOptions, noted_metrics
from deltableu.cli.option_groups import METRICS, grouped
from deltableu.cli.options import Digits, Flag, Output, Positive, Several, Whole
from deltableu.cli.output import Format, emit, note, remark
from deltableu.cli.progress import ProgressBar
from deltableu.compare import plan_rating
from deltableu.corpus import labelled_rows
from deltableu.io import Own, as_record, check_apart, named_columns
from deltableu.rate import write_order
from deltableu.report import verdict


@Parameter(name="*", group=METRICS)
@dataclass(frozen=True, kw_only=True)
class PlanOptions(NgramOptions):
    """Settings of the BLEU family; the order of n-grams is in the name of the metric."""

    order: Annotated[int | None, Parameter(parse=False)] = None


_DEFAULTS = PlanOptions()


@grouped
def rate(
    study: Path,
    *,
    systems: Annotated[list[str] | None, Several] = None,
    metric: str = "delta-bleu",
    options: PlanOptions = _DEFAULTS,
    raters: Positive | None = None,
    reliability: float = 0.8,
    order: Path | None = None,
    aim: Literal["ranking", "scores"] = "ranking",
    tau: float = 0.95,
    significance: float = 0.05,
    draws: Whole = 400,
    criterion: str | None = None,
    columns: str | None = None,
    drop_failed: Annotated[bool, Flag] = False,
    seed: Whole = 0,
    format: Format = "table",
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
) -> None:
    """Say how many ratings references need, which to give first, and whether they are enough.

    deltableu plan rate STUDY --order order.csv, then deltableu rate serve CAMPAIGN --order
    order.csv; look again when more has come in.

    Parameters
    ----------
    study
        A study folder with outputs, and perhaps with ratings of some references.
    systems
        Only these systems; by default all.
    metric
        One that looks at weights; its name may have the order of n-grams, such as delta-bleu-4.
    raters
        How many ratings each reference gets in the end. By default as many as reach the
        reliability, or 5 where the ratings so far cannot tell.
    reliability
        Which share of the variance of weights should be that of the references themselves.
    order
        Write the ratings that are missing to this CSV file, the most valuable first.
    aim
        Whether ratings are worth what they do for the ranking of systems, or for their scores.
    tau
        Kendall's tau with the ranking under all ratings from which on the conclusion is the same.
    significance
        Rating may stop when the chance of another conclusion is no larger.
    draws
        How many forecasts of the missing ratings are made.
    criterion
        Which ratings of references; may be left out where there is one.
    columns
        What the ratings call their columns: rater=annotator,value=score.
    drop_failed
        Leave out raters who fail deltableu rate check; weights that are means of ratings become
        those of the others.
    seed
        Seed of everything random.
    format
        How results are printed.
    digits
        Digits after the decimal point in tables for people; JSON, TSV and CSV are never rounded.
    output
        Write to this file.
    """
    check_results(output, [study])
    check_results(order, [study], Own.ORDER)
    if order is not None and output is not None:
        check_apart(order, [output], "written")
    (chosen,) = noted_metrics([metric], options.changed())
    mapped = named_columns(columns, "rater=annotator,value=score")
    data = read_people(study, drop_failed=drop_failed, columns=mapped)
    check_outputs(data, study, systems or ())
    with ProgressBar() as progress:
        found = plan_rating(
            data,
            chosen,
            systems=systems,
            criterion=criterion,
            raters=raters,
            reliability=reliability,
            aim=aim,
            tau=tau,
            significance=significance,
            draws=draws,
            seed=seed,
            progress=progress,
        )
    if found.note:
        remark(found.note)
    if order is not None:
        write_order(order, found.order)
        note(f"wrote {len(found.order):,} ratings to be given to {order}")
    said = verdict(found)
    record = {**as_record(found), "verdict": list(said)}
    tables = found.tables(digits=digits)
    tidy = labelled_rows(found.systems_table(), found.simulated)
    emit(tables, record, format, output, verdict=said, tidy=tidy, beside=[order])
