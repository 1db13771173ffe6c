"""How large RUBER's unreferenced scorer is and how it is trained (Tao et al. 2018)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, get_args

from deltableu.errors import InputError, Problem, check_at_least, check_choice
from deltableu.judges.settings import (
    Kind,
    NetworkSettings,
    Preset,
    Start,
    check_training,
    encoder_shapes,
    layer_shapes,
)
from deltableu.neural import check_preset

Loss = Literal["margin", "entropy"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RuberSettings(NetworkSettings):
    """The shape of the unreferenced scorer: two Bi-GRUs, a bilinear feature, a network.

    Attributes
    ----------
    embedding, hidden, layer, layers, max_length : int
        See `NetworkSettings`; messages and replies have an embedding and a Bi-GRU each, and tanh
        follows each layer.
    """

    kind: ClassVar[Kind] = "ruber"

    layer: int = 128
    layers: int = 1

    def shapes(self, vocabulary: int) -> dict[str, tuple[int, ...]]:
        both = 2 * self.hidden
        return {
            **encoder_shapes(self, vocabulary, "message."),
            **encoder_shapes(self, vocabulary, "reply."),
            "bilinear.weight": (both, both),
            "bilinear.bias": (both,),
            **layer_shapes([4 * self.hidden + 1, *[self.layer] * self.layers, 1]),
        }

    def size(self, vocabulary: int) -> int:
        wide = max(self.hidden, self.layer)
        return 2 * (vocabulary + 6 * wide) * self.embedding + (20 + self.layers) * wide * wide


@dataclass(frozen=True, slots=True, kw_only=True)
class RuberTraining:
    """How the unreferenced scorer is trained.

    Attributes
    ----------
    loss : {"margin", "entropy"}
        The hinge max(0, margin - s(message, reply) + s(message, other reply)); or the binary
        cross entropy of both.
    margin : float
        By how much the reply should beat a sampled one; Tsuta et al. (2020) have .075, the first
        public code .5.
    max_pairs : int
        Logged pairs that are kept in memory, at most; chance chooses among more.
    vocabulary, vocabulary_size, learning_rate, batch, examples, epochs, patience, validation, \
    start, seed
        See `TrainingSettings`; an example is a pair with a sampled reply of another utterance.
    """

    loss: Loss = "margin"
    margin: float = 0.075
    max_pairs: int = 1_000_000
    vocabulary: Literal["pieces", "words"] = "pieces"
    vocabulary_size: int = 8000
    learning_rate: float = 1e-3
    batch: int = 250
    examples: int | None = None
    epochs: int = 6
    patience: int = 1
    validation: float = 0.05
    start: Start = "latent"
    seed: int = 0

    def __post_init__(self) -> None:
        check_training(self)
        check_choice("loss", self.loss, get_args(Loss))
        check_at_least("max_pairs", self.max_pairs, 4)
        if not 0 < self.margin <= 1:
            message = f"must lie above 0 and up to 1, as scores do, got {self.margin:g}"
            raise InputError(Problem(message, field="margin"))


PRESETS: dict[Preset, tuple[RuberSettings, RuberTraining]] = {
    "paper": (
        RuberSettings(hidden=500, layer=50),
        RuberTraining(vocabulary_size=33_000, batch=128, epochs=15, patience=15, start="torch"),
    ),
    "small": (RuberSettings(), RuberTraining()),
}


def ruber_preset(name: Preset) -> tuple[RuberSettings, RuberTraining]:
    """The settings of Tsuta et al. (2020), or small ones that train in minutes on two cores.

    Examples
    --------
    >>> ruber_preset("paper")[0]
    RuberSettings(embedding=128, hidden=500, layer=50, layers=1, max_length=50)
    """
    check_preset(name, PRESETS)
    return PRESETS[name]
