"""Results of partitions on disk, so that a long run can go on after being killed."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltableu.errors import InputError, Problem
from deltableu.io import atomic_path
from deltableu.mine.heaps import Heaps
from deltableu.mine.join import Counted, Joined
from deltableu.mine.rows import LoggedPair

__all__ = ["Checkpoints", "fingerprint"]

_DIGEST = hashlib.sha256().digest_size


def fingerprint(parts: Iterable[str]) -> str:
    """A short name of all that results depend on."""
    found = hashlib.sha256()
    for part in parts:
        found.update(f"{len(part)}:{part}".encode("utf-8", "surrogatepass"))
    return found.hexdigest()[:16]


@dataclass(frozen=True, slots=True)
class Checkpoints:
    """A folder with one file for each partition and pass, each written whole or not at all.

    Parameters
    ----------
    parent : Path, optional
        Holds the folders of runs; None keeps nothing.
    run : str
        The fingerprint; a run with other items, settings or logs has another folder.
    """

    parent: Path | None
    run: str

    @property
    def folder(self) -> Path | None:
        return None if self.parent is None else self.parent / self.run

    def begin(self) -> None:
        """Make the folder."""
        if self.folder is not None:
            try:
                self.folder.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                message = f"cannot be made to keep checkpoints in: {error.strerror or error}"
                raise InputError(Problem(message, file=str(self.folder))) from None

    def leave(self) -> None:
        """Remove the folders if there is nothing in them to go on with."""
        for folder in (self.folder, self.parent):
            if folder is not None:
                with suppress(OSError):
                    folder.rmdir()

    def end(self) -> None:
        """Remove what a finished run no longer needs."""
        if self.folder is not None and self.parent is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
            with suppress(OSError):
                self.parent.rmdir()

    def counted(self, partition: int) -> Counted | None:
        """What the first pass found, if it was finished."""
        found = self._load(f"counted-{partition:06}.npz")
        if found is None:
            return None
        arrays, notes = found
        problem = notes["problem"] and Problem(**notes["problem"])
        return Counted(notes["rows"], arrays["sums"], notes["skipped"], problem or None)

    def keep_counted(self, partition: int, result: Counted) -> None:
        notes = {
            "rows": result.rows,
            "skipped": result.skipped,
            "problem": result.problem and asdict(result.problem),
        }
        self._save(f"counted-{partition:06}.npz", {"sums": result.sums}, notes)

    def joined(self, partition: int) -> Joined | None:
        """What the second pass found, if it was finished."""
        found = self._load(f"joined-{partition:06}.npz")
        if found is None:
            return None
        arrays, notes = found
        heaps = Heaps(*(arrays[name] for name in ("scores", "positions", "keys", "sizes")))
        pairs, picked = (
            {position: LoggedPair(*texts) for position, *texts in notes[name]}
            for name in ("pairs", "picked")
        )
        return Joined(heaps, pairs, picked, arrays["leaks"], notes["dropped"], notes["rows"])

    def keep_joined(self, partition: int, result: Joined) -> None:
        if self.folder is None:
            return
        heaps = result.heaps
        arrays = {
            "scores": heaps.scores,
            "positions": heaps.positions,
            "keys": heaps.keys,
            "sizes": heaps.sizes,
            "leaks": result.leaks,
        }
        notes = {
            "pairs": _texts(result.pairs),
            "picked": _texts(result.picked),
            "dropped": dict(result.dropped),
            "rows": result.rows,
        }
        self._save(f"joined-{partition:06}.npz", arrays, notes)

    def _save(
        self, name: str, arrays: Mapping[str, np.ndarray[Any, Any]], notes: Mapping[str, Any]
    ) -> None:
        if self.folder is None:
            return
        encoded = np.frombuffer(json.dumps(notes).encode(), np.uint8)
        stream = io.BytesIO()
        np.savez(stream, **{"notes": encoded, **arrays})  # type: ignore[arg-type]
        data = stream.getvalue()
        path = self.folder / name
        try:
            with atomic_path(path) as temporary:
                temporary.write_bytes(data + hashlib.sha256(data).digest())
        except OSError as error:
            message = f"cannot be written: {error.strerror or type(error).__name__}"
            raise InputError(Problem(message, file=str(path))) from None

    def _load(self, name: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
        """None where there is none, or where it is damaged: then the work is done again."""
        if self.folder is None:
            return None
        try:
            data = (self.folder / name).read_bytes()
        except OSError:
            return None
        data, digest = data[:-_DIGEST], data[-_DIGEST:]
        if hashlib.sha256(data).digest() != digest:
            return None
        with np.load(io.BytesIO(data), allow_pickle=False) as found:
            arrays = {key: found[key] for key in found.files}
        return arrays, json.loads(arrays.pop("notes").tobytes())


def _texts(pairs: Mapping[int, LoggedPair]) -> list[list[Any]]:
    return [[position, *pair] for position, pair in pairs.items()]
