"""Every command and option, as the program itself says."""

from __future__ import annotations

import functools
import types
import typing
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Option:
    """What a command takes: by name, or by position if `names` is empty."""

    key: str
    names: tuple[str, ...]
    type: Any  # str, int, float, bool or Path
    several: bool
    choices: tuple[str, ...]
    required: bool
    position: int | None
    named_only: bool


@dataclass(frozen=True)
class Command:
    """A command with its options."""

    path: tuple[str, ...]
    options: tuple[Option, ...]

    @property
    def name(self) -> str:
        return " ".join(self.path)

    def option(self, key: str) -> Option | None:
        return next((one for one in self.options if one.key == key), None)


@functools.cache
def commands() -> tuple[Command, ...]:
    """As the parser knows them, so that a new option is fuzzed from its first day."""
    from cyclopts import App

    from deltableu.cli.app import _MODULES, COMMANDS

    app = App(name="deltableu")
    for name in COMMANDS:
        module = _MODULES.get(name, name)
        app.command(f"deltableu.cli.{module}:{module}", name=name)
    return tuple(_leaves(app, ()))


#: These go on until they are stopped.
SERVERS = (("rate", "serve"), ("rate", "demo"))
#: This one writes into the home folder of whoever runs the tests.
HOME = (("completion",),)


def _leaves(app: Any, path: tuple[str, ...]) -> Iterator[Command]:
    if path in SERVERS + HOME:
        return
    inside = [name for name in app if not name.startswith("-")]
    for name in inside:
        yield from _leaves(app[name], (*path, name))
    if inside and app.default_command is None:
        return
    found = (_option(one) for one in app.assemble_argument_collection() if one.names != ("*",))
    yield Command(path, tuple(found))


def _option(found: Any) -> Option:
    names = tuple(name for name in found.names if name.startswith("-"))
    kind, several, choices = _kind(found.hint)
    named_only = found.index is None
    key = (found.names[0] if named_only else found.field_info.name).lstrip("-").lower()
    return Option(
        key.replace("-", "_"),
        names,
        kind,
        several,
        choices,
        found.required,
        found.index,
        named_only,
    )


def _kind(hint: Any) -> tuple[Any, bool, tuple[str, ...]]:
    origin, inside = typing.get_origin(hint), typing.get_args(hint)
    if origin in (typing.Union, types.UnionType):
        return _kind(next(one for one in inside if one is not type(None)))
    if origin is typing.Annotated:
        return _kind(inside[0])
    if origin is typing.Literal:
        return str, False, tuple(map(str, inside))
    if origin in (list, tuple):
        return (*_kind(inside[0])[:1], True, ())
    return hint, False, ()


@functools.cache
def metric_names() -> tuple[str, ...]:
    from deltableu.score import installed_metrics

    return tuple(name for name, _ in installed_metrics())
