"""Lines by which a process tells the one that started it how far it is."""

from __future__ import annotations

import json
from typing import NamedTuple

#: Set in the environment of a process whose standard error is read by such a one.
TOLD = "DELTABLEU_PROGRESS"
#: No sentence begins with it.
_MARK = "\x1e"


class Told(NamedTuple):
    """What is done, and how much of it."""

    what: str
    done: int
    total: int


def told_line(what: str, done: int, total: int) -> str:
    """Progress as a line.

    Examples
    --------
    >>> told("" + told_line("reading", 3, 10))
    Told(what='reading', done=3, total=10)
    """
    return f"{_MARK}{json.dumps([what, done, total])}\n"


def told(line: str) -> Told | None:
    """What a line tells, or None where it is a sentence for people.

    Examples
    --------
    >>> told("deltableu: all is well") is None
    True
    """
    if not line.startswith(_MARK):
        return None
    what, done, total = json.loads(line[1:])
    return Told(str(what), int(done), int(total))
