"""docs/which-metric.md: every figure stands in the pages that it rests on, and where it says."""

from __future__ import annotations

import re

import pytest

from tests.docs.pages import ROOT

PAGE = (ROOT / "docs" / "which-metric.md").read_text("utf-8")
SOURCES = [
    (ROOT / "docs" / name).read_text("utf-8").replace("**", "")
    for name in ("reproductions.md", "suite.md")
]
_NUMBER = re.compile(r"(?<![\w.])-?\d*\.\d+")
_TABLE = re.compile(r"^\|.*\|$", re.MULTILINE)


def cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip("|").split("|")]


def figures(text: str) -> list[str]:
    """Numbers with a decimal point, in one way of writing them."""
    return [re.sub(r"^(-?)0\.", r"\1.", one) for one in _NUMBER.findall(text)]


def holds(source: list[str], cell: str) -> bool:
    """Whether one of the source's cells starts with the figures of this one, in their order."""
    wanted = figures(cell)
    return any(figures(one)[: len(wanted)] == wanted for one in source)


ROWS = [line for line in _TABLE.findall(PAGE) if any(map(figures, cells(line)))]
SOURCE_ROWS = [cells(line) for text in SOURCES for line in _TABLE.findall(text)]


def test_there_are_figures():
    assert len(ROWS) > 50


@pytest.mark.parametrize("row", ROWS)
def test_a_row_is_of_one_row_of_the_pages(row):
    """Of the same metric, with all of its figures, each in a cell of its own."""
    label, *rest = cells(row)
    numbers = [cell for cell in rest if figures(cell)]
    found = [
        source
        for source in SOURCE_ROWS
        if label in source and all(holds(source, number) for number in numbers)
    ]
    assert found


def test_figures_of_the_text_stand_in_the_pages():
    text = _TABLE.sub("", re.sub(r"```.*?```", "", PAGE, flags=re.DOTALL))
    known = {one for source in SOURCES for one in figures(source)}
    assert set(figures(text)) <= known


def test_controls_are_named():
    """What must not be forgotten beside gains."""
    said = " ".join(PAGE.split())
    for words in (
        "soft-cosine's advantage over smoothed BLEU is sure on none of these four",
        "above scr itself",
        "shortness alone reaches .835",
    ):
        assert words in said
