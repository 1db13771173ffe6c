"""A table of a configuration in; checked values and options of a command out."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import TypeVar

from deltableu.errors import InputError, Problem, hint_at
from deltableu.experiment.stage import Given, Part
from deltableu.io import is_url, number_text, shown

_Kind = TypeVar("_Kind", str, int, float, bool)
#: Options that take several values one after the other; others take a list with commas.
_SEVERAL = frozenset(("logs", "systems", "bucket", "exclude", "refs"))
#: Options whose value is a file, found from the folder of the configuration.
_FILES = frozenset(
    ("calibration", "judge", "model", "nbest", "settings", "table", "vectors", "weights")
)
_OPTION = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
#: What a stage could not do its work with.
_OURS = frozenset(("output", "help", "version"))
_WORDS = {str: "a text", int: "a whole number", float: "a number", bool: "true or false"}


class Section:
    """Values of one table; what nobody took becomes options of its command.

    Parameters
    ----------
    file : str
        The configuration, for messages.
    name : str
        Such as `mine` or `systems.greedy`.
    values : mapping
    """

    def __init__(self, file: str, name: str, values: Mapping[str, object]) -> None:
        self.file, self.name = file, name
        self._values = dict(values)
        self._asked: list[str] = []

    def __contains__(self, key: str) -> bool:
        return key in self._values

    @property
    def folder(self) -> Path:
        """Where files are found from."""
        return Path(self.file).parent

    def wrong(self, key: str, message: str) -> InputError:
        """What to raise of a value."""
        field = ".".join(part for part in (self.name, key) if part)
        return InputError(Problem(message, file=self.file, field=field))

    def take(self, key: str, kind: type[_Kind], default: _Kind | None = None) -> _Kind | None:
        """A value of some kind, which is then nobody else's."""
        self._asked.append(key)
        value = self._values.pop(key, None)
        if value is None:
            return default
        if kind is float and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        if not isinstance(value, kind) or (kind is not bool and isinstance(value, bool)):
            raise self.wrong(key, f"must be {_WORDS[kind]}, got {shown(value)}")
        return value

    def seed(self, default: int) -> int:
        """The seed of it, or that of the experiment."""
        value = self.take("seed", int)
        if value is not None and value < 0:
            raise self.wrong("seed", f"must not be negative, got {value}")
        return default if value is None else value

    def choice(self, key: str, choices: Collection[str], default: str | None = None) -> str:
        """One of some words."""
        value = self.take(key, str, default)
        if value is None:
            raise self.wrong(key, f"is missing: it is one of {', '.join(choices)}")
        if value not in choices:
            meant = hint_at(value, choices)
            raise self.wrong(key, f"must be one of {', '.join(choices)}, got {value!r}{meant}")
        return value

    def files(self, key: str) -> tuple[Given, ...]:
        """A file or several."""
        self._asked.append(key)
        value = self._values.pop(key, None)
        if value is None:
            return ()
        listed = [value] if isinstance(value, str) else value
        if not isinstance(listed, list) or not all(isinstance(one, str) for one in listed):
            raise self.wrong(key, f"must be a file or a list of files, got {shown(value)}")
        if "" in listed:
            raise self.wrong(key, "names no file")
        return tuple(self.file_at(one) for one in listed)

    def one_file(self, key: str) -> Given | None:
        """A file, if one is named."""
        given = self.files(key) if key in self else None
        if given is not None and len(given) != 1:
            raise self.wrong(key, f"must be one file, got {len(given)}")
        return None if given is None else given[0]

    def file_at(self, name: str) -> Given:
        """A file by its name in the configuration."""
        return Given(
            name if is_url(name) else os.path.normpath(os.path.abspath(self.folder / name))
        )

    def tables(self) -> Mapping[str, Section]:
        """The tables in it, by their names."""
        found = {}
        for key, value in self._values.items():
            name = ".".join(part for part in (self.name, key) if part)
            if not isinstance(value, Mapping):
                raise self.wrong(key, f"must be a table [{name}], got {shown(value)}")
            found[key] = Section(self.file, name, value)
        return found

    def peek(self, key: str) -> object:
        """A value that stays."""
        return self._values.get(key)

    def check_empty(self) -> None:
        """Refuse what nobody takes."""
        for key in self._values:
            raise self.wrong(key, f"has no use here{hint_at(key, self._asked)}")

    def only(self, keys: Collection[str]) -> Section:
        """Those of the values that have these names, which are then nobody else's."""
        there = {key: self._values.pop(key) for key in list(self._values) if key in keys}
        return Section(self.file, self.name, there)

    def options(self) -> list[Part]:
        """All that is left, as options of a command."""
        parts: list[Part] = []
        for key, value in self._values.items():
            if not _OPTION.fullmatch(key):
                raise self.wrong(key, "is no name of an option")
            if key in _OURS:
                raise self.wrong(key, "cannot be set: the experiment takes care of it")
            name = f"--{key.replace('_', '-')}"
            if isinstance(value, bool):
                parts += [name] if value else []
            elif isinstance(value, str) and key in _FILES and os.path.exists(self.folder / value):
                parts += [name, self.file_at(value)]
            elif isinstance(value, list):
                texts = [self._text(key, one) for one in value]
                parts += [name, *(texts if key in _SEVERAL else [",".join(texts)])]
            else:
                parts += [name, self._text(key, value)]
        return parts

    def _text(self, key: str, value: object) -> str:
        if isinstance(value, str):
            return value
        if isinstance(value, int | float) and not isinstance(value, bool):
            return number_text(value)
        raise self.wrong(
            key, f"must be a text, a number, true or false, or a list, got {shown(value)}"
        )
