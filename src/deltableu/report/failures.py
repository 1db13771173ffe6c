"""Failure cases in; what a page shows of each (texts, references, an explanation) out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from deltableu.corpus import Item, Reference, ReferenceSet
from deltableu.report.cases import best_and_worst, explained_case
from deltableu.report.explain import Case
from deltableu.score import BLEU, Scoring
from deltableu.validate import FailureCase

#: References that are shown with a case, the best and the worst of them.
_SHOWN = 4


@dataclass(frozen=True, slots=True)
class ShownFailure:
    """A failure case with its texts; `more` references are not shown."""

    case: FailureCase
    item: Item | None = None
    text: str | None = None
    references: tuple[Reference, ...] = ()
    more: int = 0
    explained: Case | None = None


def shown_failures(
    cases: Sequence[FailureCase],
    references: ReferenceSet,
    outputs: Mapping[str, Sequence[str]],
    scoring: Scoring,
) -> tuple[ShownFailure, ...]:
    """Cases with their texts, and an explanation where the metric is BLEU's kin.

    Parameters
    ----------
    cases : list of FailureCase
    references, outputs
        As `score_systems` took them.
    scoring : Scoring
        What gave the scores; its items may be fewer than the references'.
    """
    places = {item.id: place for place, item in enumerate(references.items or ())}
    rows = {(one.score.name, one.system): one.rows for one in scoring.scores}
    scored = {item: place for place, item in enumerate(scoring.item_ids)}
    kept = references.take([places[item] for item in scoring.item_ids if item in places])
    found = []
    for case in cases:
        place = places.get(case.item)
        if place is None or references.items is None:
            found.append(ShownFailure(case))
            continue
        item = references.items[place]
        explained = None
        own = rows.get((case.metric, case.system))
        if own is not None and isinstance(own.metric, BLEU) and case.item in scored:
            texts = {case.system: [outputs[case.system][places[one]] for one in scoring.item_ids]}
            explained = explained_case(kept, scored[case.item], texts, {case.system: own})
        some = best_and_worst(item.references, _SHOWN)
        found.append(
            ShownFailure(
                case,
                item,
                outputs[case.system][place],
                some,
                len(item.references) - len(some),
                explained,
            )
        )
    return tuple(found)
