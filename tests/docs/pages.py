"""Pages of Markdown as what they hold: commands, Python, and what these print.

A fence says what its block is: `sh` are commands, `python` is Python (with `>>>`, a session),
`text` is what the commands before it print, with `...` for lines left out. Of `text varies` the
numbers differ between machines; `text elsewhere` is printed by something that no test runs.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent

ROOT = Path(__file__).parents[2]
PAGES = (
    "README.md",
    "CONTRIBUTING.md",
    "examples/README.md",
    *sorted(str(path.relative_to(ROOT)) for path in (ROOT / "docs").rglob("*.md")),
)
KINDS = (
    "bash",
    "python",
    "sh",
    "text",
    "text varies",
    "text elsewhere",
    "sh elsewhere",
    "toml",
    "yaml",
)

_FENCE = re.compile(r"^( *)```([^\n]*)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)


@dataclass(frozen=True)
class Block:
    """One fenced block of a page."""

    kind: str
    text: str
    line: int


def blocks(page: str) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = (ROOT / page).read_text(encoding="utf-8")
    return [
        Block(found[2].strip(), dedent(found[3]), text.count("\n", 0, found.start()) + 1)
        for found in _FENCE.finditer(text)
    ]


def commands(text: str) -> Iterator[list[str]]:
    """The commands of a block, with their lines put together and comments taken off."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if words:
            yield words


def missing(shown: str, printed: str, *, numbers: bool = True) -> str | None:
    """The first line that is shown but was not printed in this order, or None."""

    def compared(line: str) -> str:
        return line.rstrip() if numbers else " ".join(re.sub(r"[\da-f.]+", "0", line).split())

    rest = iter([compared(line) for line in printed.splitlines()])
    for line in shown.splitlines():
        if line.strip() not in ("", "...") and compared(line) not in rest:
            return line
    return None
