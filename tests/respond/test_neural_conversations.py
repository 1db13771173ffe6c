"""Conversations of logs, against lists and dictionaries."""

from __future__ import annotations

import re
from collections import defaultdict

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.logs import find_partitions
from deltableu.neural import WordVocabulary
from deltableu.respond.neural.conversations import Conversations, read_conversations

WORDS = list("abcdef")
VOCABULARY = WordVocabulary(WORDS)
#: In several spellings, and some without words.
TEXTS = st.builds(
    str.format,
    st.sampled_from(["{}", "{}!", "- {}?"]),
    st.sampled_from(["", *WORDS, *map(str.upper, WORDS), "a b", "c d e", "f a"]),
)
ROWS = st.lists(st.tuples(TEXTS, TEXTS, st.sampled_from(["", *"123456"])), min_size=1, max_size=40)


def form(text):
    return " ".join(re.findall("[a-z]+", text.lower()))


def literal(rows, turns):
    """Turns and response of each pair, and what it is held out with."""
    rows = [(form(u), form(r), thread) for u, r, thread in rows if form(u) and form(r)]
    before = []
    for place, (utterance, _, thread) in enumerate(rows):
        above = [n for n in range(place) if rows[n][1:] == (utterance, thread)]
        before.append(above[-1] if above and thread else None)
    chosen = {}
    for place, (utterance, response, _) in enumerate(rows):
        old = chosen.get((utterance, response))
        if old is None or (turns > 1 and before[old] is None and before[place] is not None):
            chosen[utterance, response] = place
    found = {}
    for (utterance, response), place in chosen.items():
        said, at = [], place
        while at is not None and len(said) < turns:
            said.insert(0, rows[at][0])
            at = before[at]
        thread = rows[place][2]
        found[tuple(said), response] = f"thread {thread}" if thread else utterance
    return found


def spelt(found):
    """The same of what was read, with whether each is held out."""
    texts = VOCABULARY.decode([found.texts[n].tolist() for n in range(len(found.texts))])
    pairs = {}
    for turns, response, held_out in zip(
        found.turns, found.responses, found.validation, strict=True
    ):
        said = tuple(form(texts[place]) for place in turns if place >= 0)
        pairs[said, form(texts[response])] = bool(held_out)
    assert len(pairs) == len(found.responses)
    return pairs


def read(rows, **how):
    records = [{"utterance": u, "response": r, "thread": thread or None} for u, r, thread in rows]
    return read_conversations(find_partitions(records), VOCABULARY, **how)


@settings(max_examples=60, deadline=None)
@given(ROWS, st.sampled_from([1, 2, 3]), st.integers(0, 5))
def test_turns_and_what_is_held_out(rows, turns, seed):
    # Enough of both sides, whatever chance says of the rest.
    rows = [*rows, *((f"{word} {word} {other}", "b", "") for word in WORDS for other in "ab")]
    wanted = literal(rows, turns)
    found = read(rows, turns=turns, validation=4, seed=seed)
    pairs = spelt(found)
    assert pairs.keys() == wanted.keys()
    sides = defaultdict(set)
    for pair, held_out in pairs.items():
        sides[wanted[pair]].add(held_out)
    assert all(len(side) == 1 for side in sides.values())
    counts = found.counts
    with_words = sum(bool(form(u) and form(r)) for u, r, _ in rows)
    assert (counts.rows, counts.empty) == (len(rows), len(rows) - with_words)
    assert (counts.pairs, counts.repeated) == (len(wanted), with_words - len(wanted))
    assert counts.with_context == sum(len(said) > 1 for said, _ in wanted)
    assert counts.validation == sum(pairs.values())
    again = read(rows, turns=turns, validation=4, seed=seed)
    assert spelt(again) == pairs
    kept = Conversations.of(again.arrays(), vars_of(again.counts))
    assert spelt(kept) == pairs


def vars_of(counts):
    return {name: getattr(counts, name) for name in counts.__slots__}


def test_of_many_pairs_some_are_kept_and_texts_are_cut():
    rows = [(f"{u} {v}", f"{v} {u} a b c", "") for u in WORDS for v in WORDS]
    found = read(rows, max_pairs=20, max_length=3, validation=5)
    assert (found.counts.pairs, found.counts.too_many) == (20, 16)
    assert found.counts.validation == 5
    assert found.texts.lengths.max() == 3
    assert found.counts.cut > 0
    other = read(rows, max_pairs=20, max_length=3, validation=5, seed=1)
    assert spelt(other).keys() != spelt(found).keys()


@pytest.mark.parametrize(
    ("rows", "how", "message"),
    [
        ([("a", "b", "")], {}, "of 1 different pairs in 1 rows"),
        ([(one, "b", "") for one in WORDS], {"validation": 5}, "would be held out"),
        ([("?", "!", "")] * 9, {}, "hold no rows with words on both sides"),
    ],
)
def test_too_little(rows, how, message):
    with pytest.raises(InputError, match=message):
        read(rows, **how)
