"""What the plots show is what the numbers are."""

from __future__ import annotations

import re

import pytest

from deltableu.corpus import Item, Reference
from deltableu.report.plots import weight_plot

FIRST_COLOUR = "#0072b2"


def bars(svg: str) -> list[tuple[float, float]]:
    """Left edge and height of the bars of the first origin, empty ones left out."""
    found = []
    for path, style in re.findall(r'<path d="([^"]*)" clip-path="[^"]*" style="([^"]*)"', svg):
        numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", path)]
        xs, ys = numbers[::2], numbers[1::2]
        if FIRST_COLOUR in style and max(ys) > min(ys):
            found.append((min(xs), max(ys) - min(ys)))
    return sorted(found)


@pytest.mark.parametrize("steps", [2, 4, 10])
def test_weights_on_a_grid_fill_the_plot_evenly(steps):
    """Rating scales give round weights; rounding must not put two into one bar and leave gaps."""
    weights = [number / steps for number in range(-steps, steps + 1)]
    items = [Item(str(w), (Reference("r0", "x", w),)) for w in weights]
    heights = [height for _, height in bars(weight_plot(items))]
    assert len(heights) == len(weights)
    assert heights == pytest.approx([heights[0]] * len(weights))


def test_bars_are_as_high_as_there_are_references():
    texts = [Reference("a", "x", -0.55), *(Reference(f"b{n}", "x", 0.33) for n in range(4))]
    heights = [height for _, height in bars(weight_plot([Item("q", tuple(texts))]))]
    assert len(heights) == 2
    assert heights[1] == pytest.approx(4 * heights[0])
