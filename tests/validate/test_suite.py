"""Metrics over many studies: ranks, averages, controls, and what is left out."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, replace
from itertools import chain
from typing import ClassVar

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import validate_metrics
from deltableu.corpus import (
    Item,
    Rating,
    RatingTable,
    Reference,
    ReferenceSet,
    Study,
    reference_set,
    write_study,
)
from deltableu.errors import InputError
from deltableu.io import as_record
from deltableu.report import verdict
from deltableu.score import BLEU, ChrF, SegmentMetric, score_systems
from deltableu.score.engine.reference_free import ReferenceFree
from deltableu.validate import (
    SUITE_PLAN,
    SuiteFailure,
    SuiteStudy,
    ValidationPlan,
    validate_suite,
)
from deltableu.validate.controls import exchanged_references, shuffled_weights
from deltableu.validate.suite_ranks import SuiteDraws, suite_gains, suite_ranking
from deltableu.validate.suite_study import MeasuredStudy

FAST = replace(SUITE_PLAN, resamples=50)
WORDS = ["red", "green", "blue", "cat", "dog", "bird", "runs", "sleeps", "eats", "now", "here"]


def make_study(seed=0, *, systems=3, items=12, weights=False, quality=None, references=2) -> Study:
    """Outputs that copy more or less of a reference, rated by how much."""
    rng = np.random.default_rng(seed)
    made, ratings = [], []
    outputs: dict[str, list[str]] = {f"s{n}": [] for n in range(systems)}
    for i in range(items):
        texts = [list(rng.choice(WORDS, 6)) for _ in range(references)]
        given = [1.0] + [float(w) for w in rng.choice([-1.0, 0.5], references - 1)]
        made.append(
            Item(
                f"i{i}",
                tuple(
                    Reference(f"r{n}", " ".join(text), given[n] if weights else None)
                    for n, text in enumerate(texts)
                ),
                message="say something",
                meta={"document": i // 3},
            )
        )
        for name, own in outputs.items():
            good = rng.uniform()
            words = [w if rng.uniform() < good else rng.choice(WORDS) for w in texts[0]]
            own.append(" ".join(words))
            ratings.append(Rating("ann", f"i{i}", f"system:{name}", round(100 * good)))
    told = ratings if quality is None else quality(made, outputs)
    return Study(
        tuple(made),
        {name: tuple(own) for name, own in outputs.items()},
        RatingTable.from_records(told),
    )


@dataclass(frozen=True, kw_only=True)
class LongWords(SegmentMetric):
    """Says that it needs references, and never looks at them."""

    name: ClassVar[str] = "long-words"

    def segments(self, hypotheses, encoded):
        return [max(map(len, text.split()), default=0) + len(text) / 9 for text in hypotheses]

    def settings(self):
        return ()


def plain_ranks(values):
    """1 + how many are better + half of those that are equal."""
    return [1 + sum(b > a for b in values) + (sum(b == a for b in values) - 1) / 2 for a in values]


def plain_percentile(values, share):
    ordered = sorted(values)
    place = share * (len(ordered) - 1)
    low = math.floor(place)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (place - low) * (ordered[high] - ordered[low])


def measured(name, table, draws):
    """A study of which only values are known: {row: value}, {row: values in draws}."""
    return MeasuredStudy(
        SuiteStudy(name, "overall", 2, 9, 18, None, (), {}),
        table,
        {row: np.array(own) for row, own in draws.items()},
    )


values = st.integers(-4, 4).map(lambda n: n / 4)


@settings(max_examples=30)
@given(st.data())
def test_ranks_and_averages_as_written_down_plainly(data):
    metrics = ["a", "b", "c"][: data.draw(st.integers(1, 3))]
    rows = [*((name, None) for name in metrics), ("length", "sentinel"), ("a", "blind")]
    number, trials = data.draw(st.integers(1, 4)), 7
    studies = []
    for n in range(number):
        own = {row: data.draw(values) for row in rows}
        drawn = {row: data.draw(st.lists(values, min_size=trials, max_size=trials)) for row in rows}
        studies.append(measured(f"study {n}", own, drawn))
    draws = SuiteDraws(studies, replace(SUITE_PLAN, confidence=0.5), "items")
    found = suite_ranking(draws, metrics, rows[len(metrics) :])
    ranks = [plain_ranks([one.values[name, None] for name in metrics]) for one in studies]
    by_draw = [
        [plain_ranks([one.draws[name, None][t] for name in metrics]) for one in studies]
        for t in range(trials)
    ]
    for m, name in enumerate(metrics):
        standing = next(one for one in found.metrics if one.metric == name)
        rank = sum(own[m] for own in ranks) / number
        assert standing.rank == pytest.approx(rank)
        drawn = [sum(own[m] for own in trial) / number for trial in by_draw]
        low, high = plain_percentile(drawn, 0.25), plain_percentile(drawn, 0.75)
        assert standing.rank_interval.low == pytest.approx(min(low, rank))
        assert standing.rank_interval.high == pytest.approx(max(high, rank))
        mean = sum(one.values[name, None] for one in studies) / number
        assert standing.agreement == pytest.approx(mean)
        assert standing.best == sum(own[m] == min(own) for own in ranks)
    assert [one.rank for one in found.metrics] == sorted(one.rank for one in found.metrics)
    assert sum(one.rank for one in found.metrics) == pytest.approx(
        len(metrics) * (len(metrics) + 1) / 2
    )
    length = next(one for one in found.standings if one.metric == "length")
    places = []
    for one in studies:
        own = one.values["length", "sentinel"]
        others = [one.values[name, None] for name in metrics]
        places.append(1 + sum(v > own for v in others) + sum(v == own for v in others) / 2)
    assert length.rank == pytest.approx(sum(places) / number)
    for gain in suite_gains(draws, metrics, rows[len(metrics) :]):
        row = ("length", "sentinel") if gain.over == "length" else (gain.metric, "blind")
        own = [one.values[gain.metric, None] - one.values[row] for one in studies]
        assert gain.value == pytest.approx(sum(own) / number)
        assert gain.ahead == sum(value > 0 for value in own)


def test_studies_drawn_as_they_are():
    """The interval of a mean over studies, against what many draws of them give."""
    rng = np.random.default_rng(0)
    table = 0.1 * rng.normal(size=(8, 2))
    rows = [("a", None), ("b", None)]
    studies = [
        measured(str(n), dict(zip(rows, own, strict=True)), {}) for n, own in enumerate(table)
    ]
    draws = SuiteDraws(studies, replace(SUITE_PLAN, resamples=4000), "studies")
    found = suite_ranking(draws, ["a", "b"], [])
    standing = next(one for one in found.metrics if one.metric == "a")
    error = table[:, 0].std(ddof=1) / math.sqrt(8)
    reach = 2.365 * error  # Student's t, 7 degrees of freedom
    interval = standing.agreement_interval
    assert interval.high - interval.low == pytest.approx(2 * reach, rel=0.1)
    alone = suite_ranking(draws.only(studies[:1]), ["a", "b"], [])
    assert alone.standings[0].rank_interval is None
    assert alone.standings[0].agreement_interval is None


def test_values_are_those_of_each_study_alone():
    suite = {"one": make_study(1), "two": make_study(2, systems=4)}
    found = validate_suite(suite, "chrf++,sentence-bleu-2,ter", plan=FAST)
    for name, study in suite.items():
        alone = validate_metrics(
            study, metrics="chrf++,sentence-bleu-2,ter", plan=ValidationPlan(resamples=20)
        )
        for one in found.study(name).agreements:
            if one.control is None:
                whole = alone.agreement(one.metric, one.level, one.method)
                assert one.value == pytest.approx(whole.value, abs=1e-12)
                assert one.interval.low <= one.value <= one.interval.high
    ranks = [
        plain_ranks([one.agreement(name, "pooled", "pearson").value for name in found.metrics])
        for one in found.studies
    ]
    means = [sum(own) / 2 for own in zip(*ranks, strict=True)]
    standings = {one.metric: one.rank for one in found.rankings[0].metrics}
    assert [standings[name] for name in found.metrics] == means


def test_a_study_does_not_depend_on_its_neighbours():
    one, two = make_study(1), make_study(2)
    alone = validate_suite({"one": one}, "chrf++", plan=FAST)
    both = validate_suite({"zero": two, "one": one}, "chrf++", plan=FAST, threads=3)
    assert as_record(alone.study("one")) == as_record(both.study("one"))
    other = validate_suite({"one": one}, "chrf++", plan=replace(FAST, seed=5))
    assert as_record(other.study("one")) != as_record(alone.study("one"))


texts = st.lists(st.lists(st.sampled_from("abcd"), max_size=3), min_size=1, max_size=8)


@given(texts, st.integers(0, 5))
def test_nobody_gets_their_own_references(given, seed):
    ids = tuple(map(str, range(len(given))))
    weights = [[0.5] * len(own) for own in given]
    original = ReferenceSet(given, weights, item_ids=ids, messages=[f"m{n}" for n in ids])
    found = exchanged_references(original, seed)
    if len(set(map(tuple, given))) < 2:
        assert found is None
        return
    assert found.item_ids == ids
    assert found.messages == original.messages
    assert all(list(a) != list(b) for a, b in zip(found.texts, given, strict=True))
    assert set(map(tuple, found.texts)) == set(map(tuple, given))
    if len(set(map(tuple, given))) == len(given):
        assert Counter(map(tuple, found.texts)) == Counter(map(tuple, given))


def test_raters_see_the_exchanged_references():
    references = reference_set(make_study(weights=True))
    found = exchanged_references(references, 1)
    for item, own, old, kept in zip(
        found.items, found.texts, references.texts, references.items, strict=True
    ):
        assert [one.text for one in item.references] == list(own) != list(old)
        assert (item.id, item.meta) == (kept.id, kept.meta)


@given(
    st.lists(st.lists(st.sampled_from([-1.0, 0.0, 1.0]), max_size=4), min_size=1, max_size=6),
    st.integers(0, 5),
)
def test_weights_stay_in_their_items_where_they_can(weights, seed):
    given = ReferenceSet([["x"] * len(own) for own in weights], weights)
    found = shuffled_weights(given, seed)
    if any(len(set(own)) > 1 for own in weights):
        assert [sorted(own) for own in found.weights] == [sorted(own) for own in weights]
    elif len({one for own in weights for one in own}) > 1:
        assert sorted(chain.from_iterable(found.weights)) == sorted(chain.from_iterable(weights))
    else:
        assert found is None
    assert shuffled_weights(ReferenceSet([["x"]])) is None


def test_a_metric_that_ignores_references_loses_nothing():
    found = validate_suite({"one": make_study(1)}, [LongWords()], plan=FAST).study("one")
    for level, method in found.measures():
        blind = found.agreement("long-words", level, method, "blind")
        assert blind.value == found.agreement("long-words", level, method).value
        assert (blind.gain, blind.gain_interval.low, blind.gain_interval.high) == (0.0, 0.0, 0.0)


def test_a_perfect_metric_loses_all():
    def scored_by(metric):
        def quality(items, outputs):
            references = reference_set(items)
            scoring = score_systems(references, outputs, [metric])
            return [
                Rating("ann", item.id, f"system:{one.system}", float(value))
                for one in scoring.scores
                for item, value in zip(items, one.rows.segment_scores(), strict=True)
            ]

        return quality

    study = make_study(3, items=150, quality=scored_by(ChrF()))
    found = validate_suite({"one": study}, "chrf", plan=FAST)
    whole, blind = (
        found.study("one").agreement("chrf", "pooled", "pearson", c) for c in (None, "blind")
    )
    assert whole.value == pytest.approx(1.0)
    assert abs(blind.value) < 0.15
    assert blind.gain == pytest.approx(whole.value - blind.value)
    assert next(one for one in found.gains if one.over == "blind").shown
    weighted = make_study(4, items=100, references=4, weights=True)
    scored = validate_suite({"one": weighted}, "delta-chrf++,chrf++", plan=FAST).study("one")
    assert scored.agreement("delta-chrf++", "pooled", "pearson", "shuffled").gain > 0.1
    assert scored.agreement("chrf++", "pooled", "pearson", "shuffled") is None


def test_what_a_study_lacks_is_left_out_and_said():
    weighted, plain = make_study(1, weights=True), make_study(2)
    bare = replace(plain, items=tuple(replace(one, references=()) for one in plain.items))
    suite = {"bare": bare, "plain": plain, "weighted": weighted}
    found = validate_suite(suite, ["delta-bleu", "chrf++", "ibleu", "distinct-1", "bleu-2"],
                           plan=FAST, on_error="skip")  # fmt: skip
    assert [one.study for one in found.failures] == ["bare"]
    assert "chrf++: there are no references" in found.failures[0].reason
    assert found.study("plain").missing["delta-bleu-2"] == "references have no weights"
    assert "plain: no delta-bleu-2, as references have no weights" in found.notes
    assert any(one.startswith("distinct-1 can be computed in no study") for one in found.notes)
    first, second = found.rankings
    assert first.studies == ("plain", "weighted")
    assert {one.metric for one in first.metrics} == {"chrf++", "ibleu-4", "bleu-2"}
    assert second.studies == ("weighted",)
    assert len(second.metrics) == 4
    said = verdict(found)
    assert said[0].startswith("Over 2 studies, ")
    assert any(one.startswith("In weighted, the only study with all 4 metrics, ") for one in said)
    assert said[-1] == "1 study could not be used: bare."


def test_a_metric_without_references_has_no_blind_control():
    @dataclass(frozen=True, kw_only=True)
    class Free(ReferenceFree, LongWords):
        name: ClassVar[str] = "free"

    bare = make_study(1)
    bare = replace(bare, items=tuple(replace(one, references=()) for one in bare.items))
    found = validate_suite({"bare": bare, "full": make_study(2)}, [Free(), ChrF()], plan=FAST)
    assert found.study("bare").missing["chrf"] == "there are no references"
    assert found.study("bare").missing["free (blind)"] == "it looks at no references"
    assert found.rankings[0].studies == ("bare", "full")
    assert [one.metric for one in found.rankings[0].metrics] == ["free"]
    assert verdict(found)[0].startswith("Over 2 studies, free agrees with people by ")


def test_groups_and_criteria():
    study = make_study(1)
    assert validate_suite({"one": study}, "chrf", plan=FAST).study("one").group == "document"
    ratings = [replace(one, criterion=name) for one in study.ratings for name in ("tone", "fit")]
    several = replace(study, ratings=RatingTable.from_records(ratings))
    found = validate_suite({"one": several}, "chrf", plan=FAST)
    assert found.study("one").criterion == "fit"
    assert found.notes == ("one: of the criteria fit, tone the first was taken",)
    found = validate_suite({"a": several, "b": study}, "chrf", plan=FAST, criterion=["x", "tone"])
    assert [one.criterion for one in found.studies] == ["tone", "overall"]
    with pytest.raises(InputError, match="study 'one': outputs were rated for fit, tone, not for"):
        validate_suite({"one": several}, "chrf", plan=FAST, criterion="ton")


def test_a_system_of_references_is_said():
    study = make_study(1)
    copied = tuple(item.references[0].text.upper() + " !" for item in study.items)
    found = validate_suite(
        {"one": replace(study, outputs={**study.outputs, "s0": copied})}, "chrf", plan=FAST
    )
    assert found.notes == (
        "one: 12 of 12 outputs of s0 equal a reference of their item, so that agreement is "
        "flattered: leave that system out",
    )


def test_equal_scores_count_as_no_agreement():
    @dataclass(frozen=True, kw_only=True)
    class Same(LongWords):
        name: ClassVar[str] = "same"

        def segments(self, hypotheses, encoded):
            return [1.0] * len(hypotheses)

    found = validate_suite({"one": make_study(1)}, [Same(), ChrF()], plan=FAST)
    assert math.isnan(found.study("one").agreement("same", "pooled", "pearson").value)
    assert {one.metric: one.rank for one in found.rankings[0].metrics} == {"chrf": 1, "same": 2}
    assert "one: same gives all outputs the same score, which counts as no agreement" in found.notes
    assert "NaN" not in str(as_record(found))


def test_sentinels_are_controls():
    found = validate_suite({"one": make_study(1)}, "chrf,random,length", plan=FAST)
    assert found.metrics == ("chrf",)
    assert {one.over for one in found.gains} == {"random", "length", "blind"}
    assert found.rankings[0].metrics[0].best == 1


def test_studies_that_cannot_be_used(tmp_path):
    write_study(make_study(1), tmp_path / "good")
    (tmp_path / "empty").mkdir()
    (tmp_path / ".hidden").mkdir()
    (tmp_path / "README.md").write_text("what this is\n")
    with pytest.raises(InputError, match=r"^study 'empty': .*is no study"):
        validate_suite(tmp_path, "chrf", plan=FAST)
    found = validate_suite(tmp_path, "chrf", plan=FAST, on_error="skip")
    assert [one.name for one in found.studies] == ["good"]
    assert isinstance(found.failures[0], SuiteFailure)
    assert verdict(found)[-1] == "1 study could not be used: empty."
    with pytest.raises(InputError, match=r"none of 1 studies can be used; x: .*no such folder"):
        validate_suite({"x": tmp_path / "x"}, "chrf", plan=FAST, on_error="skip")


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"studies": {}}, "the suite holds no studies"),
        ({"studies": 3}, "studies must be"),
        ({"studies": {"one": 3}}, "study 'one' must be"),
        ({"studies": "nowhere"}, "nowhere: there is no such folder"),
        ({"metrics": "length"}, "sentinels are only controls"),
        ({"metrics": [BLEU(), "bleu-4"]}, "there are two metrics 'bleu-4'"),
        ({"metrics": "blue"}, "unknown metric 'blue'"),
        ({"plan": ValidationPlan()}, "level pooled and item, not system"),
        ({"plan": replace(SUITE_PLAN, test="williams")}, "no test"),
        ({"plan": replace(SUITE_PLAN, correction="wmt")}, "correction must be one of"),
        ({"resample": "systems"}, "resample must be one of items, studies"),
        ({"on_error": "stop"}, "on_error must be one of"),
        ({"group": "topic"}, "study 'one': .*no field to group items by"),
        ({"studies": {"one": make_study(items=2)}}, "needs at least 3"),
        ({"studies": {"one": replace(make_study(), outputs={})}}, "no system outputs"),
        (
            {"studies": {"one": replace(make_study(), ratings=RatingTable.from_records())}},
            "study 'one': the study has no ratings of systems",
        ),
        (
            {
                "studies": {"one": make_study(systems=1)},
                "plan": replace(FAST, levels=("item", "pooled")),
            },
            "level item is empty, which metrics are ranked by",
        ),
    ],
)
def test_bad_arguments(change, said):
    arguments = {"studies": {"one": make_study()}, "metrics": "chrf", "plan": FAST} | change
    with pytest.raises(InputError, match=said):
        validate_suite(arguments.pop("studies"), arguments.pop("metrics"), **arguments)


@pytest.mark.long
def test_public_sets(data, tmp_path):
    """Those of docs/suite.md that are small, with the figures of that page."""
    from reproduce.__main__ import PAGES
    from reproduce.suite import write_suite

    small = ["multirefeval", "mlqe_multiref", "graham_da", "wmt15_17_daseg", "bartscore_nlg"]
    write_suite(tmp_path / "suite", None, small)
    found = validate_suite(
        tmp_path / "suite", "sentence-bleu-2,chrf++", plan=FAST, criterion="relevance"
    )
    assert [one.name for one in found.studies] == sorted(small)
    shown = PAGES["suite"][0].read_text("utf-8")
    for study in found.studies:
        row = next(line for line in shown.splitlines() if line.startswith(f"| {study.name} "))
        for name in found.metrics:
            value = study.agreement(name, "pooled", "pearson").value
            assert f"{value:.3f}".removeprefix("0") in row
    assert all(one.shown for one in found.gains if one.over == "blind")
