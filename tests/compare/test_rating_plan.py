"""Planning of ratings: forecasts of weights, what a rating is worth, and when to stop."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kendalltau

from deltableu import DeltaBLEU, read_study
from deltableu.compare import plan_rating
from deltableu.compare.item_blocks import item_blocks
from deltableu.compare.rating_plan import RatingPlanner
from deltableu.compare.rating_values import discordant_share, rating_order, weight_effects
from deltableu.compare.weight_forecast import (
    ORIGIN_QUALITY,
    RatedSoFar,
    ReferenceFacts,
    forecast_weights,
)
from deltableu.corpus import Item, RatingTable, Reference, Source, reference_set
from deltableu.errors import InputError
from deltableu.score import BLEU
from simulations.fewer_ratings import demo_study, follow, stop_studies
from simulations.rated_studies import StudySize, write_study

DEMO = Path(__file__).parents[2] / "examples" / "demo"
WORDS = ["a", "b", "c", "d", "e", "f"]


def small_study(rng, items=6, references=4):
    """Items of random words, with an original, mined ones and a random one."""
    made = []
    for number in range(items):
        texts = [
            " ".join(rng.choice(WORDS, size=int(rng.integers(2, 6)))) for _ in range(references)
        ]
        origins = ["original", *["mined"] * (references - 2), "random"]
        made.append(
            Item(
                f"i{number}",
                tuple(
                    Reference(f"r{place}", text, None, origin, Source(rank=place))
                    for place, (text, origin) in enumerate(zip(texts, origins, strict=True))
                ),
            )
        )
    outputs = [[" ".join(rng.choice(WORDS, size=4)) for _ in range(items)] for _ in range(3)]
    return reference_set(made), outputs


def thinned(share, seed=0, pilot=0.05):
    """The demo study, with some references rated to the end and others not at all."""
    study = read_study(DEMO)
    items = [
        replace(item, references=tuple(replace(one, weight=None) for one in item.references))
        for item in study.items
    ]
    names = [(item.id, one.id) for item in items for one in item.references]
    rng = np.random.default_rng(seed)
    kept = {names[place] for place in rng.permutation(len(names))[: round(share * len(names))]}
    records = [one for one in study.ratings if (one.item, one.target[10:]) in kept]
    return replace(study, items=tuple(items), ratings=RatingTable.from_records(records))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32), st.integers(1, 3))
def test_effects_are_those_of_scoring_again(seed, order):
    """Against the corpus score with one weight a little higher and a little lower."""
    rng = np.random.default_rng(seed)
    references, outputs = small_study(rng)
    metric = DeltaBLEU(tokenize="none", order=order)
    weights = rng.uniform(0.2, 1.0, size=len(references) * 4).round(3)
    ready = metric.reweighting(replace(references, weights=((1.0,) * 4,) * 6), outputs)
    step = 1e-5
    found = weight_effects(
        ready, metric, references.bounds, weights, (weights - step, weights + step)
    )

    def score(changed):
        encoded = metric.encode(replace(references, weights=changed.reshape(-1, 4).tolist()))
        return np.array([metric.statistics(own, encoded).score().score for own in outputs])

    for place in rng.permutation(len(weights))[:6]:
        up, down = weights.copy(), weights.copy()
        up[place] += step
        down[place] -= step
        assert found[place] == pytest.approx((score(up) - score(down)) / (2 * step), abs=0.05)


def some_forecast(rng, rated, references=None):
    references = references or small_study(rng)[0]
    facts = ReferenceFacts.of(references.items, 3)
    return forecast_weights(facts, item_blocks(references), rated, np.zeros(3))


def test_before_anybody_rated_origins_say_what_is_expected():
    references, _ = small_study(np.random.default_rng(0))
    size = int(references.bounds[-1])
    nothing = RatedSoFar(np.full(size, np.nan), np.zeros(size, dtype=np.int64), 5, 0.25)
    found = some_forecast(np.random.default_rng(0), nothing, references)
    origins = [one.origin for item in references.items for one in item.references]
    assert found.mean == pytest.approx([ORIGIN_QUALITY[one][0] for one in origins], abs=0.05)
    assert (found.deviation > 0.2).all()


def test_what_is_rated_to_the_end_is_known_and_tells_of_others():
    rng = np.random.default_rng(1)
    references, _ = small_study(rng, items=40)
    size = int(references.bounds[-1])
    counts = np.where(np.arange(size) % 4 < 3, 5, 0)
    means = np.where(counts > 0, 0.9, np.nan)
    found = some_forecast(rng, RatedSoFar(means, counts, 5, 0.25), references)
    assert (found.deviation[counts == 5] == 0).all()
    assert (found.mean[counts == 5] == 0.9).all()
    # Nobody has rated a random one; what is original or mined is better than it was thought.
    mined = RatedSoFar(means, np.where(np.arange(size) % 8 == 1, 0, counts), 5, 0.25)
    told = some_forecast(rng, mined, references)
    assert told.mean[1::8].mean() > 0.7
    draws = told.draw(400, np.random.default_rng(2))
    assert (draws[:, mined.counts == 5] == 0.9).all()
    open_ = mined.counts == 0
    assert draws[:, open_].mean(axis=0) == pytest.approx(told.mean[open_], abs=0.12)
    assert ((draws >= -1) & (draws <= 1)).all()
    assert np.allclose(told.variance_after(5), 0.0)
    falling = [told.variance_after(number)[open_].mean() for number in range(6)]
    assert falling == sorted(falling, reverse=True)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 2**32))
def test_single_ratings_share_what_a_reference_is_worth(seed):
    rng = np.random.default_rng(seed)
    references, _ = small_study(rng)
    size = int(references.bounds[-1])
    counts = rng.integers(0, 4, size=size)
    means = np.where(counts > 0, rng.uniform(-1, 1, size=size), np.nan)
    forecast = some_forecast(rng, RatedSoFar(means, counts, 3, 0.2), references)
    values = rng.uniform(0.1, 1.0, size=size)
    order, worth = rating_order(values, forecast)
    assert np.bincount(order, minlength=size).tolist() == (3 - counts).tolist()
    assert (np.diff(worth) <= 1e-12).all()
    sums = np.bincount(order, worth, minlength=size)
    assert sums[counts < 3] == pytest.approx(values[counts < 3])


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2**32), st.integers(2, 9))
def test_discordant_pairs_are_those_of_kendall(seed, systems):
    first, second = np.random.default_rng(seed).normal(size=(2, systems))
    tau = kendalltau(first, second).statistic
    assert 1 - 2 * discordant_share(first, second) == pytest.approx(tau)


def test_a_later_tie_contradicts_nothing():
    assert discordant_share(np.array([1.0, 1.0]), np.array([2.0, 3.0])) == 0
    assert discordant_share(np.array([2.0, 3.0]), np.array([1.0, 1.0])) == 1
    assert discordant_share(np.array([1.0, 2.0]), np.array([2.0, 1.0])) == 1


def test_a_plan_of_a_study_that_is_rated_in_part():
    study = thinned(0.3)
    plan = plan_rating(study, DeltaBLEU(), raters=5)
    assert (plan.items, plan.references, plan.complete) == (68, 543, 163)
    assert plan.ratings == 815
    assert plan.ratings_missing == 1900 == len(plan.order)
    rated = {(one.item, one.target) for one in study.ratings}
    assert not rated & {(one.item, one.target) for one in plan.order}
    values = [one.value for one in plan.order]
    assert values == sorted(values, reverse=True)
    assert 0.0 < plan.chance < 1.0
    assert plan.systems[0].system == "human"
    assert [one.ratings for one in plan.outlook] == [190, 475, 950, 1425]
    chances = [one.chance for one in plan.outlook]
    assert chances == sorted(chances)
    assert plan.reliability.texts == 163
    again = plan_rating(study, DeltaBLEU(), raters=5)
    assert again == plan
    of_scores = plan_rating(study, DeltaBLEU(), raters=5, aim="scores")
    assert of_scores.order != plan.order


def test_nothing_is_left_of_a_study_that_is_rated_to_the_end():
    plan = plan_rating(thinned(1.0), DeltaBLEU(), raters=5)
    assert plan.order == ()
    assert (plan.chance, plan.may_stop) == (1.0, True)
    assert plan.systems[0].interval.low == plan.systems[0].interval.high


def test_weights_without_ratings_count_as_known():
    study = replace(read_study(DEMO), ratings=RatingTable.from_records([]))
    plan = plan_rating(study, DeltaBLEU(), raters=4)
    assert (plan.complete, plan.ratings_missing, plan.reliability) == (543, 0, None)


def test_without_a_match_only_the_largest_weight_of_the_item_matters():
    """Nobody says what one item's references say; how much its words count depends on the best."""
    rng = np.random.default_rng(3)
    references, outputs = small_study(rng, items=30)
    first = references.items[0]
    silent = tuple(replace(one, text="zz yy") for one in first.references)
    items = (replace(first, references=silent), *references.items[1:])
    planner = RatingPlanner(reference_set(items), outputs, DeltaBLEU(tokenize="none"))
    nothing = RatedSoFar(np.full(120, np.nan), np.zeros(120, dtype=np.int64), 3, 0.25)
    values, _ = planner.values(planner.look(nothing))
    assert values[0] > 5 * values[3] > 0
    assert values[3] < np.median(values[7::4])


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"metric": BLEU()}, "bleu-4 does not look at weights"),
        ({"systems": ["human", "nobody"]}, "nobody"),
        ({"systems": ["human", "human"]}, "'human' is named twice"),
        ({"systems": []}, "no system outputs"),
        ({"aim": "fame"}, "aim must be"),
        ({"tau": 0.0}, "tau must lie between 0 and 1"),
        ({"significance": 5}, "significance must lie"),
        ({"reliability": 1.5}, "reliability must lie"),
        ({"draws": 3}, "draws must be at least 20"),
        ({"raters": 0}, "raters must be at least 1"),
        ({"criterion": "beauty"}, "beauty"),
    ],
)
def test_bad_plans(changes, told):
    given = {"metric": DeltaBLEU(), **changes}
    with pytest.raises(InputError, match=told):
        plan_rating(read_study(DEMO), given.pop("metric"), **given)


def test_value_order_needs_fewer_ratings_of_the_demo():
    settings = {"step": 0.1, "pilot": 0.05, "draws": 100}
    needed = {
        order: [
            follow(demo_study(seed), "demo", order, seed=seed, **settings).needed for seed in (0, 1)
        ]
        for order in ("value", "random")
    }
    assert sum(needed["value"]) <= 0.7 * sum(needed["random"])


def test_a_written_study_is_what_it_says():
    study = write_study(StudySize(items=30, references=6, systems=3, raters=4), 1)
    assert study.answers.shape == (180, 4)
    assert set(np.unique(study.answers)) <= {-1.0, -0.5, 0.0, 0.5, 1.0}
    assert [len(own) for own in study.outputs] == [30] * 3


def test_stopped_conclusions_hold_in_small():
    """As `python -m simulations stopping` at full size."""
    stops = [one.stopped for one in stop_studies(2, processes=1)]
    assert sum(one.tau < 0.95 for one in stops) <= 2
    assert np.mean([one.share for one in stops]) < 0.9


@pytest.mark.long
def test_stopped_conclusions_hold():
    found = stop_studies(500)
    stops = [one.stopped for one in found if one.study == found[0].study]
    assert len(stops) == 500
    assert np.mean([one.tau < 0.95 for one in stops]) <= 0.05
    assert np.mean([one.share for one in stops]) < 0.7
