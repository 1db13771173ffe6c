"""`deltableu rate estimate`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
from cyclopts import Parameter

from deltableu.cli.inputs import check_outputs, check_results, read_people, ready_scores
from deltableu.cli.metric_options import MetricOptions, noted_metrics
from deltableu.cli.option_groups import METRICS, grouped
from deltableu.cli.options import (
    Digits,
    Flag,
    Output,
    Several,
    Whole,
    no_use,
    one_tidy_table,
    unused,
)
from deltableu.cli.output import Format, emit, note
from deltableu.cli.progress import ProgressBar
from deltableu.cli.rating_inputs import read_rating_table
from deltableu.corpus import RatingTable, ScoreTable, Study, labelled_rows
from deltableu.errors import InputError
from deltableu.io import ColumnNames, Own, as_record, check_apart, named_columns
from deltableu.rate import (
    Allocation,
    EstimateMethod,
    estimate_systems,
    human_scores,
    mean_ratings,
    write_order,
)
from deltableu.report import verdict
from deltableu.score import score_systems


@Parameter(name="*", group=METRICS)
@dataclass(frozen=True, kw_only=True)
class HelperOptions(MetricOptions):
    """Settings of all metrics; the order of n-grams is in the name of the metric."""

    order: Annotated[int | None, Parameter(parse=False)] = None


_DEFAULTS = HelperOptions()
_METRIC = "chrf++"
_COLUMNS = "system=model,item=segment_id,score=comet"
_TABLES = ("systems", "pairs", "order")


@grouped
def estimate(
    study: Path,
    *,
    ratings: str | None = None,
    metric: str | None = None,
    options: HelperOptions = _DEFAULTS,
    scores: str | None = None,
    columns: str | None = None,
    verdicts: str | None = None,
    systems: Annotated[list[str] | None, Several] = None,
    baseline: str | None = None,
    criterion: str | None = None,
    drop_failed: Annotated[bool, Flag] = False,
    scale: Literal["raw", "z"] = "raw",
    estimator: EstimateMethod = "stratified",
    population: Literal["any", "these"] = "any",
    allocation: Allocation = "proportional",
    confidence: float = 0.95,
    significance: float = 0.05,
    order: Path | None = None,
    seed: Whole = 0,
    tables: str | None = None,
    format: Format = "table",
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
) -> None:
    """Say how people would rate systems, from ratings of few outputs and a metric on all.

    deltableu rate estimate STUDY --ratings few.csv --order next.csv, then deltableu rate serve
    CAMPAIGN --order next.csv. The metric is never trusted: ratings correct whatever it gets wrong,
    and a bad one only saves nothing.

    Parameters
    ----------
    study
        A study folder with outputs, and perhaps with ratings of some of them.
    ratings
        A file of people's ratings in place of the study's.
    metric
        What helps: a metric that scores single outputs (chrf++ by default), or one of --scores.
    scores
        A table of scores computed elsewhere in place of a metric: system, item, score.
    columns
        What the table of scores, or without it the ratings, call their columns, such as
        system=model,item=segment_id,score=comet.
    verdicts
        A file of a model's ratings of all outputs in place of a metric.
    systems
        Only these systems.
    baseline
        Only differences from this system.
    criterion
        Which ratings; may be left out where there is one.
    drop_failed
        Leave out raters who fail deltableu rate check.
    scale
        Whether ratings count as they are (raw), or standardised by rater (z).
    estimator
        stratified: regression within strata of the metric, for outputs drawn in the order that
        --order writes, or at random; control-variates, ppi: for outputs drawn at random from all;
        ratings: without the metric.
    population
        Whether qualities are those of any outputs that the systems might give to items like these,
        or of these alone, if all of them were rated.
    allocation
        How many outputs of each stratum --order asks for: as many as it has (proportional), or
        more where ratings differ more (neyman).
    confidence
        Confidence of the intervals.
    significance
        p-values (corrected by Holm's method) below it are significant.
    order
        Write the outputs without ratings to this CSV file, the most valuable first.
    seed
        Seed of the order.
    tables
        Which tables to print, separated by commas: systems, pairs, order; all by default. TSV and
        CSV hold one: systems, if no other is named.
    format
        How results are printed.
    digits
        Digits after the decimal point in tables for people; JSON, TSV and CSV are never rounded.
    output
        Write to this file.
    """
    wanted = one_tidy_table(tables, format, _TABLES, _TABLES, "systems")
    inputs = [study, ratings, scores, verdicts, *options.files]
    check_results(output, inputs)
    check_results(order, inputs, Own.ORDER)
    if order is not None and output is not None:
        check_apart(order, [output], "written")
    if scores is not None:
        unused("ready --scores", verdicts=(verdicts, None))
    mapped = named_columns(columns, _COLUMNS)
    own_columns = None if scores is not None else mapped
    data = read_people(
        study,
        drop_failed=drop_failed and ratings is None,
        ratings=ratings is None,
        columns=own_columns,
    )
    check_outputs(data, study, systems or ())
    said = data.ratings
    if ratings is not None:
        names = None if scores is not None else columns
        said = read_rating_table(ratings, names, drop_failed=drop_failed)
    with ProgressBar() as progress:
        helper = _helper(data, metric, options, scores, mapped, verdicts, columns, progress)
    found = estimate_systems(
        _people(said, data, criterion, scale),
        helper.select(systems=systems),
        method=estimator,
        finite=population == "these",
        allocation=allocation,
        baseline=baseline,
        confidence=confidence,
        significance=significance,
        seed=seed,
    )
    if order is not None:
        write_order(order, found.order)
        note(f"wrote {len(found.order):,} outputs to be rated to {order}")
    sentences = verdict(found)
    made = {
        "systems": found.systems_table(digits=digits),
        "pairs": found.pairs_table(digits=digits),
        "order": found.order_table(),
    }
    shown = [made[name] for name in wanted if made[name].rows]
    record = {**as_record(found), "verdict": list(sentences)}
    tidy = labelled_rows(made[wanted[0]], found.simulated)
    emit(shown, record, format, output, verdict=sentences, tidy=tidy, beside=[order])


def _people(
    ratings: RatingTable, data: Study, criterion: str | None, scale: Literal["raw", "z"]
) -> ScoreTable:
    """Ratings of the study's outputs, and of no others; before there are any, a table without."""
    items, names = [item.id for item in data.items], list(data.outputs)
    if not (ratings.system >= 0).any():
        nothing = np.full((1, len(names), len(items)), np.nan)
        return ScoreTable.from_arrays(["human"], names, items, nothing)
    known = ratings.of_systems(criterion, items=items, systems=names)
    return mean_ratings(known) if scale == "raw" else human_scores(known)


def _helper(
    data: Study,
    metric: str | None,
    options: MetricOptions,
    scores: str | None,
    columns: ColumnNames | None,
    verdicts: str | None,
    named: str | None,
    progress: ProgressBar,
) -> ScoreTable:
    """One score for each output: of a metric, a table, or a model that rated."""
    if verdicts is not None:
        no_use(options.changed(), "--verdicts")
        unused("--verdicts", metric=(metric, None))
        table = _people(read_rating_table(verdicts, named), data, None, "raw")
        return replace(table, metrics=(Path(verdicts).name.partition(".")[0] or "verdicts",))
    if scores is not None:
        table = ready_scores(scores, columns, metric, options, lower_is_better=False)
        if len(table.metrics) > 1:
            there = ", ".join(table.metrics)
            raise InputError(
                f"{scores}: has {len(table.metrics)} metrics ({there}): name a --metric"
            )
        return table
    settings = options.changed()
    if options.judge is not None:
        settings["rater"] = settings.pop("judge")
    made = noted_metrics([metric or _METRIC], settings)
    return score_systems(data, metrics=made, progress=progress).score_table()
