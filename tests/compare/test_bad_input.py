"""What cannot be compared: one sentence that says what is wrong, and where."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from deltableu import BLEU, DeltaBLEU, ReferenceSet
from deltableu.compare import ComparisonPlan, compare_systems
from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.score.metrics.diversity import Distinct1
from deltableu.score.systems import score_systems

NAN, INF = float("nan"), float("inf")
GOOD = [0.2, 0.5, 0.4]


def complaint(source, **options) -> str:
    """What the user is told: one sentence."""
    with pytest.raises(InputError) as raised:
        compare_systems(source, **options)
    message = str(raised.value)
    assert "\n" not in message
    assert ". " not in message
    assert not message.endswith(".")
    assert len(message) < 200
    return message


def rows_of(texts, references=("a b", "c d", "e f"), metric=None):
    chosen = metric or BLEU(tokenize="none", order=2)
    return chosen.compute(list(texts), [[text] for text in references])


# --- Lists of scores ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        ({}, "a comparison needs at least two systems"),
        ({"A": GOOD}, "a comparison needs at least two systems: there is only 'A'"),
        ({"A": [1.0], "B": [2.0]}, "a comparison needs at least two items, got 1"),
        ({"A": [], "B": []}, "a comparison needs at least two items, got 0"),
        (
            {"A": GOOD, "B": GOOD[:2]},
            "system 'B' has 2 scores, but 'A' has 3; give every system one score per item",
        ),
        (
            {"A": GOOD, "B": [0.1, NAN, 0.3]},
            "system 'B' has no score for item '1'; systems are compared on the same items",
        ),
        (
            {"A": [0.1, 0.2, -INF], "B": GOOD},
            "system 'A', item '2': a score must be a finite number, got -inf",
        ),
        (
            {"A": GOOD, "B": [0.1, None, 0.3]},
            "system 'B' has no score for item '1'; systems are compared on the same items",
        ),
        (
            {"A": GOOD, "B": ["x", 1, 2]},
            "system 'B' has texts, but 1 at item 1: give a text per item, with references=, or a "
            "number per item",
        ),
        ({"A": GOOD, "B": [1, 2, 10**400]}, "the scores of system 'B' are not all numbers"),
        ({"A": GOOD, "B": [[1], [1, 2]]}, "the scores of system 'B' are not all numbers"),
        ({"A": GOOD, "B": 3}, "the scores of system 'B' must be one number per item"),
        ({"A": GOOD, "B": [[1, 2, 3]]}, "the scores of system 'B' must be one number per item"),
        (
            {"A": [2.0, 2.0], "B": [2.0, 2.0]},
            "every score of score is 2: there is nothing to compare",
        ),
        ({"A": GOOD, 1: GOOD}, "systems are named by strings, got 1"),
    ],
)
def test_lists(scores, message):
    assert complaint(scores) == message


def test_constant_systems_that_differ_can_be_compared():
    """Differences without spread are infinitely many errors wide: as sure as signs can make it."""
    tests = ("studentized", "randomization", "t-test")
    (found,) = compare_systems(
        {"A": [2.0] * 8, "B": [3.0] * 8, "C": [2.0] * 8}, plan=ComparisonPlan(tests=tests)
    )
    assert set(found.pair("B", "A").p_values.values()) == {2 / 256}
    assert set(found.pair("A", "C").p_values.values()) == {1.0}
    assert found.pair("B", "A").better == "B"


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ([GOOD, GOOD], "give scores (a Scoring, a ScoreTable, or a mapping of systems to numbers)"),
        (None, "give scores (a Scoring, a ScoreTable, or a mapping of systems to numbers)"),
        ("scores.csv", "scores.csv: there is no such study folder or file"),
    ],
)
def test_other_things(source, message):
    assert complaint(source).startswith(message)


# --- Choosing systems -----------------------------------------------------------------------------

SCORES = {"A": GOOD, "B": GOOD[::-1], "C": [1.0, 2.0, 3.0]}
SOURCES = {
    "lists": SCORES,
    "table": ScoreTable.of({"judge": SCORES}),
    "statistics": {name: rows_of([name.lower(), "c d", "e"]) for name in SCORES},
    "scoring": score_systems(
        ReferenceSet([["a b"], ["c d"], ["e f"]]),
        {name: [name.lower(), "c d", "e"] for name in SCORES},
        [BLEU(tokenize="none", order=2)],
    ),
}
by_source = pytest.mark.parametrize("source", SOURCES)


@by_source
@pytest.mark.parametrize(
    ("systems", "message"),
    [
        (["A", "Z"], "there is no system 'Z'; there are A, B, C"),
        (["A", "B", "A"], "system 'A' is named twice"),
        (["B"], "a comparison needs at least two systems: there is only 'B'"),
        ([], "a comparison needs at least two systems"),
        ("AB", "systems must be a list of names, got 'AB'"),
    ],
)
def test_systems(source, systems, message):
    assert complaint(SOURCES[source], systems=systems) == message


@by_source
def test_baseline(source):
    expected = "there is no baseline 'Z'; the systems are A, B, C"
    assert complaint(SOURCES[source], baseline="Z") == expected
    left_out = complaint(SOURCES[source], baseline="C", systems=["A", "B"])
    assert left_out == "there is no baseline 'C'; the systems are A, B"


# --- Statistics -----------------------------------------------------------------------------------


def test_statistics_and_scores_do_not_mix():
    mixed = {"A": rows_of(["a b", "c", "e"]), "B": GOOD}
    assert complaint(mixed) == "give statistics for every system, or scores for every system"


def test_statistics_of_different_items():
    rows = rows_of(["a b", "c", "e"])
    message = complaint({"A": rows, "B": rows[:2]})
    assert message == (
        "system 'B' has 2 items, but 'A' has 3; systems are compared on the same items"
    )
    assert complaint({"A": rows[:1], "B": rows[:1]}).endswith("at least two items, got 1")


def test_statistics_of_different_references():
    other = rows_of(["a b", "c", "e"], references=("a b", "c d", "e g"))
    message = complaint({"A": rows_of(["a b", "c", "e"]), "B": other})
    assert message == "system 'B' was scored on other items or references than 'A'"


def test_statistics_with_different_weights():
    metric = DeltaBLEU(tokenize="none")
    texts, references = ["a b", "c"], [["a b", "a"], ["c d", "c"]]
    first = metric.compute(texts, references, [[1.0, 0.5]] * 2)
    second = metric.compute(texts, references, [[1.0, 0.4]] * 2)
    message = complaint({"A": first, "B": second})
    assert message == "system 'B' was scored on other items or references than 'A'"


@pytest.mark.parametrize(
    "metric", [BLEU(tokenize="none", order=3), BLEU(order=2), Distinct1(tokenize="none")]
)
def test_statistics_of_different_metrics(metric):
    other = rows_of(["a b", "c", "e"], metric=metric)
    message = complaint({"A": rows_of(["a b", "c", "e"]), "B": other})
    assert message == "system 'B' was scored with another metric or other settings than 'A'"


@pytest.mark.parametrize(("value", "shown"), [(NAN, "nan"), (INF, "inf")])
def test_statistics_that_are_no_numbers(value, shown):
    good = rows_of(["a b", "c", "e"])
    wrong = good.rows.copy()
    wrong[1, 2] = value
    message = complaint({"A": good, "B": replace(good, rows=wrong)})
    assert message == f"system 'B', item '1': a score must be a finite number, got {shown}"


def test_statistics_without_any_difference():
    """Nothing matches anywhere: all scores are 0."""
    nothing = {name: rows_of(["x", "x", "x"]) for name in "AB"}
    assert complaint(nothing) == "every score of bleu-2 is 0: there is nothing to compare"


def test_a_scoring_of_nothing():
    empty = SOURCES["scoring"].only("ter")
    assert complaint(empty) == "there is nothing to compare: nothing was scored"


def test_a_scoring_names_its_items():
    scoring = score_systems(
        ReferenceSet([["a b"], ["c d"]], item_ids=("q7", "q9")),
        {"A": ["a", "c d"], "B": ["b", "c"]},
        [BLEU(tokenize="none", order=2)],
    )
    wrong = scoring.scores[1].rows.rows.copy()
    wrong[1, 0] = NAN
    broken = replace(scoring.scores[1], rows=replace(scoring.scores[1].rows, rows=wrong))
    message = complaint(replace(scoring, scores=(scoring.scores[0], broken)))
    assert message == "system 'B', item 'q9': a score must be a finite number, got nan"


# --- Tables ---------------------------------------------------------------------------------------


def test_tables_with_missing_cells():
    table = ScoreTable.of({"judge": {"A": GOOD, "B": [1, NAN, 2]}}, items=["q1", "q2", "q3"])
    expected = "system 'B' has no score for item 'q2'; systems are compared on the same items"
    assert complaint(table) == expected
    several = ScoreTable.of({"comet": {"A": GOOD, "B": GOOD}, "judge": {"A": GOOD}})
    expected = "system 'B' has no judge score for item '0'; systems are compared on the same items"
    assert complaint(several) == expected


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (
            ScoreTable.of({"judge": {"A": GOOD}}),
            "a comparison needs at least two systems: there is only 'A'",
        ),
        (
            ScoreTable.of({"judge": {"A": [1.0], "B": [2.0]}}),
            "a comparison needs at least two items, got 1",
        ),
        (
            ScoreTable.of({"judge": {"A": [0.5, 0.5], "B": [0.5, 0.5]}}),
            "every score of judge is 0.5: there is nothing to compare",
        ),
        (
            ScoreTable.from_arrays((), (), (), np.empty((0, 0, 0))),
            "there is nothing to compare: the table holds no scores",
        ),
    ],
)
def test_tables(table, message):
    assert complaint(table) == message


# --- Plans ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"tests": ()}, "no test was asked for"),
        ({"tests": "koehn"}, "tests must be a list of tests, got 'koehn'"),
        ({"tests": ("sign",)}, "there is no test 'sign'; there are studentized, randomization,"),
        ({"tests": ("koehn", "koehn")}, "a test was asked for twice"),
        (
            {"correction": "bonferroni"},
            "correction must be one of holm, bh, none, got 'bonferroni'",
        ),
        ({"correction": None}, "correction must be one of holm, bh, none, got None"),
        (
            {"interval": "normal"},
            "interval must be one of studentized, jackknife, percentile, bca, got 'normal'",
        ),
        ({"trials": 0}, "trials must be at least 1, got 0"),
        ({"trials": 10.5}, "trials must be a whole number, got 10.5"),
        ({"trials": "many"}, "trials must be a whole number, got 'many'"),
        ({"resamples": -4}, "resamples must be at least 1, got -4"),
        ({"resamples": None}, "resamples must be a whole number, got None"),
        ({"seed": -1}, "seed must not be negative, got -1"),
        ({"seed": None}, "seed must be a whole number, got None"),
        ({"confidence": 95}, "confidence must lie between 0 and 1, got 95"),
        ({"confidence": 1.0}, "confidence must lie between 0 and 1, got 1.0"),
        ({"confidence": NAN}, "confidence must lie between 0 and 1, got nan"),
        ({"confidence": "high"}, "confidence must lie between 0 and 1, got 'high'"),
        ({"significance": 0.0}, "significance must lie between 0 and 1, got 0.0"),
    ],
)
def test_plans(settings, message):
    with pytest.raises(InputError) as raised:
        ComparisonPlan(**settings)
    assert str(raised.value).startswith(message)


def test_too_many_exchanges_to_try():
    scores = np.random.default_rng(0).normal(size=(2, 21))
    message = complaint(
        dict(zip("AB", scores, strict=True)), plan=ComparisonPlan(tests=("permutation",))
    )
    assert "differ on 21 items, too many to try all exchanges (at most 20)" in message
    assert message.endswith("use studentized")
    scores[0, 4] = scores[1, 4]
    compare_systems(
        dict(zip("AB", scores, strict=True)), plan=ComparisonPlan(tests=("permutation",))
    )
