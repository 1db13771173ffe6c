"""Python strings -> one UTF-8 buffer with the bounds of every text, as the kernels read it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Ints
from deltableu.errors import InputError

__all__ = ["Buffer", "NotUnicodeError", "join_texts"]

_NEWLINE = 10


@dataclass(frozen=True, slots=True)
class Buffer:
    """Texts joined by newlines; text i is `data[bounds[i]:bounds[i + 1] - 1]`."""

    data: bytes
    bounds: Ints
    separable: bool  # no text holds a newline, so whole-buffer replacements are safe

    @classmethod
    def from_lines(cls, data: bytes) -> Buffer:
        """A buffer whose newlines are all separators."""
        ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == _NEWLINE)
        bounds = np.empty(len(ends) + 2, dtype=np.int64)
        bounds[0] = 0
        np.add(ends, 1, out=bounds[1:-1])
        bounds[-1] = len(data) + 1
        return cls(data, bounds, separable=True)


class NotUnicodeError(InputError):
    """A text has a lone surrogate; `position` is its place among the texts."""

    def __init__(self, position: int, text: str, character: int) -> None:
        self.position = position
        self.reason = (
            f"has a lone surrogate at character {character} ({text[:40]!r}), which is no valid "
            "Unicode; decode its source with the right encoding"
        )
        super().__init__(f"text {position} {self.reason}")


def join_texts(texts: Sequence[str]) -> Buffer:
    """Join texts into one buffer; TypeError where one is no string."""
    try:
        data = "\n".join(texts).encode()
    except UnicodeEncodeError:
        raise _not_unicode(texts) from None
    if len(texts) == 1:
        bounds = np.array((0, len(data) + 1), dtype=np.int64)
        return Buffer(data, bounds, separable=b"\n" not in data)
    if data.count(b"\n") == len(texts) - 1:
        return Buffer.from_lines(data)
    bounds = np.zeros(len(texts) + 1, dtype=np.int64)
    np.cumsum([len(text.encode()) + 1 for text in texts], out=bounds[1:])
    return Buffer(data, bounds, separable=False)


def _not_unicode(texts: Sequence[str]) -> NotUnicodeError:
    for position, text in enumerate(texts):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            return NotUnicodeError(position, text, error.start)
    raise AssertionError("every text can be encoded, but not their sequence")
