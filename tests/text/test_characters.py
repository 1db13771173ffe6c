"""Characters and the words of chrF++: what Python's own strings and sacreBLEU make of them."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sacrebleu.metrics.chrf import CHRF

from deltableu.text import Tokenizer, lanes
from deltableu.text.characters import characters, chrf_words
from tests.text.unicode import WHITE_SPACE, random_strings

PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~"

# Every white space, every mark, and what looks like either without being it.
ALPHABET = [*WHITE_SPACE, *PUNCTUATION, *"abcé中の😀𝔘\u0301\u200b\ufeff\u00ad¿…、\x00\x7f²"]
texts = st.lists(
    st.one_of(st.text(st.sampled_from(ALPHABET), max_size=12), st.text(max_size=6)), max_size=5
)


def numbered(arrays):
    """The hashes of each text, as lists."""
    ends = arrays.bounds.tolist()
    return [arrays.keys[a:b].tolist() for a, b in pairwise(ends)]


def assert_one_hash_each(pieces, hashes):
    """Equal pieces have equal hashes and others have others, over all texts."""
    assert [len(row) for row in hashes] == [len(row) for row in pieces]
    pairs = {
        pair for one, two in zip(pieces, hashes, strict=True) for pair in zip(one, two, strict=True)
    }
    assert len(pairs) == len({piece for piece, _ in pairs}) == len({hash for _, hash in pairs})


def peer_words(text):
    return CHRF()._remove_punctuation(text)


@settings(max_examples=200, deadline=None)
@given(texts)
def test_characters_are_those_that_are_no_white_space(texts):
    assert_one_hash_each(["".join(text.split()) for text in texts], numbered(characters(texts)))


@settings(max_examples=200, deadline=None)
@given(texts)
def test_words_are_sacrebleus(texts):
    found = chrf_words(texts)
    assert_one_hash_each([peer_words(text) for text in texts], numbered(found))


def test_many_odd_strings():
    texts = random_strings(3000, seed=5)
    assert_one_hash_each([peer_words(text) for text in texts], numbered(chrf_words(texts)))
    assert_one_hash_each(["".join(t.split()) for t in texts], numbered(characters(texts)))


def test_every_character_of_unicode_has_its_own_hash():
    points = [chr(point) for point in range(0x110000) if not 0xD800 <= point <= 0xDFFF]
    found = characters(["".join(points)])
    assert len(found.keys) == len(points) - len(WHITE_SPACE)
    assert len(np.unique(found.keys)) == len(found.keys)


def test_no_second_half_of_a_key_is_0():
    """Kernels tell n-grams from tokens by it."""
    found = characters(["".join(map(chr, range(0x3000)))])
    assert np.count_nonzero(lanes(found.keys)[1::2]) == len(found.keys)


def test_words_without_punctuation_hash_as_white_space_tokens():
    """Both kinds of words come from one hash, so that tables of either can be compared."""
    texts = ["a bc é中", "", "x\u3000y"]
    found, plain = chrf_words(texts), Tokenizer("none").hash(texts)
    assert found.keys.tolist() == plain.keys.tolist()
    assert found.bounds.tolist() == plain.bounds.tolist()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("(hi)", ["(hi", ")"]),
        ("'tis", ["'", "tis"]),
        ("...", ["..", "."]),
        (".", ["."]),
        ("?!", ["?", "!"]),
        ("well-known", ["well-known"]),
        ("end. (a) b,", ["end", ".", "(a", ")", "b", ","]),
        ("。end。", ["。end。"]),
        ("é.", ["é", "."]),
        (".é", [".", "é"]),
        (" \u2003\x85 ", []),
    ],
)
def test_one_mark_is_cut_off_the_end_or_else_the_beginning(text, words):
    assert peer_words(text) == words
    (found,) = numbered(chrf_words([text]))
    assert found == Tokenizer(lambda _: words).hash([text]).keys.tolist()


@pytest.mark.parametrize("function", [characters, chrf_words])
@pytest.mark.parametrize("texts", [[], [""], ["", " ", "\n"], ["", "a", ""]])
def test_texts_without_anything(function, texts):
    found = function(texts)
    assert len(found.bounds) == len(texts) + 1
    assert len(found.keys) == sum(len(text.strip()) for text in texts)
