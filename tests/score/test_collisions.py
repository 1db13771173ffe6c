"""Crafted collisions of hashes change no count of any metric."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

import deltableu
from deltableu.corpus import Item, Reference, ReferenceSet
from deltableu.mine import BM25, MiningPlan, mine_references
from deltableu.mine.diversity import maximal_marginal_relevance
from deltableu.score import make_metrics
from deltableu.score.engine.ngram_counts import count_ngrams
from deltableu.text import Tokenizer
from tests.text.collisions import COLLIDING_BIGRAMS, COLLIDING_WORDS, random_words

#: By the names that make_metrics takes; all that count words or n-grams of words.
METRICS = [
    "bleu", "delta-bleu", "signed-delta-bleu", "sentence-bleu", "ibleu", "rouge-1", "rouge-2",
    "rouge-l", "nist", "cider", "cider-d", "ter", "distinct-1", "distinct-2", "entropy-4",
    "message-overlap",
]  # fmt: skip

#: The words of both collisions, and words that are as long and collide with nothing.
HARMLESS = dict(
    zip(
        [*COLLIDING_WORDS, *" ".join(COLLIDING_BIGRAMS).split()],
        ["abcdefghijklmn", "bcdefghijklmno", "cdefghij", "defghijk", "efghijkl", "fghijklm"],
        strict=True,
    )
)


def renamed(text: str) -> str:
    return " ".join(HARMLESS.get(word, word) for word in text.split())


def corpus(name=str):
    """Hypotheses and references that differ in what collides; the same after renaming."""
    one, other = COLLIDING_WORDS
    two, another = COLLIDING_BIGRAMS
    hypotheses = [one, two, f"{one} {two} {one}", f"so {two} {other}", f"a {one} b"]
    references = [
        [other],
        [another],
        [f"{other} {another} {other}", f"{one} {another}"],
        [f"so {another} {one}", f"{two} {other} {other}"],
        [f"a {other} b", f"b {one} a"],
    ]
    weights = [[1.0], [0.5], [0.75, -0.25], [0.5, 1.0], [0.25, 0.5]]
    messages = [other, another, f"{another} {other}", one, two]
    return (
        list(map(name, hypotheses)),
        ReferenceSet(
            [list(map(name, row)) for row in references],
            weights,
            messages=list(map(name, messages)),
        ),
    )


@pytest.mark.parametrize("name", METRICS)
def test_colliding_words_score_as_words_that_do_not_collide(name):
    (metric,) = make_metrics([name], {})
    found, wanted = (
        metric.statistics(hypotheses, metric.encode(references))
        for hypotheses, references in (corpus(), corpus(renamed))
    )
    assert found.rows.tolist() == wanted.rows.tolist()
    assert found.score().score == wanted.score().score


@pytest.mark.parametrize(("both", "order"), [(COLLIDING_WORDS, 1), (COLLIDING_BIGRAMS, 2)])
def test_scores_are_those_of_sacrebleu(both, order):
    one, other = both
    bleu = sacrebleu.BLEU(max_ngram_order=order, smooth_method="none")
    assert deltableu.bleu([one], [[other]], order=order, smooth=None).score == 0.0
    assert bleu.corpus_score([one], [[other]]).score == 0.0
    hypotheses, references = corpus()
    first = [row[0] for row in references.texts]
    for metric, peer in (
        (deltableu.BLEU(order=order), sacrebleu.BLEU(max_ngram_order=order)),
        (*make_metrics(["chrf"], {}), sacrebleu.CHRF()),
        (*make_metrics(["chrf++"], {}), sacrebleu.CHRF(word_order=2)),
        (*make_metrics(["ter"], {}), sacrebleu.TER()),
    ):
        found = metric.compute(hypotheses, [[text] for text in first]).score().score
        assert found == pytest.approx(peer.corpus_score(hypotheses, [first]).score, abs=1e-9)


def test_any_weights_are_scored_without_collisions():
    """Reweighting counts n-grams in its own way."""
    metric = deltableu.DeltaBLEU(tokenize="none", order=2)
    weights = np.array([[1.0, 0.5, 0.75, -0.25, 0.5, 1.0, 0.25, 0.5]])
    rows = []
    for name in (str, renamed):
        hypotheses, references = corpus(name)
        rows.append(metric.reweighting(references, [hypotheses]).rows(weights).tolist())
    assert rows[0] == rows[1]


def test_mining_finds_no_other_word():
    one, other = COLLIDING_WORDS
    item = Item("1", (Reference("a", "x"),), message=one)
    plan = MiningPlan(BM25("utterance"))
    found = mine_references([item], [(f"{other} so", "yes"), (f"{one} so", "no")], plan=plan)
    assert [one.text for one in found.study.items[0].references] == ["x", "no"]
    assert maximal_marginal_relevance([one, one, other], [3.0, 2.0, 1.0], 2, 0.9) == [0, 2]


texts = st.lists(st.lists(st.sampled_from(sorted(HARMLESS)), max_size=8).map(" ".join), min_size=1)


@settings(max_examples=100)
@given(texts)
def test_counts_are_those_of_tuples_of_strings(many):
    tokens = Tokenizer("none").hash(many)
    for n, found in enumerate(count_ngrams(tokens, 4), start=1):
        rows = [text.split() for text in many]
        wanted = Counter(
            (text, tuple(row[i : i + n]))
            for text, row in enumerate(rows)
            for i in range(len(row) - n + 1)
        )
        words = [word for row in rows for word in row]
        spelt = [tuple(words[first : first + n]) for first in found.firsts]
        triples = zip(found.texts, found.places, found.counts, strict=True)
        assert {(text, spelt[place]): count for text, place, count in triples} == wanted


def birthday(number: int) -> None:
    """Score two halves of so many random words, of which only few are in both."""
    lines = random_words(number, 5, seed=number).decode().split("\n")
    shared = Counter(lines[: number // 2]) & Counter(lines[number // 2 :])
    ours, theirs = " ".join(lines[: number // 2]), " ".join(lines[number // 2 :])
    metric = deltableu.BLEU(order=1, tokenize="none")
    assert metric.compute([ours], [[theirs]]).rows[0, 0] == shared.total()
    (distinct,) = make_metrics(["distinct-1"], {"tokenize": "none"})
    found = distinct.compute([ours, theirs], [["x"], ["x"]]).score().score
    assert found == pytest.approx(100.0 * len(set(lines)) / number)


def test_random_words_match_only_themselves():
    birthday(100_000)


@pytest.mark.long
def test_ten_million_random_words_match_only_themselves():
    birthday(10_000_000)
