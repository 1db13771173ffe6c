"""A study in; the same without what failed raters said, and a sentence about that, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import Item, RatingTable, Reference, Study, reference_set
from deltableu.errors import InputError, Problem
from deltableu.rate.rater_check_results import RaterCheckPlan, RaterChecks
from deltableu.rate.rater_checks import check_raters
from deltableu.rate.weights import rated_weights


@dataclass(frozen=True, slots=True)
class KeptRatings:
    """Ratings of those who did not fail.

    Attributes
    ----------
    ratings : RatingTable
    checks : RaterChecks
    note : str
        How many raters and ratings were dropped.
    """

    ratings: RatingTable
    checks: RaterChecks
    note: str


def drop_failed_raters(ratings: RatingTable, plan: RaterCheckPlan | None = None) -> KeptRatings:
    """All ratings but those of raters who fail `check_raters`.

    Those who cannot be judged are kept.

    Examples
    --------
    >>> made = RatingTable.of(raters=["ann"] * 20 + ["bob"] * 20, systems=["A"] * 40,
    ...                       items=[str(n) for n in range(20)] * 2, values=[*range(20)] + [3] * 20)
    >>> kept = drop_failed_raters(made)
    >>> kept.ratings.raters, kept.note
    (('ann',), 'dropped 1 of 2 raters, who failed, and their 20 of 40 ratings; 1 cannot be judged')
    """
    checks = check_raters(ratings, plan)
    failed, total = checks.failed, len(checks.raters)
    unknown = f"; {len(checks.unknown)} cannot be judged" if checks.unknown else ""
    if not failed:
        who = f"none of {total} raters" if total > 1 else "the only rater did not, and nobody"
        return KeptRatings(ratings, checks, f"{who} failed, so that none was dropped{unknown}")
    if len(failed) == total:
        raise InputError(f"all {total} raters failed, so that no rating is left")
    kept = ratings.without_raters(failed)
    note = (
        f"dropped {len(failed)} of {total} raters, who failed, and their "
        f"{len(ratings) - len(kept):,} of {len(ratings):,} ratings{unknown}"
    )
    return KeptRatings(kept, checks, note)


def without_failed_raters(study: Study, plan: RaterCheckPlan | None = None) -> tuple[Study, str]:
    """A study without the ratings of failed raters, and a sentence that says what was dropped.

    Weights that are means of ratings become the means of those that are left. A reference that only
    failed raters rated is left out, unless it is the original of its item, which is an error.
    Weights that were not made from the ratings stay as they are, which is said.

    Parameters
    ----------
    study
        With ratings.
    plan
        What makes a rater fail.
    """
    if len(study.ratings) == 0:
        where = "the study" if study.path is None else str(study.path)
        raise InputError(f"{where} has no ratings whose raters could be checked")
    kept = drop_failed_raters(study.ratings, plan)
    if len(kept.ratings) == len(study.ratings):
        return study, kept.note
    items, more = _reweighted(study, kept.ratings)
    there = {(item.id, one.id) for item in items for one in item.references}
    before = {(item.id, one.id) for item in study.items for one in item.references}
    names = [name in before and name not in there for name in kept.ratings.references]
    # The last place stands for -1, no reference.
    lost = np.array([*names, False], dtype=np.bool_)[kept.ratings.reference]
    return replace(study, items=items, ratings=kept.ratings[~lost]), kept.note + more


def _reweighted(study: Study, kept: RatingTable) -> tuple[Sequence[Item], str]:
    """Items with weights of what is left, and what to say about that."""
    references = reference_set(study)
    weighted = references.weights is not None
    failed = study.ratings[~np.isin(study.ratings.rater, _places(study.ratings, kept))]
    if not weighted or not (failed.of_kind("item", "repeat") & (failed.reference >= 0)).any():
        return study.items, ""
    criterion = _criterion_of_weights(study)
    if criterion is None:
        return study.items, "; the weights are not the means of the ratings and stay as they are"
    before, after = (_answers(table, study.items, criterion) for table in (study.ratings, kept))
    changed = before[0] > after[0]
    lost = changed & (after[0] == 0)
    made: list[Item] = []
    places = iter(range(len(changed)))
    for item in study.items:
        chosen: list[Reference] = []
        for one, place in zip(item.references, places, strict=False):
            if not lost[place]:
                mean = float(after[1][place])
                chosen.append(replace(one, weight=mean) if changed[place] else one)
            elif one.origin == "original" or len(item.references) == 1:
                message = f"only raters who failed rated reference {one.id!r}: rate it again"
                raise InputError(Problem(message, item=item.id))
        made.append(replace(item, references=tuple(chosen)))
    return tuple(made), _said(int(changed.sum() - lost.sum()), int(lost.sum()))


def _said(changed: int, lost: int) -> str:
    said = f"; {changed:,} weights are new" if changed else ""
    if lost:
        said += f"; {lost:,} references that only they rated are left out"
    return said


def _places(ratings: RatingTable, kept: RatingTable) -> Ints:
    """The places of those raters who are still there."""
    there = set(kept.raters)
    return np.array([n for n, name in enumerate(ratings.raters) if name in there], dtype=np.int64)


def _answers(table: RatingTable, items: Sequence[Item], criterion: str) -> tuple[Ints, Array]:
    """The number and the mean of the ratings of each reference."""
    try:
        found = table.of_references(items, criterion, unknown="drop")
    except InputError:  # nobody is left who rated references
        size = sum(len(item.references) for item in items)
        return np.zeros(size, dtype=np.int64), np.zeros(size)
    size = len(found.references)
    counts = np.bincount(found.reference, minlength=size)
    sums = np.bincount(found.reference, found.values, minlength=size)
    return counts, sums / np.maximum(counts, 1)


def _criterion_of_weights(study: Study) -> str | None:
    """The criterion of which the study's weights are the means; None where there is none."""
    references = reference_set(study)
    given = list(chain.from_iterable(references.weights or ()))
    for criterion in study.ratings.criteria:
        try:
            answers = study.ratings.of_references(study.items, criterion, unknown="drop")
        except InputError:
            continue
        _, note = rated_weights(references, answers)
        if not note and any(given[place] is not None for place in answers.reference.tolist()):
            return criterion
    return None
