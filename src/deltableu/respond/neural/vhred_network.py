"""A latent variable hierarchical recurrent encoder-decoder (Serban et al. 2017)."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import softplus

from deltableu._types import Ints
from deltableu.neural import EncodedTexts
from deltableu.neural.networks import encode_chosen
from deltableu.respond.neural.network import Conversed, DecoderState, ResponderNetwork
from deltableu.respond.neural.settings import VHREDSettings

#: So that no variance is 0.
_SMALLEST = 1e-4


class VHREDNetwork(ResponderNetwork[VHREDSettings]):
    """Turns become vectors, which a GRU reads; a latent variable is drawn for the response.

    Prior and posterior are diagonal normal distributions, of the conversation, and of it and the
    response; mean and variance (by a softplus) come from a tanh layer. The decoder begins with,
    and reads beside each word, the state of the conversation and the latent variable.
    """

    def _build(self) -> None:
        settings = self.settings
        given = settings.context + settings.latent
        self.conversation = nn.GRU(settings.hidden, settings.context)
        self.prior = _two_layers(settings.context, settings.context, 2 * settings.latent)
        self.posterior = _two_layers(
            settings.context + settings.hidden, settings.context, 2 * settings.latent
        )
        self.start = nn.Linear(given, settings.hidden)
        self.feed = nn.Linear(given, settings.embedding)
        self.decoder = nn.GRU(2 * settings.embedding, settings.hidden)
        self.readout = nn.Linear(settings.hidden, settings.embedding)

    def begin(self, read: Conversed, rows: Ints, noise: Tensor | None = None) -> DecoderState:
        turns = read.turns[rows]
        distinct, places = np.unique(turns[turns >= 0], return_inverse=True)
        context = self._context(self._vectors(read.texts, distinct), turns, places)
        mean, variance = normal(self.prior(context))
        latent = mean if noise is None else mean + variance.sqrt() * noise
        return self._state(context, latent)

    def reconstruct(
        self, read: Conversed, responses: EncodedTexts, rows: Ints
    ) -> tuple[DecoderState, Tensor]:
        turns = read.turns[rows]
        distinct, places = np.unique(turns[turns >= 0], return_inverse=True)
        # All are read at once, because the encoder's memory is used again.
        several = EncodedTexts.joined([read.texts.choose(distinct), responses.choose(rows)])
        vectors = self._vectors(several, np.arange(len(several)))
        context = self._context(vectors[: len(distinct)], turns, places)
        prior = normal(self.prior(context))
        posterior = normal(self.posterior(torch.cat((context, vectors[len(distinct) :]), 1)))
        mean, variance = posterior
        latent = mean + variance.sqrt() * torch.randn(mean.shape, dtype=mean.dtype)
        return self._state(context, latent), divergence(posterior, prior)

    def _vectors(self, texts: EncodedTexts, chosen: Ints) -> Tensor:
        return encode_chosen(
            self.embedding, self.encoder, texts, chosen, self.settings.max_length, self._scratch
        )

    def _context(self, vectors: Tensor, turns: Ints, places: Ints) -> Tensor:
        """The conversations' states; `places` are those of the turns that there are."""
        there = turns >= 0
        numbers = there.sum(1)
        # From the left, so that all conversations begin with the GRU's first step.
        left = np.zeros(turns.shape, np.int64)
        left[np.arange(turns.shape[1]) < numbers[:, None]] = places.reshape(-1)
        steps = vectors[torch.from_numpy(left.T.copy())]
        states, _ = self.conversation(steps)
        found: Tensor = states[torch.from_numpy(numbers - 1), torch.arange(len(turns))]
        return found

    def _state(self, context: Tensor, latent: Tensor) -> DecoderState:
        given = torch.cat((context, latent), 1)
        return DecoderState(self.start(given).tanh(), feed=self.feed(given))

    def outputs(self, state: DecoderState, words: Tensor) -> tuple[Tensor, Tensor]:
        assert state.feed is not None
        both = torch.cat((words, state.feed.expand(len(words), -1, -1)), -1)
        states, last = self.decoder(both, state.hidden[None].contiguous())
        return self.readout(states).tanh(), last[0]


def _two_layers(inner: int, middle: int, outer: int) -> nn.Sequential:
    return nn.Sequential(nn.Linear(inner, middle), nn.Tanh(), nn.Linear(middle, outer))


def normal(both: Tensor) -> tuple[Tensor, Tensor]:
    """Means and variances of what a network says of a diagonal normal distribution."""
    mean, raw = both.chunk(2, -1)
    return mean, softplus(raw) + _SMALLEST


def divergence(one: tuple[Tensor, Tensor], other: tuple[Tensor, Tensor]) -> Tensor:
    """KL(one || other) of diagonal normal distributions, of means and variances; a number a row.

    sum over i of [log(v'_i / v_i) + (v_i + (m_i - m'_i)^2) / v'_i - 1] / 2
    """
    (mean, variance), (mean_other, variance_other) = one, other
    ratio = variance / variance_other
    apart = (mean - mean_other).square() / variance_other
    return 0.5 * (ratio + apart - 1.0 - ratio.log()).sum(-1)
