"""What the plots show is what the numbers are."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltableu import ScoreTable, compare_systems, validate_metrics
from deltableu.corpus import read_ratings
from deltableu.errors import InputError
from deltableu.rate import preferences, rank_by_preference, rater_agreements
from deltableu.report import plot, svg
from deltableu.validate import ValidationPlan

SCORES = {"A": [3, 4, 6, 5, 7, 6], "B": [2, 2, 5, 3, 6, 4], "C $x": [3, 4, 5, 6, 6, 7]}


def points(axis):
    """The dots of a panel, in the order of its rows."""
    return [
        (float(line.get_xdata()[0]), line.get_markerfacecolor())
        for line in axis.lines
        if line.get_marker() == "o"
    ]


def test_differences_are_drawn_as_they_are():
    (found,) = compare_systems(SCORES)
    (axis,) = plot(found).axes
    drawn = points(axis)
    assert [value for value, _ in drawn] == pytest.approx([one.difference for one in found.pairs])
    assert [colour != "white" for _, colour in drawn] == [one.significant for one in found.pairs]
    assert "A − B" in [label.get_text() for label in axis.get_yticklabels()]


def test_differences_from_a_baseline_are_the_systems_less_the_baseline():
    (found,) = compare_systems(SCORES, baseline="A")
    (axis,) = plot(found).axes
    names = [label.get_text() for label in axis.get_yticklabels()]
    means = {name: sum(values) / len(values) for name, values in SCORES.items()}
    assert [value for value, _ in points(axis)] == pytest.approx(
        [means[name] - means["A"] for name in names]
    )


def test_a_validation_is_drawn_by_level_or_as_points():
    table = ScoreTable.of({"ter": {k: [-v for v in vs] for k, vs in SCORES.items()}})
    table = table.with_lower_better(["ter"])
    people = ScoreTable.of({"likert": SCORES})
    found = validate_metrics(table, people, plan=ValidationPlan(resamples=20))
    figure = plot(found)
    assert [axis.get_title(loc="left") for axis in figure.axes] == [
        "system (3)",
        "pooled (18)",
        "item (6)",
    ]
    (axis,) = plot(found, kind="scatter").axes
    assert axis.lines[0].get_xdata().tolist() == pytest.approx(table.totals[0].tolist())
    assert axis.lines[0].get_ydata().tolist() == pytest.approx(people.totals[0].tolist())


def test_scores_are_drawn_with_their_intervals(tmp_path):
    table = ScoreTable.of({"m": SCORES})
    (axis,) = plot(table).axes
    assert [value for value, _ in points(axis)] == pytest.approx(table.totals[0].tolist())
    assert "<svg" in svg(plot(table))


def test_figures_leave_the_backend_of_the_caller_alone():
    import matplotlib

    before = matplotlib.get_backend(auto_select=False)
    plot(ScoreTable.of({"m": SCORES}))
    assert matplotlib.get_backend(auto_select=False) == before


@pytest.mark.parametrize("wrong", [None, 7, "study", [], [1], {"A": [1]}])
def test_what_is_no_result_is_refused(wrong):
    with pytest.raises(InputError, match="result must be a Scoring"):
        plot(wrong)
    with pytest.raises(InputError, match="for a Validation"):
        plot(wrong, kind="scatter")


def test_rankings_by_preference_and_agreement_of_raters_are_drawn():
    demo = Path(__file__).parents[2] / "examples" / "demo"
    table = read_ratings(demo / "preferences.csv")
    ranking = plot(rank_by_preference(preferences(table), resamples=10))
    names = [label.get_text() for label in ranking.axes[0].get_yticklabels()]
    assert names[0] == "human"
    curve, raters = plot(rater_agreements(table)).axes
    assert curve.get_title(loc="left") == "overall of pairs"
    assert raters.get_title(loc="left") == "12 raters"
