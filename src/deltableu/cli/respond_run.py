"""`deltableu respond run`."""

from __future__ import annotations

import shlex
from collections.abc import Collection, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, Any, Literal

from deltableu.cli.log_inputs import local_logs
from deltableu.cli.long_run import says_where_it_goes_on, work_folder
from deltableu.cli.mine_log import MiningLog
from deltableu.cli.mine_options import EngineOptions
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import (
    STANDARD_INPUT,
    Flag,
    Output,
    Positive,
    Several,
    Whole,
    no_use,
)
from deltableu.cli.output import Format
from deltableu.cli.progress import ProgressBar
from deltableu.cli.respond_options import LogRowOptions, ModelOptions
from deltableu.cli.response_files import (
    check_response_files,
    give_responses,
    note_tuned_on,
    read_asked_items,
    study_inputs,
)
from deltableu.corpus import (
    Item,
    read_nbest,
    read_tuned_weights,
)
from deltableu.errors import InputError
from deltableu.respond import (
    NeuralResponder,
    Query,
    Responses,
    logged_responses,
    program_responses,
    random_responses,
    reranked,
    retrieved_responses,
)

Kind = Literal["random", "c-tfidf", "c-bm25", "human", "model", "program", "rerank"]

#: Seconds that a program has, unless it is said.
_TIMEOUT = 3600.0
_ROWS = LogRowOptions()
_ENGINE = EngineOptions()
_MODEL = ModelOptions()
#: Which of the options that not all kinds heed each kind does; those that read logs heed more.
_HEEDED: dict[Kind, tuple[str, ...]] = {
    "random": ("seed",),
    "human": ("seed",),
    "c-tfidf": ("keep", "query", "nbest_output", "work"),
    "c-bm25": ("keep", "query", "nbest_output", "work"),
    "model": ("seed", "nbest_output", "threads", *ModelOptions.names()),
    "program": ("command", "timeout", "missing", "nbest_output"),
    "rerank": ("nbest", "weights", "tokenize", "nbest_output"),
}
_OF_LOGS = {"logs", "tokenize", "min_words", "max_words", "keep_junk", "on_error"} | {
    *("partition_size", "engine", "threads", "tls_ca", "tls_cert", "tls_key"),
}
_WITH_LOGS = ("random", "c-tfidf", "c-bm25", "human")


@grouped
def run(
    study: str,
    *,
    kind: Kind,
    output: Annotated[Path, Output],
    logs: Annotated[list[str] | None, Several] = None,
    command: str | None = None,
    nbest: Path | None = None,
    keep: Positive | None = None,
    weights: Path | None = None,
    query: Query | None = None,
    missing: Literal["error", "drop"] | None = None,
    nbest_output: Path | None = None,
    timeout: float | None = None,
    seed: Whole = 0,
    model: ModelOptions = _MODEL,
    rows: LogRowOptions = _ROWS,
    engine: EngineOptions = _ENGINE,
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Respond to each item of a study with a baseline, as one more system.

    What its help begins with stands where the command is named.

    Parameters
    ----------
    study
        A folder with items, a file of them, or - for JSON Lines on standard input.
    kind
        random: any response of the logs. c-bm25, c-tfidf: the response to the utterance most like
        the message, by BM25 or by the cosine of TF-IDF vectors. human: another response to the same
        utterance, never what a reference says. model: what deltableu respond train made. program:
        what --command says. rerank: the best of --nbest by weighted features.
    output
        A file of outputs that ends in .jsonl, .tsv, .parquet or .txt, or - for JSON Lines on
        standard output.
    logs
        Files, folders, patterns or URLs of JSON Lines, TSV or Parquet with the columns utterance
        and response, and perhaps id and thread; the first two also as .gz or .zst.
    command
        A program with its arguments. It reads a line of JSON per item, with id, context and
        message, and writes one with id and text; or several per item, with features or a total.
    nbest
        N-best lists to rerank: .jsonl with id, text, features and total, or Moses' form.
    keep
        Number of candidates per item in --nbest-output, for c-bm25 and c-tfidf; 1 by default.
    weights
        JSON with a weight of every feature; by default set by hand, as the guide says.
    query
        What logged utterances are compared with: the message, which is the default, or the turns
        before it as well.
    missing
        Whether items without a response of the program end the run (error, the default) or are left
        out (drop).
    nbest_output
        Also write all candidates and their features to this file: .jsonl, or else Moses' form.
    timeout
        Seconds after which a program is ended; 3600 by default.
    seed
        Seed of random and human, which the order of logs does not change, of --decode sample, and
        of VHRED's latent variable.
    replace
        Put the new files in the place of old ones.
    format
        How the summary is printed.
    """
    given = {
        "logs": logs,
        "command": command,
        "nbest": nbest,
        "keep": keep,
        "weights": weights,
        "query": query,
        "missing": missing,
        "nbest_output": nbest_output,
        "timeout": timeout,
        **model.given(),
        **rows.changed(),
        "seed": seed or None,
        "tokenize": None if rows.tokenize == _ROWS.tokenize else rows.tokenize,
        "engine": None if engine.engine == _ENGINE.engine else engine.engine,
        **{name: getattr(engine, name) for name in ("threads", "tls_ca", "tls_cert", "tls_key")},
    }
    _check_heeded(kind, [name for name, value in given.items() if value is not None])
    folder = None if study == STANDARD_INPUT else Path(study)
    read = [*study_inputs(folder), *filter(None, (nbest, weights, model.model))]
    read += map(Path, () if logs is None else local_logs(logs, "--logs"))
    check_response_files(output, nbest_output, folder, read, replace)
    items = read_asked_items(study)
    if kind == "program":
        responses = program_responses(
            items,
            _words(command or ""),
            timeout=_TIMEOUT if timeout is None else timeout,
            missing=missing or "error",
        )
    elif kind == "model":
        responses = _answered(items, model, seed, engine.threads)
    elif kind == "rerank":
        ids = [item.id for item in items]
        lists = read_nbest(nbest or Path(), item_ids=ids, complete=False)
        chosen = None
        if weights is not None:
            chosen, tuned_on = read_tuned_weights(weights)
            note_tuned_on(weights, tuned_on, lists, items)
        responses = reranked(lists, items, chosen, tokenize=rows.tokenize)
    else:
        place = work_folder(rows.work, output if folder is None else folder, "responding")
        with ProgressBar(lines=True) as bar, says_where_it_goes_on(place):
            journal = MiningLog(place, lambda event: None, bar)
            settings: dict[str, Any] = {
                "rows": rows.filter(),
                "tokenize": rows.tokenize,
                "engine": engine.make(),
                "threads": engine.threads,
                "on_error": rows.on_error,
                "partition_bytes": rows.partition_bytes(),
                "progress": journal.show,
            }
            if kind == "random":
                responses = random_responses(items, logs or (), seed=seed, **settings)
            elif kind == "human":
                responses = logged_responses(items, logs or (), seed=seed, **settings)
            else:
                responses = retrieved_responses(
                    items,
                    logs or (),
                    method=kind,
                    keep=keep or 1,
                    query=query or "message",
                    log=journal,
                    work=place,
                    keep_work=True,
                    **settings,
                )
                journal.say_what_was_kept()
    give_responses(responses, output, nbest_output, format)


def _check_heeded(kind: Kind, given: Collection[str]) -> None:
    """Complain about options that a kind does not heed, and about what it lacks."""
    heeded = {*_HEEDED[kind], *(_OF_LOGS if kind in _WITH_LOGS else ())}
    no_use({name: True for name in given if name not in heeded}, f"--kind {kind}")
    needed = {"model": "model", "program": "command", "rerank": "nbest"}.get(kind, "logs")
    if needed not in given:
        raise InputError(f"--kind {kind} needs --{needed}")


def _answered(
    items: Sequence[Item], options: ModelOptions, seed: int, threads: int | None
) -> Responses:
    """What a model says."""
    assert options.model is not None
    decoding = options.decoding(seed)
    responder = NeuralResponder.load(options.model)
    with ProgressBar(lines=True) as bar:
        progress = partial(bar, "responses")
        return responder.respond(items, decoding, threads=threads, progress=progress)


def _words(command: str) -> list[str]:
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise InputError(f"--command cannot be read: {error}") from None
    if not words:
        raise InputError("--command names no program")
    return words
