"""The sample repository of a gate: equal outputs pass and worse ones fail, in both ways."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parents[2] / "examples" / "gate"


def _codes(folder: Path) -> tuple[int, int]:
    files = ("outputs/v1.txt", "outputs/v2.txt", "--refs", "references.txt", "--baseline", "v1")
    commands = (["deltableu", "gate", *files], ["pytest", "-q", "-p", "no:cacheprovider"])
    environment = {name: value for name, value in os.environ.items() if "GITHUB" not in name}
    gate, test = (
        subprocess.run(
            [sys.executable, "-m", *command], cwd=folder, env=environment, capture_output=True
        ).returncode
        for command in commands
    )
    return gate, test


@pytest.mark.parametrize(("worse", "codes"), [(False, (0, 0)), (True, (1, 1))])
def test_equal_outputs_pass_and_worse_ones_fail(tmp_path, worse, codes):
    folder = tmp_path / "gate"
    shutil.copytree(EXAMPLE, folder)
    if worse:
        output = folder / "outputs" / "v2.txt"
        words = (line.split() for line in output.read_text(encoding="utf-8").splitlines())
        output.write_text("".join(f"{' '.join(w[::-1])}\n" for w in words), encoding="utf-8")
    assert _codes(folder) == codes
