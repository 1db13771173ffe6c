"""Whole validations: few systems, items of their own, corpus scores, sentinels and groups."""

from __future__ import annotations

import numpy as np
import pytest

from deltableu import ScoreTable
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score import make_metrics, score_systems
from deltableu.stats.resampling import bootstrap_counts, stream
from deltableu.validate import ValidationPlan, compare_metrics, validate_metrics
from deltableu.validate.metric_tests import enough_resamples


def names(prefix, number):
    return [f"{prefix}{place}" for place in range(number)]


def table(metrics, human=None):
    """Score tables of metrics (name -> systems x items), and of people."""
    first = next(iter(metrics.values()))
    systems, items = names("s", len(first)), names("i", len(first[0]))
    values = np.stack([*metrics.values()])
    scores = ScoreTable.from_arrays([*metrics], systems, items, values)
    if human is None:
        return scores
    people = ScoreTable.from_arrays(["people"], systems, items, np.asarray(human)[np.newaxis])
    return scores, people


def far_apart(systems=10, items=40, metrics=8, seed=0):
    """Metrics with ever more noise, so that each agrees far less than the one before."""
    rng = np.random.default_rng(seed)
    human = rng.normal(size=(systems, items))
    noises = {
        f"m{place}": human + 0.1 * 1.6**place * rng.normal(size=human.shape)
        for place in range(metrics)
    }
    return noises, human


# --- The family -----------------------------------------------------------------------------------


def test_eight_metrics_far_apart_are_told_apart():
    """Tested both ways, 56 p-values of 1 / 1,001 and more made them all equal."""
    scores, human = far_apart(items=100)
    found = compare_metrics(scores, human, level="pooled", correction="holm")
    assert found.resamples == 1120
    assert [metric.rank for metric in found.metrics] == [*range(1, 9)]
    assert found.winners == ("m0",)
    smallest = np.nanmin(found.adjusted)
    assert smallest <= 0.025


@pytest.mark.parametrize("test", ["bootstrap-items", "perm-both", "perm-items"])
def test_the_floor_stays_below_half_of_what_is_asked_for(test):
    scores, human = far_apart(metrics=6)
    found = compare_metrics(scores, human, level="pooled", test=test, resamples=10)
    assert np.nanmin(found.adjusted) <= 0.5 * found.significance


def test_resamples_that_are_asked_for_are_the_least():
    options = {"significance": 0.05, "correction": "holm"}
    assert enough_resamples("perm-items", 2, 1000, **options) == 1000
    assert enough_resamples("perm-items", 20, 1000, **options) == 7600
    assert enough_resamples("bootstrap-items", 20, 1000, **options) == 15200
    assert enough_resamples("perm-items", 20, 50, correction="wmt", significance=0.05) == 50


@pytest.mark.parametrize(
    ("systems", "metrics", "told"),
    [
        (8, 4, None),
        (
            8,
            5,
            "8 systems cannot rank 5 metrics: exchanging systems gives no p-value below .0078, "
            "or below .078 after correction for 10 pairs; compare at most 4 metrics, or take 9 "
            "systems",
        ),
        (
            5,
            2,
            "5 systems cannot rank 2 metrics: exchanging systems gives no p-value below .062; "
            "take 6 systems",
        ),
    ],
)
def test_few_systems_cannot_rank_many_metrics(systems, metrics, told):
    scores, human = far_apart(systems=systems, metrics=metrics)
    found = compare_metrics(scores, human)
    assert found.unranked == told
    if told is None:
        assert found.winners
        return
    assert found.winners == ()
    assert [metric.rank for metric in found.metrics] == [0] * metrics
    assert np.isnan(found.adjusted).all()
    shown = found.table()
    assert shown.caption == "system: " + told.partition(":")[0]
    assert [column.name for column in shown.columns] == ["metric"]


def test_few_groups_cannot_rank_many_metrics_either():
    scores, human = far_apart(metrics=3, items=12)
    groups = np.repeat(range(4), 3).tolist()
    found = compare_metrics(scores, human, level="pooled", groups=groups)
    assert found.unranked.startswith("4 groups cannot rank 3 metrics")


# --- Sentinels ------------------------------------------------------------------------------------


@pytest.mark.parametrize("correction", ["holm", "none", "wmt"])
def test_a_sentinel_never_wins_and_is_no_test_to_correct_for(correction):
    scores, human = far_apart(metrics=3)
    plain = compare_metrics(scores, human, level="pooled", correction=correction)
    rng = np.random.default_rng(1)
    # It agrees best of all, by luck or otherwise.
    with_sentinels = {
        **scores,
        "random": human + 0.01 * rng.normal(size=human.shape),
        "length": rng.normal(size=human.shape),
        "constant": np.ones(human.shape),
    }
    found = compare_metrics(with_sentinels, human, level="pooled", correction=correction)
    assert np.array_equal(found.adjusted, plain.adjusted, equal_nan=True)
    assert (found.winners, found.metrics) == (plain.winners, plain.metrics)
    assert found.sentinels == ("random", "length")
    assert (found.beats[:, 1] < 0.01).all()
    assert (found.beats[:, 0] > 0.9).all()


def test_five_systems_do_not_bold_a_random_metric():
    """One metric with r = .995 and noise with r = -.5: PERM-SYS of five systems tells nothing."""
    human = np.array([1.0, 2, 3, 4, 5])[:, np.newaxis]
    good = human + np.array([0.1, -0.1, 0.1, -0.2, 0.1])[:, np.newaxis]
    noise = np.array([0.9, 0.2, 0.7, 0.4, 0.1])[:, np.newaxis]
    scores, people = table({"good": good, "random": noise, "fair": human + 9 * noise}, human)
    for correction in ("holm", "wmt"):
        plan = ValidationPlan(levels=("system",), correction=correction)
        found = validate_metrics(scores, people, plan=plan)
        assert "random" not in found.comparisons[0].winners
        row = next(row for row in found.table("system").rows if "random" in str(row[0]))
        assert not row[0].best
    found = validate_metrics(scores, people, plan=ValidationPlan(levels=("system",)))
    assert any("5 systems cannot rank 2 metrics" in note for note in found.notes)


# --- One system, items of their own ---------------------------------------------------------------


def test_outputs_of_one_system_can_be_pooled():
    rng = np.random.default_rng(2)
    human = rng.normal(size=(1, 60))
    metrics = {"good": human + 0.5 * rng.normal(size=human.shape), "bad": rng.normal(size=(1, 60))}
    plan = ValidationPlan(levels=("pooled",), resamples=200)
    found = validate_metrics(*table(metrics, human), plan=plan)
    one = found.agreement("good", "pooled", "pearson")
    assert one.value == pytest.approx(np.corrcoef(metrics["good"][0], human[0])[0, 1])
    assert one.interval.low < one.value < one.interval.high
    assert found.comparisons[0].winners == ("good",)
    with pytest.raises(InputError, match=r"at least 2 \(1 at level pooled alone\)"):
        validate_metrics(*table(metrics, human))


def test_items_that_no_two_systems_share():
    rng = np.random.default_rng(3)
    human = rng.normal(size=(8, 80))
    human[np.arange(8)[:, np.newaxis] != np.arange(80) // 10] = np.nan
    metrics = {
        name: human + noise * rng.normal(size=human.shape)
        for name, noise in (("good", 0.3), ("fair", 2.0))
    }
    scores, people = table(metrics, human)
    found = validate_metrics(scores, people, plan=ValidationPlan(resamples=200))
    cells = ~np.isnan(human)
    expected = np.corrcoef(metrics["good"][cells], human[cells])[0, 1]
    assert found.agreement("good", "pooled", "pearson").value == pytest.approx(expected)
    assert [one.level for one in found.comparisons] == ["system", "pooled"]
    assert found.comparisons[1].winners == ("good",)
    assert "no soft pairwise accuracy: no two systems have 10 items in common" in found.notes
    assert "no item has rated outputs of two systems: level item is empty" in found.notes
    pooled = ValidationPlan(levels=("pooled",), resamples=200)
    assert validate_metrics(scores, people, plan=pooled).comparisons[0].winners == ("good",)


# --- Corpus scores --------------------------------------------------------------------------------

WORDS = ["the", "a", "cat", "dog", "sat", "ran", "on", "by", "mat", "rug", "red", "big"]


def texts(seed=5, systems=5, items=30):
    rng = np.random.default_rng(seed)

    def text(length):
        return " ".join(rng.choice(WORDS, size=length))

    references = [[text(rng.integers(3, 12))] for _ in range(items)]
    outputs = {}
    for place in range(systems):
        outputs[f"s{place}"] = [
            " ".join(
                word if rng.random() > 0.1 + 0.15 * place else rng.choice(WORDS)
                for word in one[0].split()
            )
            for one in references
        ]
    ids = names("i", items)
    scoring = score_systems(
        ReferenceSet(references, item_ids=ids), outputs, make_metrics(["bleu", "ter"], {"order": 2})
    )
    quality = -np.arange(systems)[:, np.newaxis] / 2 + rng.normal(size=(systems, items))
    return scoring, ScoreTable.from_arrays(["people"], [*outputs], ids, quality[np.newaxis])


@pytest.mark.parametrize("grouped", [False, True])
def test_drawn_items_make_corpus_scores_anew(grouped):
    scoring, people = texts()
    plan = ValidationPlan(levels=("system",), test="bootstrap-items", resamples=300, seed=9)
    labels = np.arange(30) // 3
    groups = dict(zip(scoring.item_ids, map(str, labels), strict=True)) if grouped else None
    found = validate_metrics(scoring, people, plan=plan, groups=groups).comparisons[0]
    own = int(stream(9, 6, 0, 0).integers(2**63))
    counts = bootstrap_counts(10 if grouped else 30, 300, own)
    differences = []
    for row in counts:
        items = np.repeat(np.arange(30), row[labels] if grouped else row)
        human = people.values[0][:, items].mean(axis=1)
        r = {}
        for metric, sign in (("bleu-2", 1), ("ter", -1)):
            rows = [one.rows[items].score().score for one in scoring.only(metric).scores]
            r[metric] = np.corrcoef(sign * np.array(rows), human)[0, 1]
        differences.append(r["bleu-2"] - r["ter"])
    differences = np.array(differences)
    p_values = [((side * differences <= 0).sum() + 1) / 301 for side in (1, -1)]
    observed = {one.metric: one.agreement for one in found.metrics}
    expected = 2 * p_values[0 if observed["bleu-2"] > observed["ter"] else 1]
    assert found.p_value("bleu-2", "ter") == pytest.approx(min(1.0, expected))
    # What is tested is what the table shows.
    shown = validate_metrics(scoring, people, plan=plan)
    for metric, value in observed.items():
        assert shown.agreement(metric, "system", "pearson").value == pytest.approx(value)


def test_ready_corpus_scores_cannot_be_made_anew():
    scoring, people = texts()
    ready = scoring.score_table()  # without the rows
    means = table({"a": people.values[0], "b": people.values[0] ** 3})
    plan = ValidationPlan(levels=("system",), test="bootstrap-items", resamples=50)
    found = validate_metrics([ready, means], people, plan=plan)
    assert {one.metric for one in found.comparisons[0].metrics} == {"a", "b"}
    assert any(note.startswith("bleu-2 has ready scores of whole systems") for note in found.notes)
    with_rows = validate_metrics([scoring, means], people, plan=plan)
    assert {one.metric for one in with_rows.comparisons[0].metrics} == {"a", "b", "bleu-2", "ter"}


def test_exchanged_scores_of_outputs_are_no_corpus_scores():
    scoring, people = texts()
    plan = ValidationPlan(levels=("system",), test="perm-items", resamples=50)
    (note,) = [
        one for one in validate_metrics(scoring, people, plan=plan).notes if "exchanges" in one
    ]
    assert note.startswith("perm-items exchanges scores of single outputs")
    assert "bleu" in note


# --- Groups ---------------------------------------------------------------------------------------


def test_groups_by_place_or_by_item():
    scores, human = far_apart(metrics=3, items=30)
    tables = table(scores, human)
    labels = [f"d{place // 3}" for place in range(30)]
    plan = ValidationPlan(resamples=100)
    by_place = validate_metrics(*tables, plan=plan, groups=labels)
    by_item = validate_metrics(
        *tables, plan=plan, groups=dict(zip(names("i", 30), labels, strict=True))
    )
    assert by_place.agreements == by_item.agreements
    assert "|groups:10|" in by_place.signature
    plain = validate_metrics(*tables, plan=plan)
    assert by_place.agreements != plain.agreements
    one = by_place.agreement("m0", "pooled", "pearson")
    assert one.population == "other groups of items"
    assert one.interval.method.endswith("by group")
    with pytest.raises(InputError, match="groups name none for item 'i0'"):
        validate_metrics(*tables, plan=plan, groups={"i1": "d"})
    with pytest.raises(InputError, match="2 for 30 items"):
        validate_metrics(*tables, plan=plan, groups=["a", "b"])
