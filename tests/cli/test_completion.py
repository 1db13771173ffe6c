"""The Tab key, in a real bash, and where the scripts of shells go."""

from __future__ import annotations

import os
import pty
import re
import shutil
import subprocess
import time
from pathlib import Path

import pytest

BASH = shutil.which("bash", path=os.defpath)


@pytest.fixture(scope="module")
def script(tmp_path_factory):
    """The script of bash: it is the same for all tests, and takes a second."""
    from deltableu.cli.completion import _script

    path = tmp_path_factory.mktemp("completion") / "deltableu"
    path.write_text(_script("bash"), encoding="utf-8")
    return path


def typed(script: Path, folder: Path, *lines: str) -> list[str]:
    """What `deltableu` is called with by lines typed into a bash, where ^I is the Tab key."""
    master, slave = pty.openpty()
    shell = subprocess.Popen(
        [str(BASH), "--norc", "--noprofile", "-i"],
        stdin=slave,
        stdout=slave,
        stderr=slave,
        cwd=folder,
        env={"PATH": os.defpath, "TERM": "dumb", "PS1": ""},
        start_new_session=True,
    )
    os.close(slave)
    called = folder / "called"
    show = f"deltableu() {{ printf '%s\\n' \"$*\" >> {called}; }}"
    words = [f"source {script}", show, *(f"deltableu {line}" for line in lines), "exit"]
    os.write(master, "".join(f"{line}\n" for line in words).encode())
    end = time.monotonic() + 30
    try:
        while time.monotonic() < end and os.read(master, 4096):
            pass
    except OSError:
        pass  # what is read when the shell is gone
    shell.kill()
    shell.wait()
    os.close(master)
    return called.read_text().splitlines()


@pytest.mark.skipif(BASH is None, reason="bash is not installed")
def test_bash_completes_commands_options_choices_and_files(script, tmp_path):
    (tmp_path / "outputs.txt").touch()
    lines = ["sc\t", "rate ser\t", "score --segm\t", "score outp\t", "score --format js\t"]
    assert [line.strip() for line in typed(script, tmp_path, *lines)] == [
        "score",
        "rate serve",
        "score --segments",
        "score outputs.txt",
        "score --format json",
    ]


@pytest.mark.parametrize("shell", ["zsh", "fish"])
def test_other_shells_get_a_script_of_theirs(shell, succeeds):
    out = succeeds("completion", shell).out
    assert {"zsh": "#compdef deltableu", "fish": "complete -c deltableu"}[shell] in out
    assert all(command in out for command in ("score", "validate", "doctor"))
    program = shutil.which(shell)
    if program is not None:
        done = subprocess.run([program, "-n"], input=out, text=True, capture_output=True)
        assert (done.returncode, done.stderr) == (0, "")


def test_it_is_written_where_the_shell_looks(run, monkeypatch, tmp_path, script):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    result = run("completion", "bash", "--install")
    assert (result.code, result.out) == (0, "")
    (path,) = [one for one in tmp_path.rglob("*") if one.is_file()]
    assert path == tmp_path / ".local/share/bash-completion/completions/deltableu"
    assert path.read_text() == script.read_text()
    assert re.search(rf"wrote {path}\n.*source {path}\n", result.err)


def test_only_shells_that_are_known(run):
    result = run("completion", "csh")
    assert (result.code, result.out) == (2, "")
    assert "bash" in result.err
    assert result.err.count("\n") == 1
