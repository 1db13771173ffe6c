"""chrF and chrF++: sacreBLEU's scores to the last bit, with and without a compiler."""

from __future__ import annotations

import csv
import gzip
from collections import Counter
from itertools import zip_longest

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from deltableu.errors import InputError
from deltableu.score.engine.overlap import common_subsequences, ngram_counts, shared_ngrams
from deltableu.score.metrics.chrf import ChrF, ChrFPlusPlus, chrf_statistics
from deltableu.text.characters import characters, chrf_words
from deltableu.text.tokens import Tokenizer
from tests.score.corpora import random_corpus
from tests.text.unicode import WHITE_SPACE, random_strings
from tests.uncompiled import run_uncompiled

# Few letters, so that n-grams match and repeat; marks at word edges; characters of one to four
# bytes, one that combines, and some whose lower case is longer or depends on what follows.
ALPHABET = [*"aaabbbAB" * 4, *" " * 12, *"..,!()'-\"", *"éÉßİΣ中\u0301😀𝔘", *WHITE_SPACE]
texts = st.text(st.sampled_from(ALPHABET), max_size=14)


@st.composite
def corpora(draw):
    """Hypotheses and references: ragged, some texts empty or nothing but white space."""
    items = draw(st.integers(1, 4))
    hypotheses = draw(st.lists(texts, min_size=items, max_size=items))
    rows = st.lists(texts, min_size=1, max_size=4)
    return hypotheses, draw(st.lists(rows, min_size=items, max_size=items))


options = st.fixed_dictionaries(
    {
        "char_order": st.integers(1, 7),
        "word_order": st.integers(0, 3),
        "beta": st.sampled_from([1, 2, 3, 0.5, 2.7]),
        "lowercase": st.booleans(),
    }
)


def assert_equals_sacrebleu(metric, peer, hypotheses, references):
    rows = metric.compute(hypotheses, references)
    streams = list(zip_longest(*references))
    assert rows.score().score == peer.corpus_score(hypotheses, streams).score
    expected = [
        peer.sentence_score(text, row).score
        for text, row in zip(hypotheses, references, strict=True)
    ]
    assert rows.segment_scores().tolist() == expected


@settings(max_examples=150, deadline=None)
@given(corpora(), options)
def test_equals_sacrebleu_with_any_options(corpus, chosen):
    assert_equals_sacrebleu(ChrF(**chosen), CHRF(**chosen), *corpus)


@settings(max_examples=60, deadline=None)
@given(corpora())
def test_defaults_equal_sacrebleu(corpus):
    assert_equals_sacrebleu(ChrF(), CHRF(), *corpus)
    assert_equals_sacrebleu(ChrFPlusPlus(), CHRF(word_order=2), *corpus)


@pytest.mark.parametrize("word_order", [0, 2])
def test_odd_strings_equal_sacrebleu(word_order):
    strings = random_strings(600, seed=8)
    # A reference is the hypothesis with another ending, so that much of it matches.
    pairs = [
        (one, [one[: len(one) // 2] + two, two])
        for one, two in zip(strings[::2], strings[1::2], strict=True)
    ]
    hypotheses, references = map(list, zip(*pairs, strict=True))
    metric, peer = ChrF(word_order=word_order), CHRF(word_order=word_order)
    assert_equals_sacrebleu(metric, peer, hypotheses, references)


@pytest.mark.parametrize("mark", [chr(0), chr(1), chr(0x7F), "\ufeff", "\u200b", "\u0301"])
def test_characters_that_cannot_be_seen_count_too(mark):
    hypotheses = [mark * 2, f"a{mark}b", mark + "a"]
    references = [[mark * 3], [f"ab{mark}", f"{mark}ab"], ["a"]]
    assert_equals_sacrebleu(ChrF(), CHRF(), hypotheses, references)
    assert_equals_sacrebleu(ChrFPlusPlus(), CHRF(word_order=2), hypotheses, references)


def test_the_first_of_equally_good_references_counts():
    """Both references score 0 alone, but their lengths differ in the corpus."""
    hypotheses, references = ["aaaa", "bb"], [["xy", "uvwxyz"], ["bb"]]
    turned = [references[0][::-1], references[1]]
    assert_equals_sacrebleu(ChrF(), CHRF(), hypotheses, references)
    assert_equals_sacrebleu(ChrF(), CHRF(), hypotheses, turned)
    scores = {ChrF().compute(hypotheses, rows).score().score for rows in (references, turned)}
    assert len(scores) == 2


@pytest.mark.parametrize(
    ("hypothesis", "references", "score"),
    [
        ("same text.", ["same text."], 100.0),
        ("same text.", ["sametext ."], 100.0),
        ("abc", ["xyz"], 0.0),
        ("", ["abc"], 0.0),
        ("abc", [""], 0.0),
        ("", [""], 0.0),
        (" \u3000\n", ["\x85"], 0.0),
    ],
)
def test_scores_that_need_no_peer(hypothesis, references, score):
    assert ChrF().compute([hypothesis], [references]).score().score == score
    assert CHRF().sentence_score(hypothesis, references).score == score


def test_references_encoded_once_serve_many_systems_and_both_metrics():
    corpus = random_corpus(3, 40)
    encoded = ChrF().encode(corpus.references)
    for metric in (ChrF(), ChrFPlusPlus(), ChrF(lowercase=True)):
        again = metric.statistics(corpus.hypotheses, encoded)
        assert np.array_equal(again.rows, metric.compute(corpus.hypotheses, corpus.references).rows)


def test_rows_of_subsets_are_scored_as_corpora():
    corpus = random_corpus(4, 30)
    rows = ChrFPlusPlus().compute(corpus.hypotheses, corpus.references)
    kept = [2, 3, 5, 29]
    alone = ChrFPlusPlus().compute(
        [corpus.hypotheses[i] for i in kept], [corpus.references[i] for i in kept]
    )
    assert rows[kept].score().score == alone.score().score


def test_signature_names_every_setting():
    def parts(**chosen):
        return str(ChrF(**chosen).compute(["a"], [["a", "b"]]).score().signature).split("|")

    assert parts()[:5] == ["metric:chrf", "nc:6", "nw:0", "beta:2", "case:mixed"]
    changes = [{"char_order": 5}, {"word_order": 1}, {"beta": 2.5}, {"lowercase": True}]
    for change, part in zip(changes, ["nc:5", "nw:1", "beta:2.5", "case:lower"], strict=True):
        assert set(parts(**change)) - set(parts()) == {part}
    assert ChrFPlusPlus().compute(["a"], [["a"]]).score().signature["nw"] == "2"


@pytest.mark.parametrize(
    "chosen",
    [
        {"char_order": 0},
        {"word_order": -1},
        {"beta": 0.0},
        {"beta": -2.0},
        {"beta": float("nan")},
        {"beta": float("inf")},
        {"char_order": 2.5},
        {"char_order": "6"},
    ],
    ids=str,
)
def test_settings_that_mean_nothing(chosen):
    with pytest.raises(InputError):
        ChrF(**chosen)


@pytest.mark.parametrize(
    ("hypotheses", "references", "said"),
    [
        (["a", "b"], [["a"]], "2 hypotheses for 1 items"),
        (["a", None], [["a"], ["b"]], "hypotheses[1] is None"),
        (["a", "b"], [["a"], []], "item '1': has no references"),
        ([], [], "nothing to score"),
        ("ab", [["a"], ["b"]], "hypotheses is one string"),
        (["a", "b\ud800"], [["a"], ["b"]], "hypotheses[1] has a lone surrogate"),
        (["a", "b"], [["a"], ["b", "\ud800"]], "item '1': a reference has a lone surrogate"),
    ],
)
def test_bad_input_is_named(hypotheses, references, said):
    with pytest.raises(InputError) as raised:
        ChrF().compute(hypotheses, references)
    assert said in str(raised.value)


# --- Published numbers ----------------------------------------------------------------------------


@pytest.fixture(scope="module")
def wmt17(data):
    folder = data / "wmt17"
    if not (folder / "en-de-cased").is_dir():
        pytest.skip(f"the cased WMT'17 outputs are not at {folder}")
    return folder


def lines(path):
    return gzip.decompress(path.read_bytes()).decode().removesuffix("\n").split("\n")


def systems(wmt17):
    for path in sorted((wmt17 / "en-de-cased").glob("newstest2017.*.en-de.gz")):
        name = path.name.removeprefix("newstest2017.").removesuffix(".en-de.gz")
        yield name, lines(path)


#: chrF++.py -nw 0 on newstest2017 en-de, from sacreBLEU's test.sh (02d948d).
PUBLISHED = {
    "C-3MA.4959": "51.9533",
    "FBK.4870": "54.7152",
    "KIT.4950": "55.7629",
    "LIUM-NMT.4900": "55.9284",
    "LMU-nmt-reranked.4934": "56.3908",
    "LMU-nmt-single.4893": "55.9216",
    "PROMT-Rule-based.4735": "50.3511",
    "RWTH-nmt-ensemble.4921": "55.6116",
    "SYSTRAN.4847": "55.5758",
    "TALP-UPC.4834": "51.6860",
    "online-A.0": "52.0023",
    "online-B.0": "56.2633",
    "online-F.0": "49.2588",
    "online-G.0": "51.5871",
    "uedin-nmt.4722": "57.7227",
    "xmu.4910": "55.9642",
}
#: chrF++.py takes a no-break space for a letter; sacreBLEU and we take it for white space.
NO_BREAK = {"PROMT-Rule-based.4735": "50.3573"}


def expected_scores(wmt17, kind):
    with (wmt17 / "sacrebleu_expected_scores.tsv").open(encoding="utf-8", newline="") as file:
        return {
            one["system"]: one["expected"]
            for one in csv.DictReader(file, delimiter="\t", quoting=csv.QUOTE_NONE)
            if (one["#kind"], one["testset"], one["lp"]) == (kind, "newstest2017", "en-de")
        }


def found_scores(wmt17, metric, names):
    references = [[one] for one in lines(wmt17 / "en-de-cased" / "newstest2017-ende-ref.de.gz")]
    encoded = metric.encode(references)
    return {
        name: (
            metric.statistics(texts, encoded).score().score,
            metric.statistics([t.replace("\xa0", "¤") for t in texts], encoded).score().score,
        )
        for name, texts in systems(wmt17)
        if name in names
    }


def test_published_chrf_of_all_systems_to_the_last_digit(wmt17):
    in_table = expected_scores(wmt17, "CHRF")
    assert len(in_table) == 2
    assert in_table.items() <= PUBLISHED.items()
    found = found_scores(wmt17, ChrF(), PUBLISHED)
    assert {name: f"{both[1]:.4f}" for name, both in found.items()} == PUBLISHED
    assert {name: f"{both[0]:.4f}" for name, both in found.items()} == PUBLISHED | NO_BREAK


def test_published_chrf_plus_plus(wmt17):
    """The published numbers are smoothed with an epsilon; ours leave empty orders out."""
    expected = expected_scores(wmt17, "CHRFPP")
    assert len(expected) == 2
    found = {name: one for name, (one, _) in found_scores(wmt17, ChrFPlusPlus(), expected).items()}
    assert found == {name: pytest.approx(float(one), abs=0.006) for name, one in expected.items()}


def test_all_systems_equal_sacrebleu(wmt17):
    """Sixteen systems with two references each, of which one is another system."""
    streams = dict(systems(wmt17))
    assert len(streams) == 16
    other = streams["online-B.0"][:40]
    original = lines(wmt17 / "en-de-cased" / "newstest2017-ende-ref.de.gz")[:40]
    references = [list(pair) for pair in zip(original, other, strict=True)]
    for texts in streams.values():
        assert_equals_sacrebleu(ChrFPlusPlus(), CHRF(word_order=2), texts[:40], references)


# --- The kernels ----------------------------------------------------------------------------------


def arrays(rows):
    """Token arrays from lists of small numbers."""
    return Tokenizer("none").hash([" ".join(map(str, row)) for row in rows])


tokens = st.lists(st.integers(1, 4), max_size=10)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.tuples(tokens, st.lists(tokens, max_size=4)), max_size=4), st.integers(1, 4))
def test_shared_ngrams_are_the_intersection_of_counts(items, order):
    """Also of hypotheses that no reference belongs to."""
    hypotheses = [own for own, _ in items]
    pairs = [(item, row) for item, (_, rows) in enumerate(items) for row in rows]
    owners = np.array([item for item, _ in pairs], dtype=np.int64)
    references = arrays([row for _, row in pairs])

    def grams(row, n):
        return Counter(tuple(row[i : i + n]) for i in range(len(row) - n + 1))

    found = shared_ngrams(arrays(hypotheses), references, owners, order)
    expected = [
        [(grams(hypotheses[item], n) & grams(row, n)).total() for n in range(1, order + 1)]
        for item, row in pairs
    ]
    assert found.tolist() == expected
    counted = ngram_counts(references, order).tolist()
    assert counted == [[grams(row, n).total() for n in range(1, order + 1)] for _, row in pairs]


TEXTS = ["(Hi), a\u3000b\x85c.", "naïve 朗兹曼 \U0001f600.", "...", "", "a a a b 'tis a-b", "x\ny"]

_SCRIPT = """
import json, sys
from deltableu import _kernels
from deltableu.score.engine import overlap
import deltableu.text.characters
from tests.score.test_chrf import results

characters = sys.modules["deltableu.text.characters"]
kernels = [_kernels.compiled(one) for one in (overlap._kernel, characters._kernel)]
json.dump({"compiled": kernels, "results": results()}, sys.stdout)
"""


def results():
    """Numbers that must not depend on the compiler."""
    corpus = random_corpus(11, 25, words=4)
    flat = [text for row in corpus.references for text in row]
    owners = np.repeat(np.arange(25), [len(row) for row in corpus.references])
    own, other = chrf_words(corpus.hypotheses), chrf_words(flat)
    pieces = (characters(TEXTS), chrf_words(TEXTS))
    return {
        "hashes": [[one.keys.view("u8").tolist(), one.bounds.tolist()] for one in pieces],
        "shared": shared_ngrams(own, other, owners, 4).tolist(),
        "subsequences": common_subsequences(own, other, owners).tolist(),
        "chrf": chrf_statistics(corpus.hypotheses, flat, owners, 6, 2).tolist(),
        "score": ChrFPlusPlus().compute(corpus.hypotheses, corpus.references).score().score,
    }


def test_uncompiled_kernels_give_the_same_numbers():
    found = run_uncompiled(_SCRIPT)
    assert found["compiled"] == [False, False]
    assert found["results"] == results()
    assert np.count_nonzero(found["results"]["subsequences"]) > 20
