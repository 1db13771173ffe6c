"""What a model answered in; a number on the scale that was asked for, or what is wrong, out."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from deltableu.corpus import Scale
from deltableu.io import decode, number_text, shown

#: Whole scales with more values than this are described by their ends.
_LISTED = 21
_THOUGHTS = re.compile(r"\A\s*<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
_FENCE = re.compile(r"```[a-zA-Z]*\s*\n(.*?)\n?\s*```", re.DOTALL)
_NUMBER = re.compile(r"[+-]?[0-9]{1,12}(?:\.[0-9]{1,12})?")
_LABELLED = re.compile(
    r"[*_]*(?:rating|preferred)[*_]*\s*[:=][*_]*\s*[*_]*([a-z]+|[+-]?[0-9.]+?)[*_]*\.?",
    re.IGNORECASE,
)
#: What a comparison says of the response that was shown first.
PREFERRED = {"first": 1.0, "second": 0.0, "neither": 0.5}


class AnswerError(Exception):
    """Why an answer is none, in words that its author can be told."""


@dataclass(frozen=True, slots=True)
class AnswerForm:
    """What an answer must look like.

    Parameters
    ----------
    scale : str
        `LOW-HIGH`; a comparison is always on `0-1`, and its value is that of the first response.
    whole : bool
        Whether only whole numbers are ratings.
    compares : bool
        Whether the answer names one of two responses in place of a number.
    ties : bool
        Whether a comparison may say that neither is better.
    reason : bool
        Whether a sentence of reasons comes first.

    Examples
    --------
    >>> form = AnswerForm("1-5")
    >>> form.parse('{"reason": "It fits.", "rating": 4}'), form.parse("4")
    (4.0, 4.0)
    >>> AnswerForm("0-1", compares=True).parse('{"preferred": "second"}')
    0.0
    """

    scale: str
    whole: bool = True
    compares: bool = False
    ties: bool = True
    reason: bool = True

    @property
    def field(self) -> str:
        """The name under which the answer gives its value."""
        return "preferred" if self.compares else "rating"

    @property
    def choices(self) -> list[str]:
        """What a comparison may say."""
        return [name for name in PREFERRED if self.ties or name != "neither"]

    def described(self) -> str:
        """What a prompt says of the answer."""
        reason = '"reason": "one short sentence", ' if self.reason else ""
        example = f'{{{reason}"{self.field}": N}}'
        if self.compares:
            example = example.replace("N}", '"..."}')
            *most, last = (f'"{name}"' for name in self.choices)
            return (
                f"Answer with one JSON object and nothing else: {example}, where preferred is "
                f"{', '.join(most)} or {last}."
            )
        return (
            f"Answer with one JSON object and nothing else: {example}, where N is "
            f"{'a whole' if self.whole else 'a'} number from {self._end(0)} to {self._end(1)}."
        )

    def schema(self) -> dict[str, Any]:
        """The same as a JSON schema."""
        ends = Scale.parse(self.scale)
        value: dict[str, Any]
        if self.compares:
            value = {"type": "string", "enum": self.choices}
        elif not self.whole:
            value = {"type": "number"}
        elif ends.high - ends.low < _LISTED:
            value = {"type": "integer", "enum": list(range(int(ends.low), int(ends.high) + 1))}
        else:
            value = {"type": "integer"}
        fields = {"reason": {"type": "string"}} if self.reason else {}
        fields[self.field] = value
        return {
            "type": "object",
            "properties": fields,
            "required": list(fields),
            "additionalProperties": False,
        }

    def parse(self, text: str) -> float:
        """The value that an answer gives; AnswerError says why it gives none.

        A JSON object, alone, in a code fence or the only one among words, or the bare value.
        Where two values are possible, there is none: nothing is guessed.
        """
        said = _THOUGHTS.sub("", text).strip()
        if not said:
            raise AnswerError("the answer is empty")
        if (bare := _LABELLED.fullmatch(said)) is not None:
            said = bare[1]
        if self.compares and said.casefold().strip("\"'.*") in PREFERRED:
            return self._value(said.casefold().strip("\"'.*"))
        if _NUMBER.fullmatch(said):
            return self._value(float(said))
        values = self._object(said)
        if self.field not in values:
            raise AnswerError(f'the JSON object has no "{self.field}"')
        return self._value(values[self.field])

    def _object(self, said: str) -> dict[str, object]:
        fences = _FENCE.findall(said)
        if len(fences) > 1:
            raise AnswerError("there is more than one block of code")
        inner = fences[0] if fences else said
        begin, end = inner.find("{"), inner.rfind("}")
        if begin < 0 or end < begin:
            raise AnswerError("there is no JSON object")
        try:
            values = decode(inner[begin : end + 1])
        except (ValueError, RecursionError):
            raise AnswerError("there is not exactly one JSON object that can be read") from None
        if not isinstance(values, dict):
            raise AnswerError("there is no JSON object")
        return values

    def _value(self, value: object) -> float:
        if self.compares:
            name = value.casefold() if isinstance(value, str) else value
            if not isinstance(name, str) or name not in self.choices:
                wanted = ", ".join(f'"{one}"' for one in self.choices)
                raise AnswerError(f'"preferred" must be one of {wanted}, got {shown(value)}')
            return PREFERRED[name]
        if isinstance(value, str) and _NUMBER.fullmatch(value.strip()):
            value = float(value)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise AnswerError(f'"rating" must be a number, got {shown(value)}')
        ends = Scale.parse(self.scale)
        if not ends.low <= value <= ends.high:
            raise AnswerError(
                f'"rating" must lie between {self._end(0)} and {self._end(1)}, got {shown(value)}'
            )
        if self.whole and value != int(value):
            raise AnswerError(f'"rating" must be a whole number, got {shown(value)}')
        return float(value)

    def _end(self, place: int) -> str:
        ends = Scale.parse(self.scale)
        return number_text((ends.low, ends.high)[place])
