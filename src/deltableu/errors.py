"""Errors written for the person who made them: what is wrong, where, what to do."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

__all__ = ["InputError", "InputWarning", "Problem"]


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong with the input, and where it stands.

    Examples
    --------
    >>> print(Problem("must lie in [-1, 1], got 1.5", file="items.jsonl", line=3, field="weight"))
    items.jsonl, line 3, weight: must lie in [-1, 1], got 1.5
    """

    message: str
    file: str | None = None
    line: int | None = None
    field: str | None = None
    item: str | None = None
    severity: Literal["error", "warning"] = "error"

    def __str__(self) -> str:
        unit = "row" if self.file is not None and self.file.endswith(".parquet") else "line"
        places = (
            self.file,
            None if self.line is None else f"{unit} {self.line}",
            None if self.item is None else f"item {self.item!r}",
            self.field,
        )
        where = ", ".join(place for place in places if place is not None)
        return f"{where}: {self.message}" if where else self.message


class InputError(ValueError):
    """The input cannot be used; the command line turns this into one sentence and exit code 2."""

    def __init__(self, problem: Problem | str) -> None:
        self.problem = Problem(problem) if isinstance(problem, str) else problem
        super().__init__(str(self.problem))


class InputWarning(UserWarning):
    """The input can be used, but probably does not mean what its author thinks."""
