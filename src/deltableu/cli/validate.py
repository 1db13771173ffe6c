"""`deltableu validate`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, cast

from cyclopts import Parameter

from deltableu.cli.inputs import check_outputs, check_results, read_people
from deltableu.cli.metric_options import MetricOptions
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import (
    Digits,
    Flag,
    Output,
    Positive,
    Several,
    Signatures,
    Whole,
    listed,
    no_use,
    one_tidy_table,
    unused,
)
from deltableu.cli.output import Format, emit, remark
from deltableu.cli.progress import ProgressBar
from deltableu.cli.suite import print_suite
from deltableu.cli.sweep import SWEPT_METHODS, SweepOptions, sweep_study
from deltableu.cli.validate_inputs import (
    group_warnings,
    groups_of,
    human_scores,
    metric_scores,
)
from deltableu.corpus import (
    Missing,
    RatingTable,
    holds_ratings,
)
from deltableu.errors import InputError
from deltableu.io import Table, as_record, named_columns
from deltableu.report import verdict
from deltableu.validate import (
    ANALYSES,
    Analyses,
    BinRule,
    Level,
    MetricCorrection,
    MetricTest,
    ValidationPlan,
    analyse_validation,
    validate_metrics,
)

_DEFAULTS = MetricOptions()
_NO_SWEEP = SweepOptions()
_COLUMNS = "system=model,item=segment_id,score=comet"
_TABLES = ("people", "agreement", "matrix")
#: Why there may be no table of an analysis.
_WITHOUT = {
    "bins": "people gave all outputs the same score, or no metric scores single outputs",
    "cases": "people gave all outputs the same score, or no metric scores single outputs",
    "kinds": "needs systems.toml with a type (or tag) that two systems share and others do not",
    "facts": "needs a study with texts",
    "consistency": "needs 20 outputs with four ratings or more",
}
_ALL_TABLES = (*_TABLES, *ANALYSES)
_METHODS, _LEVELS = "pearson,spearman,kendall-b", "system,pooled,item"


@grouped
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
    drop_failed: Annotated[bool, Flag] = False,
    systems: Annotated[list[str] | None, Several] = None,
    group: str | None = None,
    options: MetricOptions = _DEFAULTS,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    missing: Missing = "error",
    on_error: Literal["error", "skip"] = "error",
    resample_studies: Annotated[bool, Flag] = False,
    sentinels: Annotated[bool, Parameter(negative="--no-sentinels")] = True,
    methods: str = _METHODS,
    levels: str = _LEVELS,
    tests: str = "auto",
    correction: MetricCorrection = "holm",
    significance: float = 0.05,
    confidence: float = 0.95,
    threshold: float = 25.0,
    resamples: Whole = 1000,
    seed: Whole = 0,
    swept: SweepOptions = _NO_SWEEP,
    tables: str | None = None,
    bins: BinRule = "quantile",
    cases: Positive = 5,
    by: Annotated[list[str] | None, Several] = None,
    format: Format = "table",
    signatures: Signatures = False,
    digits: Digits = 3,
    output: Annotated[Path | None, Output] = None,
    threads: Positive | None = None,
) -> None:
    """Say how well metrics agree with people, and which agree best.

    deltableu validate STUDY [--metrics ...] [--criterion overall], or
    deltableu validate STUDY --scores comet.csv, or
    deltableu validate --scores metrics.csv --human people.csv, or
    deltableu validate STUDY --sweep settings,threshold,unit-size,order, or
    deltableu validate --suite FOLDER --metrics ....

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
        In place of the study's ratings: a file of ratings, as rate export writes it; or a table of
        ready human scores (system, item, score, and perhaps metric for the criterion), which
        without item has the totals of systems.
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
    drop_failed
        Leave out raters who fail deltableu rate check; weights that are means of ratings become
        those of the others.
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
    resample_studies
        Averages over the suite speak about other studies, not about other items in these.
    sentinels
        Add metrics that know nothing of quality, which the others must beat.
    methods
        Separated by commas; the first is what metrics are compared by: pearson, spearman,
        kendall-b, kendall-c, kendall-wei, kendall-like. Also accuracies, with intervals over items
        and tests of their own: pairwise-accuracy, spa (pairs of systems), acc-eq (outputs of an
        item, ties calibrated on other items), acc-eq-in-sample, acc-eq-by-system, and for labels
        good and bad auc, average-precision. With --sweep spearman,kendall-b by default.
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
        Which tables to print, separated by commas: people, agreement, matrix (by default these),
        bins (scores of bad, average and good outputs), cases (where metric and people disagree
        most), kinds (agreement by type of system), facts (about the test set), consistency (how
        many ratings are enough). TSV and CSV hold one: agreement, if no other is
        named. Of a suite: ranks, studies, gains, details.
    bins
        Bins of about equally many outputs (quantile), or of equal widths of people's scores.
    cases
        Number of failure cases of each kind and metric.
    by
        Tags of systems (in systems.toml) for the table kinds; by default type and all others.
    format
        How results are printed.
    signatures
        Spell out the signatures of metrics, which otherwise are hashes of eight digits.
    digits
        Digits after the decimal point in tables for people; JSON, TSV and CSV are never rounded.
    output
        Write to this file.
    threads
        All cores by default; no result depends on it.
    """
    if swept.sweep is None:
        no_use(swept.changed(), "levels: it goes with --sweep")
    else:
        unused(
            "--sweep",
            scores=(scores, None),
            lower_is_better=(lower_is_better, None),
            select=(select, "all"),
            no_positive=(no_positive, "error"),
            no_sentinels=(sentinels, True),
            levels=(levels, _LEVELS),
            tests=(tests, "auto"),
            correction=(correction, "holm"),
            significance=(significance, 0.05),
            threshold=(threshold, 25.0),
            resamples=(resamples, 1000),
            tables=(tables, None),
            bins=(bins, "quantile"),
            cases=(cases, 5),
            by=(by, None),
        )
        if study is None:
            raise InputError("--sweep needs a study folder")
    plan = ValidationPlan(
        scale=scale,
        min_raters=min_raters,
        methods=cast(Any, tuple(listed(methods))),
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
            bins=(bins, "quantile"),
            cases=(cases, 5),
            by=(by, None),
            signatures=(signatures, False),
        )
        no_use(swept.changed(), "--suite")
        print_suite(
            suite,
            plan,
            metrics=metrics,
            options=options,
            criterion=criterion,
            tables=tables,
            format=format,
            digits=digits,
            output=output,
            resample="studies" if resample_studies else "items",
            group=group,
            select=select,
            no_positive=no_positive,
            missing=missing,
            unknown=unknown,
            drop_failed=drop_failed,
            on_error=on_error,
            threads=threads,
        )
        return
    unused("one study", on_error=(on_error, "error"), resample_studies=(resample_studies, False))
    wanted = one_tidy_table(tables, format, _ALL_TABLES, _TABLES, "agreement")
    check_results(output, (study, *(scores or ()), human, *options.files))
    if study is None and (scores is None or human is None):
        raise InputError("give a study folder, or --scores and --human tables")
    mapped = named_columns(columns, _COLUMNS)
    people_mapped = named_columns(human_columns, _COLUMNS, "--human-columns")
    if people_mapped is None and (scores is None or human is not None):
        people_mapped = mapped
    # A campaign exports ratings one by one; people's scores are totals or means already.
    rated = None
    if human is not None and study is not None and holds_ratings(human, people_mapped):
        rated, human = human, None
    if human is not None:
        unused(
            "ready --human scores",
            scale=(scale, "z"),
            min_raters=(min_raters, 1),
            unknown=(unknown, "error"),
            drop_failed=(drop_failed, False),
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
    data = None
    if study is not None:
        data = read_people(
            study,
            ratings=human is None,
            drop_failed=drop_failed,
            columns=people_mapped if human is None else None,
            missing=missing,
            rated=rated,
        )
    people = human_scores(data, study, human, people_mapped, criterion, unknown)
    if data is not None and swept.sweep is not None:
        check_outputs(data, data.path, systems or ())
        sweep_study(
            data,
            people,
            swept,
            swept.plan(
                SWEPT_METHODS if methods == _METHODS else methods,
                scale,
                min_raters,
                confidence,
                seed,
            ),
            metrics=metrics,
            metric_options=options,
            systems=systems,
            groups=groups_of(data, group),
            notes=group_warnings(data, group),
            digits=digits,
            format=format,
            output=output,
            threads=threads,
        )
        return
    with ProgressBar() as progress:
        found = metric_scores(
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
            groups=groups_of(data, group),
            notes=group_warnings(data, group),
            threads=threads,
            progress=progress,
        )
        behind = analyse_validation(
            result,
            data,
            people if isinstance(people, RatingTable) else None,
            tags=by,
            rule=bins,
            most=cases if "cases" in wanted else 0,
            confidence=confidence,
            seed=seed,
        )
    if result.simulated and tables is not None and "matrix" in wanted:
        raise InputError("--tables matrix: raters are simulated, so that no metric is ranked")
    for text in (*result.notes, *behind.advice):
        remark(str(text))
    shown: list[Table] = []
    for name in wanted:
        if name == "people":
            shown += result.people_tables(digits=digits)
        elif name == "agreement":
            measured = {one.level for one in result.agreements}
            shown += [result.table(one, digits=digits) for one in plan.levels if one in measured]
            accuracies = result.accuracy_table(digits=digits)
            shown += [] if accuracies is None else [accuracies]
        elif name == "matrix":
            shown += result.matrix_tables()
        else:
            shown += _analysis(behind, name)
    tidy = {"agreement": result.tidy_table, "matrix": result.tidy_matrix}.get(wanted[0])
    if not shown:
        raise InputError("there are no ratings of single raters: no table of people")
    said = verdict(result)
    emit(
        shown,
        {**as_record(result), **_chosen(behind, wanted), "verdict": list(said)},
        format,
        output,
        verdict=said,
        signatures=signatures,
        tidy=None if tidy is None else tidy(),
    )


def _analysis(found: Analyses, name: str) -> list[Table]:
    tables = found.tables(name)
    if not tables:
        raise InputError(f"--tables {name}: {_WITHOUT[name]}")
    return tables


def _chosen(found: Analyses, wanted: Sequence[str]) -> dict[str, Any]:
    """Advice, and the analyses that were asked for."""
    record = found.record()
    return {name: record[name] for name in ("advice", *ANALYSES) if name in ("advice", *wanted)}


def _one_test(text: str) -> MetricTest | Literal["auto"]:
    names = listed(text)
    if len(names) != 1:
        raise InputError(f"--tests takes one test here, got {text!r}")
    return cast(MetricTest | Literal["auto"], names[0])
