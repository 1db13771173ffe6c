"""Generated text: what two systems make of the same references, and BLEU rows of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu.stats.resampling import stream

__all__ = ["Quality", "Writer"]

Ints = np.ndarray[Any, np.dtype[np.int64]]
Floats = np.ndarray[Any, np.dtype[np.float64]]

_VOCABULARY = 20_000
_WORDS = tuple(f"w{number}" for number in range(_VOCABULARY))
_CUMULATIVE = np.cumsum(1.0 / np.arange(1, _VOCABULARY + 1))
#: Where systems fail on the same words and items, their scores correlate.
_SHARED_WORDS = 0.8
_DIFFICULTY = 0.5
#: Of log lengths, as in WMT17's news.
_LENGTH_SPREAD = 0.55


@dataclass(frozen=True, slots=True)
class Quality:
    """How a system writes.

    Attributes
    ----------
    kept : float
        Logit of the chance that a word is the reference's, on an item of average difficulty.
    spread : float
        Standard deviation of that logit between items, beside their difficulty.
    dropped, added : float
        Chances that a word is left out, or followed by another.
    """

    kept: float
    spread: float
    dropped: float = 0.03
    added: float = 0.03


class Writer:
    """References of Zipf-distributed words with log-normal lengths, and systems' versions of them.

    Everything is drawn from streams of `seed`, one for each text that is asked for.
    """

    def __init__(self, items: int, length: float, seed: int) -> None:
        rng = stream(seed, 0)
        drawn = np.exp(rng.normal(np.log(length), _LENGTH_SPREAD, size=items))
        self._seed = seed
        self._lengths = np.clip(np.rint(drawn), 2, 120).astype(np.int64)
        self._tokens = _zipf(rng, int(self._lengths.sum()))
        self._difficulty = rng.normal(0.0, _DIFFICULTY, size=items)
        self._luck = rng.random(len(self._tokens))

    def references(self) -> list[str]:
        """The reference of each item."""
        return _texts(self._tokens, self._lengths)

    def outputs(self, quality: Quality, key: int) -> list[str]:
        """What a system of that quality writes for each item; another text for another key."""
        rng = stream(self._seed, 1, key)
        size = len(self._tokens)
        items = np.repeat(np.arange(len(self._lengths)), self._lengths)
        logit = (
            quality.kept
            - self._difficulty
            + rng.normal(0.0, quality.spread, size=len(self._lengths))
        )
        own = rng.random(size) >= _SHARED_WORDS
        luck = np.where(own, rng.random(size), self._luck)
        right = luck < 1.0 / (1.0 + np.exp(-logit[items]))
        tokens = np.where(right, self._tokens, _zipf(rng, size))
        copies = (rng.random(size) >= quality.dropped).astype(np.int64)
        copies += rng.random(size) < quality.added
        # Nobody answers with nothing: the first word stays.
        starts = np.cumsum(self._lengths) - self._lengths
        copies[starts] = np.maximum(copies[starts], 1)
        written = np.repeat(tokens, copies)
        added = np.flatnonzero(np.repeat(copies, copies) == 2)[1::2]
        written[added] = _zipf(rng, len(added))
        return _texts(written, np.bincount(items, weights=copies).astype(np.int64))

    def beginnings(self, share: float, key: int) -> list[str]:
        """A share of each reference from its first word on, then other words."""
        rng = stream(self._seed, 2, key)
        place, right = self._places(), np.rint(share * self._lengths).astype(np.int64)
        tokens = np.where(
            place < np.repeat(right, self._lengths), self._tokens, _zipf(rng, len(self._tokens))
        )
        return _texts(tokens, self._lengths)

    def shuffled(self, run: int, key: int) -> list[str]:
        """Every word of the reference, runs of so many words in random order."""
        rng = stream(self._seed, 3, key)
        items = np.repeat(np.arange(len(self._lengths)), self._lengths)
        runs = np.cumsum(self._places() % run == 0)
        luck = rng.random(runs[-1] + 1)[runs]
        return _texts(self._tokens[np.lexsort((np.arange(len(items)), luck, items))], self._lengths)

    def _places(self) -> Ints:
        """Of each word in its reference."""
        starts = np.cumsum(self._lengths) - self._lengths
        return np.arange(len(self._tokens)) - np.repeat(starts, self._lengths)


def _zipf(rng: np.random.Generator, size: int) -> Ints:
    drawn: Ints = np.searchsorted(_CUMULATIVE, rng.random(size) * _CUMULATIVE[-1])
    return drawn


def _texts(tokens: Ints, lengths: Ints) -> list[str]:
    words: Sequence[str] = [_WORDS[token] for token in tokens.tolist()]
    ends = np.cumsum(lengths).tolist()
    return [
        " ".join(words[end - length : end])
        for end, length in zip(ends, lengths.tolist(), strict=True)
    ]
