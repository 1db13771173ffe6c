"""Two judges of the same texts: every number against a plain computation."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from deltableu import BLEU, ChrFPlusPlus, DeltaBLEU, delta_bleu, read_study
from deltableu.corpus import RatingTable, ScoreTable
from deltableu.errors import InputError
from deltableu.report import verdict
from deltableu.validate import JudgedUnits, compare_judges, shared_units

DEMO = Path(__file__).parents[2] / "examples" / "demo"


@pytest.fixture(scope="module")
def study():
    return read_study(DEMO)


@pytest.fixture(scope="module")
def people(study):
    return JudgedUnits.of_ratings("people", study.ratings, "references")


def model_of(people, noise=0.3, shift=0.0, seed=0):
    """A judge that goes with people, on the same scale."""
    rng = np.random.default_rng(seed)
    values = people.values + shift + noise * rng.normal(size=len(people.values))
    return JudgedUnits("model", people.targets, people.keys, np.clip(values, -1, 1), True)


def test_weights_of_the_demo_are_means_of_its_ratings(study, people):
    weights = JudgedUnits.of_weights("weights", study)
    found = compare_judges(people, weights)
    assert found.correlations[0].value == pytest.approx(1.0, abs=1e-3)
    assert found.bias == pytest.approx(0.0, abs=1e-3)
    assert found.first_only == found.second_only == 0


def test_numbers(study, people):
    model = model_of(people, shift=0.1)
    found = compare_judges(people, model, study, metric=DeltaBLEU())
    x, y = people.values, model.values
    expected = [stats.pearsonr(x, y)[0], stats.spearmanr(x, y)[0], stats.kendalltau(x, y)[0]]
    assert [one.value for one in found.correlations] == pytest.approx(expected)
    for one in found.correlations:
        assert one.interval.low < one.value < one.interval.high
    assert found.bias == pytest.approx((y - x).mean())
    assert found.bias_interval.low < found.bias < found.bias_interval.high
    assert found.distance == pytest.approx(np.abs(y - x).mean())
    counts = np.array(found.signs.counts)
    assert counts.sum() == len(x)
    assert counts[0, 2] == np.count_nonzero((x < 0) & (y > 0))
    assert counts[2, 2] == np.count_nonzero((x > 0) & (y > 0))
    assert sum(one.texts for one in found.calibration) == len(x)
    for one in found.calibration:
        own = (y >= one.low) & (y <= one.high)
        assert one.meant == pytest.approx(x[own].mean())
    worst = found.disagreements[0]
    assert abs(worst.first - worst.second) == pytest.approx(np.abs(x - y).max())
    assert worst.text
    assert found.texts == 543
    assert found.items == 68


def test_systems_are_ranked_with_the_weights_of_either(study, people):
    model = model_of(people)
    found = compare_judges(people, model, study, metric=DeltaBLEU())
    by_model = dict(zip(model.keys, model.values.tolist(), strict=True))
    texts, weights, kept = [], [], []
    for place, item in enumerate(study.items):
        own = [by_model[item.id, f"reference:{one.id}"] for one in item.references]
        if max(own) > 0 and max(one.weight for one in item.references) > 0:
            texts.append([one.text for one in item.references])
            weights.append(own)
            kept.append(place)
    assert found.ranking.items == len(kept)
    for one in found.ranking.systems:
        outputs = [study.outputs[one.system][place] for place in kept]
        assert one.second == pytest.approx(delta_bleu(outputs, texts, weights).score)
    ranks = [one.second_rank for one in found.ranking.systems]
    pairs = [(a, b) for k, a in enumerate(ranks) for b in ranks[k + 1 :]]
    assert found.ranking.swapped == sum(a > b for a, b in pairs)
    assert found.agreement.people == "the study's ratings of outputs"
    assert found.agreement.difference == pytest.approx(
        found.agreement.first - found.agreement.second
    )


def test_outputs_against_a_table_of_scores(study):
    people = JudgedUnits.of_ratings("people", study.ratings, "outputs")
    rng = np.random.default_rng(1)
    systems, items = list(study.outputs), [item.id for item in study.items]
    values = rng.normal(size=(1, len(systems), len(items)))
    scores = ScoreTable.from_arrays(["comet"], systems, items, values)
    found = compare_judges(
        people, JudgedUnits.of_scores("comet", scores), study, metric=ChrFPlusPlus()
    )
    assert found.scaled is False
    assert found.bias is found.signs is found.replacement is None
    assert "the scale of comet is not known" in found.missing["replacement"]
    assert found.ranking.measure == "means of what either says"
    assert found.agreement.people == "each judge's own ratings"
    lower = replace(scores, higher_is_better=(False,))
    turned = compare_judges(people, JudgedUnits.of_scores("comet", lower))
    assert turned.correlations[0].value == pytest.approx(-found.correlations[0].value)


def test_who_replaces_a_rater(people):
    good = compare_judges(people, model_of(people, noise=0.05))
    assert good.replacement.passed
    assert "It can replace one of the 12 raters" in " ".join(verdict(good))
    bad = compare_judges(people, model_of(people, noise=1.5))
    assert not bad.replacement.passed
    assert "It cannot replace one" in " ".join(verdict(bad))
    strict = compare_judges(people, model_of(people), allowance=0.0)
    lenient = compare_judges(people, model_of(people), annotators="expert")
    assert strict.replacement.winning_rate <= lenient.replacement.winning_rate
    assert lenient.replacement.allowance == 0.2


def test_sentences_say_no_more_than_the_numbers(people, study):
    for shift, word in ((0.0, "neither stricter nor milder"), (0.3, "milder"), (-0.3, "stricter")):
        found = compare_judges(people, model_of(people, noise=0.1, shift=shift))
        interval = found.bias_interval
        assert (interval.low <= 0 <= interval.high) == ("neither" in " ".join(verdict(found)))
        if shift:
            assert f" {word} (95% interval" in " ".join(verdict(found))
    same = compare_judges(people, model_of(people, noise=0.01), study, metric=DeltaBLEU())
    assert "No pair of the 6 systems changes places by delta-bleu-2" in " ".join(verdict(same))


def test_equal_seeds_give_equal_results(people):
    model = model_of(people)
    assert compare_judges(people, model, seed=3) == compare_judges(people, model, seed=3)


def test_refusals(study, people):
    outputs = JudgedUnits.of_ratings("outputs", study.ratings, "outputs")
    with pytest.raises(InputError, match="people judges references and outputs outputs"):
        shared_units(people, outputs)
    with pytest.raises(InputError, match="choose targets and a criterion"):
        JudgedUnits.of_ratings("both", study.ratings)
    bare = [
        replace(item, references=tuple(replace(one, weight=None) for one in item.references))
        for item in study.items
    ]
    with pytest.raises(InputError, match="its references have no weights"):
        JudgedUnits.of_weights("bare", replace(study, items=tuple(bare)))
    two = ScoreTable.of({"m": {"A": [1, 2]}, "n": {"A": [1, 2]}})
    with pytest.raises(InputError, match="has 2 metrics, choose one: m, n"):
        JudgedUnits.of_scores("two", two)
    others = JudgedUnits("x", "references", (("q", "reference:r"),), np.ones(1), True)
    with pytest.raises(InputError, match="have 0 references in common"):
        compare_judges(people, others)
    flat = replace(model_of(people), values=np.zeros(len(people.values)))
    with pytest.raises(InputError, match="model says the same of all 543 shared texts"):
        compare_judges(people, flat)
    with pytest.raises(InputError, match="annotators must be"):
        compare_judges(people, model_of(people), annotators="robots")


def test_a_metric_without_weights_ranks_alike(study, people):
    found = compare_judges(people, model_of(people), study, metric=BLEU())
    assert found.ranking.swapped == 0


def test_few_raters_are_said(study):
    ratings = RatingTable.of(
        raters=["a"] * 6,
        items=[item.id for item in study.items[:6]],
        references=["r0"] * 6,
        values=[1, 2, 3, 4, 5, 3],
        scale="1-5",
    )
    one = JudgedUnits.of_ratings("one", ratings)
    found = compare_judges(one, JudgedUnits.of_weights("weights", study))
    assert found.replacement is None
    assert "needs 3 raters with 30 texts each" in " ".join(verdict(found))
