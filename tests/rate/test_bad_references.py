"""Quality control by bad references, against scipy's tests."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from deltableu import read_study
from deltableu.corpus import RatingTable
from deltableu.errors import InputError
from deltableu.rate.bad_references import bad_reference_control
from tests.rate import wmt21

few = settings(max_examples=60, deadline=None)


def controlled(good: list[float], bad: list[float], rater: str = "ann") -> RatingTable:
    size = len(good)
    return RatingTable.of(
        raters=[rater] * 2 * size, items=[str(number) for number in range(size)] * 2,
        systems=["A"] * 2 * size, kinds=["item"] * size + ["bad-reference"] * size,
        values=[*good, *bad],
    )  # fmt: skip


@few
@given(st.lists(st.tuples(st.integers(0, 100), st.integers(0, 100)), min_size=2, max_size=20))
def test_p_values_are_scipys(pairs):
    good, bad = map(list, zip(*pairs, strict=True))
    (paired,) = bad_reference_control(controlled(good, bad))
    differences = np.subtract(good, bad)
    if np.ptp(differences) == 0:
        assert (paired.passed, paired.reason) == (False, "has the same difference in all pairs")
    else:
        expected = stats.ttest_rel(bad, good, alternative="less").pvalue
        assert paired.p_value == pytest.approx(expected, rel=1e-9, abs=1e-15)
        assert paired.passed == (expected <= 0.05)
    (ranked,) = bad_reference_control(controlled(good, bad), rule="rank-sum")
    assert ranked.p_value == stats.mannwhitneyu(bad, good, alternative="less").pvalue
    assert ranked.passed == (ranked.p_value <= 0.01)
    assert paired.pairs == ranked.pairs == len(pairs)
    assert paired.difference == pytest.approx(differences.mean())


def test_pairs_are_of_one_rater_system_and_item():
    made = RatingTable.of(
        raters=["a", "a", "a", "a", "b", "a", "a"],
        items=["1", "1", "2", "2", "2", "3", "1"],
        systems=["A", "A", "B", "A", "A", "A", "A"],
        kinds=["item", "bad-reference", "item", "bad-reference", "item", "bad-reference", "repeat"],
        values=[80, 30, 90, 10, 70, 20, 0],
    )
    first, second = bad_reference_control(made)
    assert (first.pairs, first.difference) == (1, 50)
    assert (first.passed, first.reason) == (False, "has a single pair")
    assert (second.pairs, second.passed) == (0, None)
    assert math.isnan(second.p_value)
    assert "judged no bad reference" in second.reason


def test_damaged_references_are_compared_with_references(demo):
    """The demo's controls belong to no system; its raters 13 to 30 saw six each."""
    made = RatingTable.from_study(read_study(demo))
    verdicts = {one.rater: one for one in bad_reference_control(made)}
    assert {verdicts[name].pairs for name in verdicts} == {6}
    study = [one for one in read_study(demo).ratings if one.rater == "sim-13"]
    said = {
        kind: {one.item: one.value for one in study if one.kind == kind}
        for kind in ("reference", "bad-reference")
    }
    items = sorted(said["bad-reference"])
    expected = stats.ttest_rel(
        [said["bad-reference"][item] for item in items],
        [said["reference"][item] for item in items],
        alternative="less",
    ).pvalue
    assert verdicts["sim-13"].p_value == pytest.approx(expected)


def test_several_judgements_of_the_same_are_averaged():
    twice = RatingTable.of(
        raters=["a"] * 6, items=["1", "1", "1", "2", "2", "3"], systems=["A"] * 6,
        kinds=["item", "item", "bad-reference", "item", "bad-reference", "item"],
        values=[60, 80, 30, 50, 40, 0],
    )  # fmt: skip
    (verdict,) = bad_reference_control(twice)
    assert (verdict.pairs, verdict.difference) == (2, 25)


def test_czech(data):
    """WMT21 kept 92 raters of cs-en by all that they did in all languages: most pass here too."""
    made = wmt21.judgements(
        data / wmt21.TO_ENGLISH / "ad-csen-good-stnd-redup.csv.gz", ("cs", "en")
    )
    verdicts = bad_reference_control(made)
    assert len(verdicts) == 92
    assert sum(one.pairs for one in verdicts) > 1000
    assert sum(one.passed is True for one in verdicts) == 64
    assert np.mean([one.difference for one in verdicts]) > 0.3  # in standard deviations


def test_wrong_options():
    made = controlled([3, 4, 5], [1, 2, 2])
    with pytest.raises(InputError, match="rule must be one of paired-t, rank-sum"):
        bad_reference_control(made, rule="t")
    with pytest.raises(InputError, match="significance must lie between 0 and 1"):
        bad_reference_control(made, significance=0)
    with pytest.raises(InputError, match="there are no bad references"):
        bad_reference_control(made.scored())
    assert bad_reference_control(made, significance=1e-9)[0].passed is False
