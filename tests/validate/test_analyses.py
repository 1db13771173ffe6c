"""What lies behind a correlation: bins, failure cases, kinds of systems, advice."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu import read_study, validate_metrics
from deltableu.corpus import Item, Rating, RatingTable, Reference, ScoreTable, Study, System
from deltableu.errors import InputError
from deltableu.validate import (
    ValidationPlan,
    analyse_validation,
    failure_cases,
    kinds_of_systems,
    quality_bins,
    validation_advice,
)
from deltableu.validate.quality_bins import bin_edges, bin_places

Scores = dict[str, list[float]]
SMALL = st.integers(0, 6).map(float)


@given(human=st.lists(SMALL, min_size=2, max_size=40), bins=st.integers(2, 5), data=st.data())
def test_bins_are_as_counted_one_by_one(human: list[float], bins: int, data: Any) -> None:
    rule = data.draw(st.sampled_from(["quantile", "width"]))
    if len(set(human)) == 1:
        with pytest.raises(InputError, match="nothing to cut"):
            bin_edges(human, bins, rule)
        return
    edges = bin_edges(human, bins, rule)
    places = bin_places(np.array(human), edges)
    for value, place in zip(human, places.tolist(), strict=True):
        inside = [k for k in range(bins) if edges[k] < value <= edges[k + 1]]
        # Edges that coincide leave bins empty; each score still has one.
        assert place in inside
    if rule == "quantile" and len(set(human)) == len(human):
        sizes = np.bincount(places, minlength=bins)
        assert sizes.max() - sizes.min() <= 1


@given(cells=st.lists(st.tuples(SMALL, SMALL), min_size=3, max_size=30), higher=st.booleans())
def test_bins_are_told_apart_as_pairs_are_counted(
    cells: list[tuple[float, float]], higher: bool
) -> None:
    people, metric = (list(side) for side in zip(*cells, strict=True))
    if len(set(people)) == 1:
        return
    scores = ScoreTable.of({"m": {"A": metric}}, lower_is_better=[] if higher else ["m"])
    found = quality_bins(scores, ScoreTable.of({"people": {"A": people}}))[0]
    for place, apart in enumerate(found.apart):
        worse, better = found.bins[place].scores, found.bins[place + 1].scores
        sign = 1.0 if higher else -1.0
        wins = [
            1.0 if sign * b > sign * w else 0.5 if b == w else 0.0 for b in better for w in worse
        ]
        assert apart == pytest.approx(np.mean(wins)) if wins else np.isnan(apart)


@given(cells=st.lists(st.tuples(SMALL, SMALL), min_size=3, max_size=30), higher=st.booleans())
def test_failure_cases_are_the_extremes_of_their_bins(
    cells: list[tuple[float, float]], higher: bool
) -> None:
    people, metric = (list(side) for side in zip(*cells, strict=True))
    if len(set(people)) == 1:
        return
    scores = ScoreTable.of({"m": {"A": metric}}, lower_is_better=[] if higher else ["m"])
    found = failure_cases(scores, ScoreTable.of({"people": {"A": people}}), most=4)
    places = bin_places(np.array(people), bin_edges(people))
    for kind, wanted in (("too low", 2), ("too high", 0)):
        own = [(one.score, one.human) for one in found if one.kind == kind]
        inside = [(m, y) for m, y, k in zip(metric, people, places, strict=True) if k == wanted]
        sign = (1.0 if higher else -1.0) * (1.0 if kind == "too low" else -1.0)
        farthest = 1.0 if kind == "too low" else -1.0
        inside.sort(key=lambda one: (sign * one[0], -farthest * one[1]))
        assert own == inside[:4]


def test_kinds_of_systems_are_fitted_each_for_itself() -> None:
    rng = np.random.default_rng(0)
    names = [f"s{k}" for k in range(12)]
    own, people = rng.normal(size=12), rng.normal(size=12)
    kinds = {name: "ab"[k % 2] for k, name in enumerate(names)} | {"s11": None}
    scores = ScoreTable.of({"m": {name: [x] for name, x in zip(names, own, strict=True)}})
    human = ScoreTable.of({"people": {name: [y] for name, y in zip(names, people, strict=True)}})
    found = kinds_of_systems(scores, human, kinds)
    line = np.polyfit(own, people, 1)
    for one in found.kinds:
        mine = [names.index(name) for name in one.systems]
        x, y = own[mine], people[mine]
        assert one.value == pytest.approx(np.corrcoef(x, y)[0, 1])
        rest = y - np.polyval(np.polyfit(x, y, 1), x)
        assert one.spread == pytest.approx(np.sqrt((rest**2).sum() / (len(x) - 2)))
        assert one.offset == pytest.approx((y - np.polyval(line, x)).mean())
    assert [one.kind for one in found.kinds] == ["all systems", "a", "b"]
    assert found.untagged == ("s11",)


# ----------------------------------------------------------------------------- advice


def _study(
    *,
    systems: int = 6,
    items: int = 30,
    raters: int = 4,
    types: Any = ("neural", "rule"),
    metric: Any = None,
    quality: Any = None,
    rating: Any = None,
    outputs: Any = None,
    origin: Any = "original",
    **settings: Any,
) -> tuple[Any, Study]:
    """A validation to which nothing can be objected, unless an argument spoils it."""
    rng = np.random.default_rng(3)
    names = [f"s{k}" for k in range(systems)]
    levels = np.linspace(-1.5, 1.5, systems) if quality is None else np.array(quality)
    truth = levels[:, None] + rng.normal(size=(systems, items))
    scores = truth + 0.5 * rng.normal(size=truth.shape) if metric is None else metric(truth, rng)
    rows = [
        Rating(
            rater=f"r{r}",
            item=f"i{i}",
            value=float(50 + 12 * truth[s, i] + 3 * rng.normal())
            if rating is None
            else rating(truth[s, i]),
            target=f"system:{names[s]}",
        )
        for r in range(raters)
        for s in range(systems)
        for i in range(items)
    ]
    texts = tuple(
        Item(f"i{i}", (Reference("r0", f"reference {i}", origin=origin),)) for i in range(items)
    )
    said = {
        name: tuple(f"answer {i}" if outputs is None else outputs(name, i) for i in range(items))
        for name in names
    }
    described = {name: System(name, types[k % len(types)]) for k, name in enumerate(names)}
    table = RatingTable.from_records(rows)
    study = Study(texts, said, table, described)
    given = ScoreTable.of(
        {"m": dict(zip(names, scores.tolist(), strict=True))}, items=[one.id for one in texts]
    )
    plan = ValidationPlan(methods=("pearson",), resamples=200)
    return validate_metrics(given, table, plan=plan, **settings), study


def _topics(**spoilt: Any) -> list[str]:
    return [one.topic for one in validation_advice(*_study(**spoilt))]


def test_nothing_is_objected_to_a_sound_study() -> None:
    assert _topics() == []


@pytest.mark.parametrize(
    ("topic", "spoilt"),
    [
        ("few-systems", {"systems": 4}),
        ("few-raters", {"raters": 2}),
        ("wrong-direction", {"metric": lambda truth, rng: -truth}),
        ("ties", {"metric": lambda truth, rng: np.maximum(truth, 1.0)}),
        ("ties", {"rating": lambda truth: float(truth > 0)}),
        ("outliers", {"quality": [0.0, 0.1, 0.2, 0.3, 0.4, -6.0]}),
        ("one-type", {"types": ("neural",)}),
        ("equal-outputs", {"outputs": lambda name, i: f"Reference {i} !"}),
        ("retrieval-and-mined", {"types": ("neural", "retrieval"), "origin": "mined"}),
    ],
)
def test_each_objection_is_made(topic: str, spoilt: dict[str, Any]) -> None:
    assert topic in _topics(**spoilt)


@pytest.mark.parametrize(
    "sound",
    [
        {"systems": 5},
        {"types": ("neural", "retrieval")},
        {"types": ("neural", "rule"), "origin": "mined"},
        {"outputs": lambda name, i: f"reference {i}" if i == 0 else "something else"},
        {"quality": [-1.0, -0.5, 0.0, 0.3, 0.6, 1.2]},
    ],
)
def test_objections_are_not_made_without_reason(sound: dict[str, Any]) -> None:
    assert _topics(**sound) == []


def test_raters_of_references_and_outputs_are_named() -> None:
    validation, study = _study()
    more = Rating(rater="r0", item="i0", target="reference:r0", value=50.0)
    both = replace(study, ratings=RatingTable.from_records([*study.ratings, more]))
    assert [one.topic for one in validation_advice(validation, both)] == ["raters-of-both"]
    others = RatingTable.from_records([*study.ratings, replace(more, rater="other")])
    assert not validation_advice(validation, replace(study, ratings=others))


def test_outputs_rated_once_are_remarked_on() -> None:
    validation, _ = _study()
    few = replace(validation.raters, doubly_rated=3)
    found = validation_advice(replace(validation, raters=few))
    assert [one.topic for one in found] == ["few-raters"]


def test_different_tokenizers_are_remarked_on() -> None:
    validation, _ = _study()
    same = {"m": "m|tok:13a|x", "n": "n|tok:13a|x"}
    assert not validation_advice(replace(validation, signatures=same))
    mixed = replace(validation, signatures=same | {"n": "n|tok:none|x"})
    assert [one.topic for one in validation_advice(mixed)] == ["mixed-tokenisation"]


def test_outliers_are_left_out_to_see_what_remains() -> None:
    validation, _ = _study(quality=[0.0, 0.1, 0.2, 0.3, 0.4, -6.0])
    text = next(one.text for one in validation_advice(validation) if one.topic == "outliers")
    assert text.startswith("s5 lies far from the other systems")
    kept = validation.human.totals[0][:5]
    rest = np.corrcoef(validation.scores.total("m")[:5], kept)[0, 1]
    assert f"pearson of m is {rest:.2f}, not" in text


# ----------------------------------------------------------------------------- all together


def test_analyses_of_the_demo_study(demo: Path) -> None:
    study = read_study(demo)
    plan = ValidationPlan(methods=("pearson",), levels=("system", "pooled"), resamples=50)
    validation = validate_metrics(study, metrics="signed-delta-bleu-2,bleu-2", plan=plan)
    found = analyse_validation(validation, study, RatingTable.from_study(study), most=2)
    assert [one.metric for one in found.bins] == ["signed-delta-bleu-2", "bleu-2"]
    assert len(found.cases) == 8
    table = found.cases_table()
    for row, case in zip(table.records(), found.cases, strict=True):
        place = [item.id for item in study.items].index(case.item)
        assert row["output"] == study.outputs[case.system][place]
        assert row["message"] == study.items[place].message
    assert found.facts is not None
    assert found.facts.sorts["human"].texts == 68
    assert [one.tag for one in found.kinds] == ["type"]
    for name in ("bins", "cases", "kinds", "facts", "consistency"):
        assert found.tables(name)
    assert {one.topic for one in found.advice} == {"retrieval-and-mined", "raters-of-both"}


def test_an_unknown_tag_is_said(demo: Path) -> None:
    study = read_study(demo)
    plan = ValidationPlan(methods=("pearson",), levels=("pooled",), resamples=10)
    validation = validate_metrics(study, metrics="bleu-2", plan=plan)
    with pytest.raises(InputError, match="no system of the study has a tag 'track'"):
        analyse_validation(validation, study, tags=["track"])
