"""What results about raters show of themselves."""

from __future__ import annotations

import numpy as np

from deltableu.rate import intraclass_correlations
from deltableu.rate.mixed_effects import MixedModel, VarianceComponents
from deltableu.rate.rater_agreement import AnnotatorCorrelations, RaterCorrelations

# Shrout and Fleiss 1979, Table 2.
RATINGS = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
)


def test_intraclass_correlations():
    table = intraclass_correlations(RATINGS.T).table(digits=2)
    assert [row[0].value for row in table.rows] == [
        "ICC1",
        "ICC2",
        "ICC3",
        "ICC1k",
        "ICC2k",
        "ICC3k",
    ]
    assert [row[1].text(table.columns[1]) for row in table.rows] == [
        *(".17", ".29", ".71"),
        *(".44", ".62", ".91"),
    ]
    first = table.records()[0]
    assert first["correlation low"] < first["correlation"] < first["correlation high"]
    assert table.caption == "4 raters, 6 units, 95% intervals"


def test_correlations_of_raters():
    nan = float("nan")
    values = np.array([[nan, 0.5], [0.5, nan]])
    counts = np.array([[3, 3], [3, 3]])
    found = RaterCorrelations(("a", "b"), "pearson", values, counts, 0.5, 0.5, 0.5, 1, 0)
    assert found.table().records() == [
        {"rater": "a", "a": None, "b": 0.5},
        {"rater": "b", "a": 0.5, "b": None},
    ]
    assert "| a | - | .500 |" in found.table().to_markdown()
    assert found.table().caption == "pearson: mean .500 of 1 pairs"
    units = np.array([3, 4])
    one = AnnotatorCorrelations(("a", "b"), "pearson", np.array([0.5, nan]), units, 0.5, 0.5, 0.5)
    assert one.table().records() == [
        {"rater": "a", "pearson": 0.5, "units": 3},
        {"rater": "b", "pearson": None, "units": 4},
    ]


def test_mixed_models_show_the_best_system_first():
    empty = np.zeros((2, 2))
    found = MixedModel(
        systems=("A", "B"),
        items=("1",),
        raters=("r",),
        estimates=np.array([50.0, 60.5]),
        standard_errors=np.array([1.25, 2.0]),
        covariance=empty,
        differences=empty,
        difference_errors=empty,
        degrees_of_freedom=empty,
        p_values=empty,
        untested=None,
        variances=VarianceComponents(1.0, 2.0, 0.5, 0.0, 3.0),
        item_effects=empty,
        rater_effects=empty,
        segment_scores=empty,
        log_likelihood=0.0,
        ratings=12,
        method="reml",
    )
    assert found.table().records() == [
        {"system": "B", "mean": 60.5, "standard error": 2.0},
        {"system": "A", "mean": 50.0, "standard error": 1.25},
    ]
    variances = found.table(digits=1).notes["variances"]
    assert variances == "item 1.0, rater 2.0, taste 0.5, output 0.0, residual 3.0"
