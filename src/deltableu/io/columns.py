"""What is read of a table, and what the table calls it: our names in, the file's columns out."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import TypeAlias

from deltableu.errors import InputError, Problem, check_kind, hint_at

ColumnNames: TypeAlias = Mapping[str, str]
"""Our name of a column, and that of the file."""

_SHOWN = 80  # letters of a file's own names in a sentence


def named_columns(
    text: str | None, example: str, option: str = "--columns"
) -> dict[str, str] | None:
    """What a table calls its columns, as `ours=theirs,...` says; None where nothing was said."""
    if text is None:
        return None
    columns: dict[str, str] = {}
    for part in [one.strip() for one in text.split(",") if one.strip()] or [text]:
        name, sign, theirs = (piece.strip() for piece in part.partition("="))
        if not (name and sign and theirs):
            raise InputError(f"{option} takes such as {example}, got {part!r}")
        if name in columns:
            raise InputError(f"{option} names {name} twice: {columns[name]!r} and {theirs!r}")
        columns[name] = theirs
    return columns


@dataclass(frozen=True, slots=True)
class TableColumns:
    """The columns that a reader asks for, by our names, and what a file calls them.

    Attributes
    ----------
    required, optional : sequence of str
        Columns that must be there, and such as are read where they are.
    several : sequence of str
        Names that stand for any number of columns: `a+b+c`, or a pattern such as `score_*`. A row
        then has a mapping of these columns to their cells.
    names : mapping
        From our names to those of the file, where they differ.
    instead : mapping
        For a required column, another that will do.
    excused : sequence of str
        Required columns that rows may do without, if no other column is missing.
    option : str
        How to say what a column is called, where that can be said.
    """

    required: Sequence[str]
    optional: Sequence[str] = ()
    several: Sequence[str] = ()
    names: ColumnNames = field(default_factory=dict)
    instead: ColumnNames = field(default_factory=dict)
    excused: Sequence[str] = ()
    option: str = ""

    def __post_init__(self) -> None:
        check_kind("columns", self.names, Mapping)
        known = (*self.required, *self.optional, *self.several)
        for name, theirs in self.names.items():
            if name not in known:
                meant = hint_at(name, known)
                message = f"there is no column {name!r}; there are {', '.join(known)}{meant}"
                raise InputError(Problem(message, field="columns"))
            if not isinstance(theirs, str) or not theirs:
                message = f"{name} must be the name of a column of the file, got {theirs!r:.60}"
                raise InputError(Problem(message, field="columns"))

    def missing(self, there: Collection[str]) -> list[tuple[str, str]]:
        """Our names of the columns that are not there, each with the end of a sentence about it."""
        lost = [(name, self.names.get(name, name)) for name in self.required]
        lost = [(name, theirs) for name, theirs in lost if not self._is_there(name, there)]
        if all(name in self.excused and name not in self.names for name, _ in lost):
            lost = []
        # What somebody named must be there, even if it were optional.
        asked = [(name, self.names[name]) for name in self.optional if name in self.names]
        lost += [(name, theirs) for name, theirs in asked if theirs not in there]
        for name in self.several:
            if name in self.names:
                parts = self._parts(name, there)
                lost += [(name, part) for part in parts if not self._fitting(part, there)]
        return [(name, self._reason(name, theirs, there)) for name, theirs in lost]

    def _is_there(self, name: str, there: Collection[str]) -> bool:
        if name in self.names:
            return self.names[name] in there
        other = self.instead.get(name, name)
        return name in there or self.names.get(other, other) in there

    def _reason(self, name: str, theirs: str, there: Collection[str]) -> str:
        if not self.option:
            return f"{theirs!r}, which is required"
        own = f"{theirs!r}: there are {_some(there)}"
        how = "" if name in self.names else f"; say which it is with {self.option} {name}=NAME"
        return f"{own}{how}{hint_at(theirs, there)}"

    def lack(self, name: str, there: Collection[str] = ()) -> str:
        """The end of a sentence about a column that is not there."""
        return self._reason(name, self.names.get(name, name), there)

    def read(self, there: Collection[str]) -> set[str]:
        """The file's own names of those of its columns that are read."""
        plain = (self.names.get(name, name) for name in (*self.required, *self.optional))
        return {*plain, *(one for name in self.several for one in self._expanded(name, there))}

    def renamed(self, row: Mapping[str, object]) -> Mapping[str, object]:
        """The row by our names; columns that nobody asked for keep theirs."""
        if not self.names:
            return row
        taken = self.read(row) | set(self.names)
        made: dict[str, object] = {key: cell for key, cell in row.items() if key not in taken}
        for name in (*self.required, *self.optional):
            theirs = self.names.get(name, name)
            if theirs in row:
                made[name] = row[theirs]
        for name in self.several:
            if name in self.names:
                made[name] = {one: row[one] for one in self._expanded(name, row)}
        return made

    def _parts(self, name: str, there: Collection[str]) -> list[str]:
        whole = self.names[name]
        return [whole] if whole in there else [part.strip() for part in whole.split("+")]

    def _fitting(self, part: str, there: Collection[str]) -> list[str]:
        if part in there:
            return [part]
        others = {self.names.get(name, name) for name in (*self.required, *self.optional)}
        return [one for one in there if one not in others and fnmatchcase(one, part)]

    def _expanded(self, name: str, there: Collection[str]) -> Iterator[str]:
        if name in self.names:
            parts = self._parts(name, there)
            yield from dict.fromkeys(one for part in parts for one in self._fitting(part, there))


def _some(names: Iterable[str]) -> str:
    """As many of a file's names as a sentence can hold."""
    there = [name if len(name) <= _SHOWN // 2 else name[: _SHOWN // 2] + "…" for name in names]
    shown: list[str] = []
    while there and len(", ".join([*shown, there[0]])) <= _SHOWN:
        shown.append(there.pop(0))
    return ", ".join(shown) + (f" and {len(there)} more" if there else "") or "none"
