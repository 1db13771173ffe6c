"""Every public name says what it is, and of which types what it takes and gives is."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import pytest

import deltableu

#: Only the command uses it, and its functions are documented by `--help`.
COMMANDS = "deltableu.cli"


def doors() -> list[str]:
    """The package and its rooms, as far as they offer names."""
    found = ["deltableu"]
    for part in pkgutil.walk_packages(deltableu.__path__, "deltableu."):
        private = any(name.startswith("_") for name in part.name.split("."))
        if not private and (part.ispkg or part.name == "deltableu.testing"):
            found.append(part.name)
    return found


def own_functions(made: Any) -> Iterator[tuple[str, Any]]:
    """A function itself, or public methods and properties that a class of ours defines."""
    if inspect.isfunction(made):
        yield "", made
    if not inspect.isclass(made):
        return
    for name, value in vars(made).items():
        if name.startswith("_") and (name != "__init__" or dataclasses.is_dataclass(made)):
            continue
        function = value
        if isinstance(value, (staticmethod, classmethod)):
            function = value.__func__
        elif isinstance(value, property):
            function = value.fget
        elif isinstance(value, cached_property):
            function = value.func
        if inspect.isfunction(function) and function.__module__.startswith("deltableu"):
            yield f".{name}", function


def undocumented(made: Any, name: str, function: Any) -> bool:
    """Whether nothing says what it does, not even what it overrides, or the class's attributes."""
    method = name.removeprefix(".")
    if method == "__init__" or inspect.getdoc(function):
        return False
    if method in (inspect.getdoc(made) or ""):
        return False
    return not inspect.getdoc(getattr(made, method, None))


def untyped(function: Any) -> list[str]:
    """Parameters without a type, and "return"."""
    signature = inspect.signature(function)
    found = [
        name
        for name, one in signature.parameters.items()
        if name not in ("self", "cls") and one.annotation is inspect.Parameter.empty
    ]
    return found + ["return"] * (signature.return_annotation is inspect.Signature.empty)


#: It imports torch and evaluate.
HEAVY = "deltableu.integrations"


@pytest.mark.parametrize(
    "door", [pytest.param(one, marks=[pytest.mark.long] * (one == HEAVY)) for one in doors()]
)
def test_what_a_room_offers_is_documented_and_typed(door):
    room = importlib.import_module(door)
    assert inspect.getdoc(room), door
    if door == COMMANDS:
        return
    wrong = []
    for name in getattr(room, "__all__", ()):
        made = getattr(room, name)
        if not (inspect.isclass(made) or inspect.isroutine(made)):
            continue
        where = f"{door}.{name}"
        # What dataclasses write for those who write nothing is no sentence.
        if not made.__doc__ or made.__doc__.startswith(f"{name}("):
            wrong.append(f"{where} has no docstring")
        for method, function in own_functions(made):
            if undocumented(made, method, function):
                wrong.append(f"{where}{method} has no docstring")
            wrong += [f"{where}{method}: no type of {one}" for one in untyped(function)]
    assert wrong == []
