"""A scorer of replies learns what is planted, alike from the same seed, and within its time."""

from __future__ import annotations

import time
from dataclasses import asdict, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

pytest.importorskip("torch")

from deltableu.errors import InputError
from deltableu.judges.log_pairs import read_training_pairs
from deltableu.judges.ruber_examples import draw_replies
from deltableu.judges.ruber_settings import RuberSettings, RuberTraining, ruber_preset
from deltableu.judges.settings import RaterSettings, TrainingSettings
from deltableu.judges.training import train_rater, train_ruber
from deltableu.logs.partitions import find_partitions
from deltableu.neural.training_plan import Pace, fit_plan
from deltableu.neural.word_vocabulary import word_vocabulary
from tests.judges.planted import planted_topics

TINY = RuberSettings(embedding=8, hidden=8, layer=8)
QUICK = RuberTraining(vocabulary="words", batch=50, epochs=3, patience=3, validation=0.1)


def curve(trained):
    return [(epoch["loss"], epoch["validation_loss"]) for epoch in trained.card["epochs"]]


@pytest.mark.parametrize("loss", ["margin", "entropy"])
def test_learns_planted_relevance(loss):
    """Twenty-five topics for this size; the bar's fifty are in the long test."""
    rows = planted_topics(800, topics=25, topic_words=4, common_words=100, length=10)
    shape = RuberSettings(embedding=32, hidden=32, layer=32)
    how = replace(QUICK, epochs=4, batch=100, learning_rate=3e-3, loss=loss)
    held_out = train_ruber(rows, settings=shape, training=how, threads=1).card["held out"]
    # A sampled reply has the message's topic in one of 25 cases.
    assert held_out["area under curve"] > 0.95
    assert held_out["accuracy"] > held_out["accuracy of word overlap"] + 0.1
    assert 0 < held_out["smallest score"] < held_out["largest score"] < 1


@pytest.mark.long
def test_learns_fifty_planted_topics_within_three_minutes():
    shape, how = ruber_preset("small")
    began = time.monotonic()
    rows = planted_topics(4000)
    trained = train_ruber(rows, settings=shape, training=replace(how, vocabulary="words"))
    seconds = time.monotonic() - began
    print(trained.card["held out"]["area under curve"], seconds)
    assert trained.card["held out"]["area under curve"] > 0.95
    assert seconds < 180


def test_same_seed_same_model():
    rows = planted_topics(100, topics=5, length=6)
    made = [
        train_ruber(rows, settings=TINY, training=replace(QUICK, seed=seed), threads=1)
        for seed in (0, 0, 1)
    ]
    for name, array in made[0].state.items():
        assert np.array_equal(array, made[1].state[name])
    assert curve(made[0]) == curve(made[1]) != curve(made[2])


@pytest.mark.parametrize("start", ["latent", "scaled", "torch"])
def test_every_start_trains_on_pieces(start):
    rows = planted_topics(60, topics=5, length=6)
    how = replace(QUICK, start=start, epochs=1, vocabulary="pieces", vocabulary_size=300)
    assert np.isfinite(curve(train_ruber(rows, settings=TINY, training=how, threads=1))[0]).all()


class StopError(Exception):
    """In place of a kill; the command line's test has a real one."""


@pytest.mark.parametrize("minutes", [None, 0.0005])
def test_interrupted_training_goes_on_as_if_nothing_had_been(tmp_path, minutes):
    """With a budget too: what was planned is kept, however fast the machine is then."""
    rows = planted_topics(150, topics=5, length=6)
    plans = []
    settings = {"settings": TINY, "training": QUICK, "threads": 1, "work": tmp_path / "work"}
    settings |= {"pause": 0.0, "minutes": minutes, "on_plan": plans.append}
    steps = 0

    def stop(what, done, total):
        nonlocal steps
        steps += what.startswith("epoch")
        if steps == 5:
            raise StopError

    with pytest.raises(StopError):
        train_ruber(rows, **settings, progress=stop)
    again = train_ruber(rows, **settings)
    assert plans[0] == plans[1]
    assert plans[0].cut == (minutes is not None)
    whole = train_ruber(
        rows,
        settings=TINY,
        training=replace(QUICK, examples=plans[0].examples, epochs=plans[0].epochs),
        threads=1,
    )
    assert curve(again) == curve(whole)
    for name, array in whole.state.items():
        assert np.array_equal(array, again.state[name])
    assert not (tmp_path / "work").exists()


def test_every_message_keeps_its_reply_and_gets_one_of_another():
    rows = planted_topics(80, topics=5, length=6, responses=2) + [
        ("hello", f"hi {n}") for n in range(30)
    ]
    partitions = find_partitions(rows)
    vocabulary = word_vocabulary(partitions, size=5000)
    pairs = read_training_pairs(partitions, vocabulary, validation=0.2, several=False, other=10**6)
    assert pairs.counts.other == len(pairs.groups) == len(set(rows))
    known = {}
    for utterance, response, group in zip(
        pairs.utterances, pairs.responses, pairs.groups, strict=True
    ):
        known.setdefault((int(utterance), int(response)), int(group))
    by_reply = {}
    for (_, response), group in known.items():
        by_reply.setdefault(response, set()).add(group)
    seen = set()
    for split in ("training", "validation"):
        for epoch in range(3):
            drawn = draw_replies(pairs, split, seed=0, epoch=epoch)
            assert sorted(drawn[:, 1]) == sorted(drawn[:, 2])
            for message, reply, other in drawn.tolist():
                group = known[message, reply]
                assert by_reply[other] != {group}
                assert pairs.validation[group] == (split == "validation")
            seen.add(tuple(drawn[:, 2].tolist()))
    assert len(seen) == 6
    few = draw_replies(pairs, "training", seed=0, epoch=0, most=7)
    assert few.shape == (7, 3)


def test_pairs_beyond_the_most_are_left_to_chance():
    rows = planted_topics(80, topics=5, length=6, responses=2)
    how = replace(QUICK, max_pairs=60, epochs=1, validation=0.3)
    counts = train_ruber(rows, settings=TINY, training=how, threads=1).card["data"]
    assert counts["other"] == 60
    assert counts["rows"] == 160


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([], "there are no logs"),
        ([("hello", "hi")], "of 1 utterance in 1 rows"),
    ],
)
def test_logs_with_too_little(rows, said):
    with pytest.raises(InputError, match=said):
        train_ruber(rows, settings=TINY, training=QUICK)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"loss": "hinge"}, "loss"),
        ({"margin": 0.0}, "margin"),
        ({"margin": 1.5}, "margin"),
        ({"max_pairs": 1}, "max_pairs"),
        ({"examples": 1}, "examples"),
        ({"learning_rate": 2.0}, "learning_rate"),
    ],
)
def test_wrong_settings_are_named(change, said):
    with pytest.raises(InputError, match=said):
        replace(QUICK, **change)


def test_minutes_are_above_0():
    with pytest.raises(InputError, match="minutes"):
        train_ruber([("a", "b")], minutes=-1.0)


# --- how much fits into the time ------------------------------------------------------------------


@given(
    st.integers(100, 10**6),
    st.integers(10, 10**5),
    st.integers(1, 20),
    st.floats(1e-5, 1e-1),
    st.floats(0.05, 600),
    st.floats(0, 300),
)
def test_a_plan_fits_into_its_time(available, held_out, epochs, learning, minutes, spent):
    pace = Pace(learning, learning / 3)
    plan = fit_plan(available, held_out, epochs, 100, pace, minutes=minutes, spent=spent)
    assert 1 <= plan.examples <= available
    assert 1 <= plan.epochs <= epochs
    assert 1 <= plan.held_out <= held_out
    assert plan.seconds <= plan.seconds_of_all * (1 + 1e-9)
    budget = max(60 * minutes - spent, 12 * minutes)
    least = min(available, 1000) * learning + min(held_out, 500) * learning / 3
    assert plan.seconds <= max(budget, least) * (1 + 1e-9)
    if not plan.cut:
        assert plan.examples == available
    whole = fit_plan(available, held_out, epochs, 100, pace)
    assert (whole.examples, whole.epochs, whole.held_out) == (available, epochs, held_out)


def test_the_nn_rater_keeps_to_its_time_too():
    rows = planted_topics(300, topics=5, length=6)
    shape = RaterSettings(embedding=8, hidden=8, layer=16)
    how = TrainingSettings(vocabulary="words", batch=20, epochs=6, patience=6, validation=30)
    plans = []
    trained = train_rater(
        rows, settings=shape, training=how, threads=1, minutes=0.001, on_plan=plans.append
    )
    (plan,) = plans
    assert plan.cut
    assert trained.card["plan"] == asdict(plan)
    assert all(epoch["examples"] <= plan.examples for epoch in trained.card["epochs"])
