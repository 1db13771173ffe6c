"""Whether a file can be written, asked before long work and not after it."""

from __future__ import annotations

import os
from pathlib import Path

from deltableu.errors import InputError

__all__ = ["check_new_file"]


def check_new_file(output: Path) -> None:
    """Complain where the file could not be written in the end."""
    if output.is_dir():
        raise InputError(f"{output}: is a folder, but a file is to be written")
    if not output.parent.is_dir():
        raise InputError(f"{output}: its folder does not exist: make the folder first")
    if not os.access(output.parent, os.W_OK | os.X_OK):
        raise InputError(f"{output}: cannot be written by this user: change the permissions")
