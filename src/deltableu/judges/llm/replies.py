"""What a server replied in; an answer, or what to do about there being none, out."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any, Literal

#: What becomes of a request: an answer; another try; this text has none; nothing more is asked.
Fate = Literal["answered", "again", "failed", "over"]

_QUOTA = (
    "insufficient_quota",
    "billing_hard_limit_reached",
    "billing_not_active",
    "quota_exceeded",
)
_THIS_TEXT = ("context_length_exceeded", "content_filter", "content_policy_violation")
_TOO_LONG = ("maximum context length", "context length", "too many tokens", "exceeds the available")
_AGAIN = (408, 409, 425, 429)
#: More of a server's words nobody reads.
_LONGEST = 200


@dataclass(frozen=True, slots=True)
class Reply:
    """What a request came to.

    Attributes
    ----------
    fate : {"answered", "again", "failed", "over"}
    text : str
        The answer, or what is wrong in words.
    status : int
        Of HTTP; 0 where the connection failed.
    wait : float
        Seconds that the server asks to wait.
    finish : str
        Why the model stopped, such as `length`.
    input_tokens, output_tokens : int or None
        As the server counted them.
    """

    fate: Fate
    text: str
    status: int = 200
    wait: float = 0.0
    finish: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


def read_reply(status: int, headers: Mapping[str, str], body: bytes) -> Reply:
    """Judge a whole response.

    Examples
    --------
    >>> read_reply(503, {"retry-after": "2"}, b"busy")
    Reply(fate='again', text='busy', status=503, wait=2.0, finish='', input_tokens=None, \
output_tokens=None)
    """
    values = _object(body)
    said, code = _complaint(values, body)
    if status == 200 and not isinstance(values.get("error"), dict | str):
        return _answer(values)
    if status == 200:  # some services put errors of others' servers into a good response
        error = values["error"]
        found = error.get("code") if isinstance(error, dict) else None
        status = found if isinstance(found, int) and 400 <= found < 600 else 502
    wait = _seconds(headers.get("retry-after", ""))
    if status == 402 or any(one in code for one in _QUOTA):
        return Reply("over", f"the account has no credit left: {said}", status)
    if 300 <= status < 400:
        return Reply("over", "it sends requests on to another address: name that one", status)
    if status in (401, 403):
        return Reply("over", f"it refuses the key: {said}", status)
    if status == 404:
        return Reply("over", f"there is no such model or path (is /v1 missing?): {said}", status)
    if status in _AGAIN or status >= 500:
        return Reply("again", said, status, wait)
    too_long = status == 413 or any(one in said.casefold() for one in _TOO_LONG)
    if too_long or any(one in code for one in _THIS_TEXT):
        return Reply("failed", said, status)
    return Reply("over", f"it refuses the request: {said}", status)


def _object(body: bytes) -> dict[str, Any]:
    try:
        values = json.loads(body)
    except (ValueError, RecursionError):
        return {}
    if isinstance(values, list) and len(values) == 1:  # as Google's servers do with errors
        values = values[0]
    return values if isinstance(values, dict) else {}


def _complaint(values: dict[str, Any], body: bytes) -> tuple[str, str]:
    """A server's words, and the names that it has for what is wrong."""
    error = values.get("error", values)
    if isinstance(error, dict):
        said = error.get("message") or values.get("detail") or values.get("message")
        code = f"{error.get('code', '')} {error.get('type', '')} {error.get('status', '')}"
    else:
        said, code = error, ""
    text = said if isinstance(said, str) else body[:2000].decode("utf-8", "replace")
    text = " ".join(text.split()) or "it says nothing more"
    return (text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"), code.casefold()


def _answer(values: dict[str, Any]) -> Reply:
    choices = values.get("choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    message = choice.get("message") if isinstance(choice, dict) else None
    if not isinstance(choice, dict) or not isinstance(message, dict):
        return Reply("again", "its response is not one of chat completions")
    content = message.get("content")
    if isinstance(content, list):  # in parts, as some servers give it
        content = "".join(str(part.get("text", "")) for part in content if isinstance(part, dict))
    if not isinstance(content, str):
        refusal = message.get("refusal")
        content = refusal if isinstance(refusal, str) else ""
    found = values.get("usage")
    usage = found if isinstance(found, dict) else {}
    return Reply(
        "answered",
        content,
        finish=str(choice.get("finish_reason") or ""),
        input_tokens=_tokens(usage.get("prompt_tokens")),
        output_tokens=_tokens(usage.get("completion_tokens")),
    )


def _tokens(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _seconds(text: str) -> float:
    """What Retry-After says: seconds, or a date."""
    try:
        number = float(text)
    except ValueError:
        try:
            then = parsedate_to_datetime(text)
        except (ValueError, TypeError, OverflowError):
            return 0.0
        then = then if then.tzinfo else then.replace(tzinfo=UTC)
        number = (then - datetime.now(UTC)).total_seconds()
    return max(0.0, number) if math.isfinite(number) else 0.0
