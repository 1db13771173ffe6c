"""What stands on the disk, to see that nothing of anybody's was touched."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Entry:
    """A file, folder or link: all that a careless program could change."""

    mode: int
    written: int  # nanoseconds; of folders 0, since making a file beside another changes it
    content: bytes

    @classmethod
    def of(cls, path: str) -> Entry:
        found = os.lstat(path)
        if stat.S_ISDIR(found.st_mode):
            return cls(found.st_mode, 0, b"")
        if stat.S_ISLNK(found.st_mode):
            return cls(found.st_mode, 0, os.fsencode(os.readlink(path)))
        content = Path(path).read_bytes() if stat.S_ISREG(found.st_mode) else b""
        return cls(found.st_mode, found.st_mtime_ns, content)


def snapshot(root: str | Path) -> dict[str, Entry]:
    """All entries below a folder, by path."""
    found = {}
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            path = os.path.join(folder, name)
            found[path] = Entry.of(path)
    return found


def changed(before: dict[str, Entry], after: dict[str, Entry]) -> list[str]:
    """Paths that were there, and are not, or not as they were."""
    return [path for path, entry in before.items() if after.get(path) != entry]


def new(before: dict[str, Entry], after: dict[str, Entry]) -> list[str]:
    """Paths that were not there, shortest first."""
    return sorted(set(after) - set(before), key=lambda path: (len(path), path))


def plant_strangers(folder: Path) -> None:
    """Other people's files, with names that a careless cleaner would take for its own."""
    (folder / "sub").mkdir(parents=True, exist_ok=True)
    names = ("key", "vocabulary", "pairs.npz", "journal.jsonl", "part-0.npz", "counted-0.npz")
    for name in (*names, "deltableu.json.old", ".tmp-theirs", "notes.tmp", "sub/deep.txt"):
        path = folder / name
        if not path.exists():
            path.write_text(f"somebody's {name}\n")
            os.chmod(path, 0o640)
