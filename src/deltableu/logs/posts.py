"""Log files in, posts or turns out: what the columns are called, and what they must hold."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, TypeVar

from deltableu.errors import InputError, Problem
from deltableu.io import (
    Checker,
    FoundFile,
    PathLike,
    Report,
    WrongColumns,
    as_number,
    fail,
    find_files,
    shown,
)
from deltableu.logs.read_rows import Advance, columns_of, read_rows
from deltableu.logs.times import parse_time

_T = TypeVar("_T")
Layout = Literal["posts", "turns", "conversations"]
Columns = Mapping[str, str]
"""What the logs call a column."""

_POSTS = ("id", "user", "time", "reply_to", "text", "repost_of", "repost")
_TURNS = ("dialog", "turn", "speaker", "time", "text")
#: All that may be called by other names.
COLUMNS = tuple(dict.fromkeys((*_POSTS, *_TURNS, "turns")))
_YES, _NO = ("true", "1", "yes", "t", "y"), ("false", "0", "no", "f", "n", "")


@dataclass(frozen=True, slots=True)
class Post:
    """Something that somebody wrote.

    Attributes
    ----------
    user : str
        Who; empty where nobody knows.
    time : int or None
        Milliseconds since 1970.
    reply_to : str
        The id of the post that it answers; empty where it answers none.
    repost : bool
        Whether it only repeats another post.
    """

    id: str
    text: str
    user: str = ""
    time: int | None = None
    reply_to: str = ""
    repost: bool = False


@dataclass(frozen=True, slots=True)
class Turn:
    """A line of a dialogue; turns of a dialogue are counted, and follow on each other."""

    dialog: str
    turn: int
    text: str
    speaker: str = ""
    time: int | None = None


def named(columns: Columns | None) -> Columns:
    """Check what columns are called."""
    columns = dict(columns or {})
    for name, theirs in columns.items():
        if name not in COLUMNS:
            message = f"there is no column {name!r}: the names are {', '.join(COLUMNS)}"
            raise InputError(Problem(message, field="columns"))
        if not theirs:
            raise InputError(Problem(f"{name} has no name in the logs", field="columns"))
    return columns


def find_logs(logs: PathLike | Sequence[PathLike], report: Report = fail) -> list[FoundFile]:
    """The files that paths, folders, patterns and URLs stand for."""
    many = list(logs) if isinstance(logs, list | tuple) else [logs]
    if not many:
        raise InputError("there are no logs: name at least one file or folder")
    return find_files(many, report)  # type: ignore[arg-type]


def layout_of(file: FoundFile, columns: Columns) -> Layout | None:
    """How a file is laid out, by its columns; None where it has no row to tell by."""
    there = columns_of(file)
    if there is None:
        return None

    def has(name: str) -> bool:
        theirs = columns.get(name, name)
        return theirs in there or theirs.partition(".")[0] in there

    if has("turns"):
        return "conversations"
    if has("dialog") and has("turn"):
        _require(file, [name for name in ("dialog", "turn", "text") if not has(name)], columns)
        return "turns"
    # Objects need not have what is null.
    wanted = ("id", "text") if file.form == "jsonl" else ("id", "reply_to", "text")
    _require(file, [name for name in wanted if not has(name)], columns)
    return "posts"


def _require(file: FoundFile, missing: Sequence[str], columns: Columns) -> None:
    if missing:
        theirs = columns.get(missing[0], missing[0])
        message = (
            f"has no column {theirs!r}: posts have id, user, time, reply_to and text, turns have "
            "dialog, turn, speaker and text; other names are given as columns"
        )
        raise WrongColumns(Problem(message, file=file.name, field=theirs))


def read_posts(
    logs: PathLike | Sequence[PathLike],
    *,
    columns: Columns | None = None,
    report: Report = fail,
) -> Iterator[Post]:
    r"""Yield the posts of log files, one after the other.

    Parameters
    ----------
    logs
        Files, folders, patterns or URLs of JSON Lines, TSV (a line that names the columns, then
        cells with tab, line end and backslash spelt ``\t``, ``\n``, ``\r``, ``\\``) or Parquet, the
        first two also packed as ``.gz`` or ``.zst``. A row has `id`, `text` and perhaps `user`,
        `time` (see `parse_time`), `reply_to`, and `repost_of` (an id) or `repost` (yes or no).
    columns
        What the logs call these, where it is something else, such as ``{"user": "author.name"}``;
        with dots, a value inside a value.
    report
        Called for each row that cannot be used; when it returns, the row is left out.
    """
    names = named(columns)
    for file in find_logs(logs):
        layout = layout_of(file, names)
        if layout not in ("posts", None):
            raise WrongColumns(Problem(f"holds {layout}, not posts", file=file.name))
        for _, post in read_file(file, names, report):
            yield post


def read_file(
    file: FoundFile, columns: Columns, report: Report, advance: Advance | None = None
) -> Iterator[tuple[int, Post]]:
    """Yield line numbers and the posts of a file."""
    return _read(file, _POSTS, _post, columns, report, advance)


def read_turns(
    file: FoundFile,
    layout: Layout,
    columns: Columns,
    report: Report,
    advance: Advance | None = None,
) -> Iterator[tuple[int, Turn]]:
    """Yield line numbers and the turns of a file of turns or of whole conversations."""
    if layout == "turns":
        yield from _read(file, _TURNS, _turn, columns, report, advance)
        return
    for line, turns in _read(file, ("id", "turns"), _conversation, columns, report, advance):
        for turn in turns:
            yield line, turn


def _read(
    file: FoundFile,
    names: Sequence[str],
    make: Callable[[Sequence[Any], Columns, Checker], _T],
    columns: Columns,
    report: Report,
    advance: Advance | None,
) -> Iterator[tuple[int, _T]]:
    theirs = [columns.get(name, name) for name in names]
    checker = Checker(file.name, fail)
    for line, row in read_rows(file, theirs, report, advance):
        checker.line = line
        try:
            made = make(row, columns, checker)
        except InputError as error:  # what is wrong first: a row is left out once
            field = error.problem.field or ""
            report(replace(error.problem, field=columns.get(field, field)))
        else:
            yield line, made


def _post(row: Sequence[Any], columns: Columns, checker: Checker) -> Post:
    id, user, time, reply_to, text, repost_of, repost = row
    return Post(
        _identifier(id, "id", checker),
        _text(text, "text", checker),
        checker.name(user, "user"),
        _time(time, "time", checker),
        checker.name(reply_to, "reply_to"),
        checker.name(repost_of, "repost_of") != "" or _yes(repost, "repost", checker),
    )


def _turn(row: Sequence[Any], columns: Columns, checker: Checker) -> Turn:
    dialog, turn, speaker, time, text = row
    number = checker.integer(as_number(turn) if isinstance(turn, str) else turn, "turn")
    if number is None:
        checker.complain("turn", "must be a whole number, got None")
    return Turn(
        _identifier(dialog, "dialog", checker),
        number or 0,
        _text(text, "text", checker),
        checker.name(speaker, "speaker"),
        _time(time, "time", checker),
    )


def _conversation(row: Sequence[Any], columns: Columns, checker: Checker) -> list[Turn]:
    id, turns = row
    dialog = _identifier(id, "id", checker)
    if not isinstance(turns, list):
        checker.complain("turns", f"must be a list of turns, got {shown(turns)}")
    made = []
    for number, turn in enumerate(turns):
        field = f"turns[{number}]"
        if isinstance(turn, str):
            made.append(Turn(dialog, number, checker.text(turn, field)))
        elif isinstance(turn, dict):
            speaker = turn.get(columns.get("speaker", "speaker"), turn.get("user"))
            text = _text(turn.get(columns.get("text", "text")), f"{field}.text", checker)
            name = checker.name(speaker, f"{field}.speaker")
            time = _time(turn.get(columns.get("time", "time")), "time", checker)
            made.append(Turn(dialog, number, text, name, time))
        else:
            message = f"must be a text or an object with a text, got {shown(turn)}"
            checker.complain(field, message)
    return made


def _identifier(value: object, field: str, checker: Checker) -> str:
    name = checker.name(value, field)
    if name == "":
        checker.complain(field, "is missing")
    return name


def _text(value: object, field: str, checker: Checker) -> str:
    if isinstance(value, str) and value.isascii():
        return value
    return "" if value is None else checker.text(value, field)


def _time(value: object, field: str, checker: Checker) -> int | None:
    try:
        return parse_time(value)
    except ValueError as error:
        checker.complain(field, str(error))
        return None


def _yes(value: object, field: str, checker: Checker) -> bool:
    if value is None or value is False or value is True:
        return value is True
    text = str(value).strip(" ").lower()
    if text not in _YES and text not in _NO:
        checker.complain(field, f"must be true or false, got {shown(value)}")
    return text in _YES
