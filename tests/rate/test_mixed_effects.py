"""The mixed model against lme4's and statsmodels' numbers, and against dense matrices."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.stats import t as student
from scipy.stats import ttest_rel

from deltableu import read_study
from deltableu.corpus import RatingTable
from deltableu.errors import InputError, InputWarning
from deltableu.rate import henderson
from deltableu.rate.henderson import Equations, least_deviance
from deltableu.rate.mixed_effects import fit_mixed_model
from deltableu.stats.resampling import stream

few = settings(max_examples=40, deadline=None)

# Davies and Goldsmith 1972, "Statistical Methods in Research and Production", as in lme4: growth
# of B. subtilis on plates a to x (rows) around penicillin samples A to F (columns).
PENICILLIN = [
    (27, 23, 26, 23, 23, 21), (27, 23, 26, 23, 23, 21), (25, 21, 25, 24, 24, 20),
    (26, 23, 25, 23, 23, 20), (25, 22, 26, 22, 23, 20), (24, 22, 25, 23, 22, 19),
    (24, 20, 23, 21, 22, 19), (26, 22, 26, 24, 24, 21), (24, 21, 24, 22, 22, 20),
    (24, 21, 24, 23, 22, 19), (26, 23, 26, 24, 24, 21), (25, 22, 26, 24, 24, 20),
    (26, 24, 26, 24, 25, 22), (26, 23, 26, 23, 23, 20), (26, 23, 25, 24, 24, 22),
    (25, 22, 25, 23, 23, 20), (25, 21, 24, 23, 23, 20), (25, 22, 24, 23, 23, 19),
    (24, 21, 23, 21, 21, 19), (26, 23, 26, 24, 24, 21), (25, 21, 24, 22, 22, 18),
    (25, 22, 25, 22, 22, 20), (24, 21, 24, 22, 24, 19), (24, 21, 24, 22, 21, 18),
]  # fmt: skip
PLATES = [str(plate) for plate in range(24) for _ in range(6)]
SAMPLES = list("ABCDEF") * 24
DIAMETERS = [value for row in PENICILLIN for value in row]


# --- lme4 -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "deviance", "deviations", "error"),
    [
        # lmer(diameter ~ 1 + (1 | plate) + (1 | sample), Penicillin)
        ("reml", 330.8606, (0.8467, 1.9316, 0.5499), 0.8086),
        # ... REML = FALSE; Bates 2010, "lme4: Mixed-effects modeling with R", section 2.1
        ("ml", 332.1883, (0.8456, 1.7706, 0.5499), 0.7446),
    ],
)
def test_penicillin(method, deviance, deviations, error):
    made = RatingTable.of(raters=SAMPLES, items=PLATES, systems=["x"] * 144, values=DIAMETERS)
    model = fit_mixed_model(made, method=method)
    assert -2 * model.log_likelihood == pytest.approx(deviance, abs=5e-5)
    variances = model.variances
    found = [math.sqrt(one) for one in (variances.item, variances.rater, variances.residual)]
    assert found == pytest.approx(deviations, abs=5e-5)
    assert model.estimates.tolist() == pytest.approx([22.9722], abs=5e-5)
    assert model.standard_errors.tolist() == pytest.approx([error], abs=5e-5)
    assert variances.output == 0.0


def test_penicillin_with_fixed_samples():
    """lmer(diameter ~ sample + (1 | plate), Penicillin)."""
    made = RatingTable.of(raters=["r"] * 144, items=PLATES, systems=SAMPLES, values=DIAMETERS)
    with pytest.warns(InputWarning, match="without effects of raters: there is one rater only"):
        model = fit_mixed_model(made)
    assert -2 * model.log_likelihood == pytest.approx(308.2793, abs=5e-5)
    differences = (model.estimates - model.estimates[0])[1:]
    assert model.estimates[0] == pytest.approx(25.167, abs=5e-4)
    assert differences == pytest.approx([-3.208, -0.250, -2.292, -2.208, -5.208], abs=5e-4)
    assert math.sqrt(model.variances.item) == pytest.approx(0.8467, abs=5e-5)
    assert math.sqrt(model.variances.residual) == pytest.approx(0.5499, abs=5e-5)
    # Balanced: the error of a difference is that of a paired t-test.
    assert model.difference_errors[0, 1] == pytest.approx(0.5499 * math.sqrt(2 / 24), abs=5e-5)


def test_dyestuff_whose_batches_do_not_differ():
    """lmer(Yield ~ 1 + (1 | Batch), Dyestuff2): the best variance of batches is 0.

    Box and Tiao 1973, "Bayesian Inference in Statistical Analysis"; lme4 gives a residual variance
    of 13.81, an intercept of 5.6656 and its error .6784.
    """
    values = [
        7.298, 3.846, 2.434, 9.566, 7.99, 5.22, 6.556, 0.608, 11.788, -0.892, 0.11, 10.386, 13.434,
        5.51, 8.166, 2.212, 4.852, 7.092, 9.288, 4.98, 0.282, 9.014, 4.458, 9.446, 7.198, 1.722,
        4.782, 8.106, 0.758, 3.758,
    ]  # fmt: skip
    made = RatingTable.of(
        raters=["r"] * 30, items=[batch for batch in "ABCDEF" for _ in range(5)],
        systems=["x"] * 30, values=values,
    )  # fmt: skip
    with pytest.warns(InputWarning, match="one rater only"):
        model = fit_mixed_model(made)
    assert model.variances.item == 0.0
    assert model.variances.residual == pytest.approx(13.81, abs=5e-3)
    assert model.estimates[0] == pytest.approx(5.6656, abs=5e-5)
    assert model.standard_errors[0] == pytest.approx(0.6784, abs=5e-5)


# --- statsmodels ----------------------------------------------------------------------------------


def uneven() -> RatingTable:
    """90 ratings of 3 systems, 12 items and 7 raters, many combinations missing, by arithmetic."""
    state, rows = 12345, []
    for _ in range(90):
        draws = []
        for size in (3, 12, 7, 41):
            state = (1103515245 * state + 12345) % 2**31
            draws.append((state >> 16) % size)
        system, item, rater, noise = draws
        value = 50 + 4 * system + (7 * item) % 12 * 2.5 - 3 * ((5 * rater) % 7) + 0.5 * (noise - 20)
        rows.append((str(rater), str(item), "ABC"[system], value))
    raters, items, systems, values = zip(*rows, strict=True)
    return RatingTable.of(
        raters=raters, items=items, systems=systems, values=values,
        order=([str(number) for number in range(12)], "ABC"),
    )  # fmt: skip


STATSMODELS = {
    "reml": (
        [54.945109, 57.952896, 62.231290],
        [4.152587, 4.121269, 4.153351],
        (83.65042, 61.19771, 33.02895),
        -305.799647,
    ),
    "ml": (
        [54.949338, 57.957440, 62.237176],
        [4.013531, 3.982070, 4.014322],
        (79.94087, 55.70852, 32.14106),
        -310.865954,
    ),
}


@pytest.mark.parametrize("method", ["reml", "ml"])
def test_statsmodels(method):
    """MixedLM of statsmodels 0.15 with crossed variance components on the same data."""
    estimates, errors, variances, likelihood = STATSMODELS[method]
    model = fit_mixed_model(uneven(), method=method, outputs=False, tastes=False)
    assert model.estimates == pytest.approx(estimates, abs=2e-4)
    assert model.standard_errors == pytest.approx(errors, abs=2e-3)
    found = model.variances.item, model.variances.rater, model.variances.residual
    assert found == pytest.approx(variances, rel=2e-3)
    assert model.log_likelihood == pytest.approx(likelihood, abs=1e-4)


# --- Dense matrices -------------------------------------------------------------------------------


def dense_deviance(made: RatingTable, ratios, restricted: bool) -> tuple[float, np.ndarray]:
    """-2 log likelihood from the covariance matrix of all ratings, and the fixed effects."""
    size = len(made)
    outputs = made.item * len(made.systems) + made.system
    v = np.eye(size)
    tastes = made.rater * len(made.systems) + made.system
    for ratio, groups in zip(ratios, (outputs, made.item, made.rater, tastes), strict=True):
        v += ratio**2 * (groups[:, None] == groups)
    x = np.eye(len(made.systems))[made.system]
    inverse = np.linalg.inv(v)
    information = x.T @ inverse @ x
    beta = np.linalg.solve(information, x.T @ inverse @ made.values)
    rest = made.values - x @ beta
    degrees = size - x.shape[1] if restricted else size
    variance = rest @ inverse @ rest / degrees
    deviance = np.linalg.slogdet(v)[1] + degrees * (1 + math.log(2 * math.pi * variance))
    if restricted:
        deviance += np.linalg.slogdet(information)[1]
    return deviance, beta


def simulated(
    rng, *, systems: int, items: int, raters: int, each: int, output: float
) -> RatingTable:
    """Every output is rated by `each` random raters."""
    system, item = (one.ravel() for one in np.mgrid[:systems, :items])
    system, item = np.repeat(system, each), np.repeat(item, each)
    rater = rng.integers(raters, size=len(item))
    own = rng.normal(0, output, (systems, items))
    values = rng.normal(0, 1, items)[item] + rng.normal(0, 1, raters)[rater] + own[system, item]
    return RatingTable(
        tuple(map(str, range(raters))), tuple(map(str, range(items))),
        tuple(map(str, range(systems))), rater, item, system,
        values + rng.normal(0, 1, len(item)), np.zeros(len(item), np.int64),
    )  # fmt: skip


@st.composite
def crossed(draw):
    size = draw(st.integers(8, 40))
    rng = stream(draw(st.integers(0, 10**6)))
    systems, items, raters = (
        rng.integers(draw(st.integers(1, most)), size=size) for most in (3, 6, 9)
    )
    values = 10 + systems + rng.normal(0, 2, 6)[items] + rng.normal(0, 2, 9)[raters]
    values = values + rng.normal(0, 1, size)
    made = RatingTable.of(
        raters=[f"r{one}" for one in raters], items=[f"i{one}" for one in items],
        systems=[f"s{one}" for one in systems], values=values,
    )  # fmt: skip
    assume(len(made.systems) < len(made))
    return made


@few
@given(crossed(), st.tuples(*[st.sampled_from([0.0, 0.3, 1.0, 3.0])] * 4), st.booleans())
def test_deviance_and_gradient(made, ratios, restricted):
    equations = Equations(made, restricted=restricted, tastes=True)
    ratios = np.array(ratios)
    solution = equations.solve(ratios)
    expected, beta = dense_deviance(made, ratios, restricted)
    degrees = len(made) - len(made.systems) if restricted else len(made)
    found = solution.deviance + 2 * degrees * math.log(equations.scale)
    assert found == pytest.approx(expected, abs=1e-8)
    assert equations.shift + equations.scale * solution.fixed == pytest.approx(beta, abs=1e-8)
    step = 1e-5
    for place in np.flatnonzero(ratios).tolist():
        ends = [
            equations.solve(ratios + sign * step * np.eye(4)[place]).deviance for sign in (1, -1)
        ]
        slope = (ends[0] - ends[1]) / (2 * step)
        assert solution.gradient[place] == pytest.approx(slope, abs=1e-4)


def test_sparse_and_dense_counts_agree(monkeypatch):
    rng = stream(5)
    raters, items = np.arange(200) % 50, rng.permutation(200) % 60
    made = RatingTable.of(
        raters=[str(one) for one in raters], items=[str(one) for one in items],
        systems=["A", "B"] * 100, values=rng.normal(size=200),
    )  # fmt: skip
    ratios = np.array([0.5, 0.8, 1.2, 0.4])
    other = Equations(made, restricted=True, tastes=True).solve(ratios)
    monkeypatch.setattr(henderson, "_SMALL", 0)
    sparse = Equations(made, restricted=True, tastes=True)
    assert not isinstance(sparse.by_item, np.ndarray)
    found = sparse.solve(ratios)
    assert found.deviance == pytest.approx(other.deviance, abs=1e-9)
    assert found.gradient == pytest.approx(other.gradient, abs=1e-9)
    assert found.item == pytest.approx(other.item, abs=1e-9)


@pytest.mark.parametrize("number", range(12))
def test_no_other_ratios_are_better(number):
    made = simulated(stream(11, number), systems=2, items=6, raters=5, each=2, output=0.5)
    equations = Equations(made, restricted=number % 2 == 0)
    best = equations.solve(least_deviance(equations, (False, True, True, False))).deviance
    for item in (0.0, 0.05, 0.2, 0.7, 1.5, 4.0, 20.0):
        for rater in (0.0, 0.05, 0.2, 0.7, 1.5, 4.0, 20.0):
            assert equations.solve(np.array([0.0, item, rater, 0.0])).deviance >= best - 1e-6


def test_predictions_solve_the_equations_of_henderson():
    """Best linear unbiased predictions: variances times the design times inverse covariance."""
    made = simulated(stream(2), systems=3, items=12, raters=7, each=3, output=2.0)
    model = fit_mixed_model(made, outputs=True)
    parts = model.variances
    assert parts.output > 0
    outputs = made.item * 3 + made.system
    v = parts.residual * np.eye(len(made))
    tastes = made.rater * 3 + made.system
    for variance, groups in ((parts.output, outputs), (parts.item, made.item),
                             (parts.rater, made.rater), (parts.taste, tastes)):  # fmt: skip
        v += variance * (groups[:, None] == groups)
    rest = np.linalg.solve(v, made.values - model.estimates[made.system])
    for variance, groups, found in (
        (parts.item, made.item, model.item_effects),
        (parts.rater, made.rater, model.rater_effects),
    ):
        expected = variance * np.bincount(groups, weights=rest, minlength=len(found))
        assert found == pytest.approx(expected, abs=1e-6)
    x = np.eye(3)[made.system]
    covariance = np.linalg.inv(x.T @ np.linalg.solve(v, x))
    assert model.covariance == pytest.approx(covariance, rel=1e-6)
    assert model.standard_errors == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-6)


# --- What users rely on ---------------------------------------------------------------------------


def test_segment_scores_are_ratings_without_their_raters():
    made = uneven()
    model = fit_mixed_model(made)
    assert model.segment_scores.shape == (3, 12)
    for system in range(3):
        for item in range(12):
            mine = (made.system == system) & (made.item == item)
            found = model.segment_scores[system, item]
            if not mine.any():
                assert np.isnan(found)
            else:
                expected = made.values[mine] - model.rater_effects[made.rater[mine]]
                assert found == pytest.approx(expected.mean())


def test_raters_who_saw_different_systems_are_told_apart():
    """A harsh rater met the better system more often: raw means mislead, the model does not."""
    rng = stream(3)
    rows = []
    harsh = {"kind": 15.0, "harsh": -15.0, "mild": 0.0, "calm": 2.0, "even": -2.0}
    easy, both = rng.normal(0, 5, 60), ("mild", "calm", "even")
    for item in range(60):
        for system, raters in (("good", ("harsh", *both)), ("bad", ("kind", *both))):
            for rater in raters:
                value = 50 + 6 * (system == "good") + easy[item] + harsh[rater] + rng.normal(0, 3)
                rows.append((rater, str(item), system, value))
    raters, items, systems, values = zip(*rows, strict=True)
    made = RatingTable.of(raters=raters, items=items, systems=systems, values=values)
    raw = np.bincount(made.system, weights=made.values) / np.bincount(made.system)
    assert raw[0] < raw[1]
    model = fit_mixed_model(made)
    good = model.systems.index("good")
    assert model.differences[good, 1 - good] == pytest.approx(6, abs=1.5)
    order = np.argsort(model.rater_effects)
    assert [model.raters[place] for place in order] == ["harsh", "even", "mild", "calm", "kind"]


@settings(max_examples=5, deadline=None)
@given(st.floats(0.01, 100), st.floats(-1000, 1000))
def test_units_of_the_scale_do_not_matter(stretch, shift):
    made = uneven()
    before = fit_mixed_model(made)
    after = fit_mixed_model(replace(made, values=made.values * stretch + shift))
    assert after.estimates == pytest.approx(before.estimates * stretch + shift, rel=1e-6, abs=1e-4)
    assert after.p_values == pytest.approx(before.p_values, abs=1e-6)
    assert after.variances.rater == pytest.approx(before.variances.rater * stretch**2, rel=1e-4)


def test_differences_and_p_values():
    model = fit_mixed_model(uneven())
    assert np.array_equal(model.differences, -model.differences.T)
    assert np.array_equal(model.p_values, model.p_values.T)
    assert np.diag(model.p_values).tolist() == [1, 1, 1]
    t = abs(model.differences[0, 1]) / model.difference_errors[0, 1]
    expected = 2 * student.sf(t, model.degrees_of_freedom[0, 1])
    assert model.p_values[0, 1] == pytest.approx(expected)


def test_controls_are_not_fitted(demo):
    made = RatingTable.from_study(read_study(demo))
    model = fit_mixed_model(made)
    assert model.ratings == len(made.scored()) < len(made)
    assert np.array_equal(model.estimates, fit_mixed_model(made.scored()).estimates)
    best = model.systems[int(np.argmax(model.estimates))]
    assert best == "human"


def test_whoever_has_no_rating_has_no_effect():
    made = uneven()
    padded = replace(made, raters=(*made.raters, "absent"), items=(*made.items, "unseen"))
    model = fit_mixed_model(padded)
    assert np.isnan(model.rater_effects[-1])
    assert np.isnan(model.item_effects[-1])
    assert model.estimates == pytest.approx(fit_mixed_model(made).estimates, abs=1e-6)


def test_outputs_have_effects_where_they_can():
    several = simulated(stream(2), systems=3, items=12, raters=7, each=3, output=2.0)
    assert fit_mixed_model(several).variances.output > 1
    assert fit_mixed_model(several, outputs=False).variances.output == 0
    single = simulated(stream(2), systems=3, items=12, raters=7, each=1, output=2.0)
    assert fit_mixed_model(single).variances.output == 0
    with pytest.warns(InputWarning, match="without effects of outputs: no output has more than"):
        fit_mixed_model(single, outputs=True)


def test_a_real_study_takes_seconds():
    """6,000 ratings of 10 systems, 300 items and 40 raters."""
    made = simulated(stream(1), systems=10, items=300, raters=40, each=2, output=1.0)
    model = fit_mixed_model(made, outputs=True)
    parts = model.variances
    assert parts.output == pytest.approx(1.0, abs=0.1)
    assert parts.residual == pytest.approx(1.0, abs=0.05)
    assert parts.item == pytest.approx(1.0, abs=0.25)
    assert parts.rater == pytest.approx(1.0, abs=0.5)


# --- Tests between systems ------------------------------------------------------------------------


def tasted(rng, *, raters: int, items: int, taste: float, each: int | None = None) -> RatingTable:
    """Two equal systems, whose outputs some raters (or all) rate with a taste for either system."""
    system, item = (one.ravel() for one in np.mgrid[:2, :items])
    each = each or raters
    rater = np.argsort(rng.random((2 * items, raters)), axis=1)[:, :each].ravel()
    system, item = np.repeat(system, each), np.repeat(item, each)
    values = rng.normal(0, 1, items)[item] + rng.normal(0, 1, raters)[rater]
    values = values + rng.normal(0, 0.5, (2, items))[system, item]
    values = values + rng.normal(0, taste, (raters, 2))[rater, system]
    return RatingTable(
        tuple(map(str, range(raters))), tuple(map(str, range(items))), ("A", "B"),
        rater, item, system, values + rng.normal(0, 1, len(item)), np.zeros(len(item), np.int64),
    )  # fmt: skip


def test_tastes_are_no_difference_between_systems():
    """Five raters, each with a taste: a model that ignores it differs in 30 of 100 studies."""
    found = [
        fit_mixed_model(tasted(stream(21, number), raters=5, items=40, taste=0.3)).p_values[0, 1]
        for number in range(60)
    ]
    assert np.mean(np.array(found) <= 0.05) < 0.12


def test_degrees_of_freedom_against_dense_matrices():
    """Satterthwaite's, from numerical second derivatives of the dense likelihood of variances."""
    made = tasted(stream(8), raters=6, items=25, taste=0.8, each=4)
    model = fit_mixed_model(made)
    parts = model.variances
    best = np.array([parts.output, parts.item, parts.rater, parts.taste, parts.residual])
    assert (best > 0.01).all()
    x, size = np.eye(2)[made.system], len(made)
    groups = (made.item * 2 + made.system, made.item, made.rater, made.rater * 2 + made.system)
    members = [(one[:, None] == one).astype(float) for one in groups] + [np.eye(size)]
    contrast = np.array([1.0, -1.0])

    def minus_twice_likelihood(logs):
        v = sum(math.exp(log) * one for log, one in zip(logs, members, strict=True))
        inverse = np.linalg.inv(v)
        information = x.T @ inverse @ x
        rest = made.values - x @ np.linalg.solve(information, x.T @ inverse @ made.values)
        logs = np.linalg.slogdet(v)[1] + np.linalg.slogdet(information)[1]
        return logs + rest @ inverse @ rest

    def log_variance(logs):
        v = sum(math.exp(log) * one for log, one in zip(logs, members, strict=True))
        return math.log(contrast @ np.linalg.inv(x.T @ np.linalg.inv(v) @ x) @ contrast)

    step, logs, unit = 1e-3, np.log(best), np.eye(5)
    hessian = np.array([[
        sum(a * b * minus_twice_likelihood(logs + step * (a * unit[i] + b * unit[j]))
            for a in (1, -1) for b in (1, -1)) / (4 * step**2)
        for j in range(5)] for i in range(5)])  # fmt: skip
    slope = np.array([
        (log_variance(logs + step * one) - log_variance(logs - step * one)) / (2 * step)
        for one in unit
    ])  # fmt: skip
    expected = 1 / (slope @ np.linalg.solve(hessian, slope))
    assert model.degrees_of_freedom[0, 1] == pytest.approx(expected, rel=1e-2)

    def difference(logs):
        v = sum(math.exp(log) * one for log, one in zip(logs, members, strict=True))
        inverse = np.linalg.inv(v)
        return contrast @ np.linalg.solve(x.T @ inverse @ x, x.T @ inverse @ made.values)

    moves = np.array([
        (difference(logs + step * one) - difference(logs - step * one)) / (2 * step)
        for one in unit
    ])  # fmt: skip
    variance = math.exp(log_variance(logs)) + 2 * moves @ np.linalg.solve(hessian, moves)
    assert model.difference_errors[0, 1] == pytest.approx(math.sqrt(variance), rel=1e-5)


def test_large_tastes_are_a_paired_test_of_raters():
    """Where all rated everything and tastes are all that differs, raters are the sample."""
    rng = stream(4)
    made = tasted(rng, raters=8, items=12, taste=30.0)
    made = replace(made, values=made.values + 60 * rng.normal(size=8)[made.rater])
    means = np.zeros((8, 2))
    np.add.at(means, (made.rater, made.system), made.values / 12)
    model = fit_mixed_model(made)
    assert model.p_values[0, 1] == pytest.approx(ttest_rel(*means.T).pvalue, abs=1e-3)
    assert model.degrees_of_freedom[0, 1] == pytest.approx(7, abs=0.01)


@pytest.mark.parametrize(
    ("raters", "options", "reason"),
    [
        (1, {}, "there is one rater"),
        (2, {}, "there are 2 raters"),
        (4, {"method": "ml"}, "too small"),
        (4, {"outputs": False}, "leave out effects of outputs"),
        (4, {"tastes": False}, "leave out effects of tastes"),
    ],
)
@pytest.mark.filterwarnings("ignore::deltableu.errors.InputWarning")
def test_no_p_value_where_none_would_hold(raters, options, reason):
    made = tasted(stream(1), raters=raters, items=20, taste=0.3)
    model = fit_mixed_model(made, **options)
    assert reason in model.untested
    assert np.isnan(model.p_values).all()
    assert np.isfinite(model.difference_errors).all()
    assert reason in model.table().notes["p-values"]


def test_raters_of_one_system_each_have_no_taste_besides_their_strictness():
    made = tasted(stream(3), raters=10, items=30, taste=0.5, each=10)
    made = made[made.rater % 2 == made.system]
    model = fit_mixed_model(made)
    assert model.variances.taste == 0
    assert model.untested is None
    assert model.degrees_of_freedom[0, 1] <= 8  # ten raters, five of each system
    with pytest.warns(InputWarning, match="without effects of tastes: each rater saw one system"):
        fit_mixed_model(made, tastes=True)


@pytest.mark.long
def test_size_of_the_test():
    """Two equal systems differ at 5% in 5% of studies."""
    found = []
    for number in range(400):
        made = simulated(stream(7, number), systems=2, items=50, raters=12, each=3, output=1.0)
        found.append(fit_mixed_model(made).p_values[0, 1] <= 0.05)
    assert 0.025 < np.mean(found) < 0.085


# --- Bad input ------------------------------------------------------------------------------------


def made_of(*rows: tuple[str, str, str, float]) -> RatingTable:
    raters, items, systems, values = zip(*rows, strict=True)
    return RatingTable.of(raters=raters, items=items, systems=systems, values=values)


@pytest.mark.parametrize(
    ("made", "message"),
    [
        (made_of(("a", "1", "A", 1), ("a", "2", "B", 2)), "more ratings than systems"),
        (made_of(*[(r, i, s, 5) for r in "ab" for i in "12" for s in "AB"]), "the same value"),
        (
            made_of(*[({"A": "a", "B": "b"}[s], i, s, ord(i)) for i in "123" for s in "AB"]),
            "each system was rated with one rater alone",
        ),
        (
            made_of(*[(r, {"A": "1", "B": "2"}[s], s, ord(r)) for r in "pqr" for s in "AB"]),
            "each system was rated with one item alone",
        ),
    ],
)
def test_what_no_model_can_tell(made, message):
    with pytest.raises(InputError, match=message):
        fit_mixed_model(made)


def test_more_bad_input():
    made = uneven()
    with pytest.raises(InputError, match="method must be one of reml, ml"):
        fit_mixed_model(made, method="ols")
    with pytest.raises(InputError, match="no ratings of systems"):
        fit_mixed_model(made[:0])
    with pytest.raises(InputError, match="system 'D' has no ratings"):
        fit_mixed_model(replace(made, systems=(*made.systems, "D")))


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([("ab"[n % 3 % 2], str(n), "AB"[n % 2], n % 5) for n in range(12)], "no item has more"),
        ([(str(n), "12"[n % 2], "AB"[n // 6], n % 5) for n in range(12)], "no rater has more"),
        ([("a", "12"[n % 2], "AB"[n // 6], n % 5) for n in range(12)], "there is one rater only"),
        (
            [("abc"[n % 3], "123"[n % 3], "AB"[n // 6], n % 5) for n in range(12)],
            "each item has a rater of its own",
        ),
    ],
)
def test_effects_that_cannot_be_told_apart_are_left_out(rows, message):
    with pytest.warns(InputWarning, match=message):
        model = fit_mixed_model(made_of(*rows))
    assert np.isfinite(model.estimates).all()


def test_a_model_without_noise():
    """Perfectly additive ratings: all is explained, and nothing breaks."""
    made = made_of(*[
        (r, i, s, float(ord(r) + 2 * ord(i) + 3 * ord(s)))
        for r in "abc" for i in "1234" for s in "AB"
    ])  # fmt: skip
    model = fit_mixed_model(made)
    assert model.differences[1, 0] == pytest.approx(3)
    assert model.variances.residual < 1e-4
