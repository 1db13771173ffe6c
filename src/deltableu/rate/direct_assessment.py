"""Raw ratings in, standardised segment and system scores with significance out.

Direct Assessment as the shared tasks of WMT do it: each rater's values become deviations from that
rater's own mean, then judgements are averaged over segments and systems.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import RatingTable
from deltableu.errors import InputError, InputWarning, check_at_least, check_choice, check_share
from deltableu.io import Column, Table, Tabular
from deltableu.rate.rater_rows import of_one_criterion
from deltableu.rate.standardise import DroppedRater, standardise
from deltableu.stats import Correction, Ranking, adjust, best_first, rank

RankBy = Literal["z", "raw"]

_LISTED = 5


@dataclass(frozen=True, slots=True, eq=False)
class DirectAssessment(Tabular):
    """What people think of each segment and system.

    Attributes
    ----------
    systems, items : tuple of str
        As in the ratings.
    segment_z, segment_raw : arrays
        Systems x items: a rater's judgements of a segment are averaged first, then raters. NaN
        where fewer raters than asked for judged it.
    raters : array of int
        Systems x items: how many different raters judged the segment.
    pooled_z, pooled_raw : arrays
        Systems x items: the mean of all judgements, repeats and all, NaN where there is none.
    z, raw : arrays
        The score of each system: the mean of its pooled segment means; NaN where it has none.
    segments, judgements : arrays of int
        How many of them are behind each system's score.
    p_values : array
        `p_values[a, b]`: rank-sum test that a, of the higher mean, is better than b; adjusted
        for the number of tests if that was asked for. NaN the other way round.
    ranking : Ranking
        The ranking of the systems that have a score.
    dropped : tuple of DroppedRater
    rank_by : "z" or "raw"
        What systems are ranked and tested by.
    min_raters : int
    significance : float
    correction : "none", "holm" or "bh"
    """

    systems: tuple[str, ...]
    items: tuple[str, ...]
    segment_z: Array
    segment_raw: Array
    raters: Ints
    pooled_z: Array
    pooled_raw: Array
    z: Array
    raw: Array
    segments: Ints
    judgements: Ints
    p_values: Array
    ranking: Ranking
    dropped: tuple[DroppedRater, ...]
    rank_by: RankBy
    min_raters: int
    significance: float
    correction: Correction

    def table(self, *, digits: int = 3) -> Table:
        """Systems that have a score in rows, the best first."""
        columns = (
            Column("system"),
            Column("z", f".{digits}f"),
            Column("raw", ".1f"),
            Column("rank", "range"),
            *map(Column, ("cluster", "segments", "judgements")),
        )
        values = (
            *(self.systems, self.z, self.raw, self.ranking.ranks),
            *(self.ranking.clusters, self.segments, self.judgements),
        )
        rows = ([column[place] for column in values] for place in self.ranking.order)
        return Table(columns, rows)


def direct_assessment(
    ratings: RatingTable,
    *,
    min_raters: int = 1,
    rank_by: RankBy = "z",
    significance: float = 0.05,
    correction: Correction = "none",
) -> DirectAssessment:
    """Score segments and systems as Direct Assessment does, and test which systems differ.

    Only outputs and their repeats are scored; references and bad references enter a rater's mean
    and standard deviation. A system's score is the mean of its segments' means, so that a segment
    judged often counts no more than others. Systems are compared by one-sided rank-sum tests on
    segment means, with continuity correction, the higher mean against the lower (exact where a
    system has 8 segments or fewer and nothing is tied).

    Parameters
    ----------
    ratings
        Leave raters who failed the controls out first: `ratings.without_raters(...)`.
    min_raters
        Segment scores need that many different raters; Graham et al. (2015) ask for 15. System
        scores do not.
    rank_by
        Rank and test by standardised ("z") or by raw scores.
    significance
        Below or at which p-value systems differ.
    correction
        For the number of tests; WMT makes none.

    References
    ----------
    Graham, Baldwin and Mathur 2015, "Accurate Evaluation of Segment-level Machine Translation
    Metrics", NAACL.

    Examples
    --------
    >>> made = RatingTable.of(
    ...     raters=["a", "a", "a", "a", "b", "b"], items=["1", "2", "1", "2", "1", "1"],
    ...     systems=["A", "A", "B", "B", "A", "B"], values=[90, 80, 40, 50, 70, 60],
    ... )
    >>> result = direct_assessment(made)
    >>> result.raw.tolist(), result.z.round(3).tolist(), result.ranking.order
    ([80.0, 50.0], [0.754, -0.754], (0, 1))
    """
    check_at_least("min_raters", min_raters, 1)
    check_choice("rank_by", rank_by, get_args(RankBy))
    check_choice("correction", correction, get_args(Correction))
    check_share("significance", significance)
    ratings = of_one_criterion(ratings)
    standard, dropped = standardise(ratings)
    if dropped:
        _warn(dropped)
    scored = standard.scored()
    if len(scored) == 0:
        raise InputError("no rating of a system is left that could be standardised")
    left = np.isin(ratings.rater, standard.rater)
    raw = ratings[left].scored()
    pooled_z, pooled_raw, counts = output_means(scored), output_means(raw), output_counts(scored)
    # Means over different raters, whose own ratings of a segment are averaged first.
    own = [one.without_repeats() for one in (scored, raw)]
    raters = output_counts(own[0])
    segment_z, segment_raw = (
        np.where(raters >= min_raters, output_means(one), np.nan) for one in own
    )
    z, system_raw = _mean_of_segments(pooled_z), _mean_of_segments(pooled_raw)
    means, segments = (z, pooled_z) if rank_by == "z" else (system_raw, pooled_raw)
    p_values = _rank_sums(segments, best_first(ratings.systems, means), correction)
    ranking = rank(ratings.systems, means, np.nan_to_num(p_values, nan=1.0) <= significance)
    return DirectAssessment(
        ratings.systems,
        ratings.items,
        segment_z,
        segment_raw,
        raters,
        pooled_z,
        pooled_raw,
        z,
        system_raw,
        (counts > 0).sum(axis=1),
        counts.sum(axis=1),
        p_values,
        ranking,
        dropped,
        rank_by,
        min_raters,
        significance,
        correction,
    )


def _warn(dropped: tuple[DroppedRater, ...]) -> None:
    listed = ", ".join(f"{one.rater!r} ({one.reason})" for one in dropped[:_LISTED])
    more = f" and {len(dropped) - _LISTED} others" if len(dropped) > _LISTED else ""
    warnings.warn(
        f"raters who cannot be standardised were dropped: {listed}{more}",
        InputWarning,
        stacklevel=3,
    )


def output_means(scored: RatingTable) -> Array:
    """Systems x items: means of ratings, NaN where there is none.

    Sums are exact, so that the order of ratings breaks no ties.
    """
    cells = scored.system * len(scored.items) + scored.item
    counts = np.bincount(cells, minlength=len(scored.systems) * len(scored.items))
    ordered = scored.values[np.argsort(cells, kind="stable")].tolist()
    means = np.full(len(counts), np.nan)
    last = 0
    for cell in np.flatnonzero(counts).tolist():
        first, last = last, last + int(counts[cell])
        means[cell] = math.fsum(ordered[first:last]) / (last - first)
    return means.reshape(len(scored.systems), -1)


def output_counts(scored: RatingTable) -> Ints:
    """Systems x items: how many ratings there are."""
    shape = (len(scored.systems), len(scored.items))
    cells = scored.system * shape[1] + scored.item
    return np.bincount(cells, minlength=shape[0] * shape[1]).reshape(shape)


def _mean_of_segments(segments: Array) -> Array:
    counts = (~np.isnan(segments)).sum(axis=1)
    means = np.full(len(segments), np.nan)
    np.divide(np.nansum(segments, axis=1), counts, out=means, where=counts > 0)
    return means


def _rank_sums(segments: Array, ranking: tuple[int, ...], correction: Correction) -> Array:
    from scipy.stats import mannwhitneyu

    # WMT tests the scores that it publishes, which have 15 digits: this decides what is tied.
    rated = {
        place: [float(f"{score:.15g}") for score in row[~np.isnan(row)]]
        for place, row in enumerate(segments)
    }
    pairs = [(a, b) for rank, a in enumerate(ranking) for b in ranking[rank + 1 :]]
    tests = [mannwhitneyu(rated[a], rated[b], alternative="greater").pvalue for a, b in pairs]
    p_values = np.full((len(segments), len(segments)), np.nan)
    for (a, b), p_value in zip(pairs, adjust(tests, correction), strict=True):
        p_values[a, b] = p_value
    return p_values
