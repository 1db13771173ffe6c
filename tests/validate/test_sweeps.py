"""Sweeps: what is printed of a place equals what scoring it by hand gives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from bench.plain_units import plain_correlations, plain_observations
from deltableu.corpus import Item, Rating, RatingTable, Reference, ScoreTable, Study, reference_set
from deltableu.errors import InputError
from deltableu.score import BLEU, TER, ChrF, DeltaBLEU, Distinct1, Metric, SentenceBLEU
from deltableu.validate import (
    SweepPlan,
    UnitIntervalPlan,
    UnitPlan,
    sweep_metrics,
    swept_metrics,
)
from deltableu.validate.units import assign

WORDS = ["yes", "no", "i"]
SYSTEMS = ("A", "B", "C")


def a_study(items: int = 12, seed: int = 0, originals: Sequence[float] = ()) -> Study:
    """Texts of few words, each with four references: original, mined, written, random."""
    rng = np.random.default_rng(seed)

    def text() -> str:
        return " ".join(rng.choice(WORDS, size=rng.integers(2, 8)))

    made = []
    for number in range(items):
        original = originals[number] if number < len(originals) else 0.8
        weights = (original, 0.6, 0.3, -0.5)
        origins = ("original", "mined", "written", "random")
        own = tuple(
            Reference(f"r{place}", text(), weight, origin)  # type: ignore[arg-type]
            for place, (weight, origin) in enumerate(zip(weights, origins, strict=True))
        )
        made.append(Item(str(number), own))
    return Study(tuple(made), {name: tuple(text() for _ in made) for name in SYSTEMS})


def people_of(study: Study, seed: int = 1) -> ScoreTable:
    values = np.random.default_rng(seed).integers(1, 6, size=(len(SYSTEMS), len(study.items)))
    return ScoreTable.of(
        {"people": dict(zip(SYSTEMS, values.tolist(), strict=True))},
        [item.id for item in study.items],
    )


UNITS = UnitPlan(size=3, assignments=4, orientation="fixed")
PLAN = SweepPlan(
    units=UNITS, intervals=UnitIntervalPlan(method="none"), unit_sizes=(1, 3), reference_draws=3
)


def by_hand(
    study: Study, people: ScoreTable, metric: Metric, select: str, plan: UnitPlan
) -> tuple[float, float]:
    """Spearman's and Kendall's correlation: every unit of every pair is scored by itself."""
    references = reference_set(study).select(select)
    rows = [metric.compute(texts, references).rows for texts in study.outputs.values()]
    sign = 1.0 if metric.higher_is_better else -1.0

    def score(sums: list[float]) -> float:
        return sign * float(metric.aggregate(np.array(sums)))

    items, found = np.arange(len(study.items)), []
    human = people.only("people")
    count = plan.units(len(items))
    for trial in range(plan.trials):
        observed: tuple[list[float], list[float]] = ([], [])
        for number, (a, b) in enumerate(combinations(range(len(SYSTEMS)), 2)):
            units = assign(plan, items, len(items), 0, number, plan.trials)[trial].tolist()
            ones = [1.0] * count
            observed[0].extend(
                plain_observations(rows[a].tolist(), rows[b].tolist(), score, units, ones)
            )
            first, second = ([[value, 1.0] for value in human[one]] for one in (a, b))
            observed[1].extend(
                plain_observations(first, second, lambda sums: sums[0] / sums[1], units, ones)
            )
        found.append(plain_correlations(*observed))
    rho, tau = np.mean(found, axis=0)
    return float(rho), float(tau)


METRICS = (BLEU(order=2), SentenceBLEU(order=2, method="nakov"), DeltaBLEU(order=2), ChrF(), TER())


@pytest.mark.parametrize("metric", METRICS, ids=lambda one: one.name)
@pytest.mark.parametrize("select", ["single", "w>=0.6", "all"])
def test_settings_are_those_of_scoring_by_hand(metric, select):
    study = a_study()
    people = people_of(study)
    found = sweep_metrics(study, people, metrics=metric, plan=PLAN).sweep("settings")
    expected = by_hand(study, people, metric, select, UNITS)
    for method, value in zip(("spearman", "kendall-b"), expected, strict=True):
        assert found.agreement(metric.name, select, method).value == pytest.approx(value, abs=1e-12)


def test_thresholds_sizes_and_orders_are_those_of_scoring_by_hand():
    study = a_study(seed=3)
    people = people_of(study)
    found = sweep_metrics(study, people, sweeps=("threshold", "unit-size", "order"), plan=PLAN)
    for metric in swept_metrics(reference_set(study)):
        for threshold in ("w>=1", "w>=0.2", "w>=-1"):
            value = by_hand(study, people, metric, threshold, UNITS)[0]
            one = found.sweep("threshold").agreement(metric.name, threshold)
            assert one.value == pytest.approx(value, abs=1e-12)
        for size in (1, 3):
            value = by_hand(study, people, metric, "all", replace(UNITS, size=size))[0]
            one = found.sweep("unit-size").agreement(metric.name, str(size))
            assert one.value == pytest.approx(value, abs=1e-12)
            assert one.units == 3 * (12 // size)
        for order in (1, 2, 3):
            value = by_hand(study, people, replace(metric, order=order), "all", UNITS)[0]
            one = found.sweep("order").agreement(metric.family, str(order))
            assert one.value == pytest.approx(value, abs=1e-12)
    assert found.sweep("threshold").settings == (
        *("w>=1", "w>=0.6", "w>=0.2"),
        *("w>=-0.2", "w>=-0.6", "w>=-1"),
    )


def test_origins():
    study = a_study(seed=4)
    people = people_of(study)
    found = sweep_metrics(study, people, sweeps="origin", plan=PLAN).sweep("origin")
    assert found.settings == (
        *("all", "without mined", "without written"),
        *("without random", "original"),
    )
    without = Study(
        tuple(
            replace(item, references=tuple(r for r in item.references if r.origin != "random"))
            for item in study.items
        ),
        study.outputs,
    )
    for metric in swept_metrics(reference_set(study)):
        value = by_hand(without, people, metric, "all", UNITS)[0]
        one = found.agreement(metric.name, "without random")
        assert one.value == pytest.approx(value, abs=1e-12)


def test_numbers_of_references_and_their_spread():
    study = a_study(seed=5)
    plan = replace(PLAN, reference_counts=(1, 2, 8))
    made = sweep_metrics(study, people_of(study), sweeps="references", plan=plan)
    found = made.sweep("references")
    assert found.settings == ("1", "2", "all (up to 4)")
    assert all(one.spread is None for one in found.agreements if one.setting.startswith("all"))
    spreads = [one.spread for one in found.agreements if not one.setting.startswith("all")]
    assert min(spreads) > 0.0
    assert "sd" in found.table().to_markdown()
    everything = sweep_metrics(study, people_of(study), plan=PLAN).sweep("settings")
    for metric in found.metrics:
        assert found.agreement(metric, "all (up to 4)").value == pytest.approx(
            everything.agreement(metric, "all", "spearman").value
        )


def test_items_without_a_positive_reference_count_nowhere():
    study = a_study(originals=(0.8, -0.2, 0.0, 0.5))
    people = people_of(study)
    found = sweep_metrics(study, people, sweeps=("settings", "unit-size"), plan=PLAN)
    assert found.dropped == ("1", "2")
    assert found.items == 10
    assert found.sweep("settings").without_positive == {"single": 2}
    assert any("left out 2 of 12 rated items" in note for note in found.notes)
    kept = [number for number in range(12) if number not in (1, 2)]
    less = Study(
        tuple(study.items[number] for number in kept),
        {name: tuple(texts[number] for number in kept) for name, texts in study.outputs.items()},
    )
    rest = people.select(items=[item.id for item in less.items])
    for metric in swept_metrics(reference_set(study)):
        for setting in ("single", "all"):
            value = by_hand(less, rest, metric, setting, UNITS)[0]
            one = found.sweep("settings").agreement(metric.name, setting, "spearman")
            assert one.value == pytest.approx(value, abs=1e-12)
    # Metrics that do not look at weights need no positive one.
    plain = sweep_metrics(study, people, metrics="bleu-2", plan=PLAN)
    assert plain.dropped == ()


def test_ratings_of_a_pair_count_for_that_pair():
    study = a_study(items=9)
    rng = np.random.default_rng(0)
    ratings = RatingTable.from_records(
        Rating("ann", item.id, f"system:{name}", float(rng.integers(1, 6)), pair=f"{a}-{b}")
        for item in study.items
        for a, b in (("A", "B"), ("A", "C"))
        for name in (a, b)
    )
    plan = replace(PLAN, scale="raw")
    found = sweep_metrics(study, ratings, metrics="bleu-2", plan=plan)
    assert found.pairs == (("A", "B"), ("A", "C"))
    assert "by-pair" in found.signature
    one = sweep_metrics(study, ratings, metrics="bleu-2", plan=plan, pairs=[("C", "A")])
    assert one.pairs == (("C", "A"),)


def test_intervals_as_asked_for():
    study = a_study()
    options = {"metrics": "bleu-2", "pairs": [("A", "B"), ("B", "C")]}
    replication = replace(PLAN, intervals=UnitIntervalPlan(method="fisher-replication"))
    found = sweep_metrics(study, people_of(study), plan=replication, **options)
    one = found.sweep("settings").agreements[0]
    assert one.units == 8
    assert one.interval.method == "Fisher, N = 16, a replication"
    drawn = replace(PLAN, intervals=UnitIntervalPlan(draws=10, assignments=2))
    found = sweep_metrics(study, people_of(study), plan=drawn, **options)
    assert found.sweep("settings").agreements[0].interval.method == "bootstrap over items"
    grouped = sweep_metrics(
        study, people_of(study), plan=drawn, groups=[str(n // 3) for n in range(12)], **options
    )
    interval = grouped.sweep("settings").agreements[0].interval
    assert interval.method == "bootstrap over groups of items"
    assert "|groups:4|" in grouped.signature


def test_small_studies_have_small_units():
    study = a_study(items=25)
    plan = replace(PLAN, units=replace(UNITS, size=100), unit_sizes=(1, 10, 50))
    found = sweep_metrics(
        study, people_of(study), metrics="bleu-2", sweeps=("settings", "unit-size"), plan=plan
    )
    assert {one.unit_size for one in found.sweep("settings").agreements} == {10}
    assert found.sweep("unit-size").settings == ("1", "10")
    assert any("units of 10 sentences in place of 100" in note for note in found.notes)


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"sweeps": "refs"}, "sweep takes settings, threshold"),
        ({"sweeps": ()}, "sweep takes settings"),
        ({"metrics": Distinct1()}, "distinct-1 of a unit is no sum"),
        ({"metrics": ChrF(), "sweeps": "order"}, "needs a metric of the BLEU family"),
        ({"pairs": [("A", "Z")]}, "there is no rated system 'Z'"),
        ({"plan": replace(PLAN, unit_sizes=(50,)), "sweeps": "unit-size"}, "no two units of 50"),
    ],
)
def test_what_cannot_be_swept(options, sentence):
    study = a_study()
    with pytest.raises(InputError, match=sentence):
        sweep_metrics(study, people_of(study), **{"plan": PLAN, **options})


def test_studies_without_weights_or_origins():
    study = a_study()
    plain = Study(
        tuple(
            replace(item, references=tuple(replace(r, weight=None) for r in item.references[:2]))
            for item in study.items
        ),
        study.outputs,
    )
    found = sweep_metrics(plain, people_of(study), plan=PLAN)
    assert found.sweep("settings").settings == ("single", "all")
    assert found.sweep("settings").metrics == ("bleu-2", "sentence-bleu-2")
    with pytest.raises(InputError, match="a threshold needs weights"):
        sweep_metrics(plain, people_of(study), sweeps="threshold", plan=PLAN)
    with pytest.raises(InputError, match="delta-bleu-2 needs a weight"):
        sweep_metrics(plain, people_of(study), metrics="delta-bleu", plan=PLAN)
    with pytest.raises(InputError, match="human is missing"):
        sweep_metrics(plain, plan=PLAN)


def test_plans_are_checked():
    for options, sentence in (
        ({"thresholds": (2.0,)}, "thresholds must lie in"),
        ({"orders": ()}, "orders is empty"),
        ({"unit_sizes": (1, 1)}, "unit_sizes names one twice"),
        ({"reference_counts": (0,)}, "reference_counts"),
        ({"methods": ("kendall-like",)}, "kendall-like counts pairs"),
    ):
        with pytest.raises(InputError, match=sentence):
            SweepPlan(**options)
