"""Plain text: one line per item, a file for each system, reference and source."""

from __future__ import annotations

import glob
import os
from collections.abc import Iterator, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar

from deltableu.errors import InputError, Problem
from deltableu.io import Report, read_lines
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.parts import FoundItem, FoundOutput, FoundReference, Place

_ENDINGS = (".gz", ".zst", ".txt", ".out", ".hyp")


class TextLayout(Layout):
    """Line n of every file belongs to item n."""

    name: ClassVar[str] = "text"
    summary: ClassVar[str] = "plain text, one line per item: systems, references, sources"
    example: ClassVar[str] = "text outputs/*.txt --refs ref0.txt ref1.txt --sources source.txt"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        systems = (*request.paths, *request.systems)
        if not request.references:
            raise InputError("name the references with --refs, one file for each")
        names = system_names(systems, request.names)
        yield from read_aligned(
            list(request.references),
            list(request.sources),
            dict(zip(names, systems, strict=True)),
            report,
            documents=list(request.documents),
        )


def system_names(paths: Sequence[Path], pattern: str | None) -> list[str]:
    """Names of systems by those of their files: as short as tells them apart.

    Examples
    --------
    >>> system_names([Path("a/out.txt"), Path("b/out.txt")], None)
    ['a.out', 'b.out']
    >>> system_names([Path("newstest2017.online-A.0.cs-en.gz")], "newstest2017.{}.cs-en")
    ['online-A.0']
    """
    names = [_bare(path.name) for path in paths]
    if pattern is not None:
        begin, mark, end = pattern.partition("{}")
        if not mark:
            raise InputError(
                f"--names takes a pattern with {{}} where the name is, got {pattern!r}"
            )
        for path, name in zip(paths, names, strict=True):
            if not (name.startswith(begin) and name.endswith(end)):
                message = f"its name does not fit the pattern {pattern!r}"
                raise InputError(Problem(message, file=str(path)))
        names = [name[len(begin) : len(name) - len(end)] for name in names]
    if len(set(names)) < len(names):
        names = [f"{path.parent.name}.{name}" for path, name in zip(paths, names, strict=True)]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"two files are of one system {name!r}: rename one of them")
    return names


def _bare(name: str) -> str:
    for ending in _ENDINGS:
        name = name.removesuffix(ending) or name
    return name


def read_aligned(
    references: Sequence[Path],
    sources: Sequence[Path],
    systems: dict[str, Path],
    report: Report,
    *,
    documents: Sequence[Path] = (),
    first: int = 1,
) -> Parts:
    """Items of files whose lines belong together; their ids are numbers from `first` on."""
    files = [*references, *sources, *documents, *systems.values()]
    streams = [read_lines(path, report) for path in files]
    for number, lines in enumerate(zip_longest(*streams), start=1):
        texts = _texts(lines, files, number)
        item = str(number + first - 1)
        said, rest = texts[: len(references)], texts[len(references) :]
        source, rest = rest[: len(sources)], rest[len(sources) :]
        about, outputs = rest[: len(documents)], rest[len(documents) :]
        place = Place(str(files[0]), number)
        yield (
            FoundItem(
                item,
                source[-1] if source else None,
                tuple(source[:-1]),
                tuple(FoundReference(text) for text in said if text),
                {"document": about[0]} if about else {},
            ),
            place,
        )
        for (name, path), text in zip(systems.items(), outputs, strict=True):
            yield FoundOutput(name, item, text), Place(str(path), number)


def _texts(
    lines: Sequence[tuple[int, str] | None], files: Sequence[Path], number: int
) -> list[str]:
    short = next((file for line, file in zip(lines, files, strict=True) if line is None), None)
    if short is not None:
        full = next(file for line, file in zip(lines, files, strict=True) if line is not None)
        message = f"has {number - 1} lines, but {full} has more: lines must belong together"
        raise InputError(Problem(message, file=str(short)))
    return [line[1] for line in lines if line is not None]


def expanded(patterns: Sequence[str]) -> tuple[Path, ...]:
    """Paths, and what patterns with * stand for."""
    return tuple(path for pattern in patterns for path in _expanded(pattern))


def _expanded(pattern: str) -> Iterator[Path]:
    if os.path.lexists(pattern) or not glob.has_magic(pattern):
        yield Path(pattern)
        return
    found = sorted(glob.glob(pattern, recursive=True))
    if not found:
        raise InputError(Problem("no file matches this pattern", file=pattern))
    yield from map(Path, found)
