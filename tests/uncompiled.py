"""Runs a script without compiled kernels, on the package that lies beside these tests."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
#: Also an editable install elsewhere must not be tested in place of this tree.
PATHS = os.pathsep.join((str(ROOT / "src"), str(ROOT)))


def run_uncompiled(script: str, *arguments: object, warnings: str = "error") -> Any:
    """What the script prints, which is JSON."""
    done = subprocess.run(
        [sys.executable, "-W", warnings, "-c", script, *map(str, arguments)],
        env={**os.environ, "DELTABLEU_UNCOMPILED": "1", "PYTHONPATH": PATHS},
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
