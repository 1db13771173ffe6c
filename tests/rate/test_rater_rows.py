"""Ratings become rows, whatever they are given as."""

from __future__ import annotations

import numpy as np
import pytest

from deltableu.corpus import RatingTable
from deltableu.errors import InputError
from deltableu.rate.rater_rows import rater_rows


def test_rater_rows():
    made = RatingTable.of(raters=["a", "b"], items=["1", "2"], systems=["S", "S"], values=[1, 2])
    names, rows = rater_rows(made)
    assert names == ("a", "b")
    assert np.array_equal(rows, [[1, np.nan], [np.nan, 2]], equal_nan=True)
    assert rater_rows(np.zeros((2, 3, 4)))[1].shape == (2, 12)
    for wrong in ([1, 2], [[1, 2], [1]], [["x", "y"]]):
        with pytest.raises(InputError, match="one row per rater"):
            rater_rows(wrong)
    with pytest.raises(InputError, match="rater 1, unit 0: a rating must be finite"):
        rater_rows([[1, 2], [float("inf"), 2]])
