"""An item and what systems said to it, taken apart for the explain views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.report.explain import Answer, Case
from deltableu.score import BLEU, Statistics, corpus_share, explain_item


def explained_case(
    references: ReferenceSet,
    index: int,
    outputs: Mapping[str, Sequence[str]],
    rows: Mapping[str, Statistics],
) -> Case:
    """One item with the answers of all systems that have rows, whose metric is BLEU's kin."""
    if references.items is None:
        raise InputError("an explanation needs items, and these references are texts alone")
    item = references.items[index]
    ids = tuple(one.id for one in item.references)
    answers = tuple(
        _answer(references, index, system, outputs[system][index], rows[system]) for system in rows
    )
    return Case(item, ids, answers)


def _answer(
    references: ReferenceSet, index: int, system: str, text: str, rows: Statistics
) -> Answer:
    own, metric = rows.metric.settled(references.take([index]))
    explanation = explain_item(
        cast(BLEU, metric),
        text,
        own.texts[0],
        # Scoring has refused references without a weight, where the metric needs weights.
        None if own.weights is None else [weight or 0.0 for weight in own.weights[0]],
    )
    score = float(rows[index].segment_scores()[0])
    share = corpus_share(rows, index)
    return Answer(system, explanation, score, share, cast(BLEU, rows.metric))
