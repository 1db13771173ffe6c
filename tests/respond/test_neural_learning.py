"""Responders learn what there is to learn."""

from __future__ import annotations

import random

import pytest

pytest.importorskip("torch")

from deltableu.corpus import Item
from deltableu.respond.neural import (
    Decoding,
    NeuralResponder,
    ResponderTraining,
    Seq2SeqSettings,
    VHREDSettings,
    write_responder,
)
from tests.respond.neural_kit import learnt_by_heart

PLENTY = [f"word{n}" for n in range(60)]


def pairs(number, turns=1, seed=0):
    """Conversations of different texts without rhyme or reason, as logs of threads."""
    rng = random.Random(seed)
    rows = []
    for thread in range(number):
        texts = [" ".join(rng.sample(PLENTY, rng.randint(2, 6))) for _ in range(turns + 1)]
        rows += [
            {"utterance": texts[n], "response": texts[n + 1], "thread": str(thread)}
            for n in range(turns)
        ]
    return rows


def by_heart(tmp_path, rows, settings, epochs, **changes):
    how = ResponderTraining(
        vocabulary="words", learning_rate=5e-3, batch=20, epochs=epochs, patience=epochs,
        dropout=0.0, **changes,
    )  # fmt: skip
    made = learnt_by_heart(rows, settings, how)
    path = tmp_path / "model.safetensors"
    write_responder(path, made.settings, made.vocabulary, made.state, made.card)
    return NeuralResponder.load(path), made.card["held out"]


def answers(responder, rows, **how):
    items = [Item(str(n), (), (), row["utterance"]) for n, row in enumerate(rows)]
    return responder.respond(items, Decoding(**how)).texts


@pytest.mark.parametrize(
    ("number", "epochs"), [(40, 150), pytest.param(200, 100, marks=pytest.mark.long)]
)
def test_seq2seq_knows_pairs_by_heart(tmp_path, number, epochs):
    rows = pairs(number)
    settings = Seq2SeqSettings(embedding=48, hidden=96)
    responder, told = by_heart(tmp_path, rows, settings, epochs)
    print(told)
    assert told["loss"] < 0.02
    wanted = tuple(row["response"] for row in rows)
    assert answers(responder, rows, method="greedy") == wanted
    assert answers(responder, rows, beam=3) == wanted
    found = responder.perplexity([(row["utterance"], row["response"]) for row in rows])
    assert found.perplexity == pytest.approx(told["perplexity"], rel=1e-4)
    assert not found.bound


@pytest.mark.parametrize(
    ("number", "epochs"), [(15, 90), pytest.param(100, 80, marks=pytest.mark.long)]
)
def test_vhred_knows_dialogues_by_heart(tmp_path, number, epochs):
    rows = pairs(number, turns=3)
    settings = VHREDSettings(embedding=48, hidden=96, context=64, latent=8)
    responder, told = by_heart(tmp_path, rows, settings, epochs, kl_steps=100)
    print(told)
    assert told["loss without divergence"] < 0.05
    assert 0 <= told["divergence per response"] < 0.5
    assert told["loss"] < 0.1
    items = [
        Item(str(n), (), tuple(row["utterance"] for row in rows[n - n % 3 : n]), row["utterance"])
        for n, row in enumerate(rows)
    ]
    found = responder.respond(items, Decoding(method="greedy")).texts
    right = [one == row["response"] for one, row in zip(found, rows, strict=True)]
    assert sum(right) >= 0.97 * len(rows)
