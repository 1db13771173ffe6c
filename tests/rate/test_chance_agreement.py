"""Alpha and kappas: published examples, and the definitions written out pair by pair."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from deltableu.corpus import RatingTable
from deltableu.errors import InputError
from deltableu.rate.chance_agreement import (
    category_counts,
    cohen_kappa,
    fleiss_kappa,
    krippendorff_alpha,
)
from deltableu.stats.resampling import stream

few = settings(max_examples=60, deadline=None)

NO = np.nan

# Krippendorff 2011, "Computing Krippendorff's Alpha-Reliability", section C: 4 observers, 12 units.
RELIABILITY_DATA = [
    [1, 2, 3, 3, 2, 1, 4, 1, 2, NO, NO, NO],
    [1, 2, 3, 3, 2, 2, 4, 1, 2, 5, NO, 3],
    [NO, 3, 3, 3, 2, 3, 4, 2, 2, 5, 1, NO],
    [1, 2, 3, 3, 2, 4, 4, 1, 2, 5, 1, NO],
]

# Fleiss 1971, Table 1: 30 patients, 6 psychiatrists each, 5 diagnoses.
DIAGNOSES = [
    [0, 0, 0, 6, 0], [0, 3, 0, 0, 3], [0, 1, 4, 0, 1], [0, 0, 0, 0, 6], [0, 3, 0, 3, 0],
    [2, 0, 4, 0, 0], [0, 0, 4, 0, 2], [2, 0, 3, 1, 0], [2, 0, 0, 4, 0], [0, 0, 0, 0, 6],
    [1, 0, 0, 5, 0], [1, 1, 0, 4, 0], [0, 3, 3, 0, 0], [1, 0, 0, 5, 0], [0, 2, 0, 3, 1],
    [0, 0, 5, 0, 1], [3, 0, 0, 1, 2], [5, 1, 0, 0, 0], [0, 2, 0, 4, 0], [1, 0, 2, 0, 3],
    [0, 0, 0, 0, 6], [0, 1, 0, 5, 0], [0, 2, 0, 1, 3], [2, 0, 0, 4, 0], [1, 0, 0, 4, 1],
    [0, 5, 0, 1, 0], [4, 0, 0, 0, 2], [0, 2, 0, 4, 0], [1, 0, 5, 0, 0], [0, 0, 0, 0, 6],
]  # fmt: skip


@st.composite
def ratings(draw, missing: float = 0.25):
    raters, units = draw(st.integers(2, 5)), draw(st.integers(2, 10))
    rng = stream(draw(st.integers(0, 10**6)))
    table = rng.integers(1, 6, units) + rng.integers(-1, 2, (raters, units)).astype(float)
    table[rng.random(table.shape) < missing] = np.nan
    return table


# --- Krippendorff's alpha -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("measurement", "published"), [("nominal", 0.743), ("ordinal", 0.815), ("interval", 0.849)]
)
def test_reliability_data(measurement, published):
    found = krippendorff_alpha(RELIABILITY_DATA, measurement)
    assert round(found.value, 3) == published
    # The unit that one observer alone rated does not count.
    assert (found.units, found.ratings) == (11, 40)


def literal_alpha(table, measurement):
    """Coincidence matrix, then observed and expected disagreement, as Krippendorff writes it."""
    units = [column[~np.isnan(column)] for column in table.T]
    units = [unit for unit in units if len(unit) >= 2]
    values = sorted({value for unit in units for value in unit})
    o = np.zeros((len(values), len(values)))
    for unit in units:
        for a, b in permutations(range(len(unit)), 2):
            o[values.index(unit[a]), values.index(unit[b])] += 1 / (len(unit) - 1)
    margins, n = o.sum(axis=1), o.sum()
    size = len(values)
    distance = np.zeros((size, size))
    for c in range(size):
        for k in range(size):
            low, high = min(c, k), max(c, k)
            distance[c, k] = {
                "nominal": float(c != k),
                "interval": (values[c] - values[k]) ** 2,
                "ordinal": (margins[low : high + 1].sum() - (margins[c] + margins[k]) / 2) ** 2,
            }[measurement]
    observed = (o * distance).sum()
    expected = (np.outer(margins, margins) * distance).sum() / (n - 1)
    return 1 - observed / expected


@pytest.mark.parametrize("measurement", ["nominal", "ordinal", "interval"])
@few
@given(table=ratings())
def test_alpha_is_the_coincidence_matrix(measurement, table):
    rated = (~np.isnan(table)).sum(axis=0) >= 2
    assume(rated.any() and np.unique(table[:, rated][~np.isnan(table[:, rated])]).size > 1)
    found = krippendorff_alpha(table, measurement).value
    assert found == pytest.approx(literal_alpha(table, measurement), abs=1e-10)


@few
@given(ratings(), st.floats(0.1, 50), st.floats(-1000, 1000))
def test_alpha_does_not_depend_on_the_scale(table, stretch, shift):
    rated = (~np.isnan(table)).sum(axis=0) >= 2
    assume(rated.any() and np.unique(table[:, rated][~np.isnan(table[:, rated])]).size > 1)
    for measurement in ("ordinal", "interval"):
        before = krippendorff_alpha(table, measurement).value
        after = krippendorff_alpha(table * stretch + shift, measurement).value
        assert after == pytest.approx(before, abs=1e-8)
    assert krippendorff_alpha(np.exp(table), "ordinal").value == pytest.approx(
        krippendorff_alpha(table, "ordinal").value
    )
    assert krippendorff_alpha(table, "nominal").value <= 1


def test_alpha_of_judgements_takes_first_judgements():
    """A mean of repeats would be a category that nobody chose."""
    made = RatingTable.of(
        raters=["a", "a", "b", "b", "b"], items=["1", "2", "1", "2", "2"], systems=["A"] * 5,
        kinds=["item"] * 4 + ["repeat"], values=[1, 2, 1, 2, 5],
    )  # fmt: skip
    assert krippendorff_alpha(made, "nominal").value == 1


def test_alpha_bad_input():
    with pytest.raises(InputError, match="no unit was rated by two raters"):
        krippendorff_alpha([[1, NO], [NO, 2]])
    with pytest.raises(InputError, match="all ratings are equal"):
        krippendorff_alpha([[3, 3], [3, 3]])
    with pytest.raises(InputError, match="measurement must be one of nominal, ordinal, interval"):
        krippendorff_alpha([[1, 2], [1, 2]], "ratio")
    with pytest.raises(InputError, match="a rating must be finite"):
        krippendorff_alpha([[1, np.inf], [1, 2]])


# --- Cohen's kappa --------------------------------------------------------------------------------


def test_cohen_by_hand():
    """50 grant proposals, yes or no by two readers: observed .7, expected .5."""
    first = [1] * 25 + [0] * 25
    second = [1] * 20 + [0] * 5 + [1] * 10 + [0] * 15
    found = cohen_kappa(first, second)
    assert (found.observed, found.expected) == pytest.approx((0.7, 0.5))
    assert found.value == pytest.approx(0.4)


def test_cohen_1960():
    """Cohen 1960's example, its proportions as 200 cases of three disorders: .70, .41, .492."""
    counts = np.array([[88, 14, 18], [10, 40, 10], [2, 6, 12]])
    first = np.repeat([1, 1, 1, 2, 2, 2, 3, 3, 3], counts.ravel())
    second = np.repeat([1, 2, 3] * 3, counts.ravel())
    found = cohen_kappa(first, second)
    assert (found.observed, found.expected) == pytest.approx((0.70, 0.41))
    assert round(found.value, 3) == 0.492


@pytest.mark.parametrize(("weights", "power"), [("none", 0), ("linear", 1), ("quadratic", 2)])
@few
@given(table=ratings())
def test_kappa_is_one_minus_a_ratio_of_distances(weights, power, table):
    first, second = table[0], table[1]
    both = ~np.isnan(first) & ~np.isnan(second)
    x, y = first[both], second[both]
    assume(len(x) > 0 and np.unique(np.concatenate((x, y))).size > 1)
    apart = np.abs(x[:, None] - y)  # all pairs: what chance gives
    distance = (apart > 0).astype(float) if power == 0 else apart**power
    expected = 1 - np.diag(distance).mean() / distance.mean()
    found = cohen_kappa(first, second, weights)
    assert found.value == pytest.approx(expected, abs=1e-10)
    assert found.units == both.sum()
    assert found.value == pytest.approx(cohen_kappa(second, first, weights).value, abs=1e-10)


def test_cohen_bad_input():
    with pytest.raises(InputError, match="raters have 2 and 3 ratings"):
        cohen_kappa([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="no unit in common"):
        cohen_kappa([1, NO], [NO, 1])
    with pytest.raises(InputError, match="one category only"):
        cohen_kappa([1, 1], [1, 1])
    with pytest.raises(InputError, match="weights must be none, linear or quadratic"):
        cohen_kappa([1, 2], [1, 2], "cubic")


# --- Fleiss' kappa --------------------------------------------------------------------------------


def test_diagnoses():
    found = fleiss_kappa(DIAGNOSES)
    assert np.sum(DIAGNOSES, axis=0).tolist() == [26, 26, 30, 55, 43]
    assert round(found.value, 3) == 0.430
    assert round(found.observed, 3) == 0.556  # .5556 and .2201 in the paper
    assert round(found.expected, 3) == 0.220
    assert (found.units, found.ratings) == (30, 180)


def test_fleiss_of_ten_subjects_and_fourteen_raters():
    """The worked example of most textbooks: .210."""
    counts = [
        [0, 0, 0, 0, 14], [0, 2, 6, 4, 2], [0, 0, 3, 5, 6], [0, 3, 9, 2, 0], [2, 2, 8, 1, 1],
        [7, 7, 0, 0, 0], [3, 2, 6, 3, 0], [2, 5, 3, 2, 2], [6, 5, 2, 1, 0], [0, 2, 2, 3, 7],
    ]  # fmt: skip
    found = fleiss_kappa(counts)
    assert (round(found.observed, 3), round(found.expected, 3)) == (0.378, 0.213)
    assert round(found.value, 3) == 0.210


@few
@given(ratings(missing=0.0))
def test_fleiss_is_nearly_nominal_alpha(table):
    """Krippendorff's alpha corrects Fleiss' chance for the size of the sample, and nothing else."""
    assume(np.unique(table).size > 1)
    kappa = fleiss_kappa(category_counts(table))
    alpha = krippendorff_alpha(table, "nominal")
    n = table.size
    assert alpha.expected == pytest.approx((1 - kappa.expected) * n / (n - 1))
    assert alpha.observed == pytest.approx(1 - kappa.observed)


@few
@given(ratings())
def test_category_counts(table):
    counts = category_counts(table)
    assert counts.sum(axis=1).tolist() == (~np.isnan(table)).sum(axis=0).tolist()
    for column, value in enumerate(np.unique(table[~np.isnan(table)])):
        assert counts[:, column].tolist() == (table == value).sum(axis=0).tolist()


def test_fleiss_bad_input():
    with pytest.raises(InputError, match="unit 1 has 2 ratings, unit 0 has 3"):
        fleiss_kappa([[3, 0], [1, 1]])
    with pytest.raises(InputError, match="at least 2 ratings per unit, got 1"):
        fleiss_kappa([[1, 0], [0, 1]])
    with pytest.raises(InputError, match="one category only"):
        fleiss_kappa([[3, 0], [3, 0]])
    for wrong in ([[0.5, 0.5]], [1, 2], [[-1, 3]], np.zeros((0, 2), int)):
        with pytest.raises(InputError, match="whole numbers from 0 on"):
            fleiss_kappa(wrong)
