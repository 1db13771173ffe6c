"""A network that learns: steps of Adam, and all that is needed to go on later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import numpy as np
import torch
from torch import Tensor

from deltableu._types import Singles
from deltableu.neural.networks.network import TextNetwork

_MOMENTS = ("exp_avg", "exp_avg_sq")


class Learner:
    """A network and its optimiser.

    Parameters
    ----------
    network : TextNetwork
    learning_rate : float
        The learning rate of Adam.
    clip : float, optional
        The largest norm that a gradient may have; a longer one is scaled to it.
    """

    def __init__(
        self, network: TextNetwork[Any], learning_rate: float, clip: float | None = None
    ) -> None:
        self.network = network
        self._clip = clip
        self._adam = torch.optim.Adam(network.parameters(), lr=learning_rate, fused=True)

    def step(self, loss: Tensor) -> float:
        """Learn from the loss of a batch; returns it."""
        self._adam.zero_grad()
        loss.backward()  # type: ignore[no-untyped-call]
        if self._clip is not None:
            torch.nn.utils.clip_grad_norm_(self.network.parameters(), self._clip)
        self._adam.step()
        return float(loss.detach())

    def state(self) -> dict[str, Singles]:
        """Parameters and the optimiser's moments."""
        found = {f"network/{name}": array for name, array in self.network.state().items()}
        for name, parameter in self.network.named_parameters():
            kept = self._adam.state[parameter]
            for moment in _MOMENTS:
                found[f"{moment}/{name}"] = kept[moment].numpy().copy()
        return found

    def restore(self, state: Mapping[str, Singles], steps: int) -> None:
        """Go on from a state that was `steps` steps old."""
        with torch.no_grad():
            for name, parameter in self.network.named_parameters():
                parameter.copy_(torch.from_numpy(np.array(state[f"network/{name}"])))
                self._adam.state[parameter] = {
                    "step": torch.tensor(float(steps)),
                    **{
                        moment: torch.from_numpy(np.array(state[f"{moment}/{name}"]))
                        for moment in _MOMENTS
                    },
                }


@contextmanager
def threads_of_torch(threads: int | None) -> Iterator[None]:
    """Let torch use so many threads for a while."""
    before = torch.get_num_threads()
    if threads is not None:
        torch.set_num_threads(threads)
    try:
        yield
    finally:
        torch.set_num_threads(before)
