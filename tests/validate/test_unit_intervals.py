"""Intervals of correlations on units."""

from __future__ import annotations

import re
from dataclasses import replace

import numpy as np
import pytest

from deltableu.errors import InputError
from deltableu.validate import (
    PairedRows,
    SummedScores,
    UnitIntervalPlan,
    UnitPlan,
    draw_units,
    replication_interval,
    unit_correlations,
)

#: Galley et al. 2015, Table 2.
TABLE_2 = """
.260 (.178, .337) .171 (.087, .252)
.343 (.265, .416) .232 (.150, .312)
.318 (.239, .392) .212 (.129, .292)
.265 (.183, .342) .175 (.091, .256)
.330 (.252, .404) .222 (.140, .302)
.258 (.177, .336) .167 (.083, .249)
.280 (.199, .357) .187 (.103, .268)
.405 (.331, .474) .281 (.200, .357)
.484 (.415, .546) .342 (.265, .415)
"""
PRINTED = [
    (method, *map(float, found))
    for line in TABLE_2.strip().splitlines()
    for method, found in zip(
        ("spearman", "kendall-b"),
        re.findall(r"(\.\d+) \((\.\d+), (\.\d+)\)", line),
        strict=True,
    )
]


@pytest.mark.parametrize(("method", "value", "low", "high"), PRINTED)
def test_the_papers_intervals(method, value, low, high):
    units = 12 * UnitPlan(size=100).units(2114)
    assert 2 * units == 528
    interval = replication_interval(value, units, method)
    assert interval.low == pytest.approx(low, abs=0.001)
    assert interval.high == pytest.approx(high, abs=0.001)
    assert "N = 528" in interval.method


def test_all_eighteen_are_there():
    assert len(PRINTED) == 18


PAIRS = [(0, 1), (0, 2), (1, 2)]


def a_study(items: int, relation: float, seed: int = 0) -> PairedRows:
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(3, items)) + np.array([[0.0], [0.3], [0.6]])
    people = quality + 0.5 * rng.normal(size=quality.shape)
    metric = relation * quality + rng.normal(size=quality.shape)
    rated = np.ones((len(PAIRS), items), bool)
    scores = {"m": SummedScores.of_means(metric)}
    return PairedRows.of(scores, SummedScores.of_means(people), PAIRS, rated)


FEW = UnitIntervalPlan(draws=60, assignments=5)
PLAN = UnitPlan(size=10, assignments=50)


def interval_of(paired: PairedRows, how: UnitIntervalPlan = FEW, codes: np.ndarray | None = None):
    value = float(unit_correlations(paired, PLAN, ["spearman"]).mean()[0, 0])
    drawn = draw_units(paired, PLAN, ["spearman"], how, codes=codes)
    return value, drawn.interval(0, 0, value, how.confidence)


def test_more_items_say_more():
    value, few = interval_of(a_study(60, 1.0))
    more, many = interval_of(a_study(600, 1.0))
    assert few.low < value < few.high
    assert many.low < more < many.high
    assert many.high - many.low < 0.6 * (few.high - few.low)


def test_copies_say_no_more_than_their_originals():
    """A study whose items are all there four times: by groups it is as sure as the quarter."""
    once = a_study(60, 1.0)
    four = replace(
        once,
        rows=tuple(np.tile(rows, (4, 1)) for rows in once.rows),
        items=tuple(np.arange(240) for _ in once.items),
        total=240,
    )
    reach = interval_of(once)[1]
    by_item = interval_of(four)[1]
    by_group = interval_of(four, codes=np.tile(np.arange(60), 4))[1]
    wide, honest, narrow = (one.high - one.low for one in (reach, by_group, by_item))
    assert narrow < 0.7 * wide
    assert honest > 0.8 * wide
    assert "groups" in by_group.method


@pytest.mark.parametrize("resample", ["items", "systems", "both"])
def test_draws_depend_on_the_seed_alone(resample):
    paired, how = a_study(40, 1.0), replace(FEW, resample=resample, draws=12)
    found = [draw_units(paired, PLAN, ["spearman"], how, threads=n) for n in (1, 2)]
    assert np.array_equal(found[0].distribution, found[1].distribution, equal_nan=True)
    assert found[0].drawn == ("items and systems" if resample == "both" else resample)
    assert found[0].fewest == (40 if resample == "items" else 3)


def test_a_metric_that_never_varies_has_no_interval():
    paired = a_study(40, 1.0)
    constant = PairedRows.of(
        {"m": SummedScores.of_means(np.ones((3, 40)))},
        SummedScores.of_means(np.random.default_rng(0).normal(size=(3, 40))),
        PAIRS,
        np.ones((3, 40), bool),
    )
    assert interval_of(constant)[1] is None
    assert interval_of(paired)[1] is not None


def test_settings_are_checked():
    with pytest.raises(InputError, match="draws"):
        UnitIntervalPlan(draws=1)
    with pytest.raises(InputError, match="fisher-replication"):
        UnitIntervalPlan(method="fisher")  # type: ignore[arg-type]
