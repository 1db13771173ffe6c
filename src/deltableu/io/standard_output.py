"""Standard output in the place of a file."""

from __future__ import annotations

import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def standard_output_path() -> Iterator[Path]:
    """Yield a temporary file to write; standard output gets it whole when the block ends well."""
    with tempfile.TemporaryDirectory(prefix="deltableu-") as folder:
        path = Path(folder, "output")
        path.touch()
        yield path
        sys.stdout.flush()
        with open(path, "rb") as written:
            shutil.copyfileobj(written, sys.stdout.buffer)
        sys.stdout.buffer.flush()
