"""`13a` is sacreBLEU's tokenizer (mteval-v13a), string for string; `none` is str.split."""

from __future__ import annotations

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.tokenizers.tokenizer_13a import Tokenizer13a

from deltableu.text import Tokenizer
from tests.text.unicode import PIECES, WHITE_SPACE, chunks, random_strings

_peer = Tokenizer13a.__call__.__wrapped__  # without its cache, which would keep every string
_instance = Tokenizer13a()
_instance._post_tokenizer = type(_instance._post_tokenizer).__call__.__wrapped__.__get__(
    _instance._post_tokenizer
)


def sacrebleus(text: str) -> list[str]:
    return _peer(_instance, text.rstrip()).split()


def assert_equal(texts: list[str]) -> None:
    """The tokens of all texts, given together."""
    found = Tokenizer("13a").tokens_of(texts)
    expected = [sacrebleus(text) for text in texts]
    if found != expected:
        differing = [
            (text, ours, theirs)
            for text, ours, theirs in zip(texts, found, expected, strict=True)
            if ours != theirs
        ]
        raise AssertionError(f"{len(differing)} differ, such as {differing[:3]}")


def assert_equal_in_chunks(texts: list[str]) -> None:
    """Chunks of several sizes: with a newline in some text, and without one."""
    separable = [text for text in texts if "\n" not in text]
    assert 0 < len(separable) < len(texts)
    for size in (1, 7, 1000):
        portion = texts if size == 1000 else texts[:: max(1, 40 // size)]
        for chunk in chunks(portion, size):
            assert_equal(chunk)
    for chunk in chunks(separable, 1000):
        assert_equal(chunk)


def test_the_peer_without_its_cache_is_the_peer():
    for text in random_strings(300, seed=0):
        assert sacrebleus(text) == Tokenizer13a()(text.rstrip()).split()


@pytest.mark.parametrize("seed", range(4))
def test_random_unicode(seed):
    assert_equal_in_chunks(random_strings(5_000, seed))


@pytest.mark.long
@pytest.mark.parametrize("seed", range(100, 110))
def test_random_unicode_long(seed):
    assert_equal_in_chunks(random_strings(20_000, seed))


@settings(max_examples=300, deadline=None)
@given(st.lists(st.lists(st.sampled_from(PIECES), max_size=8).map("".join), min_size=1, max_size=3))
def test_random_pieces(texts):
    assert_equal(texts)


@settings(max_examples=300, deadline=None)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"])))
def test_any_text(text):
    assert_equal([text])
    assert_equal([text, text])


def test_all_short_strings():
    """Every string of up to 5 of the characters that the four rules are about."""
    texts = ["".join(letters) for n in range(6) for letters in product("a1.,-& ", repeat=n)]
    assert len(texts) == sum(7**n for n in range(6))
    assert_equal(texts)


@pytest.mark.long
def test_all_longer_strings():
    for first in product("a1.,-& ", repeat=2):
        assert_equal(["".join(first + rest) for rest in product("a1.,-& ", repeat=5)])


@pytest.mark.parametrize("tokenize", ["13a", "none"])
@pytest.mark.parametrize("step", [40, pytest.param(1, marks=pytest.mark.long)])
def test_every_character(tokenize, step):
    """Each of Unicode's characters (beyond U+3100 some) between letters, digits and alone."""
    points = [point for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]
    texts = [f"a{chr(p)}b 1{chr(p)}2 {chr(p)}" for p in points[:0x3100] + points[0x3100::step]]
    found = Tokenizer(tokenize).tokens_of(texts)
    expected = map(sacrebleus if tokenize == "13a" else str.split, texts)
    differing = [text for text, a, b in zip(texts, found, expected, strict=True) if a != b]
    assert differing == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "It costs $1,000.50, doesn't it?",
            ["It", "costs", "$", "1,000.50", ",", "doesn't", "it", "?"],
        ),
        ("1..2", ["1", ".", ".", "2"]),
        ("1...2", ["1", ".", ".", ".2"]),
        ("a.,5", ["a", ".", ",5"]),
        ("9-5 x-y", ["9", "-", "5", "x-y"]),
        ("one-\ntwo\nthree", ["onetwo", "three"]),
        ("a<skipped>b &quot;&amp;lt;", ["ab", '"', "<"]),
        ("end-\n", ["end-"]),
    ],
)
def test_the_rules(text, expected):
    assert sacrebleus(text) == expected
    assert Tokenizer("13a").tokens(text) == expected
    # A newline elsewhere sends all texts another way.
    assert Tokenizer("13a").tokens_of([text, "x\ny"]) == [expected, ["x", "y"]]
    assert Tokenizer("13a").tokens_of([text, "x"])[0] == expected


@pytest.mark.parametrize("seed", range(2))
def test_none_is_str_split(seed):
    texts = random_strings(10_000, seed=50 + seed)
    tokenizer = Tokenizer("none")
    assert tokenizer.tokens_of(texts) == [text.split() for text in texts]
    plain = random_strings(3_000, seed=60 + seed, newlines=False)
    assert tokenizer.tokens_of(plain) == [text.split() for text in plain]


@pytest.mark.parametrize("tokenize", ["none", "13a"])
def test_every_white_space_character_separates(tokenize):
    assert len(WHITE_SPACE) >= 25
    for space in WHITE_SPACE:
        assert Tokenizer(tokenize).tokens(f"{space}a{space}{space}b{space}") == ["a", "b"]
