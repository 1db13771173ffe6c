"""Logs that a command names."""

from __future__ import annotations

from collections.abc import Sequence

from deltableu.cli.options import check_logs
from deltableu.io import find_files


def local_logs(logs: Sequence[str], option: str = "") -> list[str]:
    """The log files on this machine, which no output may overwrite."""
    check_logs(logs, option)
    # What may not be read is said by whoever reads.
    found = find_files(logs, lambda _: None)
    return [file.name for file in found if file.system is None]
