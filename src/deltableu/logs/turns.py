"""Log files of turns or of whole conversations in, dialogues out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any, TypeVar

from deltableu.errors import InputError
from deltableu.io import Checker, FoundFile, Report, as_number, fail, shown
from deltableu.logs.columns import MESSAGES, TURN_COLUMNS, Columns, Layout, turns_column
from deltableu.logs.read_rows import Advance, columns_of, read_rows
from deltableu.logs.values import checked_identifier, checked_text, checked_time

_T = TypeVar("_T")
#: How chat models call a part of a content that is text.
_TEXT_PARTS = ("text", "input_text", "output_text")
#: What a message has that asks for a tool.
_CALLS = ("tool_calls", "function_call")


@dataclass(frozen=True, slots=True)
class Turn:
    """A line of a dialogue; turns of a dialogue are counted, and follow on each other.

    Attributes
    ----------
    role : str
        What a chat model calls the speaker; empty in other logs.
    other_parts : int
        Parts of its content that are no text, and were left out.
    calls : bool
        Whether it asks for a tool instead of saying something.
    """

    turn: int
    text: str
    speaker: str = ""
    time: int | None = None
    role: str = ""
    other_parts: int = 0
    calls: bool = False

    @property
    def party(self) -> str:
        """Who it is by."""
        return self.role or self.speaker

    @property
    def is_empty(self) -> bool:
        return not self.text or self.text.isspace()


@dataclass(frozen=True, slots=True)
class Dialogue:
    """Turns that lie together, each with its line."""

    name: str
    turns: Sequence[tuple[int, Turn]]


def read_dialogues(
    file: FoundFile,
    layout: Layout,
    columns: Columns,
    report: Report,
    advance: Advance | None = None,
    called: str = "",
) -> Iterator[Dialogue]:
    """Yield what a file of turns or of conversations holds.

    Parameters
    ----------
    called
        What conversations without an id are named after, together with their line.
    """
    if layout == "turns":
        rows = _read(file, TURN_COLUMNS, _turn, columns, report, advance)
        for name, of in groupby(rows, lambda row: row[1][0]):
            yield Dialogue(name, [(line, turn) for line, (_, turn) in of])
        return
    where = turns_column(columns_of(file) or (), columns) or MESSAGES
    columns = {**columns, "turns": where}
    for line, (name, made) in _read(file, ("id", "turns"), _conversation, columns, report, advance):
        dialog = name or f"{called}:{line}"
        yield Dialogue(dialog, [(line, turn) for turn in made])


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


def _turn(row: Sequence[Any], columns: Columns, checker: Checker) -> tuple[str, Turn]:
    dialog, turn, speaker, time, text = row
    number = checker.integer(as_number(turn) if isinstance(turn, str) else turn, "turn")
    if number is None:
        checker.complain("turn", "must be a whole number, got None")
    content, others = _content(text, "text", checker)
    return checked_identifier(dialog, "dialog", checker), Turn(
        number or 0,
        content,
        checker.name(speaker, "speaker"),
        checked_time(time, "time", checker),
        other_parts=others,
    )


def _conversation(row: Sequence[Any], columns: Columns, checker: Checker) -> tuple[str, list[Turn]]:
    id, turns = row
    where = columns["turns"]
    if not isinstance(turns, list):
        checker.complain(where, f"must be a list of turns, got {shown(turns)}")
    made = []
    for number, turn in enumerate(turns):
        field = f"{where}[{number}]"
        if turn is None or isinstance(turn, str):
            made.append(Turn(number, checked_text(turn, field, checker)))
        elif isinstance(turn, dict):
            made.append(_message(number, turn, field, columns, checker))
        else:
            message = f"must be a text or an object with a text, got {shown(turn)}"
            checker.complain(field, message)
    return checker.name(id, "id"), made


def _message(
    number: int, turn: Mapping[str, Any], field: str, columns: Columns, checker: Checker
) -> Turn:
    theirs = columns.get("text", "text")
    key = theirs if theirs in turn or "text" in columns else "content"
    if key not in turn and not any(turn.get(name) for name in _CALLS):
        there = ", ".join(map(repr, turn)) or "nothing"
        message = f"has no {theirs!r} and no 'content', only {there}: use --columns text=NAME"
        checker.complain(field, message)
    text, others = _content(turn.get(key), f"{field}.{key}", checker)
    role = checker.name(turn.get("role"), f"{field}.role")
    speaker = turn.get(columns.get("speaker", "speaker"), turn.get("user"))
    return Turn(
        number,
        text,
        checker.name(speaker, f"{field}.speaker") or role,
        checked_time(turn.get(columns.get("time", "time")), "time", checker),
        role,
        others,
        any(turn.get(name) for name in _CALLS),
    )


def _content(value: object, field: str, checker: Checker) -> tuple[str, int]:
    """A text, or the texts among the parts that it is given in; how many parts are others."""
    if not isinstance(value, list):
        return checked_text(value, field, checker), 0
    texts = []
    for number, part in enumerate(value):
        place = f"{field}[{number}]"
        if isinstance(part, str):
            texts.append(checker.text(part, place))
        elif not isinstance(part, dict):
            checker.complain(place, f"must be a text or a part of a content, got {shown(part)}")
        elif part.get("type", "text") in _TEXT_PARTS:
            texts.append(checker.text(part.get("text"), f"{place}.text"))
    return "\n".join(texts), len(value) - len(texts)
