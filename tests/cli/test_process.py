"""What a process pays: which modules are loaded, and what every command says of itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import time

import pytest

import deltableu
from deltableu.cli.app import COMMANDS

HEAVY = ("scipy.stats", "pyarrow", "matplotlib", "torch", "fastapi", "sqlalchemy", "dask")
HEAVY += ("sacrebleu", "pandas", "polars")


def loaded_after(code, *arguments):
    """The modules in a fresh process that has run some code."""
    script = (
        "import json, sys\n"
        f"try:\n    {code}\nexcept SystemExit as end:\n    assert not end.code, end.code\n"
        "print('\\n' + json.dumps(sorted(sys.modules)))"
    )
    command = [sys.executable, "-c", script, *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return set(json.loads(done.stdout.splitlines()[-1]))


def heavy(modules, names=HEAVY):
    return {m for m in modules for name in names if m == name or m.startswith(f"{name}.")}


MAIN = "from deltableu.cli.app import main; main(sys.argv[1:])"


def test_the_probe_sees_what_is_loaded():
    assert heavy(loaded_after("import sacrebleu.utils")) >= {"sacrebleu", "sacrebleu.utils"}


def test_importing_the_package_is_light():
    modules = loaded_after("import deltableu")
    assert "deltableu" in modules
    assert heavy(modules) == set()


@pytest.mark.parametrize(
    "arguments",
    [["--help"], ["--version"], ["score", "--help"], ["report", "--help"]],
    ids=" ".join,
)
def test_help_is_light(arguments):
    modules = loaded_after(MAIN, *arguments)
    assert "deltableu.cli.app" in modules
    assert heavy(modules) == set()


@pytest.mark.parametrize("options", [[], ["--ci", "--resamples", "5"]], ids=["scores", "intervals"])
def test_scoring_a_study_loads_nothing_it_does_not_need(options, demo):
    modules = loaded_after(MAIN, "score", demo, *options)
    assert "deltableu.score" in modules
    assert heavy(modules) == set()


def test_checking_a_study_loads_nothing_it_does_not_need(demo):
    assert heavy(loaded_after(MAIN, "check", demo)) == set()


def test_help_comes_quickly(process, record_property):
    """The time is reported for people; the bound only catches a heavy import."""
    times = []
    for _ in range(2):
        started = time.perf_counter()
        assert process("--help").code == 0
        times.append(time.perf_counter() - started)
    record_property("seconds of deltableu --help", round(min(times), 3))
    assert min(times) < 5


def test_help_lists_every_command(succeeds):
    out = succeeds("--help").out
    assert "Usage: deltableu COMMAND" in out
    for command in COMMANDS:
        assert re.search(rf"\b{command}\s+\w+", out)


def helps(succeeds, *words):
    """The help of a command, and of the commands below it."""
    out = succeeds(*words, "--help").out
    below = out.partition("Commands")[2]
    listed = re.findall(r"^│ ([a-z]+) +(.*?) *│$", below, re.MULTILINE)
    assert all(text for _, text in listed), listed
    names = [name for name, _ in listed]
    pages = [page for name in names if name != "help" for page in helps(succeeds, *words, name)]
    return pages or [(words, out)]


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_every_option(command, succeeds, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    for words, out in helps(succeeds, command):
        assert out.startswith(f"Usage: deltableu {' '.join(words)}")
        options = re.findall(r"^│[ *]+(?:[A-Z]+ )?(--[a-z-]+)(.*?)│$", out, re.MULTILINE)
        assert options, words
        for name, text in options:
            assert re.search(r"[a-z]{3}", re.sub(r"--?[a-z-]+", "", text)), (*words, name)


def test_version(succeeds):
    assert succeeds("--version").out == f"{deltableu.__version__}\n"


def test_uncompiled_kernels_print_the_same_scores(process, demo):
    arguments = ["score", demo, "--format", "json", "--segments", "--systems", "human"]
    slow = process(*arguments, DELTABLEU_UNCOMPILED="1")
    assert (slow.code, slow.err) == (0, "")
    assert slow == process(*arguments)


@pytest.mark.parametrize("format", ["table", "tsv", "json"])
def test_a_terminal_that_knows_few_characters_still_gets_the_scores(
    format, process, succeeds, study
):
    study.file("outputs/系统.txt", "a cat\nyes\nno clue\n")
    arguments = ["score", study.path, "--format", format, "--metrics", "bleu", "--order", "1"]
    arguments += ["--systems", "sys", "系统"]
    result = process(*arguments, PYTHONIOENCODING="ascii")
    assert (result.code, result.err) == (0, "")
    numbers = re.findall(r"\b\d+\.\d{2,}", result.out)
    assert numbers == re.findall(r"\b\d+\.\d{2,}", succeeds(*arguments).out)
    assert len(numbers) >= 2
