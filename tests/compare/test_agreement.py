"""How likely people agree with a difference: the curves, their intervals, tables to learn from."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import optimize
from scipy.special import expit, log_expit
from scipy.stats import binomtest, chi2, norm

from deltableu.compare.agreement import AgreementCurve
from deltableu.compare.past_comparisons import PastComparisons, read_past_comparisons
from deltableu.compare.power_results import never_falling
from deltableu.errors import InputError

SIZES = np.array([0.2, 0.5, 1.0, 2.0, 3.0])


def drawn(chance, pairs, rng):
    """Past comparisons whose chance of agreement is a known function of the difference's size."""
    sizes = rng.exponential(1.0, pairs)
    agreed = rng.random(pairs) < chance(sizes)
    signs = rng.choice([-1.0, 1.0], pairs)
    return PastComparisons.of(sizes * signs, np.where(agreed, signs, -signs))


def covered(curve, sizes, truth):
    intervals = [curve.probability(size).interval for size in sizes]
    return [i.low - 1e-9 <= t <= i.high + 1e-9 for i, t in zip(intervals, truth, strict=True)]


class TestNeverFalling:
    @given(st.lists(st.tuples(st.floats(0, 1), st.floats(0.1, 10)), min_size=1, max_size=12))
    def test_is_the_largest_of_the_smallest_means(self, pairs):
        """Ayer et al. 1955: max over a <= i of min over b >= i of the mean of a..b."""
        values, weights = map(np.array, zip(*pairs, strict=True))
        size = len(values)

        def mean(a, b):
            part = slice(a, b + 1)
            return (values[part] * weights[part]).sum() / weights[part].sum()

        literal = [
            max(min(mean(a, b) for b in range(i, size)) for a in range(i + 1)) for i in range(size)
        ]
        assert never_falling(values, weights) == pytest.approx(literal, abs=1e-9)

    def test_of_nothing(self):
        assert never_falling(np.array([]), np.array([])).tolist() == []


class TestLogistic:
    @settings(max_examples=40, deadline=None)
    @given(st.integers(0, 10_000), st.integers(12, 60))
    def test_the_slope_is_the_likeliest(self, seed, pairs):
        rng = np.random.default_rng(seed)
        past = drawn(lambda size: expit(0.8 * size), pairs, rng)
        verdicts = np.where(rng.random(pairs) < 0.1, 0.0, past.verdicts)
        verdicts[:2] = np.sign(past.differences[:2]) * [1, -1]  # never all agree
        curve = AgreementCurve.fit(PastComparisons.of(past.differences, verdicts), model="logistic")
        sizes, agreed = np.abs(past.differences), (1 + np.sign(past.differences) * verdicts) / 2

        def surprise(slope):
            return -(agreed * log_expit(slope * sizes) + (1 - agreed) * log_expit(-slope * sizes))

        best = optimize.minimize_scalar(lambda b: surprise(b).sum(), options={"xtol": 1e-10})
        assert curve.slope == pytest.approx(best.x, rel=1e-4, abs=1e-4)
        assert curve.probability(1.5).value == pytest.approx(expit(1.5 * curve.slope))

    def test_limits_are_where_the_score_test_rejects(self):
        past = drawn(lambda size: expit(size), 60, np.random.default_rng(3))
        curve = AgreementCurve.fit(past, model="logistic", confidence=0.9)
        sizes, agreed = np.abs(past.differences), past.differences * past.verdicts > 0
        interval = curve.probability(1.0).interval
        for limit in (interval.low, interval.high):
            expected = expit(np.log(limit / (1 - limit)) * sizes)
            score = (sizes * (agreed - expected)).sum()
            variance = (sizes**2 * expected * (1 - expected)).sum()
            assert score**2 / variance == pytest.approx(norm.ppf(0.95) ** 2, rel=1e-6)

    @pytest.mark.parametrize("verdict", [1, -1])
    def test_people_who_always_agree_leave_one_limit(self, verdict):
        """The slope is infinite; the other limit comes from how many agreed."""
        past = PastComparisons.of(np.linspace(0.5, 3, 20), [verdict] * 20)
        curve = AgreementCurve.fit(past, model="logistic")
        assert curve.slope == verdict * math.inf
        assert "on all 20 pairs" in curve.notes[0]
        chance = curve.probability(1.0)
        known = chance.interval.low if verdict == 1 else 1 - chance.interval.high
        assert chance.value == (verdict == 1)
        assert 0.55 < known < 0.95
        fewer = AgreementCurve.fit(
            PastComparisons.of(np.linspace(0.5, 3, 10), [verdict] * 10), model="logistic"
        )
        limit = fewer.probability(1.0).interval
        assert (limit.low if verdict == 1 else 1 - limit.high) < known


class TestIsotonic:
    def test_limits_are_where_the_likelihood_ratio_rejects(self):
        """Against a general optimiser of the likelihood under the same constraints."""
        rng = np.random.default_rng(5)
        sizes = np.sort(rng.exponential(1.0, 40))
        agreed = (rng.random(40) < expit(sizes)).astype(float)
        curve = AgreementCurve.fit(PastComparisons.of(sizes, 2 * agreed - 1))
        at = 0.5 * (sizes[19] + sizes[20])
        interval = curve.probability(at).interval
        free = optimal_log_likelihood(agreed, None)
        threshold = chi2.ppf(0.95, 1)
        assert 0.5 <= interval.low < interval.high < 1.0
        for limit in (interval.low, interval.high):
            if limit == 0.5:  # the curve is known not to lie below
                continue
            ratio = 2 * (free - optimal_log_likelihood(agreed, (20, limit)))
            assert ratio == pytest.approx(threshold, rel=1e-2)

    def test_near_the_end_the_lower_limit_is_that_of_the_nearest_pairs(self):
        """64 pairs: the nearest 16, with 14 agreements."""
        verdicts = np.tile([1, 1, -1, 1], 12).tolist() + [1] * 7 + [-1] + [1] * 7 + [-1]
        past = PastComparisons.of(np.arange(1.0, 65.0), verdicts)
        interval = AgreementCurve.fit(past).probability(70.0).interval
        expected = binomtest(14, 16).proportion_ci(0.95, method="exact")
        assert interval.low == pytest.approx(expected.low)
        assert interval.high == 1.0

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 10_000), st.integers(10, 80), st.sampled_from([-1.0, 0.0, 1.0]))
    def test_is_a_curve_that_leaves_a_half_and_does_not_come_back(self, seed, pairs, slope):
        rng = np.random.default_rng(seed)
        past = drawn(lambda size: expit(slope * size), pairs, rng)
        curve = AgreementCurve.fit(past)
        chances = [curve.probability(size) for size in np.linspace(0.001, 5, 15)]
        values = [chance.value for chance in chances]
        agreed = float((past.differences * past.verdicts > 0).mean())
        assert values == sorted(values, reverse=agreed < 0.5)
        assert all(value >= 0.5 for value in values) if agreed >= 0.5 else max(values) <= 0.5
        for chance in chances:
            assert 0.0 <= chance.interval.low <= chance.value <= chance.interval.high <= 1.0

    def test_is_linear_between_past_differences(self):
        sizes = np.arange(1.0, 13.0)
        verdicts = [1, -1, 1, -1, 1, 1, -1, 1, 1, 1, 1, 1]
        curve = AgreementCurve.fit(PastComparisons.of(sizes, verdicts))
        assert curve.probability(7.0).value == pytest.approx(2 / 3)
        assert curve.probability(8.0).value == 1.0
        assert curve.probability(7.25).value == pytest.approx(0.75)
        assert curve.probability(1.0).value == 0.5

    def test_the_optimum_of_the_optimiser_is_that_of_pooling(self):
        agreed = np.array([0, 1, 0, 1, 1, 0, 1, 1], float)
        pooled = np.clip(optimize.isotonic_regression(agreed).x, 1e-6, 1 - 1e-6)
        literal = (agreed * np.log(pooled) + (1 - agreed) * np.log(1 - pooled)).sum()
        assert optimal_log_likelihood(agreed, None) == pytest.approx(literal, abs=1e-3)


def optimal_log_likelihood(agreed, fixed):
    """The best log likelihood of a curve that never falls; `fixed` is (place, value there)."""
    size = len(agreed)

    def loss(curve):
        return -(agreed * np.log(curve) + (1 - agreed) * np.log(1 - curve)).sum()

    def slope(curve):
        return -(agreed / curve - (1 - agreed) / (1 - curve))

    bounds = [(1e-6, 1 - 1e-6)] * size
    if fixed is not None:
        place, value = fixed
        bounds = [(1e-6, value)] * place + [(value, 1 - 1e-6)] * (size - place)
    rising = {
        "type": "ineq",
        "fun": lambda curve: np.diff(curve),
        "jac": lambda curve: np.diff(np.eye(size), axis=0),
    }
    start = np.array(
        [np.clip(x, *b) for x, b in zip(np.linspace(0.3, 0.8, size), bounds, strict=True)]
    )
    options = {"maxiter": 1000, "ftol": 1e-10}
    found = optimize.minimize(
        loss, start, jac=slope, bounds=bounds, constraints=rising, method="SLSQP", options=options
    )
    return -found.fun


@pytest.mark.parametrize("model", ["isotonic", "logistic"])
class TestBothModels:
    def test_find_a_planted_curve(self, model):
        past = drawn(lambda size: expit(1.2 * size), 20_000, np.random.default_rng(1))
        curve = AgreementCurve.fit(past, model=model)
        for size in SIZES:
            assert curve.probability(size).value == pytest.approx(expit(1.2 * size), abs=0.025)
        assert model == "isotonic" or curve.slope == pytest.approx(1.2, rel=0.05)

    def test_know_no_first_and_second(self, model):
        past = drawn(lambda size: expit(size), 40, np.random.default_rng(2))
        turned = PastComparisons.of(-past.differences, -past.verdicts)
        one, two = (AgreementCurve.fit(p, model=model) for p in (past, turned))
        assert one.probability(1.3) == two.probability(-1.3)

    def test_take_differences_on_any_scale(self, model):
        past = drawn(lambda size: expit(size), 40, np.random.default_rng(2))
        larger = PastComparisons.of(past.differences * 100, past.verdicts)
        one, two = (AgreementCurve.fit(p, model=model) for p in (past, larger))
        for size in SIZES:
            chance, other = one.probability(size), two.probability(100 * size)
            assert other.value == pytest.approx(chance.value, abs=1e-9)
            assert other.interval.low == pytest.approx(chance.interval.low, abs=1e-9)

    def test_turn_metrics_of_which_less_is_better(self, model):
        past = drawn(lambda size: expit(size), 40, np.random.default_rng(2))
        turned = PastComparisons.of(-past.differences, past.verdicts)
        one = AgreementCurve.fit(past, model=model)
        two = AgreementCurve.fit(turned, model=model, higher_is_better=False)
        assert one.probability(1.0) == two.probability(1.0)

    def test_count_human_ties_by_half_and_leave_out_metric_ties(self, model):
        differences = [*np.linspace(0.1, 2, 20), 0.0, 0.0]
        curve = AgreementCurve.fit(PastComparisons.of(differences, [0] * 22), model=model)
        assert (curve.pairs, curve.ties, curve.left_out) == (20, 20, 2)
        assert curve.probability(1.0).value == pytest.approx(0.5)

    def test_nothing_to_agree_to(self, model):
        past = drawn(lambda size: expit(size), 40, np.random.default_rng(2))
        chance = AgreementCurve.fit(past, model=model).probability(0.0)
        assert (chance.value, chance.interval.low, chance.interval.high) == (0.5, 0.5, 0.5)

    def test_flag_what_lies_beyond_the_past(self, model):
        curve = AgreementCurve.fit(PastComparisons.of(range(1, 21), [1, 1, -1, 1] * 5), model=model)
        assert not curve.extrapolates(-20.0)
        assert curve.extrapolates(-20.1)
        assert "beyond" not in curve.probability(20.0).interval.method
        assert "beyond their largest difference of 20" in curve.probability(-21).interval.method

    def test_a_metric_that_people_disagree_with(self, model):
        past = drawn(lambda size: expit(-1.5 * size), 200, np.random.default_rng(4))
        curve = AgreementCurve.fit(past, model=model)
        assert curve.probability(2.0).value < 0.2
        assert curve.probability(2.0).interval.high < 0.5
        assert "mostly disagreed" in curve.notes[0]

    def test_repeated_pairs_are_no_news(self, model):
        """Each pair five times, as a group: the design effect takes the copies back."""
        past = drawn(lambda size: expit(size), 60, np.random.default_rng(6))
        names = [str(n) for n in range(60)]
        often = PastComparisons.of(
            np.tile(past.differences, 5), np.tile(past.verdicts, 5), names * 5
        )
        once = AgreementCurve.fit(past, model=model)
        grouped = AgreementCurve.fit(often, model=model)
        assert grouped.groups == 60
        assert grouped.design_effect == pytest.approx(5 * 60 / 59)
        assert grouped.probability(1.0).value == pytest.approx(once.probability(1.0).value)
        one, two = (c.probability(1.0).interval for c in (once, grouped))
        assert two.low == pytest.approx(one.low, abs=0.03)
        assert two.high == pytest.approx(one.high, abs=0.03)
        careless = AgreementCurve.fit(
            PastComparisons.of(often.differences, often.verdicts), model=model
        )
        assert careless.design_effect == 1.0
        assert careless.probability(1.0).interval.low > one.low

    def test_groups_in_which_all_agree_count_once_each(self, model):
        past = PastComparisons.of(np.linspace(1, 2, 40), [1] * 40, ["a", "b", "c", "d"] * 10)
        assert AgreementCurve.fit(past, model=model).design_effect == 10.0

    @pytest.mark.parametrize("pairs", [25, 60])
    def test_intervals_cover(self, model, pairs):
        """Reduced; the full table is below."""
        assert coverage(model, lambda size: expit(1.2 * size), pairs, 80).min() > 0.86


def coverage(model, chance, pairs, replications):
    rng = np.random.default_rng(pairs)
    truth = chance(SIZES)
    hits = [
        covered(AgreementCurve.fit(drawn(chance, pairs, rng), model=model), SIZES, truth)
        for _ in range(replications)
    ]
    return np.mean(hits, axis=0)


CURVES = {
    "logistic": lambda size: expit(1.2 * size),
    "capped": lambda size: np.minimum(0.5 + 0.25 * size, 0.92),
    "coin": lambda size: np.full_like(size, 0.5),
}


@pytest.mark.long
@pytest.mark.parametrize("pairs", [20, 50, 200])
@pytest.mark.parametrize("name", CURVES)
def test_isotonic_intervals_cover_any_rising_curve(name, pairs):
    """At least 95%, less the error of 2,000 replications."""
    assert coverage("isotonic", CURVES[name], pairs, 2_000).min() > 0.95 - 0.0126


@pytest.mark.long
@pytest.mark.parametrize("name", ["logistic", "coin"])
@pytest.mark.parametrize("pairs", [20, 50, 200])
def test_logistic_intervals_cover_where_the_model_is_right(name, pairs):
    found = coverage("logistic", CURVES[name], pairs, 2_000)
    assert found.min() > 0.93
    assert found.max() < 0.98


def campaigns(groups, rng, systems=6):
    """All pairs of the systems of each campaign: a metric and people, each with an error."""
    quality = rng.normal(size=(groups, systems))
    metric = quality + 0.8 * rng.normal(size=quality.shape)
    people = quality + 0.3 * rng.normal(size=quality.shape)
    one, two = np.triu_indices(systems, 1)
    names = np.repeat(np.arange(groups), len(one))
    apart = [(scores[:, one] - scores[:, two]).ravel() for scores in (metric, people)]
    return PastComparisons.of(*apart, [str(name) for name in names])


def campaign_truth(sizes):
    """Differences of metric and people are jointly normal."""
    metric, both, people = 2 * (1 + 0.64), 2.0, 2 * (1 + 0.09)
    return norm.cdf(both / metric * sizes / np.sqrt(people - both**2 / metric))


@pytest.mark.long
@pytest.mark.parametrize("groups", [5, 10, 20])
def test_intervals_cover_where_pairs_share_systems(groups):
    rng = np.random.default_rng(groups)
    sizes = np.array([0.3, 0.8, 1.5, 2.5, 4.0])
    hits = [
        covered(AgreementCurve.fit(campaigns(groups, rng)), sizes, campaign_truth(sizes))
        for _ in range(2_000)
    ]
    assert np.mean(hits, axis=0).min() > 0.95 - 0.0126


def test_pairs_that_share_systems_are_worth_less():
    effects = [
        AgreementCurve.fit(campaigns(20, np.random.default_rng(seed))).design_effect
        for seed in range(20)
    ]
    assert 1.2 < np.mean(effects) < 2.0


ROWS = [(0.1 * n, ("first", "second", "tie")[n % 3], "bleu", f"wmt{n % 5}") for n in range(1, 16)]


def write(path, rows, columns=("difference", "verdict", "metric", "group")):
    kept = [
        dict(zip(("difference", "verdict", "metric", "group"), row, strict=True)) for row in rows
    ]
    kept = [{name: row[name] for name in columns} for row in kept]
    if path.suffix == ".jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in kept))
    elif path.suffix == ".parquet":
        pandas = pytest.importorskip("pandas")
        pandas.DataFrame(kept).to_parquet(path)
    else:
        mark = "\t" if path.suffix == ".tsv" else ","
        lines = [columns, *(row.values() for row in kept)]
        path.write_text("".join(mark.join(map(str, line)) + "\n" for line in lines))
    return path


class TestReading:
    @pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
    def test_any_form(self, tmp_path, form):
        past = read_past_comparisons(write(tmp_path / f"past.{form}", ROWS))
        assert past.differences == pytest.approx([row[0] for row in ROWS])
        assert past.verdicts.tolist() == [-1, 0, 1] * 5
        assert past.groups == tuple(row[3] for row in ROWS)
        assert past.metric == "bleu"

    def test_verdicts_as_numbers(self, tmp_path):
        rows = [(1.0, value, "", "") for value in (0.3, "-2", 0, "1e-9", " First ", "TIE")]
        past = read_past_comparisons(write(tmp_path / "past.csv", rows, ("difference", "verdict")))
        assert past.verdicts.tolist() == [1, -1, 0, 1, 1, 0]
        assert past.groups is None
        assert past.metric is None

    def test_one_of_several_metrics(self, tmp_path):
        others = [(-5.0, 1, "chrf", "x")] * 3
        path = write(tmp_path / "past.csv", ROWS + others)
        assert len(read_past_comparisons(path, "bleu").differences) == 15
        assert read_past_comparisons(path, "chrf").differences.tolist() == [-5.0] * 3
        with pytest.raises(InputError, match=r"past.csv: has several metrics: choose one of bleu"):
            read_past_comparisons(path)
        with pytest.raises(InputError, match=r"no comparison by 'ter'; it has bleu, chrf"):
            read_past_comparisons(path, "ter")

    def test_a_table_without_metrics_is_about_any(self, tmp_path):
        path = write(tmp_path / "past.csv", ROWS, ("difference", "verdict"))
        assert read_past_comparisons(path, "ter").metric == "ter"

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            (("much", 1, "", ""), "line 3, difference: must be a finite number, got 'much'"),
            (("nan", 1, "", ""), "line 3, difference: must be a finite number, got 'nan'"),
            ((1, "both", "", ""), "line 3, verdict: must be a number, or one of first, second and"),
            ((1, "nan", "", ""), "line 3, verdict: must be a number"),
        ],
    )
    def test_bad_cells(self, tmp_path, row, message):
        path = write(tmp_path / "past.csv", [(1, 1, "", ""), row])
        with pytest.raises(InputError, match=message):
            read_past_comparisons(path)

    def test_problems_can_be_collected(self, tmp_path):
        path = write(tmp_path / "past.csv", [("x", 1, "", ""), (1, 1, "", ""), (1, "y", "", "")])
        problems = []
        assert len(read_past_comparisons(path, report=problems.append).differences) == 1
        assert [problem.line for problem in problems] == [2, 4]

    def test_missing_columns_and_groups(self, tmp_path):
        with pytest.raises(InputError, match="verdict"):
            read_past_comparisons(write(tmp_path / "a.csv", ROWS, ("difference", "metric")))
        path = write(tmp_path / "b.csv", [(1, 1, "", "x"), (1, 1, "", "")])
        with pytest.raises(InputError, match="group: is missing in some rows"):
            read_past_comparisons(path)


class TestBadInput:
    def test_too_few_pairs(self):
        past = PastComparisons.of([1.0] * 9 + [0.0] * 9, [1] * 18, metric="bleu")
        with pytest.raises(InputError, match=r"at least 10 past comparisons by bleu .* got 9"):
            AgreementCurve.fit(past)

    @pytest.mark.parametrize(
        ("settings", "message"),
        [({"model": "spline"}, "model must be"), ({"confidence": 1.0}, "confidence must lie")],
    )
    def test_settings(self, settings, message):
        with pytest.raises(InputError, match=message):
            AgreementCurve.fit(PastComparisons.of([1.0] * 12, [1] * 12), **settings)

    @pytest.mark.parametrize(
        ("lists", "message"),
        [
            (([1.0], [1, 1]), "as many differences as verdicts"),
            (([1.0], [1], ["a", "b"]), "as groups"),
            (([math.nan], [1]), r"differences\[0\] must be a finite number"),
            (([True], [1]), r"differences\[0\]"),
            (([1.0], ["both"]), r"verdicts\[0\] must be a number, or one of"),
            (([1.0], [None]), r"verdicts\[0\]"),
        ],
    )
    def test_lists(self, lists, message):
        with pytest.raises(InputError, match=message):
            PastComparisons.of(*lists)

    def test_a_difference_that_is_none(self):
        curve = AgreementCurve.fit(PastComparisons.of(range(1, 13), [1, -1] * 6))
        with pytest.raises(InputError, match="got nan"):
            curve.probability(math.nan)

    def test_few_groups_are_remarked_on(self):
        past = PastComparisons.of(range(1, 13), [1, -1] * 6, ["a", "b"] * 6)
        assert "2 groups cannot show" in AgreementCurve.fit(past).notes[0]
        past = PastComparisons.of(range(1, 13), [1, -1] * 6, ["a"] * 12)
        assert "one group cannot show" in AgreementCurve.fit(past).notes[0]
