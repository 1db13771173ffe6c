"""What the NN-rater learns: whether two responses answer the same utterance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor
from torch.nn.functional import cross_entropy

from deltableu._types import Ints, Singles
from deltableu.judges.batches import quadruples
from deltableu.judges.combination import combined_weights
from deltableu.judges.examples import Examples, draw_examples
from deltableu.judges.latent import latent_vectors
from deltableu.judges.network import RaterNetwork, triplet_probabilities
from deltableu.judges.quality import OverlapBaseline, area_under_curve, calibration
from deltableu.judges.settings import RaterSettings, TrainingSettings
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.neural import Drawn, JudgedBatch, Split, Vocabulary, lengths_of
from deltableu.neural.networks import TextNetwork

#: Held-out examples that are judged at once.
_PORTION = 2000
#: Training examples that the baseline learns from.
_BASELINE = 50_000


class RaterTask:
    """Examples are quadruples of U1, R1, U2 and R2; the label is 1 where U1 and U2 are the same."""

    clip: float | None = None

    def __init__(
        self,
        settings: RaterSettings,
        training: TrainingSettings,
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
        examples = self._examples(split, epoch, None if most is None else max(most // 2, 2))
        return Drawn(quadruples(self.pairs, examples), examples.labels.astype(np.int64))

    def _examples(self, split: Split, epoch: int, most: int | None) -> Examples:
        training = self.training
        return draw_examples(
            self.pairs,
            split,
            seed=training.seed,
            epoch=epoch,
            negatives=training.negatives,
            most=most,
        )

    def first_network(self) -> RaterNetwork:
        training, vocabulary = self.training, len(self.vocabulary)
        scaled = training.start != "torch"
        made = RaterNetwork(self.settings, vocabulary, training.seed, scaled=scaled)
        if training.start == "latent":
            size = self.settings.embedding
            vectors = latent_vectors(self.pairs, vocabulary, size, training.seed)
            made.embedding.weight.data.copy_(torch.from_numpy(vectors))
        return made

    def network(self, state: Mapping[str, Singles]) -> RaterNetwork:
        return RaterNetwork.of(self.settings, state)

    def loss(self, network: TextNetwork[Any], chosen: Ints, labels: Ints, step: int) -> Tensor:
        logits = network(self.pairs.texts, chosen)
        return cross_entropy(logits.reshape(-1, 2), torch.from_numpy(np.repeat(labels, 2)))

    def judge(self, network: TextNetwork[Any], drawn: Drawn) -> JudgedBatch:
        assert isinstance(network, RaterNetwork)
        parts = [
            triplet_probabilities(network, self.pairs.texts, drawn.chosen[start : start + _PORTION])
            for start in range(0, len(drawn), _PORTION)
        ]
        found = np.concatenate(parts)
        right = np.take_along_axis(found, drawn.labels[:, None, None], axis=2)
        smallest = np.finfo(np.float32).tiny
        loss = float(-np.log(np.maximum(right, smallest), dtype=np.float64).mean())
        accuracy = float(np.mean((combined_weights(found) > 0) == drawn.labels))
        return JudgedBatch(loss, accuracy, found)

    def quality(self, judged: JudgedBatch, drawn: Drawn) -> dict[str, Any]:
        labels = drawn.labels
        weights = combined_weights(judged.scores)
        baseline = OverlapBaseline(self.pairs, self._examples("training", 0, _BASELINE))
        overlap = baseline.scores(drawn.chosen)
        return {
            "examples": len(labels),
            "loss": judged.loss,
            "accuracy": judged.accuracy,
            "area under curve": area_under_curve(weights, labels),
            "accuracy of word overlap": float(np.mean((overlap > 0) == labels)),
            "area under curve of word overlap": area_under_curve(overlap, labels),
            "calibration": [asdict(bin) for bin in calibration((weights + 1) / 2, labels)],
        }
