"""iBLEU: two BLEUs, one subtracted."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import BLEU, ReferenceSet
from deltableu.errors import InputError
from deltableu.score.metrics.ibleu import IBLEU
from deltableu.score.registry import make_metrics
from deltableu.score.systems import score_systems
from tests.score.corpora import corpora, random_corpus, texts

few = settings(max_examples=50, deadline=None)


@few
@given(corpora(), st.integers(1, 4), st.floats(0, 1), st.data())
def test_any_segments_score_as_two_bleus(corpus, order, alpha, data):
    size = len(corpus.hypotheses)
    messages = data.draw(st.lists(texts(), min_size=size, max_size=size))
    places = data.draw(st.lists(st.integers(0, size - 1), min_size=1, max_size=8))
    plain = BLEU(order=order, tokenize="none")
    likeness = plain.compute(corpus.hypotheses, corpus.references)
    parroting = plain.compute(corpus.hypotheses, [[message] for message in messages])
    rows = IBLEU(order=order, tokenize="none", alpha=alpha).compute(
        corpus.hypotheses, ReferenceSet(corpus.references, messages=messages)
    )
    for chosen in (slice(None), places):
        expected = (
            alpha * likeness[chosen].score().score - (1 - alpha) * parroting[chosen].score().score
        )
        assert rows[chosen].score().score == pytest.approx(expected, abs=1e-9)
    assert rows.resample(np.array([places])) == pytest.approx(
        [rows[places].score().score], abs=1e-9
    )
    expected_segments = alpha * likeness.segment_scores() - (1 - alpha) * parroting.segment_scores()
    np.testing.assert_allclose(rows.segment_scores(), expected_segments, atol=1e-9)


def test_worked_by_hand():
    # Unigrams: 2 of 4 words are in the reference, 3 of 4 in the message; no text is too short.
    items = ReferenceSet([["a b"]], messages=["b c d"])
    score = IBLEU(order=1).compute(["a b c d"], items).score()
    assert score.score == pytest.approx(0.8 * 50 - 0.2 * 75)
    assert IBLEU(order=1, alpha=1).compute(["a b c d"], items).score().score == pytest.approx(50)
    assert IBLEU(order=1, alpha=0).compute(["a b c d"], items).score().score == pytest.approx(-75)


@pytest.mark.parametrize(
    ("hypothesis", "reference", "message", "expected"),
    [
        ("", "a b", "c d", 0.0),
        ("a b", "", "c d", 0.0),
        ("a b", "c d", "", 0.0),
        ("", "", "", 0.0),
        ("a b c d", "a b c d", "x", 80.0),
        ("a b c d", "x", "a b c d", -20.0),
    ],
)
def test_empty_and_extreme_texts(hypothesis, reference, message, expected):
    rows = IBLEU().compute([hypothesis], ReferenceSet([[reference]], messages=[message]))
    assert rows.score().score == pytest.approx(expected, abs=1e-9)
    assert rows.segment_scores() == pytest.approx([expected], abs=1e-9)
    assert np.isfinite(rows.bootstrap(10, method="bca").distribution).all()


def test_missing_messages_are_named():
    with pytest.raises(InputError, match="needs the message"):
        IBLEU().encode([["a"]])
    items = ReferenceSet([["a"], ["b"]], messages=["x", None], item_ids=["one", "two"])
    with pytest.raises(InputError, match="'two' has no message"):
        IBLEU().encode(items)


def test_signature_covers_settings_references_and_messages():
    def signature(references: list[list[str]], messages: list[str], **chosen: float) -> str:
        items = ReferenceSet(references, messages=messages)
        return str(IBLEU(**chosen).compute(["a"], items).score().signature)

    ours = signature([["a"]], ["b"])
    assert ours.startswith("metric:ibleu|alpha:0.8|order:4|combine:geometric|eff:no|")
    assert signature([["a"]], ["b"]) == ours
    others = [
        signature([["c"]], ["b"]),
        signature([["a"]], ["c"]),
        signature([["a"]], ["b"], alpha=0.7),
    ]
    assert len({ours, *others}) == 4


def test_settings_are_checked():
    (metric,) = make_metrics(["ibleu"], {"alpha": 0.5, "order": 2})
    assert metric == IBLEU(alpha=0.5, order=2)
    for alpha in (-0.1, 1.1, float("nan"), "0.5", None):
        with pytest.raises(InputError, match="alpha must be a number from 0 to 1"):
            IBLEU(alpha=alpha)
    with pytest.raises(InputError, match="order must be"):
        IBLEU(order=0)
    with pytest.raises(InputError, match="smooth must be one of"):
        IBLEU(smooth="linear")


def test_systems_share_what_was_encoded():
    corpus = random_corpus(8, 30)
    messages = [row[-1] for row in corpus.references]
    items = ReferenceSet(corpus.references, messages=messages)
    outputs = {"one": corpus.hypotheses, "parrot": messages}
    metrics = (IBLEU(order=2), BLEU(order=2))
    scores = [scored.score.score for scored in score_systems(items, outputs, metrics).scores]
    alone = [
        metric.compute(hypotheses, items).score().score
        for metric in metrics
        for hypotheses in outputs.values()
    ]
    assert scores == pytest.approx(alone)
    assert scores[1] == pytest.approx(0.8 * scores[3] - 20)  # a parrot's BLEU with the message: 100


def test_a_seed_repeats_the_bootstrap():
    corpus = random_corpus(9, 30)
    items = ReferenceSet(corpus.references, messages=[row[0] for row in corpus.references])
    rows = IBLEU(order=2).compute(corpus.hypotheses, items)
    first, again = (rows.bootstrap(50, method="bca", rng=3) for _ in range(2))
    assert np.array_equal(first.distribution, again.distribution)
    assert first.interval == again.interval
