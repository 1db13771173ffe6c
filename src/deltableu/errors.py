"""Errors written for the person who made them: what is wrong, where, what to do."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from numbers import Integral, Real
from typing import Literal

from deltableu._visible import shortened, visible


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
        return shortened(visible(f"{where}: {self.message}" if where else self.message))


class InputError(ValueError):
    """The input cannot be used; the command line turns this into one sentence and exit code 2."""

    def __init__(self, problem: Problem | str) -> None:
        self.problem = Problem(problem) if isinstance(problem, str) else problem
        super().__init__(str(self.problem))


class InputWarning(UserWarning):
    """The input can be used, but probably does not mean what its author thinks."""


#: Names to look through, and letters of one: a hint must not take long.
_MOST_NAMES, _LONGEST_NAME = 2_000, 60
#: Names that a sentence lists before it says how many more there are.
_LISTED = 50


def find_name(name: str, names: Iterable[str]) -> str:
    """The one of the names that is meant, whatever its case; the given name where none is.

    Examples
    --------
    >>> find_name("BLEU", ["bleu", "chrf"]), find_name("comet", ["bleu", "chrf"])
    ('bleu', 'comet')
    """
    there = list(names)
    alike = [one for one in there if one.casefold() == name.casefold()]
    return alike[0] if name not in there and len(alike) == 1 else name


def did_you_mean(name: object, names: Iterable[str]) -> str:
    """A question about the name that is closest, or nothing where none is close.

    Examples
    --------
    >>> did_you_mean("Chrf+", ["bleu", "chrf++"]), did_you_mean("x", ["bleu"])
    ("did you mean 'chrf++'?", '')
    """
    if not isinstance(name, str) or len(name) > _LONGEST_NAME:
        return ""
    import difflib  # only for mistakes

    folded: dict[str, str] = {}
    for one in islice(names, _MOST_NAMES):
        if len(one) <= _LONGEST_NAME:
            folded.setdefault(one.casefold(), one)
    close = difflib.get_close_matches(name.casefold(), folded, n=1)
    return f"did you mean {folded[close[0]]!r}?" if close else ""


def hint_at(name: object, names: Iterable[str]) -> str:
    """The end of a sentence that lists names: which is closest, or nothing.

    Examples
    --------
    >>> hint_at("scroe", ["compare", "score"])
    "; did you mean 'score'?"
    """
    question = did_you_mean(name, names)
    return f"; {question}" if question else ""


def check_choice(name: str, value: object, choices: Iterable[str]) -> None:
    """Refuse a setting that is not among the choices."""
    choices = tuple(choices)
    if not isinstance(value, str) or value not in choices:
        meant = hint_at(value, choices)
        raise InputError(f"{name} must be one of {', '.join(choices)}, got {value!r}{meant}")


def check_known(what: str, name: str, names: Iterable[str]) -> None:
    """Refuse the name of something that is not there."""
    if name not in (there := list(names)):
        known = ", ".join(there[:_LISTED]) or "none"
        if len(there) > _LISTED:
            known += f" and {len(there) - _LISTED:,} more"
        meant = hint_at(name, there)
        raise InputError(f"there is no {what} {name!r}; there are {known}{meant}")


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
