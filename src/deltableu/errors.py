"""Errors written for the person who made them: what is wrong, where, what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Literal

from deltableu._visible import visible


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
        return visible(f"{where}: {self.message}" if where else self.message)


class InputError(ValueError):
    """The input cannot be used; the command line turns this into one sentence and exit code 2."""

    def __init__(self, problem: Problem | str) -> None:
        self.problem = Problem(problem) if isinstance(problem, str) else problem
        super().__init__(str(self.problem))


class InputWarning(UserWarning):
    """The input can be used, but probably does not mean what its author thinks."""


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a setting that is not among the choices."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        raise InputError(f"{name} must be one of {', '.join(choices)}, got {value!r}")


def did_you_mean(name: str, names: Iterable[str]) -> str:
    """A question about the name that is closest, or nothing where none is close.

    Examples
    --------
    >>> did_you_mean("chrf+", ["bleu", "chrf++"]), did_you_mean("x", ["bleu"])
    ("did you mean 'chrf++'?", '')
    """
    from difflib import get_close_matches

    small = {one.lower(): one for one in names}
    close = get_close_matches(name.lower(), small, 1)
    return f"did you mean {small[close[0]]!r}?" if close else ""


def check_known(what: str, name: str, names: Iterable[str]) -> None:
    """Refuse the name of something that is not there."""
    if name not in (there := list(names)):
        raise InputError(f"there is no {what} {name!r}; there are {', '.join(there) or 'none'}")


def check_share(name: str, value: object) -> None:
    """Refuse a setting that does not lie between 0 and 1."""
    if not isinstance(value, Real) or not 0.0 < float(value) < 1.0:
        raise InputError(f"{name} must lie between 0 and 1, got {value!r}")


def check_at_least(name: str, value: object, least: int) -> None:
    """Refuse a setting that is no whole number, or too small a one."""
    if not isinstance(value, Integral):
        raise InputError(f"{name} must be a whole number, got {value!r}")
    if int(value) < least:
        wrong = "not be negative" if least == 0 else f"be at least {least}"
        raise InputError(f"{name} must {wrong}, got {value}")


def check_kind(name: str, value: object, *kinds: type) -> None:
    """Refuse an argument of another kind than those that a function can use."""
    if not isinstance(value, kinds):
        wanted = " or ".join(f"a {kind.__name__}" for kind in kinds)
        raise InputError(f"{name} must be {wanted}, got {value!r:.80}")
