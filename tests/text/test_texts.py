"""Texts in one buffer are the texts that went in."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.logs import Block
from deltableu.text import Texts, find_bytes

TEXTS = st.lists(st.text(st.characters(exclude_categories=["Cs"])), max_size=6)


@given(TEXTS)
def test_texts_come_back(texts):
    made = Texts.of(texts)
    assert len(made) == len(texts)
    assert list(made) == made.strings() == texts
    assert made.starts.dtype == made.ends.dtype == np.int64
    assert made.starts.flags.c_contiguous
    assert made.ends.flags.c_contiguous


@given(TEXTS, st.integers(0, 6), st.integers(0, 6))
def test_slices_share_the_buffer(texts, begin, end):
    made = Texts.of(texts)
    part = made.choose(slice(begin, end))
    assert list(part) == texts[begin:end]
    assert part.data is made.data


@given(st.lists(st.sampled_from(b"\t\n\x08\x0b\x89\x8aab"), max_size=80).map(bytes))
def test_bytes_are_found(data):
    for first, second in (b"\t\n", b"\n\n", b"\x89b"):
        wanted = [place for place, byte in enumerate(data) if byte in (first, second)]
        assert find_bytes(data, first, second).tolist() == wanted


def test_bytes_are_found_where_there_are_many():
    assert find_bytes(b"\n" * 1000, *b"\t\n").tolist() == list(range(1000))


def test_texts_may_lie_in_any_order_and_overlap():
    texts = Texts("naïve".encode(), np.array([4, 0, 2]), np.array([6, 6, 2]))
    assert list(texts) == ["ve", "naïve", ""]


def test_lone_surrogates_are_refused():
    with pytest.raises(InputError, match="text 1 has a lone surrogate"):
        Texts.of(["fine", "\ud800"])


def test_blocks_can_be_sent_to_another_process():
    block = Block(7, Texts.of(["a", "b"]), Texts.of(["c", ""]), ids=Texts.of(["1", ""]), read=12)
    again = pickle.loads(pickle.dumps(block))
    assert (len(again), again.first, again.read) == (2, 7, 12)
    assert list(again.responses) == ["c", ""]
    assert list(again.ids) == ["1", ""]
    assert again.threads is None


@given(TEXTS, st.permutations(range(6)))
def test_joined_texts_are_joined_as_strings_are(texts, order):
    texts = texts + [""] * (6 - len(texts))
    some = Texts.of(texts).choose(np.array(order))
    mine, wanted = some.joined(), Texts.of([texts[place] for place in order])
    assert (mine.data, mine.lines) == (wanted.data, wanted.lines)
    assert mine.starts.tolist() == wanted.starts.tolist()
    assert mine.ends.tolist() == wanted.ends.tolist()
    assert Texts.of(some) == wanted == some == tuple(some)
    assert hash(some) == hash(tuple(some))
    assert some != texts[:5]


@given(st.binary(max_size=12) | st.text("a\ufeff\r\n\ud7ff\U0010ffff", max_size=9).map(str.encode))
def test_lines_of_a_file_are_what_readers_read(data):
    found = Texts.of_file(data)
    try:
        data.decode()
    except UnicodeDecodeError:
        assert found is None
        return
    lines = data.removeprefix("\ufeff".encode()).decode().split("\n")
    wanted = [line.removesuffix("\r") for line in lines[:-1]] + lines[-1:]
    # The last line feed begins no line, but a byte order mark alone is one.
    if not lines[-1] and not (len(lines) == 1 and data):
        wanted.pop()
    assert found == wanted


@given(st.binary(max_size=5))
def test_what_python_decodes_is_utf8(data):
    try:
        data.decode()
        fine = True
    except UnicodeDecodeError:
        fine = False
    assert (Texts.of_file(data + b"x") is not None) == fine
