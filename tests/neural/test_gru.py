"""Our Bi-GRU is torch's, values and gradients, for any texts."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from torch.nn.utils.rnn import pack_sequence  # noqa: E402

from deltableu.neural.encoded_texts import EncodedTexts  # noqa: E402
from deltableu.neural.networks.gru import Scratch, encode_texts, time_steps  # noqa: E402

WORDS, EMBEDDING, HIDDEN = 11, 4, 3


def parameters(gru):
    kinds = ("weight_ih", "weight_hh", "bias_ih", "bias_hh")
    return [getattr(gru, f"{kind}_l0{way}") for way in ("", "_reverse") for kind in kinds]


def encoded(texts):
    bounds = np.cumsum([0, *map(len, texts)])
    return EncodedTexts(np.array([word for text in texts for word in text], np.int32), bounds)


def torch_says(embedding, gru, text):
    """One text at a time, as torch runs it."""
    if not text:
        return torch.zeros(2 * HIDDEN, dtype=embedding.dtype)
    packed = pack_sequence([embedding[torch.tensor(text)]])
    return gru(packed)[1].reshape(-1)


some_texts = st.lists(st.lists(st.integers(0, WORDS - 1), max_size=9), min_size=1, max_size=8)


@given(some_texts, st.integers(1, 10), st.integers(0, 3), st.data())
@settings(max_examples=60, deadline=None)
def test_values_and_gradients_are_those_of_torch(texts, longest, seed, data):
    torch.manual_seed(seed)
    gru = torch.nn.GRU(EMBEDDING, HIDDEN, bidirectional=True).double()
    embedding = torch.randn(WORDS, EMBEDDING, dtype=torch.float64, requires_grad=True)
    every = st.permutations(range(len(texts)))
    chosen = np.array(data.draw(every)[: data.draw(st.integers(1, len(texts)))])
    wanted = torch.randn(len(chosen), 2 * HIDDEN, dtype=torch.float64)
    leaves = [embedding, *parameters(gru)]

    steps, order = time_steps(encoded(texts), chosen, longest)
    ours = encode_texts(embedding, parameters(gru), steps, Scratch())
    mine = torch.autograd.grad((ours * wanted).sum(), leaves, allow_unused=True)
    theirs = torch.stack(
        [torch_says(embedding, gru, texts[place][:longest]) for place in chosen[order]]
    )
    np.testing.assert_allclose(ours.detach(), theirs.detach(), atol=1e-12)
    if not theirs.requires_grad:
        return
    expected = torch.autograd.grad((theirs * wanted).sum(), leaves, allow_unused=True)
    for one, other in zip(mine, expected, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-11)


def test_room_is_used_again_and_never_mixes_batches():
    torch.manual_seed(0)
    gru = torch.nn.GRU(EMBEDDING, HIDDEN, bidirectional=True)
    embedding = torch.randn(WORDS, EMBEDDING, requires_grad=True)
    scratch = Scratch()
    rng = np.random.default_rng(0)
    for size in (5, 40, 3):
        texts = [rng.integers(WORDS, size=rng.integers(1, 12)).tolist() for _ in range(size)]
        steps, _ = time_steps(encoded(texts), np.arange(size), 50)
        alone = encode_texts(embedding, parameters(gru), steps, Scratch())
        shared = encode_texts(embedding, parameters(gru), steps, scratch)
        assert torch.equal(alone, shared)
        one, other = (torch.autograd.grad(x.sum(), embedding)[0] for x in (alone, shared))
        assert torch.equal(one, other)


def test_gradients_after_the_next_batch_are_refused():
    gru = torch.nn.GRU(EMBEDDING, HIDDEN, bidirectional=True)
    embedding = torch.randn(WORDS, EMBEDDING, requires_grad=True)
    steps, _ = time_steps(encoded([[1, 2], [3]]), np.arange(2), 50)
    scratch = Scratch()
    first = encode_texts(embedding, parameters(gru), steps, scratch)
    encode_texts(embedding, parameters(gru), steps, scratch)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        first.sum().backward()
