"""Log files in, posts or turns out: what the columns are called, and what they must hold."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from deltableu.errors import InputError, Problem
from deltableu.io import (
    FoundFile,
    PathLike,
    Report,
    WrongColumns,
    fail,
    find_files,
    number_text,
    shown,
)
from deltableu.logs.read_rows import Advance, columns_of, read_rows
from deltableu.logs.times import parse_time

__all__ = ["COLUMNS", "Columns", "Layout", "Post", "find_logs", "layout_of", "named", "read_file"]
__all__ += ["Turn", "read_posts", "read_turns"]

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


def find_logs(logs: PathLike | Sequence[PathLike]) -> list[FoundFile]:
    """The files that paths, folders, patterns and URLs stand for."""
    many = list(logs) if isinstance(logs, list | tuple) else [logs]
    if not many:
        raise InputError("there are no logs: name at least one file or folder")
    return find_files(many)  # type: ignore[arg-type]


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
    theirs = [columns.get(name, name) for name in _POSTS]
    for line, row in read_rows(file, theirs, report, advance):
        try:
            yield line, _post(row)
        except _WrongValue as error:
            field = columns.get(error.field, error.field)
            report(Problem(str(error), file=file.name, line=line, field=field))


class _WrongValue(ValueError):  # noqa: N818
    def __init__(self, field: str, message: str) -> None:
        super().__init__(message)
        self.field = field


def _post(row: Sequence[object]) -> Post:
    id, user, time, reply_to, text, repost_of, repost = row
    return Post(
        _identifier(id, "id"),
        _text(text, "text"),
        _name(user, "user"),
        _time(time),
        _name(reply_to, "reply_to"),
        _name(repost_of, "repost_of") != "" or _yes(repost),
    )


def _identifier(value: object, field: str) -> str:
    name = _name(value, field)
    if name == "":
        raise _WrongValue(field, "is missing")
    return name


def _name(value: object, field: str) -> str:
    """A name, which may be a number; an empty text where there is none."""
    if value is None:
        return ""
    if isinstance(value, str):
        return value if value.isascii() else _text(value, field)
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, float):
        # Tables with gaps spell whole numbers so, and a gap may be a NaN.
        if math.isnan(value):
            return ""
        if math.isfinite(value):
            return number_text(value)
    raise _WrongValue(field, f"must be a string or a whole number, got {shown(value)}")


def _text(value: object, field: str) -> str:
    if isinstance(value, str) and value.isascii():
        return value
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _WrongValue(field, f"must be a string, got {shown(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        message = "holds a lone surrogate, which is no text: repair the escape"
        raise _WrongValue(field, message) from None
    return value


def _time(value: object) -> int | None:
    try:
        return parse_time(value)
    except ValueError as error:
        raise _WrongValue("time", str(error)) from None


def _yes(value: object) -> bool:
    if value is None or value is False or value is True:
        return value is True
    text = str(value).strip(" ").lower()
    if text in _YES or text in _NO:
        return text in _YES
    raise _WrongValue("repost", f"must be true or false, got {shown(value)}")


def _whole(value: object, field: str) -> int:
    try:
        if isinstance(value, str):
            return int(value)
        if isinstance(value, int | float) and not isinstance(value, bool) and value == int(value):
            return int(value)
    except (ValueError, OverflowError):
        pass
    raise _WrongValue(field, f"must be a whole number, got {shown(value)}")


def read_turns(
    file: FoundFile,
    layout: Layout,
    columns: Columns,
    report: Report,
    advance: Advance | None = None,
) -> Iterator[tuple[int, Turn]]:
    """Yield line numbers and the turns of a file of turns or of whole conversations."""
    names = _TURNS if layout == "turns" else ("id", "turns")
    theirs = [columns.get(name, name) for name in names]
    for line, row in read_rows(file, theirs, report, advance):
        try:
            turns = [_turn(row)] if layout == "turns" else _conversation(row, columns)
        except _WrongValue as error:
            field = columns.get(error.field, error.field)
            report(Problem(str(error), file=file.name, line=line, field=field))
            continue
        for turn in turns:
            yield line, turn


def _turn(row: Sequence[object]) -> Turn:
    dialog, turn, speaker, time, text = row
    return Turn(
        _identifier(dialog, "dialog"),
        _whole(turn, "turn"),
        _text(text, "text"),
        _name(speaker, "speaker"),
        _time(time),
    )


def _conversation(row: Sequence[object], columns: Columns) -> list[Turn]:
    id, turns = row
    dialog = _identifier(id, "id")
    if not isinstance(turns, list):
        raise _WrongValue("turns", f"must be a list of turns, got {shown(turns)}")
    made = []
    for number, turn in enumerate(turns):
        field = f"turns[{number}]"
        if isinstance(turn, str):
            made.append(Turn(dialog, number, _text(turn, field)))
        elif isinstance(turn, dict):
            speaker = turn.get(columns.get("speaker", "speaker"), turn.get("user"))
            time = turn.get(columns.get("time", "time"))
            text = _text(turn.get(columns.get("text", "text")), f"{field}.text")
            name = _name(speaker, f"{field}.speaker")
            made.append(Turn(dialog, number, text, name, _time(time)))
        else:
            message = f"must be a text or an object with a text, got {shown(turn)}"
            raise _WrongValue(field, message)
    return made
