"""What a responder learns: the next word of a response, after the true ones."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch import Tensor

from deltableu._types import Ints, Singles
from deltableu.neural import Drawn, EncodedTexts, JudgedBatch, Split, Vocabulary
from deltableu.neural.networks import TextNetwork
from deltableu.respond.neural.conversations import Conversations
from deltableu.respond.neural.inputs import END, joined_turns
from deltableu.respond.neural.network import UNKNOWN, Conversed, Noise, ResponderNetwork, numpy_of
from deltableu.respond.neural.networks import network_of
from deltableu.respond.neural.settings import ResponderSettings, ResponderTraining
from deltableu.stats import stream

#: Keys of random streams.
_DRAW, _NOISE, _POSTERIOR = 51, 52, 53
#: Held-out pairs that are judged at once.
_PORTION = 128


class ResponderTask:
    """Examples are rows of conversations, one response each."""

    def __init__(
        self,
        settings: ResponderSettings,
        training: ResponderTraining,
        vocabulary: Vocabulary,
        conversations: Conversations,
    ) -> None:
        self.settings, self.training = settings, training
        self.vocabulary, self.conversations = vocabulary, conversations
        self.clip: float | None = training.clip
        texts, turns = conversations.texts, conversations.turns
        self._read = Conversed(texts, turns, joined_turns(texts, turns))
        self._responses = texts.choose(conversations.responses)

    @property
    def counts(self) -> Mapping[str, Any]:
        return asdict(self.conversations.counts)

    def draw(self, split: Split, epoch: int, most: int | None = None) -> Drawn:
        rows = np.flatnonzero(self.conversations.validation == (split == "validation"))
        if most is not None and most < len(rows):
            rng = stream(self.training.seed, _DRAW, int(split == "validation"), epoch)
            rows = np.sort(rng.choice(rows, most, replace=False))
        return Drawn(rows, np.zeros(len(rows), np.int64))

    def lengths(self, drawn: Drawn) -> Ints:
        found: Ints = (
            self._read.joined.lengths[drawn.chosen] + self._responses.lengths[drawn.chosen]
        )
        return found

    def first_network(self) -> TextNetwork[Any]:
        return network_of(self.settings)(self.settings, len(self.vocabulary), self.training.seed)

    def network(self, state: Mapping[str, Singles]) -> TextNetwork[Any]:
        return network_of(self.settings).of(self.settings, state)

    def loss(self, network: TextNetwork[Any], chosen: Ints, labels: Ints, step: int) -> Tensor:
        training = self.training
        seed = int(stream(training.seed, _NOISE, step).integers(1 << 62))
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            noise = Noise(training.dropout, training.word_dropout)
            found = network(self._read, self._responses, chosen, noise)
        weight = min(1.0, (step + 1) / training.kl_steps)
        total: Tensor = found.losses.sum() + weight * found.divergences.sum()
        return total / len(found.losses)

    def judge(self, network: TextNetwork[Any], drawn: Drawn) -> JudgedBatch:
        assert isinstance(network, ResponderNetwork)
        return judged(network, self._read, self._responses, drawn.chosen, self.training.seed)

    def quality(self, judged: JudgedBatch, drawn: Drawn) -> dict[str, Any]:
        losses, divergences, tokens = judged.scores.sum(0, dtype=np.float64).tolist()
        words = self._responses.choose(drawn.chosen).numbers
        found = {
            "pairs": len(drawn),
            "words and ends": int(tokens),
            "unknown words": int((words == UNKNOWN).sum()),
            "loss": judged.loss,
            "perplexity": math.exp(min(judged.loss, 700.0)),
            "accuracy": judged.accuracy,
            "perplexity of word frequencies": self._frequencies(drawn),
        }
        if self.settings.kind == "vhred":
            found["divergence per response"] = divergences / len(drawn)
            found["loss without divergence"] = losses / tokens
        return found

    def _frequencies(self, drawn: Drawn) -> float:
        """Perplexity of knowing nothing but how frequent a word is, one more than counted."""
        learnt = self._counted(self.draw("training", 0).chosen) + 1.0
        said = self._counted(drawn.chosen)
        logs = np.log(learnt / learnt.sum())
        return float(np.exp(-(said @ logs) / said.sum()))

    def _counted(self, rows: Ints) -> Any:
        found = np.bincount(
            self._responses.choose(rows).numbers, minlength=len(self.vocabulary)
        ).astype(np.float64)
        found[END] += len(rows)
        return found


def judged(
    network: ResponderNetwork[Any],
    read: Conversed,
    responses: EncodedTexts,
    rows: Ints,
    seed: int,
) -> JudgedBatch:
    """What a network thinks of the responses of some rows, each word after the true ones.

    The loss is the mean per word or end, with the divergence where something is latent: then it
    bounds minus the log-probability from above, with one draw of the posterior.
    """
    order = np.argsort(read.joined.lengths[rows] + responses.lengths[rows], kind="stable")
    scores = np.zeros((len(rows), 3), np.float32)
    right = 0
    with torch.no_grad(), torch.random.fork_rng(devices=[]):
        torch.manual_seed(int(stream(seed, _POSTERIOR).integers(1 << 62)))
        for start in range(0, len(rows), _PORTION):
            some = order[start : start + _PORTION]
            found = network(read, responses, rows[some])
            owners = found.owners.numpy()
            losses = np.bincount(owners, numpy_of(found.losses), len(some))
            tokens = np.bincount(owners, minlength=len(some))
            scores[some] = np.stack((losses, numpy_of(found.divergences), tokens), 1)
            right += int(found.right.sum())
    losses, divergences, tokens = scores.sum(0, dtype=np.float64).tolist()
    return JudgedBatch((losses + divergences) / tokens, right / tokens, scores)
