"""Rooms that import what they offer at first use, so that nobody waits for what they do not use."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType


def at_first_use(room: str) -> tuple[Callable[[str], object], Callable[[], list[str]]]:
    """`__getattr__` and `__dir__` (PEP 562) of a package that offers what its parts define.

    The package imports it under `if TYPE_CHECKING:`, where type checkers read it; so does this.
    No part may have the name of something that is offered.
    """
    package = sys.modules[room]
    homes: dict[str, tuple[str, str]] = {}

    def found(name: str) -> object:
        if not homes:
            homes.update(_homes(package))
        if name not in homes:
            raise AttributeError(f"module {room!r} has no attribute {name!r}")
        module, own_name = homes[name]
        value = getattr(import_module(module), own_name)
        setattr(package, name, value)
        return value

    def names() -> list[str]:
        if not homes:
            homes.update(_homes(package))
        return sorted({*vars(package), *homes})

    return found, names


def _homes(package: ModuleType) -> Iterator[tuple[str, tuple[str, str]]]:
    """What type checkers see imported from where: (name here, (module, name there))."""
    spec = package.__spec__ or find_spec(package.__name__)
    source = spec.loader.get_source(package.__name__)  # type: ignore[union-attr]
    for block in ast.parse(source).body:
        if isinstance(block, ast.If):
            for node in block.body:
                if isinstance(node, ast.ImportFrom) and node.module:
                    for alias in node.names:
                        yield alias.asname or alias.name, (node.module, alias.name)
