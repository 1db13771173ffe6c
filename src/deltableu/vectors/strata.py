"""Counts of pairs -> what training reads: pairs in an order that lets threads work side by side.

Words fall into 32 groups, pairs into the strata of their two groups. Strata that share no group
share no vector, so that threads may work on them at once without any lock, and with the same result
as one thread: the scheme of Gemulla et al. (2011), "Large-scale matrix factorization with
distributed stochastic gradient descent".
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltableu._types import AnyArray, Ints, Ints32, Singles
from deltableu.vectors.cooccurrence import Cooccurrences, new_array

#: Half as many threads have work at the same time.
GROUPS = 32
_STRATA = GROUPS * (GROUPS + 1) // 2
#: Pairs a slice: an epoch goes through all strata of a slice before it comes to the next one.
_SLICE = 1 << 22


@dataclass(frozen=True, slots=True, eq=False)
class Entries:
    """What is learnt from: pairs of words, and log X and f(X) of each.

    Attributes
    ----------
    pairs, values : array
        Two columns each; perhaps on disk.
    bounds : array
        Stratum k of slice s is from `bounds[s, k]` to `bounds[s, k + 1]`.
    """

    pairs: Ints32
    values: Singles
    bounds: Ints

    def arrays(self) -> dict[str, AnyArray]:
        """All of it, by the names of the parameters."""
        return {"pairs": self.pairs, "values": self.values, "bounds": self.bounds}

    @property
    def slices(self) -> int:
        return len(self.bounds)

    @property
    def steps(self) -> int:
        """How many X_ij are not 0: the steps of an epoch."""
        return 2 * len(self.pairs) - int((self.pairs[:, 0] == self.pairs[:, 1]).sum())

    def load(self, number: int) -> tuple[Ints32, Singles, Ints]:
        """A slice in memory: pairs, values, and the bounds of its strata."""
        bounds = self.bounds[number]
        part = slice(int(bounds[0]), int(bounds[-1]))
        # In a file that is mapped they may lie anywhere, but the kernel wants them aligned.
        pairs = np.require(np.asarray(self.pairs[part]), requirements="A")
        values = np.require(np.asarray(self.values[part]), requirements="A")
        return pairs, values, bounds - bounds[0]


def arrange(
    counts: Cooccurrences,
    *,
    x_max: float,
    alpha: float,
    memory: int,
    folder: Path,
    slice_size: int = _SLICE,
) -> Entries:
    """Weigh all pairs and order them by slice and stratum; on disk where they outgrow the memory.

    Which pairs are in a slice, and their order in a stratum, follow from their hashes, and look
    random.
    """
    size = len(counts)
    on_disk = 2 * 16 * size > memory
    pairs = new_array((size, 2), np.int32, folder / "pairs" if on_disk else None)
    values = new_array((size, 2), np.float32, folder / "values" if on_disk else None)
    bounds = []
    for begin in range(0, size, slice_size):
        part = counts[begin : begin + slice_size]
        first, second = part.pairs()
        strata = stratum(first % GROUPS, second % GROUPS)
        order = np.argsort(strata, kind="stable")
        weights = part.weights()[order]
        end = begin + len(part)
        pairs[begin:end, 0] = first[order]
        pairs[begin:end, 1] = second[order]
        values[begin:end, 0] = np.log(weights)
        values[begin:end, 1] = np.minimum(1.0, weights / x_max) ** alpha
        sizes = np.bincount(strata, minlength=_STRATA)
        bounds.append(begin + np.concatenate(([0], np.cumsum(sizes))))
    return Entries(pairs, values, np.stack(bounds).astype(np.int64))


def stratum(one: Any, other: Any) -> Any:
    """The number of the stratum of two groups, in any order."""
    high, low = np.maximum(one, other), np.minimum(one, other)
    return (high * (high + 1) // 2 + low).astype(np.int16)


def rounds() -> list[list[int]]:
    """All strata, in lists of strata that share no group."""
    found = [[int(stratum(group, group)) for group in range(GROUPS)]]
    # A tournament: one group stays, the others go round.
    circle = list(range(1, GROUPS))
    for _ in range(GROUPS - 1):
        row = [0, *circle]
        found.append([int(stratum(row[k], row[-1 - k])) for k in range(GROUPS // 2)])
        circle = [circle[-1], *circle[:-1]]
    return found
