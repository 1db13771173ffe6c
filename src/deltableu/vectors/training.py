"""Co-occurrence counts -> vectors: GloVe of Pennington et al. (2014), section 3, by AdaGrad."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from deltableu import _kernels
from deltableu._types import Ints, Ints32, Singles
from deltableu.errors import InputError
from deltableu.stats import stream
from deltableu.vectors.strata import GROUPS, Entries, rounds

_kernel = _kernels.load("vectors._glove")

_START, _ORDER = 0, 1
#: So many pairs are learnt from before another thread could begin.
_SMALL = 256


class Model:
    """Main and context vectors and biases of words, with AdaGrad's sums of squares.

    Parameters
    ----------
    words, dimension : int
    rate : float
    seed : int

    Notes
    -----
    As in the authors' program, numbers start uniformly in (-0.5, 0.5) / dimension and sums of
    squares at 1.
    """

    def __init__(self, words: int, dimension: int, rate: float, seed: int) -> None:
        self._dimension = dimension
        self._rate = rate
        self._seed = seed
        # The kernel reads eight numbers at a time; what is 0 at the beginning stays 0.
        self._vectors = np.zeros((words, 4, -(-dimension // 8) * 8), np.float32)
        self._biases = np.empty((words, 4), np.float32)
        rng = stream(seed, _START)
        start = rng.random((words, 2, dimension + 1), np.float32)
        start -= np.float32(0.5)
        start /= np.float32(dimension)
        self._vectors[:, :2, :dimension] = start[:, :, :dimension]
        self._biases[:, :2] = start[:, :, dimension]
        self._vectors[:, 2:] = self._biases[:, 2:] = 1.0

    def vectors(self) -> Singles:
        """The sum of main and context vector of each word."""
        made: Singles = (self._vectors[:, 0] + self._vectors[:, 1])[:, : self._dimension]
        return made

    def state(self) -> dict[str, Singles]:
        """All that changes in training."""
        return {"vectors": self._vectors, "biases": self._biases}

    def restore(self, state: Mapping[str, Singles]) -> None:
        """Go on from a state."""
        self._vectors, self._biases = state["vectors"], state["biases"]

    def learn(
        self, entries: Entries, epoch: int, threads: int, tell: Callable[[int], None]
    ) -> float:
        """Go once through all entries; returns the mean loss of a step, before it.

        Slices and rounds come in a new random order each time. The result does not depend on the
        number of threads.
        """
        order = stream(self._seed, _ORDER, epoch)
        stopped = threading.Event()
        loss = 0.0
        with ThreadPoolExecutor(min(threads, GROUPS // 2)) as pool:
            try:
                for number in order.permutation(entries.slices).tolist():
                    loaded = entries.load(number)
                    loss += self._learn_slice(loaded, order, pool, stopped)
                    tell(len(loaded[0]))
            finally:
                # A kernel cannot be interrupted, but the next one need not begin.
                stopped.set()
        if not np.isfinite(loss):
            raise InputError(
                f"training went astray in epoch {epoch + 1} (the loss is {loss}): lower the "
                f"learning rate, which is {self._rate:g}"
            )
        return loss / entries.steps

    def _learn_slice(
        self,
        loaded: tuple[Ints32, Singles, Ints],
        order: np.random.Generator,
        pool: ThreadPoolExecutor,
        stopped: threading.Event,
    ) -> float:
        """Learn from all strata of a slice, those of a round side by side; returns the loss."""
        pairs, values, found = loaded
        bounds: list[int] = found.tolist()

        def learn(part: slice) -> float:
            if stopped.is_set():
                return 0.0
            data = (pairs[part], values[part])
            loss: float = _kernel.train(self._vectors, self._biases, *data, self._rate)
            return loss

        loss = 0.0
        schedule = rounds()
        for place in order.permutation(len(schedule)).tolist():
            parts = [slice(bounds[one], bounds[one + 1]) for one in schedule[place]]
            # The longest one comes first, so that threads end together.
            parts = sorted(filter(_size, parts), key=_size, reverse=True)
            small = len(parts) == 1 or sum(map(_size, parts)) < _SMALL
            loss += sum(map(learn, parts) if small else pool.map(learn, parts))
        return loss


def _size(part: slice) -> int:
    size: int = part.stop - part.start
    return size
