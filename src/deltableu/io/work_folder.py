"""What a long job keeps on the disk, so that it goes on after being killed."""

from __future__ import annotations

import hashlib
import json
import math
import os
import zipfile
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, Literal

import numpy as np

from deltableu._types import AnyArray
from deltableu.errors import InputError, Problem
from deltableu.io.atomic import (
    remove,
    remove_left_behind,
    replacing,
    scratch_name,
    temporary_beside,
    unwritable,
)
from deltableu.io.job_lock import JobLock
from deltableu.io.jsonl import decode_object
from deltableu.io.names import PathLike

_DIGEST = hashlib.sha256().digest_size
_MARKER = "deltableu.json"
_LOCK = "lock"
_SCRATCH = "scratch"
_NOTES = "notes"
_TRIES = 100
#: Another one where what jobs keep is no longer what they kept before.
_FORM = b"3"


def fingerprint(parts: Iterable[str]) -> str:
    """A short name of all that results depend on, and of the form in which they are kept."""
    found = hashlib.sha256(_FORM)
    for part in parts:
        found.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:16]


def holds_work(parent: PathLike) -> bool:
    """Whether a folder holds that of some job with something to go on with."""
    return any(
        part.is_file()
        for marker in Path(parent).glob(f"*/{_MARKER}")
        if marker.is_file()
        for part in marker.parent.glob("*.npz")
    )


class WorkFolder:
    """A folder that one job made for itself, with named parts, each whole or not there.

    Parameters
    ----------
    parent : path, optional
        Holds the folder, and perhaps those of other jobs and other things; None keeps nothing.
    key : str
        The fingerprint of all that is computed, and the folder's name: a job with other data or
        settings has another folder.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as parent:
    ...     work = WorkFolder(parent, fingerprint(["these logs", "these settings"]))
    ...     work.begin()
    ...     work.keep("counts", {"sums": np.array([1, 2])}, {"rows": 7})
    ...     arrays, notes = work.kept("counts")
    ...     work.end()
    >>> arrays["sums"], notes
    (array([1, 2]), {'rows': 7})
    """

    def __init__(self, parent: PathLike | None, key: str) -> None:
        self._parent = None if parent is None else Path(os.path.abspath(parent))
        self._key = key
        self._lock: JobLock | None = None
        self._began = False
        self._lacks_room = False

    @property
    def folder(self) -> Path | None:
        """The job's own folder."""
        return None if self._parent is None else self._parent / self._key

    def begin(self) -> None:
        """Make the folder and lock it; it is marked, so that nothing else is ever taken for one.

        What an earlier run of this job left half-written goes.
        """
        folder = self.folder
        if folder is None or self._lock is not None:
            return
        made: list[Path] = []
        try:
            tries = 0
            while self._lock is None:
                try:
                    self._make(folder, made)
                    self._lock = JobLock(folder / _LOCK)
                except FileNotFoundError:
                    # A run that ends may take the folder away at the same time.
                    tries += 1
                    if tries == _TRIES:
                        raise
            remove_left_behind(folder)
            self._mark(folder / _MARKER, len(made))
            for name in filter(_is_passing, os.listdir(folder)):
                remove(folder / name)
        except BaseException as error:
            if folder in made:
                with suppress(OSError, InputError):
                    # An interrupt may have come while it was got; nobody else's is taken.
                    self._lock = self._lock or JobLock(folder / _LOCK)
                    self._remove_all(folder)
            self.release()
            for place in reversed(made):
                with suppress(OSError):
                    place.rmdir()
            if isinstance(error, OSError):
                message = f"cannot be made to keep checkpoints in: {error.strerror or error}"
                raise InputError(Problem(message, file=str(folder))) from None
            raise

    def _make(self, folder: Path, made: list[Path]) -> None:
        """Make the folder and those above it; `made` gets what was not there."""
        missing = [place for place in (folder, *folder.parents) if not os.path.lexists(place)]
        for place in reversed(missing):
            made.append(place)  # before it is made: an interrupt may come right after
            try:
                place.mkdir()
            except FileExistsError:
                made.remove(place)
        names = set(os.listdir(folder)) - {_LOCK}
        if _MARKER not in names and not all(map(_is_passing, names)):
            message = "was not made for checkpoints: move it away, or choose another place"
            raise InputError(Problem(message, file=str(folder)))

    def _mark(self, marker: Path, made: int) -> None:
        self._began = not marker.exists()
        if self._began:
            with replacing(marker, marker) as file:
                file.write_text(json.dumps({"key": self._key, "made": made}) + "\n", "utf-8")

    def keep(
        self, name: str, arrays: Mapping[str, AnyArray], notes: Mapping[str, Any] | None = None
    ) -> None:
        """Keep arrays, and what JSON can hold; replaces the part that had this name."""
        if self.folder is None:
            return
        path = self.folder / f"{name}.npz"
        encoded = np.frombuffer(json.dumps(dict(notes or {})).encode(), np.uint8)
        self._lacks_room = True
        try:
            with replacing(path, path) as temporary, open(temporary, "w+b") as file:
                np.savez(file, **{_NOTES: encoded, **arrays})  # type: ignore[arg-type]
                file.seek(0)
                digest = self._digest(name, file)
                file.seek(0, 2)
                file.write(digest)
        except OSError as error:
            raise unwritable(path, error) from None
        self._lacks_room = False

    def kept(
        self, name: str, *, mapped: bool = False
    ) -> tuple[dict[str, AnyArray], dict[str, Any]] | None:
        """A part's arrays and notes; None if it is not there or damaged, or of another job.

        With `mapped`, arrays stay on the disk and are read where they are used.
        """
        if self.folder is None:
            return None
        with suppress(OSError, ValueError), open(self.folder / f"{name}.npz", "rb") as file:
            size = file.seek(0, 2) - _DIGEST
            file.seek(max(size, 0))
            digest = file.read()
            file.seek(0)
            if self._digest(name, file, size) != digest:
                return None
            file.seek(0)
            if mapped:
                arrays = dict(_mapped(file))
            else:
                with np.load(file, allow_pickle=False) as found:
                    arrays = {key: found[key] for key in found.files}
            return arrays, decode_object(arrays.pop(_NOTES).tobytes().decode())
        return None

    def _digest(self, name: str, file: IO[bytes], size: int | None = None) -> bytes:
        """A hash of the job, the part's name and its bytes: none of these can be exchanged."""
        found = hashlib.sha256(json.dumps([self._key, name]).encode())
        while chunk := file.read(1 << 20 if size is None else min(max(size, 0), 1 << 20)):
            found.update(chunk)
            size = None if size is None else size - len(chunk)
        return found.digest()

    def has(self, prefix: str = "") -> bool:
        """Whether there is a part whose name begins so."""
        return self.folder is not None and any(self.folder.glob(f"{prefix}*.npz"))

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        """A folder for what only this run needs: in the job's own one, or the system's."""
        place = scratch_name() if self.folder is None else self.folder / _SCRATCH
        try:
            place.mkdir(exist_ok=True)
            yield place
        except OSError as error:
            if error.filename is None:
                raise unwritable(place, error) from None
            raise
        finally:
            remove(place)

    @contextmanager
    def worth_keeping(self, prefix: str = "") -> Iterator[None]:
        """Begin; if the block fails, leave no folder behind that holds nothing to go on with.

        After an error of the user's, that is one without a part that begins so. If the block ends
        well, the folder stays this run's until `end` or `release`.
        """
        self.begin()
        try:
            yield
        except BaseException as error:
            wrong = isinstance(error, InputError) and not self._lacks_room
            if not self.has() or (wrong and self._began and not self.has(prefix)):
                self.end()
            self.release()
            raise

    def release(self) -> None:
        """Leave the folder as it is, to whoever goes on with it."""
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()

    def end(self) -> None:
        """Remove what a finished job no longer needs: what this job made, and nothing else."""
        folder = self.folder
        if folder is None or self._lock is None:
            return
        made = _number_made(folder / _MARKER)
        self._remove_all(folder)
        self.release()
        with suppress(OSError):
            for place in folder.parents[: max(made - 1, 0)]:
                place.rmdir()

    def _remove_all(self, folder: Path) -> None:
        """Remove the folder, if this run has its lock; with a stranger in it, all but that."""
        if self._lock is None:
            return
        with suppress(OSError):
            names = os.listdir(folder)
            own = [name for name in names if _is_own(name)]
            if len(own) == len(names):
                # All at once, so that who comes meanwhile finds it whole or not at all.
                going = temporary_beside(folder)
                folder.rename(going)
                remove(going)
                return
            for name in own:
                remove(folder / name)


def _is_passing(name: str) -> bool:
    """Whether what has this name in a job's folder is of no use to the next run."""
    return name == _SCRATCH or (name.startswith(".") and name.endswith(".deltableu.tmp"))


def _is_own(name: str) -> bool:
    return name in (_MARKER, _LOCK) or name.endswith(".npz") or _is_passing(name)


def _number_made(marker: Path) -> int:
    """How many folders the job made, its own and those above it."""
    with suppress(OSError, ValueError):
        made = decode_object(marker.read_text("utf-8")).get("made")
        return made if isinstance(made, int) else 0
    return 0


def _mapped(file: IO[bytes]) -> Iterator[tuple[str, AnyArray]]:
    """The arrays of a file by `np.savez`, which packs nothing, where they lie."""
    with zipfile.ZipFile(file) as parts:
        for part in parts.infolist():
            with parts.open(part) as member:
                version = np.lib.format.read_magic(member)
                read = {
                    (1, 0): np.lib.format.read_array_header_1_0,
                    (2, 0): np.lib.format.read_array_header_2_0,
                }[version]
                shape, fortran, kind = read(member)
                header = member.tell()
            # Behind the local header, of which two fields differ from that of the directory.
            file.seek(part.header_offset + 26)
            sizes = np.frombuffer(file.read(4), "<u2")
            begin = part.header_offset + 30 + int(sizes.sum()) + header
            order: Literal["F", "C"] = "F" if fortran else "C"
            array: AnyArray
            if math.prod(shape):
                array = np.memmap(file, kind, "c", begin, shape, order)
            else:  # nothing can be mapped
                array = np.empty(shape, kind)
            yield part.filename.removesuffix(".npy"), array
