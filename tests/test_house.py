"""The plan of the house: rooms import only rooms above them, and through their doors."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import deltableu

PACKAGE = Path(deltableu.__file__).parent

#: From the first room to the last; a room may import those before it.
ROOMS = (
    "io",
    "text",
    "corpus",
    "layouts",
    "stats",
    "logs",
    "vectors",
    "mine",
    "neural",
    "rate",
    "score",
    "judges",
    "compare",
    "validate",
    "respond",
    "tune",
    "report",
    "experiment",
    "integrations",
    "testing",
    "cli",
)

#: Parts of rooms with a door of their own, because they need libraries that others do without.
SIDE_DOORS = ("deltableu.rate.server", "deltableu.judges.llm", "deltableu.neural.networks")

#: What all rooms may use.
FOUNDATIONS = ("_kernels", "_lazy", "_types", "_version", "_visible", "errors")


def _files() -> Iterator[tuple[str, Path]]:
    """Every file of a room, with its room."""
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        if len(parts) > 1 or parts[0] in ROOMS:
            yield parts[0], path


def _imports(path: Path) -> Iterator[tuple[int, str]]:
    """Modules of this package that a file imports anywhere, also inside functions."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative imports hide which room is meant"
            module = node.module or ""
            names = [module]
            if module == "deltableu":
                names = [f"deltableu.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            if name.startswith("deltableu."):
                yield node.lineno, name


def test_every_folder_is_a_room() -> None:
    folders = {path.parent.name for path in PACKAGE.glob("*/__init__.py")}
    assert folders <= set(ROOMS)


def test_a_room_imports_only_rooms_above_it() -> None:
    wrong = []
    for room, path in _files():
        for line, module in _imports(path):
            target = module.split(".")[1]
            if target in FOUNDATIONS or target == room:
                continue
            if target not in ROOMS or ROOMS.index(target) > ROOMS.index(room):
                wrong.append(f"{path.relative_to(PACKAGE)}:{line} imports {module}")
    assert wrong == []


def test_other_rooms_are_entered_by_their_doors() -> None:
    wrong = []
    for room, path in _files():
        for line, module in _imports(path):
            parts = module.split(".")
            through = module in SIDE_DOORS or parts[1] in (room, *FOUNDATIONS)
            if len(parts) > 2 and not through:
                wrong.append(f"{path.relative_to(PACKAGE)}:{line} imports {module}")
    assert wrong == []


def test_foundations_stand_on_nothing() -> None:
    for name in FOUNDATIONS:
        for line, module in _imports(PACKAGE / f"{name}.py"):
            allowed = {"deltableu._shim", *(f"deltableu.{one}" for one in FOUNDATIONS)}
            assert module in allowed, f"{name}.py:{line} imports {module}"


def test_no_two_public_classes_have_one_name() -> None:
    homes = defaultdict(list)
    for _, path in _files():
        for node in ast.parse(path.read_text(encoding="utf-8")).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                homes[node.name].append(str(path.relative_to(PACKAGE)))
    assert {name: places for name, places in homes.items() if len(places) > 1} == {}
