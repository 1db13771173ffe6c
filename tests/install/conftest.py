"""A copy of the project to build in, and the tools that build it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PARTS = ("src", "setup.py", "pyproject.toml", "README.md", "LICENSE")

Call = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="session")
def root() -> Path:
    return ROOT


@pytest.fixture(scope="session")
def call() -> Call:
    """Run a program; its output is shown when the test fails."""

    def call(*command: object, **variables: str) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        environment.pop("DELTABLEU_UNCOMPILED", None)
        done = subprocess.run(
            [str(part) for part in command],
            capture_output=True,
            text=True,
            env=environment | variables,
            check=False,
            timeout=300,
        )
        print(done.stdout, done.stderr, sep="\n")
        return done

    return call


@pytest.fixture(scope="session")
def uv() -> str:
    found = shutil.which("uv", path=f"{Path(sys.executable).parent}{os.pathsep}{os.defpath}")
    if found is None:
        pytest.skip("uv is not installed")
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The project as a clone has it: nothing built, and tests that must stay out of the wheel."""
    copy = tmp_path / "project"
    copy.mkdir()
    ignored = shutil.ignore_patterns("*.so", "*.egg-info", "__pycache__", "*.c")
    for name in (*PARTS, "tests", "MANIFEST.in"):
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, copy / name, ignore=ignored)
        elif source.exists():
            shutil.copy(source, copy / name)
    return copy
