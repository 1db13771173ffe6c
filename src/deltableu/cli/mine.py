"""`deltableu mine`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from deltableu.cli.log_inputs import local_logs
from deltableu.cli.long_run import check_new_study_run, says_where_it_goes_on, work_folder
from deltableu.cli.mine_log import MiningLog
from deltableu.cli.mine_options import EngineOptions, SimilarityOptions
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Count, Flag, Output, Several, Whole
from deltableu.cli.output import Format, emit, note
from deltableu.cli.progress import ProgressBar
from deltableu.corpus import read_study, write_study
from deltableu.errors import InputError
from deltableu.io import parse_size
from deltableu.mine import MiningPlan, RowFilter, mine_references

_DEFAULTS = SimilarityOptions()
_ENGINE = EngineOptions()


@grouped
def mine(
    study: Path,
    *,
    logs: Annotated[list[str], Several],
    output: Annotated[Path, Output],
    options: SimilarityOptions = _DEFAULTS,
    top: Count = 15,
    parrot: Annotated[bool, Flag] = False,
    random: Count = 0,
    seed: Count = 0,
    tokenize: str = "words",
    min_words: Whole = 1,
    max_words: Whole | None = None,
    keep_junk: Annotated[bool, Flag] = False,
    diversity: float | None = None,
    engine: EngineOptions = _ENGINE,
    partition_size: str | None = None,
    on_error: Literal["stop", "skip"] = "stop",
    work: Path | None = None,
    replace: Annotated[bool, Flag] = False,
    log: Path | None = None,
    format: Format = "table",
) -> None:
    """Find more references for each item in dialogue logs.

    deltableu mine STUDY --logs logs/ -o NEWSTUDY. Logged responses whose utterance is like an
    item's message, and which are like its original response, become references of origin mined,
    to be rated next. Exact: every logged pair is scored against every item.

    Parameters
    ----------
    study
        A folder with items; its outputs, ratings and systems come along.
    logs
        Files, folders, patterns or URLs of JSON Lines, TSV or Parquet with the columns utterance
        and response, and perhaps id and thread; the first two also as .gz or .zst.
    output
        The folder of the new study.
    top
        Mined references per item.
    parrot
        Add the message itself as a reference.
    random
        Add so many random responses of the logs to each item.
    seed
        Seed of the random responses.
    tokenize
        What a word is: words (runs of letters and digits; ideographs and kana one by one), or a
        tokenizer of sacreBLEU, such as ja-mecab, ko-mecab or zh. Word vectors need the same one.
    min_words
        Least number of words per response.
    max_words
        Most words per response; any number by default.
    keep_junk
        Keep placeholders such as [deleted], responses with links and echoes of their utterance.
    diversity
        From 0 to 1: how much the references of an item should differ (maximal marginal relevance).
    partition_size
        Cut large files into parts of about this size, such as 64MB; by default a 64th of all logs,
        but at least 2MB and at most 256MB.
    on_error
        Whether rows and files that cannot be read end the run, or are counted and left out.
    work
        Where to keep what is done, so that the same command goes on after being killed. By default
        OUTPUT.mining, which is removed at the end.
    replace
        Put the new study in the place of an old one.
    log
        Append a line of JSON to this file for every part of the logs that is done.
    format
        How the summary is printed.
    """
    plan = MiningPlan(
        similarity=options.make(tokenize),
        top=top,
        parrot=parrot,
        random=random,
        rows=RowFilter(min_words, max_words, junk=not keep_junk),
        diversity=diversity,
        seed=seed,
        tokenize=tokenize,
    )
    if not (top or parrot or random):
        raise InputError("--top 0 without --parrot and --random adds nothing")
    part = None if partition_size is None else parse_size(partition_size, "--partition-size")
    inputs = [*local_logs(logs, "--logs"), *filter(None, [options.vectors])]
    add = check_new_study_run(study, output, log, inputs, replace=replace)
    work = work_folder(work, output, "mining", [study])
    bar = ProgressBar(lines=True)
    journal = MiningLog(work, add, bar)
    with says_where_it_goes_on(work), bar:
        mined = mine_references(
            read_study(study),
            logs,
            plan=plan,
            engine=engine.make(),
            threads=engine.threads,
            work=work,
            keep_work=True,
            on_error=on_error,
            partition_bytes=part,
            progress=journal.show,
            log=journal,
        )
        write_study(mined.study, output, replace=replace)
        mined.work.end()
    journal.say_what_was_kept()
    for problem in mined.unreadable_parts:
        note(f"left out: {problem}")
    if warning := mined.leak_warning():
        note(warning)
    emit(mined.table(), mined, format)
