"""Beams, greedy decoding and samples against every text that there is."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

torch = pytest.importorskip("torch")

from deltableu.errors import InputError  # noqa: E402
from deltableu.neural import EncodedTexts  # noqa: E402
from deltableu.respond.neural.decoding import Decoding  # noqa: E402
from deltableu.respond.neural.inputs import END, joined_turns  # noqa: E402
from deltableu.respond.neural.network import Conversed  # noqa: E402
from deltableu.respond.neural.search import WordRules, beam_search, sample  # noqa: E402
from tests.respond.neural_kit import small_network  # noqa: E402

#: Padding, the unknown word, and three words.
VOCABULARY = 5
LONGEST = 3
TURNS = np.array([[-1, -1, 0], [-1, 1, 2], [2, 0, 1]])
TEXTS = EncodedTexts(np.array([2, 3, 4, 4, 2, 3], np.int32), np.array([0, 1, 3, 6]))


def conversed(kind):
    turns = TURNS if kind == "vhred" else TURNS[:, 1:]
    return Conversed(TEXTS, turns, joined_turns(TEXTS, turns))


def begun(kind, seed):
    network = small_network(kind, seed, words=VOCABULARY).double().requires_grad_(False)
    return network, network.begin(conversed(kind), np.arange(len(TURNS)))


def every_text(network, kind, item, rules):
    """Log-probabilities of all texts that may be said, word by word, one text after the other."""
    found = {}
    for length in range(1, rules.max_length + 1):
        for words in itertools.product(range(2, VOCABULARY), repeat=length):
            if not rules.visible[list(words)].any() or repeats(words, rules.no_repeat):
                continue
            state = network.begin(conversed(kind), np.array([item]))
            scores, before = [], END
            for word in (*words, END):
                told, state = network.advance(state, torch.tensor([before]))
                scores.append(told[0, word].item())
                before = word
            found[words] = tuple(scores)
    return found


def repeats(words, size):
    if size is None:
        return False
    runs = [words[n : n + size] for n in range(len(words) - size + 1)]
    return len(set(runs)) < len(runs)


RULES = [
    WordRules(np.array([0, 0, 1, 1, 1], bool), LONGEST, None),
    WordRules(np.array([0, 0, 1, 1, 1], bool), LONGEST, 1),
    WordRules(np.array([0, 0, 1, 0, 1], bool), LONGEST, 2),
]


@pytest.mark.parametrize("kind", ["seq2seq", "vhred"])
@pytest.mark.parametrize("rules", RULES)
@pytest.mark.parametrize("penalty", [0.0, 1.0])
def test_a_wide_beam_finds_every_text_in_order(kind, rules, penalty):
    network, state = begun(kind, seed=3)
    how = Decoding(beam=200, length_penalty=penalty)
    lists = beam_search(network, state, len(TURNS), how, rules)
    for item, found in enumerate(lists):
        every = every_text(network, kind, item, rules)
        order = sorted(every, key=lambda w: -sum(every[w]) / (len(w) + 1) ** penalty)
        assert [one.words for one in found] == order
        for one in found:
            assert one.scores == pytest.approx(every[one.words], abs=1e-9)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["seq2seq", "vhred"]), st.integers(0, 1000), st.sampled_from(RULES))
def test_a_beam_of_one_is_greedy(kind, seed, rules):
    network, state = begun(kind, seed)
    lists = beam_search(network, state, len(TURNS), Decoding(method="greedy"), rules)
    for item, (one,) in enumerate(lists):
        words, state = (), network.begin(conversed(kind), np.array([item]))
        before = END
        while True:
            told, state = network.advance(state, torch.tensor([before]))
            options = told.numpy().copy()
            rules.forbid(options, [words])
            before = int(options[0].argmax())
            if before == END:
                break
            words = (*words, before)
        assert one.words == words


@settings(max_examples=15, deadline=None)
@given(st.sampled_from(["seq2seq", "vhred"]), st.integers(0, 1000), st.integers(2, 6))
def test_a_beam_keeps_the_most_likely_beginnings(kind, seed, width):
    """Against a literal beam, which looks at every extension of what it kept."""
    network, state = begun(kind, seed)
    rules = RULES[0]
    lists = beam_search(network, state, len(TURNS), Decoding(beam=width), rules)
    for item, found in enumerate(lists):
        every = every_text(network, kind, item, rules)
        prefixes = {}
        for words, scores in every.items():
            told = (*words, END)
            for length in range(1, len(told) + 1):
                prefixes[told[:length]] = sum(scores[:length])
        kept, finished = [()], []
        while kept:
            options = [
                (*one, word)
                for one in kept
                for word in range(VOCABULARY)
                if (*one, word) in prefixes
            ]
            options.sort(key=lambda one: -prefixes[one])
            chosen = options[: width - len(finished)]
            finished += [one[:-1] for one in chosen if one[-1] == END]
            kept = [one for one in chosen if one[-1] != END]
        finished.sort(key=lambda w: -sum(every[w]) / (len(w) + 1))
        assert [one.words for one in found] == finished


@pytest.mark.parametrize("how", [{}, {"temperature": 0.5}, {"top_k": 2}, {"top_p": 0.7}])
@pytest.mark.parametrize("kind", ["seq2seq", "vhred"])
def test_samples_are_as_frequent_as_they_are_likely(kind, how):
    network, _ = begun(kind, seed=5)
    decoding, rules, number = Decoding(method="sample", **how), RULES[0], 3000
    state = network.begin(conversed(kind), np.array([1])).repeat(number)
    chances = [np.random.default_rng([7, row]) for row in range(number)]
    drawn = Counter(one.words for one in sample(network, state, chances, decoding, rules))
    expected = {}
    for words in every_text(network, kind, 1, rules):
        state, before, chance, said = network.begin(conversed(kind), np.array([1])), END, 1.0, ()
        for word in (*words, END):
            told, state = network.advance(state, torch.tensor([before]))
            options = told.numpy().copy()
            rules.forbid(options, [said])
            chance *= shares(options[0], **how)[word]
            said, before = (*said, word), word
        expected[words] = chance
    assert sum(expected.values()) == pytest.approx(1.0)
    assert set(drawn) <= {words for words, chance in expected.items() if chance > 0}
    for words, chance in expected.items():
        error = math.sqrt(max(chance * (1 - chance), 1e-4) / number)
        assert abs(drawn[words] / number - chance) < 4.5 * error


def shares(scores, temperature=1.0, top_k=None, top_p=None):
    """The distribution that a word is drawn from, literally."""
    found = np.exp(scores / temperature)
    found /= found.sum()
    order = sorted(range(len(found)), key=lambda word: -found[word])
    kept, total = [], 0.0
    for word in order[:top_k]:
        if top_p is not None and total >= top_p:
            break
        kept.append(word)
        total += found[word]
    return {word: found[word] / total if word in kept else 0.0 for word in order}


@pytest.mark.parametrize(
    ("how", "message"),
    [
        ({"method": "best"}, "method"),
        ({"beam": 0}, "beam"),
        ({"method": "greedy", "beam": 3}, "beam"),
        ({"temperature": 0.5}, "temperature: is for the method sample, not beam"),
        ({"method": "sample", "temperature": 0.0}, "temperature"),
        ({"method": "sample", "top_p": 1.5}, "top_p"),
        ({"method": "sample", "top_k": 0}, "top_k"),
        ({"method": "greedy", "candidates": 2}, "candidates"),
        ({"beam": 3, "candidates": 4}, "no more than the beam"),
        ({"length_penalty": -1.0}, "length_penalty"),
        ({"max_length": 0}, "max_length"),
        ({"seed": -1}, "seed"),
    ],
)
def test_bad_settings(how, message):
    with pytest.raises(InputError, match=message):
        Decoding(**how)
