"""How far raters agree, in one piece: golden figures, known raters, and what is refused."""

from __future__ import annotations

import csv
import gzip
import math
from pathlib import Path

import numpy as np
import pytest

from deltableu.corpus import Rating, RatingTable, read_ratings, read_study
from deltableu.errors import InputError
from deltableu.rate import (
    cohen_kappa,
    intraclass_correlations,
    krippendorff_alpha,
    pairwise_kappas,
    rater_agreements,
    rater_use,
    split_half_reliability,
)
from deltableu.rate.alpha_interval import alpha_interval
from deltableu.stats import jackknife_interval, stream

EXAMPLES = Path(__file__).parents[2] / "examples"
DATA = Path(__file__).parents[3] / "shared" / "data"


@pytest.fixture(scope="module")
def demo():
    return read_study(EXAMPLES / "demo").ratings


@pytest.fixture(scope="module")
def found(demo):
    """Of outputs and of references."""
    return rater_agreements(demo)


def simulated(seed, *, raters=12, units=600, each=4, step=0.0):
    """Ratings by raters of known severity and noise; all raters of a unit where `each` is None."""
    rng = stream(seed)
    quality, severity = rng.normal(size=units), rng.normal(0, 0.4, size=raters)
    noise = rng.uniform(0.2, 1.2, size=raters)
    rows = [
        (rater, unit)
        for unit in range(units)
        for rater in (
            range(raters) if each is None else rng.choice(raters, each, replace=False).tolist()
        )
    ]
    rater, unit = np.array(rows).T
    values = quality[unit] - severity[rater] + noise[rater] * rng.normal(size=len(rows))
    values = np.round(values / step) * step if step else values
    table = RatingTable.of(
        raters=[f"r{one:02}" for one in rater.tolist()],
        items=[str(one) for one in unit.tolist()],
        systems=[f"s{one % 3}" for one in unit.tolist()],
        values=values,
    )
    places = [int(name[1:]) for name in table.raters]
    return table, severity[places], noise[places]


def test_golden_figures_of_the_demo(found):
    outputs, references = found
    assert [(one.targets, one.criterion, one.scale) for one in found] == [
        ("outputs", "overall", "0-100"),
        ("references", "overall", "1-5"),
    ]
    assert [round(one.alpha, 3) for one in found] == [0.743, 0.801]
    assert [one.interval.low < one.alpha < one.interval.high for one in found] == [True, True]
    assert [round(one.alpha_z, 2) for one in found] == [0.77, 0.84]
    assert [(one.raters, one.units, one.shared) for one in found] == [
        (18, 408, 408),
        (12, 543, 543),
    ]
    assert [one.enough for one in found] == [2, 1]
    assert [round(one.reliability, 2) for one in found] == [0.94, 0.96]
    assert [one.ceiling == math.sqrt(one.reliability) for one in found] == [True, True]
    # A slider's hundred values are no categories; five points are.
    assert (outputs.fleiss, outputs.kappas, outputs.categories) == (None, None, None)
    assert "--categories" in outputs.missing["kappas"]
    assert (round(references.fleiss, 2), references.fleiss_each, references.categories) == (
        0.34,
        5,
        5,
    )
    assert round(references.kappas.mean_quadratic, 2) == 0.8
    # The careless rater is found.
    assert [one.rater for one in outputs.strangers()] == ["sim-22"]
    assert references.strangers() == ()


def test_measures_are_those_of_the_library(demo, found):
    outputs, references = found
    table = demo.of_systems()
    assert outputs.alpha == pytest.approx(krippendorff_alpha(table).value)
    assert outputs.alpha_ordinal == pytest.approx(krippendorff_alpha(table, "ordinal").value)
    half = split_half_reliability(table, by="unit", shuffles=200).reliability.mean
    assert outputs.reliability == pytest.approx(half, abs=0.01)
    weights = demo[(demo.reference >= 0) & demo.of_kind("item")].by_reference("first")
    assert references.alpha == pytest.approx(krippendorff_alpha(weights).value)
    assert references.alpha_nominal == pytest.approx(krippendorff_alpha(weights, "nominal").value)


def test_enough_ratings_keep_their_promise(found):
    outputs = found[0]
    for number in (1, 2, 5, 20):
        expected = outputs.expected(number)
        assert expected == pytest.approx(number / (number + outputs.ratio))
    assert math.sqrt(outputs.expected(outputs.enough)) >= outputs.target
    assert math.sqrt(outputs.expected(outputs.enough - 1)) < outputs.target
    assert outputs.expected(5) == pytest.approx(outputs.reliability)


def test_the_curve_is_what_many_raters_would_have_measured():
    """Reliability from few ratings foretells the correlation of the mean with true quality."""
    rng = stream(5)
    units, noise = 2000, 1.3
    quality = rng.normal(size=units)
    few = quality + noise * rng.normal(size=(4, units))
    table = RatingTable.of(
        raters=[str(rater) for rater in range(4) for _ in range(units)],
        items=[str(unit) for _ in range(4) for unit in range(units)],
        systems=["s"] * 4 * units,
        values=few.ravel(),
    )
    (found,) = rater_agreements(table, target=0.95)
    for number in (1, 4, 10):
        mean = quality + noise / math.sqrt(number) * rng.normal(size=units)
        truth = np.corrcoef(mean, quality)[0, 1]
        assert math.sqrt(found.expected(number)) == pytest.approx(truth, abs=0.02)
    assert found.enough == pytest.approx(noise**2 * 0.95**2 / (1 - 0.95**2), abs=4)
    assert found.intraclass["ICC3"].value == pytest.approx(1 / (1 + noise**2), abs=0.03)


def test_severity_and_noise_of_each_rater_are_found_again():
    table, severity, noise = simulated(1)
    use = rater_use(table)
    assert [one.rater for one in use] == list(table.raters)
    assert [one.severity for one in use] == pytest.approx(severity - severity.mean(), abs=0.12)
    assert [one.noise for one in use] == pytest.approx(noise, abs=0.12)
    order = np.argsort(noise)
    correlations = np.array([one.correlation for one in use])[order]
    assert np.corrcoef(correlations, np.sort(noise))[0, 1] < -0.9


def test_two_raters_share_the_blame():
    """Nothing says which of two is noisy: both get half of the variance."""
    rng = stream(2)
    quality = rng.normal(size=300)
    values = np.concatenate((quality + 0.3 * rng.normal(size=300), quality + rng.normal(size=300)))
    table = RatingTable.of(
        raters=["a"] * 300 + ["b"] * 300,
        items=[str(unit) for unit in range(300)] * 2,
        systems=["s"] * 600,
        values=values,
    )
    first, second = rater_use(table)
    assert first.noise == pytest.approx(second.noise)
    assert first.noise == pytest.approx(math.sqrt((0.3**2 + 1) / 2), abs=0.1)


def test_a_rater_who_shares_nothing_is_not_judged():
    table = RatingTable.of(
        raters=["a", "b", "a", "b", "a", "b", "c"],
        items=["1", "1", "2", "2", "3", "3", "4"],
        systems=["s"] * 7,
        values=[1, 2, 4, 4, 5, 3, 5],
    )
    alone = rater_use(table)[2]
    assert (alone.rater, alone.ratings, alone.shared) == ("c", 1, 0)
    assert all(map(math.isnan, (alone.severity, alone.noise, alone.correlation)))


@pytest.mark.parametrize("seed", range(3))
def test_kappas_of_all_pairs_are_cohens(seed):
    rng = stream(7, seed)
    rows = np.where(rng.random((6, 60)) < 0.6, rng.integers(1, 5, size=(6, 60)), np.nan)
    rows[0, :30] = rows[1, :30]
    rows[5] = np.where(np.isnan(rows[5]), np.nan, 3.0)
    found = pairwise_kappas(rows, min_common=5)
    for first in range(6):
        for second in range(first + 1, 6):
            for weights, values in (("none", found.values), ("quadratic", found.quadratic)):
                expected = cohen_kappa(rows[first], rows[second], weights).value
                assert values[first, second] == pytest.approx(expected, abs=1e-12)
    upper = found.values[np.triu_indices(6, 1)]
    assert found.mean == pytest.approx(upper.mean())


def test_kappas_of_one_category_are_undefined():
    same = [[3, 3, 3, 3], [3, 3, 3, 3], [3, 3, 2, 3]]
    found = pairwise_kappas(same)
    assert (found.pairs, found.undefined) == (2, 1)
    with pytest.raises(InputError, match="one category only"):
        pairwise_kappas(same[:2])
    with pytest.raises(InputError, match="no two raters have 5 units in common"):
        pairwise_kappas(same, min_common=5)


def test_the_interval_of_alpha_leaves_out_one_item_after_the_other():
    rng = stream(3)
    rows = np.where(
        rng.random((5, 40)) < 0.7, rng.normal(size=40) + rng.normal(size=(5, 40)), np.nan
    )
    groups = np.arange(40) // 4
    left = [krippendorff_alpha(rows[:, groups != one]).value for one in range(10)]
    expected = jackknife_interval(krippendorff_alpha(rows).value, np.array(left), 0.9)
    found = alpha_interval(rows, groups, 0.9)
    assert (found.low, found.high) == pytest.approx((expected.low, min(expected.high, 1.0)))
    assert alpha_interval(rows, np.zeros(40, dtype=np.int64)) is None


def test_crossed_ratings_have_all_six_intraclass_correlations():
    table, _, _ = simulated(4, raters=4, units=40, each=None)
    (found,) = rater_agreements(table)
    assert found.intraclass["ICC2"].value == intraclass_correlations(table)["ICC2"].value
    names = [row[0].value for row in found.table().rows]
    assert "ICC2: one of such raters" in names
    # Severity is no noise where everybody rates everything.
    assert found.reliability == pytest.approx(found.intraclass["ICC3k"].value, abs=0.03)


def test_preferences_agree_by_pairs_whatever_systems_are_called():
    table = read_ratings(EXAMPLES / "demo" / "preferences.csv")
    (found,) = rater_agreements(table)
    turned = RatingTable.from_records(
        Rating(
            *(one.rater, one.item, f"system:{one.target[:6:-1]}", one.value),
            *(one.criterion, one.scale, one.kind, one.pair, one.position),
        )
        for one in table
    )
    (other,) = rater_agreements(turned)
    assert (found.targets, found.units, found.ratings, found.per_unit) == ("pairs", 340, 680, 2)
    assert sum(one.ratings for one in found.rater_use) == 680
    assert found.alpha == pytest.approx(other.alpha)
    assert found.alpha_nominal == pytest.approx(other.alpha_nominal)
    assert found.fleiss == pytest.approx(other.fleiss)
    assert round(found.alpha_nominal, 2) == 0.65
    assert found.alpha_z is None


def test_criteria_and_targets_are_chosen():
    rng = stream(8)
    quality = rng.normal(size=30)
    records = [
        Rating(
            *(f"r{rater}", str(unit), target, float(quality[unit] + rng.normal())),
            criterion=criterion,
        )
        for criterion, target in (
            *(("fluency", "system:A"), ("relevance", "system:A")),
            ("relevance", "reference:r0"),
        )
        for rater in range(3)
        for unit in range(30)
    ]
    table = RatingTable.from_records(records)
    names = [one.name for one in rater_agreements(table)]
    assert names == ["fluency of outputs", "relevance of outputs", "relevance of references"]
    chosen = rater_agreements(table, criterion="relevance", targets="references")
    assert [one.name for one in chosen] == names[2:]
    assert [one.name for one in rater_agreements(table, criterion="fluency")] == names[:1]
    with pytest.raises(InputError, match=r"for 'fluence'; .*did you mean 'fluency'"):
        rater_agreements(table, criterion="fluence")
    with pytest.raises(InputError, match="no ratings of pairs; there are some of outputs and"):
        rater_agreements(table, targets="pairs")


def of(raters, items, values, **more):
    return RatingTable.of(
        raters=raters, items=items, systems=["A"] * len(items), values=values, **more
    )


@pytest.mark.parametrize(
    ("table", "message"),
    [
        (of(["a"] * 3, ["1", "2", "3"], [1, 2, 3]), "one rater only, who agrees with nobody else"),
        (of(["a", "b"], ["1", "2"], [1, 2]), "nothing was rated by two raters"),
        (of(["a", "b", "a"], ["1", "1", "2"], [3, 3, 5]), "all ratings that two raters share are"),
        (of(["a"], ["1"], [1], kinds=["bad-reference"]), "only controls"),
        (
            RatingTable.from_records(
                [Rating("a", "1", "system:A", 3, scale="1-5"), Rating("b", "1", "system:A", 30)]
            ),
            "several scales",
        ),
    ],
)
def test_what_cannot_be_measured_is_said_in_a_sentence(table, message):
    with pytest.raises(InputError, match=message):
        rater_agreements(table)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"target": 1.0}, "target must lie between 0 and 1"),
        ({"target": float("nan")}, "target must lie between 0 and 1"),
        ({"confidence": 95}, "confidence must lie between 0 and 1"),
        ({"categories": 1}, "categories must be at least 2"),
        ({"values": "rank"}, "values must be one of raw, z"),
        ({"targets": "systems"}, "targets must be one of outputs, references, pairs"),
    ],
)
def test_settings_are_checked(settings, message):
    with pytest.raises(InputError, match=message):
        rater_agreements(of(["a", "b"], ["1", "1"], [1, 2]), **settings)


def test_one_shared_unit_is_enough_not_to_fail():
    (found,) = rater_agreements(of(["a", "b", "a", "b"], ["1", "1", "2", "3"], [1, 2, 3, 4]))
    assert (found.shared, found.enough) == (1, None)
    assert math.isnan(found.reliability)
    assert "reliability" in found.missing
    assert str(found.table())
    assert str(found.enough_table())
    assert str(found.raters_table())


def test_raters_who_do_not_agree_at_all():
    rng = stream(6)
    table = of(
        [f"r{rater}" for rater in range(4) for _ in range(100)],
        [str(unit) for _ in range(4) for unit in range(100)],
        rng.integers(1, 6, size=400).astype(float),
    )
    (found,) = rater_agreements(table)
    assert abs(found.alpha) < 0.1
    assert found.enough is None or found.enough > 50


CRITERIA = [
    ("DataCoverage", 0.185),
    *(
        pytest.param(name, value, marks=pytest.mark.long)
        for name, value in (
            *(("Correctness", 0.166), ("Fluency", 0.113), ("Relevance", 0.129)),
            ("TextStructure", 0.107),
        )
    ),
]


@pytest.mark.skipif(not (DATA / "webnlg2020").is_dir(), reason="WebNLG's ratings are not here")
@pytest.mark.parametrize(("criterion", "published"), CRITERIA)
def test_webnlg_2020_kappas_are_the_published_ones(criterion, published):
    """Fleiss' kappas of the organisers' notebook, of five parts of the scale."""
    with gzip.open(DATA / "webnlg2020" / "ratings-en.tsv.gz", "rt") as lines:
        rows = list(csv.DictReader(lines, delimiter="\t"))
    table = RatingTable.of(
        raters=[row["worker"] for row in rows],
        items=[row["id"] for row in rows],
        systems=[row["system"] for row in rows],
        values=[float(row[criterion]) for row in rows],
        scale="0-100",
    )
    (found,) = rater_agreements(table, categories=5)
    assert round(found.fleiss, 3) == published
    assert (found.raters, found.fleiss_each) == (88, 3)
