"""A response depends on its item, the model and the settings, and on nothing else."""

from __future__ import annotations

import math

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from deltableu.corpus import Item  # noqa: E402
from deltableu.errors import InputError  # noqa: E402
from deltableu.respond.neural import Decoding, NeuralResponder  # noqa: E402
from deltableu.respond.neural.inputs import END  # noqa: E402
from tests.respond.neural_kit import SHAPES, small_items, small_responder  # noqa: E402

WAYS = [
    Decoding(method="greedy"),
    Decoding(beam=4, no_repeat=2, length_penalty=0.5),
    Decoding(method="sample", candidates=3, top_p=0.9, max_length=9),
]


@pytest.fixture(scope="module", params=["seq2seq", "vhred"])
def path(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    small_responder(folder / "model.safetensors", request.param, seed=4)
    return folder / "model.safetensors"


@pytest.mark.parametrize("how", WAYS)
def test_what_is_decoded_beside_it_changes_nothing(path, how):
    items = small_items(23)
    whole = NeuralResponder.load(path).respond(items, how)
    assert not whole.missing
    turned = NeuralResponder.load(path, batch=5).respond(items[::-1], how, threads=1)
    assert turned.texts == whole.texts[::-1]
    alone = NeuralResponder.load(path, batch=1)
    for place in (0, 7, 22):
        own = alone.respond([items[place]], how)
        assert own.texts == whole.texts[place : place + 1]
        rows = slice(*whole.nbest.bounds[place : place + 2])
        assert own.nbest.texts == whole.nbest.texts[rows]
        assert np.array_equal(own.nbest.features, whole.nbest.features[rows])
        assert np.array_equal(own.nbest.totals, whole.nbest.totals[rows])
    assert turned.signature == whole.signature


def test_one_draw_does_not_depend_on_how_many_there_are(path):
    responder, items = NeuralResponder.load(path), small_items(9)
    one = responder.respond(items, Decoding(method="sample", seed=5))
    several = responder.respond(items, Decoding(method="sample", seed=5, candidates=6))
    assert one.texts == several.texts
    other = responder.respond(items, Decoding(method="sample", seed=6))
    assert other.texts != one.texts


def test_only_the_last_turns_are_read(path):
    responder = NeuralResponder.load(path)
    turns = responder.model.settings.turns
    near = [Item("q", (), ("tea", "a cat", "sat", "on it")[-n:], "where") for n in (turns - 1, 4)]
    found = [responder.respond([item], Decoding(beam=3)).nbest.texts for item in near]
    assert found[0] == found[1]
    nearer = Item("q", (), ("tea", "a cat", "who")[-turns + 1 :], "where")
    assert responder.respond([nearer], Decoding(beam=3)).nbest.totals is not None


def test_candidates_and_their_features(path):
    """What reads alike is listed once, best first; features are of words and the end."""
    found = NeuralResponder.load(path).respond(small_items(12), Decoding(beam=6, candidates=4))
    lists = found.nbest
    for first, last in zip(lists.bounds, lists.bounds[1:], strict=False):
        assert 1 <= last - first <= 4
        assert len(set(lists.texts[first:last])) == last - first
        assert sorted(lists.totals[first:last], reverse=True) == lists.totals[first:last].tolist()
    assert lists.texts_of(lists.best(lists.totals)) == found.texts
    logprob, length, mean, lowest = lists.features.T
    assert mean == pytest.approx(logprob / (length + 1), abs=1e-6)
    assert lists.totals == pytest.approx(mean, abs=1e-6)
    assert (lowest <= mean).all()
    assert [len(text.split()) for text in lists.texts] == length.tolist()


def test_perplexity_is_that_of_decoding_step_by_step(path):
    """For what is latent, with the posterior's draw it is a bound; the rest is exact."""
    responder = NeuralResponder.load(path)
    pairs = [("where is it", "on the table"), (["my tea", "who knows"], "i do not"), ("a cat", "")]
    found = responder.perplexity(pairs)
    assert (found.pairs, found.words, found.unknown) == (3, 9, 0)
    assert found.perplexity == pytest.approx(math.exp(found.loss))
    assert responder.perplexity(pairs) == found
    assert responder.perplexity([("where is it", "on the zebra")]).unknown == 1
    if responder.model.kind == "vhred":
        assert found.bound
        assert found.divergence > 0
        return
    assert (found.bound, found.divergence) == (False, 0.0)
    network = responder._networks[0]
    losses = []
    for said, text in pairs:
        read = responder._conversed([(said,) if isinstance(said, str) else tuple(said)])
        words = responder.model.vocabulary.encode([text])[0].tolist()
        state, before = network.begin(read, np.array([0])), END
        for word in (*words, END):
            readouts, hidden = network.outputs(state, network.embedding(torch.tensor([[before]])))
            losses.append(-network.logits(readouts[0]).log_softmax(-1)[0, word].item())
            state, before = type(state)(hidden, state.memory, state.absent), word
    assert found.loss == pytest.approx(np.mean(losses), rel=1e-5)


@pytest.mark.parametrize(
    ("pairs", "message"),
    [
        ([], "no pairs"),
        ([([], "yes")], r"pairs\[0\]: has no message"),
        ([("a", "b"), ("a", None)], r"pairs\[1\]"),
        ([("a",)], r"pairs\[0\]"),
        ([(3, "b")], r"pairs\[0\]"),
        ([(["a", None], "b")], r"pairs\[0\]"),
    ],
)
def test_pairs_that_are_none(path, pairs, message):
    with pytest.raises(InputError, match=message):
        NeuralResponder.load(path).perplexity(pairs)


def test_items_that_ask_nothing(path):
    responder = NeuralResponder.load(path)
    for message in (None, "", " \n"):
        items = [Item("a", (), message="where"), Item("b", (), ("where",), message=message)]
        with pytest.raises(InputError, match="item 'b', message: is empty"):
            responder.respond(items)
    with pytest.raises(InputError, match="no items"):
        responder.respond([])
    odd = Item("c", (), message="?!")
    assert responder.respond([odd]).texts[0].strip()
    with pytest.raises(InputError, match="threads"):
        responder.respond([odd], threads=0)


def test_settings_are_in_the_signature(path):
    responder = NeuralResponder.load(path)
    signatures = {responder.signature(how) for how in WAYS}
    signatures |= {responder.signature(Decoding(beam=n)) for n in (1, 2)}
    assert len(signatures) == len(WAYS) + 2
    assert all(one.startswith(f"{responder.model.kind}:") for one in signatures)
    assert set(SHAPES) >= {responder.model.kind}
