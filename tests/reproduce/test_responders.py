"""Held-out dialogues are whole, and everything that foresees them is asked for the same words."""

from __future__ import annotations

import math

import numpy as np
import pytest

pytest.importorskip("torch", reason="neural responders need the extra neural")

from deltableu.neural import EncodedTexts
from deltableu.respond import NeuralResponder
from reproduce import responders
from tests.respond.neural_kit import small_responder


def test_dialogues_are_on_one_side(tmp_path):
    dialogues = [[f"{n} a\\\\b", f"{n} c", f"{n} d"] for n in range(200)]
    lines = ["utterance\tresponse\tid\tthread"]
    for n, turns in enumerate(dialogues):
        lines += [f"{turns[k]}\t{turns[k + 1]}\t{n}:{k}\tlog/{n}" for k in range(2)]
    (tmp_path / "whole.tsv").write_text("\n".join([*lines, ""]))
    held_out = responders.split_log(tmp_path / "whole.tsv", tmp_path / "learnt.tsv")
    assert 0 < len(held_out) < 20
    assert all(len(turns) == 3 and turns[0].endswith(" a\\b") for turns in held_out)
    learnt = (tmp_path / "learnt.tsv").read_text().splitlines()
    assert learnt[0] == lines[0]
    assert len(learnt) == len(lines) - 2 * len(held_out)
    numbers = {turns[1].split()[0] for turns in held_out}
    assert not any(line.split()[0] in numbers for line in learnt[1:])


def test_frequencies_of_words():
    learnt = EncodedTexts(np.array([2, 3, 2], np.int32), np.array([0, 2, 3]))
    found = responders.word_frequencies(learnt, 5)(learnt)
    # Of 5 words and 3 + 2 that were counted.
    assert found == pytest.approx([0.3, 0.2, 0.3, 0.3, 0.3])


@pytest.mark.parametrize("kind", ["seq2seq", "vhred"])
def test_networks_are_asked_for_every_turn_but_the_first(kind, tmp_path):
    small_responder(tmp_path / "model.safetensors", kind)
    responder = NeuralResponder.load(tmp_path / "model.safetensors")
    dialogues = [["where is it", "on the table", "who knows"], ["my tea", "a cat sat"]]
    found = responders.by_network(responder, dialogues)
    pairs = [(dialogues[0][:1], dialogues[0][1]), (dialogues[0][:2], dialogues[0][2])]
    one = responder.perplexity(pairs, seed=0)
    assert found.losses[0] == pytest.approx(one.loss * one.words)
    assert (found.divergence is None) == (kind == "seq2seq")


def test_the_table_compares_with_the_trigrams():
    tokens, words = np.array([10.0, 20.0, 30.0]), np.array([5.0, 10.0, 15.0])
    found = {
        responders.TRIGRAMS: responders.Foreseen(tokens * math.log(50)),
        "other": responders.Foreseen(tokens * math.log(40), 0.25),
    }
    _, _, first, second = responders.perplexities(found, tokens, words)
    assert first == f"| {responders.TRIGRAMS} | 50.0 (50.0, 50.0) | 2500.0 | 1 | - |"
    assert second == "| other | 40.0 (40.0, 40.0) | 1600.0 | 0.800 (0.800, 0.800) | 0.250 |"
