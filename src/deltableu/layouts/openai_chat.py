"""Conversations as OpenAI's interfaces log them: one JSON object per line.

The fields are those of OpenAI's API reference (chat completions, responses, the batch files'
`BatchRequestOutput`) and of github.com/openai/evals (`input`, `ideal`).
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

from deltableu.errors import InputError, Problem
from deltableu.io import Report, encode, shown
from deltableu.layouts.foreign import foreign_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.mapping import ColumnMap, as_list, as_text, cell, is_gap
from deltableu.layouts.parts import FoundItem, FoundOutput, FoundReference, Place
from deltableu.layouts.table import is_wanted, stem_of

_MEANINGS = {
    "messages": "context, message and the prediction, which is the assistant's last turn",
    "model": "system: who wrote the prediction",
    "custom_id": "item: the item's id",
    "ideal": "references: what is right",
    "response": "prediction: the answer to a request of a batch",
}
_PROMPTS = ("system", "developer")
_REFERENCES = ("ideal", "references", "reference")


@dataclass(frozen=True, slots=True)
class _Turn:
    role: str
    text: str


class OpenAILayout(Layout):
    """A line is a conversation, a request of a batch, or the answer to one."""

    name: ClassVar[str] = "openai"
    summary: ClassVar[str] = "chat messages as OpenAI's interfaces log them, also batch files"
    example: ClassVar[str] = "openai requests.jsonl answers.jsonl --without-references keep"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        if not request.paths:
            raise InputError("name files with one conversation per line")
        for path in request.paths:
            reader = _Reader(request, understood, stem_of(path.name))
            seen: dict[str, None] = {}
            for line, record in foreign_rows(path, report):
                seen.update(dict.fromkeys(record))
                place = Place(str(path), line)
                try:
                    if is_wanted(record, request, understood):
                        for part in reader.parts(record):
                            yield part, place
                except InputError as error:
                    report(Problem(error.problem.message, place.file, line, error.problem.field))
            understood.columns[str(path)] = {
                name: what for name, what in _MEANINGS.items() if name in seen
            }


@dataclass(frozen=True, slots=True)
class _Reader:
    request: Request
    understood: Understanding
    file: str

    def parts(self, record: Mapping[str, object]) -> list[FoundItem | FoundOutput]:
        if "response" in record and "messages" not in record:
            return self._answer(record)
        body = record.get("body")
        asked = body if isinstance(body, Mapping) else record
        field = next((one for one in ("messages", "input") if one in asked), "messages")
        turns = self._turns(asked.get(field), field)
        prompts = [turn.text for turn in turns if turn.role in _PROMPTS]
        said = [turn for turn in turns if turn.role not in _PROMPTS]
        last = max((n for n, turn in enumerate(said) if turn.role == "assistant"), default=None)
        after = [] if last is None else said[last + 1 :]
        if any(turn.role == "user" for turn in after):
            if asked is not record or field == "input" or self._references(record):
                last = None  # Nobody has answered yet: earlier answers are a part of the question.
            else:
                self.understood.leave_out("a turn follows the last answer")
        before = said if last is None else said[:last]
        user = max((n for n, turn in enumerate(before) if turn.role == "user"), default=None)
        if user is None:
            raise InputError(Problem("no user says anything before the answer", field=field))
        context = tuple(turn.text for turn in before[:user])
        item = self._item(record) or _digest([*prompts, *context, before[user].text])
        meta = {"system_prompt": "\n".join(prompts)} if prompts else {}
        found = FoundItem(item, before[user].text, context, self._references(record), meta)
        if last is None:
            return [found]
        return [found, FoundOutput(self._system(asked), item, said[last].text)]

    def _answer(self, record: Mapping[str, object]) -> list[FoundItem | FoundOutput]:
        """The answer to a request of a batch; the request is in another file."""
        item = self._item(record)
        if item is None:
            raise InputError(Problem("is missing", field="custom_id"))
        response = record.get("response")
        body = response.get("body") if isinstance(response, Mapping) else None
        status = response.get("status_code", 200) if isinstance(response, Mapping) else None
        if not is_gap(record.get("error")) or status != 200 or not isinstance(body, Mapping):
            self.understood.leave_out("the request failed")
            return []
        choices = body.get("choices")
        if isinstance(choices, list):
            if len(choices) > 1:
                self.understood.leave_out("an answer is not the first of several")
            first = choices[0] if choices else None
            said = first.get("message") if isinstance(first, Mapping) else None
            turns = self._turns([said], "choices")
        else:
            output = body.get("output")
            several = output if isinstance(output, list) else [output]
            spoken = [one for one in several if _field(one, "type") == "message"]
            turns = self._turns(spoken, "output")
        if not turns:
            self.understood.leave_out("the answer holds no text")
            return []
        return [FoundOutput(self._system(body), item, turns[-1].text)]

    def _turns(self, messages: object, field: str) -> list[_Turn]:
        """Turns with text; calls of tools and pictures are counted."""
        if not isinstance(messages, list) or not messages:
            message = f"must be a list of messages, got {shown(messages)}"
            raise InputError(Problem(message, field=field))
        turns = []
        for one in messages:
            role = _field(one, "role")
            if not isinstance(role, str):
                message = f"a message has a role and content, got {shown(one)}"
                raise InputError(Problem(message, field=field))
            text = self._text(_field(one, "content"), field)
            if text is not None:
                turns.append(_Turn(role, text))
        return turns

    def _text(self, content: object, field: str) -> str | None:
        if content is None or isinstance(content, str):
            return content
        if not isinstance(content, list):
            message = f"content is a text or a list of parts, got {shown(content)}"
            raise InputError(Problem(message, field=field))
        texts = []
        for part in content:
            text = part if isinstance(part, str) else _field(part, "text")
            if isinstance(text, str):
                texts.append(text)
            else:
                self.understood.leave_out(f"a part of a message is {_field(part, 'type')}")
        return "\n".join(texts) if texts else None

    def _item(self, record: Mapping[str, object]) -> str | None:
        columns = self.request.columns
        if "item" in columns.constants:
            return columns.constants["item"]
        named = columns.given.get("item", ("custom_id", "id"))
        value = next((found for one in named if not is_gap(found := cell(record, one))), None)
        # The number of an answer, and not of what was asked.
        if value is None or as_text(value).startswith("chatcmpl-"):
            return None
        return as_text(value)

    def _system(self, about: Mapping[str, object]) -> str:
        columns = self.request.columns
        if "system" in columns.constants:
            return columns.constants["system"]
        model = about.get("model")
        return self.request.system or self.file if is_gap(model) else as_text(model)

    def _references(self, record: Mapping[str, object]) -> tuple[FoundReference, ...]:
        given = self.request.columns.given.get("references")
        names = given or next(((one,) for one in _REFERENCES if one in record), ())
        if given is not None:
            names = ColumnMap({"references": given}).of(tuple(record)).get("references", ())
        texts = [one for name in names for one in as_list(cell(record, name)) if not is_gap(one)]
        return tuple(FoundReference(as_text(one)) for one in texts)


def _field(value: object, name: str) -> object:
    return value.get(name) if isinstance(value, Mapping) else None


def _digest(turns: Sequence[str]) -> str:
    """The same words asked for are the same item."""
    return hashlib.sha256(encode(turns).encode(errors="replace")).hexdigest()[:12]
