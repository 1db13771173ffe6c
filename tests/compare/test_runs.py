"""Several runs of each system: variances against literal formulas and a two-way bootstrap."""

from __future__ import annotations

import math
from itertools import product

import numpy as np
import pytest

from deltableu import ComparisonPlan, DeltaBLEU, compare_systems, score_systems
from deltableu.compare.observations import observe
from deltableu.compare.runs import TEST, RunEvidence
from deltableu.corpus import ReferenceSet, ScoreTable, system_runs, with_runs
from deltableu.errors import InputError


def made_scores(counts, items=40, seed=0, run=0.3, noise=1.0, better=0.0):
    """Scores of runs: an effect of the item, one of the run, and noise."""
    rng = np.random.default_rng(seed)
    item = rng.normal(size=items)
    return {
        f"{name}@{number}": item
        + (better if name == "A" else 0.0)
        + run * rng.normal()
        + noise * rng.normal(size=items)
        for name, count in counts.items()
        for number in range(count)
    }


def evidence(scores):
    (found,) = observe({name: list(values) for name, values in scores.items()})
    return RunEvidence.of(found, system_runs(found.systems))


def literal_variance(tables, first, second=None):
    """Of means over runs x items, one element after the other."""
    chosen = [first] if second is None else [first, second]
    items = len(tables[0][0])

    def column(table, i):
        return sum(row[i] for row in table) / len(table)

    apart = [
        column(tables[first], i) - (0.0 if second is None else column(tables[second], i))
        for i in range(items)
    ]
    middle = sum(apart) / items
    v_items = sum((one - middle) ** 2 for one in apart) / (items - 1) / items
    between, crossed, squares = {}, {}, 0.0
    for place, table in enumerate(tables):
        runs = len(table)
        if runs == 1:
            continue
        means = [sum(row) / items for row in table]
        grand = sum(means) / runs
        between[place] = sum((one - grand) ** 2 for one in means) / (runs - 1) / runs
        squares += sum((one - grand) ** 2 for one in means)
        crossed[place] = 0.0
        for r, i in product(range(runs), range(items)):
            crossed[place] += (table[r][i] - means[r] - column(table, i) + grand) ** 2
        crossed[place] /= (runs - 1) * (items - 1) * runs * items
    several = [place for place in chosen if place in between]
    v_runs = sum(max(between[place] - crossed[place], 0.0) for place in several)
    pooled = squares / sum(len(table) - 1 for table in tables)
    degrees = []
    for least in (0.0, pooled):
        taken = {place: max(between[place], least / len(tables[place])) for place in several}
        total = v_items + sum(max(taken[place] - crossed[place], 0.0) for place in several)
        spread = v_items**2 / (items - 1)
        spread += sum(taken[place] ** 2 / (len(tables[place]) - 1) for place in several)
        degrees.append(total**2 / spread)
    fewest = min((len(tables[place]) - 1 for place in several), default=items - 1)
    return v_items, v_runs, min(max(min(degrees), fewest), items - 1)


@pytest.mark.parametrize(
    ("counts", "run"),
    [({"A": 2, "B": 2}, 0.0), ({"A": 3, "B": 5}, 0.5), ({"A": 4, "B": 1}, 2.0)],
)
def test_variances_are_the_formulas(counts, run):
    for seed in range(5):
        scores = made_scores(counts, seed=seed, run=run)
        found = evidence(scores)
        tables = [[list(scores[f"{name}@{k}"]) for k in range(counts[name])] for name in counts]
        for pair in ((0, None), (1, None), (0, 1)):
            shares, wanted = found.variance(*pair), literal_variance(tables, *pair)
            assert (shares.items, shares.runs, shares.degrees) == pytest.approx(wanted, rel=1e-9)


def test_two_way_bootstrap():
    """Runs and items drawn with replacement: with many of both its variance is the same.

    What runs and items change together is drawn three times over by such a bootstrap (Owen and
    Eckles 2012), so that it must be small here.
    """
    rng = np.random.default_rng(3)
    scores = made_scores({"A": 60, "B": 80}, items=300, seed=4, run=0.5, noise=0.3)
    tables = [
        np.array([values for name, values in scores.items() if name.startswith(system)])
        for system in "AB"
    ]
    drawn = np.empty(3000)
    for trial in range(len(drawn)):
        items = rng.integers(300, size=300)
        means = [
            table[rng.integers(len(table), size=len(table))][:, items].mean() for table in tables
        ]
        drawn[trial] = means[0] - means[1]
    shares = evidence(scores).variance(0, 1)
    assert shares.both == pytest.approx(drawn.var(ddof=1), rel=0.15)
    assert shares.run_share > 0.8


def test_corpus_scores_by_the_two_way_bootstrap():
    rng = np.random.default_rng(5)
    words = [f"w{k}" for k in range(30)]
    references = [[" ".join(rng.choice(words, 8)) for _ in range(3)] for _ in range(150)]
    weights = [[1.0, 0.6, -0.4]] * len(references)

    def output(share):
        return [
            " ".join(w if rng.random() < share else str(rng.choice(words)) for w in row[0].split())
            for row in references
        ]

    quality = {"A": rng.normal(0.6, 0.06, size=40), "B": rng.normal(0.6, 0.06, size=40)}
    outputs = {
        f"{system}@{k}": output(share)
        for system, shares in quality.items()
        for k, share in enumerate(shares)
    }
    scoring = score_systems(
        ReferenceSet(references, weights), outputs, [DeltaBLEU(tokenize="none")]
    )
    (found,) = observe(scoring)
    shares = RunEvidence.of(found, system_runs(found.systems)).variance(0, 1)
    rows, metric = found.rows, DeltaBLEU()
    drawn = np.empty(1500)
    for trial in range(len(drawn)):
        counts = np.bincount(rng.integers(150, size=150), minlength=150)
        scores = metric.aggregate(np.einsum("suc,u->sc", rows, counts.astype(float)))
        picked = rng.integers(40, size=(2, 40))
        drawn[trial] = scores[:40][picked[0]].mean() - scores[40:][picked[1]].mean()
    # The bootstrap has the noise of runs x items once too often; it is a small part here.
    assert shares.both == pytest.approx(drawn.var(ddof=1), rel=0.25)


def test_test_and_interval_agree():
    """About 0, whichever the level."""
    for seed in range(60):
        scores = made_scores({"A": 3, "B": 2}, items=12, seed=seed, better=0.4)
        found = evidence(scores)
        for level in (0.8, 0.95):
            interval = found.estimate(0, 1, level).interval
            rejected = found.verdict(0, 1).p_value < 1.0 - level
            assert rejected == (not interval.low <= 0.0 <= interval.high)


def test_runs_far_apart_are_no_difference():
    """What every single run shows on the items is not what the systems do."""
    rng = np.random.default_rng(0)
    item = rng.normal(size=300)
    runs = {"A@1": 1.0, "A@2": 0.1, "B@1": 0.4, "B@2": -0.2}
    scores = {
        name: (item + mean + 0.1 * rng.normal(size=300)).tolist() for name, mean in runs.items()
    }
    (one_by_one,) = compare_systems(scores, runs="off")
    assert all(pair.significant for pair in one_by_one.pairs)
    (both,) = compare_systems(scores)
    assert [one.system for one in both.systems] == ["A", "B"]
    assert both.tests == (TEST,)
    assert both.pairs[0].p_values[TEST] > 0.2
    assert both.pairs[0].variance.run_share > 0.9


def test_steady_runs_are_as_good_as_one():
    """Equal runs add nothing: Student's test of the items is left."""
    from scipy.stats import ttest_rel

    rng = np.random.default_rng(1)
    first, second = rng.normal(size=(2, 30))
    scores = {"A@1": first, "A@2": first, "A@3": first, "B@1": second, "B@2": second}
    (found,) = compare_systems({name: list(values) for name, values in scores.items()})
    expected = ttest_rel(first, second).pvalue
    assert found.pairs[0].p_values[TEST] == pytest.approx(expected, rel=1e-9)


def test_groups():
    """Items that are copies of each other count once."""
    scores = made_scores({"A": 3, "B": 3}, items=20, better=0.5)
    tripled = {name: np.repeat(values, 3).tolist() for name, values in scores.items()}
    labels = [str(place) for place in range(20) for _ in range(3)]
    (plain,) = compare_systems({name: list(values) for name, values in scores.items()})
    (grouped,) = compare_systems(tripled, groups=labels)
    assert grouped.groups == 20
    assert grouped.pairs[0].p_values[TEST] == pytest.approx(plain.pairs[0].p_values[TEST])


def test_no_spread_at_all():
    same = {"A@1": [1.0, 2.0], "A@2": [1.0, 2.0], "B@1": [1.0, 2.0], "B@2": [1.0, 2.0]}
    (found,) = compare_systems(same)
    assert found.pairs[0].p_values[TEST] == 1.0
    higher = {name: [x + name.startswith("A") for x in row] for name, row in same.items()}
    (found,) = compare_systems(higher)
    assert found.pairs[0].p_values[TEST] == 0.5
    assert found.pairs[0].interval.low == -math.inf


def test_a_clamped_run_has_no_p_value():
    references = ReferenceSet(
        [["a b c d", "x y z"]] * 4 + [["e f g", "x y"]] * 4, [[1.0, -0.5]] * 8
    )
    good, bad = ["a b c e", "a b d d"] * 4, ["x y z"] * 8
    outputs = {"A@1": good, "A@2": bad, "B@1": good, "B@2": good[::-1], "C": good}
    (found,) = compare_systems(
        score_systems(references, outputs, [DeltaBLEU(tokenize="none")]), plan=ComparisonPlan()
    )
    assert math.isnan(found.pair("A", "B").p_values[TEST])
    assert found.pair("A", "B").interval is None
    assert not math.isnan(found.pair("B", "C").p_values[TEST])
    assert any("the score of A is clamped" in text for text in found.warnings)
    assert any("only one run of C" in text for text in found.warnings)


def test_lower_is_better_and_baseline():
    scores = made_scores({"A": 3, "B": 3, "C": 3}, better=5.0)
    table = ScoreTable.of(
        {"ter": {name: list(values) for name, values in scores.items()}}, lower_is_better=["ter"]
    )
    (found,) = compare_systems(table, baseline="A")
    assert {pair.better for pair in found.pairs} == {"B", "C"}
    assert [one.system for one in found.systems][-1] == "A"


def test_choosing_systems():
    scores = {name: list(row) for name, row in made_scores({"A": 2, "B": 2, "C": 2}).items()}
    (found,) = compare_systems(scores, systems=["A", "C"])
    assert {one.system for one in found.systems} == {"A", "C"}
    (found,) = compare_systems(scores, systems=["A@0", "C@1"])
    assert {one.system for one in found.systems} == {"A@0", "C@1"}
    assert found.tests == ("studentized",)


def test_names():
    assert system_runs(["a@b", "c"]) == {"a@b": ("a@b",), "c": ("c",)}
    assert system_runs(["a@b@1", "a@b@2"]) == {"a@b": ("a@b@1", "a@b@2")}
    assert system_runs(["@1", "@2", "x@", "y@"]) == {
        name: (name,) for name in ("@1", "@2", "x@", "y@")
    }
    assert with_runs(["z"], ["a@1", "a@2"]) == ["z"]
    with pytest.raises(InputError, match="rename one"):
        system_runs(["a", "a@1", "a@2"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"systems": ["A"]}, "only runs of 'A'"),
        ({"plan": ComparisonPlan(tests=("bootstrap",))}, "their own test"),
        ({"plan": ComparisonPlan(interval="bca")}, "their own test"),
        ({"runs": "on"}, "runs must be one of auto, off"),
        ({"baseline": "A@1"}, "no baseline"),
    ],
)
def test_bad_input(change, message):
    scores = {name: list(row) for name, row in made_scores({"A": 2, "B": 2}).items()}
    with pytest.raises(InputError, match=message):
        compare_systems(scores, **change)


@pytest.mark.parametrize("run", [0.0, 3.0])
def test_a_few_runs_are_warned_of(run):
    """Also where they agree, as two or three may do by chance."""
    few = {name: list(row) for name, row in made_scores({"A": 3, "B": 6}, run=run).items()}
    (found,) = compare_systems(few)
    assert [text for text in found.warnings if "fewer than 5 runs of A:" in text]
    many = {name: list(row) for name, row in made_scores({"A": 9, "B": 6}, run=3.0).items()}
    (found,) = compare_systems(many)
    assert found.warnings == ()
