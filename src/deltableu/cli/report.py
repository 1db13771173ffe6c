"""`deltableu report`."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Annotated, cast

from deltableu.cli.inputs import Inputs, check_results, output_ratings, read_inputs
from deltableu.cli.metric_options import MetricOptions, signed_for_clamped
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Output, Positive, Several, Whole, listed
from deltableu.cli.output import note, note_groups, note_unrated, remark, write_page
from deltableu.cli.progress import ProgressBar
from deltableu.compare import Comparison, ComparisonPlan, compare_systems
from deltableu.corpus import (
    Missing,
    RatingTable,
    ReferenceSet,
    Study,
    check_study,
    system_runs,
)
from deltableu.errors import InputError, InputWarning, hint_at
from deltableu.io import Own
from deltableu.io import listed as listed_names
from deltableu.report import (
    Changes,
    Setting,
    StudyReport,
    bucket_table,
    bucketings,
    changed_outputs,
    check_plotting,
    check_report_files,
    chosen_examples,
    leading,
    shown_failures,
    study_page,
    write_report_files,
)
from deltableu.score import (
    DeltaBLEU,
    IntervalPlan,
    Metric,
    Scoring,
    make_metrics,
    metric_settings,
    score_systems,
)
from deltableu.validate import (
    SweepPlan,
    Sweeps,
    UnitIntervalPlan,
    UnitPlan,
    Validation,
    ValidationPlan,
    analyse_validation,
    check_sweeps,
    sweep_metrics,
    validate_metrics,
)

_DEFAULTS = MetricOptions()
#: Outputs that a page explains, unless it is told how many: of many systems, fewer of each.
_EXPLAINED = 40
#: Failure cases of each kind and metric.
_FAILURES = 3


@grouped
def report(
    *paths: str,
    refs: Annotated[list[str] | None, Several] = None,
    weights: str | None = None,
    systems: Annotated[list[str] | None, Several] = None,
    baseline: str | None = None,
    output: Annotated[Path, Output] = Path("report.html"),
    files: Path | None = None,
    title: str | None = None,
    metrics: str | None = None,
    options: MetricOptions = _DEFAULTS,
    select: str | None = None,
    bucket: Annotated[list[str] | None, Several] = None,
    changes: Whole | None = None,
    examples: Whole = 3,
    criterion: str | None = None,
    sweep: str | None = None,
    group: str | None = None,
    missing: Missing = "error",
    drop_failed: Annotated[bool, Flag] = False,
    significance: float = 0.05,
    confidence: float = 0.95,
    seed: Whole = 0,
    threads: Positive | None = None,
) -> None:
    """Write one HTML page that says which system is better, how sure that is, and why.

    deltableu report STUDY [--baseline A], or
    deltableu report A.txt B.txt --refs r0.txt r1.txt [--weights w.tsv].

    Parameters
    ----------
    paths
        A study folder; or, with --refs, one file per system.
    refs
        Reference files, one line per item; an empty line means that there is no such reference.
    weights
        One line per item, one tab-separated weight in [-1, 1] per reference file.
    systems
        Only these systems.
    baseline
        Show how every system differs from this one. By default the first of two systems; of more,
        all pairs are tested, and the differences from the best are shown.
    output
        The page; - is standard output.
    files
        Also write each table (TSV, JSON, LaTeX) and each plot (SVG, PDF) into this folder.
    title
        By default the study's folder, or the names of the systems.
    metrics
        Separated by commas or spaces; the first leads. By default delta-bleu-2,bleu-2 where
        the references have weights, else bleu-4.
    select
        The choices of references to show, separated by commas; the last is the main one. By
        default single,w>=0.6,all, without the threshold where references have no weights.
    bucket
        Fields of the items' meta to show scores by, besides length, rare words and the number of
        references.
    changes
        How many of the largest gains, and losses, to show for each system; 0 shows none. By
        default 5, fewer where there are many systems.
    examples
        How many outputs of the best rated system to show with weighted references and scores; 0
        shows none.
    criterion
        Which ratings of outputs to show; may be left out where there is one.
    sweep
        Also show agreement with people on units of sentences, as validate --sweep does, by any of
        settings, threshold, unit-size, order, references, origin, separated by commas.
    group
        A field of the items' meta that names what they belong to (a document, a dialogue, a user):
        whole groups are then resampled and exchanged.
    missing
        What to do with items for which a system has no output: end with an error, score an empty
        text, or drop the item for all systems.
    drop_failed
        Leave out raters who fail deltableu rate check; weights that are means of ratings become
        those of the others.
    significance
        Corrected p-values below it are significant.
    confidence
        Confidence of all intervals.
    seed
        Seed of all that is random.
    threads
        All cores by default; no result depends on it.
    """
    plan = ComparisonPlan(significance=significance, confidence=confidence, seed=seed)
    if changes is not None and changes < 0:
        raise InputError(f"--changes must be at least 0, got {changes}")
    if examples < 0:
        raise InputError(f"--examples must be at least 0, got {examples}")
    read = [one for one in (*paths, *(refs or ()), weights, *options.files) if one]
    check_results(output, read, Own.PAGE)
    if files is not None:
        check_plotting("--files")
        check_report_files(files, [*read, output])
    inputs = read_inputs(
        paths, refs, weights, systems, missing, ratings=True, drop_failed=drop_failed
    )
    study = inputs.study
    references = inputs.references
    named = system_runs(inputs.outputs)
    if baseline is not None and baseline not in named:
        there, meant = ", ".join(named), hint_at(baseline, tuple(named))
        raise InputError(f"--baseline: there is no system {baseline!r}; there are {there}{meant}")
    if baseline is None and len(named) == 2:
        baseline = next(iter(named))
    if select is None:
        select = "single,all" if references.weights is None else "single,w>=0.6,all"
    if sweep is not None:
        check_sweeps(listed(sweep))
    choices = listed(select)
    if not choices:
        raise InputError("--select names no choice of references")
    groups = inputs.groups(group)
    # Wrong fields are said before long work is done.
    bucketings(references.items or (), bucket or ())
    chosen = options.make(metrics, references)
    with ProgressBar() as progress:

        def scored(name: str, wanted: Sequence[Metric]) -> Setting:
            picked = references.select(name)
            scoring = score_systems(
                picked,
                inputs.outputs,
                wanted,
                no_positive="skip",
                intervals=IntervalPlan(confidence=confidence),
                groups=groups,
                threads=threads,
                progress=progress,
            )
            return Setting(picked.selection, picked, scoring)

        settings = [scored(name, chosen) for name in choices]
        main, signed = settings[-1], list[Metric]()
        comparisons: tuple[Comparison, ...] = ()
        # One system, or one item, has nothing to be compared with.
        if len(named) > 1 and len(main.scoring.item_ids) > 1:
            comparisons = compare_systems(
                main.scoring, baseline=baseline, plan=plan, threads=threads, progress=progress
            )
            signed = signed_for_clamped(chosen, comparisons)
            if signed:
                more = scored(choices[-1], signed).scoring
                comparisons += compare_systems(
                    more, baseline=baseline, plan=plan, threads=threads, progress=progress
                )
                both = (*main.scoring.scores, *more.scores)
                main = replace(main, scoring=replace(main.scoring, scores=both))
                settings[-1] = main
        note_groups(references.items or (), group)
        note_unrated(main.references, chosen)
        validation, ratings = None, None
        if study is not None:
            validation, ratings = _validated(
                study, main.scoring, criterion, plan, progress, chosen=systems is not None
            )
        elif criterion is not None:
            raise InputError("--criterion chooses ratings of a study; plain files have none")
    result = StudyReport(
        title=title or _title(paths, refs, tuple(named)),
        settings=tuple(settings),
        comparisons=comparisons,
        baseline=baseline,
        validation=validation,
        confidence=confidence,
        checked=None if refs is not None else check_study(paths[0]),
        note=None if study is None else study.note,
    )
    result = _with_analyses(result, inputs, ratings, plan)
    if sweep is not None:
        if study is None or ratings is None:
            raise InputError("--sweep needs a study with ratings of outputs")
        result = replace(result, sweeps=_swept(study, ratings, sweep, systems, groups, plan))
    result = _with_examples(result, inputs, criterion, examples, chosen, options)
    result = _with_changes(result, inputs, changes, (*chosen, *signed))
    result = _with_buckets(result, bucket or ())
    page = study_page(result)
    if files is not None:
        number = write_report_files(result, files)
        note(f"wrote {number} files in {files}")
    write_page(page, output)


def _title(paths: Sequence[str], refs: Sequence[str] | None, systems: Sequence[str]) -> str:
    if refs is None:
        return Path(paths[0]).resolve().name
    return listed_names(systems) if len(systems) <= 3 else f"{len(systems)} systems"


def _validated(
    study: Study,
    scoring: Scoring,
    criterion: str | None,
    plan: ComparisonPlan,
    progress: ProgressBar,
    *,
    chosen: bool,
) -> tuple[Validation | None, RatingTable | None]:
    """How the metrics agree with the people who rated outputs, if any did, and their ratings."""
    if not (study.ratings.system >= 0).any():
        if criterion is not None:
            raise InputError(f"--criterion {criterion}: the study has no ratings of outputs")
        return None, None
    people = ValidationPlan(
        methods=("pearson",),
        levels=("system", "pooled"),
        significance=plan.significance,
        confidence=plan.confidence,
        seed=plan.seed,
    )
    try:
        with warnings.catch_warnings():
            if chosen:  # the ratings of systems that were not asked for are no surprise
                warnings.simplefilter("ignore", InputWarning)
            ratings = RatingTable.from_study(study, criterion=criterion, unknown="drop")
        return validate_metrics(scoring, ratings, plan=people, progress=progress), ratings
    except InputError as error:
        if criterion is not None:
            raise
        remark(f"people's ratings are left out: {error}")
        return None, None


def _swept(
    study: Study,
    ratings: RatingTable,
    names: str,
    systems: Sequence[str] | None,
    groups: Sequence[str] | None,
    plan: ComparisonPlan,
) -> Sweeps:
    """Agreement on units of sentences, of the metrics of the delta-BLEU paper's study."""
    labels = None
    if groups is not None:
        labels = dict(zip((item.id for item in study.items), groups, strict=True))
    return sweep_metrics(
        study,
        ratings,
        sweeps=listed(names),
        plan=SweepPlan(
            units=UnitPlan(seed=plan.seed), intervals=UnitIntervalPlan(confidence=plan.confidence)
        ),
        systems=systems,
        groups=labels,
    )


def _with_analyses(
    result: StudyReport, inputs: Inputs, ratings: RatingTable | None, plan: ComparisonPlan
) -> StudyReport:
    """What lies behind the agreement with people, where any rated outputs."""
    study, validation = inputs.study, result.validation
    if study is None or validation is None:
        return result
    found = analyse_validation(
        validation,
        study,
        ratings,
        most=_FAILURES,
        confidence=plan.confidence,
        seed=plan.seed,
    )
    main = result.main
    failures = shown_failures(found.cases, main.references, inputs.outputs, main.scoring)
    return replace(result, analyses=found, failures=failures)


def _with_examples(
    result: StudyReport,
    inputs: Inputs,
    criterion: str | None,
    number: int,
    metrics: Sequence[Metric],
    options: MetricOptions,
) -> StudyReport:
    """Outputs with weighted references, where people or a judge gave references weights."""
    asked = [one for one in metrics if isinstance(one, DeltaBLEU)]
    # The geometric form lies on the scale of BLEU; nobody need have asked for it by name.
    metric = next((one for one in asked if one.mostly_zero), None) or _delta_bleu(options)
    kept, ids = set(result.main.scoring.item_ids), inputs.references.item_ids or ()
    places = [place for place, item in enumerate(ids) if item in kept]
    references = result.main.references.take(places)
    if number == 0 or not _weighted(metric, references):
        return result
    references, settled = metric.settled(references)
    poor = set(references.without_positive())
    useful = [place for place in range(len(references)) if place not in poor]
    if not useful:
        return result
    outputs = {
        name: [texts[places[place]] for place in useful] for name, texts in inputs.outputs.items()
    }
    ratings = None
    if inputs.study is not None and result.validation is not None:
        ratings = output_ratings(inputs.study, criterion)
    found = chosen_examples(
        references.take(useful),
        outputs,
        cast(DeltaBLEU, settled),
        number=number,
        ratings=ratings,
        systems=None if inputs.study is None else inputs.study.systems,
    )
    return replace(result, examples=found)


def _delta_bleu(options: MetricOptions) -> DeltaBLEU:
    """delta-BLEU with those of the settings that it has."""
    known = metric_settings(DeltaBLEU.family)
    changed = {name: value for name, value in options.changed().items() if name in known}
    (made,) = make_metrics([DeltaBLEU.family], changed)
    return cast(DeltaBLEU, made)


def _weighted(metric: DeltaBLEU, references: ReferenceSet) -> bool:
    """Whether each reference has a weight, or gets one from a judge."""
    weights = references.weights
    if "weights" not in metric.needs:
        return True
    return weights is not None and all(one is not None for row in weights for one in row)


def _with_changes(
    result: StudyReport, inputs: Inputs, most: int | None, metrics: Sequence[Metric]
) -> StudyReport:
    baseline = result.reference_system
    if baseline is None or not result.comparisons or most == 0:
        return result
    first = leading(result.comparisons)
    metric = next(one for one in metrics if one.name == first.metric)
    if not metric.has_segments:
        return result
    # A system with several runs is shown by the outputs of the first.
    runs = system_runs(inputs.outputs)
    pairs = [
        (runs[baseline][0], runs[one.system][0]) for one in first.systems if one.system != baseline
    ]
    number = most or max(1, min(5, _EXPLAINED // (2 * len(pairs))))
    kept, ids = set(result.main.scoring.item_ids), inputs.references.item_ids or ()
    places = [place for place, item in enumerate(ids) if item in kept]
    outputs = {name: [texts[place] for place in places] for name, texts in inputs.outputs.items()}
    references = result.main.references.take(places)
    found: Sequence[Changes] = tuple(
        changed_outputs(references, outputs, metric, pairs, most=number)
    )
    return replace(result, changes=tuple(one for one in found if one.gains or one.losses))


def _with_buckets(result: StudyReport, fields: Sequence[str]) -> StudyReport:
    scoring = result.main.scoring.best_first()
    metric = leading(result.comparisons).metric if result.comparisons else scoring.metrics[0]
    kept = set(scoring.item_ids)
    items = [item for item in result.main.references.items or () if item.id in kept]
    tables = [
        bucket_table(scoring, metric, one, confidence=result.confidence)
        for one in bucketings(items, fields)
    ]
    return replace(result, buckets=tuple(tables), bucket_metric=metric)
