"""Cleaning, the tokenizers of peers and of callers, and the hashes that stand for tokens."""

from __future__ import annotations

import sys
import unicodedata

import numpy as np
import pytest
import sacrebleu
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import BLEU, bleu
from deltableu.errors import InputError
from deltableu.text import TOKENIZERS, Tokenizer
from deltableu.text.texts import NotUnicodeError
from tests.text.unicode import random_strings

TEXTS = [
    'The dog bit the man, "twice" — in 1,000.50 cases!',
    "Ὀδυσσεὺς ΣΟΦΟΣ ΟΔΟΣ. ΑΣ ΣΑΣ",
    "DİYARBAKIR Iğdır ISPARTA İ",
    "他说:“你好,世界。” mixed中文text 3.5元",
    "naïve cafe\u0301 ﬁne ① Ａ",
    "A&amp;B &lt;tag&gt; <skipped>rest-\nof it",
    "  leading and trailing \t\u3000",
    "",
    "EMOJI 😀😀 𝔘nicode\u200b zero",
]
SHUFFLED = [" ".join(reversed(text.split(" "))) for text in TEXTS]


def peer(**settings: object) -> sacrebleu.BLEU:
    return sacrebleu.BLEU(force=True, **settings)


# --- sacreBLEU ------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokenize", ["char", "intl", "zh", "13a", "none"])
@pytest.mark.parametrize("lowercase", [False, True])
def test_scores_are_sacrebleus(tokenize, lowercase):
    for hypotheses, references in ((SHUFFLED, TEXTS), (TEXTS, SHUFFLED), (TEXTS, TEXTS[::-1])):
        expected = peer(tokenize=tokenize, lowercase=lowercase).corpus_score(
            hypotheses, [references, TEXTS[1:] + TEXTS[:1]]
        )
        both = [list(row) for row in zip(references, TEXTS[1:] + TEXTS[:1], strict=True)]
        found = bleu(hypotheses, both, tokenize=tokenize, lowercase=lowercase)
        assert list(found.numerators) == expected.counts
        assert list(found.denominators) == expected.totals
        assert found.score == pytest.approx(expected.score, abs=1e-9)
        assert found.reference_length == expected.ref_len


@pytest.mark.parametrize("tokenize", ["char", "intl", "zh"])
def test_random_unicode_scores_as_sacrebleu_does(tokenize):
    texts = random_strings(600, seed=31)
    hypotheses, references = texts[:300], texts[300:]
    expected = peer(tokenize=tokenize).corpus_score(hypotheses, [references])
    found = bleu(hypotheses, [[text] for text in references], tokenize=tokenize)
    assert list(found.numerators) == expected.counts
    assert list(found.denominators) == expected.totals


@pytest.mark.parametrize("tokenize", ["none", "13a", "char"])
def test_lowercase_is_sacrebleus(tokenize):
    """Final sigma depends on its neighbours, dotted I becomes two characters."""
    texts = [*TEXTS, *random_strings(500, seed=8)]
    found = Tokenizer(tokenize, lowercase=True).tokens_of(texts)
    theirs = peer(tokenize=tokenize, lowercase=True)
    assert found == [theirs._preprocess_segment(text).split() for text in texts]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ΟΔΟΣ", ["οδος"]),
        ("ΟΔΟΣ ΣΟΦΟΣ.", ["οδος", "σοφος", "."]),
        ("İ", ["i̇"]),
        ("DİŞ", ["di̇ş"]),
        ("ẞ", ["ß"]),
    ],
)
def test_lowercase_of_odd_letters(text, expected):
    tokenizer = Tokenizer("13a", lowercase=True)
    assert tokenizer.tokens(text) == expected
    # Neighbours in the corpus are no neighbours in the text.
    assert tokenizer.tokens_of([text, "ΑΒ", text]) == [expected, ["αβ"], expected]


def test_peers_are_named():
    assert TOKENIZERS[:2] == ("none", "13a")
    assert {"char", "intl", "zh", "ja-mecab", "ko-mecab", "spm"} <= set(TOKENIZERS)


@pytest.mark.parametrize("name", ["ja-mecab", "ko-mecab"])
def test_a_peer_that_is_not_installed_says_what_to_install(name, monkeypatch):
    from deltableu.text import peers

    for module in ("MeCab", "mecab_ko"):
        monkeypatch.setitem(sys.modules, module, None)
    # Set first, so that what is imported without MeCab is forgotten afterwards.
    module = f"sacrebleu.tokenizers.tokenizer_{name.replace('-', '_')}"
    monkeypatch.setitem(sys.modules, module, None)
    del sys.modules[module]
    peers.peer_tokenizer.cache_clear()
    with pytest.raises(InputError, match=r"pip install '(deltableu\[ja|sacrebleu\[ko)\]'"):
        Tokenizer(name).tokens("a")


# --- Cleaning -------------------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["NFC", "NFKC"])
def test_normalisation(form):
    texts = [*TEXTS, *random_strings(500, seed=9)]
    found = Tokenizer("none", normalize=form).tokens_of(texts)
    assert found == [unicodedata.normalize(form, text).split() for text in texts]


def test_normalisation_makes_equal_texts_match():
    composed, decomposed = "caf\u00e9 fine", "cafe\u0301 \ufb01ne"
    assert bleu([composed], [[decomposed]], order=1).numerators == (0,)
    assert bleu([composed], [[decomposed]], order=1, normalize="NFC").numerators == (1,)
    assert bleu([composed], [[decomposed]], order=1, normalize="NFKC").numerators == (2,)


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.text(alphabet="aÁΣİ\u0301\ufb01.,-'« \n", max_size=8), min_size=1, max_size=4),
    st.sampled_from([None, "NFC", "NFKC"]),
    st.booleans(),
    st.booleans(),
)
def test_texts_are_cleaned_one_by_one(texts, form, lowercase, strip):
    """However they are joined underneath."""

    def clean(text: str) -> str:
        text = unicodedata.normalize(form, text) if form else text
        text = text.lower() if lowercase else text
        if strip:
            text = "".join(c for c in text if not unicodedata.category(c).startswith("P"))
        return text

    tokenizer = Tokenizer("none", lowercase, form, strip)
    assert tokenizer.tokens_of(texts) == [clean(text).split() for text in texts]


def test_stripping_drops_punctuation_only():
    text = "«Well», don't—say: $5 + 3 = 8 (really)… ¿sí? 中。"
    stripped = Tokenizer("none", strip_punctuation=True).tokens(text)
    assert stripped == ["Well", "dontsay", "$5", "+", "3", "=", "8", "really", "sí", "中"]


# --- Callables ------------------------------------------------------------------------------------


def words(text: str) -> str:
    return text.replace(".", " . ")


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (words, ["a", "b", ".", "c"]),
        (lambda text: words(text).split(), ["a", "b", ".", "c"]),
        (lambda text: tuple(words(text).split()), ["a", "b", ".", "c"]),
        (lambda text: (word for word in words(text).split()), ["a", "b", ".", "c"]),
        (lambda text: [text[:3], text[3:]], ["a b", ".c"]),
        (list, ["a", " ", "b", ".", "c"]),
    ],
    ids=["text", "list", "tuple", "generator", "tokens-with-spaces", "characters"],
)
def test_callables(function, expected):
    assert Tokenizer(function).tokens("a b.c") == expected


def test_a_callable_may_answer_now_with_a_text_now_with_a_list():
    def either(text: str) -> str | list[str]:
        return text if "!" in text else text.split()

    tokenizer = Tokenizer(either)
    assert tokenizer.tokens_of(["a b!", "a b", ""]) == [["a", "b!"], ["a", "b"], []]
    # One corpus gets lists, the other texts: the tokens must still be the same.
    assert bleu(["a b c d!"], [["a b c d!"]], tokenize=either).score == pytest.approx(100)
    assert bleu(["a b c d!"], [["a b c d!", "a b"]], tokenize=either).score == pytest.approx(100)


def test_tokens_may_hold_newlines_and_white_space():
    tokens = ["New York", "line\nbreak", "\u3000", "x"]
    found = Tokenizer(lambda text: tokens if text else []).tokens_of(["y", "", "y"])
    assert found == [tokens, [], tokens]


def test_a_callable_sees_cleaned_text():
    seen: list[str] = []

    def spy(text: str) -> list[str]:
        seen.append(text)
        return text.split()

    Tokenizer(spy, lowercase=True, strip_punctuation=True).tokens_of(["A, B", "C\nd."])
    assert seen == ["a b", "c\nd"]


@pytest.mark.parametrize(
    ("function", "named"),
    [
        (lambda text: [1, 2], "strings"),
        (lambda text: ["a", ""], "empty token"),
        (lambda text: ["a\x1fb"], "U\\+001F"),
        (lambda text: [None], "strings"),
    ],
)
def test_callables_that_give_no_tokens(function, named):
    with pytest.raises(InputError, match=named):
        Tokenizer(function).tokens("a b")


def test_errors_of_a_callable_are_its_own():
    """A fault of the caller's function must not look like a fault of the text."""

    def broken(text: str) -> str:
        raise TypeError("my own mistake")

    with pytest.raises(TypeError, match="my own mistake"):
        BLEU(tokenize=broken).compute(["a"], [["a"]])


# --- Hashes ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokenize", ["none", "13a", "char", str.split])
def test_equal_hashes_are_equal_tokens(tokenize):
    texts = random_strings(4_000, seed=77)
    tokenizer = Tokenizer(tokenize)
    arrays = tokenizer.hash(texts)
    tokens = tokenizer.tokens_of(texts)
    assert np.diff(arrays.bounds).tolist() == [len(one) for one in tokens]
    flat = [token for one in tokens for token in one]
    pairs = set(zip(flat, arrays.keys.tolist(), strict=True))
    assert len(pairs) == len(set(flat)) == len(set(arrays.keys.tolist())) > 1000


def test_hashes_of_a_token_do_not_depend_on_its_surroundings():
    first = Tokenizer("13a").hash(["a b, c", "1.5 &amp; x\ny"]).keys
    second = Tokenizer("13a").hash(["x y", "c &", "1.5 , a b"]).keys
    assert set(first.tolist()) == set(second.tolist())


def test_a_million_tokens_have_a_million_hashes():
    count = 1_000_000
    hashes = Tokenizer("none").hash([" ".join(map(str, range(count)))]).keys
    assert len(np.unique(hashes)) == count


# --- Errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("tokenize", ["13a", "none", "char", "intl", str.split])
@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("texts", [["ok", "fine", "no\ud800t"], ["a\nb", "", "no\udfff t"]])
def test_lone_surrogates_are_found(tokenize, lowercase, texts):
    with pytest.raises(NotUnicodeError, match="lone surrogate") as raised:
        Tokenizer(tokenize, lowercase=lowercase).hash(texts)
    assert raised.value.position == 2
    assert isinstance(raised.value, InputError)


def test_the_place_of_a_surrogate_is_that_in_the_text():
    for tokenize in ("13a", "none", "char"):
        with pytest.raises(InputError, match="character 2 "):
            Tokenizer(tokenize).hash(["no\ud800t"])


def test_no_texts_have_no_tokens():
    for tokenize in ("13a", "none", "char", str.split):
        assert Tokenizer(tokenize).tokens_of([]) == []
        assert Tokenizer(tokenize).tokens_of([""]) == [[]]
        assert Tokenizer(tokenize, lowercase=True).tokens_of(["", ""]) == [[], []]
