"""`deltableu score`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from deltableu.cli.inputs import check_results, read_inputs
from deltableu.cli.metric_options import MetricOptions
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Digits, Flag, Output, Positive, Several, Signatures, Whole, unused
from deltableu.cli.output import (
    Format,
    emit,
    note_clamped,
    note_groups,
    note_left_out,
    note_unrated,
)
from deltableu.cli.progress import ProgressBar
from deltableu.corpus import Missing
from deltableu.score import IntervalPlan, score_systems

_DEFAULTS = MetricOptions()


@grouped
def score(
    *paths: str,
    refs: Annotated[list[str] | None, Several] = None,
    weights: str | None = None,
    systems: Annotated[list[str] | None, Several] = None,
    metrics: str | None = None,
    options: MetricOptions = _DEFAULTS,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    missing: Missing = "error",
    drop_failed: Annotated[bool, Flag] = False,
    ci: Annotated[bool, Flag] = False,
    interval: Literal["jackknife", "percentile", "bca"] = "jackknife",
    group: str | None = None,
    confidence: float = 0.95,
    resamples: Whole = 1000,
    seed: Whole = 0,
    segments: Annotated[bool, Flag] = False,
    format: Format = "table",
    signatures: Signatures = False,
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
    threads: Positive | None = None,
) -> None:
    """Score systems against many references of different quality.

    deltableu score STUDY, or
    deltableu score SYSTEM.txt ... --refs r0.txt r1.txt [--weights w.tsv].

    Parameters
    ----------
    paths
        A study folder; or, with --refs, one file per system (- is standard input).
    refs
        Reference files, one line per item; an empty line means that there is no such reference.
    weights
        One line per item, one tab-separated weight in [-1, 1] per reference file.
    systems
        Only these systems of the study.
    metrics
        Separated by commas or spaces; `deltableu metrics` lists them. By default
        delta-bleu-2,bleu-2 where the references have weights, else bleu-4.
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
    ci
        Add confidence intervals: where scores would lie on other items like these.
    interval
        Student's interval with the jackknife's standard error, or one read off bootstrap samples.
    group
        A field of the items' meta that names what they belong to (a document, a dialogue, a user):
        intervals then speak about other groups.
    confidence
        Confidence of the intervals.
    resamples
        How many resampled corpora.
    seed
        Seed of the resampling.
    segments
        Print the score of every segment.
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
    if not ci:
        unused(
            "scores without --ci",
            interval=(interval, "jackknife"),
            group=(group, None),
            confidence=(confidence, 0.95),
            resamples=(resamples, 1000),
        )
    inputs = read_inputs(paths, refs, weights, systems, missing, drop_failed=drop_failed)
    chosen = options.make(metrics, inputs.references)
    check_results(output, (*paths, *(refs or ()), weights, *options.files))
    plan = IntervalPlan(interval, resamples, confidence, seed)
    with ProgressBar() as progress:
        scoring = score_systems(
            inputs.references.select(select),
            inputs.outputs,
            chosen,
            no_positive=no_positive,
            intervals=plan if ci else None,
            groups=inputs.groups(group),
            threads=threads,
            progress=progress,
        )
    left = len(scoring.dropped)
    note_left_out(left, left + len(scoring.item_ids))
    note_unrated(inputs.references.select(select), chosen)
    if ci:
        note_groups(inputs.references.items or (), group)
        note_clamped(scoring)
    table = scoring.segment_table if segments else scoring.table
    emit(
        table(digits=digits),
        scoring.record(segments=segments),
        format,
        output,
        signatures=signatures,
        tidy=None if segments else scoring.tidy_table(),
    )
