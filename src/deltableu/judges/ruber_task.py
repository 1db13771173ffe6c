"""What RUBER's unreferenced scorer learns: to tell the reply to a message from other replies."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from deltableu._types import Ints, Singles
from deltableu.judges.latent import latent_vectors
from deltableu.judges.quality import area_under_curve, overlap, word_vectors
from deltableu.judges.ruber_examples import draw_replies
from deltableu.judges.ruber_network import (
    RuberNetwork,
    entropy_loss,
    margin_loss,
    relevance,
)
from deltableu.judges.ruber_settings import RuberSettings, RuberTraining
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.neural import Drawn, JudgedBatch, Split, Vocabulary, lengths_of
from deltableu.neural.networks import TextNetwork

#: Held-out examples that are judged at once.
_PORTION = 2000


class RuberTask:
    """Examples are a message, its reply, and the reply to another message."""

    clip: float | None = None

    def __init__(
        self,
        settings: RuberSettings,
        training: RuberTraining,
        vocabulary: Vocabulary,
        pairs: TrainingPairs,
    ) -> None:
        self.settings, self.training = settings, training
        self.vocabulary, self.pairs = vocabulary, pairs

    @property
    def counts(self) -> Mapping[str, Any]:
        return asdict(self.pairs.counts)

    def lengths(self, drawn: Drawn) -> Ints:
        return lengths_of(self.pairs.texts.bounds, drawn.chosen)

    def draw(self, split: Split, epoch: int, most: int | None = None) -> Drawn:
        chosen = draw_replies(self.pairs, split, seed=self.training.seed, epoch=epoch, most=most)
        return Drawn(chosen, np.zeros(len(chosen), np.int64))

    def first_network(self) -> RuberNetwork:
        training, vocabulary = self.training, len(self.vocabulary)
        scaled = training.start != "torch"
        made = RuberNetwork(self.settings, vocabulary, training.seed, scaled=scaled)
        if training.start == "latent":
            size = self.settings.embedding
            vectors = torch.from_numpy(latent_vectors(self.pairs, vocabulary, size, training.seed))
            for encoder in (made.message, made.reply):
                encoder.embedding.weight.data.copy_(vectors)
        return made

    def network(self, state: Mapping[str, Singles]) -> RuberNetwork:
        return RuberNetwork.of(self.settings, state)

    def loss(self, network: TextNetwork[Any], chosen: Ints, labels: Ints, step: int) -> Tensor:
        return self._loss(network(self.pairs.texts, chosen))

    def _loss(self, logits: Tensor) -> Tensor:
        training = self.training
        if training.loss == "entropy":
            return entropy_loss(logits)
        return margin_loss(logits, training.margin)

    def judge(self, network: TextNetwork[Any], drawn: Drawn) -> JudgedBatch:
        assert isinstance(network, RuberNetwork)
        parts = [
            relevance(network, self.pairs.texts, drawn.chosen[start : start + _PORTION])
            for start in range(0, len(drawn), _PORTION)
        ]
        found = np.concatenate(parts)
        loss = float(self._loss(torch.from_numpy(found.astype(np.float64)).logit(eps=1e-7)))
        return JudgedBatch(loss, _right(found), found)

    def quality(self, judged: JudgedBatch, drawn: Drawn) -> dict[str, Any]:
        said = judged.scores
        labels = np.repeat([1, 0], len(said))
        vectors, chosen = word_vectors(self.pairs.texts), drawn.chosen
        words = np.stack(
            [overlap(vectors, chosen[:, 0], chosen[:, column]) for column in (1, 2)], axis=1
        )
        return {
            "examples": len(said),
            "loss": judged.loss,
            "accuracy": judged.accuracy,
            "area under curve": area_under_curve(said.T.ravel(), labels),
            "accuracy of word overlap": _right(words),
            "area under curve of word overlap": area_under_curve(words.T.ravel(), labels),
            "smallest score": float(said.min()),
            "largest score": float(said.max()),
        }


def _right(scores: Any) -> float:
    """How often the reply scores above the other one; ties count half."""
    return float(np.mean((np.sign(scores[:, 0] - scores[:, 1]) + 1) / 2))
