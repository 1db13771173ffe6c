"""How long a line and how large an unpacked file may be, before it is taken for a mistake."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import NamedTuple

from deltableu.errors import InputError


class Limit(NamedTuple):
    """A limit that can be set; by a variable, so that processes started to help know of it too."""

    option: str
    variable: str

    def given(self) -> int | None:
        """What it is set to, in bytes."""
        text = os.environ.get(self.variable)
        return parse_size(text, self.option) if text else None


MAX_LINE = Limit("--max-line", "DELTABLEU_MAX_LINE")
MAX_UNPACKED = Limit("--max-unpacked", "DELTABLEU_MAX_UNPACKED")

_LINE = 64 << 20
#: A packed file may always unpack to so much; beyond that, to so many times its size. Text is
#: rarely packed to a fiftieth, while files that are made to do harm reach a thousandth.
_SMALL, _RATIO = 1 << 30, 200
_SIZE = re.compile(r"([0-9]{1,15}(?:\.[0-9]{1,15})?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE)
_UNITS = {"": 0, "K": 10, "M": 20, "G": 30, "T": 40}


def parse_size(text: str, option: str) -> int:
    """A size in bytes, as people write it.

    Examples
    --------
    >>> parse_size("1.5 GB", "--memory"), parse_size("64k", "--memory")
    (1610612736, 65536)
    """
    match = _SIZE.fullmatch(text.strip())
    if match is None or float(match[1]) == 0:
        raise InputError(f"{option} takes a size such as 500MB or 8GB, got {text!r}")
    return max(1, int(float(match[1]) * (1 << _UNITS[match[2].upper()])))


def size_text(size: int) -> str:
    """A size as people read it.

    Examples
    --------
    >>> size_text(64 << 20), size_text(1536), size_text(7)
    ('64 MB', '1.5 KB', '7 bytes')
    """
    for unit in "TGMK":
        if size >= 1 << _UNITS[unit]:
            return f"{size / (1 << _UNITS[unit]):.4g} {unit}B"
    return f"{size} bytes"


@dataclass(frozen=True, slots=True)
class Limits:
    """What is read of a file before it is refused.

    Attributes
    ----------
    line : int
        Bytes of a line.
    unpacked : int or None
        Bytes of a packed file when it is unpacked; None where that depends on the file's size.
    """

    line: int = _LINE
    unpacked: int | None = None

    @classmethod
    def now(cls) -> Limits:
        """Those that are set in this process."""
        return cls(MAX_LINE.given() or _LINE, MAX_UNPACKED.given())

    def allow_unpacked(self, packed: int) -> int:
        """How many bytes so many packed ones may become."""
        return max(_SMALL, _RATIO * packed) if self.unpacked is None else self.unpacked
