"""The command, run in this process or as a real one, and small inputs to run it on."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from deltableu.cli.app import main


@dataclass(frozen=True)
class Result:
    """What a run of the command left behind."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Run = Callable[..., Result]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run the command in this process; whatever escapes `main` fails the test."""

    def run(*arguments: object, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        capsys.readouterr()
        with pytest.raises(SystemExit) as ended:
            main([str(argument) for argument in arguments])
        said = capsys.readouterr()
        return Result(int(ended.value.code or 0), said.out, said.err)

    return run


@pytest.fixture
def succeeds(run: Run) -> Run:
    """Run the command; it must end well and have nothing to remark."""

    def succeeds(*arguments: object, stdin: bytes = b"") -> Result:
        result = run(*arguments, stdin=stdin)
        assert (result.code, result.err) == (0, "")
        return result

    return succeeds


@pytest.fixture
def process() -> Run:
    """Run the command as a user does, in a process of its own."""

    def process(*arguments: object, stdin: bytes = b"", **variables: str) -> Result:
        done = subprocess.run(
            [str(Path(sys.executable).parent / "deltableu"), *map(str, arguments)],
            input=stdin,
            capture_output=True,
            env=os.environ | variables,
            timeout=60,
            check=False,
        )
        return Result(done.returncode, *(os.fsdecode(s) for s in (done.stdout, done.stderr)))

    return process


@pytest.fixture
def complains(run: Run, tmp_path: Path) -> Callable[..., str]:
    """Run a command that must refuse: exit code 2, one sentence, no result anywhere."""

    def complains(command: str, *arguments: object, stdin: bytes = b"") -> str:
        folder = tmp_path / "results"
        folder.mkdir(exist_ok=True)
        result = run(command, "-o", folder / "result", *arguments, stdin=stdin)
        assert_refusal(result)
        assert list(folder.iterdir()) == []
        without_output = run(command, *arguments, stdin=stdin) if command == "score" else result
        assert without_output == result
        return result.err.removeprefix("deltableu: ").removesuffix("\n")

    return complains


@pytest.fixture
def refusal() -> Callable[[Result], None]:
    return assert_refusal


def assert_refusal(result: Result) -> None:
    assert result.code == 2
    assert result.out == ""
    assert result.err.startswith("deltableu: ")
    assert result.err.endswith("\n")
    assert result.err.count("\n") == 1
    assert "Traceback" not in result.err
    assert len(result.err) > len("deltableu: \n")


@pytest.fixture
def plain(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The current folder, with two reference files, weights, and two systems of three items."""
    files = {
        "r0.txt": "the cat sat on the mat\nyes , of course\nno idea\n",
        "r1.txt": "a cat was on the mat\n\nno clue , sorry\n",
        "w.tsv": "1\t0.5\n0.8\t\n0.6\t-0.4\n",
        "sys.txt": "the cat was on the mat\nyes\nno clue\n",
        "other.txt": "a dog\nof course\nno idea\n",
    }
    folder = tmp_path / "plain"
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    monkeypatch.chdir(folder)
    return folder


REFERENCES = [["the cat sat on the mat", "a cat was on the mat"], ["yes , of course"]]
REFERENCES += [["no idea", "no clue , sorry"]]
WEIGHTS = [[1, 0.5], [0.8], [0.6, -0.4]]


@pytest.fixture
def references() -> list[list[str]]:
    """What `plain` holds, as the Python functions take it."""
    return REFERENCES


@pytest.fixture
def weights() -> list[list[float]]:
    return WEIGHTS


def item(id: str, *references: tuple[str, float | None], message: str = "") -> dict[str, Any]:
    return {
        "id": id,
        "message": message or f"what of {id} ?",
        "references": [
            {"id": f"r{number}", "text": text, "weight": weight}
            for number, (text, weight) in enumerate(references)
        ],
    }


@dataclass(frozen=True)
class StudyFolder:
    """A study to be broken in one place."""

    path: Path

    def items(self, *items: dict[str, Any]) -> StudyFolder:
        return self.file("items.jsonl", "".join(json.dumps(one) + "\n" for one in items))

    def lines(self, *lines: str) -> StudyFolder:
        return self.file("items.jsonl", "".join(line + "\n" for line in lines))

    def outputs(self, system: str, texts: Sequence[tuple[str, str]]) -> StudyFolder:
        records = [json.dumps({"id": id, "text": text}) + "\n" for id, text in texts]
        return self.file(f"outputs/{system}.jsonl", "".join(records))

    def file(self, name: str, content: str | bytes) -> StudyFolder:
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return self


@pytest.fixture
def study(tmp_path: Path) -> StudyFolder:
    """A study with nothing wrong: the items and systems of `plain`, ids q1, q2 and q3."""
    made = StudyFolder(tmp_path / "study")
    pairs = [
        list(zip(texts, numbers, strict=True))
        for texts, numbers in zip(REFERENCES, WEIGHTS, strict=True)
    ]
    made.items(*(item(f"q{number}", *row) for number, row in enumerate(pairs, start=1)))
    made.outputs("sys", [("q1", "the cat was on the mat"), ("q2", "yes"), ("q3", "no clue")])
    made.outputs("other", [("q1", "a dog"), ("q2", "of course"), ("q3", "no idea")])
    return made


@pytest.fixture
def make_item() -> Callable[..., dict[str, Any]]:
    return item
