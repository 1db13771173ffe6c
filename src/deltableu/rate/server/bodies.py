"""A request's body in; what it says, checked, out."""

from __future__ import annotations

from typing import TypeVar

import msgspec
from fastapi import Request

from deltableu.rate.server.guard import Refusal

_Kind = TypeVar("_Kind", bound=msgspec.Struct)


async def json_body(request: Request, kind: type[_Kind]) -> _Kind:
    """What the body says, or a refusal."""
    said = request.headers.get("content-type", "").partition(";")[0]
    if said.strip().lower() != "application/json":
        raise Refusal(415, "invalid", "This must be JSON.")
    try:
        return msgspec.json.decode(await request.body(), type=kind)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        raise Refusal(422, "invalid", "This is not understood.") from None
