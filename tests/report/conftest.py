"""Reports on the demo study and on a study full of traps, written once."""

from __future__ import annotations

import contextlib
import io
import json
from collections.abc import Callable
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

import pytest

from deltableu.cli.app import main

TRAP = "<script>alert('x')</script> & <b>bold</b> {{ 7 * 7 }}"
NAMES = ["<img src=x onerror=alert(1)> & co", "a_b^c%", "naïve", "{{ 7 * 7 }}", "q" * 70]

#: How the demo's report is made.
DEMO = ("--title", "The demo study", "--baseline", "bland-neural", "--bucket", "domain")
DEMO += ("--changes", "2")


def run_main(*arguments: object) -> tuple[int, str, str]:
    """Run the command in this process."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            main([str(argument) for argument in arguments])
        except SystemExit as ended:
            return int(ended.code or 0), out.getvalue(), err.getvalue()
    raise AssertionError("main always exits")


@pytest.fixture(scope="session")
def run() -> Callable[..., tuple[int, str, str]]:
    return run_main


def write_study(folder: Path, outputs: dict[str, str], weights: bool = True) -> Path:
    """Three items, each with a good and a bad reference."""
    (folder / "outputs").mkdir(parents=True)
    with open(folder / "items.jsonl", "w") as stream:
        for number in range(3):
            references = [
                {"text": f"yes it is {number}", "weight": 1.0 if weights else None},
                {"text": "no never", "weight": -0.5 if weights else None},
            ]
            item = {"id": f"q{number}", "message": f"is it {number} ?", "references": references}
            stream.write(json.dumps(item) + "\n")
    for name, text in outputs.items():
        (folder / "outputs" / f"{name}.txt").write_text(text)
    return folder


@pytest.fixture
def small(tmp_path: Path) -> Callable[..., Path]:
    """Make a small study."""

    def small(
        outputs: dict[str, str] | None = None, *, name: str = "small", weights: bool = True
    ) -> Path:
        given = {"one": "yes it is\nno\nit is 2\n", "two": "a\nb\nc\n"}
        return write_study(tmp_path / name, outputs or given, weights)

    return small


@pytest.fixture(scope="session")
def demo_page(demo: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report on the demo study."""
    path = tmp_path_factory.mktemp("demo") / "report.html"
    code, out, err = run_main("report", demo, "-o", path, *DEMO)
    assert (code, out, err) == (0, "", f"deltableu: wrote {path}\n")
    return path


@pytest.fixture(scope="session")
def trap_page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report in which title, note, system names and messages hold markup and long words."""
    folder = tmp_path_factory.mktemp("trap")
    study = write_study(folder / "s", dict.fromkeys(NAMES, "yes it is\nno\nno never\n"))
    note = json.dumps(f"{TRAP} {'w' * 200}")
    (study / "systems.toml").write_text(f"note = {note}\n[systems.'<i>&']\ntype = 'x'\n")
    path = folder / "report.html"
    code, _, err = run_main("report", study, "-o", path, "--title", f"{TRAP} {'t' * 120}")
    assert (code, err) == (0, f"deltableu: wrote {path}\n")
    return path


class Page(HTMLParser):
    """What a browser would make of a page, as far as the tests ask."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.tables: list[list[list[str]]] = []
        self.blocks: dict[str, list[str]] = {}
        self._open: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in ("meta", "path", "use", "rect", "br", "img"):
            return
        self._open.append(tag)
        self.blocks.setdefault(tag, []).append("")
        if tag == "table":
            self.tables.append([])
        elif tag == "tr":
            self.tables[-1].append([])
        elif tag in ("td", "th"):
            self.tables[-1][-1].append("")

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if tag in self._open:
            while self._open.pop() != tag:
                pass

    def handle_data(self, data: str) -> None:
        for tag in set(self._open):
            self.blocks[tag][-1] += data
        if {"td", "th"} & set(self._open):
            self.tables[-1][-1][-1] += data


@pytest.fixture(scope="session")
def parse() -> Callable[[Path], Page]:
    @lru_cache(maxsize=2)
    def parsed(text: str) -> Page:
        return Page(text)

    return lambda path: parsed(path.read_text(encoding="utf-8"))
