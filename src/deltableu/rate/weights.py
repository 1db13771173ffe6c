"""Raw ratings of references in; their weights, and who gave which answer, out."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import lru_cache
from itertools import chain, pairwise
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import Item, Rating, ReferenceSet, Scale, Study, reference_set
from deltableu.errors import InputError, Problem

__all__ = ["RatedReferences", "rated_references"]


#: Kinds of ratings that say what somebody thinks of a reference; the others are controls.
_JUDGEMENTS = ("item", "repeat")


@dataclass(frozen=True, slots=True, eq=False)
class RatedReferences:
    """References, their weights, and the answers that the weights are means of.

    Attributes
    ----------
    references : ReferenceSet
        With the weight of every reference that has one.
    bounds : array of int
        Of all references in one list, item i has those from bounds[i] to bounds[i + 1].
    raters : tuple of str
    reference, rater : array of int
        What each answer is about and who gave it, by position; sorted, and no pair twice.
    answer : array of float
        On the scale of the weights. Where a rater rated a reference several times, the mean.
    note : str
        What users should know of how weights and ratings fit together; empty if they do.
    """

    references: ReferenceSet
    bounds: Ints
    raters: tuple[str, ...]
    reference: Ints
    rater: Ints
    answer: Array
    note: str = ""

    def take(self, indices: Sequence[int]) -> RatedReferences:
        """Some items, in the order asked for."""
        rows = [range(self.bounds[index], self.bounds[index + 1]) for index in indices]
        return self._keep(self.references.take(indices), rows)

    def select(self, setting: str) -> RatedReferences:
        """Narrow to a reference setting, see `ReferenceSet.select`."""
        chosen = self.references.select(setting)
        if chosen is self.references:
            return self
        # Positions go through the same selection as the texts.
        rows: Any = [range(first, last) for first, last in pairwise(self.bounds.tolist())]
        kept: Any = replace(self.references, texts=rows).select(setting).texts
        return self._keep(chosen, kept)

    def _keep(self, references: ReferenceSet, rows: Sequence[Sequence[int]]) -> RatedReferences:
        """These references; `rows` holds where those of each item stood."""
        kept = np.array(list(chain.from_iterable(rows)), dtype=np.int64)
        position = np.full(int(self.bounds[-1]), -1)
        position[kept] = np.arange(len(kept))
        reference = position[self.reference]
        order = np.lexsort((self.rater, reference))
        order = order[reference[order] >= 0]
        return replace(
            self,
            references=references,
            bounds=np.concatenate(([0], np.cumsum([len(row) for row in rows]))),
            reference=reference[order],
            rater=self.rater[order],
            answer=self.answer[order],
        )


def rated_references(
    source: Study | Iterable[Item],
    ratings: Iterable[Rating] | None = None,
    *,
    criterion: str = "overall",
    selection: str = "all",
    scale: Scale | None = None,
) -> RatedReferences:
    """Match raw ratings with the references that they are about.

    A rating counts if its target is `reference:ID`, its kind item or repeat, and its criterion the
    one asked for. A reference that nobody rated keeps the weight it has. Where a reference has both
    a weight and ratings, the weight should be the mean of the ratings, up to the digits in which
    weights are written; where it is not, all weights are taken from the ratings, and `note` says
    so.

    Parameters
    ----------
    source : Study or iterable of Item
    ratings : iterable of Rating, optional
        Those of the study by default.
    criterion : str
    selection : str
        "all", "single" or "w>=T", see `ReferenceSet.select`; made with the weights, once.
    scale : Scale, optional
        Of ratings that name none.

    Examples
    --------
    >>> from deltableu.corpus import Reference
    >>> items = [Item("1", (Reference("r0", "yes"), Reference("r1", "no", 0.2)))]
    >>> ratings = [Rating("ann", "1", "reference:r0", 5, scale="1-5"),
    ...            Rating("bob", "1", "reference:r0", 4, scale="1-5")]
    >>> rated = rated_references(items, ratings)
    >>> rated.references.weights, rated.answer.tolist()
    (((0.75, 0.2),), [1.0, 0.5])
    """
    if ratings is None:
        ratings = source.ratings if isinstance(source, Study) else ()
    items = source.items if isinstance(source, Study) else tuple(source)
    places = _places(items)
    known = {item.id for item in items}
    answers: dict[tuple[int, str], list[float]] = defaultdict(list)
    others: set[str] = set()
    for rating in ratings:
        sort, _, name = rating.target.partition(":")
        if sort != "reference" or rating.kind not in _JUDGEMENTS or rating.item not in known:
            continue
        if rating.criterion != criterion:
            others.add(rating.criterion)
            continue
        if (rating.item, name) not in places:
            message = f"there is a rating of reference {name!r}, which the item does not have"
            raise InputError(Problem(message, item=rating.item))
        answers[places[rating.item, name], rating.rater].append(_weight(rating, scale))
    if not answers:
        hint = f" for {criterion!r}; there are some for {', '.join(sorted(others))}"
        raise InputError(f"there are no raw ratings of references{hint if others else ''}")
    raters = tuple(sorted({rater for _, rater in answers}))
    number = {rater: position for position, rater in enumerate(raters)}
    keys = sorted((place, number[rater]) for place, rater in answers)
    means = [float(np.mean(answers[place, raters[rater]])) for place, rater in keys]
    whole = RatedReferences(
        references=reference_set(items),
        bounds=np.concatenate(([0], np.cumsum([len(item.references) for item in items]))),
        raters=raters,
        reference=np.array([place for place, _ in keys]),
        rater=np.array([rater for _, rater in keys]),
        answer=np.array(means),
    )
    return _with_weights(whole).select(selection)


def _places(items: Sequence[Item]) -> dict[tuple[str, str], int]:
    """Where each reference stands in the list of all."""
    pairs = ((item.id, reference.id) for item in items for reference in item.references)
    return {pair: place for place, pair in enumerate(pairs)}


_scale = lru_cache(maxsize=64)(Scale.parse)


def _weight(rating: Rating, scale: Scale | None) -> float:
    ends = _scale(rating.scale) if rating.scale is not None else scale
    if ends is None:
        message = (
            f"the rating of {rating.target} by {rating.rater!r} names no scale, so that it cannot "
            "become a weight; write the scale, such as 1-5, into the ratings"
        )
        raise InputError(Problem(message, item=rating.item))
    return ends.weight(rating.value)


def _with_weights(rated: RatedReferences) -> RatedReferences:
    """Weights from the study where ratings agree with them, else from the ratings."""
    size = int(rated.bounds[-1])
    counts = np.bincount(rated.reference, minlength=size)
    sums = np.bincount(rated.reference, rated.answer, minlength=size)
    given: list[float | None] = [None] * size
    if rated.references.weights is not None:
        given = list(chain.from_iterable(rated.references.weights))
    means: list[float | None] = list(given)
    both = []
    for place in np.flatnonzero(counts).tolist():
        mean = float(sums[place] / counts[place])
        means[place] = mean
        weight = given[place]
        if weight is not None:
            both.append((weight, mean))
    # Weights are written with as many digits as the longest of them needs.
    digits = max((_digits(weight) for weight, _ in both), default=0)
    wrong = sum(abs(weight - mean) > 0.5 * 10.0**-digits + 1e-9 for weight, mean in both)
    note = ""
    if wrong:
        note = (
            f"{wrong} of {len(both)} weights are not the means of their ratings; "
            "the means are used for all of them"
        )
    used = [
        made if weight is None or wrong else weight
        for weight, made in zip(given, means, strict=True)
    ]
    bounds = pairwise(rated.bounds.tolist())
    nested = tuple(tuple(used[first:last]) for first, last in bounds)
    references = replace(rated.references, weights=nested)
    if wrong or any(weight is None for weight in given):
        references = replace(references, weights_from="ratings")
    return replace(rated, references=references, note=note)


def _digits(weight: float) -> int:
    exponent = Decimal(repr(weight)).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0
