"""Planted biases of a judge are found, and none where there is none."""

from __future__ import annotations

import numpy as np
import pytest

from deltableu.corpus import Item, Rating, RatingTable, Reference, Study
from deltableu.errors import InputError
from deltableu.judges import judge_bias
from deltableu.judges.bias_results import clustered_share

SYSTEMS = ("A", "B", "C", "D")


def study_of(rng, items=60):
    """People's ratings follow the quality of outputs, whose lengths have nothing to do with it."""
    quality = rng.normal(3, 1, (len(SYSTEMS), items))
    lengths = rng.integers(3, 60, quality.shape)
    made = tuple(Item(str(n), (Reference("r", "x"),), message="hi") for n in range(items))
    outputs = {
        name: tuple("w" * int(size) for size in lengths[place])
        for place, name in enumerate(SYSTEMS)
    }
    ratings = RatingTable.from_records(
        Rating(f"p{rater}", str(n), f"system:{name}", quality[place, n] + rng.normal(0, 0.5))
        for rater in range(3)
        for place, name in enumerate(SYSTEMS)
        for n in range(items)
    )
    return Study(made, outputs, ratings), quality, lengths


def ratings_of(values, raters=("llm:m",)):
    return RatingTable.from_records(
        Rating(rater, str(n), f"system:{name}", float(values[k, place, n]))
        for k, rater in enumerate(raters)
        for place, name in enumerate(SYSTEMS)
        for n in range(values.shape[2])
    )


def finding(found, check):
    return next(one for one in found[0].findings if one.check == check)


@pytest.mark.parametrize("favour", [0.0, 1.0])
def test_length(favour):
    rng = np.random.default_rng(1)
    study, quality, lengths = study_of(rng)
    values = quality + favour * np.log(lengths) + rng.normal(0, 0.5, quality.shape)
    found = finding(judge_bias(ratings_of(values[None]), study), "length")
    assert found.swayed is bool(favour)
    assert found.interval.low < found.value < found.interval.high
    assert found.measure.startswith("partial")


def test_length_without_people_is_no_bias_yet():
    rng = np.random.default_rng(2)
    study, quality, lengths = study_of(rng)
    alone = Study(study.items, study.outputs)
    found = finding(judge_bias(ratings_of((quality + lengths)[None]), alone), "length")
    assert found.swayed is None
    assert "people's ratings would say" in found.sentence


@pytest.mark.parametrize("favour", [0.0, 1.5])
def test_own_outputs(favour):
    rng = np.random.default_rng(3)
    study, quality, _ = study_of(rng)
    values = quality + rng.normal(0, 0.5, quality.shape)
    values[1] += favour
    found = judge_bias(ratings_of(values[None]), study, own=["B"])
    one = finding(found, "own outputs")
    assert one.swayed is bool(favour)
    assert (one.value > 0.5) is bool(favour)
    assert ("swayed by: own outputs" in found[0].sentences()[0]) is bool(favour)


def pairs_of(rng, items, favour):
    """A judge that sees quality, and with some probability only what is shown first."""
    quality = rng.normal(0, 1, (len(SYSTEMS), items))
    for n in range(items):
        for first, second in ((0, 1), (1, 0), (2, 3), (3, 2)):
            won = rng.random() < favour or quality[first, n] > quality[second, n]
            pair = f"{SYSTEMS[first]}|{SYSTEMS[second]}"
            for place, (system, value) in enumerate(((first, won), (second, not won)), 1):
                yield Rating(
                    "llm:m",
                    str(n),
                    f"system:{SYSTEMS[system]}",
                    float(value),
                    scale="0-1",
                    pair=pair,
                    position=place,
                )


def test_position():
    rng = np.random.default_rng(4)
    fair = judge_bias(RatingTable.from_records(pairs_of(rng, 80, 0.0)))
    assert finding(fair, "position").value == 0.0
    assert finding(fair, "shown first").value == 0.5
    assert finding(fair, "shown first").swayed is False
    swayed = judge_bias(RatingTable.from_records(pairs_of(rng, 80, 0.5)))
    found = finding(swayed, "position")
    assert found.interval.low < 0.5 < found.interval.high
    assert found.count == 160
    assert swayed[0].swayed_by == ("shown first",)
    assert set(swayed[0].missing) == {"length", "itself"}


def test_agreement_with_itself():
    rng = np.random.default_rng(5)
    quality = rng.normal(3, 1, (1, len(SYSTEMS), 50))
    values = quality + rng.normal(0, 1, (3, len(SYSTEMS), 50))
    found = judge_bias(ratings_of(values, ("llm:m#1", "llm:m#2", "llm:m#3")))
    one = finding(found, "itself")
    assert [bias.judge for bias in found] == ["llm:m"]
    assert one.value == pytest.approx(0.5, abs=0.12)
    assert one.interval.low < one.value < one.interval.high
    same = np.repeat(quality, 2, axis=0)
    assert finding(judge_bias(ratings_of(same, ("j#1", "j#2"))), "itself").value == 1.0


def test_intervals_of_shares_cover():
    """Comparisons of one item are alike: 95% intervals must not be those of independent ones."""
    rng = np.random.default_rng(6)
    inside = 0
    for _ in range(400):
        chance = rng.beta(1, 1, 60)
        values = (rng.random((60, 6)) < chance[:, None]).ravel()
        found = clustered_share(values, np.repeat(range(60), 6), 0.95)
        inside += found.low <= 0.5 <= found.high
    assert 0.92 <= inside / 400 <= 0.98


def test_what_cannot_be_told():
    rng = np.random.default_rng(7)
    study, quality, _ = study_of(rng, 10)
    table = ratings_of(quality[None])
    with pytest.raises(InputError, match="there is no judge 'llm:n'; there are llm:m"):
        judge_bias(table, study, judge="llm:n")
    with pytest.raises(InputError, match="there is no system 'E'"):
        judge_bias(table, study, own=["E"])
    with pytest.raises(InputError, match="needs the study"):
        judge_bias(table, own=["A"])
    bare = judge_bias(table)[0]
    assert bare.findings == ()
    assert "cannot be told" in bare.sentences()[0]
    assert set(bare.missing) == {"position", "length", "itself"}


def test_judges_of_whom_nothing_can_be_told_share_a_sentence():
    from deltableu.report import verdict

    ratings = RatingTable.of(
        raters=["a", "b", "c"] * 2,
        items=["1", "1", "1", "2", "2", "2"],
        systems=["A"] * 6,
        values=[1, 2, 3, 4, 5, 1],
    )
    said = verdict(judge_bias(ratings))
    assert said == ("Whether anything sways a, b and c cannot be told from these ratings.",)
