"""Raw ratings in; what people think of each output and each system, one `ScoreTable`, out."""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np

from deltableu.corpus import RatingTable, ScoreTable, rater_words
from deltableu.errors import InputError, check_choice
from deltableu.rate.direct_assessment import DirectAssessment, direct_assessment
from deltableu.rate.mixed_effects import fit_mixed_model
from deltableu.rate.rater_rows import of_one_criterion

HumanScale = Literal["z", "raw", "mixed"]


def human_scores(
    ratings: RatingTable,
    *,
    scale: HumanScale = "z",
    min_raters: int = 1,
    assessment: DirectAssessment | None = None,
) -> ScoreTable:
    """Scores of outputs and of systems, as one metric called `human`.

    Parameters
    ----------
    ratings
    scale
        `z`: standardised by rater, as Direct Assessment has it; `raw`: as given; `mixed`: with
        the rater effects of a mixed model taken out.
    min_raters
        Raters that an output needs for its score to count; a system's score counts all its ratings.
    assessment
        The Direct Assessment of the same ratings with as many raters, where it is at hand.

    Examples
    --------
    >>> made = RatingTable.of(
    ...     raters=["a", "a", "b", "b"], items=["1", "1", "1", "1"],
    ...     systems=["A", "B", "A", "B"], values=[90, 40, 70, 60],
    ... )
    >>> human_scores(made, scale="raw").total("human").tolist()
    [80.0, 50.0]
    """
    check_choice("scale", scale, get_args(HumanScale))
    rank_by: Literal["z", "raw"] = "z" if scale == "z" else "raw"
    found = assessment or direct_assessment(ratings, min_raters=min_raters, rank_by=rank_by)
    segments, totals = found.segment_raw, found.raw
    if scale == "z":
        segments, totals = found.segment_z, found.z
    elif scale == "mixed":
        model = fit_mixed_model(ratings, outputs=True)
        segments = np.where(found.raters >= min_raters, model.segment_scores, np.nan)
        totals = model.estimates
    if np.isnan(segments).all():
        raise InputError(f"no output has {min_raters} raters or more")
    return ScoreTable.from_arrays(
        ["human"],
        found.systems,
        found.items,
        segments[np.newaxis],
        totals=totals[np.newaxis],
        signatures=[f"{scale}-{_raters(ratings)}-min{min_raters}"],
    )


def mean_ratings(ratings: RatingTable) -> ScoreTable:
    """Plain means of what raters said of each output, whoever they are; NaN where nobody did.

    Unlike `human_scores`, nobody is left out whose ratings could not be standardised.

    Examples
    --------
    >>> made = RatingTable.of(
    ...     raters=["a", "b", "b"], items=["1", "1", "2"], systems=["A", "A", "A"],
    ...     values=[4, 5, 1],
    ... )
    >>> mean_ratings(made).only("human").tolist()
    [[4.5, 1.0]]
    """
    table = of_one_criterion(ratings)
    said = table.by_output("mean")
    there = ~np.isnan(said)
    counts = there.sum(axis=0)
    sums = np.where(there, said, 0.0).sum(axis=0)
    means = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return ScoreTable.from_arrays(
        ["human"],
        table.systems,
        table.items,
        means[np.newaxis],
        signatures=[f"mean-{_raters(table)}"],
    )


def _raters(ratings: RatingTable) -> str:
    return rater_words(len(ratings.raters), simulated=ratings.is_simulated)
