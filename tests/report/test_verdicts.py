"""Sentences say what the numbers say, and never more."""

from __future__ import annotations

import itertools
import math
import re
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import DeltaBLEU, compare_systems, read_study, validate_metrics
from deltableu.compare import (
    ComparedPair,
    ComparedSystem,
    Comparison,
    ComparisonPlan,
    gate_systems,
    plan_rating,
)
from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.rate import QualityEstimates, estimate_systems
from deltableu.report import verdict
from deltableu.report.compare_verdict import items_needed
from deltableu.report.judge_verdict import _sentences
from deltableu.stats import ConfidenceInterval
from deltableu.validate import Sweep, Sweeps, UnitAgreement


def a_comparison(
    difference: float = 3.1,
    interval: tuple[float, float] | None = (0.9, 5.2),
    p_value: float = 0.01,
    *,
    favours: str | None = "first",
    higher: bool = True,
    baseline: str | None = None,
    correction: str = "holm",
    items: int = 40,
    groups: int | None = None,
    metric: str = "delta-bleu-2",
    warnings: tuple[str, ...] = (),
) -> Comparison:
    """Two systems, v2 first, whatever the numbers."""
    significant = p_value < 0.05
    better = {"first": "v2", "second": "v1", None: None}[favours]
    found = None if interval is None else ConfidenceInterval(*interval, 0.95, "studentized")
    pair = ComparedPair(
        first="v2",
        second="v1",
        difference=difference,
        interval=found,
        p_values={"studentized": p_value},
        favours={"studentized": better},
        holm={"studentized": p_value},
        bh={"studentized": p_value},
        significant=significant,
        better=better if significant else None,
    )
    systems = tuple(
        ComparedSystem(name, score, found, (1, 2), 1, "a")
        for name, score in (("v2", 20.0 + difference), ("v1", 20.0))
    )
    return Comparison(
        metric=metric,
        higher_is_better=higher,
        items=items,
        groups=groups,
        baseline=baseline,
        tests=("studentized",),
        correction=correction,
        significance=0.05,
        confidence=0.95,
        systems=systems,
        pairs=(pair,),
        exact=False,
        warnings=warnings,
        signature="s",
    )


def test_better():
    assert verdict(a_comparison()) == (
        "v2 is better than v1 by 3.1 delta-bleu-2 (95% interval 0.9 to 5.2).",
    )


def test_lower_is_better():
    found = a_comparison(-3.1, (-5.2, -0.9), higher=False, metric="ter")
    assert verdict(found) == ("v2 is better than v1 by 3.1 ter (95% interval 0.9 to 5.2).",)


def test_cannot_tell():
    found = a_comparison(0.4, (-1.9, 2.7), 0.7)
    assert verdict(found) == (
        "These 40 items cannot tell v2 and v1 apart: v2 is 0.4 delta-bleu-2 ahead of v1, and the "
        "95% interval -1.9 to 2.7 includes 0; if that is the true difference, about 2,800 items "
        "like these would show it (80% power).",
    )


def test_a_difference_too_small_for_any_test_set():
    (sentence,) = verdict(a_comparison(0.001, (-1.9, 1.9), 0.99))
    assert "a true difference so small needs more than 100,000 items like these" in sentence


def test_groups_are_what_is_counted():
    (sentence,) = verdict(a_comparison(0.4, (-1.9, 2.7), 0.7, groups=12))
    assert sentence.startswith("These 12 groups of items cannot tell")
    assert "groups like these would show it" in sentence


def test_interval_and_test_may_disagree():
    (sentence,) = verdict(a_comparison(3.1, (-0.2, 6.4), 0.03))
    assert sentence == (
        "v2 is better than v1 by 3.1 delta-bleu-2 (p = .030, studentized), though the 95% interval "
        "-0.2 to 6.4 includes 0."
    )
    (sentence,) = verdict(a_comparison(3.1, (0.2, 6.0), 0.08))
    assert sentence == (
        "v2 is 3.1 delta-bleu-2 ahead of v1, which is not significant after correction for 1 pair "
        "(p = .080); the 95% interval 0.2 to 6.0 is that of this pair alone."
    )
    (sentence,) = verdict(a_comparison(-0.3, (-1.0, 0.4), 0.01))
    assert sentence.startswith("By studentized, v2 is better than v1 (p = .010), although its")


def test_clamped_scores_are_not_tested():
    clamped = a_comparison(3.1, None, math.nan, favours=None)
    assert verdict(clamped) == ("No difference by delta-bleu-2 can be tested.",)
    signed = a_comparison(metric="signed-delta-bleu-2")
    assert verdict([clamped, signed])[-1] == (
        "No difference by delta-bleu-2 can be tested; signed-delta-bleu-2 is tested in its place."
    )


def test_too_few_items_come_first():
    warning = "4 items are too few for any difference to be significant"
    found = verdict(a_comparison(0.4, (-1.9, 2.7), 0.7, items=4, warnings=(warning,)))
    assert found[0] == f"{warning}."


def test_other_metrics_agree_or_not():
    first = a_comparison()
    same, open_ = a_comparison(metric="bleu-2"), a_comparison(0.1, (-1, 1), 0.9, metric="chrf")
    other = a_comparison(-3.1, (-5.2, -0.9), favours="second", metric="ter-like")
    assert verdict([first, same])[1:] == ("bleu-2 agrees.",)
    assert verdict([first, open_, other])[1:] == (
        "chrf cannot tell them apart.",
        "ter-like says the opposite.",
    )
    assert verdict([open_, first])[1:] == (
        "v2 is better than v1 by 3.1 delta-bleu-2 (95% interval 0.9 to 5.2).",
    )
    assert verdict([open_, a_comparison(0.2, (-1, 2), 0.9)])[1:] == (
        "delta-bleu-2 cannot tell them apart either.",
    )


INTERVALS = [None, (0.9, 5.2), (-1.9, 2.7), (-6.0, -1.0), (0.0, 0.0), (-math.inf, math.inf)]


def test_every_combination():
    combinations = itertools.product(
        [3.1, 0.0, -2.0],
        INTERVALS,
        [0.001, 0.049, 0.05, 0.9, math.nan],
        ["first", "second", None],
        [True, False],
        [None, "v1"],
        ["holm", "none"],
        [2, 1000],
    )
    for difference, interval, p_value, favours, higher, baseline, correction, items in combinations:
        if favours is None and p_value < 0.05:
            continue  # no test is significant for nobody
        found = a_comparison(
            difference,
            interval,
            p_value,
            favours=favours,
            higher=higher,
            baseline=baseline,
            correction=correction,
            items=items,
        )
        check_sentences(verdict(found), [found])


def check_sentences(sentences: tuple[str, ...], comparisons: list[Comparison]) -> None:
    assert sentences
    better = {
        (pair.better, pair.second if pair.better == pair.first else pair.first)
        for one in comparisons
        for pair in one.pairs
        if pair.better is not None
    }
    for sentence in sentences:
        assert sentence.endswith(".")
        assert not re.search(r"\b(nan|inf)\b", sentence)
        assert not re.search(r"\b1 (items|pairs|groups|others)\b", sentence)
        for winner, loser in re.findall(r"(\S+) is better than (\S+)(?= by| \(p)", sentence):
            assert (winner, loser) in better, sentence
        if "cannot tell" in sentence or "not significant" in sentence:
            assert "is better than" not in sentence


@settings(max_examples=60, deadline=None)
@given(
    seed=st.integers(0, 10**6),
    systems=st.integers(2, 6),
    items=st.integers(2, 30),
    effect=st.sampled_from([0.0, 0.5, 3.0]),
    levels=st.sampled_from([2, 5, 1000]),
    with_baseline=st.booleans(),
    test=st.sampled_from(["studentized", "wilcoxon", "t-test"]),
)
def test_sentences_never_exceed_the_tests(
    seed, systems, items, effect, levels, with_baseline, test
):
    rng = np.random.default_rng(seed)
    scores = {
        f"s{k}": np.round(rng.normal(effect * k, 1.0, items) * levels / 5).tolist()
        for k in range(systems)
    }
    if len({one for row in scores.values() for one in row}) == 1:
        return  # nothing to compare, and said so
    plan = ComparisonPlan(tests=(test,), trials=200)
    found = compare_systems(scores, plan=plan, baseline="s0" if with_baseline else None)
    check_sentences(verdict(found), list(found))


def test_the_best_of_many():
    rng = np.random.default_rng(1)
    scores = {
        name: rng.normal(mean, 1, 60).tolist() for name, mean in zip("abc", (0, 0, 5), strict=True)
    }
    first, second, *_ = verdict(compare_systems(scores))
    assert first == "c is best: better than both others by score."
    assert second.startswith("c is better than ")
    equal = {name: rng.normal(0, 1, 60).tolist() for name in "abc"}
    assert verdict(compare_systems(equal)) == (
        "These 60 items cannot tell any of the 3 systems apart.",
    )
    two = {
        name: rng.normal(mean, 1, 60).tolist() for name, mean in zip("abc", (0, 5, 5), strict=True)
    }
    assert verdict(compare_systems(two))[0].startswith("These 60 items cannot tell which of ")


def test_as_many_items_as_said_show_the_difference():
    """About four samples in five of the size that the sentence asks for are significant."""
    rng = np.random.default_rng(3)
    difference, items = 0.2, 50
    needed = items_needed(difference, 1.96 / math.sqrt(items), 0.95, items, 0.05)
    assert needed is not None
    means = difference + rng.normal(size=(4000, needed)).mean(axis=1)
    power = (np.abs(means) * math.sqrt(needed) > 1.96).mean()
    assert 0.78 < power < 0.84


def test_how_many_items_are_needed():
    assert items_needed(0.0, 1.0, 0.95, 40, 0.05) is None
    assert items_needed(1.0, math.inf, 0.95, 40, 0.05) is None
    assert items_needed(1.0, 0.1, 0.95, 40, 0.05) is None  # there are more than enough


def validation(systems: int, items: int, noises: dict[str, float], seed: int = 0):
    rng = np.random.default_rng(seed)
    people = rng.normal(size=(systems, items)) + np.arange(systems)[:, None] * 0.2
    names = [f"s{k}" for k in range(systems)]
    tables = {
        name: dict(zip(names, (people + rng.normal(0, noise, people.shape)).tolist(), strict=True))
        for name, noise in noises.items()
    }
    human = ScoreTable.of({"people": dict(zip(names, people.tolist(), strict=True))})
    return validate_metrics(ScoreTable.of(tables), human)


def test_a_metric_that_agrees_best():
    found = verdict(validation(4, 60, {"good": 0.3, "bad": 5.0}))
    assert found[0].startswith("4 systems cannot rank 2 metrics system by system: ")
    assert any(
        re.fullmatch(
            r"Output by output \(240 outputs\), good agrees best with people: pearson \.\d\d "
            r"\(95% interval \.\d\d to \.\d\d\), significantly better than bad\.",
            one,
        )
        for one in found
    )


def test_metrics_that_are_level():
    found = verdict(validation(4, 60, {"one": 0.5, "two": 0.5}))
    assert any("not significantly better than" in one for one in found)


def test_metrics_that_know_nothing():
    found = verdict(validation(4, 30, {"one": 500.0, "two": 500.0}, seed=3))
    assert any("no metric is shown to agree with people" in one for one in found)


def test_judges():
    right, beside = _sentences(2000, 0.8, 0.7)
    assert right.startswith("The judge is right on 80.0% of 2,000 held-out examples (95% interval")
    assert beside == "It is better than counting common words, which is right on 70.0%."
    assert "not shown to be better than counting" in _sentences(100, 0.8, 0.78)[1]
    assert _sentences(2000, 0.7, 0.8)[1].startswith("It is worse than counting common words")
    assert "better than a coin" in _sentences(20, 0.55, 0.5)[1]


def test_what_has_no_verdict():
    with pytest.raises(InputError, match="a verdict is made of"):
        verdict([1, 2])


def test_sweeps_say_where_each_metric_agrees_best():
    def one(metric: str, setting: str, value: float) -> UnitAgreement:
        return UnitAgreement(metric, setting, "spearman", value, None, 20, 60)

    settings = [
        one("bleu-2", "single", 0.26),
        one("bleu-2", "w>=0.6", 0.343),
        one("bleu-2", "all", 0.318),
        one("delta-bleu-2", "single", 0.28),
        one("delta-bleu-2", "all", 0.484),
        one("constant", "all", float("nan")),
    ]
    orders = [one("bleu", "2", 0.3)]
    found = Sweeps(
        (Sweep("settings", tuple(settings)), Sweep("order", tuple(orders))),
        (("A", "B"),),
        9,
        (),
        "raw",
        (),
        "",
    )
    assert verdict(found) == (
        "Highest spearman with people by settings: delta-bleu-2 .484 with all references; "
        "bleu-2 .343 with references w>=0.6.",
    )


def test_gates():
    scores = {"v1": [3, 4, 6, 5, 7, 6, 5, 4], "v2": [2, 3, 5, 3, 6, 4, 4, 3]}
    first, *others = verdict(gate_systems(scores, baseline="v1"))
    assert first == "The gate is not passed."
    assert others[0].startswith("v2 fails: worse than v1 by 1.25 score")
    assert verdict(gate_systems(scores, baseline="v2"))[0] == "The gate is passed."


def some_qualities(seed: int, rated: int, spread: float, **options: object) -> QualityEstimates:
    """Three systems on 60 items, `spread` apart, of which so many outputs each are rated."""
    rng = np.random.default_rng(seed)
    metric = rng.normal(size=(3, 60))
    said = 3 + metric + 0.5 * rng.normal(size=(3, 60)) + spread * np.arange(3)[:, None]
    said[:, rated:] = np.nan
    items = [f"i{place}" for place in range(60)]
    human = ScoreTable.from_arrays(["human"], "ABC", items, said[None])
    helper = ScoreTable.from_arrays(["m"], "ABC", items, metric[None])
    return estimate_systems(human, helper, **options)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 1000), st.integers(8, 60), st.sampled_from([0.0, 0.4, 2.0]), st.booleans())
def test_qualities_say_no_more_than_their_tests(seed, rated, spread, finite):
    found = some_qualities(seed, rated, spread, finite=finite)
    first, *rest = verdict(found)
    sure = [one.significant for one in found.pairs if one.better == found.systems[0].system]
    assert first.startswith(f"{found.systems[0].system} is best") == all(sure)
    assert ("cannot tell which of" in first) == (not all(sure))
    number = sum(one.significant for one in found.pairs)
    assert rest[1] == f"{number} of 3 pairs differ significantly."
    assert ("All outputs are rated" in rest[-1]) == (finite and rated == 60)


def test_qualities_against_a_baseline_and_of_one_system():
    found = some_qualities(3, 30, 2.0, baseline="A")
    said = verdict(found)
    assert re.match(r"C is 3\.99 ahead of A \(95% interval 3\.\d+ to 4\.\d+\)\.", said[0])
    close = verdict(some_qualities(3, 20, 0.0, baseline="A"))
    assert all("not significant after correction for 2 pairs (p = " in one for one in close[:2])
    none = verdict(some_qualities(3, 1, 1.0))
    assert none == ("No system has enough ratings yet: rate the outputs of the order first.",)


def test_a_plan_of_ratings_says_whether_to_go_on():
    study = read_study(Path(__file__).parents[2] / "examples" / "demo")
    plan = plan_rating(study, DeltaBLEU(), raters=8)
    assert verdict(replace(plan, chance=0.951))[0].startswith("Rating may stop")
    assert "with a chance of 99.9%" in verdict(replace(plan, chance=0.9999))[0]
    assert verdict(replace(plan, chance=0.949))[0].startswith(
        "Go on rating: the chance is only 95%"
    )
    sentences = " ".join(verdict(replace(plan, chance=0.2, outlook=())))
    assert "likely to be enough" not in sentences
    assert "Nothing is left to be rated" in verdict(replace(plan, order=()))[0]
