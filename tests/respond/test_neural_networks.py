"""The networks are what their papers say, step by step in numpy."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from deltableu.neural import EncodedTexts  # noqa: E402
from deltableu.respond.neural.inputs import END, joined_turns  # noqa: E402
from deltableu.respond.neural.network import Conversed  # noqa: E402
from deltableu.respond.neural.vhred_network import divergence, normal  # noqa: E402
from tests.respond.neural_kit import SHAPES, WORDS, small_network  # noqa: E402

VOCABULARY = len(WORDS) + 2


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def gru_step(state, name, x, h, way=""):
    """Cho et al. (2014), with the reset gate where torch has it."""
    size = len(h)
    a = state[f"{name}.weight_ih_l0{way}"] @ x + state[f"{name}.bias_ih_l0{way}"]
    b = state[f"{name}.weight_hh_l0{way}"] @ h + state[f"{name}.bias_hh_l0{way}"]
    reset = sigmoid(a[:size] + b[:size])
    update = sigmoid(a[size : 2 * size] + b[size : 2 * size])
    new = np.tanh(a[2 * size :] + reset * b[2 * size :])
    return (1 - update) * new + update * h


def bi_gru(state, words):
    """All states of both directions."""
    half = state["encoder.weight_hh_l0"].shape[1]
    ways = []
    for way, order in (("", words), ("_reverse", words[::-1])):
        h, seen = np.zeros(half), []
        for word in order:
            h = gru_step(state, "encoder", state["embedding.weight"][word], h, way)
            seen.append(h)
        ways.append(seen)
    return ways[0], ways[1][::-1], np.concatenate([ways[0][-1], ways[1][-1]]) if words else None


def apply(state, name, x):
    return state[f"{name}.weight"] @ x + state.get(f"{name}.bias", 0.0)


def log_softmax(x):
    return x - x.max() - np.log(np.exp(x - x.max()).sum())


def literal_seq2seq(state, turns, response):
    words = [word for turn in turns for word in (*turn, END)]
    forward, backward, ends = bi_gru(state, words)
    memory = np.array([np.concatenate(pair) for pair in zip(forward, backward, strict=True)])
    h = np.tanh(apply(state, "start", ends))
    losses = []
    for before, word in zip([END, *response], [*response, END], strict=True):
        h = gru_step(state, "decoder", state["embedding.weight"][before], h)
        scores = memory @ (state["attention.weight"] @ h)
        weights = np.exp(scores - scores.max())
        found = (weights / weights.sum()) @ memory
        readout = np.tanh(apply(state, "readout", np.concatenate([h, found])))
        logits = state["embedding.weight"] @ readout + state["bias"]
        losses.append(-log_softmax(logits)[word])
    return losses


def two_layers(state, name, x):
    both = apply(state, f"{name}.2", np.tanh(apply(state, f"{name}.0", x)))
    mean, raw = np.split(both, 2)
    return mean, np.log1p(np.exp(raw)) + 1e-4


def literal_vhred(state, turns, response, noise):
    size = 2 * state["encoder.weight_hh_l0"].shape[1]

    def vector(words):
        return bi_gru(state, list(words))[2] if len(words) else np.zeros(size)

    context = np.zeros(state["conversation.weight_hh_l0"].shape[1])
    for turn in turns:
        context = gru_step(state, "conversation", vector(turn), context)
    mean_prior, variance_prior = two_layers(state, "prior", context)
    given = np.concatenate([context, vector(response)])
    mean, variance = two_layers(state, "posterior", given)
    kl = sum(
        0.5 * (math.log(q / p) + (p + (m - n) ** 2) / q - 1)
        for m, p, n, q in zip(mean, variance, mean_prior, variance_prior, strict=True)
    )
    both = np.concatenate([context, mean + np.sqrt(variance) * noise])
    h, feed = np.tanh(apply(state, "start", both)), apply(state, "feed", both)
    losses = []
    for before, word in zip([END, *response], [*response, END], strict=True):
        x = np.concatenate([state["embedding.weight"][before], feed])
        h = gru_step(state, "decoder", x, h)
        logits = state["embedding.weight"] @ np.tanh(apply(state, "readout", h)) + state["bias"]
        losses.append(-log_softmax(logits)[word])
    return losses, kl


texts = st.lists(st.integers(1, VOCABULARY - 1), max_size=6)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.tuples(st.lists(texts, min_size=1, max_size=3), texts), min_size=1, max_size=4),
    st.sampled_from(["seq2seq", "vhred"]),
    st.integers(0, 100),
)
def test_losses_are_those_of_the_equations(rows, kind, seed):
    shape = SHAPES[kind]
    network = small_network(kind, seed, scale=2.0).double()
    state = {name: array.astype(np.float64) for name, array in network.state().items()}
    rows = [(turns[-shape.turns :], response) for turns, response in rows]
    every = [turn for turns, _ in rows for turn in turns] + [response for _, response in rows]
    bounds = np.concatenate(([0], np.cumsum([len(one) for one in every])))
    encoded = EncodedTexts(np.array([n for one in every for n in one], np.int32), bounds)
    places = np.full((len(rows), shape.turns), -1)
    start = 0
    for row, (turns, _) in enumerate(rows):
        places[row, shape.turns - len(turns) :] = np.arange(start, start + len(turns))
        start += len(turns)
    responses = encoded.choose(np.arange(start, len(every)))
    torch.manual_seed(seed)
    with torch.no_grad():
        found = network(
            Conversed(encoded, places, joined_turns(encoded, places)),
            responses,
            np.arange(len(rows)),
        )
    torch.manual_seed(seed)
    noise = torch.randn((len(rows), getattr(shape, "latent", 1)), dtype=torch.float64).numpy()
    for row, (turns, response) in enumerate(rows):
        mine = found.losses[found.owners == row].tolist()
        if kind == "seq2seq":
            losses, kl = literal_seq2seq(state, turns, response), 0.0
        else:
            losses, kl = literal_vhred(state, turns, response, noise[row])
        assert mine == pytest.approx(losses, rel=1e-8)
        assert found.divergences[row].item() == pytest.approx(kl, rel=1e-8)


def test_decoding_steps_are_those_of_training():
    """What is computed for a whole text at once, one word after the other."""
    for kind in SHAPES:
        network = small_network(kind).double().requires_grad_(False)
        encoded = EncodedTexts(np.array([2, 3, 4, 5, 6, 7], np.int32), np.array([0, 2, 3, 6]))
        turns = np.full((1, SHAPES[kind].turns), -1)
        turns[0, -2:] = (0, 1)
        read = Conversed(encoded, turns, joined_turns(encoded, turns))
        state = network.begin(read, np.array([0]))
        words = [END, 5, 6, 7]
        readouts, _ = network.outputs(state, network.embedding(torch.tensor(words))[:, None])
        logits = network.logits(readouts[:, 0])
        logits[:, 1] = -torch.inf
        for word, told in zip(words, logits.log_softmax(-1), strict=True):
            step, state = network.advance(state, torch.tensor([word]))
            assert torch.allclose(step[0], told, atol=1e-12)
            assert step[0, 1] == -torch.inf


rows = st.lists(st.floats(-3, 3), min_size=4, max_size=4)


@settings(max_examples=50, deadline=None)
@given(rows, rows, rows, rows)
def test_divergence_of_normal_distributions(a, b, c, d):
    tensors = [torch.tensor([row], dtype=torch.float64) for row in (a, b, c, d)]
    one, other = (tensors[0], tensors[1].exp()), (tensors[2], tensors[3].exp())
    found = divergence(one, other)
    by_torch = torch.distributions.kl_divergence(
        torch.distributions.Normal(one[0], one[1].sqrt()),
        torch.distributions.Normal(other[0], other[1].sqrt()),
    ).sum(-1)
    assert found.item() == pytest.approx(by_torch.item(), rel=1e-9, abs=1e-12)
    assert divergence(one, one).item() == pytest.approx(0.0, abs=1e-12)


def test_divergence_is_what_samples_say():
    torch.manual_seed(0)
    mean, variance = normal(torch.tensor([[0.5, -1.0, 0.2, 1.5, 0.1, -0.3]], dtype=torch.float64))
    other = normal(torch.tensor([[0.0, -0.4, 0.9, 0.5, 0.7, 0.2]], dtype=torch.float64))
    drawn = mean + variance.sqrt() * torch.randn(400_000, 3, dtype=torch.float64)

    def log_density(at, mean, variance):
        return -0.5 * ((at - mean) ** 2 / variance + (2 * math.pi * variance).log()).sum(-1)

    gaps = log_density(drawn, mean, variance) - log_density(drawn, *other)
    error = gaps.std().item() / math.sqrt(len(drawn))
    assert divergence((mean, variance), other).item() == pytest.approx(
        gaps.mean().item(), abs=4 * error
    )


def test_the_bound_is_below_the_likelihood():
    """The mean bound of many draws is below the log-likelihood by importance weights."""
    network = small_network("vhred", scale=1.5).double().requires_grad_(False)
    encoded = EncodedTexts(np.array([2, 3, 4, 5, 6], np.int32), np.array([0, 2, 5]))
    number = 4000
    turns = np.full((number, 3), -1)
    turns[:, -1] = 0
    read = Conversed(encoded, turns, joined_turns(encoded, turns))
    responses = encoded.choose(np.full(number, 1))
    torch.manual_seed(1)
    found = network(read, responses, np.arange(number))
    losses = np.bincount(found.owners.numpy(), found.losses.numpy(), number)
    bound = -(losses.mean() + found.divergences[0].item())
    noise = torch.randn(number, 4, dtype=torch.float64)
    state = network.begin(read, np.arange(number), noise)
    words = torch.tensor([[END, 4, 5, 6]] * number).T
    readouts, _ = network.outputs(state, network.embedding(words))
    told = network.logits(readouts).log_softmax(-1)
    wanted = torch.tensor([4, 5, 6, END])
    each = told[torch.arange(4), :, wanted].sum(0)
    likelihood = torch.logsumexp(each, 0).item() - math.log(number)
    assert bound < likelihood + 0.05
