"""relevance and self-calibrated references on public sets, and controls of what they gain."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from deltableu import SCR, Relevance
from deltableu.corpus import ReferenceSet
from deltableu.judges import RelevanceModel, read_relevance, train_relevance, write_relevance
from deltableu.judges.balanced_logistic import balanced_logistic
from deltableu.judges.scr_fit import STRENGTH
from deltableu.judges.scr_texts import prepare_texts
from deltableu.score import with_shares
from deltableu.validate.controls import shuffled_weights
from reproduce.agreement_cells import SEED
from reproduce.dialogue_logs import write_pairs
from reproduce.set_columns import Score
from reproduce.soft_sets import Judged
from reproduce.upsilon import MODELS

__all__ = ["relevance_model", "scores"]

Array = np.ndarray[Any, np.dtype[np.float64]]

OURS = "scr"
MINED_ELSEWHERE = "scr, own original, another item's mined"
ELSEWHERE = "scr, another item's references"
BLIND = "reference-blind, calibrated on good and bad"


def relevance_model(data: Path) -> RelevanceModel:
    """The model of the five logs, trained at the first call."""
    path = MODELS / "relevance.safetensors"
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory() as folder:
            write_pairs(data, Path(folder))
            write_relevance(path, train_relevance(folder))
    return read_relevance(path)


def _first_places(judged: Judged) -> dict[str, int]:
    """Where each item stands first among those that outputs answer."""
    return {name: place for place, name in reversed(list(enumerate(judged.items)))}


def _fitted(metric: SCR, judged: Judged, references: ReferenceSet) -> SCR:
    """The metric, calibrated on each item once."""
    return metric.fitted_to(references.take(sorted(_first_places(judged).values())))


def _relevance(model: RelevanceModel, judged: Judged) -> Array | None:
    if not _has_messages(judged):
        return None
    metric = Relevance(relevance=model)
    return np.asarray(metric.compute(judged.outputs, judged.references).segment_scores())


def _has_messages(judged: Judged) -> bool:
    return judged.references.messages is not None


def _scr(model: RelevanceModel | None, judged: Judged, **settings: Any) -> Array:
    given = model if _has_messages(judged) else None
    metric = _fitted(SCR(relevance=given, **settings), judged, judged.references)
    return np.asarray(metric.compute(judged.outputs, judged.references).segment_scores())


def _has_bad(judged: Judged) -> bool:
    given = judged.references
    return given.weights is not None and bool((given.flat_weights < 0).any())


def _without_relevance(judged: Judged) -> Array | None:
    return _scr(None, judged) if _has_messages(judged) else None


def _without_bad(judged: Judged) -> Array | None:
    if not _has_bad(judged):
        return None
    return _scr(None, judged, negatives="ignore")


def _shuffled(model: RelevanceModel, judged: Judged) -> Array | None:
    """scr with each item's weights given to its references at random."""
    given = shuffled_weights(with_shares(judged.references), SEED)
    if given is None or len(given.without_positive()):
        return None
    return _scr(model, replace(judged, references=given))


def _other_item(model: RelevanceModel, judged: Judged, *, original: bool) -> Array | None:
    """scr with the references of another item, perhaps beside its own original."""
    if original and judged.references.weights is not None:
        return None
    metric = SCR(relevance=model if _has_messages(judged) else None)
    fitted = _fitted(metric, judged, judged.references)
    given = with_shares(judged.references)
    first = _first_places(judged)
    names = list(dict.fromkeys(judged.items))
    turn = len(names) // 2
    other = {name: first[names[(k + turn) % len(names)]] for k, name in enumerate(names)}
    texts, weights = [], []
    for place, name in enumerate(judged.items):
        row = given.texts[other[name]]
        texts.append((given.texts[place][0], *row[1:]) if original else row)
        weights.append((given.weights or ())[other[name]])
    turned = ReferenceSet(texts, weights, messages=given.messages)
    return np.asarray(fitted.compute(judged.outputs, turned).segment_scores())


def _blind(judged: Judged) -> Array | None:
    """Nearness to the references of other items, weighed by what tells good from bad ones."""
    if not _has_bad(judged):
        return None
    metric = SCR(negatives="ignore")
    items = sorted(_first_places(judged).values())
    given = metric.encode(judged.references.take(items)).extra.given
    turned = replace(given, background=replace(given.background, weights=-given.background.weights))
    numbers = {judged.items[place]: number for number, place in enumerate(items)}

    def features(one: Any, other: Any, own: Any, rows: Any, owners: Any) -> Array:
        return np.concatenate([part.chance(own, rows, owners) for part in (one, other)]).T

    known = features(given, turned, given.pooling.references, given.rows, given.owners)
    spreads = known.std(axis=0)
    learnt, _ = balanced_logistic(known / spreads, given.weights > 0, STRENGTH)
    own, space = prepare_texts(judged.outputs, given.pooling.space, metric.encoder_and_label[0])
    pooling = replace(given.pooling, space=space)
    owners = np.array([numbers[name] for name in judged.items])
    one, other = (replace(part, pooling=pooling) for part in (given, turned))
    asked = features(one, other, own, np.arange(len(judged.outputs)), owners)
    return np.asarray(asked / spreads @ learnt)


def scores(model: RelevanceModel) -> dict[str, Score]:
    """A row each."""
    return {
        "relevance": partial(_relevance, model),
        OURS: partial(_scr, model),
        "scr without relevance": _without_relevance,
        "scr, bad references left out": _without_bad,
        "scr, shuffled weights": partial(_shuffled, model),
        MINED_ELSEWHERE: partial(_other_item, model, original=True),
        ELSEWHERE: partial(_other_item, model, original=False),
        BLIND: _blind,
    }
