"""Can a judge replace a rater: the procedure word for word, its errors, and what it refuses."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import false_discovery_control, ttest_1samp

from deltableu.errors import InputError
from deltableu.rate import ALLOWANCES, alternative_annotator_test
from deltableu.stats import benjamini_yekutieli

NAN = float("nan")


def word_for_word(said, judge, alignment, allowance, level, least):
    """Calderon, Reichart and Dror 2025, section 3: rater by rater, text by text."""

    def score(value, others):
        if alignment == "accuracy":
            return sum(value == other for other in others) / len(others)
        return -math.sqrt(sum((value - other) ** 2 for other in others) / len(others))

    raters, units = said.shape
    p_values, advantages = [], []
    for j in range(raters):
        wins, losses = [], []
        for i in range(units):
            others = [said[k, i] for k in range(raters) if k != j and not math.isnan(said[k, i])]
            if math.isnan(said[j, i]) or math.isnan(judge[i]) or not others:
                continue
            own, rival = score(said[j, i], others), score(judge[i], others)
            wins.append(int(rival >= own))
            losses.append(int(own >= rival))
        if len(wins) < least:
            continue
        differences = [loss - win for loss, win in zip(losses, wins, strict=True)]
        if len(set(differences)) == 1:
            p_values.append(0.0 if differences[0] < allowance else 1.0)
        else:
            p_values.append(ttest_1samp(differences, allowance, alternative="less").pvalue)
        advantages.append(sum(wins) / len(wins))
    adjusted = false_discovery_control(p_values, method="by")
    return float((adjusted <= level).mean()), float(np.mean(advantages)), p_values, adjusted


@settings(max_examples=80, deadline=None)
@given(
    st.integers(0, 2**32),
    st.integers(3, 6),
    st.integers(30, 50),
    st.floats(0.0, 0.3),
    st.sampled_from(["rmse", "accuracy"]),
    st.sampled_from([0.0, 0.1, 0.2]),
)
def test_word_for_word(seed, raters, units, holes, alignment, allowance):
    rng = np.random.default_rng(seed)
    quality = rng.integers(1, 6, size=units)
    said = np.clip(quality + rng.integers(-1, 2, size=(raters, units)), 1, 5).astype(float)
    said[rng.random(said.shape) < holes] = NAN
    judge = np.clip(quality + rng.integers(-1, 2, size=units), 1, 5).astype(float)
    judge[rng.random(units) < holes / 3] = NAN
    options = {"alignment": alignment, "allowance": allowance}
    found = alternative_annotator_test(said, judge, min_units=8, **options)
    rate, advantage, p_values, adjusted = word_for_word(said, judge, alignment, allowance, 0.05, 8)
    assert found.winning_rate == rate
    assert found.advantage == pytest.approx(advantage)
    assert [one.p_value for one in found.raters] == pytest.approx(p_values)
    assert [one.p_adjusted for one in found.raters] == pytest.approx(adjusted.tolist())
    assert found.passed == (rate >= 0.5)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.floats(0.0, 1.0), min_size=1, max_size=20))
def test_correction_against_scipy(p_values):
    expected = false_discovery_control(p_values, method="by")
    assert benjamini_yekutieli(p_values) == pytest.approx(expected)


def test_allowances_are_the_published_ones():
    """The dearer the raters, the more a judge may be forgiven: README of the authors' code."""
    assert ALLOWANCES == {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}


def test_the_mean_of_the_others_beats_them_all():
    """The authors' theorem: nobody is closer to the others than their mean."""
    rng = np.random.default_rng(0)
    said = rng.normal(size=50) + rng.normal(size=(5, 50))
    found = alternative_annotator_test(said, said.mean(axis=0), allowance=0.0)
    assert found.winning_rate == 1.0


def test_a_judge_like_any_rater_rarely_wins_without_allowance():
    """Raters and judge are exchangeable: each win is a false one."""
    rng = np.random.default_rng(1)
    wins = [
        alternative_annotator_test(said[1:], said[0], allowance=0.0).winning_rate
        for said in (rng.normal(size=60) + rng.normal(size=(6, 60)) for _ in range(200))
    ]
    assert np.mean(np.array(wins) > 0.0) < 0.08
    assert np.mean(np.array(wins) >= 0.5) < 0.02


def test_a_constant_judge_does_not_replace_raters_who_agree():
    rng = np.random.default_rng(2)
    said = rng.normal(size=80) + 0.3 * rng.normal(size=(4, 80))
    assert alternative_annotator_test(said, np.zeros(80), allowance=0.2).winning_rate == 0.0


def test_who_rated_little_is_skipped():
    rng = np.random.default_rng(3)
    said = rng.normal(size=(5, 60))
    said[4, 10:] = NAN
    said[:4, 0] = NAN
    judge = rng.normal(size=60)
    judge[1] = NAN
    found = alternative_annotator_test(said, judge, ["a", "b", "c", "d", "e"])
    assert found.skipped == ("e",)
    assert [one.rater for one in found.raters] == ["a", "b", "c", "d"]
    assert {one.units for one in found.raters} == {58}
    assert found.left_out == 2


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"said": np.ones((2, 40))}, "needs 3 raters with 30 texts each .* got 2"),
        ({"said": np.ones((4, 20)), "judge": np.ones(20)}, "got 0"),
        ({"judge": np.ones(39)}, "one value of the judge per unit"),
        ({"allowance": 1.0}, "allowance must be at least 0 and below 1"),
        ({"allowance": NAN}, "allowance must be at least 0 and below 1"),
        ({"alignment": "kappa"}, "alignment must be"),
        ({"significance": 5.0}, "significance must lie"),
        ({"min_units": 1}, "min_units must be at least 2"),
    ],
)
def test_refusals(change, told):
    given = {"said": np.ones((4, 40)), "judge": np.ones(40), **change}
    with pytest.raises(InputError, match=told):
        alternative_annotator_test(given.pop("said"), given.pop("judge"), **given)
