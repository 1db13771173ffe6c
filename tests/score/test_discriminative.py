"""Any similarity with weights: the two formulas, written out, and what follows from them."""

from __future__ import annotations

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import ter

from deltableu.errors import InputError
from deltableu.score import Discriminative, FunctionSimilarity, TableSimilarity
from deltableu.score.engine.similarity import VectorSimilarity
from deltableu.score.metrics.chrf import ChrF, ChrFPlusPlus, ChrFSimilarity
from deltableu.score.metrics.discriminative import (
    DeltaChrF,
    DeltaChrFPlusPlus,
    DeltaRougeL,
    DeltaTable,
    DeltaTER,
    DeltaVectors,
)
from deltableu.score.metrics.rouge import RougeL, RougeLSimilarity
from deltableu.score.metrics.ter import TERSimilarity
from tests.score.corpora import corpora, random_corpus

POOLS = ("mean", "best")


def shared_letters(hypothesis, reference):
    """A similarity that nobody would use, but everybody can check."""
    one, two = set(hypothesis.split()), set(reference.split())
    return len(one & two) / max(1, len(one | two))


def one_ter(hypothesis, reference):
    return 1 - min(ter.TER().sentence_score(hypothesis, [reference]).score / 100, 1)


#: Each similarity with what gives its plain value for one pair.
SIMILARITIES = {
    "chrf": ("chrf", lambda h, r: ChrF().compute([h], [[r]]).score().score / 100),
    "chrf++": ("chrf++", lambda h, r: ChrFPlusPlus().compute([h], [[r]]).score().score / 100),
    "rouge-l": (
        RougeLSimilarity(tokenize="none"),
        lambda h, r: RougeL(tokenize="none").compute([h], [[r]]).score().score / 100,
    ),
    "ter": ("ter", one_ter),
    "function": (shared_letters, shared_letters),
}


def formula(pool, weights, similarities):
    """Section 8 of the decisions, word for word."""
    good = [(w, s) for w, s in zip(weights, similarities, strict=True) if w > 0]
    bad = [(-w, s) for w, s in zip(weights, similarities, strict=True) if w < 0]
    if pool == "mean":
        earned = sum(w * s for w, s in good) / len(good) if good else 0
        lost = sum(w * s for w, s in bad) / len(bad) if bad else 0
        return 100 * (earned - lost)
    if not good and not bad:
        return 0.0
    earned = max((w * s for w, s in good), default=0)
    lost = max((w * s for w, s in bad), default=0)
    return 100 * (earned - lost) / max(w for w, _ in good + bad)


weights = st.one_of(st.integers(-10, 10).map(lambda w: w / 10), st.floats(-1, 1, width=32))


@st.composite
def tables(draw):
    """Ragged weights and similarities; a pool may be empty, or both."""
    pair = st.tuples(weights, st.one_of(st.sampled_from([0.0, 1.0]), st.floats(0, 1, width=32)))
    return draw(st.lists(st.lists(pair, min_size=1, max_size=6), min_size=1, max_size=5))


def scored(rows, pool):
    """Scores of items given as (weight, similarity) pairs."""
    texts = [[f"{i} {j}" for j in range(len(row))] for i, row in enumerate(rows)]
    table = {
        (f"{i}", texts[i][j]): similarity
        for i, row in enumerate(rows)
        for j, (_, similarity) in enumerate(row)
    }
    numbers = [[weight for weight, _ in row] for row in rows]
    hypotheses = [f"{i}" for i in range(len(rows))]
    return Discriminative(table, pool=pool).compute(hypotheses, texts, numbers)


@pytest.mark.parametrize("pool", POOLS)
@settings(max_examples=150, deadline=None)
@given(rows=tables())
def test_the_formula_as_it_was_decided(pool, rows):
    found = scored(rows, pool)
    expected = [formula(pool, *zip(*row, strict=True)) for row in rows]
    assert found.segment_scores() == pytest.approx(expected, rel=1e-9, abs=1e-9)
    assert found.score().score == pytest.approx(np.mean(expected), rel=1e-9, abs=1e-9)
    low, high = Discriminative.limits
    assert all(low <= score <= high for score in found.segment_scores())


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("name", SIMILARITIES)
@settings(max_examples=12, deadline=None)
@given(corpus=corpora(items=3))
def test_similarities_of_text_enter_the_formula(name, pool, corpus):
    similarity, plain = SIMILARITIES[name]
    rows = Discriminative(similarity, pool=pool).compute(
        corpus.hypotheses, corpus.references, corpus.weights
    )
    expected = [
        formula(pool, weights, [plain(text, reference) for reference in references])
        for text, references, weights in zip(
            corpus.hypotheses, corpus.references, corpus.weights, strict=True
        )
    ]
    assert rows.segment_scores() == pytest.approx(expected, rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("name", SIMILARITIES)
@settings(max_examples=12, deadline=None)
@given(corpus=corpora(items=3))
def test_with_all_weights_1_it_is_the_plain_mean_or_best(name, corpus):
    """Exactly: a weight of 1 changes no bit of a similarity."""
    similarity, _ = SIMILARITIES[name]
    mean, best = (Discriminative(similarity, pool=pool) for pool in POOLS)
    arguments = (corpus.hypotheses, corpus.references, corpus.ones)
    counts = np.array([len(row) for row in corpus.references])
    starts = np.cumsum(counts) - counts
    flat = [text for row in corpus.references for text in row]
    owners = np.repeat(np.arange(len(counts)), counts)
    pairs = mean.similarity.pairs(corpus.hypotheses, flat, owners)
    plain_mean = 100 * (np.add.reduceat(pairs, starts) / counts)
    plain_best = 100 * np.maximum.reduceat(pairs, starts)
    assert mean.compute(*arguments).segment_scores().tolist() == plain_mean.tolist()
    assert best.compute(*arguments).segment_scores().tolist() == plain_best.tolist()


@pytest.mark.parametrize(
    ("similarity", "plain"),
    [
        ("chrf", ChrF()),
        ("chrf++", ChrFPlusPlus()),
        (ChrFSimilarity(lowercase=True, beta=1.0), ChrF(lowercase=True, beta=1.0)),
        ("rouge-l", RougeL()),
        (RougeLSimilarity(tokenize="13a"), RougeL(tokenize="13a")),
    ],
)
def test_the_best_with_all_weights_1_is_the_plain_metric(similarity, plain):
    corpus = random_corpus(2, 80)
    arguments = (corpus.hypotheses, corpus.references)
    found = Discriminative(similarity, pool="best").compute(*arguments, corpus.ones)
    assert found.segment_scores() == pytest.approx(plain.compute(*arguments).segment_scores())


@pytest.mark.parametrize("pool", POOLS)
@settings(max_examples=80, deadline=None)
@given(rows=tables(), shuffle=st.randoms(use_true_random=False))
def test_the_order_of_references_does_not_matter(pool, rows, shuffle):
    turned = [shuffle.sample(row, len(row)) for row in rows]
    found, other = scored(rows, pool), scored(turned, pool)
    assert found.segment_scores() == pytest.approx(other.segment_scores(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize("pool", POOLS)
@settings(max_examples=80, deadline=None)
@given(rows=tables(), similarity=st.floats(0, 1), place=st.integers(0, 6))
def test_references_of_weight_0_are_ignored(pool, rows, similarity, place):
    more = [[*row[:place], (0.0, similarity), *row[place:]] for row in rows]
    found, other = scored(rows, pool), scored(more, pool)
    assert found.segment_scores() == pytest.approx(other.segment_scores(), rel=1e-12, abs=1e-12)


@pytest.mark.parametrize(
    ("row", "mean", "best"),
    [
        ([(1.0, 0.5)], 50, 50),
        ([(-1.0, 0.5)], -50, -50),
        ([(0.5, 0.5)], 25, 50),
        ([(-0.5, 0.5)], -25, -50),
        ([(0.0, 0.5)], 0, 0),
        ([(0.0, 1.0), (-0.0, 1.0)], 0, 0),
        ([(1.0, 1.0), (-1.0, 1.0)], 0, 0),
        ([(1.0, 1.0), (-1.0, 0.0)], 100, 100),
        ([(1.0, 0.0), (-1.0, 1.0)], -100, -100),
        ([(1.0, 1.0), (1.0, 0.0)], 50, 100),
        ([(0.2, 1.0), (0.8, 0.5)], 30, 50),
        ([(0.5, 1.0), (-0.25, 1.0), (-0.25, 0.0)], 37.5, 50),
        ([(0.4, 1.0), (-0.8, 0.25)], 20, 25),
    ],
)
def test_scores_by_hand(row, mean, best):
    assert scored([row], "mean").score().score == pytest.approx(mean)
    assert scored([row], "best").score().score == pytest.approx(best)


@pytest.mark.parametrize("pool", POOLS)
def test_turning_all_weights_turns_the_score(pool):
    rng = random.Random(4)
    rows = [[(rng.uniform(-1, 1), rng.random()) for _ in range(4)] for _ in range(30)]
    turned = [[(-weight, similarity) for weight, similarity in row] for row in rows]
    found, other = (scored(one, pool).segment_scores() for one in (rows, turned))
    assert found == pytest.approx(-other)


@pytest.mark.parametrize("pool", POOLS)
@pytest.mark.parametrize("similarity", ["chrf", "chrf++", "rouge-l", "ter"])
def test_saying_the_good_earns_and_saying_the_bad_costs(similarity, pool):
    references, numbers = [["yes I like it a lot", "no I hate it"]], [[1.0, -1.0]]
    metric = Discriminative(similarity, pool=pool)
    encoded = metric.encode(references, numbers)
    good, bad = (metric.statistics([text], encoded).score().score for text in references[0])
    assert -100 <= bad < 0 < good <= 100


@pytest.mark.parametrize("pool", POOLS)
def test_rows_of_subsets_are_means_of_their_segments(pool):
    corpus = random_corpus(6, 50)
    rows = Discriminative("chrf", pool=pool).compute(
        corpus.hypotheses, corpus.references, corpus.weights
    )
    segments = rows.segment_scores()
    assert rows.score().score == pytest.approx(segments.mean())
    for kept in (slice(3, 9), [5], [0, 0, 7], np.arange(50) % 3 == 0):
        assert rows[kept].score().score == pytest.approx(segments[kept].mean())
    interval = rows.bootstrap(200, rng=1).interval
    assert interval.low < rows.score().score < interval.high


# --- Signatures -----------------------------------------------------------------------------------


def signature(metric):
    return metric.compute(["a b"], [["a b", "c"]], [[1.0, -0.5]]).score().signature


@pytest.fixture
def vectors(tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("a 1 0\nb 0 1\n")
    return str(path)


def test_signature_names_similarity_pool_and_average():
    found = str(signature(Discriminative("chrf++")))
    assert found.startswith("metric:delta-chrf++|pool:mean|average:segments|")
    assert "|weights:given|weighthash:" in found
    assert signature(Discriminative(shared_letters))["metric"] == "delta-shared_letters"
    labelled = FunctionSimilarity(shared_letters, label="letters")
    assert signature(Discriminative(labelled))["metric"] == "delta-letters"


def test_every_setting_changes_the_signature(vectors, tmp_path):
    other = tmp_path / "other.txt"
    other.write_text("a 0 1\nb 1 1\n")
    metrics = [
        Discriminative("chrf"),
        Discriminative("chrf", pool="best"),
        Discriminative("chrf++"),
        Discriminative("rouge-l"),
        Discriminative("ter"),
        Discriminative(ChrFSimilarity(lowercase=True)),
        Discriminative(ChrFSimilarity(char_order=5)),
        Discriminative(ChrFSimilarity(word_order=1)),
        Discriminative(ChrFSimilarity(beta=1.0)),
        Discriminative(RougeLSimilarity(tokenize="13a")),
        Discriminative(shared_letters),
        Discriminative(FunctionSimilarity(shared_letters, label="v2")),
        Discriminative(VectorSimilarity(vectors)),
        Discriminative(VectorSimilarity(str(other))),
        Discriminative(VectorSimilarity(vectors, tokenize="none")),
        Discriminative(VectorSimilarity(vectors, lowercase=False)),
    ]
    assert len({str(signature(metric)) for metric in metrics}) == len(metrics)


def test_scores_from_different_tables_are_not_called_comparable():
    one, two = (
        Discriminative({("a b", "a b"): 1.0, ("a b", "c"): score}) for score in (0.25, 0.75)
    )
    assert signature(one) != signature(two)


def test_weights_change_the_signature():
    metric = Discriminative("chrf")
    one, two = (
        str(metric.compute(["a"], [["a", "b"]], [row]).score().signature)
        for row in ([1.0, -1.0], [1.0, -0.9])
    )
    assert one != two


@pytest.mark.parametrize(
    ("named", "spelt"),
    [
        (DeltaChrF(), Discriminative("chrf")),
        (DeltaChrF(lowercase=True), Discriminative(ChrFSimilarity(lowercase=True))),
        (DeltaChrFPlusPlus(pool="best"), Discriminative("chrf++", pool="best")),
        (DeltaRougeL(), Discriminative(RougeLSimilarity())),
        (DeltaTER(), Discriminative(TERSimilarity())),
    ],
)
def test_metrics_by_name_are_those_spelt_out(named, spelt):
    corpus = random_corpus(7, 12)
    arguments = (corpus.hypotheses, corpus.references, corpus.weights)
    assert named.compute(*arguments).score() == spelt.compute(*arguments).score()


# --- Bad input ------------------------------------------------------------------------------------


def refuses(metric, hypotheses=("h0", "h1"), references=(["r0"], ["r1", "r2"])):
    numbers = [[1.0] * len(row) for row in references]
    with pytest.raises(InputError) as raised:
        metric.compute(list(hypotheses), list(references), numbers)
    message = str(raised.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("value", [-0.01, 1.01, 7, float("nan"), float("inf"), None])
@pytest.mark.parametrize("batched", [False, True])
def test_values_outside_0_to_1_name_the_pair(value, batched):
    def one(hypothesis, reference):
        return value if (hypothesis, reference) == ("h1", "r2") else 0.5

    def many(hypotheses, references):
        return [one(*pair) for pair in zip(hypotheses, references, strict=True)]

    similarity = FunctionSimilarity(many if batched else one, batched=batched, label="judge")
    message = refuses(Discriminative(similarity))
    assert "'judge'" in message
    assert "'h1'" in message
    assert "'r2'" in message
    assert "[0, 1]" in message


@pytest.mark.parametrize("value", ["high", [], {}, object(), [0.1, 0.2], 1j])
def test_values_that_are_no_numbers(value):
    assert "'judge'" in refuses(
        Discriminative(FunctionSimilarity(lambda h, r: value, label="judge"))
    )


@pytest.mark.parametrize("values", [[], [0.5], [0.5] * 4, 0.5, [[0.5]] * 3])
def test_a_wrong_number_of_values(values):
    similarity = FunctionSimilarity(lambda h, r: values, batched=True, label="judge")
    message = refuses(Discriminative(similarity))
    assert "'judge'" in message
    assert "3 pairs" in message


@pytest.mark.parametrize("size", [0, -1])
def test_a_batch_size_that_is_none(size):
    with pytest.raises(InputError, match="batch_size"):
        FunctionSimilarity(shared_letters, batch_size=size)


def test_a_table_without_a_pair_names_it():
    table = {("h0", "r0"): 1.0, ("h1", "r1"): 0.5}
    message = refuses(Discriminative(table))
    assert "'h1'" in message
    assert "'r2'" in message
    assert "'h1'" in refuses(Discriminative(TableSimilarity(table, label="mine")))


@pytest.mark.parametrize("score", [1.5, -1, float("nan"), "x"])
def test_a_table_with_wrong_values(score):
    table = {("h0", "r0"): 1.0, ("h1", "r1"): 0.5, ("h1", "r2"): score}
    assert "'table'" in refuses(Discriminative(table))


@pytest.mark.parametrize("given", ["chfr", "", "bleu", "delta-chrf"])
def test_unknown_similarities(given):
    with pytest.raises(InputError, match="choose from chrf, chrf") as raised:
        Discriminative(given)
    assert repr(given) in str(raised.value)


@pytest.mark.parametrize("given", [None, 5, 0.5])
def test_things_that_are_no_similarity(given):
    with pytest.raises(InputError, match="a similarity is"):
        Discriminative(given)


@pytest.mark.parametrize("pool", ["median", "", None, "MEAN"])
def test_unknown_pools(pool):
    with pytest.raises(InputError, match="pool must be one of mean, best"):
        Discriminative("chrf", pool=pool)


@pytest.mark.parametrize(
    ("metric", "needed"), [(DeltaVectors, "word vectors"), (DeltaTable, "table of similarities")]
)
def test_metrics_that_need_a_file_say_so(metric, needed):
    with pytest.raises(InputError, match=needed):
        metric()


@pytest.mark.parametrize(
    ("numbers", "said"),
    [
        (None, "needs a weight for every reference"),
        ([[1.0], [0.5]], "there are 1 weights, but 2 references"),
        ([[1.0], [0.5, 1.5]], "1.5"),
        ([[1.0], [0.5, float("nan")]], "nan"),
        ([[1.0], [0.5, None]], "has no weight yet"),
    ],
)
def test_weights_that_cannot_be_used(numbers, said):
    with pytest.raises(InputError) as raised:
        Discriminative("chrf").compute(["h0", "h1"], [["r0"], ["r1", "r2"]], numbers)
    assert said in str(raised.value)
