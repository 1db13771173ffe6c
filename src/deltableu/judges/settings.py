"""How large a judge is and how it is trained: the paper's settings, and small ones."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import ClassVar, Literal, Protocol, get_args

from deltableu.errors import InputError, Problem, check_at_least, check_choice
from deltableu.neural import (
    HowTrained,
    NetworkShape,
    check_how_trained,
    check_preset,
    gru_shapes,
)

Kind = Literal["nn-rater", "ruber"]
Preset = Literal["paper", "small"]
Negatives = Literal["matched", "random"]
Start = Literal["latent", "scaled", "torch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkSettings(NetworkShape):
    """The shape of a network above a Bi-GRU.

    Attributes
    ----------
    embedding : int
        Size of the vector of a word or piece.
    hidden : int
        Units per direction of the Bi-GRU.
    layer : int
        Units per hidden layer of the network above it.
    layers : int
        Number of these layers.
    max_length : int
        Number of words or pieces of a text that are read; the rest is cut off.
    """

    #: What a model of this shape is, as `deltableu judge train --kind` calls it.
    kind: ClassVar[Kind]

    embedding: int = 128
    hidden: int = 128
    layer: int = 256
    layers: int = 5
    max_length: int = 50

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                message = f"must be a whole number of 1 or more, got {value!r}"
                raise InputError(Problem(message, field=field.name))


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterSettings(NetworkSettings):
    """The shape of the network of Tsuta et al. (2020), sections 4.2 and 5.3.

    Attributes
    ----------
    embedding, hidden, layer, layers, max_length : int
        See `NetworkSettings`; a ReLU follows each layer.
    """

    kind: ClassVar[Kind] = "nn-rater"

    def shapes(self, vocabulary: int) -> dict[str, tuple[int, ...]]:
        widths = [6 * self.hidden, *[self.layer] * self.layers, 2]
        return {**encoder_shapes(self, vocabulary), **layer_shapes(widths)}

    def size(self, vocabulary: int) -> int:
        wide = max(self.hidden, self.layer)
        return (vocabulary + 6 * wide) * self.embedding + (6 + self.layers) * wide * wide


@dataclass(frozen=True, slots=True, kw_only=True)
class TrainingSettings:
    """How a judge is trained.

    Attributes
    ----------
    vocabulary : {"pieces", "words"}
        Pieces of SentencePiece, or the words that mining compares.
    vocabulary_size : int
        Largest number of entries beside padding and the unknown word.
    learning_rate : float
        Learning rate of Adam.
    batch : int
        Examples per step: quadruples of two utterances and two responses.
    examples : int, optional
        Largest number of examples per epoch, drawn afresh for each; all of them by default.
    epochs : int
        Largest number of epochs; the parameters with the least held-out loss are kept.
    patience : int
        Epochs without a lower held-out loss, after which training ends; as many as `epochs` for
        never.
    negatives : {"matched", "random"}
        Two pairs of different utterances that both have several responses, so that positive and
        negative examples differ in nothing but belonging together; or, as in the paper, two
        random pairs of the logs.
    validation : float
        Share of the utterances that is held out; from 1 on, their number.
    max_responses : int
        Largest number of responses per utterance, so that greetings do not drown the rest.
    start : {"latent", "scaled", "torch"}
        How training begins. `torch`: as torch draws parameters, which the authors did. `scaled`:
        so that signals do not fade in layers and time steps. `latent`: also with words that turn
        up around the same utterances near each other.
    seed : int
    """

    vocabulary: Literal["pieces", "words"] = "pieces"
    vocabulary_size: int = 8000
    learning_rate: float = 1e-3
    batch: int = 250
    examples: int | None = None
    epochs: int = 6
    patience: int = 1
    negatives: Negatives = "matched"
    validation: float = 0.05
    max_responses: int = 50
    start: Start = "latent"
    seed: int = 0

    def __post_init__(self) -> None:
        check_training(self)
        check_at_least("max_responses", self.max_responses, 2)
        check_choice("negatives", self.negatives, get_args(Negatives))


class _JudgeTraining(HowTrained, Protocol):
    @property
    def start(self) -> Start: ...


def check_training(training: _JudgeTraining) -> None:
    """Complain of settings that no training can have."""
    check_how_trained(training)
    check_choice("start", training.start, get_args(Start))


PRESETS: dict[Preset, tuple[RaterSettings, TrainingSettings]] = {
    "paper": (
        RaterSettings(embedding=512, hidden=512, layer=1024),
        TrainingSettings(
            vocabulary_size=33_000,
            batch=1000,
            epochs=15,
            patience=15,
            negatives="random",
            start="torch",
        ),
    ),
    "small": (RaterSettings(), TrainingSettings()),
}


def preset(name: Preset) -> tuple[RaterSettings, TrainingSettings]:
    """The settings of the paper, or small ones that train in minutes on two cores.

    Examples
    --------
    >>> preset("paper")[0]
    RaterSettings(embedding=512, hidden=512, layer=1024, layers=5, max_length=50)
    """
    check_preset(name, PRESETS)
    return PRESETS[name]


def parameter_shapes(settings: NetworkSettings, vocabulary: int) -> dict[str, tuple[int, ...]]:
    """The names and shapes of all parameters of a judge.

    Parameters
    ----------
    settings : NetworkSettings
    vocabulary : int
        Its size, with padding and the unknown word.

    Examples
    --------
    >>> from math import prod
    >>> shapes = parameter_shapes(preset("paper")[0], 33_002)
    >>> sum(prod(shape) for name, shape in shapes.items() if name.startswith("gru"))
    3151872
    >>> sum(prod(shape) for name, shape in shapes.items() if name.startswith("network"))
    7347202
    """
    return settings.shapes(vocabulary)


def encoder_shapes(
    settings: NetworkSettings, vocabulary: int, prefix: str = ""
) -> dict[str, tuple[int, ...]]:
    """Names and shapes of an embedding and a Bi-GRU."""
    shapes: dict[str, tuple[int, ...]] = {
        f"{prefix}embedding.weight": (vocabulary, settings.embedding)
    }
    return shapes | gru_shapes(f"{prefix}gru.", settings.embedding, settings.hidden, ways=2)


def layer_shapes(widths: Sequence[int]) -> dict[str, tuple[int, ...]]:
    """Names and shapes of layers; another one, without parameters, follows each."""
    shapes: dict[str, tuple[int, ...]] = {}
    for place, (inner, outer) in enumerate(itertools.pairwise(widths)):
        shapes[f"network.{2 * place}.weight"] = (outer, inner)
        shapes[f"network.{2 * place}.bias"] = (outer,)
    return shapes
