"""Examples in, batches of similar length out."""

from __future__ import annotations

import numpy as np

from deltableu._types import Ints
from deltableu.judges.encoded_texts import EncodedTexts
from deltableu.judges.examples import Examples
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.stats import stream

_ORDER = 2
#: So many batches are sorted by length together: long texts meet long ones, yet chance decides
#: which examples share a batch.
_WINDOW = 32


def cut_batches(texts: EncodedTexts, chosen: Ints, size: int, seed: int, epoch: int) -> list[Ints]:
    """The examples of an epoch, cut into batches; the same seed and epoch cut them alike.

    Parameters
    ----------
    texts : EncodedTexts
    chosen : array
        The places of the texts of an example in a row.
    size : int
        Examples a batch; the last one of a window may have fewer.
    seed, epoch : int

    Returns
    -------
    list of arrays
        Rows of `chosen`.
    """
    bounds = texts.bounds
    lengths = (bounds[chosen + 1] - bounds[chosen]).sum(1)
    rng = stream(seed, _ORDER, epoch)
    order = rng.permutation(len(chosen))
    cut: list[Ints] = []
    for start in range(0, len(order), _WINDOW * size):
        window = order[start : start + _WINDOW * size]
        window = window[np.argsort(lengths[window], kind="stable")]
        cut += [window[begin : begin + size] for begin in range(0, len(window), size)]
    return [cut[place] for place in rng.permutation(len(cut))]


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
