"""`13a` and `none` on all real text at hand: zero differences to sacreBLEU and str.split."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from deltableu.text import Tokenizer

DATA = Path(__file__).parents[2].parent / "shared" / "data"
SUFFIXES = {".gz", ".txt", ".tsv", ".jsonl", ".csv"}

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason=f"there is no shared data at {DATA}")


def files() -> list[Path]:
    return sorted(path for path in DATA.rglob("*") if path.suffix in SUFFIXES and path.is_file())


def lines_of(path: Path, size: int = -1) -> list[str]:
    """The lines of a file, or of its first `size` bytes."""
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return file.read(size).decode("utf-8", errors="replace").split("\n")


def check(lines: list[str]) -> None:
    peer = Tokenizer13a()
    found = Tokenizer("13a").tokens_of(lines)
    differing = [
        line
        for line, tokens in zip(lines, found, strict=True)
        if tokens != peer(line.rstrip()).split()
    ]
    assert differing == []
    assert Tokenizer("none").tokens_of(lines) == [line.split() for line in lines]


def folders() -> list[Path]:
    return sorted(path for path in DATA.iterdir() if path.is_dir()) if DATA.is_dir() else []


def test_some_of_every_file():
    size = 0
    for path in files():
        lines = lines_of(path, 6_000)
        check(lines)
        size += sum(map(len, lines))
    assert size > 2_000_000


def test_lines_joined_into_texts_with_newlines():
    """Whole paragraphs as one text, so that hyphens at line ends are met."""
    for path in files()[::8]:
        lines = lines_of(path, 6_000)
        check(["\n".join(lines[start : start + 4]) for start in range(0, len(lines), 4)])


@pytest.mark.long
@pytest.mark.parametrize("folder", folders(), ids=lambda folder: folder.name)
def test_everything(folder):
    paths = [path for path in files() if folder in path.parents]
    for path in paths:
        lines = lines_of(path)
        for start in range(0, len(lines), 50_000):
            check(lines[start : start + 50_000])
