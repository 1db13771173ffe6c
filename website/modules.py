"""The reference of the library, a page per room, from docstrings (by mkdocstrings)."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import deltableu

#: Rooms in the order of the loop that a study goes through; the last are parts of other rooms.
ROOMS = (
    "corpus",
    "layouts",
    "text",
    "logs",
    "vectors",
    "mine",
    "rate",
    "score",
    "judges",
    "compare",
    "validate",
    "tune",
    "respond",
    "report",
    "experiment",
    "integrations",
    "stats",
    "io",
    "testing",
    "judges.llm",
    "rate.server",
)
#: Functions that static analysis takes for the module of the same name.
_HIDDEN = {"compare": ("sensitivity.sensitivity",)}
#: A page's own heading stands above what the room's docstring says.
_OPTIONS = "    options:\n      show_root_heading: false\n      show_root_toc_entry: false\n"


def module_pages() -> Iterator[tuple[str, str]]:
    """Each room, and its page in Markdown."""
    for room in ROOMS:
        page = f"# deltableu.{room}\n\n::: deltableu.{room}\n{_OPTIONS}"
        for name in _HIDDEN.get(room, ()):
            page += f"\n::: deltableu.{room}.{name}\n    options:\n      heading_level: 2\n"
        yield room, page


def module_index() -> str:
    """The page of what `import deltableu` offers by itself, and of the rooms."""
    names = "\n".join(
        f"| [`{name}`][{_home(name)}] | {_first_line(getattr(deltableu, name))} |"
        for name in sorted(deltableu.__all__, key=str.lower)
        if not name.startswith("_")
    )
    rooms = "\n".join(
        f"| [`deltableu.{room}`]({room}.md) | {_first_line(import_module(f'deltableu.{room}'))} |"
        for room in ROOMS
    )
    return (
        "# The library\n\n"
        "`import deltableu` offers what most people need; everything else is in its rooms. How to\n"
        "use it is in [Use it from Python](../../how-to/python.md).\n\n"
        f"| name | what it is |\n|---|---|\n{names}\n\n"
        f"## Rooms\n\n| room | what comes in, what goes out |\n|---|---|\n{rooms}\n"
    )


def _home(name: str) -> str:
    """Where a name is documented: in the room that offers it, not in the part that defines it."""
    room = deltableu._HOMES[name]
    hidden = {one.rpartition(".")[2]: one for one in _HIDDEN.get(room, ())}
    return f"deltableu.{room}.{hidden.get(name, name)}"


def _first_line(found: object) -> str:
    return (found.__doc__ or "").strip().split("\n\n")[0].replace("\n", " ").replace("|", "\\|")
