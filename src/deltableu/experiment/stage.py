"""One step of an experiment: a command of this tool, what it reads, and what it makes."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from deltableu.errors import InputError, Problem


@dataclass(frozen=True, slots=True)
class Given:
    """A file, folder or pattern that is there before the experiment."""

    path: str


@dataclass(frozen=True, slots=True)
class Made:
    """What another stage makes."""

    stage: str
    name: str


@dataclass(frozen=True, slots=True)
class Result:
    """What this stage makes, by its name in the stage's folder."""

    name: str


@dataclass(frozen=True, slots=True)
class Work:
    """Where this stage keeps what it goes on from after being killed, in its folder."""

    name: str = "work"


@dataclass(frozen=True, slots=True)
class Named:
    """An argument of the form NAME=FILE."""

    name: str
    file: Given | Made


@dataclass(frozen=True, slots=True)
class Words:
    """An argument that is a command line of its own, with files that are there among its words."""

    words: tuple[str | Given | Named, ...]


Part: TypeAlias = str | Given | Made | Result | Work | Named | Words


@dataclass(frozen=True, slots=True)
class Stage:
    """A command whose result is kept.

    Attributes
    ----------
    name : str
    section : str
        The part of the configuration that its settings come from, for messages.
    command : tuple of parts
        Arguments of `deltableu`.
    running : tuple of str
        More of them, which change how it runs but not what comes out.
    printed : str
        The name of a file for what it prints; where empty, nobody needs to read that.
    """

    name: str
    section: str
    command: tuple[Part, ...]
    running: tuple[str, ...] = ()
    printed: str = ""

    @property
    def files(self) -> Iterator[Given | Made]:
        """All that it reads."""
        for part in self.command:
            for one in part.words if isinstance(part, Words) else (part,):
                if isinstance(one, Named):
                    yield one.file
                elif isinstance(one, Given | Made):
                    yield one

    @property
    def needs(self) -> tuple[str, ...]:
        """The stages whose results it reads."""
        return tuple(dict.fromkeys(one.stage for one in self.files if isinstance(one, Made)))

    @property
    def makes(self) -> tuple[str, ...]:
        """The names of what it makes."""
        made = [part.name for part in self.command if isinstance(part, Result)]
        return (*made, self.printed) if self.printed else tuple(made)

    def arguments(self, own: Path, made: Callable[[Made], Path]) -> list[str]:
        """The command as it is run, with its results in the folder `own`."""

        def text(part: Part) -> str:
            if isinstance(part, Words):
                return shlex.join(map(text, part.words))
            if isinstance(part, Named):
                return f"{part.name}={text(part.file)}"
            if isinstance(part, Given):
                return part.path
            if isinstance(part, Made):
                return str(made(part))
            return part if isinstance(part, str) else str(own / part.name)

        return [*map(text, self.command), *self.running]

    def described(self) -> str:
        """The command as people may type it, with results by the names of their stages.

        Examples
        --------
        >>> command = ("mine", Made("items", "study"), "-o", Result("study"))
        >>> Stage("mine", "mine", command).described()
        'deltableu mine items/study -o mine/study'
        """
        folder = Path(self.name)
        words = self.arguments(folder, lambda one: Path(one.stage) / one.name)
        return shlex.join(["deltableu", *words])


def in_order(stages: Sequence[Stage]) -> tuple[Stage, ...]:
    """The stages, each after those whose results it reads.

    Examples
    --------
    >>> last = Stage("b", "b", (Made("a", "x"),))
    >>> [one.name for one in in_order([last, Stage("a", "a", (Result("x"),))])]
    ['a', 'b']
    """
    waiting = {stage.name: stage for stage in stages}
    placed: dict[str, Stage] = {}
    while waiting:
        ready = [one for one in waiting.values() if all(name in placed for name in one.needs)]
        if not ready:
            circle = ", ".join(waiting)
            message = f"these stages wait for each other: {circle}"
            raise InputError(Problem(message, field=next(iter(waiting.values())).section))
        # One at a time, so that stages stay near those they were named with.
        placed[ready[0].name] = waiting.pop(ready[0].name)
    return tuple(placed.values())


def downstream(stages: Sequence[Stage], names: Sequence[str]) -> set[str]:
    """The stages that read results of these, directly or not, and these themselves."""
    found = set(names)
    for stage in in_order(stages):
        if found.intersection(stage.needs):
            found.add(stage.name)
    return found
