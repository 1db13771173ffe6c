"""Log files that are read more than once; what is wrong with them is said once."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Literal, TypeVar

from deltableu._types import Progress
from deltableu.errors import InputError, Problem
from deltableu.io import BrokenFile, FoundFile
from deltableu.logs.columns import Columns, layout_of
from deltableu.logs.posts import Posts, read_post_blocks
from deltableu.logs.read_rows import Advance
from deltableu.logs.turns import Dialogue, read_dialogues

_T = TypeVar("_T")


class Reading:
    """Log files, from the beginning as often as wanted.

    Parameters
    ----------
    hold : int
        About how many bytes of posts to keep, so that few posts need not be read again.

    Attributes
    ----------
    skipped : int
        Rows that could not be read.
    broken : list of Problem
        Files that could not be read to their end.
    """

    def __init__(
        self,
        files: Sequence[FoundFile],
        columns: Columns,
        on_error: Literal["stop", "skip"],
        progress: Progress | None = None,
        hold: int = 0,
    ) -> None:
        self._files = files
        self._columns = columns
        self._stop = on_error == "stop"
        self._progress = progress
        self._passes = 0
        self._held: list[Posts] | None = []
        self._room = hold
        self.skipped = 0
        self.broken: list[Problem] = []

    def report(self, problem: Problem) -> None:
        """Stop, or count a row that cannot be read; later passes find the same ones again."""
        if self._stop:
            raise InputError(problem)
        self.skipped += self._passes == 1

    def posts(self) -> Iterator[Posts]:
        """Yield all posts, many at once."""
        if self._passes > 0 and self._held is not None:
            yield from self._held
            return
        for file, advance in self._pass():
            for posts in self._whole(read_post_blocks(file, self._columns, self.report, advance)):
                self._hold(posts)
                yield posts

    def _hold(self, posts: Posts) -> None:
        self._room -= posts.size
        if self._room < 0:
            self._held = None
        elif self._held is not None:
            self._held.append(posts)

    def dialogues(self, name_by_file: bool) -> Iterator[tuple[str, Dialogue]]:
        """Yield file names and all dialogues."""
        for file, advance in self._pass():
            for dialogue in self._whole(self._dialogues(file, advance)):
                if name_by_file:
                    dialogue = replace(dialogue, name=f"{_stem(file.name)}/{dialogue.name}")
                yield file.name, dialogue

    def _dialogues(self, file: FoundFile, advance: Advance) -> Iterator[Dialogue]:
        layout = layout_of(file, self._columns)
        if layout is not None:
            called = self._called(file.name)
            yield from read_dialogues(file, layout, self._columns, self.report, advance, called)

    def _called(self, name: str) -> str:
        """What a file is called, with as many folders as tell it from the others."""
        parts = name.split("/")
        others = [file.name.split("/") for file in self._files if file.name != name]
        size = 1
        while size < len(parts) and any(other[-size:] == parts[-size:] for other in others):
            size += 1
        return "/".join(parts[-size:])

    def _pass(self) -> Iterator[tuple[FoundFile, Advance]]:
        self._passes += 1
        what = "reading" if self._passes == 1 else "writing"
        total = sum(file.size or 0 for file in self._files)
        before = 0

        def advance(done: int) -> None:
            if self._progress is not None:
                self._progress(what, min(before + done, total), total)

        for file in self._files:
            yield file, advance
            before += file.size or 0

    def _whole(self, rows: Iterator[_T]) -> Iterator[_T]:
        try:
            yield from rows
        except BrokenFile as error:
            if self._stop:
                raise
            if self._passes == 1 and error.problem not in self.broken:
                self.broken.append(error.problem)

    def check_unchanged(self) -> None:
        """Complain if a file is not what it was at first: places in it would mean other posts."""
        for file in self._files:
            if file.system is None:
                status = os.stat(file.name)
                if (status.st_size, str(status.st_mtime_ns)) != (file.size, file.stamp):
                    message = "has changed while it was read: start again"
                    raise InputError(Problem(message, file=file.name))


def _stem(name: str) -> str:
    """A file's name without folders and endings: `sgd` for `logs/sgd.tsv.gz`."""
    base = name.rpartition("/")[2]
    for ending in (".gz", ".zst", ".tsv", ".jsonl", ".parquet"):
        base = base.removesuffix(ending)
    return base
