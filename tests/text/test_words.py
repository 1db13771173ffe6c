"""Words as retrieval compares them: the kernel against a literal version."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deltableu.text import (
    Texts,
    Tokenizer,
    WordRule,
    hash_texts,
    may_be_same,
    spelt_ends,
    text_ends,
    text_keys,
)

JOINERS = "'\u2019\u02bc"
ALONE = ("CJK ", "HIRAGANA ", "KATAKANA ", "HANGZHOU ", "BOPOMOFO ")


def kind(character: str) -> str:
    category = unicodedata.category(character)
    if ord(character) > 0xFFFF:
        return "alone"
    if character in JOINERS:
        return "joiner"
    if category == "Lo" and unicodedata.name(character, "").startswith(ALONE):
        return "alone"
    if category[0] in "LMN":
        return "word"
    return "alone" if category == "So" else "between"


def small(character: str) -> str:
    lowered = character.lower()
    return lowered if len(lowered) == 1 and ord(lowered) <= 0xFFFF else character


def words(text: str) -> list[str]:
    found, opened = [], ""
    for at, character in enumerate(text):
        what = kind(character)
        if what == "joiner":
            follows = text[at + 1 : at + 2]
            what = "word" if opened and follows and kind(follows) == "word" else "between"
            character = "'"
        if what == "word":
            opened += small(character)
            continue
        if opened:
            found.append(opened)
            opened = ""
        if what == "alone":
            found.append(character)
    return [*found, opened] if opened else found


def hashed(texts: list[str]) -> list[list[bytes]]:
    arrays = WordRule().hash(Texts.of(texts))
    return [
        arrays.keys[arrays.bounds[i] : arrays.bounds[i + 1]].tolist() for i in range(len(texts))
    ]


def key(text: str) -> bytes:
    return bytes(text_keys([text]).keys[0])


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Don’t PANIC, it's 42!", ["don't", "panic", "it's", "42"]),
        ("'quoted' rock 'n' roll", ["quoted", "rock", "n", "roll"]),
        ("你好 ok", ["你", "好", "ok"]),
        ("nice 😀😀", ["nice", "😀", "😀"]),
        ("ÉCOLE Ünïted", ["école", "ünïted"]),
        ("...", []),
        ("", []),
        ("a-b_c/d", ["a", "b", "c", "d"]),
    ],
)
def test_words_of_a_text(text, wanted):
    assert words(text) == wanted
    assert hashed([text]) == [[hash for (hash,) in hashed(wanted)] if wanted else []]


texts = st.text(
    st.one_of(
        st.sampled_from("aAbB '’.,!?-0189éÉ你好かカ😀\n\t_"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=30,
)


@given(st.lists(texts, min_size=1, max_size=8))
def test_words_are_those_of_the_literal_version(many):
    numbers: dict[str, int] = {}
    for mine, wanted in zip(hashed(many), map(words, many), strict=True):
        assert len(mine) == len(wanted)
        for hash, word in zip(mine, wanted, strict=True):
            assert numbers.setdefault(word, hash) == hash
    assert len(set(numbers.values())) == len(numbers)


def letters(text: str) -> str:
    """What makes a text what it is, spelt out."""
    kept = [small(one) for one in text if kind(one) in ("word", "alone")]
    return "".join(kept) if kept else "no letters: " + "".join(map(small, "".join(text.split())))


@given(texts, texts)
@example("no one", "noone")
@example(":-)", " : -) ")
def test_texts_have_one_key_where_they_have_the_same_letters(one, two):
    assert (key(one) == key(two)) == (letters(one) == letters(two))
    assert (key(one) == b"") == (not one.strip())
    assert bool(text_keys([one]).worded[0]) == bool(words(one))


@settings(deadline=None)  # the first example imports them
@given(texts)
def test_any_tokenizer_leaves_a_text_the_same(text):
    for name in ("none", "13a", "intl", "zh", "char"):
        # The first of them unescapes.
        if "&" not in text and "<" not in text:
            assert key(" ".join(Tokenizer(name).tokens(text))) == key(text)


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=8))
def test_hashes_of_texts(many):
    found = hash_texts(Texts.of(many)).tolist()
    for text, hash in zip(many, found, strict=True):
        assert (hash == b"") == (text == "")
        assert (hash == found[0]) == (text == many[0])


def test_texts_may_share_bytes():
    data = b"one two three"
    starts, ends = np.array([0, 4, 0]), np.array([13, 7, 7])
    found = WordRule().hash(Texts(data, starts, ends))
    assert np.diff(found.bounds).tolist() == [3, 1, 2]
    assert found.keys[3] == found.keys[1] == found.keys[5]


#: Many of these are the same, for one reason or another.
alike = st.lists(
    st.text("aAbB12 '.\u2019\u2026\u00e9\u00c9\u212ak\u4f60_", max_size=14), min_size=2, max_size=12
)


@given(alike)
@example(["\u212aelvin", "kelvin", "KELVIN\u2026"])
@example(["aabbaabbaabb1", "AABB aabb aabb 1", "aabbaabb.aabb.1\u00e9"])
def test_ends_never_tell_the_same_texts_apart(texts):
    """Neither those of both, nor those of one and what the spelling of the other shows."""
    made = Texts.of(texts)
    keys, ends = text_keys(made).keys, text_ends(made)
    spelt = set(spelt_ends(made).tolist()) | {b""}
    for one in range(len(texts)):
        same = keys == keys[one]
        assert may_be_same(ends[same], np.repeat(ends[one : one + 1], same.sum())).all()
        assert ends[one] in spelt
        own = set(spelt_ends(made.choose(slice(one, one + 1))).tolist()) | {b""}
        assert set(ends[same].tolist()) <= own


def test_ends_tell_most_texts_apart():
    texts = Texts.of(["how are you", "how is it going", "what are you", "fine, thank you"])
    assert may_be_same(text_ends(texts), text_ends(texts)).all()
    others = Texts.of(["how is it going", "what are you", "fine, thank you", "how are you"])
    assert not may_be_same(text_ends(texts), text_ends(others)).any()
