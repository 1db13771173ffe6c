"""Sentinels: what they know, what they do not, and that they repeat themselves."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.metrics.sentinels import Constant, MessageOverlap, Random
from deltableu.score.registry import make_metrics
from deltableu.score.systems import score_systems
from tests.score.corpora import texts

few = settings(max_examples=60, deadline=None)

# --- Overlap with the message ---------------------------------------------------------------------


def token_f1(hypothesis: str, message: str) -> float:
    """Precision and recall of shared tokens, then their harmonic mean."""
    common = sum((Counter(hypothesis.split()) & Counter(message.split())).values())
    if common == 0:
        return 0.0
    precision = common / len(hypothesis.split())
    recall = common / len(message.split())
    return 100 * 2 * precision * recall / (precision + recall)


@few
@given(st.lists(st.tuples(texts(), texts()), min_size=1, max_size=6))
def test_message_overlap_is_token_f1(pairs):
    hypotheses = [hypothesis for hypothesis, _ in pairs]
    messages = [message for _, message in pairs]
    # Items need no references.
    items = ReferenceSet([[]] * len(pairs), messages=messages)
    rows = MessageOverlap(tokenize="none").compute(hypotheses, items)
    expected = [token_f1(hypothesis, message) for hypothesis, message in pairs]
    assert rows.segment_scores() == pytest.approx(expected)
    assert rows.score().score == pytest.approx(np.mean(expected))
    assert rows[:1].score().score == pytest.approx(expected[0])


@pytest.mark.parametrize(
    ("hypothesis", "message", "expected"),
    [
        ("why me ?", "why me ?", 100.0),
        ("me why ?", "why me ?", 100.0),  # a bag of words
        ("a a a a", "a b", 100 / 3),
        ("no", "why me ?", 0.0),
        ("", "why me ?", 0.0),
        ("no", "", 0.0),
        ("", "", 0.0),
    ],
)
def test_message_overlap_by_hand(hypothesis, message, expected):
    items = ReferenceSet([["x"]], messages=[message])
    rows = MessageOverlap().compute([hypothesis], items)
    assert rows.score().score == pytest.approx(expected)


def test_missing_messages_are_named():
    with pytest.raises(InputError, match="needs the message"):
        MessageOverlap().encode([["a"]])
    items = ReferenceSet([["a"], ["b"]], messages=[None, "x"], item_ids=["one", "two"])
    with pytest.raises(InputError, match="'one' has no message"):
        MessageOverlap().encode(items)
    with pytest.raises(InputError, match="1 of 2 items have none, the first is 'one'"):
        score_systems(items, {"s": ["a", "b"]}, (MessageOverlap(),))


def test_signature_says_what_was_compared():
    def signature(reference: str, message: str) -> str:
        items = ReferenceSet([[reference]], messages=[message])
        return str(MessageOverlap().compute(["a"], items).score().signature)

    assert "|select:messages|" in signature("a", "b")
    assert signature("a", "b") == signature("c", "b")
    assert signature("a", "b") != signature("a", "c")


# --- Constant and noise ---------------------------------------------------------------------------


def test_constant():
    rows = Constant().compute(["", "yes"], [["yes"], []])
    assert rows.segment_scores().tolist() == [50.0, 50.0]
    assert rows.score().score == 50.0
    assert rows[[0]].score().score == 50.0
    assert rows.bootstrap(20, method="bca").interval.low == 50.0


def noise(hypotheses: list[str], *, seed: int = 0, ids: list[str] | None = None) -> list[float]:
    items = ReferenceSet([["any"]] * len(hypotheses), item_ids=ids)
    return Random(seed=seed).compute(hypotheses, items).segment_scores().tolist()


@few
@given(st.lists(st.text(max_size=5), min_size=1, max_size=6), st.integers(-5, 5))
def test_noise_is_a_function_of_seed_item_and_text(hypotheses, seed):
    scores = noise(hypotheses, seed=seed)
    assert noise(hypotheses, seed=seed) == scores
    assert all(0 <= score < 100 for score in scores)
    # Other hypotheses beside it change nothing; another seed, item or text does.
    assert noise([*hypotheses[:1], "q"], seed=seed)[0] == scores[0]
    assert noise(hypotheses, seed=seed + 1)[0] != scores[0]
    assert noise([hypotheses[0] + "!"], seed=seed)[0] != scores[0]
    assert len(set(noise(["same"] * 5, seed=seed))) == 5


def test_noise_follows_the_item_when_others_are_left_out():
    whole = noise(["yes", "no", "well"], ids=["a", "b", "c"])
    assert noise(["yes", "well"], ids=["a", "c"]) == [whole[0], whole[2]]


def test_noise_never_changes():
    assert noise(["yes", "no"]) == pytest.approx([73.536402, 52.620561], abs=1e-6)


def test_noise_is_uniform():
    scores = np.array(noise(["same"] * 20_000))
    shares = np.histogram(scores, bins=10, range=(0, 100))[0] / len(scores)
    assert shares == pytest.approx([0.1] * 10, abs=0.01)
    assert abs(np.corrcoef(scores[:-1], scores[1:])[0, 1]) < 0.03


def test_noise_takes_any_text():
    assert all(0 <= value < 100 for value in noise(["", "\0", "漢", "a" * 10_000]))


def test_settings():
    made = make_metrics(["message-overlap", "constant", "random"], {"seed": 3, "lowercase": True})
    assert made == (MessageOverlap(lowercase=True), Constant(), Random(seed=3))
    assert Constant().needs == Random().needs == frozenset()
    assert str(Random(seed=3).compute(["a"], [["b"]]).score().signature).startswith(
        "metric:random|seed:3|items:1|version:"
    )
    with pytest.raises(InputError, match="seed must be a whole number"):
        Random(seed=1.5)


def test_a_seed_repeats_the_bootstrap():
    rows = Random().compute([str(number) for number in range(50)], [["any"]] * 50)
    first, again = (rows.bootstrap(50, method="bca", rng=3) for _ in range(2))
    assert np.array_equal(first.distribution, again.distribution)
    assert first.interval == again.interval
