"""`deltableu logs`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from deltableu.cli.options import Flag, Output, Positive, Whole, check_logs, listed, subcommands
from deltableu.cli.output import Format, emit, note
from deltableu.cli.progress import ProgressBar
from deltableu.errors import InputError
from deltableu.logs import MEMORY, Form, PairRules, Split, parse_split, write_pairs

logs = subcommands("logs", "Turn raw posts or conversations into pairs to mine.")


@logs.command
def pairs(
    *files: str,
    output: Annotated[Path, Output],
    triples: Path | None = None,
    columns: str = "",
    min_posts: Whole | None = None,
    users: Literal["2", "any"] | None = None,
    own_replies: Literal["drop", "keep"] | None = None,
    clock_skew: float = 300.0,
    first: Annotated[bool, Flag] = False,
    split: str | None = None,
    seed: Whole | None = None,
    crossing: Literal["drop", "keep"] | None = None,
    drop_overlap: Annotated[bool, Flag] = False,
    name_by_file: Annotated[bool, Flag] = False,
    form: Form | None = None,
    replace: Annotated[bool, Flag] = False,
    on_error: Literal["stop", "skip"] = "stop",
    memory_bytes: Positive = MEMORY,
    work: Path | None = None,
    format: Format = "table",
) -> None:
    """Turn posts or conversations into pairs of utterance and response.

    deltableu logs pairs posts/ -o pairs.tsv. Replies are followed from each post that is neither a
    reply nor a repost; a dialogue is between two users and has at least three posts, and each of
    its posts and the next one are a pair. What is left out is counted by reason.

    Parameters
    ----------
    files
        Files, folders, patterns or URLs of JSON Lines, TSV or Parquet, the first two also as .gz or
        .zst. Posts have id, user, time, reply_to, text and perhaps repost_of or repost; turns have
        dialog, turn, speaker, text; conversations (JSON Lines) have id and turns. The columns tell
        which.
    output
        A file of pairs that ends in .tsv, .jsonl (both perhaps with .gz) or .parquet, or - for
        standard output; with --split, a folder with such a file for each period.
    triples
        Also write context, message and response, in the same way.
    columns
        What the logs call the columns: id=tweet_id,user=author.name.
    min_posts
        Of a dialogue; 3 by default, and 2 for turns and conversations.
    users
        Of a dialogue: 2, which is the default for posts, or any.
    own_replies
        Whether a reply to the same user ends a dialogue (drop, the default for posts) or not.
    clock_skew
        Seconds that a reply may be earlier than what it answers.
    first
        Only pairs of a first post and a reply to it.
    split
        Periods by dates, evaluator=2017,system=2018,test=2019-01..2019-06, to which a thread
        belongs by its first post; or by shares of threads, evaluator:0.8,system:0.15,test:0.05.
    seed
        Of shares.
    crossing
        Whether threads that go on after their period are dropped (the default) or kept.
    drop_overlap
        Write a pair whose words are in several periods to the last of them only.
    name_by_file
        Begin the names of dialogues with that of their file.
    form
        Of files in a folder, and on standard output; tsv by default.
    replace
        Put the new folder in the place of an old one.
    on_error
        Whether rows and files that cannot be read end the run, or are counted and left out.
    memory_bytes
        Use temporary files for what is more than this; a post takes 81 bytes.
    work
        Where to put temporary files; beside the output by default.
    format
        How counts are printed.
    """
    check_logs(files)
    rules = PairRules(
        min_posts=min_posts,
        users="two" if users == "2" else users,
        own_replies=own_replies,
        clock_skew=clock_skew,
        first=first,
    )
    with ProgressBar() as progress:
        written = write_pairs(
            list(files),
            output,
            triples=triples,
            rules=rules,
            split=_split(split, seed, crossing, drop_overlap=drop_overlap),
            drop_overlap=drop_overlap,
            columns=_columns(columns),
            name_by_file=name_by_file,
            form=form,
            replace=replace,
            on_error=on_error,
            memory_bytes=memory_bytes,
            work=work,
            progress=progress,
        )
    for problem in written.unreadable_files:
        note(f"not read to its end: {problem}")
    emit([written.table(), written.period_table()], written, format, beside=(output, triples))


def _split(
    text: str | None,
    seed: int | None,
    crossing: Literal["drop", "keep"] | None,
    *,
    drop_overlap: bool,
) -> Split | None:
    if text is not None:
        return parse_split(text, seed=seed, crossing=crossing)
    options = {"--seed": seed, "--crossing": crossing, "--drop-overlap": drop_overlap or None}
    for option, value in options.items():
        if value is not None:
            raise InputError(f"{option} needs --split")
    return None


def _columns(text: str) -> dict[str, str]:
    columns = {}
    for part in listed(text):
        name, sign, theirs = part.partition("=")
        if not sign:
            raise InputError(f"--columns takes such as id=tweet_id,text=body, got {part!r}")
        columns[name.strip()] = theirs.strip()
    return columns
