"""Paths, patterns, folders and URLs in; the log files they stand for out."""

from __future__ import annotations

import errno
import glob
import os
import stat
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from deltableu.errors import InputError, Problem
from deltableu.io.names import PathLike, file_form, file_packing, is_url
from deltableu.io.problems import Report, fail
from deltableu.io.sources import BrokenFile, FoundFile, remote_place, unreadable

_FORMS = ("jsonl", "tsv", "parquet")
_STAMPS = ("ETag", "etag", "mtime", "LastModified", "last_modified", "updated", "created")
_SUFFIXES = "log files end in .jsonl, .tsv or .parquet, the first two also with .gz or .zst"


def is_log(name: str) -> bool:
    """Whether a file's name is that of a log."""
    form = file_form(name)
    # Parquet files are packed inside; one that is packed again cannot be read in parts.
    return form in _FORMS and not (form == "parquet" and file_packing(name))


def find_files(logs: Iterable[PathLike], report: Report = fail) -> list[FoundFile]:
    """Log files in the order in which they are named; those of a folder or pattern by name.

    Files and folders that may not be read are reported, and left out if that returns.
    """
    found: dict[str, FoundFile] = {}
    for log in logs:
        name = os.fspath(log)
        if isinstance(log, str) and name.startswith("file://"):
            name = name.removeprefix("file://")
        remote = isinstance(log, str) and is_url(name)
        for file in _remote_files(name) if remote else _local_files(name, report):
            key = file.name if remote else os.path.abspath(file.name)
            found.setdefault(key, file)
    return list(found.values())


def _local_files(name: str, report: Report) -> Iterator[FoundFile]:
    # A file may have brackets in its name, so a pattern is only what is not there.
    matches: list[str] = []
    closed: list[OSError] = []
    if os.path.isdir(name):
        files = set(_walk(name, closed))
    elif not os.path.lexists(name) and glob.has_magic(name):
        matches = glob.glob(name, recursive=True)
        files = {path for path in matches if is_log(path) and not os.path.isdir(path)}
        # A file holds nothing to walk through.
        files = files.union(*(_walk(path, closed) for path in matches if os.path.isdir(path)))
        closed += _closed_to_pattern(name)
    else:
        _must_be_log(name)
        files = {name}
    for place, error in {os.path.normpath(one.filename): one for one in closed}.items():
        report(unreadable(FoundFile(place), error).problem)
    _must_hold(files, name, matches or closed)
    for path in sorted(files):
        try:
            file = _local_file(path)
        except BrokenFile as broken:
            report(broken.problem)
        else:
            yield file


def _walk(folder: str, closed: list[OSError]) -> Iterator[str]:
    """Logs in a folder; `closed` gets what may not be looked into."""
    for place, folders, names in os.walk(folder, onerror=closed.append):
        folders[:] = [name for name in folders if not name.startswith((".", "_"))]
        for name in names:
            if is_log(name) and not name.startswith((".", "_")):
                yield os.path.join(place, name)


def _closed_to_pattern(pattern: str) -> Iterator[OSError]:
    """Folders in which a pattern may match something, were it not that nobody may look."""
    parts = pattern.split(os.sep)
    for end in range(1, len(parts)):
        above = os.sep.join((*parts[:end], ""))
        for folder in glob.glob(above, recursive=True):
            if not _allows(folder, os.R_OK | os.X_OK):
                yield PermissionError(errno.EACCES, os.strerror(errno.EACCES), folder)


def _allows(path: str, mode: int) -> bool:
    effective = os.access in os.supports_effective_ids
    return os.access(path, mode, effective_ids=effective)


def _local_file(name: str) -> FoundFile:
    try:
        status = os.stat(name)
    except OSError as error:
        raise unreadable(FoundFile(name), error) from None
    if not stat.S_ISREG(status.st_mode):
        message = "is not an ordinary file, but logs are read more than once: save it first"
        raise InputError(Problem(message, file=name))
    if not _allows(name, os.R_OK):
        raise unreadable(FoundFile(name), PermissionError())
    return FoundFile(name, status.st_size, str(status.st_mtime_ns))


def _remote_files(url: str) -> Iterator[FoundFile]:
    try:
        system, path = remote_place(url)
        system.invalidate_cache()
        files = _remote_listing(system, path, url)
        found = [_remote_file(system, path, info) for path, info in sorted(files.items())]
    except InputError:
        raise
    except Exception as error:  # each file system has errors of its own
        raise unreadable(FoundFile(url), error) from None
    yield from found


def _remote_listing(system: Any, path: str, url: str) -> dict[str, Any]:
    if glob.has_magic(path) and not system.exists(path):
        matches = system.glob(path, detail=True)
        files = {}
        for match, info in matches.items():
            if info.get("type") == "directory":
                files.update(_remote_folder(system, match))
            elif is_log(match):
                files[match] = info
        _must_hold(files, url, matches)
        return files
    if not is_log(url) or system.isdir(path):
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
    return {path: info for path, info in files.items() if is_log(path) and _shown(path, folder)}


def _shown(path: str, folder: str) -> bool:
    parts = path.removeprefix(folder).split("/")
    return not any(part.startswith((".", "_")) for part in parts)


def _remote_file(system: Any, path: str, info: Any) -> FoundFile:
    # A key of its own is what fsspec promises, but that of a web page is only its address.
    stamps = [system.ukey(path), *(info.get(name) for name in _STAMPS)]
    stamp = " ".join(str(stamp) for stamp in stamps if stamp is not None)
    return FoundFile(system.unstrip_protocol(path), info.get("size"), stamp, system, path)


def _must_be_log(name: str) -> None:
    if not is_log(name):
        if not is_url(name) and not os.path.lexists(name):
            raise InputError(Problem("there is no such file or folder", file=name))
        raise InputError(Problem(f"is not known as a log: {_SUFFIXES}", file=name))


def _must_hold(files: Collection[str], name: str, matches: Collection[object]) -> None:
    if files:
        return
    if glob.has_magic(name) and not matches:
        raise InputError(Problem("no file matches this pattern", file=name))
    raise InputError(Problem(f"holds no logs: {_SUFFIXES}", file=name))
