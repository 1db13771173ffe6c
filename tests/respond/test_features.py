"""Features of candidates and messages, beside literal transcriptions; reranking by them."""

from __future__ import annotations

import math
import time
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus import Item, NBestLists
from deltableu.errors import InputError
from deltableu.respond import (
    HAND_SET,
    MESSAGE_FEATURES,
    SYSTEM_TOTAL,
    message_features,
    reranked,
    with_message_features,
)
from deltableu.respond import features as module
from tests.text.test_words import words

texts = st.lists(st.sampled_from(["a", "b", "c", "A", "don't", ",", "你"]), max_size=8).map(
    " ".join
)


def levenshtein(one, other):
    """Wagner and Fischer's table, cell by cell."""
    table = [[max(i, j) if not i or not j else 0 for j in range(len(other) + 1)]
             for i in range(len(one) + 1)]  # fmt: skip
    for i, left in enumerate(one, start=1):
        for j, right in enumerate(other, start=1):
            table[i][j] = min(
                table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (left != right)
            )
    return table[-1][-1]


def literal(text, message):
    one, other = words(text), words(message)
    mine, theirs = Counter(one), Counter(other)
    dot = sum(times * theirs[word] for word, times in mine.items())
    lengths = [math.sqrt(sum(times**2 for times in counts.values())) for counts in (mine, theirs)]
    either = len(mine.keys() | theirs.keys())
    return [
        levenshtein(one, other) / max(len(one), len(other), 1),
        dot / math.prod(lengths) if all(lengths) else 0.0,
        len(mine.keys() & theirs.keys()) / either if either else 0.0,
        len(one) / max(len(other), 1),
    ]


@settings(max_examples=150, deadline=None)
@given(
    st.lists(st.tuples(texts, texts), min_size=1, max_size=12), st.sampled_from([1, 40, 1 << 20])
)
def test_features_as_they_are_defined(pairs, cells):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_CELLS", cells)
        found = message_features(*map(list, zip(*pairs, strict=True)))
    wanted = [literal(text, message) for text, message in pairs]
    assert found == pytest.approx(np.array(wanted), rel=1e-12)


def test_golden_numbers():
    found = message_features(
        ["I like the red one", "I like it a lot"], ["Which one do you like?"] * 2
    )
    # Substituted words at best: one, like; 1 of 5 and 1 of 5 words in place.
    assert found[0].tolist() == pytest.approx([1.0, 2 / 5, 2 / 8, 1.0])
    assert found[1].tolist() == pytest.approx([1.0, 1 / 5, 1 / 9, 1.0])
    assert message_features([], []).shape == (0, 4)
    with pytest.raises(InputError, match="there are 1 texts, but 0 messages"):
        message_features(["a"], [])


def test_many_candidates_take_seconds():
    rng = np.random.default_rng(0)
    names = np.array([f"w{number}" for number in range(3000)])

    def text():
        return " ".join(names[rng.integers(3000, size=rng.integers(1, 20))])

    pool = [text() for _ in range(2000)]
    messages = [pool[number % 200] for number in range(20_000)]
    candidates = [pool[number] for number in rng.integers(2000, size=20_000)]
    started = time.process_time()
    message_features(candidates, messages)
    assert time.process_time() - started < 5.0


def lists():
    return NBestLists(
        ("1", "2"),
        np.array([0, 2, 5]),
        ("where is it", "over there", "yes", "no", "why"),
        ("LM", "rules"),
        np.array([[-1.0, 0], [-2, 1], [-3, 0], [-1, 1], [-1, 2]]),
        np.array([-1.0, -2, -3, -1, -1]),
    )


ITEMS = [
    Item("1", (), message="where is it?"),
    Item("2", (), message="really"),
    Item("3", (), message="hm"),
]


def test_the_hand_set_weights_prefer_what_does_not_repeat_the_message():
    found = reranked(lists(), ITEMS)
    assert found.texts == ("over there", "no", "")
    assert found.missing == ("3",)
    assert found.nbest.names == ("LM", "rules", *MESSAGE_FEATURES, SYSTEM_TOTAL)
    spread = (0.5 + math.sqrt(8) / 3) / 2
    totals = np.column_stack((found.nbest.features[:, 2:6], lists().totals)) @ np.array(
        [*HAND_SET.values(), 1 / spread]
    )
    assert found.nbest.totals == pytest.approx(totals)
    assert "LM=0,rules=0,edit-distance=0.5" in found.signature
    # Once more changes nothing: features stay, and the first total is a feature now.
    again = reranked(found.nbest, ITEMS)
    assert again.texts == found.texts
    assert again.nbest.names == found.nbest.names


def test_weights_decide():
    nothing = dict.fromkeys((*MESSAGE_FEATURES, SYSTEM_TOTAL, "LM", "rules"), 0.0)
    assert reranked(lists(), ITEMS, nothing | {"LM": 1}).texts == ("where is it", "no", "")
    assert reranked(lists(), ITEMS, nothing | {"rules": 2}).texts == ("over there", "why", "")
    assert reranked(lists(), ITEMS, nothing | {"LM": -1}).texts == ("over there", "yes", "")
    with pytest.raises(InputError, match="the weights lack the feature 'cosine'"):
        reranked(lists(), ITEMS, {key: one for key, one in nothing.items() if key != "cosine"})
    with pytest.raises(InputError, match="there is no feature 'LMs'"):
        reranked(lists(), ITEMS, nothing | {"LMs": 1})
    with pytest.raises(InputError, match="not a finite number"):
        reranked(lists(), ITEMS, nothing | {"LM": float("inf")})


def test_candidates_of_no_item():
    with pytest.raises(InputError, match="item '2': there are candidates for this item, but"):
        with_message_features(lists(), ITEMS[:1])
