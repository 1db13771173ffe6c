"""`deltableu validate`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal, cast

from cyclopts import Parameter

from deltableu.cli.inputs import check_outputs, check_results
from deltableu.cli.metric_options import MetricOptions, at_one_order
from deltableu.cli.options import (
    Digits,
    Output,
    Positive,
    Several,
    Whole,
    chosen_tables,
    listed,
    no_use,
    unused,
)
from deltableu.cli.output import Format, emit, note_left_out, remark, tell
from deltableu.cli.progress import ProgressBar
from deltableu.cli.suite import print_suite
from deltableu.corpus import (
    Missing,
    RatingTable,
    ReferenceSet,
    ScoreTable,
    Study,
    item_groups,
    read_scores,
    read_study,
    reference_set,
    ungrouped_note,
)
from deltableu.errors import InputError
from deltableu.io import ColumnNames, Table, as_record, named_columns
from deltableu.report import verdict
from deltableu.score import Metric, Scoring, make_metrics, score_systems
from deltableu.stats import Method
from deltableu.validate import (
    Level,
    MetricCorrection,
    MetricTest,
    SuiteResample,
    ValidationPlan,
    validate_metrics,
)

_DEFAULTS = MetricOptions()
_COLUMNS = "system=model,item=segment_id,score=comet"
_TABLES = ("people", "agreement", "matrix")


def validate(
    study: Path | None = None,
    *,
    suite: Path | None = None,
    metrics: str | None = None,
    scores: Annotated[list[str] | None, Several] = None,
    lower_is_better: Annotated[list[str] | None, Several] = None,
    human: str | None = None,
    columns: str | None = None,
    human_columns: str | None = None,
    criterion: str | None = None,
    scale: Literal["z", "raw", "mixed"] = "z",
    min_raters: Positive = 1,
    unknown: Literal["error", "drop"] = "error",
    systems: Annotated[list[str] | None, Several] = None,
    group: str | None = None,
    options: MetricOptions = _DEFAULTS,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    missing: Missing = "error",
    on_error: Literal["error", "skip"] = "error",
    resample: SuiteResample = "items",
    sentinels: Annotated[bool, Parameter(negative="--no-sentinels")] = True,
    methods: str = "pearson,spearman,kendall-b",
    levels: str = "system,pooled,item",
    tests: str = "auto",
    correction: MetricCorrection = "holm",
    significance: float = 0.05,
    confidence: float = 0.95,
    threshold: float = 25.0,
    resamples: Whole = 1000,
    seed: Whole = 0,
    tables: str = "people,agreement,matrix",
    format: Format = "table",
    digits: Digits = 3,
    output: Annotated[Path | None, Output] = None,
    threads: Positive | None = None,
) -> None:
    """Say how well metrics agree with people, and which agree best.

    deltableu validate STUDY [--metrics ...] [--criterion overall], or
    deltableu validate STUDY --scores comet.csv, or
    deltableu validate --suite FOLDER --metrics ..., or
    deltableu validate --scores metrics.csv --human people.csv.

    Parameters
    ----------
    study
        A folder with items, outputs and ratings.
    suite
        A folder whose sub-folders are studies: metrics over all of them, beside controls, with
        average ranks; levels pooled,item and methods pearson,kendall-b by default.
    metrics
        Separated by commas or spaces; by default bleu-4,sentence-bleu-4,chrf++, or, where the
        references have weights, delta-bleu-2,delta-chrf++,bleu-2,sentence-bleu-2,chrf++.
    scores
        Tables of scores computed elsewhere: system, item and score, and perhaps metric.
    lower_is_better
        Those metrics of the tables of which lower is better.
    human
        A table of ready human scores (system, item, score, and perhaps metric for the criterion)
        in place of the study's ratings; without item, it has the totals of systems.
    columns
        What the tables of scores, or without --scores the ratings, call their columns, such as
        system=model,item=segment_id,score=comet; metrics=bleu+comet takes a column for a metric,
        and raters=ann+bob one for a rater. Human scores are read so too.
    human_columns
        What the --human table, or the study's ratings, call theirs, if they are others.
    criterion
        Which ratings; may be left out where there is one. For a suite several, separated by
        commas: the first that a study has.
    scale
        z: standardised by rater, as Direct Assessment; raw; mixed: rater effects of a mixed model
        taken out.
    min_raters
        Least number of raters per output, for its score to count.
    unknown
        Ratings of items and systems that the study does not have are an error, or dropped.
    systems
        Only these systems.
    group
        A field of the items' meta, such as document, dialogue or user: items that share it are
        resampled and exchanged together.
    select
        Which references count: all, single (the original) or a threshold such as "w>=0.6".
    no_positive
        Items without a positively weighted reference are an error, or left out everywhere.
    missing
        What to do with items for which a system has no output: end with an error, score an empty
        text, or drop the item for all systems.
    on_error
        A study of the suite that cannot be used is an error, or left out and listed.
    resample
        What averages over the suite speak about: other items in these studies, or other studies.
    sentinels
        Add metrics that know nothing of quality, which the others must beat.
    methods
        Separated by commas; the first is what metrics are compared by: pearson, spearman,
        kendall-b, kendall-c, kendall-wei, kendall-like.
    levels
        Separated by commas: system, pooled (all outputs together), item (systems within an item).
    tests
        Test of one metric agreeing better than another: perm-both, perm-systems, perm-items,
        bootstrap-both, bootstrap-systems, bootstrap-items, williams; auto is perm-systems at level
        system and perm-items at the others.
    correction
        Correction of two-sided tests for the number of pairs of metrics; wmt tests each pair both
        ways, one-sided, without correction, as the metrics tasks there do.
    significance
        p-values below it are significant.
    confidence
        Confidence of the intervals.
    threshold
        Pairs that people rate closer than this do not count in kendall-like.
    resamples
        Number of resamples for intervals, and the least number for tests, which draw more where
        the correction needs them.
    seed
        Seed of everything random.
    tables
        Which tables to print, separated by commas: people, agreement, matrix; of a suite ranks,
        studies, gains, details.
    format
        How results are printed.
    digits
        Digits after the decimal point in tables for people; JSON and TSV are never rounded.
    output
        Write to this file.
    threads
        All cores by default; no result depends on it.
    """
    plan = ValidationPlan(
        scale=scale,
        min_raters=min_raters,
        methods=cast(tuple[Method, ...], tuple(listed(methods))),
        levels=cast(tuple[Level, ...], tuple(listed(levels))),
        test=_one_test(tests),
        correction=correction,
        significance=significance,
        confidence=confidence,
        resamples=resamples,
        threshold=threshold,
        seed=seed,
    )
    if suite is not None:
        if study is not None:
            raise InputError("give one study, or --suite with a folder of studies, not both")
        unused(
            "--suite",
            scores=(scores, None),
            lower_is_better=(lower_is_better, None),
            human=(human, None),
            columns=(columns, None),
            human_columns=(human_columns, None),
            systems=(systems, None),
            sentinels=(sentinels, True),
            tests=(tests, "auto"),
        )
        print_suite(
            suite,
            plan,
            metrics=metrics,
            options=options,
            criterion=criterion,
            tables=None if tables == ",".join(_TABLES) else tables,
            format=format,
            digits=digits,
            output=output,
            resample=resample,
            group=group,
            select=select,
            no_positive=no_positive,
            missing=missing,
            unknown=unknown,
            on_error=on_error,
            threads=threads,
        )
        return
    unused("one study", on_error=(on_error, "error"), resample=(resample, "items"))
    wanted = chosen_tables(tables, _TABLES)
    check_results(output, (study, *(scores or ()), human, *options.files))
    if study is None and (scores is None or human is None):
        raise InputError("give a study folder, or --scores and --human tables")
    if human is not None:
        unused(
            "ready --human scores",
            scale=(scale, "z"),
            min_raters=(min_raters, 1),
            unknown=(unknown, "error"),
        )
    if "kendall-like" not in plan.methods:
        unused("--methods other than kendall-like", threshold=(threshold, 25.0))
    if study is None:
        no_use(options.changed(), "ready --scores alone")
        unused(
            "ready --scores alone",
            metrics=(metrics, None),
            select=(select, "all"),
            no_positive=(no_positive, "error"),
            missing=(missing, "error"),
        )
    mapped = named_columns(columns, _COLUMNS)
    people_mapped = named_columns(human_columns, _COLUMNS, "--human-columns")
    if people_mapped is None and (scores is None or human is not None):
        people_mapped = mapped
    data = None
    if study is not None:
        rated = people_mapped if human is None else None
        data = read_study(study, ratings=human is None, columns=rated, missing=missing, report=tell)
    with ProgressBar() as progress:
        people = _people(data, study, human, people_mapped, criterion, unknown)
        found = _scores(
            data,
            scores,
            mapped,
            lower_is_better or [],
            metrics,
            options,
            select,
            no_positive,
            sentinels=sentinels,
            threads=threads,
            progress=progress,
        )
        result = validate_metrics(
            found,
            people,
            plan=plan,
            systems=systems,
            groups=_groups(data, group),
            notes=_warnings(data, group),
            threads=threads,
            progress=progress,
        )
    for text in result.notes:
        remark(text)
    shown: list[Table] = []
    for name in wanted:
        if name == "people":
            shown += result.people_tables(digits=digits)
        elif name == "agreement":
            measured = {one.level for one in result.agreements}
            shown += [result.table(one, digits=digits) for one in plan.levels if one in measured]
        else:
            shown += result.matrix_tables()
    said = verdict(result)
    emit(shown, {**as_record(result), "verdict": list(said)}, format, output, verdict=said)


def _one_test(text: str) -> MetricTest | Literal["auto"]:
    names = listed(text)
    if len(names) != 1:
        raise InputError(f"--tests takes one test here, got {text!r}")
    return cast(MetricTest | Literal["auto"], names[0])


def _groups(data: Study | None, field: str | None) -> dict[str, str] | None:
    if field is None:
        return None
    if data is None:
        raise InputError("--group names a field of a study's items: give the study folder too")
    return dict(zip((item.id for item in data.items), item_groups(data, field), strict=True))


def _warnings(data: Study | None, field: str | None) -> list[str]:
    warning = None if data is None or field is not None else ungrouped_note(data)
    return [] if warning is None else [warning]


def _people(
    data: Study | None,
    path: Path | None,
    human: str | None,
    columns: ColumnNames | None,
    criterion: str | None,
    unknown: Literal["error", "drop"],
) -> ScoreTable | RatingTable:
    if human is not None:
        table = read_scores(human, columns=columns)
        return table if criterion is None else table.select(metrics=[criterion])
    if data is None or not (data.ratings.system >= 0).any():
        raise InputError(f"{path}: the study has no ratings of systems; give --human scores.csv")
    return RatingTable.from_study(data, criterion=criterion, unknown=unknown)


def _scores(
    data: Study | None,
    tables: list[str] | None,
    columns: ColumnNames | None,
    lower_is_better: list[str],
    metrics: str | None,
    options: MetricOptions,
    select: str,
    no_positive: Literal["error", "skip"],
    *,
    sentinels: bool,
    threads: int | None,
    progress: ProgressBar,
) -> list[Scoring | ScoreTable]:
    """Scores of the metrics asked for, and of sentinels as far as the texts are there."""
    found: list[Scoring | ScoreTable] = []
    if data is not None:
        check_outputs(data, data.path)
        references = reference_set(data).select(select)
        wanted: list[Metric] = []
        if metrics is not None or tables is None:
            wanted += options.make(metrics or _suiting(references, options.order), references)
        else:
            no_use(options.changed(), "ready --scores alone")
        if sentinels:
            there = {metric.name for metric in wanted}
            wanted += make_metrics([n for n in _sentinels(references) if n not in there], {})
        if wanted:
            scoring = score_systems(
                references,
                data.outputs,
                wanted,
                no_positive=no_positive,
                threads=threads,
                progress=progress,
            )
            note_left_out(len(scoring.dropped), len(data.items))
            found.append(scoring)
    for path in tables or []:
        table = read_scores(path, columns=columns)
        table = table.with_lower_better([name for name in lower_is_better if name in table.metrics])
        found.insert(0, table)
    for name in lower_is_better:
        if not any(name in one.metrics for one in found if isinstance(one, ScoreTable)):
            raise InputError(f"--lower-is-better names {name!r}, which no table has")
    if not found:
        raise InputError("there is no metric to validate")
    return found


def _suiting(references: ReferenceSet, order: int | None) -> str:
    weighted = [] if references.weights is None else ["delta-bleu", "delta-chrf++"]
    return ",".join(at_one_order([*weighted, "bleu", "sentence-bleu", "chrf++"], order))


def _sentinels(references: ReferenceSet) -> list[str]:
    messages = references.messages
    answered = messages is not None and all(message is not None for message in messages)
    return ["length", *(["message-overlap"] if answered else []), "random", "constant"]
