"""`deltableu compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from deltableu.cli.inputs import check_results, read_inputs, read_people, ready_scores
from deltableu.cli.metric_options import MetricOptions, signed_for_clamped
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
    one_tidy_table,
    unused,
)
from deltableu.cli.output import (
    Format,
    emit,
    note,
    note_groups,
    note_left_out,
    note_unrated,
    remark,
)
from deltableu.cli.progress import ProgressBar
from deltableu.compare import (
    AgreementCurve,
    Comparison,
    ComparisonPlan,
    GatePlan,
    Sensitivity,
    check_test,
    compare_rated,
    compare_systems,
    gate_systems,
    names_metrics,
    read_past_comparisons,
    testable,
    tidy_pairs,
    tidy_systems,
)
from deltableu.compare import sensitivity as find_sensitivity
from deltableu.corpus import (
    Missing,
    ScoreTable,
    item_groups,
    labelled,
    reference_set,
    system_runs,
)
from deltableu.errors import InputError
from deltableu.io import Table, as_record, named_columns
from deltableu.report import verdict
from deltableu.score import Metric, Scoring, score_systems

_DEFAULTS = MetricOptions()
_TABLES = ("systems", "pairs", "matrix")


@grouped
def compare(
    *paths: str,
    refs: Annotated[list[str] | None, Several] = None,
    weights: str | None = None,
    scores: str | None = None,
    columns: str | None = None,
    lower_is_better: Annotated[bool, Flag] = False,
    systems: Annotated[list[str] | None, Several] = None,
    baseline: str | None = None,
    fail_if: Literal["never", "worse"] = "never",
    metrics: str | None = None,
    options: MetricOptions = _DEFAULTS,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    missing: Missing = "error",
    drop_failed: Annotated[bool, Flag] = False,
    group: str | None = None,
    runs: Literal["auto", "off"] = "auto",
    tests: str = "studentized",
    correction: Literal["holm", "bh", "none"] = "holm",
    significance: float = 0.05,
    interval: Literal["studentized", "jackknife", "percentile", "bca"] = "studentized",
    confidence: float = 0.95,
    trials: Whole = 10_000,
    resamples: Whole = 2_000,
    seed: Whole = 0,
    resample: Literal["items", "items,raters"] = "items",
    criterion: str | None = None,
    sensitivity: Annotated[bool, Flag] = False,
    past: str | None = None,
    past_model: Literal["isotonic", "logistic"] = "isotonic",
    tables: str | None = None,
    format: Format = "table",
    signatures: Signatures = False,
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
    threads: Positive | None = None,
) -> int:
    """Say which differences between systems to believe.

    deltableu compare STUDY [--baseline A] [--metrics delta-bleu,chrf], or
    deltableu compare A.txt B.txt --refs r0.txt r1.txt [--weights w.tsv], or
    deltableu compare --scores comet.csv.

    Parameters
    ----------
    paths
        A study folder; or, with --refs, one file per system (- is standard input).
    refs
        Reference files, one line per item; an empty line means that there is no such reference.
    weights
        One line per item, one tab-separated weight in [-1, 1] per reference file.
    scores
        Scores computed elsewhere: a CSV, TSV, JSONL or Parquet table with the columns system, item
        and score, and perhaps metric.
    columns
        What that table, or with --resample items,raters the ratings, call their columns, such as
        system=model,item=segment_id,score=comet; metrics=bleu+comet takes a column for a metric.
    lower_is_better
        Lower scores in that table are better.
    systems
        Only these systems.
    baseline
        Compare every system with this one only, not all pairs.
    fail_if
        worse: exit with 1 if a system is significantly worse than the baseline, as `deltableu gate`
        does, which has margins and more.
    metrics
        Separated by commas or spaces; `deltableu metrics` lists them. By default
        delta-bleu-2,bleu-2 where the references have weights, else bleu-4. With --scores, which of
        its metrics.
    select
        Which references count: all, single (the original) or a threshold such as "w>=0.6".
    no_positive
        Items without a positively weighted reference are an error, or left out everywhere.
    missing
        What to do with items for which a system has no output: end with an error, score an empty
        text, or drop the item for all systems.
    drop_failed
        Leave out raters who fail deltableu rate check; weights that are means of ratings become
        those of the others.
    group
        A field of the items' meta that names what they belong to (a document, a dialogue, a user):
        whole groups are then resampled and exchanged.
    runs
        auto: outputs named A@1 and A@2 are runs of a system A, whose score is their mean; the
        variance between runs enters tests and intervals. off: each is a system of its own.
    tests
        Separated by commas; the first decides: studentized (exchanges outputs, and compares
        differences over their standard errors), randomization (the same without the errors),
        permutation (all exchanges or an error), bootstrap, koehn, moses, wilcoxon, t-test.
    correction
        For the number of pairs: Holm, Benjamini-Hochberg, or none.
    significance
        Corrected p-values below it are significant.
    interval
        How intervals of scores and differences are made.
    confidence
        Confidence of the intervals.
    trials
        Random exchanges, at least: more are drawn where the correction for many pairs needs them.
    resamples
        Samples of the bootstrap.
    seed
        Seed of everything random.
    resample
        items,raters: the raters of references are a sample too. Carries the noise of their ratings
        into intervals and tests, in place of --tests and --interval; needs raw ratings.
    criterion
        Which ratings of references; may be left out where there is one.
    sensitivity
        Say how fragile each significant difference is: the smallest shift of all weights, the
        smallest share of references dropped and the smallest bend of the rating scale after which
        it is not significant, or turned round.
    past
        Past comparisons with people: a table with the columns difference and verdict, and perhaps
        metric and group. Prints how probable it is that people agree with each difference.
    past_model
        How that probability grows with the difference.
    tables
        Which tables to print, separated by commas: systems, pairs, matrix; by default
        systems,pairs. TSV and CSV hold one: pairs, or systems if that is named.
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
    plan = ComparisonPlan(
        tests=tuple(check_test(name) for name in listed(tests)),
        correction=correction,
        significance=significance,
        interval=interval,
        confidence=confidence,
        trials=trials,
        resamples=resamples,
        seed=seed,
    )
    wanted = one_tidy_table(tables, format, _TABLES, ("systems", "pairs"), "pairs")
    if sensitivity and format in ("tsv", "csv"):
        raise InputError(f"--sensitivity is not in --format {format}: take json")
    if scores is None and lower_is_better:
        raise InputError("--lower-is-better goes with --scores; metrics know it themselves")
    if scores is not None:
        unused(
            "--scores",
            sensitivity=(sensitivity, False),
            select=(select, "all"),
            no_positive=(no_positive, "error"),
            missing=(missing, "error"),
            drop_failed=(drop_failed, False),
        )
    elif resample == "items":
        unused("neither --scores nor --resample items,raters", columns=(columns, None))
    mapped = named_columns(columns, "system=model,item=segment_id,score=comet")
    if resample == "items,raters":
        unused("--resample items,raters", sensitivity=(sensitivity, False))
    else:
        unused("--resample items", criterion=(criterion, None))
    if past is None:
        unused("no --past comparisons", past_model=(past_model, "isotonic"))
    if fail_if == "worse":
        if baseline is None:
            raise InputError("--fail-if worse needs --baseline: worse than which system?")
        if resample != "items":
            raise InputError("--fail-if worse goes with --resample items only")
    gate = None
    fragile: list[Sensitivity] = []
    check_results(output, (*paths, *(refs or ()), weights, scores, past, *options.files))
    with ProgressBar() as progress:
        if resample == "items,raters":
            if scores is not None or refs is not None or len(paths) != 1:
                raise InputError("--resample items,raters needs one study with ratings")
            if tests != "studentized" or interval != "studentized":
                raise InputError("--resample items,raters has its own test and interval")
            study = read_people(paths[0], drop_failed=drop_failed, columns=mapped, missing=missing)
            if runs == "auto" and len(system_runs(study.outputs)) < len(study.outputs):
                raise InputError(
                    "--resample items,raters takes each run for a system of its own: say --runs off"
                )
            wanted_metrics = options.make(metrics or "delta-bleu", reference_set(study))
            found = compare_rated(
                study,
                wanted_metrics,
                systems=systems,
                baseline=baseline,
                selection=select,
                criterion=criterion,
                groups=None if group is None else item_groups(study, group),
                no_positive=no_positive,
                plan=plan,
                threads=threads,
                progress=progress,
            )
        else:
            source: Scoring | ScoreTable
            if scores is not None:
                if paths or refs or weights:
                    message = "give a study, or files with --refs, or --scores; not two of them"
                    raise InputError(message)
                if group is not None:
                    raise InputError("--group needs a study, whose items have meta")
                source = ready_scores(scores, mapped, metrics, options, lower_is_better)
            else:
                inputs = read_inputs(
                    paths, refs, weights, systems, missing, drop_failed=drop_failed
                )
                groups = inputs.groups(group)
                references = inputs.references.select(select)

                def scored(chosen: Sequence[Metric]) -> Scoring:
                    return score_systems(
                        references,
                        inputs.outputs,
                        chosen,
                        no_positive=no_positive,
                        groups=groups,
                        threads=threads,
                        progress=progress,
                    )

                chosen = options.make(metrics, inputs.references)
                source = scored(chosen)
                left = len(source.dropped)
                note_left_out(left, left + len(source.item_ids))
                note_unrated(references, chosen)
                note_groups(inputs.references.items or (), group)

            def compared(given: Scoring | ScoreTable) -> tuple[Comparison, ...]:
                return compare_systems(
                    given,
                    systems=systems if scores is not None else None,
                    baseline=baseline,
                    runs=runs,
                    plan=plan,
                    threads=threads,
                    progress=progress,
                )

            found = compared(source)
            if runs == "auto":
                _note_runs(source.systems, found[0])
            if fail_if == "worse" and baseline is not None:
                held = source if scores is not None else testable(scored, chosen)[0]
                gate = gate_systems(
                    held,
                    baseline=baseline,
                    systems=systems if scores is not None else None,
                    runs=runs,
                    plan=GatePlan(significance=significance, trials=trials, seed=seed),
                    threads=threads,
                )
            if scores is None:
                signed = signed_for_clamped(chosen, found)
                found += compared(scored(signed)) if signed else ()
                for metric, one in zip((*chosen, *signed), found, strict=True):
                    if sensitivity:
                        fragile.append(
                            find_sensitivity(
                                references,
                                inputs.outputs,
                                metric,
                                comparison=one,
                                groups=groups,
                                no_positive=no_positive,
                                runs=runs,
                                seed=seed,
                                threads=threads,
                                progress=progress,
                            )
                        )
    if past is not None:
        if len(found) > 1 and not names_metrics(past):
            raise InputError(
                f"{past}: has no column metric, so that its differences serve one metric only; "
                "choose it with --metrics"
            )
        found = tuple(_with_agreement(one, past, past_model, confidence) for one in found)
    shown: list[Table] = []
    for name in wanted:
        if name == "systems":
            first, *others = (one.table(digits=digits) for one in found)
            simulated = any(one.simulated for one in found)
            shown.append(labelled(first.join(others), simulated))
        elif name == "pairs":
            shown += [one.pairs_table(digits=digits) for one in found]
        else:
            shown += [one.matrix_table() for one in found]
    records = [{**as_record(one), "verdict": list(verdict(one))} for one in found]
    if fragile:
        for record, other in zip(records, fragile, strict=True):
            shown += [other.sentences(), *([other.table()] if other.pairs else [])]
            record["sensitivity"] = as_record(other)
    emit(
        shown,
        records,
        format,
        output,
        verdict=verdict(found),
        signatures=signatures,
        tidy=tidy_systems(found) if wanted == ["systems"] else tidy_pairs(found),
    )
    if gate is None or gate.passed:
        return 0
    for system in gate.systems:
        if not all(check.passed for check in gate.of(system)):
            note(gate.sentence(system))
    return 1


def _note_runs(names: Sequence[str], comparison: Comparison) -> None:
    """Say which systems are means of several runs: their names may not be meant so."""
    known, compared = system_runs(names), {one.system for one in comparison.systems}
    counts = [f"{one} ({len(runs)})" for one, runs in known.items() if len(runs) > 1]
    if compared - set(names):
        remark(f"means of several runs: {', '.join(counts)}; --runs off compares runs one by one")


def _with_agreement(
    comparison: Comparison, path: str, model: Literal["isotonic", "logistic"], confidence: float
) -> Comparison:
    past = read_past_comparisons(path, comparison.metric)
    curve = AgreementCurve.fit(
        past, model=model, higher_is_better=comparison.higher_is_better, confidence=confidence
    )
    for text in curve.notes:
        remark(f"{comparison.metric}, {path}: {text}")
    beyond = sum(curve.extrapolates(pair.difference) for pair in comparison.pairs)
    if beyond:
        remark(
            f"{comparison.metric}, {path}: {beyond} of {len(comparison.pairs)} differences are "
            f"larger than any past one ({curve.largest:.4g})"
        )
    return comparison.with_agreement(curve.probability)
