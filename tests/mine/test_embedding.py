"""Mining by meaning: the same as cosines of double precision, whatever the blocks and threads."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus.types import Item, Reference
from deltableu.errors import InputError
from deltableu.mine import Embedding, Encoder, MiningPlan, RowFilter, WordAverages, mine_references
from deltableu.mine import embedding as embedding_module
from deltableu.text import Texts
from deltableu.text.vectors import WordVectors
from tests.mine.brute_force import letters
from tests.text.test_words import words

EVERYTHING = RowFilter(min_words=0, junk=False)
VOCABULARY = ["a", "b", "c", "d", "e", "f", "g", "unk"]


def word_vectors(dimension=5, names=VOCABULARY, seed=0):
    matrix = np.random.default_rng(seed).normal(size=(len(names), dimension))
    matrix /= np.linalg.norm(matrix, axis=1, keepdims=True)
    return WordVectors({name: at for at, name in enumerate(names)}, matrix)


def mean_vector(text, vectors, unknown="unk"):
    """Literally: the mean of unit vectors of single precision, scaled to length 1."""
    rows = []
    for word in words(text):
        name = word if word in vectors.rows else "unk"
        if name in vectors.rows and (name == word or unknown == "unk"):
            rows.append(vectors.matrix[vectors.rows[name]].astype(np.float32).tolist())
    mean = [math.fsum(column) / len(rows) for column in zip(*rows, strict=True)] if rows else []
    length = math.sqrt(math.fsum(one * one for one in mean))
    return [one / length for one in mean] if length else []


def cosine(one, two):
    return math.fsum(a * b for a, b in zip(one, two, strict=True)) if one and two else 0.0


def scores_of(item, logs, similarity):
    vectors, unknown = similarity.source.words, similarity.source.unknown

    def against(text, others):
        query = mean_vector(text, vectors, unknown)
        return [cosine(mean_vector(other, vectors, unknown), query) for other in others]

    on_utterance = against(item.message, [one for one, _ in logs])
    on_response = against(item.references[0].text, [one for _, one in logs])
    if similarity.on != "both":
        return on_utterance if similarity.on == "utterance" else on_response
    alpha, rest = similarity.alpha, (1 - similarity.alpha) * similarity.epsilon
    if similarity.product == "plain":
        alpha, rest = 1.0, 0.0
    return [u * (alpha * r + rest) for u, r in zip(on_utterance, on_response, strict=True)]


def check(found, logs, queries, similarity, top):
    for item, new in zip(queries, found.study.items, strict=True):
        taken = {letters(item.references[0].text)}
        best: dict[object, float] = {}
        for (_, response), score in zip(logs, scores_of(item, logs, similarity), strict=True):
            key = letters(response)
            if key not in taken and score > best.get(key, 1e-9):
                best[key] = score
        wanted = sorted(best.values(), reverse=True)[:top]
        scores = [one.source.score for one in new.references[1:]]
        # What is 0 but for rounding may be there or not.
        scores = [score for score in scores if score > 1e-9]
        assert scores == pytest.approx(wanted, abs=1e-12)


texts = st.lists(st.sampled_from(["a", "b", "c", "d", "e", "f", "zzz", "!"]), max_size=6).map(
    " ".join
)
pairs = st.lists(st.tuples(texts, texts), min_size=1, max_size=40)
items = st.lists(st.tuples(texts, texts), min_size=1, max_size=5).map(
    lambda found: [
        Item(str(at), (Reference("own", response),), message=message)
        for at, (message, response) in enumerate(found)
    ]
)


@settings(max_examples=120, deadline=None)
@given(
    pairs,
    items,
    st.sampled_from(["utterance", "both", "response"]),
    st.sampled_from(["damped", "plain"]),
    st.sampled_from(["unk", "skip"]),
    st.integers(1, 4),
    st.sampled_from([1, 50, 10**6]),
    st.sampled_from([1, 3]),
    st.sampled_from([1, 7, 2048]),
)
def test_as_brute_force(logs, queries, on, product, unknown, top, part, threads, step):
    similarity = Embedding(WordAverages(word_vectors(), unknown), on, product)
    plan = MiningPlan(similarity, top=top, rows=EVERYTHING)
    whole = mine_references(queries, logs, plan=plan, threads=1)
    check(whole, logs, queries, similarity, top)
    names = ("_STEP", "_FIRST_STEP", "_CAPACITY")
    before = [getattr(embedding_module, name) for name in names]
    for name, value in zip(names, (step, max(1, step // 4), 3), strict=True):
        setattr(embedding_module, name, value)
    try:
        found = mine_references(queries, logs, plan=plan, partition_bytes=part, threads=threads)
    finally:
        for name, value in zip(names, before, strict=True):
            setattr(embedding_module, name, value)
    assert found.study.items == whole.study.items


def larger(dimension=50, rows=2500, count=30):
    rng = np.random.default_rng(1)
    names = [f"w{number}" for number in range(400)]
    vectors = word_vectors(dimension, [*names, "unk"], seed=2)

    def text():
        return " ".join(rng.choice(names, rng.integers(1, 12)))

    logs = [(text(), f"{text()} r{number}") for number in range(rows)]
    queries = [Item(str(at), (Reference("own", text()),), message=text()) for at in range(count)]
    return vectors, logs, queries


@pytest.mark.parametrize("on", ["utterance", "both"])
def test_as_brute_force_on_a_larger_log(on):
    vectors, logs, queries = larger(rows=600, count=8)
    similarity = Embedding(WordAverages(vectors), on)
    found = mine_references(queries, logs, plan=MiningPlan(similarity, rows=EVERYTHING))
    check(found, logs, queries, similarity, 15)


@pytest.mark.parametrize("engine", ["threads", "dask"])
def test_engines_and_blocks_agree(engine):
    vectors, logs, queries = larger()
    plan = MiningPlan(Embedding(WordAverages(vectors), "both"), top=10)
    wanted = mine_references(queries, logs, plan=plan, threads=1, partition_bytes=10**8)
    assert wanted.added["mined"] == 300
    if engine == "dask":
        pytest.importorskip("distributed")
        found = mine_references(
            queries, logs, plan=plan, engine="dask", threads=2, partition_bytes=40_000
        )
        assert found.study.items == wanted.study.items
        return
    for part in (3_000, 60_000):
        for threads in (1, 2, 4):
            found = mine_references(queries, logs, plan=plan, threads=threads, partition_bytes=part)
            assert found.study.items == wanted.study.items


def test_ties_go_by_position():
    logs = [("a b", f"answer {number}") for number in range(40)]
    item = Item("1", (Reference("own", "?"),), message="b a")
    plan = MiningPlan(Embedding(WordAverages(word_vectors())), top=5)
    for part in (1, 200, 10**6):
        found = mine_references([item], logs, plan=plan, partition_bytes=part, threads=3)
        assert [one.text for one in found.study.items[0].references[1:]] == [
            f"answer {number}" for number in range(5)
        ]


def test_unknown_words():
    """The rule of the upsilon-BLEU code: a word without a vector has that of unk."""
    vectors = word_vectors()
    texts = Texts.of(["a zzz", "a unk", "a", "zzz", "", "!"])
    as_unk = WordAverages(vectors).vectors(texts)
    assert as_unk[0] == pytest.approx(as_unk[1], abs=0)
    assert (np.linalg.norm(as_unk, axis=1) > 0.99).tolist() == [True] * 4 + [False] * 2
    skipped = WordAverages(vectors, "skip").vectors(texts)
    assert skipped[0] == pytest.approx(skipped[2], abs=0)
    assert not skipped[3].any()
    without = word_vectors(names=["a", "b"])
    assert not WordAverages(without).vectors(texts)[3].any()


def test_words_of_a_vector_file_are_found_as_texts_are_cut():
    vectors = word_vectors(names=["The", "the", "u.s.", "don't", "É"])
    source = WordAverages(vectors)
    found = source.vectors(Texts.of(["THE", "don’t", "é", "u", "u.s."]))
    for text, row in ((0, 0), (1, 3), (2, 4)):
        assert found[text] == pytest.approx(vectors.matrix[row], abs=1e-6)
    assert not found[3:].any()


def lengths(texts):
    return [[len(text) + 1.0, text.count("a"), 0.5] for text in texts]


def test_any_function_is_an_encoder():
    logs = [("aaa", "one"), ("bbbbbbbbbbbbbb", "two"), ("aab", "three")]
    item = Item("1", (Reference("own", "?"),), message="aaa")
    for encode in (lengths, "tests.mine.test_embedding:lengths"):
        plan = MiningPlan(Embedding(Encoder(encode)), top=2)
        found = mine_references([item], logs, plan=plan)
        assert [one.text for one in found.study.items[0].references[1:]] == ["one", "three"]
        assert "encoder:tests.mine.test_embedding:lengths" in found.signature


def test_the_encoder_that_ships_in_a_package():
    pytest.importorskip("wordllama")
    logs = [
        ("what time does the train leave?", "At noon."),
        ("do you like pizza?", "I love it."),
        ("when does the bus depart?", "In ten minutes."),
    ]
    item = Item("1", (Reference("own", "?"),), message="what time is the departure of the train?")
    source = Encoder("deltableu.text.wordllama_encoder:encode", "wordllama")
    found = mine_references([item], logs, plan=MiningPlan(Embedding(source), top=2))
    assert [one.text for one in found.study.items[0].references[1:]] == [
        "At noon.",
        "In ten minutes.",
    ]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Encoder("nothing"), "package.module:function"),
        (lambda: Encoder("no.such.module:f"), "cannot be loaded"),
        (lambda: Encoder("math:pi"), "no function"),
        (lambda: Encoder(3), "must be a function"),
        (lambda: Encoder(lambda texts: [1.0]).vectors(Texts.of(["a"])), "shape"),
        (lambda: Encoder(lambda texts: [["x"]]).vectors(Texts.of(["a"])), "array of numbers"),
        (lambda: Encoder(lambda texts: [[np.nan]]).vectors(Texts.of(["a b"])), "'a b'"),
        (lambda: Encoder(lambda: None).vectors(Texts.of(["a"])), "failed on 1 texts: TypeError"),
        (lambda: WordAverages(word_vectors(), "zero"), "unknown must be"),
        (lambda: WordAverages(word_vectors(names=["!", "."])), "no word"),
        (lambda: Embedding(WordAverages(word_vectors()), "context"), "on must be one of"),
        (lambda: Embedding(WordAverages(word_vectors()), alpha=2.0), "alpha must lie"),
    ],
)
def test_bad_input_is_one_sentence(call, sentence):
    with pytest.raises(InputError, match=sentence):
        call()
