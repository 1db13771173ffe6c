"""What a judge learns: the part of training that differs between kinds of judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from deltableu._types import Ints, Singles
from deltableu.judges.examples import Split
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.judges.vocabulary import Vocabulary

if TYPE_CHECKING:
    from torch import Tensor

    from deltableu.judges.judge_network import JudgeNetwork


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
    pairs: TrainingPairs

    def draw(self, split: Split, epoch: int, most: int | None = None) -> Drawn:
        """Examples of an epoch, `most` at most."""

    def first_network(self) -> JudgeNetwork[Any]:
        """What training begins with."""

    def network(self, state: Mapping[str, Singles]) -> JudgeNetwork[Any]:
        """The network with these parameters."""

    def loss(self, network: JudgeNetwork[Any], chosen: Ints, labels: Ints) -> Tensor:
        """What is made smaller."""

    def judge(self, network: JudgeNetwork[Any], drawn: Drawn) -> JudgedBatch:
        """How good a network is on held-out examples."""

    def quality(self, judged: JudgedBatch, drawn: Drawn) -> dict[str, Any]:
        """The same in figures, for the model's card, beside a baseline that counts words."""
