"""One table of scores for all rooms: totals, directions, selection, joining, alignment."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deltableu import BLEU, compare_systems
from deltableu.corpus import RatingTable, ReferenceSet, ScoreTable, align_scores
from deltableu.errors import InputError
from deltableu.rate import human_scores
from deltableu.score import make_metrics, score_systems
from deltableu.validate import ValidationPlan, validate_metrics

NAN = float("nan")
PEOPLE = {"A": [5.0, 4, 5, 3], "B": [3.0, 3, 4, 2], "C": [1.0, 2, 3, 1], "D": [2.0, 4, 2, 2]}
METRIC = {"A": [0.9, 0.7, 0.8, 0.6], "B": [0.6, 0.5, 0.7, 0.3], "C": [0.2, 0.3, 0.4, 0.3],
          "D": [0.5, 0.6, 0.3, 0.2]}  # fmt: skip


def table(**metrics) -> ScoreTable:
    return ScoreTable.of(metrics or {"m": METRIC})


def people(scores=PEOPLE, items=None) -> ScoreTable:
    return ScoreTable.of({"likert": scores}, items)


def scoring():
    references = ReferenceSet([["a b c"], ["c d"], ["e f g"]], item_ids=("q1", "q2", "q3"))
    outputs = {"A": ["a b", "c d", "e"], "B": ["b", "c d e", "e f g"]}
    metrics = [*make_metrics(["bleu", "ter", "length", "distinct-1"], {"tokenize": "none"})]
    return score_systems(references, outputs, metrics)


# --- Totals and directions ------------------------------------------------------------------------


def test_totals_are_means_of_the_scores_that_are_there():
    found = ScoreTable.of({"m": {"A": [1, NAN, 4], "B": [NAN, NAN, NAN]}})
    np.testing.assert_array_equal(found.total("m"), [2.5, NAN])
    assert found.has_items("m")
    assert not found.select(systems=["B"]).has_items("m")


def test_a_scoring_keeps_corpus_scores_directions_signatures_and_lengths():
    given = scoring()
    found = given.score_table()
    assert found.metrics == ("bleu-4", "ter", "length", "distinct-1")
    assert found.items == ("q1", "q2", "q3")
    assert found.higher_is_better == (True, False, True, True)
    for scored in given.scores:
        name, place = scored.score.name, found.systems.index(scored.system)
        assert found.total(name)[place] == scored.score.score
        assert found.signatures[found.metrics.index(name)] == str(scored.score.signature)
        if scored.rows.metric.has_segments:
            own = scored.rows.segment_scores()
            np.testing.assert_array_equal(found.only(name)[place], own)
    assert found.total("bleu-4").tolist() != found.only("bleu-4").mean(axis=1).tolist()
    assert not found.has_items("distinct-1")
    assert found.lengths.tolist() == [[2, 2, 1], [1, 3, 3]]


def test_two_metrics_of_one_name_are_no_table():
    references = ReferenceSet([["a b c"], ["c d"]])
    outputs = {"A": ["a b", "c d"], "B": ["b", "c d e"]}
    twice = score_systems(references, outputs, [BLEU(order=2), BLEU(order=2, lowercase=True)])
    with pytest.raises(InputError, match="metric 'bleu-2' is named twice"):
        twice.score_table()


def test_turned_so_that_higher_is_better():
    found = scoring().score_table()
    turned = found.turned()
    assert turned.higher_is_better == (True,) * 4
    assert turned.total("ter").tolist() == (-found.total("ter")).tolist()
    assert turned.only("ter").tolist() == (-found.only("ter")).tolist()
    assert turned.only("bleu-4").tolist() == found.only("bleu-4").tolist()
    assert turned.lengths is found.lengths


def test_which_is_better_may_be_said_later():
    given = table(a=METRIC, b=METRIC).with_lower_better(["b"])
    assert given.higher_is_better == (True, False)
    assert given.select(metrics=["b"]).higher_is_better == (False,)
    assert ScoreTable.of({"b": METRIC}, lower_is_better=["b"]).higher_is_better == (False,)
    for call in (
        lambda: given.with_lower_better(["z"]),
        lambda: ScoreTable.of({"b": METRIC}, lower_is_better=["z"]),
    ):
        with pytest.raises(InputError, match="there is no metric 'z'; there are"):
            call()


def test_selected_systems_keep_their_totals_and_lengths():
    found = scoring().score_table().select(systems=["B"], items=["q3", "q1"], metrics=["bleu-4"])
    assert (found.systems, found.items, found.metrics) == (("B",), ("q3", "q1"), ("bleu-4",))
    assert found.total("bleu-4").tolist() == [scoring().score_table().total("bleu-4")[1]]
    assert found.lengths.tolist() == [[3, 1]]


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ((("m", "m"), ("A",), ("1",), np.zeros((2, 1, 1))), "metric 'm' is named twice"),
        ((("m",), ("A", "A"), ("1",), np.zeros((1, 2, 1))), "system 'A' is named twice"),
        ((("m",), ("A",), ("1", "1"), np.zeros((1, 1, 2))), "item '1' is named twice"),
        (
            (("m",), ("A",), ("q",), np.full((1, 1, 1), np.inf)),
            "system 'A', item 'q': a score must be a finite number, got inf",
        ),
        (
            (("k", "m"), ("A",), ("q",), np.array([[[1.0]], [[-np.inf]]])),
            "m, system 'A', item 'q': a score must be a finite number, got -inf",
        ),
    ],
)
def test_what_is_no_table(arrays, message):
    with pytest.raises(InputError) as raised:
        ScoreTable.from_arrays(*arrays)
    assert str(raised.value) == message


# --- Joining and aligning -------------------------------------------------------------------------


def test_joined_on_what_both_have():
    one = ScoreTable.of({"m": {"A": [1, 2, 3], "B": [4, 5, 6]}}, ["q1", "q2", "q3"])
    two = ScoreTable.of({"k": {"B": [7, 8], "C": [9, 9], "A": [1, 1]}}, ["q3", "q2"])
    found = one.joined(replace(two, lengths=np.ones((3, 2)), higher_is_better=(False,)))
    assert (found.metrics, found.systems, found.items) == (("m", "k"), ("A", "B"), ("q2", "q3"))
    assert found.values.tolist() == [[[2, 3], [5, 6]], [[1, 1], [8, 7]]]
    assert found.totals.tolist() == [[2, 5], [1, 7.5]]
    assert found.higher_is_better == (True, False)
    assert found.lengths.shape == (2, 2)
    with pytest.raises(InputError, match="there are two metrics 'm'"):
        one.joined(one)


def test_aligned_on_what_both_have_and_told_what_is_left_out():
    metrics = ScoreTable.of({"m": {"A": [1, 2, 3], "X": [4, 5, 6], "B": [1, NAN, 1]}}, list("abc"))
    human = people({"B": [1, 2, NAN], "Y": [1, 1, 1], "A": [3, 4, 5]}, list("bcd"))
    scores, rated, notes = align_scores(metrics, human)
    assert (
        (scores.systems, scores.items) == (rated.systems, rated.items) == (("A", "B"), ("b", "c"))
    )
    assert scores.only("m").tolist()[0] == [2, 3]
    np.testing.assert_array_equal(rated.values[0], [[3, 4], [NAN, 2]])
    assert rated.totals.tolist() == [[4, 1.5]]
    assert notes == (
        "no human scores for system 'X': left out",
        "no metric scores for system 'Y': left out",
        "no metric scores for 1 items that people rated: left out",
        "m has no score for 1 rated outputs: they count for none",
    )


def test_a_system_that_some_metric_did_not_score_is_left_out():
    """It used to end in an error about numbers that are not finite."""
    found = validate_metrics(
        table(m=METRIC, k={name: row for name, row in METRIC.items() if name != "B"}), people()
    )
    assert found.human.systems == ("A", "C", "D")
    assert "no metric scores for system 'B': left out" in found.notes


def test_nothing_in_common():
    with pytest.raises(InputError, match="1 of 4 systems have human scores; a validation needs"):
        align_scores(table(), people({"A": [1, 2, 3, 4]}))
    with pytest.raises(InputError, match="have no item in common"):
        align_scores(table(), people(items=list("wxyz")))
    split = ScoreTable.of(
        {"m": {"A": [1, NAN], "B": [NAN, 1]}, "k": {"A": [NAN, 1], "B": [1, NAN]}}
    )
    with pytest.raises(InputError, match="no output has a human score and a score of every metric"):
        align_scores(split, people({"A": [1, 2], "B": [2, 1]}))


# --- What the rooms make of it --------------------------------------------------------------------


def totals_only(name, scores) -> ScoreTable:
    """As WMT publishes system-level scores: no items."""
    systems = tuple(scores)
    totals = np.array([list(scores.values())], dtype=float)
    return ScoreTable.from_arrays(
        [name], systems, (), np.empty((1, len(systems), 0)), totals=totals
    )


def test_scores_of_whole_systems_are_validated_at_that_level():
    means = {name: sum(row) for name, row in METRIC.items()}
    human = totals_only("da", {name: sum(row) for name, row in PEOPLE.items()})
    found = validate_metrics(totals_only("m", means), human)
    expected = np.corrcoef(list(means.values()), human.totals[0])[0, 1]
    assert {one.level for one in found.agreements} == {"system"}
    assert found.agreement("m", "system", "pearson").value == pytest.approx(expected)
    assert [one.measure for one in found.accuracies] == ["pairwise"]
    both = totals_only("m", means).joined(totals_only("k", {**means, "A": 0.1}))
    assert [one.level for one in validate_metrics(both, human).comparisons] == ["system"]


def test_lower_is_better_says_the_table():
    worse = {name: [-score for score in row] for name, row in METRIC.items()}
    turned = ScoreTable.of({"m": worse}, lower_is_better=["m"])
    assert validate_metrics(turned, people()).agreement("m", "item", "pearson").value > 0.8
    plain = ScoreTable.of({"m": worse})
    assert validate_metrics(plain, people()).agreement("m", "item", "pearson").value < -0.8
    (first, *_), (second, *_) = (compare_systems(one)[0].systems for one in (turned, plain))
    assert (first.system, second.system) == ("A", "C")


def test_people_are_one_metric_and_raw_ratings_say_more():
    rows = [
        (rater, str(item), system, score + shift)
        for rater, shift in (("p", 0.0), ("q", 1.0), ("r", -0.5))
        for system, scores in PEOPLE.items()
        for item, score in enumerate(scores)
    ]
    raters, items, systems, values = map(list, zip(*rows, strict=True))
    ratings = RatingTable.of(raters=raters, items=items, systems=systems, values=values)
    human = human_scores(ratings)
    assert human.metrics == ("human",)
    assert human.signatures == ("z-3raters-min1",)
    by_ratings = validate_metrics(table(), ratings)
    by_table = validate_metrics(table(), human)
    assert by_ratings.agreements == by_table.agreements
    assert by_ratings.raters is not None
    assert by_ratings.assessment is not None
    assert (by_table.raters, by_table.assessment) == (None, None)
    assert by_ratings.source == "z-3raters-min1"
    raw = validate_metrics(table(), ratings, plan=ValidationPlan(scale="raw"))
    assert raw.human.totals[0].tolist() == human_scores(ratings, scale="raw").totals[0].tolist()
    with pytest.raises(InputError, match="min_raters must be at least 1, got 0"):
        ValidationPlan(min_raters=0)
    with pytest.raises(InputError, match="no output has 4 raters or more"):
        human_scores(ratings, min_raters=4)
    with pytest.raises(InputError, match=r"several human scores \(a, b\): choose a criterion"):
        validate_metrics(table(), table(a=PEOPLE, b=PEOPLE))


def test_corpus_scores_are_not_compared_by_means_of_segments():
    """Only rows can be resampled where a total is no mean of items."""
    given = scoring().score_table()
    with pytest.raises(InputError, match="bleu-4 is not the mean of its items' scores"):
        compare_systems(given.select(metrics=["bleu-4"]))
    with pytest.raises(InputError, match="distinct-1 has no scores of items"):
        compare_systems(given.select(metrics=["distinct-1"]))
    (by_table,) = compare_systems(given.select(metrics=["length"]))
    (by_rows,) = compare_systems(scoring().only("length"))
    assert by_table.pairs == by_rows.pairs
