"""What the networks of both kinds of responders share: embedding, encoder, decoder, softmax."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import TypeVar

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, dropout, linear

from deltableu._types import Ints, Singles
from deltableu.neural import EncodedTexts
from deltableu.neural.networks import Scratch, TextNetwork
from deltableu.respond.neural.inputs import END, padded
from deltableu.respond.neural.settings import ResponderSettings

UNKNOWN = 1
#: Standard deviation of embeddings, which the softmax uses too: larger ones make it begin sure of
#: something.
_EMBEDDED = 0.1


@dataclass(frozen=True, slots=True, eq=False)
class DecoderState:
    """Where decoding is, a row for each text that is made.

    Attributes
    ----------
    hidden : Tensor
        The GRU's state.
    memory : Tensor, optional
        What attention looks at: row, place, unit.
    absent : Tensor, optional
        Which places of the memory are padding.
    feed : Tensor, optional
        What the decoder reads beside each word.
    """

    hidden: Tensor
    memory: Tensor | None = None
    absent: Tensor | None = None
    feed: Tensor | None = None

    def repeat(self, times: int) -> DecoderState:
        """Each row several times, one after the other."""
        return DecoderState(
            *(
                None if one is None else one.repeat_interleave(times, 0)
                for one in (self.hidden, self.memory, self.absent, self.feed)
            )  # type: ignore[arg-type]
        )

    def move(self, rows: Tensor) -> DecoderState:
        """Rows go on from where other rows of the same item were."""
        return replace(self, hidden=self.hidden[rows])


@dataclass(frozen=True, slots=True, eq=False)
class Conversed:
    """Conversations that a network reads: their turns, and the same as one text each."""

    texts: EncodedTexts
    turns: Ints
    joined: EncodedTexts


@dataclass(frozen=True, slots=True, eq=False)
class TokenLosses:
    """What a network thinks of responses.

    Attributes
    ----------
    losses : Tensor
        Minus the log-probability of each word and end.
    owners : Tensor
        Whose word it is.
    right : Tensor
        Whether the word is the one that the network holds most likely.
    divergences : Tensor
        Of the posterior from the prior, for each response; zeros where nothing is latent.
    """

    losses: Tensor
    owners: Tensor
    right: Tensor
    divergences: Tensor


@dataclass(frozen=True, slots=True)
class Noise:
    """What training leaves out at random; nothing when a network is only asked."""

    dropout: float = 0.0
    word_dropout: float = 0.0


Shape = TypeVar("Shape", bound=ResponderSettings)


class ResponderNetwork(TextNetwork[Shape]):
    """A responder; all that is random is drawn from torch's present generator.

    Parameters
    ----------
    settings : ResponderSettings
    vocabulary : int
        Its size, with padding and the unknown word.
    seed : int
        Seed of the first parameters.
    """

    def __init__(self, settings: Shape, vocabulary: int, seed: int = 0) -> None:
        super().__init__(settings)
        self._scratch = Scratch()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            self.embedding = nn.Embedding(vocabulary, settings.embedding)
            nn.init.normal_(self.embedding.weight, std=_EMBEDDED)
            self.bias = nn.Parameter(torch.zeros(vocabulary))
            self.encoder = nn.GRU(settings.embedding, settings.hidden // 2, bidirectional=True)
            self._build()

    @abstractmethod
    def _build(self) -> None:
        """Make the rest of the parameters."""

    @abstractmethod
    def begin(self, read: Conversed, rows: Ints, noise: Tensor | None = None) -> DecoderState:
        """Read some conversations.

        Parameters
        ----------
        read : Conversed
        rows : array
        noise : Tensor, optional
            Standard normal numbers for what is latent, a row each; its prior's mean without.
        """

    @abstractmethod
    def outputs(self, state: DecoderState, words: Tensor) -> tuple[Tensor, Tensor]:
        """What the decoder says after each of the words, and its last state.

        Parameters
        ----------
        state : DecoderState
        words : Tensor
            Vectors: step, row, unit.

        Returns
        -------
        tuple of Tensor
            Readouts (step, row, size of embedding), and the state (row, unit).
        """

    @abstractmethod
    def reconstruct(
        self, read: Conversed, responses: EncodedTexts, rows: Ints
    ) -> tuple[DecoderState, Tensor]:
        """Read conversations with their responses, as in training; also the divergences."""

    def forward(
        self, read: Conversed, responses: EncodedTexts, rows: Ints, noise: Noise | None = None
    ) -> TokenLosses:
        """What the network thinks of the responses of some rows, each word after the true ones."""
        noise = noise or Noise()
        state, divergences = self.reconstruct(read, responses, rows)
        wanted = padded(responses, rows)
        targets = torch.from_numpy(wanted.numbers)
        steps = torch.arange(len(targets))[:, None]
        there = steps < torch.from_numpy(wanted.lengths)
        before = torch.cat((torch.full_like(targets[:1], END), targets[:-1]))
        if noise.word_dropout:
            hidden = (torch.rand(before.shape) < noise.word_dropout) & (steps > 0)
            before = before.masked_fill(hidden, UNKNOWN)
        words = dropout(self.embedding(before), noise.dropout)
        readouts, _ = self.outputs(state, words)
        logits = self.logits(dropout(readouts[there], noise.dropout))
        chosen = targets[there]
        losses = cross_entropy(logits, chosen, reduction="none")
        owners = torch.arange(len(rows)).expand_as(targets)[there]
        with torch.no_grad():
            right = logits.argmax(1) == chosen
        return TokenLosses(losses, owners, right, divergences)

    def logits(self, readouts: Tensor) -> Tensor:
        """Scores of all words; the softmax shares its vectors with the embedding."""
        return linear(readouts, self.embedding.weight, self.bias)

    def advance(self, state: DecoderState, words: Tensor) -> tuple[Tensor, DecoderState]:
        """Log-probabilities of what follows one more word of each row; the unknown never does."""
        readouts, hidden = self.outputs(state, self.embedding(words)[None])
        logits = self.logits(readouts[0])
        logits[:, UNKNOWN] = -torch.inf
        return logits.log_softmax(-1), replace(state, hidden=hidden)


def numpy_of(tensor: Tensor) -> Singles:
    """A tensor as an array."""
    found: Singles = tensor.detach().numpy()
    return found
