"""What all networks share: their parameters, and the way they read texts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Generic, Self, TypeVar

import numpy as np
import torch
from torch import Tensor, nn

from deltableu._types import Ints, Singles
from deltableu.neural.encoded_texts import EncodedTexts
from deltableu.neural.networks.gru import Scratch, encode_texts, time_steps
from deltableu.neural.settings import NetworkShape

_UPDATE_BIAS = 2.0

Shape = TypeVar("Shape", bound=NetworkShape)


class TextNetwork(nn.Module, Generic[Shape]):
    """A network of some shape; subclasses take (settings, vocabulary, seed, scaled)."""

    def __init__(self, settings: Shape, vocabulary: int = 0, seed: int = 0) -> None:
        super().__init__()
        self.settings = settings

    @classmethod
    def of(cls, settings: Shape, state: Mapping[str, Singles]) -> Self:
        """A network with these parameters."""
        vocabulary = next(len(one) for name, one in state.items() if "embedding" in name)
        with torch.device("meta"):
            made = cls(settings, vocabulary)
        tensors = {name: torch.from_numpy(np.array(array)) for name, array in state.items()}
        made.load_state_dict(tensors, assign=True)
        return made

    def state(self) -> dict[str, Singles]:
        """A copy of the parameters."""
        return {name: tensor.detach().numpy().copy() for name, tensor in self.state_dict().items()}


def encode_chosen(
    embedding: nn.Embedding,
    gru: nn.GRU,
    texts: EncodedTexts,
    chosen: Ints,
    max_length: int,
    scratch: Scratch,
) -> Tensor:
    """The vectors of some texts, in the order asked for; each should be named once."""
    steps, order = time_steps(texts, chosen, max_length)
    weights = [
        getattr(gru, f"{kind}_l0{way}")
        for way in ("", "_reverse")
        for kind in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    ]
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    return encode_texts(embedding.weight, weights, steps, scratch)[torch.from_numpy(places)]


def scale_gru(gru: nn.GRU) -> None:
    """Begin with recurrent weights that keep lengths, and with update gates rather closed."""
    hidden = gru.hidden_size
    for way in ("", "_reverse"):
        for gate in getattr(gru, f"weight_hh_l0{way}").data.split(hidden):
            nn.init.orthogonal_(gate)
        getattr(gru, f"bias_ih_l0{way}").data[hidden : 2 * hidden] = _UPDATE_BIAS
