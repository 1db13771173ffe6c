"""Which parts of the protocol a server takes: begun with all of them, given up one by one."""

from __future__ import annotations

from typing import Any

from deltableu.judges.llm.endpoint import Sampling
from deltableu.judges.llm.prompts import Message, Question

_FORMATS = ("json_schema", "json_object", "none")
_ABOUT_FORMAT = ("response_format", "json_schema", "json_object", "schema", "structured", "grammar")


class Dialect:
    """How a question becomes the body of a request.

    The answer's form is asked for by a JSON schema; where the server refuses that, by JSON of any
    form, and then by the prompt alone. What is tried is what the last request of all taught.
    """

    def __init__(self, model: str, sampling: Sampling) -> None:
        self._model = model
        self._sampling = sampling
        self._format = 0
        self._tokens = "max_tokens"
        self._system = True

    @property
    def form(self) -> str:
        """How answers are kept in form: json_schema, json_object or none."""
        return _FORMATS[self._format]

    def body(self, question: Question) -> dict[str, Any]:
        """The request."""
        body: dict[str, Any] = {
            "model": self._model,
            "messages": [
                {"role": role, "content": text} for role, text in self._spoken(question.messages)
            ],
            self._tokens: self._sampling.max_tokens,
        }
        if self._sampling.temperature != "default":
            body["temperature"] = self._sampling.temperature
        if self.form == "json_schema":
            schema = {"name": question.form.field, "strict": True, "schema": question.form.schema()}
            body["response_format"] = {"type": "json_schema", "json_schema": schema}
        elif self.form == "json_object":
            body["response_format"] = {"type": "json_object"}
        return body

    def learn(self, asked: dict[str, Any], status: int, said: str) -> bool:
        """Whether to ask again in another way, because of what a server said to a request."""
        text = said.casefold()
        if status not in (400, 404, 422, 500, 501):
            return False
        if "response_format" in asked and any(one in text for one in _ABOUT_FORMAT):
            # Others may have asked in the same way, and learnt it already.
            used = _FORMATS.index(asked["response_format"]["type"])
            self._format = max(self._format, used + 1)
            return True
        if status in (400, 422) and "max_tokens" in asked and "max_completion_tokens" in text:
            self._tokens = "max_completion_tokens"
            return True
        has_system = asked["messages"][0]["role"] == "system"
        if status in (400, 422, 500) and has_system and "system" in text and "role" in text:
            self._system = False
            return True
        return False

    def _spoken(self, messages: tuple[Message, ...]) -> tuple[Message, ...]:
        if self._system:
            return messages
        (_, instructions), (role, text), *rest = messages
        return ((role, f"{instructions}\n\n{text}"), *rest)
