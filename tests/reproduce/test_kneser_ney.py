"""Kneser-Ney by arrays is Kneser-Ney by dictionaries, and nltk's where that has it."""

from __future__ import annotations

from collections import Counter, defaultdict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.neural import EncodedTexts
from reproduce.kneser_ney import END, fit_kneser_ney

SIZE = 7
START = SIZE

corpora = st.lists(st.lists(st.integers(1, SIZE - 1), max_size=6), min_size=1, max_size=25)


def encoded(texts):
    bounds = np.concatenate(([0], np.cumsum([len(text) for text in texts])))
    return EncodedTexts(np.array([n for text in texts for n in text], np.int32), bounds)


def padded(text):
    return [START, START, *text, END]


def counted(texts):
    """Counts of trigrams, and of different words before shorter n-grams."""
    levels = {3: Counter()}
    for text in map(padded, texts):
        levels[3].update(zip(text, text[1:], text[2:], strict=False))
    for order in (2, 1):
        before = defaultdict(set)
        for gram in levels[order + 1]:
            before[gram[1:]].add(gram[0])
        levels[order] = Counter({gram: len(words) for gram, words in before.items()})
    return levels


def discount(counter, count):
    n = [max(sum(c == k for c in counter.values()), 1) for k in (1, 2, 3, 4)]
    y = n[0] / (n[0] + 2 * n[1])
    if count == 0:
        return 0.0
    k = min(count, 3)
    return min(max(k - (k + 1) * y * n[k] / n[k - 1], 0.0), k)


def literal(levels, gram, given=None):
    if not gram:
        return 1 / SIZE
    counter = levels[len(gram)]
    taken = (lambda c: discount(counter, c)) if given is None else (lambda c: given if c else 0.0)
    following = {g: c for g, c in counter.items() if g[:-1] == gram[:-1]}
    shorter = literal(levels, gram[1:], given)
    if not following:
        return shorter
    total = sum(following.values())
    left = sum(map(taken, following.values())) / total
    own = following.get(gram, 0)
    return (own - taken(own)) / total + left * shorter


@settings(max_examples=40, deadline=None)
@given(corpora, corpora)
def test_probabilities_are_those_of_the_equations(learnt, asked):
    model = fit_kneser_ney(encoded(learnt), SIZE)
    levels = counted(learnt)
    found = model.probabilities(encoded(asked)).tolist()
    expected = [
        literal(levels, tuple(text[n : n + 3]))
        for text in map(padded, asked)
        for n in range(len(text) - 2)
    ]
    assert found == pytest.approx(expected, rel=1e-9)
    with np.errstate(divide="ignore"):
        logs = np.log(expected)
    assert model.perplexity(encoded(asked)) == pytest.approx(np.exp(-logs.mean()))


@settings(max_examples=30, deadline=None)
@given(corpora, st.lists(st.integers(1, SIZE - 1), max_size=4))
def test_what_may_follow_sums_to_one(learnt, beginning):
    model = fit_kneser_ney(encoded(learnt), SIZE)
    total = 0.0
    for word in range(SIZE):
        told = model.probabilities(encoded([[*beginning, *([word] if word else [])]]))
        total += told[len(beginning)]
    assert total == pytest.approx(1.0)


def test_the_same_as_nltk_with_one_discount():
    lm = pytest.importorskip("nltk.lm")
    rng = np.random.default_rng(0)
    learnt = [rng.integers(1, SIZE, rng.integers(1, 7)).tolist() for _ in range(60)]
    model = fit_kneser_ney(encoded(learnt), SIZE, [(0.0,) * 3, (0.1,) * 3, (0.1,) * 3])
    peer = lm.KneserNeyInterpolated(3, discount=0.1)
    # nltk counts n-grams of all lengths at once; the shorter ones only say what follows what.
    grams = []
    for text in learnt:
        row = [str(word) for word in padded(text)]
        grams.append(
            [tuple(row[n : n + size]) for size in (1, 2, 3) for n in range(len(row) - size + 1)]
        )
    peer.fit(grams, vocabulary_text=[str(word) for word in range(SIZE + 1)])
    for text in learnt[:20]:
        told = model.probabilities(encoded([text]))
        row = [str(word) for word in padded(text)]
        for place in range(2, len(row)):
            # After two words of a text: nltk also counts the symbol that texts begin with.
            if place < 4:
                continue
            theirs = peer.score(row[place], row[place - 2 : place])
            assert told[place - 2] == pytest.approx(theirs, rel=0.02)
