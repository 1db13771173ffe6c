"""A network and where decoding begins in; words with their log-probabilities out.

Everything is computed in float64, so that what else is decoded at the same time changes no word.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import torch
from torch import Tensor

from deltableu._types import Array, Bools, Ints
from deltableu.respond.neural.decoding import Decoding
from deltableu.respond.neural.inputs import END
from deltableu.respond.neural.network import DecoderState


class Decoder(Protocol):
    """What decoding needs of a network."""

    def advance(self, state: Any, words: Tensor) -> tuple[Tensor, Any]:
        """Log-probabilities of what follows one more word of each row, and the rows' new state."""


@dataclass(frozen=True, slots=True)
class Found:
    """A finished response.

    Attributes
    ----------
    words : tuple of int
        Without the end.
    scores : tuple of float
        Log-probabilities of the words and of the end.
    """

    words: tuple[int, ...]
    scores: tuple[float, ...]

    @property
    def score(self) -> float:
        return math.fsum(self.scores)

    def ranked_by(self, length_penalty: float) -> float:
        """The log-probability over a power of the length, with the end."""
        return float(self.score / len(self.scores) ** length_penalty)


@dataclass(frozen=True, slots=True, eq=False)
class WordRules:
    """Which words may come next.

    Attributes
    ----------
    visible : array
        Which words of the vocabulary can be seen: a response has one at least.
    max_length : int
    no_repeat : int, optional
    """

    visible: Bools
    max_length: int
    no_repeat: int | None

    def forbid(self, scores: Array, said: Sequence[tuple[int, ...]]) -> None:
        """Make the scores of forbidden words minus infinity, a row for each beginning."""
        for row, words in enumerate(said):
            spoken = bool(self.visible[list(words)].any())
            if not spoken:
                scores[row, END] = -np.inf
            if len(words) >= self.max_length:
                scores[row, np.arange(scores.shape[1]) != END] = -np.inf
            elif not spoken and len(words) == self.max_length - 1:
                scores[row, ~self.visible] = -np.inf
            elif self.no_repeat is not None:
                scores[row, _repeats(words, self.no_repeat)] = -np.inf


def _repeats(words: tuple[int, ...], size: int) -> list[int]:
    """The words that would say again what was said, `size` words in a row."""
    last = words[len(words) - size + 1 :]
    if len(words) < size:
        return []
    return [
        words[end] for end in range(size - 1, len(words)) if words[end - size + 1 : end] == last
    ]


def beam_search(
    network: Decoder, state: DecoderState, items: int, decoding: Decoding, rules: WordRules
) -> list[list[Found]]:
    """The responses that a beam of each item ends with, in the order of `length_penalty`.

    Of all beginnings one word longer, the most likely ones stay, as many as there is room for; each
    that ends leaves room for one less. A beam of one is greedy.
    """
    width = decoding.width
    state = state.repeat(width)
    found: list[list[Found]] = [[] for _ in range(items)]
    begun: list[list[Found]] = [[Found((), ())] for _ in range(items)]
    while any(begun):
        # Rows of the state lie item by item; those of an item that nothing is at are not used.
        words = np.full((items, width), END)
        rows: list[tuple[int, int]] = []
        for item, several in enumerate(begun):
            for place, one in enumerate(several):
                rows.append((item, place))
                if one.words:
                    words[item, place] = one.words[-1]
        scores, state = _next(network, state, words.reshape(-1))
        used = np.array([item * width + place for item, place in rows])
        known = scores[used]
        rules.forbid(known, [begun[item][place].words for item, place in rows])
        sources = np.tile(np.arange(width), (items, 1))
        owners = np.array([item for item, _ in rows])
        for item, several in enumerate(begun):
            if not several:
                continue
            mine = np.flatnonzero(owners == item)
            chosen = _extended(several, known[mine], width - len(found[item]))
            begun[item] = []
            for parent, one, ended in chosen:
                if ended:
                    found[item].append(one)
                else:
                    sources[item, len(begun[item])] = parent
                    begun[item].append(one)
        state = state.move(torch.from_numpy((sources + width * np.arange(items)[:, None]).ravel()))
    order = decoding.length_penalty
    return [sorted(few, key=lambda one: -one.ranked_by(order)) for few in found]


def _extended(several: Sequence[Found], scores: Array, room: int) -> list[tuple[int, Found, bool]]:
    """The most likely beginnings one word longer, where each came from, and whether it ended."""
    sums = np.array([one.score for one in several])[:, None] + scores
    flat = sums.ravel()
    room = min(room, int(np.isfinite(flat).sum()))
    best = np.argpartition(-flat, room - 1)[:room]
    # Equal ones in the order of their words, so that chance in sorting decides nothing.
    best = best[np.lexsort((best, -flat[best]))]
    chosen = []
    for place in best.tolist():
        parent, word = divmod(place, scores.shape[1])
        one = several[parent]
        told = (*one.scores, float(scores[parent, word]))
        ended = word == END
        words = one.words if ended else (*one.words, word)
        chosen.append((parent, Found(words, told), ended))
    return chosen


def sample(
    network: Decoder,
    state: DecoderState,
    chances: Sequence[np.random.Generator],
    decoding: Decoding,
    rules: WordRules,
) -> list[Found]:
    """A response for each row of the state, drawn with the row's own chances."""
    rows = len(chances)
    uniform = np.stack([one.random(rules.max_length + 1) for one in chances])
    words: list[tuple[int, ...]] = [() for _ in range(rows)]
    scores: list[tuple[float, ...]] = [() for _ in range(rows)]
    going = np.arange(rows)
    step = 0
    while len(going):
        last = np.array([one[-1] if one else END for one in words])
        known, state = _next(network, state, last)
        some = known[going].copy()
        rules.forbid(some, [words[row] for row in going.tolist()])
        drawn = _draw(some, uniform[going, step], decoding)
        for row, word in zip(going.tolist(), drawn.tolist(), strict=True):
            scores[row] = (*scores[row], float(known[row, word]))
            if word != END:
                words[row] = (*words[row], word)
        going = going[drawn != END]
        step += 1
    return [Found(*pair) for pair in zip(words, scores, strict=True)]


def _draw(scores: Array, uniform: Array, decoding: Decoding) -> Ints:
    """A word for each row: where its random number falls among the cumulated probabilities."""
    scaled = scores / (decoding.temperature or 1.0)
    if decoding.top_k is None and decoding.top_p is None:
        order = None
        shares = np.exp(scaled - scaled.max(1, keepdims=True))
    else:
        order = np.argsort(-scaled, axis=1, kind="stable")[:, : decoding.top_k]
        scaled = np.take_along_axis(scaled, order, 1)
        shares = np.exp(scaled - scaled[:, :1])
        if decoding.top_p is not None:
            # Of all words, or of the most likely ones where both are asked for.
            before = np.cumsum(shares, 1) - shares
            shares[before >= decoding.top_p * shares.sum(1, keepdims=True)] = 0.0
    sums = np.cumsum(shares, 1)
    reached = (sums <= (uniform * sums[:, -1])[:, None]).sum(1)
    # A product may be rounded up to the sum itself.
    places: Ints = np.minimum(reached, (sums < sums[:, -1:]).sum(1))
    if order is None:
        return places
    return np.asarray(order[np.arange(len(order)), places])


def _next(network: Decoder, state: DecoderState, words: Ints) -> tuple[Array, DecoderState]:
    scores, state = network.advance(state, torch.from_numpy(words))
    return scores.numpy(), state
