"""References in; what each similarity should count out, without a rating of any output.

References stand in for outputs: a good one should be told from the same text at another item, or
from a bad reference of its item.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b

import numpy as np

from deltableu._types import Array, Bools, Ints
from deltableu.errors import InputError
from deltableu.judges.balanced_logistic import balanced_logistic
from deltableu.judges.relevance_model import RelevanceModel, relevance_cosines
from deltableu.judges.scr_calibration import Design, ScrCalibration, rounded
from deltableu.judges.scr_pools import Background, Pool, Pooling, ranked_items
from deltableu.judges.scr_texts import SIMILARITIES, PreparedTexts

#: What the summed loss counts beside the penalty.
STRENGTH = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class ScrReferences:
    """The references of a study as self-calibration sees them.

    Attributes
    ----------
    texts : list of str
        All references.
    rows : array
        Where each stands in the prepared texts.
    owners : array
        The item of each.
    weights : array
        Shares or ratings.
    originals : array of bool
        Which are the original references of items that have mined ones.
    names : list of str
        What tells items from each other, whatever their order.
    ids : list of str, optional
        Their ids.
    pooling : Pooling
    background : Background
    background_rows : array
        Where its references stand in the prepared texts.
    model : RelevanceModel, optional
    messages : array, optional
        The items' messages in the model's space.
    """

    texts: Sequence[str]
    rows: Ints
    owners: Ints
    weights: Array
    originals: Bools
    names: Sequence[str]
    ids: Sequence[str] | None
    pooling: Pooling
    background: Background
    background_rows: Ints
    model: RelevanceModel | None
    messages: Array | None

    @property
    def items(self) -> int:
        return len(self.names)

    def pool(self, weights: Array) -> Pool:
        """References of each item with these weights, those above 0."""
        return Pool.of(self.rows, weights, self.owners, self.items)

    @property
    def good(self) -> Pool:
        """The references with a weight above 0."""
        return self.pool(self.weights)

    @property
    def bad(self) -> Pool:
        """Those with a weight below 0."""
        return self.pool(-self.weights)

    def chance(
        self, own: PreparedTexts, texts: Ints, items: Ints, *, originals: bool = True
    ) -> Array:
        """The mean pool of text texts[j], which belongs to items[j], over other items.

        Without `originals`, over their mined references; an item without any does not count.
        """
        other = self.background
        weights = other.weights if originals else np.where(other.originals, 0.0, other.weights)
        pool = Pool.of(self.background_rows, weights, other.owners, len(other.names))
        chosen = other.of_each(self.names, self.ids)[items]
        found, empty = self.pooling.pools(own, np.repeat(texts, other.number), pool, chosen.ravel())
        shape = (len(texts), other.number)
        counted = np.maximum((~empty).reshape(shape).sum(axis=1), 1)
        means: Array = found.reshape(len(found), *shape).sum(axis=2) / counted
        return means

    def relevance(self, texts: Sequence[str], items: Ints) -> Array | None:
        """How relevant each text is to the message of its item."""
        if self.model is None or self.messages is None:
            return None
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(text, len(numbers)) for text in texts]
        placed = self.model.responses(list(numbers))
        return relevance_cosines(self.messages[items], placed[places], texts)


def features(
    given: ScrReferences,
    own: PreparedTexts,
    texts: Ints,
    items: Ints,
    chance: Array,
    relevance: Array | None,
    *,
    good: Pool,
    bad: Pool | None,
    without: tuple[Ints, Ints] | None = None,
) -> Array:
    """A row per text: pools less chance, of good and of bad references; and relevance.

    Where nothing is in a pool, it is taken to be as near as chance.
    """
    parts = []
    for number, pool in enumerate((good, bad)):
        if pool is None:
            continue
        left = None if without is None else without[number]
        pooled, empty = given.pooling.pools(own, texts, pool, items, left)
        parts.append(np.where(empty, 0.0, pooled - chance))
    if relevance is not None:
        parts.append(relevance[None])
    return np.concatenate(parts).T


def calibrate(
    given: ScrReferences,
    *,
    bad: bool,
    draws: int,
    most: int,
    seed: int,
    encoder: str,
) -> ScrCalibration:
    """Learn from references alone what each similarity should count.

    Parameters
    ----------
    given : ScrReferences
    bad : bool
        Whether references with negative weights are a pool of their own.
    draws : int
        At how many other items a reference stands where it does not belong.
    most : int
        How many references stand in for outputs, at most.
    seed : int
    encoder : str
        What signatures call the vectors.
    """
    if bad:
        design: Design = "good-bad"
        found, labels = _good_and_bad(given, most, seed)
    else:
        design = "mined" if given.originals.any() else "rated"
        found, labels = _own_and_others(given, design, draws, most, seed)
    spreads = found.std(axis=0)
    # What differs by rounding alone tells nothing.
    told = spreads > 1e-9
    scaled = found[:, told] / spreads[told]
    learnt = np.zeros(len(spreads))
    if told.any():
        learnt[told] = balanced_logistic(scaled, labels, STRENGTH)[0] / spreads[told]
    size = len(SIMILARITIES)
    ends = 2 * size if bad else size
    learnt[:size] = np.maximum(learnt[:size], 0.0)
    learnt[size:ends] = np.minimum(learnt[size:ends], 0.0)
    learnt[ends:] = np.maximum(learnt[ends:], 0.0)
    if not learnt.any():
        raise InputError(
            "the references of an item are no more like each other than like those of other items, "
            "so nothing can be calibrated with them: give a calibration of another study "
            "(calibration=, --calibration), or score with soft-cosine"
        )
    pseudo = int(labels.sum()) if not bad else len(labels)
    return ScrCalibration(
        rounded(learnt[:size].tolist()),
        rounded(learnt[size:ends].tolist()),
        None if given.messages is None else rounded(learnt[ends:].tolist())[0],
        rounded(spreads.tolist()),
        design,
        pseudo,
        given.items,
        seed,
        encoder,
        None if given.model is None else given.model.signature,
    )


def _own_and_others(
    given: ScrReferences, design: Design, draws: int, most: int, seed: int
) -> tuple[Array, Bools]:
    """References at their own items (label 1) and at others (label 0)."""
    weights = np.where(given.originals, 0.0, given.weights) if design == "mined" else given.weights
    pool = given.pool(weights)
    rest = pool.sizes[given.owners] - (weights > 0.0)
    standing = given.originals if design == "mined" else given.weights > 0.0
    (chosen,) = np.nonzero(standing & (rest > 0))
    chosen, keys = _sample(given, chosen, most, seed)
    if not len(chosen):
        raise InputError(
            "scr learns from references that stand in for outputs beside others of their item, and "
            "no item has two: mine or write more, or give a calibration of another study "
            "(calibration=, --calibration)"
        )
    owners = given.owners[chosen]
    ranked = ranked_items(given.names, seed)
    others = np.stack(
        [
            _others(given, ranked, int(item), draws, key)
            for item, key in zip(owners, keys, strict=True)
        ]
    )
    own = given.pooling.references
    chance = given.chance(own, given.rows[chosen], owners, originals=design != "mined")
    items = np.column_stack((owners, others))
    number = items.shape[1]
    without = np.full(items.shape, -1)
    without[:, 0] = _places(weights)[chosen]
    flat = items.ravel()
    which = np.repeat(chosen, number)
    found = features(
        given,
        own,
        given.rows[which],
        flat,
        np.repeat(chance, number, axis=1),
        given.relevance([given.texts[one] for one in which.tolist()], flat),
        good=pool,
        bad=None,
        without=(without.ravel(), without.ravel()),
    )
    labels = np.zeros(items.shape, dtype=bool)
    labels[:, 0] = True
    return found, labels.ravel()


def _good_and_bad(given: ScrReferences, most: int, seed: int) -> tuple[Array, Bools]:
    """Good (label 1) and bad references (label 0) at their own items."""
    chosen, _ = _sample(given, np.flatnonzero(given.weights != 0.0), most, seed)
    labels = given.weights[chosen] > 0.0
    if labels.all() or not labels.any():
        raise InputError(
            "scr learns to tell good from bad references, and needs some of both: rate more, or "
            "leave the bad ones out (negatives='ignore', --negatives ignore)"
        )
    good, bad = given.good, given.bad
    owners = given.owners[chosen]
    own = given.pooling.references
    chance = given.chance(own, given.rows[chosen], owners)
    found = features(
        given,
        own,
        given.rows[chosen],
        owners,
        chance,
        given.relevance([given.texts[one] for one in chosen.tolist()], owners),
        good=good,
        bad=bad,
        without=(_places(given.weights)[chosen], _places(-given.weights)[chosen]),
    )
    return found, labels


def _places(weights: Array) -> Ints:
    """Where each reference stands in the pool of those with a weight above 0, or -1."""
    kept = weights > 0.0
    return np.where(kept, np.cumsum(kept) - 1, -1)


def _sample(given: ScrReferences, chosen: Ints, most: int, seed: int) -> tuple[Ints, list[int]]:
    """At most so many references, and a number for each that depends on item, text and seed."""
    keys = [_key(given.names[given.owners[one]], given.texts[one], seed) for one in chosen.tolist()]
    order = sorted(range(len(keys)), key=lambda place: keys[place])[:most]
    return chosen[order], [keys[place] for place in order]


def _key(name: str, text: str, seed: int) -> int:
    content = f"{len(name)} {name}{text.lower()}".encode("utf-8", "surrogatepass")
    salt = seed.to_bytes(8, "little", signed=True)
    return int.from_bytes(blake2b(content, digest_size=8, key=salt).digest(), "little")


def _others(given: ScrReferences, ranked: Sequence[int], item: int, draws: int, key: int) -> Ints:
    """Items with other references than this one, by chance; all of them where they are few."""
    name = given.names[item]
    (own,) = [place for place, one in enumerate(ranked) if given.names[one] == name]
    number = len(ranked) - 1
    drawn = np.random.default_rng(key).choice(number, min(draws, number), replace=False)
    return np.asarray(ranked)[drawn + (drawn >= own)]
