"""Ratings in; what each rater said of control items, beside the texts these are copies of, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import RatingTable


@dataclass(frozen=True, slots=True, eq=False)
class ControlPairs:
    """What raters said of control items, and of the texts that these were made from.

    Attributes
    ----------
    rater : array of int
    control, original : arrays
    standardised : bool
        Whether values are deviations from the rater's means, in standard deviations.
    """

    rater: Ints
    control: Array
    original: Array
    standardised: bool

    def of_each_rater(self, ratings: RatingTable) -> list[Ints]:
        """The places of each rater's pairs."""
        order = np.argsort(self.rater, kind="stable")
        cuts = np.searchsorted(self.rater[order], np.arange(1, len(ratings.raters)))
        return np.split(order, cuts)


def control_pairs(ratings: RatingTable, kind: Literal["bad-reference", "repeat"]) -> ControlPairs:
    """Pair control items of a kind with what the same rater said of the same text itself."""
    strata = ratings.criterion * (len(ratings.scales) + 1) + ratings.scale + 1
    controls = ratings.of_kind(kind)
    standardised = len(np.unique(strata[controls])) > 1
    values = _standardised(ratings, strata) if standardised else ratings.values
    outputs, named = len(ratings.systems) * len(ratings.items), len(ratings.references)
    width = outputs + named + len(ratings.items)
    target = np.where(ratings.reference >= 0, ratings.reference, named + ratings.item) + outputs
    target = np.where(
        ratings.system >= 0, ratings.system * len(ratings.items) + ratings.item, target
    )
    asked = ratings.rater * (int(strata.max(initial=0)) + 1) + strata
    keys, control = _means((asked * width + target)[controls], values[controls])
    good = ratings.of_kind("item")
    if kind == "bad-reference":
        # A damaged reference may be one that was shown as a control, and is no output.
        good = np.where(ratings.system < 0, good | ratings.of_kind("reference"), good)
    original = _matched(keys, *_means((asked * width + target)[good], values[good]))
    if kind == "bad-reference":
        # Where nobody says which reference was damaged, it was the one that is shown.
        shown = ratings.of_kind("reference") & (ratings.system < 0)
        places = {item: place for place, item in enumerate(ratings.items)}
        owners = [places[item] for item, _ in ratings.references]
        item_of = np.array([*[-1] * outputs, *owners, *range(len(ratings.items))], dtype=np.int64)
        wanted = np.where(item_of[keys % width] < 0, -1, keys // width * width)
        wanted = np.where(wanted < 0, -1, wanted + item_of[keys % width])
        others = _means((asked * width + ratings.item)[shown], values[shown])
        original = np.where(np.isnan(original), _matched(wanted, *others), original)
    found = ~np.isnan(original)
    # One pair per rater and text, whatever the number of questions.
    rater = keys // width // (int(strata.max(initial=0)) + 1)
    texts = (rater * width + keys % width)[found]
    both, control = _means(texts, control[found])
    _, original = _means(texts, original[found])
    return ControlPairs(both // width if width else both, control, original, standardised)


def _standardised(ratings: RatingTable, strata: Ints) -> Array:
    cells = ratings.rater * (int(strata.max(initial=0)) + 1) + strata
    _, places, counts = np.unique(cells, return_inverse=True, return_counts=True)
    means = np.bincount(places, weights=ratings.values) / counts
    away = ratings.values - means[places]
    spread = np.sqrt(np.bincount(places, weights=away**2) / np.maximum(counts - 1, 1))
    standard: Array = np.zeros(len(away))
    np.divide(away, spread[places], out=standard, where=spread[places] > 1e-12)
    return standard


def _means(keys: Ints, values: Array) -> tuple[Ints, Array]:
    """Each key once, in order, and the mean of its values."""
    unique, places, counts = np.unique(keys, return_inverse=True, return_counts=True)
    return unique, np.bincount(places, weights=values, minlength=len(unique)) / counts


def _matched(wanted: Ints, keys: Ints, values: Array) -> Array:
    """The value of each wanted key; NaN where there is none."""
    if len(keys) == 0:
        return np.full(len(wanted), np.nan)
    places = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
    return np.where(keys[places] == wanted, values[places], np.nan)
