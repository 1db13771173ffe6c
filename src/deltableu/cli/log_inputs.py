"""Logs that a command names."""

from __future__ import annotations

from collections.abc import Sequence

from deltableu.cli.options import check_logs
from deltableu.io import find_files


def local_logs(logs: Sequence[str], option: str = "") -> list[str]:
    """The log files on this machine, which no output may overwrite."""
    check_logs(logs, option)
    return [file.name for file in find_files(logs) if file.system is None]
