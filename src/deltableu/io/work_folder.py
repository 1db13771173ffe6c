"""What a long job keeps on the disk, so that it goes on after being killed."""

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

import numpy as np

from deltableu._types import AnyArray
from deltableu.errors import InputError, Problem
from deltableu.io.atomic import atomic_path, unwritable
from deltableu.io.jsonl import decode_object
from deltableu.io.names import PathLike

_DIGEST = hashlib.sha256().digest_size
_MARKER = "deltableu.json"
_NOTES = "notes"


def fingerprint(parts: Iterable[str]) -> str:
    """A short name of all that results depend on."""
    found = hashlib.sha256()
    for part in parts:
        found.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:16]


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
    >>> arrays["sums"], notes
    (array([1, 2]), {'rows': 7})
    """

    def __init__(self, parent: PathLike | None, key: str) -> None:
        self._parent = None if parent is None else Path(parent)
        self._key = key
        self._made = False

    @property
    def folder(self) -> Path | None:
        """The job's own folder."""
        return None if self._parent is None else self._parent / self._key

    def begin(self) -> None:
        """Make the folder; it is marked, so that nothing else is ever taken for one."""
        folder = self.folder
        if folder is None:
            return
        if folder.is_dir() and any(folder.iterdir()):
            if not (folder / _MARKER).is_file():
                message = "was not made for checkpoints: move it away, or choose another place"
                raise InputError(Problem(message, file=str(folder)))
            return
        try:
            folder.mkdir(parents=True, exist_ok=True)
            self._made = True
            with atomic_path(folder / _MARKER) as file:
                file.write_text(json.dumps({"key": self._key}) + "\n", "utf-8")
        except OSError as error:
            message = f"cannot be made to keep checkpoints in: {error.strerror or error}"
            raise InputError(Problem(message, file=str(folder))) from None

    def keep(
        self, name: str, arrays: Mapping[str, AnyArray], notes: Mapping[str, Any] | None = None
    ) -> None:
        """Keep arrays, and what JSON can hold; replaces the part that had this name."""
        if self.folder is None:
            return
        path = self.folder / f"{name}.npz"
        encoded = np.frombuffer(json.dumps(dict(notes or {})).encode(), np.uint8)
        try:
            with atomic_path(path) as temporary, open(temporary, "w+b") as file:
                np.savez(file, **{_NOTES: encoded, **arrays})  # type: ignore[arg-type]
                file.seek(0)
                digest = self._digest(name, file)
                file.seek(0, 2)
                file.write(digest)
        except OSError as error:
            raise unwritable(path, error) from None

    def kept(self, name: str) -> tuple[dict[str, AnyArray], dict[str, Any]] | None:
        """A part's arrays and notes; None if it is not there or damaged, or of another job."""
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
            with np.load(file, allow_pickle=False) as found:
                arrays = {key: found[key] for key in found.files}
            return arrays, decode_object(arrays.pop(_NOTES).tobytes().decode())
        return None

    def _digest(self, name: str, file: IO[bytes], size: int | None = None) -> bytes:
        """Of the job, the part's name and its bytes, so that none of these can be exchanged."""
        found = hashlib.sha256(json.dumps([self._key, name]).encode())
        while chunk := file.read(1 << 20 if size is None else min(max(size, 0), 1 << 20)):
            found.update(chunk)
            size = None if size is None else size - len(chunk)
        return found.digest()

    def has(self, prefix: str = "") -> bool:
        """Whether there is a part whose name begins so."""
        return self.folder is not None and any(self.folder.glob(f"{prefix}*.npz"))

    @contextmanager
    def worth_keeping(self, prefix: str = "") -> Iterator[None]:
        """If the block fails, leave no folder behind that holds nothing to go on with.

        After an error of the user's, that is one without a part that begins so.
        """
        try:
            yield
        except BaseException as error:
            useless = isinstance(error, InputError) and self._made and not self.has(prefix)
            if useless or not self.has():
                self.end()
            raise

    def end(self) -> None:
        """Remove what a finished job no longer needs, and nothing else."""
        folder, parent = self.folder, self._parent
        if folder is None or parent is None:
            return
        if (folder / _MARKER).is_file():
            shutil.rmtree(folder, ignore_errors=True)
        for place in (folder, parent):
            with suppress(OSError):
                place.rmdir()
