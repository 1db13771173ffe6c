"""What a model learns: the part of training that differs between kinds of models."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol

from deltableu._types import Ints, Singles
from deltableu.neural.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from deltableu.neural.networks.network import TextNetwork

Split = Literal["training", "validation"]


@dataclass(frozen=True, slots=True, eq=False)
class Drawn:
    """Examples: the places of their texts in rows, and their labels where they have some."""

    chosen: Ints
    labels: Ints

    def __len__(self) -> int:
        return len(self.chosen)


@dataclass(frozen=True, slots=True, eq=False)
class JudgedBatch:
    """What a network says of examples, and how far that is right."""

    loss: float
    accuracy: float
    scores: Singles


class LearningTask(Protocol):
    """Examples, a network that learns from them, and how good it is."""

    settings: Any
    training: Any
    vocabulary: Vocabulary

    @property
    def counts(self) -> Mapping[str, Any]:
        """What the logs had and what is kept of it, for the model's card."""

    @property
    def clip(self) -> float | None:
        """The largest norm that the gradient of a step may have; None for any."""

    def draw(self, split: Split, epoch: int, most: int | None = None) -> Drawn:
        """Examples of an epoch, `most` at most."""

    def lengths(self, drawn: Drawn) -> Ints:
        """How long the texts of each example are together."""

    def first_network(self) -> TextNetwork[Any]:
        """What training begins with."""

    def network(self, state: Mapping[str, Singles]) -> TextNetwork[Any]:
        """The network with these parameters."""

    def loss(self, network: TextNetwork[Any], chosen: Ints, labels: Ints, step: int) -> Tensor:
        """What is made smaller; `step` counts from 0, and what is drawn depends on it alone."""

    def judge(self, network: TextNetwork[Any], drawn: Drawn) -> JudgedBatch:
        """How good a network is on held-out examples."""

    def quality(self, judged: JudgedBatch, drawn: Drawn) -> dict[str, Any]:
        """The same in figures, for the model's card."""
