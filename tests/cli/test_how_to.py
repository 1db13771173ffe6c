"""The Python of the how-to pages prints what they say, and so do commands."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


@pytest.mark.parametrize("page", ["compare.md", "logs.md", "mine.md", "validate.md", "vectors.md"])
def test_examples(page):
    result = doctest.testfile(str(HOW_TO / page), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0


def test_the_page_on_mining(run, tmp_path, monkeypatch):
    pytest.importorskip("wordllama")
    text = (HOW_TO / "mine.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    summary, leak, _ = (block for language, block in blocks if language == "")
    lines = "".join(block for language, block in blocks if language == "sh").splitlines()
    commands = [shlex.split(line, comments=True) for line in lines]
    assert len(commands) == 8
    (tmp_path / "examples").symlink_to(HOW_TO.parents[1] / "examples")
    monkeypatch.chdir(tmp_path)
    results = []
    for name, *arguments in commands:
        assert name == "deltableu"
        results.append(run(*arguments))
        assert results[-1].code == 0
    assert results[0].out.strip() == summary.strip()
    assert results[0].err == leak


def test_the_page_on_logs(run, tmp_path, monkeypatch):
    text = (HOW_TO / "logs.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    (shown,) = (block for language, block in blocks if language == "")
    (lines,) = (block.splitlines() for language, block in blocks if language == "sh")
    (tmp_path / "examples").symlink_to(HOW_TO.parents[1] / "examples")
    monkeypatch.chdir(tmp_path)
    results = [run(*shlex.split(line)[1:]) for line in lines]
    assert [result.code for result in results] == [0, 0, 0, 0]
    assert results[0].out.strip() == shown.strip()


def test_the_page_on_vectors(run, tmp_path, monkeypatch):
    text = (HOW_TO / "vectors.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    (shown,) = (block for language, block in blocks if language == "")
    (lines,) = (block.splitlines() for language, block in blocks if language == "sh")
    (tmp_path / "examples").symlink_to(HOW_TO.parents[1] / "examples")
    monkeypatch.chdir(tmp_path)
    results = [run(*shlex.split(line)[1:]) for line in lines]
    assert [result.code for result in results] == [0, 0, 0]
    assert results[1].out.strip() == shown.strip()


def test_the_page_on_upsilon_bleu(run, tmp_path, monkeypatch):
    for package in ("torch", "safetensors", "sentencepiece"):
        pytest.importorskip(package)
    text = (HOW_TO / "upsilon.md").read_text(encoding="utf-8")
    blocks = re.findall(r"^```(\w*)\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)
    applied, held_out = (block for language, block in blocks if language == "")
    lines = "".join(block for language, block in blocks if language == "sh").splitlines()
    (tmp_path / "examples").symlink_to(HOW_TO.parents[1] / "examples")
    monkeypatch.chdir(tmp_path)
    results = [run(*shlex.split(line)[1:]) for line in lines]
    assert [result.code for result in results] == [0] * 7
    # The last digits of a network depend on the machine, the rest does not.
    told = [line for line in applied.splitlines() if not line.startswith((" mined", "judge"))]
    assert [line for line in told if line not in results[3].out.splitlines()] == []
    assert results[2].out == results[1].out
    shown = [line.split() for line in results[2].out.splitlines()]
    for row in (line.split() for line in held_out.splitlines()):
        if "overlap" in row or row[:1] == ["examples"]:
            assert row in shown
    result = doctest.testfile(str(HOW_TO / "upsilon.md"), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0
