"""`deltableu score`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from deltableu.cli.inputs import Inputs, read_inputs
from deltableu.cli.options import Flag, Several, Whole, listed
from deltableu.cli.output import Format, emit, note
from deltableu.cli.progress import ProgressBar
from deltableu.errors import InputError
from deltableu.report.scores import score_records, score_table, segment_table, signatures
from deltableu.score.registry import make_metrics
from deltableu.score.systems import IntervalPlan, score_systems

__all__ = ["score"]


def score(
    *paths: str,
    refs: Annotated[list[str] | None, Several] = None,
    weights: str | None = None,
    systems: Annotated[list[str] | None, Several] = None,
    metrics: str | None = None,
    order: Whole | None = None,
    tokenize: str | None = None,
    lowercase: Annotated[bool, Flag] = False,
    normalize: Literal["none", "NFC", "NFKC"] = "none",
    strip_punctuation: Annotated[bool, Flag] = False,
    variant: Literal["paper", "galley2019", "tsuta2020"] = "paper",
    smooth: Literal["default", "none", "floor", "add-k", "exp"] = "default",
    smooth_value: float | None = None,
    effective_order: Annotated[bool, Flag] = False,
    combine: Literal["geometric", "arithmetic"] = "geometric",
    brevity: Literal["all", "positive"] = "all",
    method: Literal["bleu+1", "moses", "nakov", "nakov-cdec"] = "bleu+1",
    pool: Literal["mean", "best"] = "mean",
    vectors: str | None = None,
    table: str | None = None,
    alpha: float | None = None,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    ci: Annotated[bool, Flag] = False,
    ci_method: Literal["percentile", "bca"] = "percentile",
    level: float = 0.95,
    resamples: Whole = 1000,
    seed: Whole = 0,
    segments: Annotated[bool, Flag] = False,
    format: Format = "table",
    digits: Whole = 2,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    threads: Whole | None = None,
) -> None:
    """Score systems against many references of different quality.

    deltableu score STUDY, or
    deltableu score SYSTEM.txt ... --refs r0.txt r1.txt [--weights w.tsv].

    Parameters
    ----------
    paths
        A study folder; or, with --refs, one file a system (- is standard input).
    refs
        Reference files, one line an item; an empty line means that there is no such reference.
    weights
        One line an item, one tab-separated weight in [-1, 1] a reference file.
    systems
        Only these systems of the study.
    metrics
        Separated by commas; `deltableu metrics` lists them. By default delta-bleu,bleu where the
        references have weights, else bleu.
    order
        Longest n-gram; by default 4, and 2 for delta-bleu.
    tokenize
        none, 13a, char, intl, zh, ja-mecab, ko-mecab, spm, flores101, flores200. By default 13a,
        and ROUGE's own for rouge.
    lowercase
        Lower-case all text first.
    normalize
        Unicode normalisation of all text.
    strip_punctuation
        Drop punctuation first.
    variant
        Of delta-bleu: the paper's formula, or a published implementation's.
    smooth
        For orders without a match. The default is exp for bleu, and as the variant has it for
        delta-bleu.
    smooth_value
        For floor and add-k.
    effective_order
        Leave out orders longer than every hypothesis.
    combine
        The geometric mean of the precisions, or the signed arithmetic one.
    brevity
        Which references delta-bleu's brevity penalty looks at.
    method
        Of sentence-bleu.
    pool
        Of the discriminative metrics (delta-chrf, ...): how good and bad references are pooled.
    vectors
        Of delta-vectors: a file of word vectors in GloVe's text format.
    table
        Of delta-table: hypothesis, reference and score in [0, 1] as CSV, TSV, JSONL or Parquet.
    alpha
        Of ibleu: how much the references count beside the message.
    select
        Which references count: all, single (the original) or a threshold such as "w>=0.6".
    no_positive
        Items without a positively weighted reference are an error, or left out everywhere.
    ci
        Add confidence intervals from resampled segments.
    ci_method
        How intervals are read off the resampled scores.
    level
        Of the intervals.
    resamples
        How many resampled corpora.
    seed
        Of the resampling.
    segments
        Print the score of every segment.
    format
        How results are printed.
    digits
        After the decimal point, in tables; JSON is never rounded.
    output
        Write to this file.
    threads
        All cores by default; no result depends on it.
    """
    inputs = read_inputs(paths, refs, weights, systems)
    # What was left at its default is not passed on: not every metric has every setting.
    settings: dict[str, tuple[Any, Any]] = {
        "order": (order, None),
        "tokenize": (tokenize, None),
        "lowercase": (lowercase, False),
        "normalize": (normalize, "none"),
        "strip_punctuation": (strip_punctuation, False),
        "variant": (variant, "paper"),
        "smooth": (smooth, "default"),
        "smooth_value": (smooth_value, None),
        "effective_order": (effective_order, False),
        "combine": (combine, "geometric"),
        "brevity": (brevity, "all"),
        "method": (method, "bleu+1"),
        "pool": (pool, "mean"),
        "vectors": (vectors, None),
        "table": (table, None),
        "alpha": (alpha, None),
    }
    chosen = make_metrics(
        _names(metrics, inputs),
        {name: value for name, (value, default) in settings.items() if value != default},
    )
    if threads is not None and threads < 1:
        raise InputError(f"--threads must be at least 1, got {threads}")
    if not 0 <= digits <= 15:
        raise InputError(f"--digits must lie between 0 and 15, got {digits}")
    plan = IntervalPlan(ci_method, resamples, level, seed)
    with ProgressBar() as progress:
        scoring = score_systems(
            inputs.references.select(select),
            inputs.outputs,
            chosen,
            no_positive=no_positive,
            intervals=plan if ci else None,
            threads=threads,
            progress=progress,
        )
    if scoring.dropped:
        total = len(scoring.dropped) + len(scoring.item_ids)
        note(f"left out {len(scoring.dropped)} of {total} items without a positive reference")
    emit(
        segment_table(scoring, digits=digits) if segments else score_table(scoring, digits=digits),
        lambda: score_records(scoring, segments=segments),
        format,
        output,
        signatures(scoring),
    )


def _names(metrics: str | None, inputs: Inputs) -> list[str]:
    if metrics is not None:
        return listed(metrics)
    return ["bleu"] if inputs.references.weights is None else ["delta-bleu", "bleu"]
