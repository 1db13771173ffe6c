"""What the charts of the page show is what the numbers are."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.compare import compare_systems
from deltableu.corpus import Item, Reference
from deltableu.report.charts import (
    Axis,
    difference_chart,
    output_scatter,
    system_scatter,
    weight_histogram,
)

SCORES = {
    "good": [5.0, 6.0, 7.0, 6.5, 5.5, 7.5, 6.2, 5.9],
    "same": [1.0, 2.1, 2.9, 2.6, 1.4, 3.6, 2.3, 1.8],
    "base": [1.1, 2.0, 3.0, 2.5, 1.5, 3.5, 2.2, 1.9],
    "bad": [-5.0, -4.0, -3.0, -3.5, -4.5, -2.5, -3.7, -4.1],
}


@pytest.mark.parametrize("baseline", [None, "base"])
def test_differences_are_turned_towards_the_baseline(baseline):
    """All pairs have the better system first; the chart has every system minus the baseline."""
    (found,) = compare_systems(SCORES, baseline=baseline)
    chart = difference_chart(found, "base")
    marks = {one.system: one for one in chart.marks}
    assert [marks[name].tone for name in ("good", "same", "bad")] == ["better", "unclear", "worse"]
    assert [marks[name].word for name in ("good", "same", "bad")] == [
        "better",
        "cannot tell",
        "worse",
    ]
    means = {name: np.mean(values) for name, values in SCORES.items()}
    for name, mark in marks.items():
        assert mark.text.lstrip("+−") == f"{abs(means[name] - means['base']):.2f}"
        assert mark.low <= mark.value <= mark.high
    assert marks["bad"].high < chart.zero < marks["good"].low
    assert marks["same"].low < chart.zero < marks["same"].high


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=9))
def test_a_scale_holds_its_values_and_a_few_round_ticks(values):
    scale = Axis.of(values)
    assert all(0.0 <= scale.place(one) <= 100.0 for one in values)
    ticks = scale.ticks()
    assert len(ticks) <= 8
    assert len({label for _, label in ticks}) == len(ticks)
    assert all(-0.01 <= place <= 100.01 for place, _ in ticks)


def test_many_outputs_become_shades_and_none_is_lost():
    rng = np.random.default_rng(0)
    few = output_scatter("m", "", rng.random(200), rng.random(200))
    assert (len(few.dots), len(few.squares)) == (200, 0)
    scores, people = rng.normal(size=5000), rng.normal(size=5000)
    scores[:10] = np.nan
    many = output_scatter("m", "", scores, people)
    assert not many.dots
    assert sum(one.count for one in many.squares) == 4990


def test_names_of_systems_do_not_cover_each_other():
    chart = system_scatter("m", "", list("abcdef"), np.full(6, 3.0), np.linspace(1, 1.01, 6))
    heights = sorted(one.label_y for one in chart.dots)
    assert min(np.diff(heights)) >= 6.4


@pytest.mark.parametrize("steps", [2, 4, 10])
def test_weights_on_a_grid_fill_the_histogram_evenly(steps):
    """Rating scales give round weights; rounding must not put two into one bar and leave gaps."""
    weights = [number / steps for number in range(-steps, steps + 1)]
    found = weight_histogram([Item(str(w), (Reference("r0", "x", w),)) for w in weights])
    assert [bar.count for bar in found.bars] == [1] * len(weights)
    assert found.highest == 1


def test_bars_are_as_high_as_there_are_references():
    texts = [Reference("a", "x", -0.55), *(Reference(f"b{n}", "x", 0.33) for n in range(4))]
    found = weight_histogram([Item("q", tuple(texts))])
    assert [bar.parts[0][2] for bar in found.bars] == [25.0, 100.0]
    assert weight_histogram([Item("q", (Reference("a", "x"),))]) is None
