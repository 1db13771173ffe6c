"""What log files call their columns, and what that says of how they are laid out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from typing import Literal, TypeAlias

from deltableu.errors import InputError, Problem
from deltableu.io import FoundFile, PathLike, Report, WrongColumns, fail, find_files, shown
from deltableu.logs.read_rows import columns_of

Layout = Literal["posts", "turns", "conversations"]
Columns: TypeAlias = Mapping[str, str]
"""What the logs call a column."""

POST_COLUMNS = ("id", "user", "time", "reply_to", "text", "repost_of", "repost")
TURN_COLUMNS = ("dialog", "turn", "speaker", "time", "text")
#: All that may be called by other names.
COLUMNS = tuple(dict.fromkeys((*POST_COLUMNS, *TURN_COLUMNS, "turns")))
#: What conversations are called in logs of chat models.
MESSAGES = "messages"
#: Other people's names, the usual ones first.
_ELSEWHERE = {
    "id": ("post_id", "tweet_id", "comment_id", "message_id", "status_id", "id_str", "uuid"),
    "reply_to": (
        "in_reply_to", "parent_id", "in_reply_to_id", "in_reply_to_status_id", "parent",
        "replied_to", "in_response_to_tweet_id",
    ),
    "text": ("body", "content", "full_text", "message", "utterance", "selftext"),
    "dialog": ("dialog_id", "dialogue_id", "conversation_id", "thread_id", "conversation"),
    "turn": ("turn_id", "turn_number", "turn_index", "position"),
}  # fmt: skip
_MOST_SHOWN = 12


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
    if turns_column(there, columns) is not None:
        return "conversations"
    if _has(there, "dialog", columns) and _has(there, "turn", columns):
        _require(file, ("dialog", "turn", "text"), there, columns)
        return "turns"
    # Objects need not have what is null.
    wanted = ("id", "text") if file.form == "jsonl" else ("id", "reply_to", "text")
    _require(file, wanted, there, columns)
    return "posts"


def turns_column(there: Sequence[str], columns: Columns) -> str | None:
    """Where a conversation has its turns."""
    if _has(there, "turns", columns):
        return columns.get("turns", "turns")
    return MESSAGES if "turns" not in columns and MESSAGES in there else None


def _has(there: Sequence[str], name: str, columns: Columns) -> bool:
    theirs = columns.get(name, name)
    return theirs in there or theirs.partition(".")[0] in there


def _require(
    file: FoundFile, wanted: Sequence[str], there: Sequence[str], columns: Columns
) -> None:
    missing = next((name for name in wanted if not _has(there, name, columns)), None)
    if missing is None:
        return
    theirs = columns.get(missing, missing)
    message = f"has no column {theirs!r}, only {_listed(there)}"
    if {"utterance", "response"} <= set(there):
        message += ": these are pairs already"
    elif (alike := _alike(missing, theirs, there)) is not None:
        message += f": did you mean --columns {missing}={alike}?"
    else:
        message += (
            f": say what it is called with --columns {missing}=NAME (posts have id, user, time, "
            "reply_to, text; turns have dialog, turn, speaker, text; conversations have turns or "
            "messages)"
        )
    raise WrongColumns(Problem(message, file=file.name, field=theirs))


def _listed(there: Sequence[str]) -> str:
    names = [name if name.isidentifier() else shown(name) for name in there[:_MOST_SHOWN]]
    more = len(there) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def _alike(name: str, theirs: str, there: Sequence[str]) -> str | None:
    """The column that is probably meant."""
    for other in (name, *_ELSEWHERE.get(name, ())):
        for column in there:
            if column.lower().replace("-", "_") == other:
                return column
    close = get_close_matches(theirs, there, 1, 0.7)
    return close[0] if close else None
