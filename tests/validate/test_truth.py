"""Truth by simulation: what docs/statistics-validate.md says of tests and intervals of agreement.

The long tests draw 2,000 studies from every population and hold the page to it: its figures, and
what it says of them. The short ones draw 120 from a few populations and allow for more chance.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence

import numpy as np
import pytest
from scipy.stats import binom

from deltableu.stats.resampling import stream
from deltableu.validate.levels import agreement
from simulations import validate
from simulations.__main__ import REPLICATIONS, SEED, VALIDATION_PAGE
from simulations.tables import Row
from simulations.validate import NoAgreement, OtherSystems, TheseSystems
from simulations.validate_people import FewRatings, RatedSystems
from simulations.validate_populations import (
    BIAS,
    LEVELS,
    POOL,
    SETS,
    draw,
    item_pools,
    true_value,
)
from simulations.validate_tables import everything, tables

FEW = 120

if not VALIDATION_PAGE.exists():
    pytest.skip("its page is not written yet", allow_module_level=True)


def only(rows: Sequence[Row], **wanted: object) -> list[Row]:
    found = [
        row for row in rows if all(getattr(row, name) == value for name, value in wanted.items())
    ]
    assert found, wanted
    return found


def in_wide_band(row: Row) -> bool:
    """One in ten thousand falls outside by chance."""
    low, high = binom.ppf((5e-5, 1 - 5e-5), row.replications, row.nominal) / row.replications
    return bool(low <= row.rate <= high)


# --- The populations ------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", ["normal", "skewed"])
@pytest.mark.parametrize("bias", [0.0, BIAS])
def test_two_metrics_agree_equally_well_with_these_systems(shape, bias):
    pools = item_pools(shape, bias, 6)
    assert len(pools) == SETS
    for pool in pools:
        assert pool.x.shape == pool.human.shape == (6, POOL)
        for level in LEVELS:
            x, y = (
                float(agreement(side, pool.human, level=level)) for side in (pool.x, pool.y[level])
            )
            assert x == pytest.approx(y, abs=1e-9)
            assert not np.array_equal(pool.x, pool.y[level])
        errors = [
            side.mean(axis=1) - pool.human.mean(axis=1) for side in (pool.x, pool.y["system"])
        ]
        if bias and shape == "normal":
            assert abs(errors[0] - errors[1]).max() > 0.2


@pytest.mark.parametrize("bias", [0.0, BIAS])
def test_true_values_of_normal_scores(bias):
    """Variances: systems 1, items 1, outputs 1, people's noise .49, metrics' noise 2.25."""

    def true(level, items=None):
        return true_value("normal", bias, level, "pearson", 6, items)

    people, metric = 1 + (1 + 0.49) / 50, 1 + bias**2 + (1 + 2.25) / 50
    assert true("system", 50) == pytest.approx((1 + 1 / 50) / math.sqrt(people * metric), abs=0.002)
    assert true("system") == pytest.approx(1 / math.sqrt(1 + bias**2), abs=0.002)
    assert true("pooled") == pytest.approx(3 / math.sqrt(3.49 * (5.25 + bias**2)), abs=0.003)
    # Less than the correlation of all outputs of an item, as there are six systems only.
    within = 2 / math.sqrt(2.49 * (4.25 + bias**2))
    assert within - 0.05 < true("item") < within - 0.01


def test_skewed_scores_are_skewed_and_ranks_do_not_see_it():
    table = draw(stream(0), "skewed", BIAS, 400, 50)
    cells = table.human.ravel()
    assert ((cells - cells.mean()) ** 3).mean() / cells.std() ** 3 > 2
    normal, skewed = (
        true_value(shape, BIAS, "pooled", "kendall-b", 0, None) for shape in ("normal", "skewed")
    )
    assert normal == skewed


def test_results_do_not_depend_on_the_number_of_processes():
    cells = [NoAgreement("normal", 0.0, 4, 6), FewRatings("normal", 12)]
    one = validate.simulate(260, 3, chosen=cells, processes=1)
    assert validate.simulate(260, 3, chosen=cells, processes=2) == one
    assert validate.simulate(260, 4, chosen=cells, processes=1) != one


def test_every_cell_has_its_own_name():
    names = [(type(cell), cell.data, cell.relation, cell.n) for cell in everything()]
    assert len(set(names)) == len(names)


# --- Reduced --------------------------------------------------------------------------------------


def few(cell) -> list[Row]:
    return validate.simulate(FEW, SEED, chosen=[cell], processes=1)[cell]


def test_few_studies_of_other_systems():
    rows = few(OtherSystems("normal", BIAS, 10, 50, ("system",)))
    for method in ("PERM-SYS", "Williams, two-sided", "Williams, side fixed"):
        (row,) = only(rows, method=method)
        assert in_wide_band(row), row
    for method in ("PERM-BOTH", "PERM-INPUT"):
        (row,) = only(rows, method=method)
        assert row.rate > 0.25, row
    for row in only(rows, method="formula"):
        assert in_wide_band(row), row
    for row in only(rows, method="bca, items"):
        assert row.rate < 0.8, row


def test_few_studies_of_these_systems():
    rows = few(TheseSystems("normal", BIAS, 6, 50, ("item",)))
    for method in ("PERM-BOTH", "PERM-INPUT", "BOOT-INPUT"):
        (row,) = only(rows, method=method)
        assert row.rate <= row.nominal or in_wide_band(row), row
    for row in only(rows, method="bca, items"):
        assert in_wide_band(row), row


def test_few_metrics_that_know_nothing():
    rows = few(NoAgreement("normal", BIAS, 10, 50))
    for row in only(rows, method="by formula"):
        if row.target.startswith("system"):
            assert in_wide_band(row), row
        else:
            assert row.rate > 0.25, row


def test_few_studies_of_equal_systems():
    rows = few(RatedSystems("normal", 12, 100, same_items=False, model=False))
    first, doubled = rows
    assert in_wide_band(doubled), doubled
    assert 0.03 < first.rate < 0.2, first


# --- The page -------------------------------------------------------------------------------------

Cells = dict[tuple[str, ...], float]


def figures(text: str) -> Cells:
    """Figures of a table, by its first four columns and the method."""
    lines = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    heading, _, *rest = lines
    found = {
        (*line[:4], method): float(re.sub(r"\*\*|above|below|\(.*\)", "", cell))
        for line in rest
        for method, cell in zip(heading[4:], line[4:], strict=True)
        if cell
    }
    assert found
    return found


def blocks() -> dict[str, str]:
    page = VALIDATION_PAGE.read_text(encoding="utf-8")
    return dict(re.findall(r"<!-- (validated [^>]*) -->\n(.*?)<!-- /\1 -->", page, re.DOTALL))


def test_the_page_has_every_table_and_cell():
    found = blocks()
    made = validate.simulate(1, SEED, chosen=everything(), processes=1)
    assert found.keys() == tables(made).keys()
    for name, text in tables(made).items():
        assert figures(found[name]).keys() == figures(text).keys(), name
        assert f"{REPLICATIONS:,} replications" in found[name]


# --- At full size ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def found():
    return validate.simulate(REPLICATIONS, SEED, chosen=everything())


@pytest.mark.long
def test_the_page_has_these_figures(found):
    printed = blocks()
    for name, text in tables(found).items():
        again, before = figures(text), figures(printed[name])
        assert again.keys() == before.keys()
        # Another processor may round a resampled score to the other side of a limit.
        assert all(abs(again[key] - before[key]) <= 0.3 for key in again), name
