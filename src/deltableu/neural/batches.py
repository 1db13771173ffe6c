"""Lengths of examples in, batches of similar length out."""

from __future__ import annotations

import numpy as np

from deltableu._types import Ints
from deltableu.stats import stream

_ORDER = 2
#: So many batches are sorted by length together: long texts meet long ones, yet chance decides
#: which examples share a batch.
_WINDOW = 32


def cut_batches(lengths: Ints, size: int, seed: int, epoch: int) -> list[Ints]:
    """The examples of an epoch, cut into batches; the same seed and epoch cut them alike.

    Parameters
    ----------
    lengths : array
        Of the texts of each example, together.
    size : int
        Examples a batch; the last one of a window may have fewer.
    seed, epoch : int

    Returns
    -------
    list of arrays
        Numbers of examples.
    """
    rng = stream(seed, _ORDER, epoch)
    order = rng.permutation(len(lengths))
    cut: list[Ints] = []
    for start in range(0, len(order), _WINDOW * size):
        window = order[start : start + _WINDOW * size]
        window = window[np.argsort(lengths[window], kind="stable")]
        cut += [window[begin : begin + size] for begin in range(0, len(window), size)]
    return [cut[place] for place in rng.permutation(len(cut))]


def lengths_of(bounds: Ints, chosen: Ints) -> Ints:
    """How long the texts of each row are together; bounds are those of all texts."""
    found: Ints = (bounds[chosen + 1] - bounds[chosen]).sum(1)
    return found
