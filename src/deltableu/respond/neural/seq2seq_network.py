"""Sequence to sequence with attention (Sutskever et al. 2014, Luong et al. 2015)."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence

from deltableu._types import Ints
from deltableu.neural import EncodedTexts
from deltableu.respond.neural.inputs import padded
from deltableu.respond.neural.network import Conversed, DecoderState, ResponderNetwork
from deltableu.respond.neural.settings import Seq2SeqSettings


class Seq2SeqNetwork(ResponderNetwork[Seq2SeqSettings]):
    """A Bi-GRU reads the turns as one text; a GRU writes, and attends to what was read.

    Attention is multiplicative, the "general" score of Luong et al. (2015): s_t' W h_i, from the
    decoder's new state s_t, so that all steps of a text are decoded and attended at once. The
    readout is tanh(V [s_t; c_t]), below a softmax whose vectors are those of the embedding.
    """

    def _build(self) -> None:
        hidden, embedding = self.settings.hidden, self.settings.embedding
        self.start = nn.Linear(hidden, hidden)
        self.decoder = nn.GRU(embedding, hidden)
        self.attention = nn.Linear(hidden, hidden, bias=False)
        self.readout = nn.Linear(2 * hidden, embedding)

    def begin(self, read: Conversed, rows: Ints, noise: Tensor | None = None) -> DecoderState:
        given = padded(read.joined, rows)
        lengths = torch.from_numpy(given.lengths)
        words = self.embedding(torch.from_numpy(given.numbers))
        packed = pack_padded_sequence(words, lengths, enforce_sorted=False)
        states, last = self.encoder(packed)
        memory, _ = pad_packed_sequence(states)
        ends = torch.cat((last[0], last[1]), 1)
        absent = torch.arange(len(memory)) >= lengths[:, None]
        return DecoderState(self.start(ends).tanh(), memory.transpose(0, 1), absent)

    def reconstruct(
        self, read: Conversed, responses: EncodedTexts, rows: Ints
    ) -> tuple[DecoderState, Tensor]:
        state = self.begin(read, rows)
        return state, state.hidden.new_zeros(len(rows))

    def outputs(self, state: DecoderState, words: Tensor) -> tuple[Tensor, Tensor]:
        states, last = self.decoder(words, state.hidden[None].contiguous())
        assert state.memory is not None
        assert state.absent is not None
        asked = self.attention(states).transpose(0, 1)
        scores = torch.bmm(asked, state.memory.transpose(1, 2))
        shares = scores.masked_fill(state.absent[:, None], -torch.inf).softmax(-1)
        found = torch.bmm(shares, state.memory).transpose(0, 1)
        return self.readout(torch.cat((states, found), -1)).tanh(), last[0]
