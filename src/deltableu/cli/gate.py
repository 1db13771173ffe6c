"""`deltableu gate`."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Literal

from deltableu.cli.inputs import check_results, read_inputs, ready_scores
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
    subcommands,
    unused,
)
from deltableu.cli.output import (
    Format,
    emit,
    note_groups,
    note_left_out,
    note_unrated,
    remark,
    write_page,
)
from deltableu.cli.progress import ProgressBar
from deltableu.compare import (
    GateMode,
    GatePlan,
    Sequential,
    add_to_history,
    gate_systems,
    read_history,
    sequential_look,
    testable,
)
from deltableu.corpus import Missing, ScoreTable
from deltableu.errors import InputError
from deltableu.io import (
    Own,
    as_record,
    atomic_path,
    atomic_write,
    is_standard_stream,
    named_columns,
    unwritable,
)
from deltableu.report import (
    check_plotting,
    gate_summary,
    history_page,
    history_plot,
    junit_xml,
    verdict,
)
from deltableu.score import Metric, Scoring, score_systems

gate = subcommands("gate", "Let a new system pass only if it is no worse than the old one.")

_DEFAULTS = MetricOptions()
_SUMMARY = "GITHUB_STEP_SUMMARY"
_COMMIT = "GITHUB_SHA"


@gate.default
@grouped
def run(
    *paths: str,
    baseline: str,
    systems: Annotated[list[str] | None, Several] = None,
    refs: Annotated[list[str] | None, Several] = None,
    weights: str | None = None,
    scores: str | None = None,
    columns: str | None = None,
    lower_is_better: Annotated[bool, Flag] = False,
    metrics: str | None = None,
    mode: GateMode = "worse",
    margin: float = 0.0,
    significance: float = 0.05,
    junit: Path | None = None,
    summary: Path | None = None,
    history: Path | None = None,
    commit: str | None = None,
    sequential: Sequential = "off",
    limits: tuple[float, float] | None = None,
    options: MetricOptions = _DEFAULTS,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    missing: Missing = "error",
    drop_failed: Annotated[bool, Flag] = False,
    group: str | None = None,
    runs: Literal["auto", "off"] = "auto",
    trials: Whole = 10_000,
    seed: Whole = 0,
    format: Format = "table",
    signatures: Signatures = False,
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
    threads: Positive | None = None,
) -> int:
    """Let systems pass only if they are no worse than a baseline.

    deltableu gate STUDY --baseline v1 [--systems v2] [--margin 1], or
    deltableu gate v1.txt v2.txt --refs r0.txt r1.txt --baseline v1, or
    deltableu gate --scores comet.csv --baseline v1. The exit code is 0 if all systems pass, 1 if
    one fails, and 2 if the input is wrong. `deltableu gate history FILE` shows past runs.

    Parameters
    ----------
    paths
        A study folder; or, with --refs, one file per system (- is standard input).
    baseline
        The system that the others are held against.
    systems
        Only these systems; by default all others.
    refs
        Reference files, one line per item; an empty line means that there is no such reference.
    weights
        One line per item, one tab-separated weight in [-1, 1] per reference file.
    scores
        Scores computed elsewhere: a CSV, TSV, JSONL or Parquet table with the columns system, item
        and score, and perhaps metric.
    columns
        What that table calls its columns, such as system=model,item=segment_id,score=comet.
    lower_is_better
        Lower scores in that table are better.
    metrics
        Separated by commas or spaces; `deltableu metrics` lists them. By default those of compare.
        A clamped delta-bleu is replaced by its signed mean.
    mode
        worse: a system fails if it is significantly worse by more than the margin. non-inferior: it
        fails unless it is shown to be at most so much worse. equivalent: it fails unless it is
        shown to be at most so much worse or better.
    margin
        How many points of the metric do not matter; non-inferior and equivalent need one.
    significance
        The chance of a false alarm (a false pass in the other modes), over all systems and metrics.
    junit
        Also write JUnit's XML to this file.
    summary
        Also add Markdown to this file, which is new or holds summaries of gates; by default to the
        one that GITHUB_STEP_SUMMARY names, whatever it holds.
    history
        Add scores and verdict to this JSONL file. Scores of other references are refused.
    commit
        What the history calls this run; by default GITHUB_SHA, or what git says.
    sequential
        For gates that run again and again, with --history. commits: new outputs on the same items;
        all looks together raise a false alarm with the chance --significance. items: the same
        outputs on more and more items. Both are about means of item scores.
    limits
        Lowest and highest score that an item can have, such as 0 1, for --sequential and for scores
        without known limits. Scores beyond are cut off.
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
        whole groups are then exchanged.
    runs
        auto: outputs named A@1 and A@2 are runs of a system A, whose score is their mean. off: each
        is a system of its own.
    trials
        Random exchanges, at least: more are drawn where small significances need them.
    seed
        Seed of all random draws.
    format
        How results are printed.
    signatures
        Spell out the signatures of metrics, which otherwise are hashes of eight digits.
    digits
        Digits after the decimal point, for people to read; JSON, TSV and CSV are never rounded.
    output
        Write to this file.
    threads
        All cores by default; no result depends on it.
    """
    settings = GatePlan(
        mode=mode, margin=margin, significance=significance, trials=trials, seed=seed
    )
    if sequential != "off" and history is None:
        raise InputError(f"--sequential {sequential} needs --history, which knows earlier looks")
    if history is None:
        unused("no --history", commit=(commit, None))
    if sequential == "off":
        unused("no --sequential", limits=(limits, None))
    inputs = (*paths, *(refs or ()), weights, scores, *options.files)
    check_results(output, inputs)
    check_results(junit, inputs, Own.JUNIT)
    # What GitHub names holds other steps' summaries; any other file must be one of ours.
    github = os.environ.get(_SUMMARY)
    if summary is None and github:
        summary = Path(github)
    if history is not None and is_standard_stream(history):
        raise InputError("--history takes a file, because it is read too")
    check_results(summary, inputs, None if str(summary) == github else Own.SUMMARY)
    # A history may lie in the study; one that holds no runs is refused when it is read.
    check_results(history, inputs if refs else inputs[len(paths) :], None)
    past = None if history is None else read_history(history)

    def plan(units: int, digest: Callable[[int | None], str]) -> GatePlan:
        if past is None:
            return settings
        look = sequential_look(past, sequential, units, digest)
        return GatePlan(
            mode=mode,
            margin=margin,
            significance=significance,
            sequential=sequential,
            look=look,
            limits=limits,
            trials=trials,
            seed=seed,
        )

    source: Scoring | ScoreTable
    with ProgressBar() as progress:
        if scores is not None:
            if paths or refs or weights:
                raise InputError("give a study, or files with --refs, or --scores; not two of them")
            unused(
                "--scores",
                select=(select, "all"),
                no_positive=(no_positive, "error"),
                missing=(missing, "error"),
                drop_failed=(drop_failed, False),
                group=(group, None),
            )
            named = named_columns(columns, "system=model,item=segment_id,score=comet")
            source = ready_scores(scores, named, metrics, options, lower_is_better)
        else:
            unused("no --scores", columns=(columns, None), lower_is_better=(lower_is_better, False))
            wanted = None
            if refs is None and systems is not None:
                wanted = [baseline, *(name for name in systems if name != baseline)]
            given = read_inputs(paths, refs, weights, wanted, missing, drop_failed=drop_failed)
            groups = given.groups(group)
            references = given.references.select(select)

            def scored(chosen: Sequence[Metric]) -> Scoring:
                return score_systems(
                    references,
                    given.outputs,
                    chosen,
                    no_positive=no_positive,
                    groups=groups,
                    threads=threads,
                    progress=progress,
                )

            chosen = options.make(metrics, given.references)
            source, replaced = testable(scored, chosen)
            for text in replaced:
                remark(text)
            left = len(source.dropped)
            note_left_out(left, left + len(source.item_ids))
            note_unrated(references, chosen)
            note_groups(given.references.items or (), group)
        found = gate_systems(
            source,
            baseline=baseline,
            systems=systems,
            runs=runs,
            plan=plan,
            threads=threads,
            progress=progress,
        )
    if past is not None:
        past.check(found)
    if junit is not None:
        with atomic_write(junit) as file:
            file.write(junit_xml(found))
    said = verdict(found)
    record = {**as_record(found), "verdict": list(said)}
    write = partial(
        emit,
        found.table(digits=digits),
        record,
        format,
        output,
        verdict=said,
        signatures=signatures,
    )
    printed = output is None or is_standard_stream(output)
    if not printed:
        write()
    # What grows comes last of the files: a run that fails was no run.
    if summary is not None:
        _append(summary, gate_summary(found))
    if history is not None:
        add_to_history(history, found, _this_commit(commit))
    if printed:
        write()
    return 0 if found.passed else 1


@gate.command(name="history")
def show_history(
    file: Path,
    *,
    format: Format = "table",
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
) -> None:
    """Show the scores of past runs.

    deltableu gate history FILE.jsonl [-o scores.svg]. A history in the folder's name itself is
    meant by ./history.

    Parameters
    ----------
    file
        What --history wrote.
    format
        How results are printed.
    digits
        Digits after the decimal point, for people to read; JSON, TSV and CSV are never rounded.
    output
        Write to this file: a plot where its name ends in .svg or .png, a page with plot and table
        where it ends in .html, else the table.
    """
    if not file.exists():
        raise InputError(f"{file}: there is no such history")
    ending = "" if output is None else output.suffix.lower()
    own = {".svg": Own.PLOT, ".png": Own.PLOT, ".html": Own.PAGE}.get(ending, Own.RESULTS)
    check_results(output, [file], own)
    past = read_history(file)
    if not past.gates:
        raise InputError(f"{file}: the history is empty")
    if output is None or own is Own.RESULTS:
        emit(past.table(digits=digits), past, format, output)
        return
    check_plotting()
    if ending == ".html":
        write_page(history_page(past), output)
        return
    with atomic_path(output) as place:
        place.write_bytes(history_plot(past, "svg" if ending == ".svg" else "png"))


def _this_commit(given: str | None) -> str:
    if given is not None:
        return given
    if os.environ.get(_COMMIT):
        return os.environ[_COMMIT]
    try:
        asked = ["git", "rev-parse", "HEAD"]
        found = subprocess.run(asked, capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.SubprocessError):
        return ""
    return found.stdout.strip() if found.returncode == 0 else ""


def _append(path: Path, text: str) -> None:
    if is_standard_stream(path):
        sys.stdout.write(text)
        return
    try:
        with path.open("a", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:
        raise unwritable(path, error) from None
