"""A network that learns: steps of Adam, held-out loss, and all that is needed to go on later."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

import numpy as np
import torch
from torch.nn.functional import cross_entropy

from deltableu._types import Ints, Singles
from deltableu.judges.batches import quadruples
from deltableu.judges.examples import Examples
from deltableu.judges.latent import latent_vectors
from deltableu.judges.network import RaterNetwork, triplet_probabilities
from deltableu.judges.settings import RaterSettings, TrainingSettings
from deltableu.judges.training_pairs import TrainingPairs

_MOMENTS = ("exp_avg", "exp_avg_sq")
#: Held-out examples that are judged at once.
_PORTION = 2000


def first_network(
    settings: RaterSettings, training: TrainingSettings, pairs: TrainingPairs, vocabulary: int
) -> RaterNetwork:
    """What training begins with."""
    scaled = training.start != "torch"
    made = RaterNetwork(settings, vocabulary, training.seed, scaled=scaled)
    if training.start == "latent":
        vectors = latent_vectors(pairs, vocabulary, settings.embedding, training.seed)
        made.embedding.weight.data.copy_(torch.from_numpy(vectors))
    return made


class Learner:
    """A network and its optimiser.

    Parameters
    ----------
    network : RaterNetwork
    learning_rate : float
        The learning rate of Adam.
    """

    def __init__(self, network: RaterNetwork, learning_rate: float) -> None:
        self.network = network
        self._adam = torch.optim.Adam(network.parameters(), lr=learning_rate, fused=True)

    def step(self, pairs: TrainingPairs, chosen: Ints, labels: Ints) -> float:
        """Learn from a batch; returns its loss before that."""
        self._adam.zero_grad()
        logits = self.network(pairs.texts, chosen)
        wanted = torch.from_numpy(np.repeat(labels, 2))
        loss = cross_entropy(logits.reshape(-1, 2), wanted)
        loss.backward()  # type: ignore[no-untyped-call]
        self._adam.step()
        return float(loss.detach())

    def judge(self, pairs: TrainingPairs, examples: Examples) -> tuple[float, Singles]:
        """The mean cross entropy of both triplets, and probabilities: example, triplet, class."""
        chosen = quadruples(pairs, examples)
        parts = [
            triplet_probabilities(self.network, pairs.texts, chosen[start : start + _PORTION])
            for start in range(0, len(chosen), _PORTION)
        ]
        found = np.concatenate(parts)
        right = np.take_along_axis(found, examples.labels.astype(np.int64)[:, None, None], axis=2)
        smallest = np.finfo(np.float32).tiny
        return float(-np.log(np.maximum(right, smallest), dtype=np.float64).mean()), found

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
