"""How readers say what is wrong: each problem goes to a callable, then the record is skipped."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias, TypeVar

from deltableu.errors import InputError, InputWarning, Problem

_T = TypeVar("_T")
Report: TypeAlias = Callable[[Problem], None]
"""Where a reader sends its problems; a list's `append` collects them all."""


def fail(problem: Problem) -> None:
    """Stop at the first error with an InputError; let a warning pass as an InputWarning."""
    if problem.severity == "warning":
        warnings.warn(str(problem), InputWarning, stacklevel=3)
        return
    raise InputError(problem)


def until_broken(records: Iterable[_T], report: Report) -> Iterator[_T]:
    """Yield what can be read; what then stops it is reported."""
    try:
        yield from records
    except InputError as error:
        report(error.problem)


class SeenProblems:
    """Passes problems on and remembers where they were, so that one does not bring on others."""

    def __init__(self, report: Report) -> None:
        self._report = report
        self.lines: list[int] = []
        self.readable = True
        """False once something was wrong with a file as a whole."""

    def report(self, problem: Problem) -> None:
        """Remember the place and pass the problem on."""
        if problem.line is not None:
            self.lines.append(problem.line)
        elif problem.severity == "error":
            self.readable = False
        self._report(problem)
