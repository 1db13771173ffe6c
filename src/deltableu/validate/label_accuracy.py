"""Scores of outputs and labels good or bad in; how well the scores part them, out."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools
from deltableu.errors import InputError, check_choice

LabelMeasure = Literal["auc", "average-precision"]


def good_labels(human: ArrayLike) -> Bools:
    """Which outputs are good, of human scores with two values (NaN where there is none).

    Examples
    --------
    >>> good_labels([[1, 0, 1]]).tolist()
    [[True, False, True]]
    """
    values = np.asarray(human, dtype=np.float64)
    found = np.unique(values[~np.isnan(values)])
    if len(found) != 2:
        raise InputError(
            f"auc and average-precision need labels, good or bad, but people give {len(found)} "
            "different scores: give labels with --human, or choose acc-eq"
        )
    return np.asarray(values == found[1])


def label_accuracy(
    scores: ArrayLike,
    good: ArrayLike,
    measure: LabelMeasure = "auc",
    *,
    often: ArrayLike | None = None,
) -> Array:
    """Area under the ROC curve, or average precision.

    Parameters
    ----------
    scores, good
        Of each output: its score, and whether it is good.
    measure
        `auc`: how often a good output has the higher score of a good and a bad one, ties counting
        half. `average-precision`: the mean, over good outputs, of the share of good ones among all
        with at least its score.
    often
        Draws x outputs: how often each counts; by default once.

    Returns
    -------
    array
        One value per draw; NaN where one kind of output is missing.

    References
    ----------
    Sai et al. 2020, Improving Dialog Evaluation with a Multi-reference Adversarial Dataset and
    Large Scale Pretraining (DailyDialog++).

    Examples
    --------
    >>> float(label_accuracy([0.9, 0.8, 0.4, 0.3], [True, False, True, False])[0])
    0.75
    >>> float(label_accuracy([0.9, 0.8, 0.4], [True, False, True], "average-precision")[0].round(3))
    0.833
    """
    check_choice("measure", measure, ("auc", "average-precision"))
    x, label = np.asarray(scores, dtype=np.float64), np.asarray(good, dtype=bool)
    counts = np.ones((1, len(x))) if often is None else np.asarray(often, dtype=np.float64)
    order = np.argsort(-x, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(x[order]) != 0.0))
    weights = counts[:, order]
    positive = np.add.reduceat(weights * label[order], starts, axis=1)
    negative = np.add.reduceat(weights * ~label[order], starts, axis=1)
    all_positive, all_negative = positive.sum(axis=1), negative.sum(axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        if measure == "auc":
            below = all_negative[:, np.newaxis] - np.cumsum(negative, axis=1) + negative / 2.0
            found = (positive * below).sum(axis=1) / (all_positive * all_negative)
        else:
            above = np.cumsum(positive, axis=1)
            seen = above + np.cumsum(negative, axis=1)
            precision = np.where(seen > 0.0, above / seen, 0.0)
            found = (positive * precision).sum(axis=1) / all_positive
    empty = (all_positive == 0.0) | (all_negative == 0.0)
    return np.asarray(np.where(empty, np.nan, found))
