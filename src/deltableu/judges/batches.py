"""Examples in, batches of similar length out."""

from __future__ import annotations

import numpy as np

from deltableu._types import Ints
from deltableu.judges.examples import Examples
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.stats import stream

__all__ = ["Batches"]


_ORDER = 2
#: So many batches are sorted by length together: long texts meet long ones, yet chance decides
#: which examples share a batch.
_WINDOW = 32


class Batches:
    """The examples of an epoch, cut into batches; the same seed and epoch cut them alike.

    Parameters
    ----------
    pairs : TrainingPairs
    examples : Examples
    size : int
        Examples a batch; the last one of a window may have fewer.
    seed, epoch : int
    """

    def __init__(
        self, pairs: TrainingPairs, examples: Examples, size: int, seed: int, epoch: int
    ) -> None:
        self._labels = examples.labels
        self._quadruples = quadruples(pairs, examples)
        bounds = pairs.texts.bounds
        lengths = (bounds[self._quadruples + 1] - bounds[self._quadruples]).sum(1)
        rng = stream(seed, _ORDER, epoch)
        order = rng.permutation(len(examples.labels))
        cut: list[Ints] = []
        for start in range(0, len(order), _WINDOW * size):
            window = order[start : start + _WINDOW * size]
            window = window[np.argsort(lengths[window], kind="stable")]
            cut += [window[begin : begin + size] for begin in range(0, len(window), size)]
        self._cut = [cut[place] for place in rng.permutation(len(cut))]

    def __len__(self) -> int:
        return len(self._cut)

    def __getitem__(self, place: int) -> tuple[Ints, Ints]:
        """The places of U1, R1, U2, R2 among the texts, and labels."""
        rows = self._cut[place]
        return self._quadruples[rows], self._labels[rows].astype(np.int64)


def quadruples(pairs: TrainingPairs, examples: Examples) -> Ints:
    """The places of U1, R1, U2, R2 of each example among the texts."""
    first, second = examples.first, examples.second
    columns = (
        pairs.utterances[first],
        pairs.responses[first],
        pairs.utterances[second],
        pairs.responses[second],
    )
    return np.stack(columns, axis=1).astype(np.int64)
