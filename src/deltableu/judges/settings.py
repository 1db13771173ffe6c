"""How large a judge is and how it is trained: the paper's settings, and small ones."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, fields
from typing import Literal, get_args

from deltableu.errors import (
    InputError,
    Problem,
    check_at_least,
    check_choice,
    check_share,
    hint_at,
)

Preset = Literal["paper", "small"]
Negatives = Literal["matched", "random"]
Start = Literal["latent", "scaled", "torch"]


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterSettings:
    """The shape of the network of Tsuta et al. (2020), sections 4.2 and 5.3.

    Attributes
    ----------
    embedding : int
        Size of the vector of a word or piece.
    hidden : int
        Units per direction of the Bi-GRU.
    layer : int
        Units per hidden layer of the network above it.
    layers : int
        Number of these layers, each followed by a ReLU.
    max_length : int
        Number of words or pieces of a text that are read; the rest is cut off.
    """

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
    epochs: int = 6
    patience: int = 1
    negatives: Negatives = "matched"
    validation: float = 0.05
    max_responses: int = 50
    start: Start = "latent"
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("vocabulary_size", "batch", "epochs", "patience"):
            check_at_least(name, getattr(self, name), 1)
        check_at_least("max_responses", self.max_responses, 2)
        check_choice("negatives", self.negatives, get_args(Negatives))
        check_choice("vocabulary", self.vocabulary, ("pieces", "words"))
        check_choice("start", self.start, get_args(Start))
        check_validation(self.validation)
        check_share("learning_rate", self.learning_rate)
        if not 0 <= self.seed < 2**63:
            message = f"must be a whole number from 0 to 2**63 - 1, got {self.seed}"
            raise InputError(Problem(message, field="seed"))


def check_validation(validation: float) -> None:
    """Utterances are held out by their share or by their number."""
    whole = validation >= 1 and float(validation).is_integer()
    if not (0 < validation < 1 or whole):
        message = f"must be a share between 0 and 1 or a whole number, got {validation:g}"
        raise InputError(Problem(message, field="validation"))


_MOST = 2_000_000_000

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
    if name not in PRESETS:
        meant = hint_at(name, PRESETS)
        raise InputError(f"unknown preset {name!r}; choose from {', '.join(PRESETS)}{meant}")
    return PRESETS[name]


def check_size(settings: RaterSettings, vocabulary: int) -> None:
    """A mistyped number should not end in want of memory."""
    wide = max(settings.hidden, settings.layer)
    most = (vocabulary + 6 * wide) * settings.embedding + (6 + settings.layers) * wide * wide
    if most > _MOST:
        raise InputError(
            f"such a judge has about {most:.1e} parameters, which is beyond {_MOST:.0e}: choose a "
            "smaller embedding, hidden, layer, layers or vocabulary"
        )


def parameter_shapes(settings: RaterSettings, vocabulary: int) -> dict[str, tuple[int, ...]]:
    """The names and shapes of all parameters of a judge.

    Parameters
    ----------
    settings : RaterSettings
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
    shapes: dict[str, tuple[int, ...]] = {"embedding.weight": (vocabulary, settings.embedding)}
    gates = 3 * settings.hidden
    for way in ("", "_reverse"):
        shapes[f"gru.weight_ih_l0{way}"] = (gates, settings.embedding)
        shapes[f"gru.weight_hh_l0{way}"] = (gates, settings.hidden)
        shapes[f"gru.bias_ih_l0{way}"] = shapes[f"gru.bias_hh_l0{way}"] = (gates,)
    widths = [6 * settings.hidden, *[settings.layer] * settings.layers, 2]
    for place, (inner, outer) in enumerate(itertools.pairwise(widths)):
        shapes[f"network.{2 * place}.weight"] = (outer, inner)
        shapes[f"network.{2 * place}.bias"] = (outer,)
    return shapes
