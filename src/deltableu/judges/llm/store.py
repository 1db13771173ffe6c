"""Answers that were paid for: a file that only grows, so that none is ever asked for twice."""

from __future__ import annotations

import asyncio
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from deltableu.io import (
    JobLock,
    Journal,
    Own,
    PathLike,
    check_new_file,
    decode_object,
    fingerprint,
    unwritable,
)

_ANSWERS = "answers.jsonl"
_LOCK = "lock"


@dataclass(frozen=True, slots=True)
class KeptAnswer:
    """What a model answered.

    Attributes
    ----------
    key : str
        Made of all that it depends on.
    about : str
        What was judged, for people who read the file.
    text : str
        As it came.
    finish : str
        Why the model stopped.
    input_tokens, output_tokens : int or None
        As the server counted.
    """

    key: str
    about: str
    text: str
    finish: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None


class AnswerStore:
    """Answers by their keys, in memory and, with a folder, on the disk.

    Parameters
    ----------
    folder : path, optional
        Holds a folder for each model; None forgets when the process ends.
    model : str
    """

    def __init__(self, folder: PathLike | None, model: str) -> None:
        self._folder = None if folder is None else Path(folder) / _folder_name(model)
        self._journal = None if self._folder is None else Journal(self._folder / _ANSWERS)
        self._answers: dict[str, KeptAnswer] = {}
        self._read = 0
        self._waiting: list[tuple[KeptAnswer, asyncio.Future[None]]] = []
        self._writing: asyncio.Task[None] | None = None

    @property
    def path(self) -> Path | None:
        """The file."""
        return None if self._folder is None else self._folder / _ANSWERS

    def get(self, key: str) -> KeptAnswer | None:
        """The answer, if there is one."""
        return self._answers.get(key)

    def __len__(self) -> int:
        return len(self._answers)

    def load(self) -> None:
        """Read what was added since the last time; lines that were cut off are passed over."""
        path = self.path
        if path is None or not path.is_file():
            return
        check_new_file(path, own=Own.ANSWERS)
        try:
            with open(path, "rb") as stream:
                stream.seek(self._read)
                added = stream.read()
        except OSError as error:
            raise unwritable(path, error) from None
        whole = added[: added.rfind(b"\n") + 1]
        self._read += len(whole)
        for line in whole.splitlines():
            with suppress(ValueError, RecursionError):
                answer = _answer(decode_object(line.decode()))
                self._answers[answer.key] = answer

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else asks this model meanwhile, and what others asked before is known."""
        if self._folder is None:
            yield
            return
        is_new = not self._folder.parent.exists()
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            lock = JobLock(self._folder / _LOCK)
        except OSError as error:
            raise unwritable(self._folder, error) from None
        try:
            self.load()
            yield
        finally:
            lock.release()
            if not self._answers:  # nothing was answered: nothing stays
                _remove_empty(self._folder, with_parent=is_new)

    async def keep(self, answer: KeptAnswer) -> None:
        """Add an answer; it is on the disk when this returns, and counts only then."""
        if self._journal is None:
            self._answers[answer.key] = answer
            return
        written = asyncio.get_running_loop().create_future()
        self._waiting.append((answer, written))
        if self._writing is None or self._writing.done():
            self._writing = asyncio.create_task(self._write())
        await written

    async def _write(self) -> None:
        """Write what is waiting, together what came together, until nothing is."""
        while self._waiting:
            batch, self._waiting = self._waiting, []
            try:
                await asyncio.to_thread(self._add, [answer for answer, _ in batch])
            except Exception as error:
                for _, written in batch:
                    if not written.done():
                        written.set_exception(error)
                continue
            for _, written in batch:
                if not written.done():
                    written.set_result(None)

    def flush(self) -> None:
        """Write what was received and not written yet, where a run ends in the middle."""
        batch, self._waiting = self._waiting, []
        if batch:
            self._add([answer for answer, _ in batch])

    def _add(self, answers: list[KeptAnswer]) -> None:
        if self._journal is not None:
            self._journal.add(map(_record, answers))
        self._answers.update({answer.key: answer for answer in answers})


def _record(answer: KeptAnswer) -> dict[str, Any]:
    return {name: getattr(answer, name) for name in KeptAnswer.__slots__}


def _answer(values: dict[str, Any]) -> KeptAnswer:
    texts = [values.get(name) for name in ("key", "about", "text", "finish")]
    if not all(isinstance(text, str) for text in texts):
        raise ValueError("an answer lacks texts")
    tokens = [values.get(name) for name in ("input_tokens", "output_tokens")]
    if not all(number is None or type(number) is int for number in tokens):
        raise ValueError("tokens are whole numbers")
    return KeptAnswer(*texts, *tokens)  # type: ignore[arg-type]


def _folder_name(model: str) -> str:
    """A name for files that no other model has."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", model).strip(".-")[:60] or "model"
    return f"{plain}-{fingerprint([model])[:8]}"


def _remove_empty(folder: Path, *, with_parent: bool) -> None:
    with suppress(OSError):
        if os.listdir(folder) == [_LOCK]:
            (folder / _LOCK).unlink()
            folder.rmdir()
            if with_parent:
                folder.parent.rmdir()
