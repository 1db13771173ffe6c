"""Paths, patterns, folders and URLs in; the log files they stand for out."""

from __future__ import annotations

import glob
import os
import re
import stat
from collections.abc import Iterable, Iterator
from typing import Any

from deltableu.errors import InputError, Problem
from deltableu.io import PathLike
from deltableu.logs.read_files import LogFile, form_of

__all__ = ["find_files"]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?:://|::)")
_STAMPS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created")
_SUFFIXES = "log files end in .jsonl, .tsv or .parquet, the first two also with .gz or .zst"


def find_files(logs: Iterable[PathLike]) -> list[LogFile]:
    """Log files in the order in which they are named; those of a folder or pattern by name."""
    found: dict[str, LogFile] = {}
    for log in logs:
        name = os.fspath(log)
        if isinstance(log, str) and name.startswith("file://"):
            name = name.removeprefix("file://")
        remote = isinstance(log, str) and _URL.match(name) is not None
        for file in _remote_files(name) if remote else _local_files(name):
            key = file.name if remote else os.path.abspath(file.name)
            found.setdefault(key, file)
    return list(found.values())


def _local_files(name: str) -> Iterator[LogFile]:
    # A file may have brackets in its name, so a pattern is only what is not there.
    if os.path.isdir(name):
        yield from _local_folder(name)
    elif not os.path.lexists(name) and glob.has_magic(name):
        matches = sorted(glob.glob(name, recursive=True))
        files = {path: None for path in matches if form_of(path) and not os.path.isdir(path)}
        for folder in (path for path in matches if os.path.isdir(path)):
            files.update(dict.fromkeys(_walk(folder)))
        _must_hold(files, name, matches)
        yield from map(_local_file, sorted(files))
    else:
        _must_be_log(name)
        yield _local_file(name)


def _local_folder(name: str) -> Iterator[LogFile]:
    paths = sorted(_walk(name))
    _must_hold(paths, name, ())
    yield from map(_local_file, paths)


def _walk(folder: str) -> Iterator[str]:
    for place, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in names:
            if form_of(name) and not name.startswith((".", "_")):
                yield os.path.join(place, name)


def _local_file(name: str) -> LogFile:
    try:
        status = os.stat(name)
    except FileNotFoundError:
        raise InputError(Problem("there is no such file", file=name)) from None
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror}", file=name)) from None
    if not stat.S_ISREG(status.st_mode):
        message = "is not an ordinary file, but logs are read more than once: save it first"
        raise InputError(Problem(message, file=name))
    if not os.access(name, os.R_OK):
        message = "may not be read by this user: change its permissions"
        raise InputError(Problem(message, file=name))
    return LogFile(name, status.st_size, str(status.st_mtime_ns))


def _remote_files(url: str) -> Iterator[LogFile]:
    try:
        import fsspec
    except ImportError:
        message = "URLs need fsspec: run pip install 'deltableu[cluster]'"
        raise InputError(Problem(message, file=url)) from None
    try:
        system, path = fsspec.core.url_to_fs(url)
        system.invalidate_cache()
        files = _remote_listing(system, path, url)
        found = [_remote_file(system, path, info) for path, info in sorted(files.items())]
    except InputError:
        raise
    except FileNotFoundError:
        raise InputError(Problem("there is no such file", file=url)) from None
    except Exception as error:  # each file system has errors of its own
        sentence = str(error).partition("\n")[0].partition(". ")[0].rstrip(".")
        message = f"cannot be read: {sentence[:120] or type(error).__name__}"
        raise InputError(Problem(message, file=url)) from None
    yield from found


def _remote_listing(system: Any, path: str, url: str) -> dict[str, Any]:
    if glob.has_magic(path) and not system.exists(path):
        matches = system.glob(path, detail=True)
        files = {}
        for match, info in matches.items():
            if info.get("type") == "directory":
                files.update(_remote_folder(system, match))
            elif form_of(match):
                files[match] = info
        _must_hold(files, url, matches)
        return files
    if form_of(url) is None or system.isdir(path):
        if not system.isdir(path):
            if system.exists(path):
                _must_be_log(url)
            raise FileNotFoundError
        files = _remote_folder(system, path)
        _must_hold(files, url, ())
        return files
    return {path: system.info(path)}


def _remote_folder(system: Any, folder: str) -> dict[str, Any]:
    files = system.find(folder, detail=True)
    return {path: info for path, info in files.items() if form_of(path) and _shown(path, folder)}


def _shown(path: str, folder: str) -> bool:
    parts = path.removeprefix(folder).split("/")
    return not any(part.startswith((".", "_")) for part in parts)


def _remote_file(system: Any, path: str, info: Any) -> LogFile:
    # A key of its own is what fsspec promises, but that of a web page is only its address.
    stamps = [system.ukey(path), *(info.get(name) for name in _STAMPS)]
    stamp = " ".join(str(stamp) for stamp in stamps if stamp is not None)
    return LogFile(system.unstrip_protocol(path), info.get("size"), stamp, system, path)


def _must_be_log(name: str) -> None:
    if form_of(name) is None:
        if not _URL.match(name) and not os.path.lexists(name):
            raise InputError(Problem("there is no such file or folder", file=name))
        raise InputError(Problem(f"is not known as a log: {_SUFFIXES}", file=name))


def _must_hold(files: Iterable[str], name: str, matches: Iterable[str]) -> None:
    if any(True for _ in files):
        return
    if glob.has_magic(name) and not any(True for _ in matches):
        raise InputError(Problem("no file matches this pattern", file=name))
    raise InputError(Problem(f"holds no logs: {_SUFFIXES}", file=name))
