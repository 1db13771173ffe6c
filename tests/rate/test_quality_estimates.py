"""Systems' qualities from few ratings: strata, what to rate next, intervals, and refusals."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.rate import estimate_difference, estimate_quality, estimate_systems
from deltableu.rate.strata import metric_strata

NAN = float("nan")


def sample(strata, counts, rng):
    """Places drawn at random, so many of each stratum."""
    drawn = [
        rng.permutation(np.flatnonzero(strata == number))[:count]
        for number, count in enumerate(counts)
    ]
    return np.concatenate(drawn)


def tables(said, metric):
    names = [chr(ord("A") + place) for place in range(len(metric))]
    items = [f"i{place}" for place in range(metric.shape[1])]
    human = ScoreTable.from_arrays(["human"], names, items, said[None])
    return human, ScoreTable.from_arrays(["m"], names, items, metric[None])


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.lists(st.integers(2, 12), min_size=4, max_size=4), st.booleans())
def test_regression_in_strata_word_for_word(seed, counts, finite):
    """Sarndal, Swensson and Wretman 1992, sections 6.4 and 6.6, loop by loop; each residual as if
    its rating had been left out of the line."""
    rng = np.random.default_rng(seed)
    metric = rng.normal(size=60)
    ratings = metric + rng.normal(size=60)
    strata = metric_strata(metric)
    rated = sample(strata, counts, rng)
    found = estimate_quality(
        ratings[rated], metric[rated], metric, method="stratified", finite=finite
    )
    # A far score is brought nearer before the line is drawn, strata stay as they are.
    low, high = np.quantile(metric, (0.25, 0.75))
    metric = np.clip(metric, low - 3 * (high - low), high + 3 * (high - low))
    shares = [np.count_nonzero(strata == h) / 60 for h in range(4)]
    sampled = [[i for i in rated if strata[i] == h] for h in range(4)]
    weight = {i: shares[h] / len(sampled[h]) for h in range(4) for i in sampled[h]}
    x_mean = sum(weight[i] * metric[i] for i in rated)
    y_mean = sum(weight[i] * ratings[i] for i in rated)
    spread = sum(weight[i] * (metric[i] - x_mean) ** 2 for i in rated)
    slope = sum(weight[i] * (metric[i] - x_mean) * (ratings[i] - y_mean) for i in rated) / spread
    mean = y_mean + slope * (metric.mean() - x_mean)
    assert found.alpha == pytest.approx(slope)
    assert found.mean == pytest.approx(mean)
    if not finite:
        return
    variance = 0.0
    for h in range(4):
        n = len(sampled[h])
        left = 1 - n / (60 * shares[h])
        line = [ratings[i] - slope * metric[i] for i in sampled[h]]
        for i, over in zip(sampled[h], line, strict=True):
            pull = weight[i] * (metric[i] - x_mean) / spread
            residual = (over - np.mean(line)) / max(1 - pull * (metric[i] - x_mean), 0.25)
            moved = weight[i] + (metric.mean() - x_mean) * pull
            variance += left * n / (n - 1) * (moved * residual) ** 2
    assert found.standard_error == pytest.approx(math.sqrt(variance))


def test_a_metric_with_few_values_does_no_harm():
    """What a judge says on a scale of five hardly varies within a stratum."""
    rng = np.random.default_rng(23)
    errors, alone = [], []
    for _ in range(200):
        quality = rng.normal(size=400)
        metric = np.clip(np.round(3 + quality + rng.normal(size=400)), 1, 5)
        ratings = quality + rng.normal(size=400)
        rated = sample(metric_strata(metric), (10, 10, 10, 10), rng)
        found = estimate_quality(ratings[rated], metric[rated], metric, method="stratified")
        errors.append(found.mean - ratings.mean())
        alone.append(ratings[rng.permutation(400)[:40]].mean() - ratings.mean())
    assert np.mean(np.square(alone)) / np.mean(np.square(errors)) > 1.1


@pytest.mark.parametrize("finite", [False, True])
@pytest.mark.parametrize("counts", [(6, 6, 6, 6), (3, 5, 10, 20)], ids=["even", "uneven"])
def test_strata_of_unequal_spread_cover(counts, finite):
    """Ratings that depend on the metric in a curve, and vary more where it is high."""
    rng = np.random.default_rng(3)
    held, errors = 0, []
    for _ in range(400):
        metric = rng.normal(size=200)
        ratings = np.exp(metric / 2) + (0.3 + 0.5 * (metric > 0)) * rng.normal(size=200)
        rated = sample(metric_strata(metric), counts, rng)
        target = ratings.mean() if finite else math.exp(1 / 8)
        found = estimate_quality(
            ratings[rated], metric[rated], metric, method="stratified", finite=finite
        )
        held += found.interval.low <= target <= found.interval.high
        errors.append((found.mean - target) / found.standard_error)
    assert held / 400 > 0.925
    assert abs(float(np.mean(errors))) < 4 / math.sqrt(400)


def test_uneven_samples_are_not_biased_as_plain_means_are():
    rng = np.random.default_rng(5)
    metric = rng.normal(size=2000)
    ratings = metric + 0.2 * rng.normal(size=2000)
    rated = sample(metric_strata(metric), (10, 10, 10, 200), rng)
    plain = estimate_quality(ratings[rated], metric[rated], metric, method="ratings")
    found = estimate_quality(ratings[rated], metric[rated], metric, method="stratified")
    assert plain.interval.low > ratings.mean()
    assert found.interval.low < ratings.mean() < found.interval.high


def test_what_is_rated_next_lowers_the_variance_most():
    """Each next output is of the stratum in which it makes the variance smaller than elsewhere."""
    rng = np.random.default_rng(7)
    metric = rng.normal(size=(2, 40))
    said = rng.normal(size=(2, 40)) * np.where(metric > 0, 3.0, 0.1)
    for s in range(2):
        rated = sample(metric_strata(metric[s]), (4, 4, 4, 4), rng)
        said[s, np.setdiff1d(np.arange(40), rated)] = NAN
    found = estimate_systems(*tables(said, metric))
    assert len(found.order) == 48
    assert {(one.item, one.target) for one in found.order} == {
        (f"i{place}", f"system:{'AB'[s]}") for s, place in np.argwhere(np.isnan(said)).tolist()
    }
    values = [one.value for one in found.order]
    assert values == sorted(values, reverse=True)
    # Within one system and stratum, each further rating is worth n (n - 1) / (n (n + 1)) of it.
    strata = metric_strata(metric[0])
    for number in range(4):
        own = strata == number
        count = int(np.count_nonzero(own & ~np.isnan(said[0])))
        worths = [
            one.value
            for one in found.order
            if one.target == "system:A" and own[int(one.item.removeprefix("i"))]
        ]
        expected = [1 / ((count + k) * (count + k + 1)) for k in range(len(worths))]
        assert np.allclose(np.array(worths) / worths[0], np.array(expected) / expected[0])


def test_neyman_takes_more_where_ratings_differ_more():
    rng = np.random.default_rng(7)
    metric = rng.normal(size=(2, 400))
    said = rng.normal(size=(2, 400)) * np.where(metric > 0, 3.0, 0.1)
    for s in range(2):
        rated = sample(metric_strata(metric[s]), (20, 20, 20, 20), rng)
        said[s, np.setdiff1d(np.arange(400), rated)] = NAN
    share = {}
    for allocation in ("proportional", "neyman"):
        order = estimate_systems(*tables(said, metric), allocation=allocation).order[:80]
        places = [("AB".index(one.target[-1]), int(one.item.removeprefix("i"))) for one in order]
        share[allocation] = np.mean([metric[place] > 0 for place in places])
    assert share["proportional"] == pytest.approx(0.5, abs=0.05)
    assert share["neyman"] > 0.7


def test_equal_scores_are_in_one_stratum_wherever_they_stand():
    """Items sorted by quality, and a metric of which most scores are equal."""
    rng = np.random.default_rng(29)
    held = 0
    for seed in range(150):
        metric = np.where(rng.random((1, 120)) < 0.75, 0.0, np.abs(rng.normal(size=(1, 120))))
        ratings = np.linspace(-2, 2, 120) + 0.5 * rng.normal(size=(1, 120))
        said = np.full((1, 120), NAN)
        for _ in range(2):
            order = estimate_systems(*tables(said, metric), allocation="neyman", seed=seed).order
            for one in order[:20]:
                place = int(one.item.removeprefix("i"))
                said[0, place] = ratings[0, place]
        (found,) = estimate_systems(*tables(said, metric), finite=True).systems
        interval = found.quality.interval
        held += interval.low <= ratings.mean() <= interval.high
    assert held / 150 > 0.88


def test_one_score_far_out_does_not_hold_the_line():
    rng = np.random.default_rng(31)
    held = 0
    for _ in range(200):
        metric = rng.normal(size=120)
        metric[rng.integers(120)] = 200.0
        ratings = 0.6 * np.clip(metric, -3, 3) + 0.8 * rng.normal(size=120)
        rated = sample(metric_strata(metric), (5, 5, 5, 5), rng)
        found = estimate_quality(
            ratings[rated], metric[rated], metric, method="stratified", finite=True
        )
        held += found.interval.low <= ratings.mean() <= found.interval.high
    assert held / 200 > 0.9


def test_before_anybody_rated_the_same_items_come_first_for_all_systems():
    metric = np.tile(np.linspace(0, 1, 40), (3, 1))
    found = estimate_systems(*tables(np.full((3, 40), NAN), metric))
    assert found.systems == found.pairs == ()
    assert found.unrated == ("A", "B", "C")
    assert len(found.order) == 120
    first = [one.item for one in found.order[:12]]
    assert all(first.count(item) == 3 for item in first)


def test_pairs_ranks_and_corrections():
    rng = np.random.default_rng(11)
    metric = rng.normal(size=(4, 300))
    said = metric + rng.normal(size=(4, 300)) + np.array([[0.0], [0.0], [1.0], [2.0]])
    said[:, 150:] = NAN
    found = estimate_systems(*tables(said, metric))
    assert [one.system for one in found.systems][:2] == ["D", "C"]
    assert [one.rank for one in found.systems] == [1, 2, 3, 4]
    assert len(found.pairs) == 6
    sure = {(one.better, one.worse) for one in found.pairs if one.significant}
    assert sure == {(a, b) for a, b in (("D", "C"), ("D", "A"), ("D", "B"), ("C", "A"), ("C", "B"))}
    for one in found.pairs:
        assert one.p_adjusted >= one.difference.p_value
        assert one.difference.difference >= 0
    assert found.rated == 600
    assert found.saved == pytest.approx(
        sum(one.quality.equivalent_ratings for one in found.systems) - 600
    )
    few = estimate_systems(*tables(said, metric), baseline="C")
    assert [(one.better, one.worse) for one in few.pairs[:1]] == [("D", "C")]
    assert len(few.pairs) == 3


@pytest.mark.parametrize("method", ["stratified", "control-variates", "ratings"])
def test_these_outputs_all_rated_for_both(method):
    """Of these outputs nothing is left unknown; of others, much."""
    rng = np.random.default_rng(13)
    metric, ratings = rng.normal(size=(2, 50)), rng.normal(size=(2, 50))
    known = estimate_difference(*ratings, *metric, method=method, finite=True)
    assert known.standard_error == 0
    assert known.difference == pytest.approx(ratings[0].mean() - ratings[1].mean())
    assert estimate_difference(*ratings, *metric, method=method).standard_error > 0.1


@pytest.mark.parametrize("share", [0.3, 0.6])
def test_differences_on_the_same_items_of_these_outputs_cover(share):
    rng = np.random.default_rng(17)
    held = 0
    for _ in range(300):
        item = rng.normal(size=120)
        quality = [item + rng.normal(size=120) for _ in range(2)]
        metric = [one + rng.normal(size=120) for one in quality]
        kept = rng.permutation(120)[round(120 * share) :]
        said = [one.copy() for one in quality]
        for one in said:
            one[kept] = NAN
        found = estimate_difference(*said, *metric, method="stratified", finite=True)
        truth = quality[0].mean() - quality[1].mean()
        held += found.interval.low <= truth <= found.interval.high
    assert held / 300 > 0.92


def test_refusals():
    rng = np.random.default_rng(19)
    metric, said = rng.normal(size=(2, 30)), rng.normal(size=(2, 30))
    human, scores = tables(said, metric)
    with pytest.raises(InputError, match="there is no system 'Z'"):
        estimate_systems(human, scores, baseline="Z")
    two = ScoreTable.of({"m": {"A": [1, 2]}, "n": {"A": [1, 2]}})
    with pytest.raises(InputError, match="one metric helps to estimate, got 2"):
        estimate_systems(human, two)
    hole = metric.copy()
    hole[1, 4] = NAN
    with pytest.raises(InputError, match="m has no score for system 'B', item 'i4'"):
        estimate_systems(human, tables(said, hole)[1])
    with pytest.raises(InputError, match="does not score single outputs"):
        estimate_systems(human, tables(said, np.full((2, 30), NAN))[1])
    same = said.copy()
    same[1] = 3.0
    with pytest.raises(InputError, match="all ratings of system 'B' are equal"):
        estimate_systems(tables(same, metric)[0], scores)
    with pytest.raises(InputError, match="system 'A': the metric is constant"):
        estimate_systems(human, tables(said, np.ones((2, 30)))[1], method="control-variates")
    with pytest.raises(InputError, match="method must be"):
        estimate_systems(human, scores, method="guess")
