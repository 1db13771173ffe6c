"""The network of RUBER's unreferenced scorer (Tao et al. 2018, section 3.2), and its losses."""

from __future__ import annotations

import itertools

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import binary_cross_entropy_with_logits, relu

from deltableu._types import Ints, Singles
from deltableu.judges.ruber_settings import RuberSettings
from deltableu.neural import EncodedTexts
from deltableu.neural.networks import Scratch, TextNetwork, encode_chosen, scale_gru

#: Embeddings are drawn from 0 up to this, as the code of Tsuta et al. (2020) draws them.
_EMBEDDED = 0.05


class TextEncoder(nn.Module):
    """An embedding and a Bi-GRU: texts in, the last states of both directions out."""

    def __init__(self, settings: RuberSettings, vocabulary: int) -> None:
        super().__init__()
        self._max_length = settings.max_length
        self._scratch = Scratch()
        self.embedding = nn.Embedding(vocabulary, settings.embedding)
        self.gru = nn.GRU(settings.embedding, settings.hidden, bidirectional=True)

    def forward(self, texts: EncodedTexts, chosen: Ints) -> Tensor:
        """The vectors of some texts, in the order asked for; a text may be named often."""
        distinct, places = np.unique(chosen, return_inverse=True)
        return self.encode(texts, distinct)[torch.from_numpy(places.reshape(-1))]

    def encode(self, texts: EncodedTexts, chosen: Ints) -> Tensor:
        """The same, where each is named once."""
        return encode_chosen(
            self.embedding, self.gru, texts, chosen, self._max_length, self._scratch
        )


class RuberNetwork(TextNetwork[RuberSettings]):
    """How relevant is a reply r to a message q: a network of tanh layers above [q; r; qMr].

    Parameters
    ----------
    settings : RuberSettings
    vocabulary : int
        Its size, with padding and the unknown word.
    seed : int
        Seed of the first parameters.
    scaled : bool
        Whether both Bi-GRUs begin alike, with signals that do not fade, and M as the identity, so
        that the bilinear feature begins as the likeness of both; else all parameters are drawn.
    """

    def __init__(
        self, settings: RuberSettings, vocabulary: int, seed: int = 0, *, scaled: bool = False
    ) -> None:
        super().__init__(settings)
        both = 2 * settings.hidden
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.message = TextEncoder(settings, vocabulary)
            self.reply = TextEncoder(settings, vocabulary)
            self.bilinear = nn.Linear(both, both)
            widths = [2 * both + 1, *[settings.layer] * settings.layers]
            parts: list[nn.Module] = []
            for inner, outer in itertools.pairwise(widths):
                parts += [nn.Linear(inner, outer), nn.Tanh()]
            self.network = nn.Sequential(*parts, nn.Linear(settings.layer, 1))
            if scaled:
                self._scale()
            else:
                for encoder in (self.message, self.reply):
                    nn.init.uniform_(encoder.embedding.weight, 0.0, _EMBEDDED)

    def _scale(self) -> None:
        scale_gru(self.message.gru)
        self.reply.load_state_dict(self.message.state_dict())
        nn.init.eye_(self.bilinear.weight)
        self.bilinear.weight.data /= self.settings.hidden**0.5
        nn.init.zeros_(self.bilinear.bias)

    def forward(self, texts: EncodedTexts, chosen: Ints) -> Tensor:
        """Logits of the true and of the other reply, for each (message, reply, other reply)."""
        messages = self.message(texts, chosen[:, 0])
        replies = self.reply(texts, chosen[:, 1:].T)
        both = self.judge(messages.repeat(2, 1), replies)
        return both.reshape(2, len(chosen)).T

    def judge(self, messages: Tensor, replies: Tensor) -> Tensor:
        """The logit of each message and reply that are encoded already."""
        feature = (self.bilinear(messages) * replies).sum(1, keepdim=True)
        logits: Tensor = self.network(torch.cat((messages, replies, feature), 1))
        return logits[:, 0]


def margin_loss(logits: Tensor, margin: float) -> Tensor:
    """mean of max(0, margin - s(q, r) + s(q, r')) (Tao et al. 2018, equation 7)."""
    scores = logits.sigmoid()
    return relu(margin - scores[:, 0] + scores[:, 1]).mean()


def entropy_loss(logits: Tensor) -> Tensor:
    """Mean cross entropy: the reply is of class 1, the other one of class 0."""
    wanted = torch.zeros_like(logits)
    wanted[:, 0] = 1.0
    return binary_cross_entropy_with_logits(logits, wanted)


def relevance(network: RuberNetwork, texts: EncodedTexts, chosen: Ints) -> Singles:
    """Scores in (0, 1) of the true and of the other reply, for each (message, reply, other)."""
    with torch.no_grad():
        found: Singles = network(texts, chosen).sigmoid().numpy()
    return found
