"""N-best lists in, the candidate of each item with the best weighted features out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from deltableu._version import __version__
from deltableu.corpus import Item, NBestLists
from deltableu.errors import InputError, Problem
from deltableu.respond.features import MESSAGE_FEATURES, message_features
from deltableu.respond.responses import Responses, checked_items, make_responses

#: The name of what a system itself ranked by, as a feature.
SYSTEM_TOTAL = "system-total"

#: Set by hand, as the weights of the paper's first phrase-based system: a response should not
#: repeat its message, and a longer one is seldom as bland. The system's own total has the weight
#: that makes its spread within a list about 1.
HAND_SET: Mapping[str, float] = {
    "edit-distance": 0.5,
    "cosine": -0.5,
    "jaccard": -0.5,
    "length-ratio": 0.25,
}


def reranked(
    nbest: NBestLists,
    items: Sequence[Item],
    weights: Mapping[str, float] | None = None,
    *,
    tokenize: str = "words",
) -> Responses:
    """Respond to each item with the candidate whose weighted features sum to most.

    The lists' own features are joined by `MESSAGE_FEATURES` and, where the system has ranked its
    candidates, by its total (`system-total`); the responses' `nbest` has them all.

    Parameters
    ----------
    nbest
        Lists of some of the items or all; items without one are missing.
    items
    weights : mapping, optional
        A weight of every feature. By default `HAND_SET`, 0 for the lists' own features, and for
        `system-total` 1 divided by its mean standard deviation within lists.
    tokenize : str
        What a word is (`deltableu.text.WordRule`).

    References
    ----------
    Galley et al. (2015). deltaBLEU: a discriminative metric for generation tasks with intrinsically
    diverse targets (section 4.2).

    Examples
    --------
    >>> item = Item("1", (), message="where is the station")
    >>> lists = NBestLists(("1",), np.array([0, 2]), ("the station is where", "turn left there"),
    ...                    ("LM",), np.array([[-1.0], [-1.5]]))
    >>> reranked(lists, [item]).texts
    ('turn left there',)
    >>> only_lm = {"LM": 1} | dict.fromkeys(MESSAGE_FEATURES, 0)
    >>> reranked(lists, [item], only_lm).texts
    ('the station is where',)
    """
    items = checked_items(items)
    full = with_message_features(nbest, items, tokenize=tokenize)
    settled = hand_set_weights(full) if weights is None else weights
    said = " (set by hand)" if weights is None else ""
    said += f"|tokenize:{tokenize}" if tokenize != "words" else ""
    return best_responses(full, items, settled, f"{said}|candidates:{nbest.fingerprint()}")


def best_responses(
    nbest: NBestLists, items: Sequence[Item], weights: Mapping[str, float], said: str = ""
) -> Responses:
    """The same with the features that lists have, and no more.

    `said` stands in the signature behind the weights: what else the candidates come from.
    """
    totals = nbest.scores(weights)
    if not np.isfinite(totals).all():
        raise InputError("the weighted sum of some candidate's features is not a finite number")
    best = dict(zip(nbest.item_ids, nbest.texts_of(nbest.best(totals)), strict=True))
    texts = [best.get(item.id) for item in checked_items(items)]
    facts = {"candidates": len(nbest.texts), "features": len(nbest.names)}
    chosen = ",".join(f"{name}={weights[name]:.12g}" for name in nbest.names)
    said = said or f"|candidates:{nbest.fingerprint()}"
    signature = f"rerank|weights:{chosen}{said}|version:{__version__}"
    return make_responses(items, texts, signature, facts, replace(nbest, totals=totals))


def with_message_features(
    nbest: NBestLists, items: Sequence[Item], *, tokenize: str = "words"
) -> NBestLists:
    """The same lists with the features of candidates and messages; those they have already stay."""
    messages = {item.id: item.message or "" for item in items}
    for id in nbest.item_ids:
        if id not in messages:
            message = "there are candidates for this item, but there is no such item"
            raise InputError(Problem(message, item=id))
    asked = [messages[nbest.item_ids[owner]] for owner in nbest.owners.tolist()]
    found = message_features(nbest.texts, asked, tokenize=tokenize)
    new = dict(zip(MESSAGE_FEATURES, found.T, strict=True))
    if nbest.totals is not None:
        new[SYSTEM_TOTAL] = nbest.totals
    new = {name: values for name, values in new.items() if name not in nbest.names}
    if not new:
        return nbest
    features = np.column_stack((nbest.features, *new.values()))
    return replace(nbest, names=(*nbest.names, *new), features=features)


def hand_set_weights(nbest: NBestLists) -> dict[str, float]:
    """The default weights of lists with the features of messages."""
    weights = {name: HAND_SET.get(name, 0.0) for name in nbest.names}
    if SYSTEM_TOTAL in weights:
        totals = nbest.features[:, nbest.names.index(SYSTEM_TOTAL)]
        sizes = np.diff(nbest.bounds)
        means = np.add.reduceat(totals, nbest.bounds[:-1]) / sizes
        squares = np.add.reduceat((totals - means[nbest.owners]) ** 2, nbest.bounds[:-1])
        spread = float(np.sqrt(squares / sizes).mean())
        weights[SYSTEM_TOTAL] = 1.0 / spread if spread > 0.0 else 1.0
    return weights
