"""What a comparison needs: simulated studies, worse instruments, and the answer."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, binomtest, norm

from deltableu import BLEU, DeltaBLEU, Discriminative, compare_systems, read_study
from deltableu.compare import ComparisonPlan
from deltableu.compare.pilot import Pilot
from deltableu.compare.population import Population, kept_share
from deltableu.compare.power import PowerCurve, PowerPoint, plan_comparison
from deltableu.corpus import Item, Rating, RatingTable, Reference, Study
from deltableu.errors import InputError
from deltableu.score.metrics.diversity import Distinct1
from deltableu.score.metrics.sentinels import Length
from deltableu.stats import ConfidenceInterval, mean_score, mean_score_gradient

PAIR = ("careful-neural", "human")
MEAN = (mean_score, mean_score_gradient)
CORPUS = (DeltaBLEU().aggregate, DeltaBLEU().gradient)


@pytest.fixture(scope="module")
def study(demo):
    return read_study(demo)


@pytest.fixture(scope="module")
def rows(study):
    better, worse = Pilot.of(study, ("human", "careful-neural"), DeltaBLEU()).rows()
    return better.rows, worse.rows


def segment_rows(values):
    return np.column_stack((values, np.ones(len(values))))


class TestPopulation:
    @settings(max_examples=20, deadline=None)
    @given(st.floats(0.01, 15.5))
    def test_has_the_difference_asked_for(self, rows, difference):
        aggregate = DeltaBLEU().aggregate
        kept = kept_share(*rows, aggregate, difference)
        assert Population(*rows, *CORPUS, kept).difference == pytest.approx(difference)

    def test_a_large_study_shows_it(self, rows):
        aggregate = DeltaBLEU().aggregate
        kept = kept_share(*rows, aggregate, 6.0)
        one, two = Population(*rows, *CORPUS, kept)._draw(200_000, np.random.default_rng(0))
        shown = aggregate(one.sum(axis=0)) - aggregate(two.sum(axis=0))
        assert shown == pytest.approx(6.0, abs=0.3)

    @pytest.mark.parametrize("sort", ["delta-bleu", "mean"])
    def test_finds_no_difference_where_there_is_none(self, rows, sort):
        """The test's size, within the 99.9% binomial band; the full one is below."""
        found = null_rejections(rows, sort, 400)
        low, high = binom.ppf((0.0005, 0.9995), 400, 0.05)
        assert (found >= low).all()
        assert (found <= high).all()

    def test_agrees_with_the_closed_form_for_means(self):
        """Normal differences: power is Phi(sqrt(n) d / sigma - z), the other tail being nothing."""
        rng = np.random.default_rng(1)
        base = rng.normal(size=4_000)
        apart = rng.normal(0.5, 1.0, size=4_000)
        population = Population(segment_rows(base + apart), segment_rows(base), *MEAN, 1.0)
        sizes = [10, 20, 30, 50]
        found = population.rejections(sizes, significance=0.05, replicates=400, seed=3) / 400
        d, sigma = apart.mean(), apart.std()
        expected = norm.cdf(np.sqrt(sizes) * d / sigma - norm.ppf(0.975))
        # 4 standard errors, and what Student's distribution asks for beyond the normal one.
        assert found == pytest.approx(expected, abs=0.11)
        assert found[2:] == pytest.approx(expected[2:], abs=0.08)
        assert (np.diff(found) > 0).all()
        needed = population.approximate_size(0.8, 0.05, 100, 0)
        exact = ((norm.ppf(0.975) + norm.ppf(0.8)) * sigma / d) ** 2
        assert needed == pytest.approx(exact, rel=0.2)

    def test_exchanged_items_add_their_difference_to_the_spread(self):
        """Half of the items kept: half the mean, and the variance of what a coin turns."""
        rng = np.random.default_rng(2)
        base, apart = rng.normal(size=4_000), rng.normal(0.6, 1.0, size=4_000)
        population = Population(segment_rows(base + apart), segment_rows(base), *MEAN, 0.5)
        d = 0.5 * apart.mean()
        sigma = math.sqrt((apart**2).mean() - d**2)
        found = population.rejections([60], significance=0.05, replicates=400, seed=4) / 400
        expected = norm.cdf(math.sqrt(60) * d / sigma - norm.ppf(0.975))
        assert found[0] == pytest.approx(expected, abs=0.09)

    def test_tests_as_comparing_does(self, rows):
        """A literal simulation with `compare_systems` finds about as many."""
        metric = DeltaBLEU()
        kept = kept_share(*rows, metric.aggregate, 10.0)
        population = Population(*rows, metric.aggregate, metric.gradient, kept)
        quick = population.rejections([40], significance=0.05, replicates=300, seed=0)[0] / 300
        rng = np.random.default_rng(5)
        scores = np.stack(rows)
        found = 0
        for _ in range(150):
            drawn = rng.integers(len(rows[0]), size=40)
            coin = np.where(rng.random(40) < kept, 0, rng.integers(2, size=40))
            one = [scores[side, item] for side, item in zip(coin, drawn, strict=True)]
            two = [scores[1 - side, item] for side, item in zip(coin, drawn, strict=True)]
            found += literal_p_value(np.stack(one), np.stack(two), metric.aggregate, rng) < 0.05
        assert found / 150 == pytest.approx(quick, abs=0.17)

    def test_depends_on_the_seed_alone(self, rows):
        population = Population(*rows, *CORPUS, 0.5)
        setting = {"significance": 0.05, "replicates": 20}
        one, two, three = (
            population.rejections([20, 40], seed=seed, **setting) for seed in (1, 1, 2)
        )
        assert one.tolist() == two.tolist()
        assert one.tolist() != three.tolist()


def literal_p_value(one, two, aggregate, rng):
    observed = aggregate(one.sum(axis=0)) - aggregate(two.sum(axis=0))
    swapped = rng.integers(2, size=(499, len(one), 1)).astype(bool)
    first = np.where(swapped, two, one).sum(axis=1)
    second = np.where(swapped, one, two).sum(axis=1)
    extreme = np.abs(aggregate(first) - aggregate(second)) >= abs(observed) - 1e-9
    return (extreme.sum() + 1) / 500


def null_rejections(rows, sort, replicates):
    if sort == "mean":
        values = np.random.default_rng(0).lognormal(size=(2, 500))
        rows = segment_rows(values[0]), segment_rows(values[1])
    population = Population(*rows, *(MEAN if sort == "mean" else CORPUS), 0.0)
    return population.rejections([25, 100], significance=0.05, replicates=replicates, seed=7)


@pytest.mark.long
@pytest.mark.parametrize("sort", ["delta-bleu", "mean"])
def test_the_size_of_the_test(rows, sort):
    found = null_rejections(rows, sort, 4_000)
    low, high = binom.ppf((0.005, 0.995), 4_000, 0.05)
    assert (found >= low).all()
    assert (found <= high).all()


class TestPilot:
    @pytest.mark.parametrize("size", [1, 3, 9])
    def test_a_part_of_the_references_keeps_the_original(self, study, size):
        pilot = Pilot.of(study, PAIR, DeltaBLEU())
        seen = []
        metric = _Spy(seen)
        replace(pilot, metric=metric).draw(size, None, 3, 0)
        weights = {(r.text, r.weight) for item in study.items for r in item.references}
        originals = [
            next(r.text for r in item.references if r.origin == "original") for item in study.items
        ]
        assert len(seen) == 3
        for drawn in seen:
            for index, texts in enumerate(drawn.texts):
                assert len(texts) == min(size, len(study.items[index].references))
                assert texts[drawn.originals[index]] == originals[index]
                assert set(zip(texts, drawn.weights[index], strict=True)) <= weights
        assert size != 3 or seen[0].texts != seen[1].texts

    def test_all_references_and_raters_are_the_pilot_itself(self, study):
        pilot = Pilot.of(study, PAIR, DeltaBLEU())
        rows = pilot.draw(None, None, 20, 0)
        assert np.array_equal(rows[0], pilot.rows()[0].rows)
        assert rows[2] == pytest.approx(543 / 68)

    def test_variants_of_an_item_stand_together(self, study):
        rows = Pilot.of(study, PAIR, DeltaBLEU()).draw(2, None, 4, 0)
        assert len(rows[0]) == 4 * 68
        lengths = rows[0][:, -2].reshape(68, 4)
        assert (lengths == lengths[:, :1]).all()

    def test_items_left_without_a_positive_reference_are_not_drawn(self):
        study = rated_study({"mild": 5, "severe": 1}, weight=0.2)
        rows = Pilot.of(study, ("A", "B"), DeltaBLEU(), ratings=True).draw(None, 1, 10, 0)
        assert 0 < len(rows[0]) < 200
        assert np.isfinite(rows[0]).all()

    def test_controls_are_no_ratings_of_references(self, study):
        kinds = {r.kind for r in study.ratings if r.target.startswith("reference:")}
        assert "bad-reference" in kinds
        only = replace(study, ratings=study.ratings[study.ratings.of_kind("item")])
        one, two = (
            Pilot.of(which, PAIR, DeltaBLEU(), ratings=True).draw(None, 2, 3, 0)
            for which in (study, only)
        )
        assert np.array_equal(one[0], two[0])

    def test_weights_are_not_cut_off(self, study):
        """A mean of one rating may leave the scale by its noise, and counts as it is."""
        metric = DeltaBLEU()
        pilot = Pilot.of(study, PAIR, metric, ratings=True)
        rows = pilot.draw(None, 1, 20, 0)
        # A row's denominator is its length times its largest weight.
        largest = rows[0][:, 2] / rows[0][:, -2]
        assert largest.max() > 1.0


class _Spy(DeltaBLEU):
    """Remembers what it encodes."""

    def __init__(self, seen):
        super().__init__()
        object.__setattr__(self, "seen", seen)

    def encode(self, references, weights=None, **options):
        self.seen.append(references)
        return super().encode(references, weights, **options)


def rated_study(raters, weight=0.5, items=20):
    references = (Reference("r0", "yes it is", weight), Reference("r1", "so it is", weight))
    ratings = [
        Rating(rater, str(n), f"reference:r{r}", value, scale="1-5")
        for n in range(items)
        for r in range(2)
        for rater, value in raters.items()
    ]
    outputs = {"A": ("yes it is",) * items, "B": ("it may be",) * items}
    return Study(
        tuple(Item(str(n), references) for n in range(items)),
        outputs,
        RatingTable.from_records(ratings),
    )


@pytest.fixture(scope="module")
def planned(study):
    return plan_comparison(
        study, PAIR, DeltaBLEU(), difference=8.0, references=[2, None], replicates=60
    )


class TestPlan:
    def test_answers(self, planned):
        assert planned.systems == ("human", "careful-neural")
        assert planned.pilot_difference == pytest.approx(15.559, abs=1e-3)
        assert [(curve.references, curve.raters) for curve in planned.curves] == [
            (2, None),
            (None, None),
        ]
        two, every = planned.curves
        assert two.mean_references == 2.0
        assert every.difference == pytest.approx(8.0)
        for curve in planned.curves:
            smoothed = [point.smoothed for point in curve.points]
            assert smoothed == sorted(smoothed)
            assert smoothed[0] < 0.5
            assert smoothed[-1] > 0.9
            least, most = curve.needed_range(0.8)
            assert least <= curve.needed(0.8) <= most
            assert curve.needed(0.8) == pytest.approx(curve.approximate, rel=0.5)
            assert curve.needed(0.6) < curve.needed(0.8)

    def test_intervals_are_wilsons(self, planned):
        for point in planned.curves[0].points:
            peer = binomtest(round(60 * point.power), 60).proportion_ci(0.95, method="wilson")
            assert (point.interval.low, point.interval.high) == pytest.approx((peer.low, peer.high))

    def test_smaller_differences_need_more(self, study):
        needs = [
            plan_comparison(study, PAIR, DeltaBLEU(), difference=d, items=[9], replicates=1)
            .curves[0]
            .approximate
            for d in (15.0, 10.0, 5.0)
        ]
        assert needs == sorted(needs)
        assert needs[2] > 5 * needs[0]

    def test_no_order_of_systems_and_no_thread_matters(self, study):
        setting = {"items": [20, 40], "raters": [2], "replicates": 10}
        one = plan_comparison(study, PAIR, DeltaBLEU(), threads=1, **setting)
        two = plan_comparison(study, PAIR[::-1], DeltaBLEU(), threads=3, **setting)
        assert one == two

    @pytest.mark.parametrize(
        "metric", [BLEU(), Discriminative("chrf"), Length()], ids=lambda m: m.name
    )
    def test_any_metric_with_rows(self, study, metric):
        plan = plan_comparison(study, PAIR, metric, items=[10, 40], replicates=10)
        assert plan.metric == metric.name
        assert plan.signature.startswith(f"metric:{metric.registered_name}|")
        assert plan.signature.endswith("|test:studentized|replicates:10|draws:20|seed:0")

    def test_more_raters_measure_more(self, study):
        """Noise in the weights lets bad references win: the same gap looks smaller."""
        plan = plan_comparison(
            study, PAIR, DeltaBLEU(), raters=[1, 5, 50, None], items=[9], replicates=1
        )
        seen = [curve.difference for curve in plan.curves]
        assert seen == sorted(seen)
        assert seen[2] == pytest.approx(seen[3], rel=0.02)

    def test_strict_levels_can_be_reached(self, study):
        plan = plan_comparison(
            study, PAIR, DeltaBLEU(), significance=0.001, items=[200], replicates=5, power=0.5
        )
        assert plan.curves[0].points[0].power == 1.0

    def test_what_the_pilot_shows_is_what_comparing_finds(self, study, planned):
        statistics = dict(zip(PAIR, Pilot.of(study, PAIR, DeltaBLEU()).rows(), strict=True))
        (comparison,) = compare_systems(statistics, plan=ComparisonPlan(trials=99))
        assert comparison.pairs[0].difference == pytest.approx(planned.pilot_difference)
        assert comparison.pairs[0].first == planned.systems[0]


class TestGroups:
    def test_groups_of_one_are_items(self, study):
        setting = {"items": [20, 40], "references": [2, None], "replicates": 10}
        items = plan_comparison(study, PAIR, DeltaBLEU(), **setting)
        groups = [str(place) for place in range(len(study.items))]
        grouped = plan_comparison(study, PAIR, DeltaBLEU(), groups=groups, **setting)
        assert grouped.curves == items.curves

    def test_pairs_of_alike_items_count_once(self, study):
        """A pilot whose items all stand there twice knows no more than one without copies."""
        twice = Study(
            tuple(study.items) * 2, {name: list(t) * 2 for name, t in study.outputs.items()}
        )
        groups = [item.id for item in twice.items]
        setting = {"items": [20, 40], "replicates": 50}
        grouped = plan_comparison(twice, PAIR, DeltaBLEU(), groups=groups, **setting)
        plain = plan_comparison(study, PAIR, DeltaBLEU(), **setting)
        assert grouped.pilot_groups == len(study.items)
        assert [p.power for p in grouped.curves[0].points] == [
            p.power for p in plain.curves[0].points
        ]

    def test_a_pilot_needs_several_groups(self, study):
        groups = [str(place % 2) for place in range(len(study.items))]
        with pytest.raises(InputError, match="at least 10 groups of items, got 2"):
            plan_comparison(study, PAIR, DeltaBLEU(), groups=groups)
        with pytest.raises(InputError, match="there are 1 groups for"):
            plan_comparison(study, PAIR, DeltaBLEU(), groups=["a"])


class TestNeeded:
    def curve(self, *powers):
        interval = ConfidenceInterval(0.0, 1.0, 0.95, "")
        points = [
            PowerPoint(size, power, interval, power)
            for size, power in zip((10, 40, 160), powers, strict=True)
        ]
        return PowerCurve(None, None, 1.0, 1.0, tuple(points), 50)

    def test_is_interpolated(self):
        assert self.curve(0.2, 0.6, 1.0).needed(0.8) == 80
        assert self.curve(0.2, 0.6, 1.0).needed(0.6) == 40

    def test_may_lie_outside_what_was_tried(self):
        assert self.curve(0.2, 0.6, 0.7).needed(0.8) is None
        assert self.curve(0.9, 0.9, 1.0).needed(0.8) == 10
        assert self.curve(0.2, 0.6, 0.7).needed_range(0.8) == (10, None)


def plan(study, systems=PAIR, metric=None, **options):
    return plan_comparison(study, systems, metric or DeltaBLEU(), replicates=2, **options)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"systems": ["human"]}, "planned for two systems, got 1"),
        (
            {"systems": ["human", "nobody"]},
            "no system 'nobody' in the pilot; there are bland-neural",
        ),
        ({"systems": ["human", "human"]}, "named twice"),
        ({"difference": 0.0}, "difference must be a number above 0, got 0"),
        ({"difference": -3.0}, "above 0"),
        ({"difference": math.nan}, "above 0"),
        (
            {"difference": 20.0},
            "differ by 15.56 on the pilot, too little to show a difference of 20: take a pair that "
            "differs more, such as bland-neural and careful-neural",
        ),
        ({"difference": 99.0}, "no pair of the pilot differs by more than 50.28"),
        ({"power": 1.0}, "power must lie between 0 and 1"),
        ({"power": 0.0}, "power must lie between 0 and 1"),
        ({"power": 0.04}, "power must be more than significance"),
        ({"significance": 0.0}, "significance must lie between 0 and 1"),
        ({"items": []}, "items must be numbers from 2 on, none was given"),
        ({"items": [1, 20]}, "items must be numbers from 2 on, got 1"),
        ({"references": [11]}, "references must lie between 1 and 10, .* got 11"),
        ({"references": [0]}, "references must lie between 1 and 10"),
        ({"references": []}, "no number of references or raters"),
        ({"raters": [0]}, "raters must be at least 1"),
        ({"raters": [2], "metric": BLEU()}, "bleu-4 does not look at weights"),
        ({"references": [2], "metric": Length()}, "length does not look at references"),
        ({"metric": Distinct1()}, "distinct-1 pools all segments"),
        ({"seed": -1}, "seed must not be negative"),
        ({"draws": 0}, "draws must be at least 1"),
    ],
    ids=lambda value: str(value)[:40],
)
def test_bad_input(study, options, message):
    with pytest.raises(InputError, match=message):
        plan(study, **options)


def test_bad_pilots(study):
    with pytest.raises(InputError, match="there are no raw ratings of references"):
        plan(replace(study, ratings=RatingTable.from_records()), raters=[2])
    bare = RatingTable.from_records(replace(rating, scale=None) for rating in study.ratings)
    with pytest.raises(InputError, match="has no scale, so it cannot"):
        plan(replace(study, ratings=bare), raters=[2])
    mixed = RatingTable.from_records(
        replace(rating, criterion="humour" if n % 2 else "overall")
        for n, rating in enumerate(study.ratings)
    )
    with pytest.raises(InputError, match="several criteria, choose one: humour, overall"):
        plan(replace(study, ratings=mixed), raters=[2])
    few = replace(
        study, items=study.items[:9], outputs={n: t[:9] for n, t in study.outputs.items()}
    )
    with pytest.raises(InputError, match="at least 10 items that can be scored, got 9"):
        plan(few)
    same = replace(study, outputs=dict.fromkeys(PAIR, study.outputs["human"]))
    with pytest.raises(InputError, match="do not differ on the pilot under delta-bleu"):
        plan(same)
    unrated = rated_study({}, weight=None)
    with pytest.raises(InputError, match="needs weights, and no reference of the pilot is rated"):
        plan(unrated, ["A", "B"])


def test_items_that_cannot_be_scored_are_left_out_and_named():
    study = rated_study({"mild": 5})
    bad = replace(study.items[3], references=(Reference("r0", "no", -0.5),))
    items = (*study.items[:3], bad, *study.items[4:])
    found = plan(replace(study, items=items), ["A", "B"], items=[10])
    assert found.dropped == ("3",)
    assert found.pilot_items == 19


def test_systems_may_be_the_keys_of_their_outputs(study):
    outputs = {name: study.outputs[name] for name in PAIR}
    assert plan(study, outputs, items=[20]) == plan(study, PAIR, items=[20])
