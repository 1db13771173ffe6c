"""TER: sacreBLEU's numbers, over any segments and with any number of references."""

from __future__ import annotations

import gzip
import os
import random
import signal
import threading
import time
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics import lib_ter, ter
from sacrebleu.tokenizers.tokenizer_ter import TercomTokenizer

from deltableu.score.metrics.ter import TER, TERSimilarity, count_edits
from tests.score.corpora import random_corpus
from tests.uncompiled import run_uncompiled


def assert_equals_sacrebleu(hypotheses, references, *, lowercase=True):
    rows = TER(lowercase=lowercase).compute(hypotheses, references)
    peer = ter.TER(case_sensitive=not lowercase)
    streams = list(zip_longest(*references))
    assert rows.score().score == peer.corpus_score(hypotheses, streams).score
    expected = [
        peer.sentence_score(text, row).score
        for text, row in zip(hypotheses, references, strict=True)
    ]
    assert rows.segment_scores().tolist() == expected


@pytest.mark.parametrize("lowercase", [True, False])
def test_small_cases_equal_sacrebleu(lowercase):
    hypotheses = ["the cat sat", "d e a b c f", "Yes , of Course", "", "a b", "", " \u3000 "]
    references = [
        ["the cat sat down", "a cat", "the dog sat"],
        ["a b c d e f"],
        ["yes , of course", "sure"],
        ["not empty"],
        [""],
        [""],
        ["", "x"],
    ]
    assert_equals_sacrebleu(hypotheses, references, lowercase=lowercase)


@pytest.mark.parametrize("seed", [1, 2])
def test_random_corpora_equal_sacrebleu(seed):
    corpus = random_corpus(seed, 40, words=5)
    assert_equals_sacrebleu(corpus.hypotheses, corpus.references)


@pytest.mark.parametrize("system", ["FBK.4870", "online-F.0"])
def test_real_systems_equal_sacrebleu(system, data):
    folder = data / "wmt17" / "en-de-cased"
    if not folder.is_dir():
        pytest.skip(f"the cased WMT'17 outputs are not at {folder}")

    def lines(name):
        return gzip.decompress((folder / name).read_bytes()).decode().split("\n")[:200]

    hypotheses, reference = (
        lines(name) for name in (f"newstest2017.{system}.en-de.gz", "newstest2017-ende-ref.de.gz")
    )
    rows = TER().compute(hypotheses, [[text] for text in reference])
    assert rows.score().score == ter.TER().corpus_score(hypotheses, [reference]).score


@pytest.mark.parametrize(
    ("hypothesis", "references", "score"),
    [
        ("the cat sat", ["the cat sat down"], 25.0),
        ("d e a b c f", ["a b c d e f"], 100 / 6),  # one shift
        ("a b", ["a b"], 0.0),
        ("a b c d", ["x"], 400.0),
        ("a", [""], 100.0),
        ("", [""], 0.0),
        ("a b", ["a b", "a b c d e f"], 0.0),
        ("a c", ["a b", "x y z u"], 100 / 3),  # one edit to the closest, over the mean length
    ],
)
def test_scores_by_hand(hypothesis, references, score):
    assert TER().compute([hypothesis], [references]).score().score == pytest.approx(score)


def test_a_corpus_is_edits_over_words():
    rows = TER().compute(["a b", "x"], [["a c"], ["x y z u"]])
    assert rows.rows.tolist() == [[1, 2], [3, 4]]
    assert rows.score().score == pytest.approx(400 / 6)
    assert rows[[1]].score().score == 75.0


def test_lower_is_better_and_there_is_no_upper_limit():
    assert TER.higher_is_better is False
    assert TER.limits == (0.0, float("inf"))


def test_signature():
    mixed = TER(lowercase=False).compute(["a"], [["a"]]).score().signature
    lower = TER().compute(["a"], [["a"]]).score().signature
    assert str(lower).startswith("metric:ter|case:lower|tok:tercom|")
    assert mixed["case"] == "mixed"


def test_as_a_similarity_it_is_one_minus_ter_and_never_below_0():
    hypotheses = ["the cat sat", "a b c d", ""]
    references = ["the cat sat down", "the cat sat", "x", "", "a"]
    owners = np.array([0, 0, 1, 2, 2])
    found = TERSimilarity().pairs(hypotheses, references, owners)
    assert found.tolist() == [0.75, 1.0, 0.0, 1.0, 0.0]


# --- Edit for edit --------------------------------------------------------------------------------


def edits(hypothesis, reference):
    return count_edits([hypothesis], [reference], np.array([0]))[0].item()


def assert_same_edits(hypothesis, reference):
    assert edits(hypothesis, reference) == lib_ter.translation_edit_rate(hypothesis, reference)[0]


@st.composite
def word_salads(draw):
    """Two texts of few words: at random, or one made of the other by moves, cuts and copies."""
    word = st.sampled_from("abcdefghijklmnopqrstuvwxyz"[: draw(st.sampled_from([1, 2, 3, 6, 26]))])
    reference = draw(st.lists(word, max_size=24))
    if draw(st.booleans()):
        return draw(st.lists(word, max_size=24)), reference
    hypothesis = list(reference)
    for _ in range(draw(st.integers(1, 4))):
        places = [draw(st.integers(0, len(hypothesis))) for _ in range(3)]
        first, last = sorted(places[:2])
        part = hypothesis[first:last]
        if draw(st.booleans()):
            del hypothesis[first:last]
        if draw(st.booleans()):
            hypothesis[places[2] : places[2]] = part
    return hypothesis, reference


@given(word_salads())
@settings(max_examples=150, deadline=None)
def test_every_edit_is_sacrebleus(texts):
    assert_same_edits(*texts)


@pytest.mark.long
@given(word_salads())
@settings(max_examples=20_000, deadline=None)
def test_every_edit_is_sacrebleus_in_many_texts(texts):
    assert_same_edits(*texts)


def shuffled(words, rng, moves):
    """The words after moves of up to 13 of them, over up to 70."""
    found = list(words)
    for _ in range(moves):
        start = rng.randrange(len(found))
        part = found[start : start + rng.randrange(1, 14)]
        del found[start : start + len(part)]
        place = max(0, min(len(found), start + rng.randrange(-70, 71)))
        found[place:place] = part
    return found


def long_pairs(sizes, seed=0):
    rng = random.Random(seed)
    found = []
    for size in sizes:
        words = [str(int(rng.paretovariate(0.9)) % 400) for _ in range(size)]
        found.append((shuffled(words, rng, size // 12), words))
        found.append(([str(int(rng.paretovariate(0.9)) % 400) for _ in range(size)], words))
    return found


#: sacreBLEU tries 1,000 shifts of up to 10 words over up to 50 places, and looks 25 words to each
#: side of the diagonal, or farther where that is too steep.
@pytest.mark.parametrize(
    ("hypothesis", "reference"),
    [
        *long_pairs([20, 65]),
        (["a"] * 30 + ["b"] * 30, ["b"] * 30 + ["a"] * 30),
        (["a", "b"] * 40, ["b", "a"] * 40),
        (["a"], list("abcdefghij") * 12),
        (["a", "j", "a"], list("abcdefghij") * 17),
        (list("abcdefghij") * 12, ["j", "a"]),
        ([*"abcdefghijklm", *map(str, range(60))], [*map(str, range(60)), *"abcdefghijklm"]),
        (["x", *map(str, range(80))], [*map(str, range(80)), "x"]),
        ([str(n) for n in range(49)], ["x"]),  # 49 * (1 / 49) < 1
    ],
)
def test_limits_are_sacrebleus(hypothesis, reference):
    assert_same_edits(hypothesis, reference)


@pytest.mark.long
@pytest.mark.parametrize(("hypothesis", "reference"), long_pairs([110, 200, 400], seed=1))
def test_long_lines_are_sacrebleus(hypothesis, reference):
    assert_same_edits(hypothesis, reference)


#: Whose lower case is longer, or depends on what follows; punctuation, CJK and odd spaces.
LETTERS = "aÀßI\u0130\u03a3.,;(&\u3042\u30a2\u4e2d\uff0c\u3002 \t\u3000\x85"


@given(
    st.lists(
        st.text(LETTERS, max_size=12),
        max_size=3,
    ),
    st.text(LETTERS, max_size=12),
    st.fixed_dictionaries(
        {name: st.booleans() for name in ("normalized", "no_punct", "asian_support")}
    ),
    st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_any_tokens_and_letters(references, hypothesis, options, lowercase):
    tokenizer = TercomTokenizer(case_sensitive=not lowercase, **options)
    own, others = (
        [tokenizer(text.rstrip()).split() for text in texts] for texts in ([hypothesis], references)
    )
    peer = ter.TER(case_sensitive=not lowercase, **options)
    if references:
        found = count_edits(own * len(others), others, np.arange(len(others)))[0].min()
        assert found == peer.sentence_score(hypothesis, references).num_edits
        if not any(options.values()):
            assert_equals_sacrebleu([hypothesis], [references], lowercase=lowercase)


@pytest.mark.parametrize("steps", [1, 50, 3000])
def test_however_often_the_kernel_comes_up_for_air(steps, monkeypatch):
    pairs = long_pairs([30, 60], seed=3)
    owners = np.arange(len(pairs))
    whole = count_edits(*zip(*pairs, strict=True), owners)[0]
    monkeypatch.setattr("deltableu.score.metrics.ter._STEPS", steps)
    assert count_edits(*zip(*pairs, strict=True), owners)[0].tolist() == whole.tolist()


def results():
    corpus = random_corpus(5, 20, words=4)
    pairs = long_pairs([25], seed=4)
    found = count_edits(*zip(*pairs, strict=True), np.arange(len(pairs)))[0].tolist()
    return [TER().compute(corpus.hypotheses, corpus.references).rows.tolist(), found]


def test_edits_without_a_compiler():
    script = "import json; from tests.score.test_ter import results; print(json.dumps(results()))"
    assert run_uncompiled(script) == results()


@pytest.mark.skipif(bool(os.environ.get("DELTABLEU_UNCOMPILED")), reason="is about speed")
def test_a_line_of_2000_words_takes_no_time():
    """sacreBLEU takes minutes; its numbers of edits, computed once."""
    pairs = long_pairs([2000], seed=2)
    began = time.perf_counter()
    assert [edits(*pair) for pair in pairs] == [898, 1202]
    assert time.perf_counter() - began < 5


@pytest.mark.skipif(bool(os.environ.get("DELTABLEU_UNCOMPILED")), reason="is about speed")
def test_ctrl_c_is_heard():
    """200,000 words in random order."""
    rng = random.Random(0)
    words = [str(rng.randrange(1000)) for _ in range(200_000)]
    other = rng.sample(words, len(words))
    began = time.perf_counter()
    threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
    with pytest.raises(KeyboardInterrupt):
        count_edits([other] * 50, [words] * 50, np.arange(50))
    assert time.perf_counter() - began < 5
