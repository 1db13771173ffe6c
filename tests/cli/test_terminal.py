"""What commands print, kept in tests/golden/terminal: in 80, 100, 140 columns and into a pipe.

After a change that is meant, `python -m tests.cli.test_terminal` writes these files anew; read the
difference before you commit it.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "tests" / "golden" / "terminal"
DEMO = "examples/demo"
COMMANDS = {
    "score": ["score", DEMO, "--ci"],
    "compare": ["compare", DEMO],
    "compare-baseline": ["compare", DEMO, "--baseline", "retrieval", "--metrics", "delta-bleu-2"],
    "validate": ["validate", DEMO, "--metrics", "delta-bleu-2,bleu-2,chrf", "--resamples", "100"],
    "plan": [
        *("plan", "compare", DEMO, "--systems", "human", "careful-neural", "--items", "20", "60"),
        *("--raters", "1", "all", "--replicates", "50"),
    ],
    "metrics": ["metrics"],
    "explain": ["explain", DEMO, "--system", "phrase-smt", "--item", "d01"],
}
WIDTHS = (80, 100, 140)
_NUMBER = re.compile(r"-?(?:\d[\d,]*)?\.?\d+")


@pytest.mark.parametrize("width", [*WIDTHS, None])
@pytest.mark.parametrize("name", COMMANDS)
def test_what_is_printed_is_what_is_kept(name, width, run, monkeypatch):
    monkeypatch.chdir(ROOT)
    if width is not None:
        monkeypatch.setenv("COLUMNS", str(width))
    result = run(*COMMANDS[name])
    assert result.code == 0
    assert result.out + result.err == _kept(name, width)


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("name", COMMANDS)
def test_everything_fits_and_no_number_is_broken(name, width):
    shown = _kept(name, width)
    assert max(map(len, shown.splitlines())) <= width
    assert set(_NUMBER.findall(shown)) <= set(_NUMBER.findall(_kept(name, None)))


def _file(name: str, width: int | None) -> Path:
    return FOLDER / f"{name}-{width or 'pipe'}.txt"


def _kept(name: str, width: int | None) -> str:
    return _file(name, width).read_text(encoding="utf-8")


def _write() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, command in COMMANDS.items():
        for width in (*WIDTHS, None):
            size = {} if width is None else {"COLUMNS": str(width)}
            others = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
            done = subprocess.run(
                [sys.executable, "-m", "deltableu", *command],
                cwd=ROOT,
                env=others | size,
                capture_output=True,
                encoding="utf-8",
                check=True,
            )
            _file(name, width).write_text(done.stdout + done.stderr, encoding="utf-8")


if __name__ == "__main__":
    _write()
