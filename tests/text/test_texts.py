"""Texts in one buffer are the texts that went in."""

from __future__ import annotations

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.logs import Block
from deltableu.text import Texts

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
