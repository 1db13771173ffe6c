"""What a file's name says: how problems call it, its form, how it is packed."""

from __future__ import annotations

import os
import re
from pathlib import PurePosixPath
from typing import TypeAlias

PathLike: TypeAlias = str | os.PathLike[str]

_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*(?:://|::)")
_PACKINGS = ("gz", "zst")


def is_standard_stream(path: PathLike) -> bool:
    """Whether this is standard input, or output where something is written."""
    return os.fspath(path) == "-"


def file_name(path: PathLike) -> str:
    """The file as problems name it; what is no path is a table in memory."""
    if not isinstance(path, str | os.PathLike):
        return "the table"
    return "standard input" if is_standard_stream(path) else os.fspath(path)


def is_url(path: PathLike) -> bool:
    """Whether this is the address of a file elsewhere."""
    return isinstance(path, str) and _URL.match(path) is not None


def file_form(path: PathLike) -> str:
    """The form that a file's name promises: `jsonl` for `items.jsonl` and `items.jsonl.gz`.

    Examples
    --------
    >>> file_form("logs/2015.tsv.gz"), file_form("s3://logs/a.parquet"), file_form("README")
    ('tsv', 'parquet', '')
    """
    name = _base_name(path)
    packing = file_packing(path)
    return PurePosixPath(name.removesuffix(f".{packing}")).suffix.removeprefix(".")


def file_packing(path: PathLike) -> str:
    """How a file is packed, as its name says: `gz`, `zst` or nothing."""
    last = PurePosixPath(_base_name(path)).suffix.removeprefix(".")
    return last if last in _PACKINGS else ""


def _base_name(path: PathLike) -> str:
    name = os.fspath(path).lower()
    if name.startswith(("http://", "https://")):
        name = name.partition("?")[0]
    return name.rpartition("/")[2]
