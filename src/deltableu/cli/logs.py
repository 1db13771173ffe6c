"""`deltableu logs`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from deltableu.cli.option_groups import DATA, RUNNING, grouped
from deltableu.cli.options import (
    Flag,
    Output,
    Positive,
    Several,
    Whole,
    check_logs,
    listed,
    subcommands,
)
from deltableu.cli.output import Format, emit, note
from deltableu.cli.progress import ProgressBar
from deltableu.errors import InputError
from deltableu.io import ColumnNames, named_columns, parse_size
from deltableu.logs import (
    Form,
    PairRules,
    SamplePlan,
    Split,
    parse_split,
    sample_items,
    write_pairs,
)

logs = subcommands("logs", "Turn posts or conversations into pairs to mine, or into test items.")


@Parameter(name="*", group=DATA)
@dataclass(frozen=True, kw_only=True)
class ReadingOptions:
    """How logs are read, and which of their posts make dialogues.

    Parameters
    ----------
    columns
        What the logs call the columns, such as id=tweet_id,user=author.name.
    min_posts
        Least number of posts per dialogue; by default 3, and 2 for turns and conversations.
    users
        Number of users per dialogue: 2, which is the default for posts, or any.
    own_replies
        Whether a reply to the same user ends a dialogue (drop, the default for posts) or not.
    clock_skew
        Number of seconds by which a reply may be earlier than what it answers.
    roles
        Roles whose turns are utterances, such as user,assistant; by default all but system,
        developer, tool and function.
    responder
        The role whose responses make pairs, such as assistant; by default any.
    name_by_file
        Begin the names of dialogues with that of their file.
    on_error
        Whether rows and files that cannot be read end the run, or are counted and left out.
    memory
        Memory to use, such as 500MB or 8GB; what needs more goes to temporary files. A post takes
        81 bytes.
    work
        Folder of temporary files; by default the one of the output.
    """

    columns: str = ""
    min_posts: Whole | None = None
    users: Literal["2", "any"] | None = None
    own_replies: Literal["drop", "keep"] | None = None
    clock_skew: float = 300.0
    roles: str | None = None
    responder: str | None = None
    name_by_file: Annotated[bool, Flag] = False
    on_error: Literal["stop", "skip"] = "stop"
    memory: Annotated[str, Parameter(group=RUNNING)] = "2GB"
    work: Annotated[Path | None, Parameter(group=RUNNING)] = None

    @property
    def memory_bytes(self) -> int:
        """The memory as a number."""
        return parse_size(self.memory, "--memory")

    def named(self) -> ColumnNames | None:
        """The names of the columns."""
        return named_columns(self.columns or None, "id=tweet_id,text=body")

    def rules(self, *, first: bool = False) -> PairRules:
        """What makes a dialogue."""
        return PairRules(
            min_posts=self.min_posts,
            users="two" if self.users == "2" else self.users,
            own_replies=self.own_replies,
            clock_skew=self.clock_skew,
            first=first,
            roles=None if self.roles is None else listed(self.roles),
            responder=self.responder,
        )


_READING = ReadingOptions()


@logs.command
@grouped
def pairs(
    *files: str,
    output: Annotated[Path, Output],
    triples: Path | None = None,
    reading: ReadingOptions = _READING,
    first: Annotated[bool, Flag] = False,
    split: str | None = None,
    seed: Whole | None = None,
    crossing: Literal["drop", "keep"] | None = None,
    drop_overlap: Annotated[bool, Flag] = False,
    form: Form | None = None,
    replace: Annotated[bool, Flag] = False,
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
        dialog, turn, speaker, text; conversations (JSON Lines) have turns or messages, and perhaps
        an id. The columns tell which.
    output
        A file of pairs that ends in .tsv, .jsonl (both perhaps with .gz) or .parquet, or - for
        standard output; with --split, a folder with such a file for each period.
    triples
        Also write context, message and response, in the same way.
    first
        Only pairs of a first post and a reply to it.
    split
        Periods by dates, evaluator=2017,system=2018,test=2019-01..2019-06, to which a thread
        belongs by its first post; or by shares of threads, evaluator:0.8,system:0.15,test:0.05.
    seed
        Seed of the shares.
    crossing
        Whether threads that go on after their period are dropped (the default) or kept.
    drop_overlap
        Write a pair whose words are in several periods to the last of them only.
    form
        Form of files in a folder, and on standard output; tsv by default.
    replace
        Put the new folder in the place of an old one.
    format
        How counts are printed.
    """
    check_logs(files)
    rules = reading.rules(first=first)
    with ProgressBar() as progress:
        written = write_pairs(
            list(files),
            output,
            triples=triples,
            rules=rules,
            split=_split(split, seed=seed, crossing=crossing, drop_overlap=drop_overlap),
            drop_overlap=drop_overlap,
            form=form,
            replace=replace,
            columns=reading.named(),
            name_by_file=reading.name_by_file,
            on_error=reading.on_error,
            memory=reading.memory_bytes,
            work=reading.work,
            progress=progress,
        )
    for problem in written.unreadable_files:
        note(f"not read, or not to its end: {problem}")
    emit([written.table(), written.period_table()], written, format, beside=(output, triples))


@logs.command
@grouped
def sample(
    *files: str,
    output: Annotated[Path, Output],
    as_: Annotated[Literal["upsilon", "triples", "answers"], Parameter(name="--as")],
    items: Positive = 100,
    seed: Whole = 0,
    period: str | None = None,
    split: str | None = None,
    split_seed: Whole | None = None,
    crossing: Literal["drop", "keep"] | None = None,
    exclude: Annotated[list[str] | None, Several] = None,
    min_words: Whole = 1,
    max_words: Whole | None = None,
    min_bigram_count: Whole = 0,
    reading: ReadingOptions = _READING,
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Draw test items from logs, as the papers do, and write them as a study.

    deltableu logs sample posts/ -o study --as upsilon --split train=2017..2018,test=2019 --period
    test. No item has a pair that is in training data, whatever case, punctuation and spaces.

    Parameters
    ----------
    files
        Posts, turns or conversations, as for logs pairs.
    output
        The folder of the new study.
    as_
        upsilon: first utterances of dialogues with two replies or more, of which one is the
        original reference and another the output of the system human (posts only). triples:
        context, message and response, which is the original reference. answers: as upsilon, for
        logs in which an utterance has one reply: utterances that two dialogues or more have, with
        replies that differ.
    items
        How many to draw.
    seed
        Seed of the drawing, which the order of files does not change.
    period
        Where to draw from: one of the periods of --split, the others being training data; or,
        without --split, dates such as 2019-01..2019-06, all else being training data.
    split
        Periods by dates or by shares, as for logs pairs.
    split_seed
        Seed of the shares, as --seed for logs pairs.
    crossing
        Whether threads that go on after their period are dropped (the default) or kept.
    exclude
        Logs of pairs that are training data too, as logs pairs writes them.
    min_words
        Least number of words in message and response.
    max_words
        Most words in message and response; any number by default.
    min_bigram_count
        Only triples with two words in a row that responses of the logs have at least so often.
    replace
        Put the new study in the place of an old one.
    format
        How counts are printed.
    """
    check_logs(files)
    if exclude is not None:
        check_logs(exclude, "--exclude")
    rules = reading.rules()
    plan = SamplePlan(as_, items, seed, min_words, max_words, min_bigram_count)
    with ProgressBar() as progress:
        sampled = sample_items(
            list(files),
            output,
            plan,
            period=period,
            split=_split(split, crossing=crossing, split_seed=split_seed),
            exclude=exclude or (),
            rules=rules,
            replace=replace,
            columns=reading.named(),
            name_by_file=reading.name_by_file,
            on_error=reading.on_error,
            memory=reading.memory_bytes,
            work=reading.work,
            progress=progress,
        )
    for problem in sampled.unreadable_files:
        note(f"not read, or not to its end: {problem}")
    if sampled.items < sampled.wanted:
        note(f"only {sampled.items} of {sampled.wanted} items: no more of the logs fit")
    emit([sampled.table(), sampled.read_table()], sampled, format)


def _split(
    text: str | None,
    *,
    crossing: Literal["drop", "keep"] | None,
    seed: int | None = None,
    split_seed: int | None = None,
    drop_overlap: bool = False,
) -> Split | None:
    if text is not None:
        return parse_split(text, seed=split_seed if seed is None else seed, crossing=crossing)
    unused = {"--seed": seed, "--split-seed": split_seed, "--crossing": crossing}
    for option, value in (unused | {"--drop-overlap": drop_overlap or None}).items():
        if value is not None:
            raise InputError(f"{option} needs --split")
    return None
