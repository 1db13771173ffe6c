"""`deltableu judge apply --kind llm`."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from deltableu.cli.option_groups import LLM, foldable
from deltableu.cli.options import Flag, Positive, Several, Whole
from deltableu.cli.output import Format, emit, note
from deltableu.cli.progress import ProgressBar
from deltableu.corpus import Study, check_new_study, read_study, write_ratings, write_study
from deltableu.errors import InputError
from deltableu.io import Own, as_record, check_apart, check_new_file, is_standard_stream
from deltableu.judges import Which
from deltableu.judges.llm import (
    AskEvent,
    JudgedStudy,
    JudgeTask,
    LLMRater,
    Prices,
    Rubric,
    Sending,
    What,
    judge_outputs,
    judge_pairs,
    judge_references,
    output_tasks,
    pair_tasks,
    read_rubric,
    reference_tasks,
)


@Parameter(name="*", group=LLM)
@foldable
@dataclass(frozen=True, kw_only=True)
class LLMOptions:
    """What an LLM as judge is asked, and how.

    Parameters
    ----------
    endpoint
        Address of a server with OpenAI's chat completions: https://api.openai.com/v1, or
        http://localhost:8080/v1 of llama.cpp or vLLM.
    model
        The model, as the server calls it.
    key_env
        Environment variable that holds the key. By default OPENAI_API_KEY; servers on this machine
        or network are sent no key unless one is named.
    what
        What is judged: references (weights), outputs (ratings), or pairs of outputs, each in both
        orders (preferences).
    systems
        Only outputs of these systems.
    against
        Only pairs that this system is in.
    show_references
        Let the model see good references beside what it judges.
    rubric
        Your own rubric: TOML, or a text file with instructions.
    repeat
        How often each text is judged, for the spread: raters llm:MODEL#1, #2 and so on.
    temperature
        From 0 to 2, or default to leave it to the server. By default 0, and 0.7 with --repeat.
    max_tokens
        Largest number of tokens of an answer; models that think first need thousands.
    concurrency
        Number of requests under way at the same time.
    timeout
        Seconds until a request is sent again.
    retries
        How often a request is sent again that failed in passing.
    cache
        Folder for answers, so that none is paid for twice. By default STUDY.answers.
    ratings
        Write the ratings to this file: .csv, .tsv, .jsonl or .parquet.
    price_in
        Price of a million tokens of prompts, in any currency.
    price_out
        Price of a million tokens of answers.
    max_cost
        Ask nothing if it would cost more, and stop before it does.
    dry_run
        Only say how many requests it would take, and what they would cost; nothing is sent.
    """

    endpoint: str | None = None
    model: str | None = None
    key_env: str | None = None
    what: What = "references"
    systems: Annotated[list[str] | None, Several] = None
    against: str | None = None
    show_references: Annotated[bool, Flag] = False
    rubric: Path | None = None
    repeat: Positive = 1
    temperature: str | None = None
    max_tokens: Positive = 1024
    concurrency: Positive = 8
    timeout: float = 120.0
    retries: Whole = 6
    cache: Path | None = None
    ratings: Path | None = None
    price_in: float | None = None
    price_out: float | None = None
    max_cost: float | None = None
    dry_run: Annotated[bool, Flag] = False

    def given(self) -> list[str]:
        """Names of the options that differ from what they are by default."""
        return [one.name for one in fields(self) if getattr(self, one.name) != one.default]

    def rater(
        self,
        study: Path,
        original: float | Literal["rated"] | None,
        progress: Callable[[AskEvent], None],
    ) -> LLMRater:
        """The judge that they ask for."""
        for name in ("endpoint", "model"):
            if not getattr(self, name):
                raise InputError(f"--kind llm needs --{name}")
        rubric: Rubric | None = None if self.rubric is None else read_rubric(self.rubric, self.what)
        return LLMRater(
            endpoint=self.endpoint or "",
            model=self.model or "",
            rubric=rubric,
            show_references=self.show_references,
            original=1.0 if original is None else original,
            repeat=self.repeat,
            temperature=_temperature(self.temperature),
            max_tokens=self.max_tokens,
            key_env=self.key_env,
            cache=self.cache_folder(study),
            sending=Sending(self.concurrency, self.timeout, self.retries),
            prices=self._prices(),
            max_cost=self.max_cost,
            progress=progress,
        )

    def cache_folder(self, study: Path) -> Path:
        """Where answers are kept: where it was asked for, or beside the study."""
        return self.cache or Path(f"{os.path.realpath(study)}.answers")

    def _prices(self) -> Prices | None:
        if self.price_in is None and self.price_out is None:
            if self.max_cost is not None:
                raise InputError("--max-cost needs --price-in and --price-out")
            return None
        if self.price_in is None or self.price_out is None:
            missing = "--price-in" if self.price_in is None else "--price-out"
            raise InputError(f"{missing} is missing: a cost is made of both prices")
        return Prices(self.price_in, self.price_out)


def apply_llm(
    study: Path,
    options: LLMOptions,
    *,
    output: Path | None,
    original: float | Literal["rated"] | None,
    which: Which,
    replace: bool,
    format: Format,
    signatures: bool,
) -> None:
    """Judge a study with an LLM, and write what came of it."""
    _check(study, options, output, original, which, replace=replace)
    with ProgressBar() as bar:

        def show(event: AskEvent) -> None:
            if event.kept and event.done == event.kept:
                note(f"goes on: {event.kept:,} of {event.total:,} questions were answered before")
            bar("judging", event.done, event.total)
            if not bar.visible:
                spent = "" if event.cost is None else f", {event.cost:.4f} spent"
                bar.line(f"judged {event.done:,} of {event.total:,}{spent}")

        rater = options.rater(study, original, show)
        data = read_study(study, ratings=output is not None)
        tasks = _tasks(data, rater, options, which)
        if options.dry_run:
            estimate = rater.estimate(tasks)
            said = estimate.sentences()
            record = {**as_record(estimate), "verdict": list(said)}
            emit(estimate.table(), record, format, verdict=said)
            return
        try:
            found = _judge(data, rater, options, which)
        except KeyboardInterrupt:
            kept = options.cache_folder(study)
            if kept.is_dir():
                note(f"{kept} keeps the answers: the same command goes on from there")
            raise
        _complain_of_nothing(found)
        if options.ratings is not None:
            write_ratings(options.ratings, found.ratings)
        if output is not None and found.rated is not None:
            write_study(found.rated.study, output, replace=replace)
    emit(
        found.tables(),
        found.record(),
        format,
        verdict=found.sentences(),
        signatures=signatures,
    )


def _check(
    study: Path,
    options: LLMOptions,
    output: Path | None,
    original: float | Literal["rated"] | None,
    which: Which,
    *,
    replace: bool,
) -> None:
    if options.what != "references":
        if output is not None:
            raise InputError(
                f"--output takes a study with weights; {options.what} get ratings: --ratings FILE"
            )
        if original is not None or which != "unrated":
            name = "--which" if original is None else "--original"
            raise InputError(f"{name} is of no use with --what {options.what}")
    elif options.systems is not None or options.against is not None:
        name = "--against" if options.systems is None else "--systems"
        raise InputError(f"{name} is of no use with --what references")
    if options.against is not None and options.what != "pairs":
        raise InputError(f"--against is of no use with --what {options.what}")
    if options.systems is not None and not options.systems:
        raise InputError("--systems names no system")
    if output is None and options.ratings is None and not options.dry_run:
        wanted = "--ratings FILE"
        if options.what == "references":
            wanted = "-o NEWSTUDY for weights, --ratings FILE for ratings, or both"
        raise InputError(f"say where the results go: {wanted}")
    rubric = [] if options.rubric is None else [options.rubric]
    if output is not None:
        check_new_study(output, rubric, replace=replace, source=study)
    if options.ratings is not None:
        check_new_file(options.ratings, [study, *rubric], own=Own.RATINGS)
        ends = (".csv", ".tsv", ".jsonl", ".parquet")
        if is_standard_stream(options.ratings):
            raise InputError("--ratings takes a file, because the summary goes to standard output")
        if options.ratings.suffix not in ends:
            raise InputError(f"{options.ratings}: ratings are written to {', '.join(ends)}")
        if output is not None:
            check_apart(options.ratings, [output], "written")
    check_apart(
        options.cache_folder(study),
        [place for place in (study, output, options.ratings) if place is not None],
        "read or written",
    )


def _tasks(study: Study, rater: LLMRater, options: LLMOptions, which: Which) -> list[JudgeTask]:
    shown = options.show_references
    if options.what == "references":
        return reference_tasks(study, rater, which)
    rubric = rater.rubric_for(options.what)
    if options.what == "outputs":
        return output_tasks(study, rubric, options.systems, show_references=shown)
    return pair_tasks(study, rubric, options.systems, options.against, show_references=shown)


def _judge(study: Study, rater: LLMRater, options: LLMOptions, which: Which) -> JudgedStudy:
    if options.what == "references":
        return judge_references(study, rater, which=which)
    if options.what == "outputs":
        return judge_outputs(study, rater, systems=options.systems)
    return judge_pairs(study, rater, systems=options.systems, against=options.against)


def _complain_of_nothing(found: JudgedStudy) -> None:
    if found.asked and len(found.failed) == found.asked:
        about, reason = found.failed[0]
        raise InputError(
            f"none of {found.asked:,} questions got a usable answer; that about {about}: {reason}"
        )


def _temperature(given: str | None) -> float | Literal["default"] | None:
    if given is None:
        return None
    if given == "default":
        return "default"
    try:
        return float(given)
    except ValueError:
        message = f"--temperature takes a number from 0 to 2, or default, got {given!r}"
        raise InputError(message) from None
