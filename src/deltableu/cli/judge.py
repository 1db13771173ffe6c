"""`deltableu judge`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from deltableu.cli.judge_llm import LLMOptions, apply_llm
from deltableu.cli.long_run import check_new_study_run, says_where_it_goes_on, work_folder
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Output, Positive, Signatures, no_use, subcommands, unused
from deltableu.cli.output import Format, emit, note
from deltableu.cli.progress import ProgressBar
from deltableu.corpus import read_study, write_study
from deltableu.errors import InputError
from deltableu.io import as_record, holds_work
from deltableu.judges import (
    Magnitude,
    RatingEvent,
    Triplets,
    Which,
    check_threads,
    holds_calibration,
    holds_relevance,
    is_model_file,
    load_rater,
    need,
    rate_study,
    rater_signature,
    read_calibration,
    read_model,
    read_relevance,
)
from deltableu.report import verdict

judge = subcommands("judge", "Let models rate: train them, ask an LLM, see what sways them.")

judge.command(
    "deltableu.cli.judge_train:train",
    name="train",
    # Its first line stands in the list of commands, for which nothing more is imported.
    help=(
        "Train the NN-rater of upsilon-BLEU, RUBER, or relevance, on dialogue logs.\n\n"
        "deltableu judge train logs/ -o judge.safetensors, or with --kind ruber. For the NN-rater, "
        "two responses to the same utterance are a positive example, two pairs of different "
        "utterances a negative one (Tsuta et al. 2020); then rate with deltableu judge apply. "
        "RUBER's unreferenced scorer learns to tell the reply to a message from replies to others "
        "(Tao et al. 2018); then score with deltableu score --metrics ruber. Some utterances are "
        "held out.\n\n"
        "With --kind relevance it learns in closed form, in one pass, how sentence vectors of "
        "responses go with those of utterances; then score with --metrics relevance or scr.\n\n"
        "After a few steps it says how long the rest takes. On one core of a small cloud machine "
        "the small preset learns from 600 to 2,500 examples a second, by the length of texts, the "
        "paper's sizes from 50 to 65. So 10,000 logged pairs take about a minute with the small "
        "preset and an hour with the paper's, 700,000 about 2 hours and 2 days; --minutes fits "
        "them into less."
    ),
)
judge.command(
    "deltableu.cli.judge_calibrate:calibrate",
    name="calibrate",
    help="Learn from references what each similarity counts in scr, and keep it for other studies.",
)
judge.command(
    "deltableu.cli.judge_agree:agree",
    name="agree",
    help="Say how far two judges agree: people, models, tables of scores.",
)
judge.command(
    "deltableu.cli.judge_bias:bias",
    name="bias",
    help="Say whether order, length or its own outputs sway a judge.",
)

_NO_LLM = LLMOptions()


@judge.command
@grouped
def apply(
    study: Path,
    *,
    judge: str | None = None,
    kind: Literal["model", "llm"] = "model",
    output: Annotated[Path | None, Output] = None,
    triplets: Triplets | None = None,
    magnitude: Magnitude | None = None,
    original: str | None = None,
    which: Which = "unrated",
    batch: Positive = 256,
    threads: Positive | None = None,
    work: Path | None = None,
    replace: Annotated[bool, Flag] = False,
    log: Path | None = None,
    format: Format = "table",
    signatures: Signatures = False,
    llm: LLMOptions = _NO_LLM,
) -> None:
    """Rate references with a model, or references and outputs with an LLM.

    deltableu judge apply STUDY --judge MODEL.safetensors -o NEWSTUDY. Mined references become
    weighted ones without anybody rating them (Tsuta et al. 2020).

    deltableu judge apply STUDY --kind llm --endpoint URL --model NAME -o NEWSTUDY asks an LLM;
    with --what outputs or pairs and --ratings FILE it judges what systems said.

    Parameters
    ----------
    study
        A folder with items; its outputs, ratings and systems come along.
    judge
        A file that deltableu judge train wrote; a study that a judge has rated, which says the same
        of these references again; or NAME or NAME:ARGUMENT of a judge that an installed package
        offers (entry point group deltableu.judges).
    kind
        A trained model or an installed judge (model), or an LLM behind an endpoint (llm).
    output
        The folder of the new study.
    triplets
        How the model's two probabilities of a reference become one: max (the default), mean,
        first or second.
    magnitude
        A weight's size from probability p: 2p-1 (the default), or p as in the paper's text.
    original
        The weight of the original reference, 1 by default; or rated.
    which
        Whether references that have a weight keep it, or all are rated anew.
    batch
        Number of items that are rated at once.
    threads
        Number of threads, by default one per core.
    work
        Where to keep what is done, so that the same command goes on after being killed. By default
        OUTPUT.rating, which is removed at the end.
    replace
        Put the new study in the place of an old one.
    log
        Append a line of JSON to this file for every batch that is done.
    format
        How the summary is printed.
    signatures
        Spell out the judge's signature, which otherwise is a hash of eight digits.
    """
    if kind == "llm":
        unused(
            "--kind llm",
            judge=(judge, None),
            triplets=(triplets, None),
            magnitude=(magnitude, None),
            batch=(batch, 256),
            threads=(threads, None),
            work=(work, None),
            log=(log, None),
        )
        apply_llm(
            study,
            llm,
            output=output,
            original=_original(original),
            which=which,
            replace=replace,
            format=format,
            signatures=signatures,
        )
        return
    no_use(dict.fromkeys(llm.given()), "--judge: it belongs to --kind llm")
    if judge is None:
        raise InputError("--judge is missing: name a model's file, or ask an LLM with --kind llm")
    if output is None:
        raise InputError("--output is missing: name the folder of the new study")
    check_threads(threads)
    model = [judge] if is_model_file(judge) else []
    add = check_new_study_run(study, output, log, model, replace=replace)
    work = work_folder(work, output, "rating", [study])
    given = {"triplets": triplets, "magnitude": magnitude, "original": _original(original)}
    settings = {name: value for name, value in given.items() if value is not None}
    if threads is not None:
        need("torch", "--threads").set_num_threads(threads)
    loaded = load_rater(judge, **settings)
    rater_signature(loaded)
    data = read_study(study)
    others = holds_work(work)
    with says_where_it_goes_on(work), ProgressBar() as bar:

        def show(event: RatingEvent) -> None:
            if event.kept and event.done:
                note(f"goes on: {event.done} of {event.total} items were rated before")
            elif event.kept and others:
                reason = "is of another judge, other items or another --batch"
                note(f"starts anew: what {work} keeps {reason}")
            bar("rating", event.done, event.total)
            if not bar.visible:
                bar.line(f"rated {event.done:,} of {event.total:,} items")
            if event.items:
                add(event)

        rated = rate_study(
            data, loaded, which=which, batch=batch, work=work, keep_work=True, progress=show
        )
        write_study(rated.study, output, replace=replace)
        rated.work.end()
    if not rated.rated:
        note("nothing was rated: every reference has a weight (--which all rates anew)")
    emit(rated.table(), rated, format, signatures=signatures)


@judge.command
def show(model: Path, *, format: Format = "table") -> None:
    """Show what is known of a model: its settings, its training, how good it is.

    deltableu judge show MODEL.safetensors.

    Parameters
    ----------
    model
        A file that deltableu judge train or deltableu judge calibrate wrote.
    format
        How it is printed.
    """
    if holds_relevance(model) or holds_calibration(model):
        known = read_relevance(model) if holds_relevance(model) else read_calibration(model)
        emit(known.tables(), known, format, tidy=known.tidy_table())
        return
    read = read_model(model)
    said = verdict(read)
    record = {**as_record(read), "verdict": list(said)}
    emit(read.tables(), record, format, verdict=said, tidy=read.tidy_table())


def _original(given: str | None) -> Any:
    if given is None or given == "rated":
        return given
    try:
        return float(given)
    except ValueError:
        message = f"--original takes a number in [-1, 1] or rated, got {given!r}"
        raise InputError(message) from None
