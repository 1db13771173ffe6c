"""A rater learns what is planted, alike from the same seed, and goes on after being killed."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("torch")

from deltableu.corpus.types import Item, Reference, Source
from deltableu.errors import InputError
from deltableu.judges.model_file import write_model
from deltableu.judges.nn_rater import NNRater
from deltableu.judges.settings import RaterSettings, TrainingSettings, preset
from deltableu.judges.training import train_rater
from tests.judges.planted import planted_topics

TINY = RaterSettings(embedding=8, hidden=8, layer=16)
QUICK = TrainingSettings(vocabulary="words", batch=50, epochs=3, patience=3, validation=30)


def curve(trained):
    return [(epoch["loss"], epoch["validation_loss"]) for epoch in trained.card["epochs"]]


@pytest.fixture(scope="module")
def learnt(tmp_path_factory):
    """Ten topics for this size; the bar's fifty are in the long test."""
    shape = replace(preset("small")[0], embedding=32, hidden=32, layer=64)
    how = replace(QUICK, epochs=6, batch=100, validation=0.1)
    rows = planted_topics(900, topics=10, topic_words=10, common_words=200, length=10)
    trained = train_rater(rows, settings=shape, training=how, threads=1)
    path = tmp_path_factory.mktemp("model") / "judge.safetensors"
    write_model(path, trained.settings, trained.vocabulary, trained.state, trained.card)
    return trained, path


def test_learns_planted_topics(learnt):
    held_out = learnt[0].card["held out"]
    # Two of different utterances have the same topic by chance in a tenth of the negatives.
    assert held_out["accuracy"] > 0.88
    assert held_out["accuracy"] > held_out["accuracy of word overlap"] + 0.15
    assert held_out["area under curve"] > 0.93


def test_rates_references_of_the_same_topic_above_others(learnt):
    rater = NNRater.load(learnt[1])

    def text(topic, word):
        return f"common1 common2 topic{topic}word{word} common3"

    good = Reference("r1", text(3, 5), origin="mined", source=Source(text(3, 6)))
    bad = Reference("r2", text(7, 5), origin="mined", source=Source(text(7, 6)))
    item = Item("i", (Reference("r0", text(3, 1)), good, bad), message=text(3, 2))
    weights = rater.rate(item, item.references)
    assert weights[0] == 1.0
    assert weights[1] > 0 > weights[2]


@pytest.mark.long
def test_learns_fifty_planted_topics_within_three_minutes():
    """Of words: SentencePiece cuts the invented ones into so many pieces that texts are cut off."""
    shape, how = preset("small")
    how = replace(how, vocabulary="words", epochs=4)
    seconds = time.monotonic()
    trained = train_rater(planted_topics(3000), settings=shape, training=how)
    print(trained.card["held out"]["accuracy"], time.monotonic() - seconds)
    assert trained.card["held out"]["accuracy"] > 0.95


def test_same_seed_same_model():
    rows = planted_topics(200, topics=5, length=6)
    made = [
        train_rater(rows, settings=TINY, training=replace(QUICK, seed=seed), threads=1)
        for seed in (0, 0, 1)
    ]
    for name, array in made[0].state.items():
        assert np.array_equal(array, made[1].state[name])
    assert curve(made[0]) == curve(made[1]) != curve(made[2])


@pytest.mark.parametrize("start", ["latent", "scaled", "torch"])
@pytest.mark.parametrize("negatives", ["matched", "random"])
def test_every_reading_trains(start, negatives):
    rows = planted_topics(120, topics=5, length=6)
    how = replace(QUICK, start=start, negatives=negatives, epochs=1, vocabulary="pieces")
    trained = train_rater(rows, settings=TINY, training=how, threads=1)
    assert np.isfinite(curve(trained)[0]).all()
    assert trained.card["training"]["negatives"] == negatives


class StopError(Exception):
    """In place of a kill; the command line's test has a real one."""


@pytest.mark.parametrize("when", [1, 40])
def test_interrupted_training_goes_on_as_if_nothing_had_been(tmp_path, when):
    rows = planted_topics(200, topics=5, length=6)
    settings = {"settings": TINY, "training": QUICK, "threads": 1}
    whole = train_rater(rows, **settings)
    steps = 0

    def stop(what, done, total):
        nonlocal steps
        steps += what.startswith("epoch")
        if steps == when:
            raise StopError

    with pytest.raises(StopError):
        train_rater(rows, **settings, work=tmp_path / "work", pause=0.0, progress=stop)
    seen = []
    again = train_rater(
        rows, **settings, work=tmp_path / "work", pause=0.0, on_epoch=seen.append, keep_work=True
    )
    assert curve(again) == curve(whole)
    assert [epoch.number for epoch in seen] == [1, 2, 3]
    for name, array in whole.state.items():
        assert np.array_equal(array, again.state[name])
    again.work.end()
    assert not (tmp_path / "work").exists()


def test_work_of_other_settings_is_not_used(tmp_path):
    rows = planted_topics(200, topics=5, length=6)
    how = replace(QUICK, epochs=1)
    train_rater(rows, settings=TINY, training=how, work=tmp_path, keep_work=True, threads=1)
    other = replace(how, seed=4)
    again = train_rater(rows, settings=TINY, training=other, work=tmp_path, threads=1)
    assert curve(again) == curve(train_rater(rows, settings=TINY, training=other, threads=1))


@pytest.mark.parametrize("name", ["state", "vocabulary", "pairs"])
@pytest.mark.parametrize("left", [0, 0.5])
def test_damaged_checkpoint_is_not_used(tmp_path, name, left):
    rows = planted_topics(200, topics=5, length=6)
    how = replace(QUICK, epochs=1)
    made = train_rater(rows, settings=TINY, training=how, work=tmp_path, keep_work=True, threads=1)
    made.work.release()
    (damaged,) = tmp_path.glob(f"*/{name}.npz")
    damaged.write_bytes(damaged.read_bytes()[: int(left * damaged.stat().st_size)])
    again = train_rater(rows, settings=TINY, training=how, work=tmp_path, threads=1)
    assert curve(again) == curve(made)


def test_no_flipped_bit_of_a_checkpoint_goes_unnoticed(tmp_path):
    rows = planted_topics(200, topics=5, length=6)
    how = replace(QUICK, epochs=1)
    made = train_rater(rows, settings=TINY, training=how, work=tmp_path, keep_work=True, threads=1)
    for name in ("state", "vocabulary", "pairs"):
        (path,) = tmp_path.glob(f"*/{name}.npz")
        data = path.read_bytes()
        for place in range(0, len(data), 97):
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            assert made.work.kept(name) is None
        path.write_bytes(data)
        assert made.work.kept(name) is not None


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"learning_rate": 0.0}, "learning_rate"),
        ({"batch": 0}, "batch"),
        ({"max_responses": 1}, "max_responses"),
        ({"validation": 0.0}, "validation"),
        ({"negatives": "hard"}, "negatives"),
        ({"start": "zero"}, "start"),
        ({"seed": -1}, "seed"),
        ({"seed": 2**63}, "seed"),
    ],
)
def test_wrong_settings_are_named(change, said):
    with pytest.raises(InputError, match=said):
        replace(QUICK, **change)


@pytest.mark.parametrize(
    "size",
    [{"hidden": 10**9}, {"embedding": 10**9}, {"layer": 10**9}, {"layers": 10**9}],
)
def test_absurd_sizes_are_refused(size):
    with pytest.raises(InputError, match="parameters"):
        train_rater([("a", "b")], settings=replace(TINY, **size), training=QUICK)


@pytest.mark.parametrize("rows", [[], [("hello", "hi"), ("what now", "no idea")]])
def test_logs_without_several_responses(rows):
    with pytest.raises(InputError):
        train_rater(rows, settings=TINY, training=QUICK)
