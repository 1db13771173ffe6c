"""docs/reproductions.md: sections that can be remade one by one."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

__all__ = ["INTRODUCTION", "assemble", "split"]

INTRODUCTION = """# Reproductions

Written by `make reproduce` (deltableu) from public data sets, which are not part of this project.
Every number is from that run; nothing is edited by hand. One section is remade by
`python -m reproduce NAME`: {names}.

Unless a section says otherwise, intervals are 95%. Over segments they are bootstrap percentiles
over items (1,000 resamples, seed 0) and speak of other items for the same systems. Over systems
they come from Fisher's z: standard error 1 / sqrt(n - 3) for Pearson's r, Bonett and Wright's for
Spearman's rho, sqrt(0.437 / (n - 4)) for Kendall's tau; they speak of other systems. A perfect
correlation has none. A difference is ours minus published.
"""

_MARK = re.compile(r"^<!-- section: ([\w-]+) -->\n", re.MULTILINE)


def assemble(sections: Mapping[str, str], order: Iterable[str]) -> str:
    """The page, with the sections that there are."""
    names = list(order)
    parts = [INTRODUCTION.format(names=", ".join(f"`{name}`" for name in names))]
    parts += [f"<!-- section: {name} -->\n{sections[name]}" for name in names if name in sections]
    return "\n".join(parts)


def split(page: str) -> dict[str, str]:
    """The sections of a page, by name.

    Examples
    --------
    >>> split(assemble({"b": "## B\\n", "a": "## A\\n"}, ["a", "b"]))
    {'a': '## A\\n', 'b': '## B\\n'}
    """
    _, *found = _MARK.split(page)
    return {
        name: text.rstrip("\n") + "\n" for name, text in zip(found[::2], found[1::2], strict=True)
    }
