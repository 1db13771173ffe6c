"""Stages in; for each a key out, which is another one where anything that it depends on is."""

from __future__ import annotations

import glob
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

import msgspec

from deltableu._version import __version__
from deltableu.errors import InputError, Problem
from deltableu.experiment.stage import Given, Made, Named, Part, Stage, Words
from deltableu.io import atomic_write, fingerprint, is_url, json_text

_CHUNK = 1 << 20
#: Size, time in nanoseconds, and hash of each file.
_Known = dict[str, tuple[int, int, str]]


class FileHashes:
    """Hashes of files by what is in them; unchanged ones are not read again.

    Parameters
    ----------
    memory : Path, optional
        Where hashes are kept, with the size and time of each file.
    """

    def __init__(self, memory: Path | None = None) -> None:
        self._memory = memory
        self._known: _Known = {}
        if memory is not None:
            with suppress(OSError, ValueError, RecursionError):
                self._known = msgspec.json.decode(memory.read_bytes(), type=_Known)
        self._changed = False

    def hash(self, given: Given, section: str = "") -> str:
        """One hash of all that a file, folder or pattern holds; of a URL, of its name."""
        if is_url(given.path):
            return fingerprint([given.path])
        found = sorted(_files(given.path))
        if not found:
            message = f"there is no file {given.path}"
            raise InputError(Problem(message, field=section or None))
        return fingerprint(
            part
            for path in found
            for part in (os.path.relpath(path, given.path), self._of_file(path))
        )

    def _of_file(self, path: str) -> str:
        there = os.stat(path)
        state = there.st_size, there.st_mtime_ns
        known = self._known.get(path)
        if known is not None and known[:2] == state:
            return known[2]
        digest = hashlib.blake2b(digest_size=16)
        with open(path, "rb") as file:
            while chunk := file.read(_CHUNK):
                digest.update(chunk)
        self._known[path] = (*state, digest.hexdigest())
        self._changed = True
        return digest.hexdigest()

    def keep(self) -> None:
        """Write what is known, for the next run."""
        if self._memory is not None and self._changed:
            with atomic_write(self._memory) as file:
                file.write(json_text(self._known))
            self._changed = False


def _files(path: str) -> Iterator[str]:
    """The files that a path or pattern leads to, without hidden ones in folders."""
    places = [path] if os.path.exists(path) else glob.glob(path, recursive=True)
    for place in places:
        if os.path.isfile(place):
            yield os.path.abspath(place)
            continue
        for folder, folders, names in os.walk(place):
            folders[:] = [name for name in folders if not name.startswith(".")]
            for name in names:
                if not name.startswith("."):
                    yield os.path.abspath(os.path.join(folder, name))


@cache
def code_hash() -> str:
    """The version of this package and, as it may be changed in its place, all of its code."""
    package = Path(__file__).parent.parent
    digest = hashlib.blake2b(__version__.encode(), digest_size=16)
    for path in sorted(package.rglob("*.py")):
        digest.update(str(path.relative_to(package)).encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def stage_keys(
    stages: Sequence[Stage], hashes: FileHashes, code: str | None = None
) -> Mapping[str, str]:
    """The key of each stage: of its command, of what it reads, and of the code.

    Parameters
    ----------
    stages
        In order.
    hashes
        Of files from outside.
    code
        By default `code_hash()`.
    """
    keys: dict[str, str] = {}

    def part_key(part: Part, section: str) -> str:
        if isinstance(part, Words):
            return fingerprint(part_key(word, section) for word in part.words)
        if isinstance(part, Named):
            return f"{part.name}={part_key(part.file, section)}"
        if isinstance(part, Given):
            # What it is called may say how it is read.
            return f"given {os.path.basename(part.path)} {hashes.hash(part, section)}"
        if isinstance(part, Made):
            return f"made {part.name} {keys[part.stage]}"
        return f"{type(part).__name__} {part if isinstance(part, str) else part.name}"

    code = code_hash() if code is None else code
    for stage in stages:
        parts = [part_key(part, stage.section) for part in stage.command]
        keys[stage.name] = fingerprint([code, stage.name, stage.printed, *parts])
    return keys
