"""The unreferenced scorer's network, its losses and its model file."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from hypothesis import given  # noqa: E402
from hypothesis import strategies as st  # noqa: E402

from deltableu.errors import InputError  # noqa: E402
from deltableu.judges.model_file import read_model, write_model  # noqa: E402
from deltableu.judges.nn_rater import NNRater  # noqa: E402
from deltableu.judges.ruber_network import (  # noqa: E402
    RuberNetwork,
    entropy_loss,
    margin_loss,
)
from deltableu.judges.ruber_settings import RuberSettings, ruber_preset  # noqa: E402
from deltableu.judges.settings import parameter_shapes  # noqa: E402
from deltableu.judges.unreferenced import UnreferencedScorer  # noqa: E402
from deltableu.neural import check_size  # noqa: E402
from deltableu.neural.encoded_texts import EncodedTexts  # noqa: E402
from tests.judges.rater_kit import WORDS, small_model  # noqa: E402
from tests.judges.ruber_kit import SHAPE, small_scorer  # noqa: E402

TEXTS = EncodedTexts(np.array([2, 3, 4, 5, 2, 6], np.int32), np.array([0, 2, 3, 6, 6]))
CHOSEN = np.array([[0, 1, 2], [1, 2, 0], [2, 0, 3]])


def literal(network, texts, message, reply):
    """[q; r; qMr] through the layers, with torch's own GRU."""

    def vector(encoder, text):
        words = torch.from_numpy(texts[text].astype(np.int64))
        if not len(words):
            return torch.zeros(2 * SHAPE.hidden)
        _, last = encoder.gru(encoder.embedding(words)[:, None])
        return last.reshape(-1)

    q, r = vector(network.message, message), vector(network.reply, reply)
    feature = (network.bilinear.weight @ q + network.bilinear.bias) @ r
    return network.network(torch.cat((q, r, feature[None])))[0]


@pytest.mark.parametrize("scaled", [False, True])
def test_the_network_is_the_papers(scaled):
    network = RuberNetwork(SHAPE, 8, seed=1, scaled=scaled)
    found = network(TEXTS, CHOSEN)
    for row, (message, *replies) in enumerate(CHOSEN):
        for column, reply in enumerate(replies):
            wanted = literal(network, TEXTS, message, reply)
            assert found[row, column].item() == pytest.approx(wanted.item(), abs=1e-6)


def test_gradients_are_those_of_torchs_own_gru():
    network = RuberNetwork(SHAPE, 8, seed=1, scaled=True)
    margin_loss(network(TEXTS, CHOSEN), 0.9).backward()
    found = {name: one.grad.clone() for name, one in network.named_parameters()}
    network.zero_grad()
    rows = [[literal(network, TEXTS, m, one) for one in rest] for m, *rest in CHOSEN]
    margin_loss(torch.stack([torch.stack(row) for row in rows]), 0.9).backward()
    for name, one in network.named_parameters():
        assert torch.allclose(found[name], one.grad, atol=1e-6), name
        assert found[name].abs().sum() > 0, name


LOGITS = st.lists(st.tuples(*[st.floats(-6, 6)] * 2), min_size=1, max_size=8)


@given(LOGITS, st.floats(0.01, 1))
def test_margin_loss_is_the_hinge(logits, margin):
    def s(logit):
        return 1 / (1 + math.exp(-logit))

    hinges = [max(0.0, margin - s(right) + s(wrong)) for right, wrong in logits]
    found = margin_loss(torch.tensor(logits, dtype=torch.float64), margin)
    assert found.item() == pytest.approx(sum(hinges) / len(hinges))


@given(LOGITS)
def test_entropy_loss_is_the_cross_entropy(logits):
    def s(logit):
        return 1 / (1 + math.exp(-logit))

    wanted = [-math.log(s(right)) - math.log(1 - s(wrong)) for right, wrong in logits]
    found = entropy_loss(torch.tensor(logits, dtype=torch.float64))
    assert found.item() == pytest.approx(sum(wanted) / (2 * len(wanted)))


def test_shapes_are_those_of_the_network():
    for settings in (SHAPE, RuberSettings()):
        state = RuberNetwork(settings, 9).state()
        shapes = {name: array.shape for name, array in state.items()}
        assert shapes == parameter_shapes(settings, 9)
    # Two Bi-GRUs of 500 units and an MLP of 2001 inputs: Tsuta et al. (2020).
    assert parameter_shapes(ruber_preset("paper")[0], 9)["network.0.weight"] == (50, 2001)


def test_the_first_parameters_depend_on_the_seed_alone():
    one, same, other = (RuberNetwork(SHAPE, 9, seed).state() for seed in (1, 1, 2))
    assert all(np.array_equal(one[name], same[name]) for name in one)
    assert not np.array_equal(one["bilinear.weight"], other["bilinear.weight"])


def test_absurd_sizes_are_refused():
    for change in ("hidden", "embedding", "layer", "layers"):
        with pytest.raises(InputError, match="parameters"):
            check_size(RuberSettings(**{change: 10**9}), 8000, "judge", "embedding")


# --- the model's file -----------------------------------------------------------------------------


def test_a_model_comes_back(tmp_path):
    written = small_scorer(tmp_path / "one.safetensors")
    read = read_model(tmp_path / "one.safetensors")
    assert (read.settings, read.kind, read.digest) == (SHAPE, "ruber", written.digest)
    write_model(tmp_path / "two", read.settings, read.vocabulary, read.state, read.card)
    assert (tmp_path / "two").read_bytes() == (tmp_path / "one.safetensors").read_bytes()
    scores = [UnreferencedScorer(one).scores(["where is"], ["my cat"]) for one in (written, read)]
    assert scores[0] == scores[1]


def test_the_other_kind_is_refused(tmp_path):
    small_scorer(tmp_path / "ruber.safetensors")
    small_model(tmp_path / "rater.safetensors")
    with pytest.raises(InputError, match=r"ruber.safetensors: is the unreferenced .*nn-rater"):
        NNRater.load(tmp_path / "ruber.safetensors")
    with pytest.raises(InputError, match=r"rater.safetensors: is an NN-rater.* --kind ruber"):
        UnreferencedScorer.load(tmp_path / "rater.safetensors")


# --- the scorer -----------------------------------------------------------------------------------


def test_scores_do_not_depend_on_what_else_is_scored(tmp_path, monkeypatch):
    scorer = UnreferencedScorer(small_scorer(tmp_path / "m.safetensors"))
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size)) for size in rng.integers(1, 15, 60)]
    asked, said = texts[:30], texts[30:]
    together = scorer.scores(asked, said)
    alone = [scorer.scores([one], [other])[0] for one, other in zip(asked, said, strict=True)]
    assert together == pytest.approx(np.array(alone), abs=2e-6)
    monkeypatch.setattr("deltableu.neural.model_reading.WORDS", 20)
    assert scorer.scores(asked, said) == pytest.approx(together, abs=2e-6)
    assert ((together > 0) & (together < 1)).all()
    assert together.std() > 0


def test_an_empty_reply_scores_0(tmp_path):
    scorer = UnreferencedScorer(small_scorer(tmp_path / "m.safetensors"))
    found = scorer.scores(["where is my cat"] * 4, ["", "  ", "unheard", "my tea"])
    assert found[:2].tolist() == [0.0, 0.0]
    assert (found[2:] > 0).all()
    assert scorer.scores([], []).tolist() == []
