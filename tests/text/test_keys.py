"""Keys: equal where bytes are, and nowhere else."""

from __future__ import annotations

import json
from hashlib import blake2s

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from deltableu.text import (
    Texts,
    Tokenizer,
    WordNumbers,
    WordRule,
    characters,
    chrf_words,
    empty_keys,
    halves,
    hash_texts,
    joined_keys,
    key_order,
    lanes,
    pair_keys,
    span_keys,
    text_keys,
)
from tests.text.collisions import (
    COLLIDING_BIGRAMS,
    COLLIDING_WORDS,
    fnv_1a,
    old_ngram_hash,
    random_words,
)
from tests.uncompiled import run_uncompiled

_MASK = (1 << 64) - 1


def plain_key(span: bytes) -> tuple[int, int]:
    """The two halves of a key, as the kernel's docstring has them."""
    if len(span) > 15:
        digest = blake2s(span, digest_size=16).digest()
        first, last = (int.from_bytes(digest[k : k + 8], "little") for k in (0, 8))
        return first, last if last >> 60 else last | 15 << 60
    last = int.from_bytes(span[8:], "little") | len(span) << 56
    first = int.from_bytes(span[:8], "little") ^ (last * 0x9E3779B97F4A7C15 & _MASK)
    for shift in (32, 29):
        first = ((first ^ (first >> shift)) * 0xD6E8FEB86659FD93) & _MASK
    return first ^ (first >> 32), last


def keys_of(spans: list[bytes]):
    """Keys of spans that lie one after the other."""
    ends = np.cumsum([len(span) for span in spans], dtype=np.int64)
    return span_keys(b"".join(spans), np.append(0, ends[:-1]), ends)


spans = st.lists(st.binary(max_size=20) | st.binary(min_size=100, max_size=400), min_size=1)


@given(spans)
@example([bytes(size) for size in range(300)])
@example([b"x" * size for size in (15, 16, 127, 128, 129, 255, 256, 257)])
def test_keys_are_those_of_the_plain_version(many):
    assert lanes(keys_of(many)).reshape(-1, 2).tolist() == [list(plain_key(one)) for one in many]


@given(spans)
def test_equal_keys_are_equal_bytes(many):
    pairs = set(zip(many, keys_of(many).tolist(), strict=True))
    assert len(pairs) == len(set(many)) == len({key for _, key in pairs})


def test_the_first_half_of_a_short_key_has_all_of_its_first_bytes():
    """The steps can be undone, which makes them one to one."""
    inverse = pow(0xD6E8FEB86659FD93, -1, 1 << 64)
    for span in (b"a", b"\0", b"sixteen", b"exactly 8", b"fifteen letters"):
        first, last = plain_key(span)
        first ^= first >> 32
        for shift in (29, 32):
            first = first * inverse & _MASK
            first ^= (first >> shift) ^ (first >> 2 * shift)
        start = (first ^ last * 0x9E3779B97F4A7C15 & _MASK).to_bytes(8, "little")
        assert (start + last.to_bytes(8, "little")[:7])[: last >> 56] == span


def test_long_keys_cannot_be_taken_for_short_ones():
    many = [b"a long enough text %d" % number for number in range(1000)]
    assert (lanes(keys_of(many))[1::2] >> np.uint64(60)).all()
    assert not (lanes(keys_of([one[:15] for one in many]))[1::2] >> np.uint64(60)).any()


def test_the_collisions_are_real():
    one, other = COLLIDING_WORDS
    assert fnv_1a(one) == fnv_1a(other)
    one, other = COLLIDING_BIGRAMS
    assert old_ngram_hash(one) == old_ngram_hash(other)
    assert fnv_1a("foobar") == 0x85944171F73967E8  # a published vector


@pytest.mark.parametrize("both", [COLLIDING_WORDS, COLLIDING_BIGRAMS])
def test_colliding_texts_have_different_keys(both):
    for keys in (
        Tokenizer("none").hash(both).keys,
        Tokenizer("13a").hash(both).keys,
        chrf_words(both).keys,
        WordRule().hash(Texts.of(both)).keys,
        WordRule("13a").hash(Texts.of(both)).keys,
        text_keys(both).keys,
        hash_texts(Texts.of(both)),
    ):
        assert len(set(keys.tolist())) == len(keys) > 1


def test_joined_keys_keep_all_that_is_joined():
    keys = hash_texts(Texts.of(["a", "b", "a", "", "", "a very long text indeed"]))
    numbers = np.array([0, 0, 256, 0, 1, 1])
    assert len(np.unique(joined_keys(keys, numbers))) == 6
    assert len(np.unique(joined_keys(keys, keys))) == 4
    assert len(joined_keys(keys[:0], numbers[:0])) == 0


@pytest.mark.parametrize("shift", [0, 30, 62])
@pytest.mark.parametrize("columns", [1, 2, 3])
def test_keys_are_sorted_as_pairs_of_numbers(columns, shift):
    """Also those whose halves, or the parts of them that are looked at first, are equal."""
    rng = np.random.default_rng(columns)
    for size in (0, 1, 40, 400):
        numbers = rng.integers(0, 3, (columns, 2 * size)).astype(np.uint64) << np.uint64(shift)
        keys = [row.view("S16") for row in numbers]
        plain = [half for one in reversed(keys) for half in reversed(halves(one))]
        assert key_order(*keys).tolist() == np.lexsort(plain).tolist()
        within = rng.integers(0, 3, size)
        assert key_order(*keys, within=within).tolist() == np.lexsort((within, *plain)).tolist()


def test_pairs_of_numbers_have_keys_of_their_own():
    numbers = np.array([0, 1, 2, 2**31, 2**32 - 1])
    firsts, seconds = (axis.ravel() for axis in np.meshgrid(numbers, numbers))
    assert len(np.unique(pair_keys(firsts, seconds))) == 25


def search(number: int, size: int) -> None:
    """Look for words with one key among so many."""
    texts = Texts.of_lines(random_words(number, size, seed=number + size))
    different = len(set(texts.data.split(b"\n")))
    words = WordRule().hash(texts).keys
    assert (words == Tokenizer("none").hash([texts.data.decode()]).keys).all()
    assert (words == text_keys(texts).keys).all()
    assert (words == hash_texts(texts)).all()
    assert len(np.unique(words)) == different
    assert WordNumbers.of(empty_keys(0)).add(words)[0].max() + 1 == different


@pytest.mark.parametrize("size", [4, 9, 14, 20])
def test_no_two_of_many_random_words_have_one_key(size):
    search(100_000, size)


@pytest.mark.long
@pytest.mark.parametrize("size", [6, 14, 20])
def test_no_two_of_ten_million_random_words_have_one_key(size):
    search(10_000_000, size)


def results():
    """Keys that must not depend on the compiler."""
    texts = ["a b\0 " + "x" * size for size in (*range(20), 127, 128, 129)] + ["Ⱥ’s É, 你好 😀."]
    joined = Texts.of(texts)
    found = (
        Tokenizer("13a").hash(texts).keys, characters(texts).keys, chrf_words(texts).keys,
        WordRule().hash(joined).keys, WordRule("13a").hash(joined).keys, text_keys(texts).keys,
        hash_texts(joined),
    )  # fmt: skip
    return [lanes(keys).tolist() for keys in found]


def test_uncompiled_kernels_give_the_same_keys():
    script = "import json; from tests.text.test_keys import results; print(json.dumps(results()))"
    assert run_uncompiled(script) == json.loads(json.dumps(results()))
