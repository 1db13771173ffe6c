"""Dialogues in JSON: turns, of which some have several responses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar

from deltableu.errors import InputError, Problem
from deltableu.io import Report, shown
from deltableu.layouts.foreign import foreign_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.mapping import as_list, as_text
from deltableu.layouts.parts import FoundItem, FoundReference, Place

_TURNS = ("dialogue", "dialog", "turns", "conversation", "utterances")
_TEXT = ("text", "utterance", "content")
_RESPONSES = ("responses", "references", "multi_references", "replies")


class DialogueLayout(Layout):
    """Dialogues with turns; every turn that has responses is the message of an item."""

    name: ClassVar[str] = "dialogue"
    summary: ClassVar[str] = "dialogues in JSON: turns, each perhaps with several responses"
    example: ClassVar[str] = "dialogue multireftest.jsonl"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        if not request.paths:
            raise InputError("name at least one file of dialogues")
        for path in request.paths:
            for line, row in foreign_rows(path, report):
                place = Place(str(path), line)
                name = next((one for one in _TURNS if isinstance(row.get(one), list)), None)
                if name is None:
                    message = f"has no list of turns ({', '.join(_TURNS)})"
                    report(Problem(message, place.file, line))
                    continue
                id = as_text(row.get("id", row.get("dialog_id", line)))
                yield from _items(id, row[name], place)  # type: ignore[arg-type]


def _items(id: str, turns: Sequence[object], place: Place) -> Parts:
    before: list[str] = []
    for number, turn in enumerate(turns, start=1):
        text, responses = _turn(turn, number, place)
        if responses:
            references = tuple(FoundReference(as_text(one)) for one in responses)
            yield FoundItem(f"{id}_{number}", text, tuple(before), references), place
        before.append(text)


def _turn(turn: object, number: int, place: Place) -> tuple[str, list[object]]:
    if isinstance(turn, str):
        return turn, []
    if isinstance(turn, Mapping):
        text = next((turn[one] for one in _TEXT if isinstance(turn.get(one), str)), None)
        if text is not None:
            name = next((one for one in _RESPONSES if one in turn), None)
            return text, [] if name is None else as_list(turn[name])
    message = f"turn {number} must be a text, or an object with one, got {shown(turn)}"
    raise InputError(Problem(message, place.file, place.line))
