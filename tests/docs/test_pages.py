"""Every block of code in README, docs and examples runs, and prints what the page says."""

from __future__ import annotations

import doctest
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deltableu import read_study
from deltableu.judges.llm import What, read_rubric
from tests.cli.conftest import Run
from tests.cli.conftest import run as run  # a fixture
from tests.docs.pages import KINDS, PAGES, ROOT, Block, blocks, commands, missing

#: Files that pages take for granted.
FILES = {
    "r0.txt": "the cat sat on the mat\nyes , of course\nno idea\n",
    "r1.txt": "a cat was on the mat\n\nno clue , sorry\n",
    "w.tsv": "1\t0.5\n0.8\t\n0.6\t-0.4\n",
    "sys.txt": "the cat was on the mat\nyes\nno clue\n",
    "A.txt": "the cat was on the mat\nyes\nno clue\n",
    "B.txt": "a dog\nof course\nno idea\n",
}

#: Packages without which a page's commands cannot run.
NEEDS = {
    "README.md": ("torch", "safetensors", "sentencepiece"),
    "docs/how-to/upsilon.md": ("torch", "safetensors", "sentencepiece"),
    "docs/how-to/ruber.md": ("torch", "safetensors", "sentencepiece"),
    "docs/how-to/respond.md": ("torch", "safetensors", "sentencepiece"),
    "docs/how-to/mine.md": ("wordllama",),
    "docs/how-to/integrations.md": ("torch", "torchmetrics", "evaluate"),
    "docs/how-to/scr.md": ("wordllama",),
    "docs/how-to/soft.md": ("wordllama",),
    "docs/which-metric.md": ("wordllama",),
}


#: What takes long and is run elsewhere too: the demo's experiment is in the README.
LONG = ("docs/how-to/experiment.md",)


def _with_marks(page: str) -> Any:
    return pytest.param(page, marks=pytest.mark.long) if page in LONG else page


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that has the examples and small files, as a reader's has."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    for seed, name in enumerate(("comet.csv", "metrics.csv", "people.csv")):
        (tmp_path / name).write_text(_score_table(seed))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")  # what pages have room for
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


def _score_table(seed: int) -> str:
    """Scores of the demo's systems that rise with the number of the system."""
    study = read_study(ROOT / "examples" / "demo")
    noise = np.random.default_rng(seed).random((len(study.outputs), len(study.items)))
    lines = [
        f"{system},{item.id},{place + noise[place, number]}\n"
        for place, system in enumerate(study.outputs)
        for number, item in enumerate(study.items)
    ]
    return "".join(["system,item,score\n", *lines])


@pytest.mark.parametrize("page", PAGES)
def test_fences_say_what_their_blocks_are(page: str) -> None:
    for block in blocks(page):
        assert block.kind in KINDS, f"{page}, line {block.line}: ```{block.kind}"


@pytest.mark.parametrize("page", [_with_marks(page) for page in PAGES if blocks(page)])
def test_a_page_runs(page: str, run: Run, folder: Path) -> None:
    for package in NEEDS.get(page, ()):
        pytest.importorskip(package)
    reader = _Reader(page, run, folder)
    for block in blocks(page):
        reader.take(block)


class _Reader:
    """Somebody who does what a page says, block by block."""

    def __init__(self, page: str, run: Run, folder: Path) -> None:
        self.page, self.run, self.folder = page, run, folder
        self.names: dict[str, Any] = {"__name__": "__main__"}
        self.printed = ""

    def take(self, block: Block) -> None:
        kind, *rest = block.kind.split()
        take: dict[str, Callable[[Block], None]] = {
            "bash": self._script,
            "python": self._python,
            "sh": self._commands,
            "text": self._printed,
            "toml": self._toml,
            "yaml": lambda _: None,
        }
        if rest != ["elsewhere"]:
            take[kind](block)

    def _where(self, block: Block) -> str:
        return f"{self.page}, line {block.line}"

    def _commands(self, block: Block) -> None:
        for name, *arguments in commands(block.text):
            if name == "make":
                self._make(arguments, block)
            elif name == "python":
                self._module(arguments, block)
            else:
                assert name == "deltableu", f"{self._where(block)}: {name}"
                result = self.run(*arguments)
                assert result.code == 0, f"{self._where(block)}: {arguments}: {result.err}"
                self.printed += result.err + result.out

    def _make(self, targets: list[str], block: Block) -> None:
        """The demo is run but for its installation; of other targets there must be a recipe."""
        listed = subprocess.run(
            ["make", "-n", "-B", *targets], cwd=ROOT, capture_output=True, text=True, check=False
        )
        assert listed.returncode == 0, f"{self._where(block)}: {listed.stderr}"
        if targets != ["demo"]:
            return
        for name, *arguments in commands(listed.stdout):
            if name == "echo":
                self.printed += " ".join(arguments).replace(f"{ROOT}/", "") + "\n"
            elif name.endswith("bin/deltableu"):
                result = self.run(*arguments)
                assert result.code == 0, f"{arguments}: {result.err}"
                self.printed += result.out
            elif name == "mkdir":
                Path("out").mkdir()
            elif arguments and arguments[0].startswith("examples/"):
                self._module(arguments, block)

    def _module(self, arguments: list[str], block: Block) -> None:
        if "--check" not in arguments and "simulate" in arguments[0]:
            arguments = [*arguments, "--check"]  # what it writes is a part of the repository
        done = subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"{self._where(block)}: {arguments}: {done.stderr}"
        self.printed += done.stdout

    def _printed(self, block: Block) -> None:
        line = missing(block.text, self.printed, numbers=block.kind == "text")
        assert line is None, f"{self._where(block)}: nothing prints {line!r} there"

    def _python(self, block: Block) -> None:
        if not block.text.lstrip().startswith(">>>"):
            exec(compile(block.text, self._where(block), "exec"), self.names)
            self._keep_module(block)
            return
        parser, runner = doctest.DocTestParser(), doctest.DocTestRunner()
        session = parser.get_doctest(block.text, self.names, self.page, self.page, block.line)
        runner.run(session, clear_globs=False)
        self.names.update(session.globs)
        assert runner.summarize(verbose=False).failed == 0, self._where(block)

    def _keep_module(self, block: Block) -> None:
        """The page on one's own metric writes a module, which commands then find."""
        if self.page.endswith("own-metric.md"):
            (self.folder / "word_recall.py").write_text(block.text)

    def _toml(self, block: Block) -> None:
        values = tomllib.loads(block.text)
        if "criteria" in values:
            from deltableu.rate.server import settings_from

            settings_from(values, self._where(block))
        elif self.page.endswith("llm-judge.md"):
            self._rubric(block, "pairs" if "ties" in values else "outputs")
        else:
            self._entry_points(values["project"]["entry-points"])

    def _rubric(self, block: Block, what: What) -> None:
        path = self.folder / "rubric.toml"
        path.write_text(block.text)
        read_rubric(path, what)

    def _entry_points(self, groups: dict[str, dict[str, str]]) -> None:
        about = self.folder / "own-1.0.dist-info"
        about.mkdir()
        (about / "METADATA").write_text("Metadata-Version: 2.1\nName: own\nVersion: 1.0\n")
        lines = [
            f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in points.items())
            for group, points in groups.items()
        ]
        (about / "entry_points.txt").write_text("\n".join(lines))

    def _script(self, block: Block) -> None:
        """A script for a cluster can only be read here."""
        bash = shutil.which("bash")
        if bash is None:
            pytest.skip("there is no bash")
        done = subprocess.run([bash, "-n"], input=block.text, text=True, check=False)
        assert done.returncode == 0, self._where(block)


def test_the_readme_is_short_and_its_output_narrow() -> None:
    assert len((ROOT / "README.md").read_text().splitlines()) <= 120
    widest = max(len(line) for one in blocks("README.md") for line in one.text.splitlines())
    assert widest <= 100
