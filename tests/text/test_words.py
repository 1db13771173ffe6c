"""Words as retrieval compares them: the kernel against a literal version."""

from __future__ import annotations

import unicodedata

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.logs.blocks import Texts
from deltableu.text.words import hash_texts, hash_words

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


def hashed(texts: list[str]) -> list[list[int]]:
    made = Texts.of(texts)
    arrays = hash_words(made.data, made.starts, made.ends)
    return [
        arrays.hashes[arrays.bounds[i] : arrays.bounds[i + 1]].tolist() for i in range(len(texts))
    ]


def key(text: str) -> int:
    made = Texts.of([text])
    return int(hash_words(made.data, made.starts, made.ends).keys[0])


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


@given(texts, texts)
def test_texts_have_one_key_where_they_have_the_same_words(one, two):
    same = words(one) == words(two) if words(one) or words(two) else one == two
    assert (key(one) == key(two)) == same


@given(st.lists(st.text(st.characters(exclude_categories=["Cs"])), min_size=1, max_size=8))
def test_hashes_of_texts(many):
    made = Texts.of(many)
    found = hash_texts(made.data, made.starts, made.ends).tolist()
    for text, hash in zip(many, found, strict=True):
        assert (hash == 0) == (text == "")
        assert (hash == found[0]) == (text == many[0])


def test_texts_may_share_bytes():
    data = b"one two three"
    starts, ends = np.array([0, 4, 0]), np.array([13, 7, 7])
    found = hash_words(data, starts, ends)
    assert np.diff(found.bounds).tolist() == [3, 1, 2]
    assert found.hashes[3] == found.hashes[1] == found.hashes[5]
