"""The command for a user who owns nothing: no home, no write permission, no environment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import deltableu

SETPRIV = shutil.which("setpriv")
pytestmark = [
    pytest.mark.skipif(os.name != "posix" or os.geteuid() != 0, reason="only root can be nobody"),
    pytest.mark.skipif(SETPRIV is None, reason="setpriv is not installed"),
]
NOBODY = ["--reuid=nobody", "--regid=nogroup", "--clear-groups", "env", "-i", "HOME=/nonexistent"]


def as_nobody(*command: object, **variables: str) -> subprocess.CompletedProcess[str]:
    settings = [f"{name}={value}" for name, value in variables.items()]
    return subprocess.run(
        [str(SETPRIV), *NOBODY, "PATH=/usr/bin:/bin", *settings, *map(str, command)],
        capture_output=True,
        text=True,
        cwd="/",
        check=False,
        timeout=120,
    )


@pytest.fixture(scope="module")
def folder(demo: Path) -> Iterator[Path]:
    """A folder that everybody may read, with the demo and a place to write."""
    made = Path(tempfile.mkdtemp(prefix="deltableu-nobody-"))
    made.chmod(0o755)
    shutil.copytree(demo, made / "demo")
    for path in (made / "demo", *(made / "demo").rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    (made / "out").mkdir()
    (made / "out").chmod(0o777)
    yield made
    shutil.rmtree(made)


@pytest.fixture(scope="module")
def command(folder: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """`python -m deltableu` for nobody, with an interpreter and packages that nobody may read."""
    package = Path(deltableu.__file__).parent
    if as_nobody("ls", package / "cli").returncode != 0:
        shutil.copytree(package, folder / "packages" / "deltableu")
        package = folder / "packages" / "deltableu"
    libraries = [path for path in sys.path if path.endswith(("site-packages", "dist-packages"))]
    paths = os.pathsep.join([str(package.parent), *libraries])
    probe = "import sys, numpy, cyclopts; print(sys.version_info[:2])"
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for python in (sys.executable, shutil.which(version, path=os.defpath), f"/usr/bin/{version}"):
        if python and as_nobody(python, "-c", probe, PYTHONPATH=paths).returncode == 0:
            break
    else:
        pytest.skip("nobody may run no interpreter of this version, or not read its packages")

    def command(*arguments: object) -> subprocess.CompletedProcess[str]:
        done = as_nobody(python, "-m", "deltableu", *arguments, PYTHONPATH=paths)
        print(done.stderr)
        return done

    return command


def test_nobody_gets_help_and_version(command):
    done = command("--version")
    assert (done.returncode, done.stdout, done.stderr) == (0, f"{deltableu.__version__}\n", "")


def test_nobody_can_score_the_demo(command, folder):
    done = command("score", folder / "demo", "--format", "json", "-o", folder / "out" / "s.json")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    records = json.loads((folder / "out" / "s.json").read_text())
    assert len(records) == 12
    best = max(records, key=lambda record: record["score"])
    assert (best["system"], best["metric"]) == ("human", "bleu-2")


def test_nobody_can_check_the_demo(command, folder):
    done = command("check", folder / "demo")
    assert (done.returncode, done.stderr) == (0, "")
    assert "543" in done.stdout


def test_nobody_can_write_a_report(command, folder):
    done = command("report", folder / "demo", "-o", folder / "out" / "r.html")
    assert done.returncode == 0
    assert done.stdout == ""
    assert done.stderr.endswith(f"deltableu: wrote {folder}/out/r.html\n")
    assert "Traceback" not in done.stderr
    assert (folder / "out" / "r.html").read_text().count("<svg") > 2


def test_nobody_is_told_where_results_cannot_be_written(command, folder):
    done = command("score", folder / "demo", "-o", folder / "demo" / "result")
    assert (done.returncode, done.stdout) == (2, "")
    assert "Traceback" not in done.stderr
    wanted = f"deltableu: {folder}/demo/result: cannot be written by this user"
    assert done.stderr.splitlines()[-1].startswith(wanted)
    assert not (folder / "demo" / "result").exists()


def test_nobody_may_read_only_what_is_readable(command, folder):
    (folder / "secret").mkdir(mode=0o700)
    done = command("score", folder / "secret")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"deltableu: {folder}/secret")
    assert done.stderr.count("\n") == 1
