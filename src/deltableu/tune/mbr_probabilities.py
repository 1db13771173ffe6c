"""N-best lists in; how probable each candidate, and each different text, is out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import NBestLists
from deltableu.errors import InputError, check_known

#: Beside the most probable candidate of an item none counts less than this: what the exponential
#: function makes 0 would leave nothing to compare the most probable one with.
_LEAST = 1e-12


def candidate_probabilities(
    lists: NBestLists, source: str = "uniform", *, scale: float = 1.0
) -> Array:
    """The probability of each candidate among those of its item.

    Parameters
    ----------
    lists
        Candidates with their features, and perhaps totals.
    source
        "uniform", as for samples; or what is a log-probability up to `scale`: "total", or the name
        of a feature.
    scale
        What it is multiplied by before the softmax; more trusts the most probable candidates more.

    Examples
    --------
    >>> lists = NBestLists(("a", "b"), np.array([0, 2, 3]), ("yes", "no", "hi"), ("LM",),
    ...                    np.log([[3.0], [1.0], [1.0]]))
    >>> candidate_probabilities(lists).tolist()
    [0.5, 0.5, 1.0]
    >>> candidate_probabilities(lists, "LM").round(2).tolist()
    [0.75, 0.25, 1.0]
    """
    if not (isinstance(scale, int | float) and math.isfinite(scale)):
        raise InputError(f"the scale must be a finite number, got {scale!r}")
    sizes = np.diff(lists.bounds)
    if source == "uniform" and "uniform" not in lists.names:
        return np.repeat(1.0 / sizes, sizes)
    with np.errstate(over="ignore"):
        scores = scale * _scores(lists, source)
    if not np.isfinite(scores).all():
        raise InputError(f"{source} times the scale is too large a number: take a smaller scale")
    starts = lists.bounds[:-1]
    least = math.log(_LEAST)
    best = np.repeat(np.maximum.reduceat(scores, starts), sizes)
    with np.errstate(over="ignore"):  # what is infinitely less probable counts as the least
        weights = np.exp(np.maximum(scores - best, least))
    return np.asarray(weights / np.repeat(np.add.reduceat(weights, starts), sizes))


def _scores(lists: NBestLists, source: str) -> Array:
    if source in lists.names:
        return np.asarray(lists.features[:, lists.names.index(source)])
    if source == "total" and lists.totals is not None:
        return lists.totals
    if source == "total":
        raise InputError(
            "the n-best lists have no totals to take probabilities from: name a feature, or take "
            "uniform ones"
        )
    check_known("feature", source, ("uniform", "total", *lists.names))
    raise AssertionError


@dataclass(frozen=True, slots=True, eq=False)
class DistinctTexts:
    """The different texts of all items behind each other; what occurs twice counts twice.

    Attributes
    ----------
    texts : tuple of str
    bounds : array of int
        The texts of item i are those from `bounds[i]` up to but not `bounds[i + 1]`.
    probabilities : array
        The sum of those of the candidates with each text.
    places : array of int
        Which of the texts each candidate has.
    firsts : array of int
        The first candidate that has each text.
    """

    texts: tuple[str, ...]
    bounds: Ints
    probabilities: Array
    places: Ints
    firsts: Ints

    @classmethod
    def of(cls, lists: NBestLists, probabilities: Array) -> DistinctTexts:
        """Of n-best lists whose candidates have these probabilities."""
        texts: list[str] = []
        places: list[int] = []
        firsts: list[int] = []
        bounds = [0]
        for item in range(len(lists)):
            seen: dict[str, int] = {}
            for number, text in enumerate(lists.candidates(item), start=int(lists.bounds[item])):
                if text not in seen:
                    seen[text] = len(texts)
                    texts.append(text)
                    firsts.append(number)
                places.append(seen[text])
            bounds.append(len(texts))
        owned = np.array(places, dtype=np.int64)
        sums: Any = np.bincount(owned, weights=probabilities, minlength=len(texts))
        return cls(tuple(texts), np.array(bounds), sums, owned, np.array(firsts))
