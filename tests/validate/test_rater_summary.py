"""Ceilings as a validation prints them: a perfect metric reaches them, and few ratings are told."""

from __future__ import annotations

import importlib

import numpy as np
import pytest

from deltableu.corpus import RatingTable, ScoreTable
from deltableu.rate import human_scores
from deltableu.stats.resampling import stream
from deltableu.validate import ValidationPlan, agreement, validate_metrics
from deltableu.validate.rater_summary import rater_summary

SYSTEMS, ITEMS, RATERS = 6, 40, 10


@pytest.fixture(autouse=True)
def few_shuffles(monkeypatch):
    """A quarter of the splits changes means by less than studies differ."""
    module = importlib.import_module("deltableu.validate.rater_summary")
    monkeypatch.setattr(module, "_SHUFFLES", 25)


LEVELS = ("system", "pooled", "item")


def study(rng, *, each=3, uneven: bool = False, shift: float = 0.5):
    """Outputs rated by some raters of different strictness, and their true mean ratings."""
    shape = (SYSTEMS, ITEMS)
    quality = rng.normal(0, 0.5, (SYSTEMS, 1)) + rng.normal(0, 0.8, shape)
    sizes = rng.choice([1, 2, 3, 5], size=shape) if uneven else np.full(shape, each)
    order = np.argsort(np.argsort(rng.random((RATERS, *shape)), axis=0), axis=0)
    rater, system, item = np.nonzero(order < sizes)
    values = quality[system, item] + rng.normal(0, shift, RATERS)[rater]
    names = [tuple(f"{kind}{n}" for n in range(size)) for kind, size in
             (("r", RATERS), ("i", ITEMS), ("s", SYSTEMS))]  # fmt: skip
    ratings = RatingTable(
        *names, rater, item, system, values + rng.normal(size=len(values)),
        np.zeros(len(values), np.int64),
    )  # fmt: skip
    people = dict(zip(names[2], quality.tolist(), strict=True))
    return ratings, ScoreTable.of({"perfect": people, "noisy": people}, items=names[1])


@pytest.mark.parametrize(("uneven", "scale"), [(False, "z"), (True, "z"), (True, "raw")])
def test_a_perfect_metric_reaches_the_ceiling_at_every_level(uneven, scale):
    plan = ValidationPlan(methods=("pearson",), scale=scale)
    found: dict[str, list[float]] = {level: [] for level in LEVELS}
    for number in range(8):
        ratings, scores = study(stream(3, number), uneven=uneven)
        summary = rater_summary(ratings, scores, plan)
        people = human_scores(ratings, scale=scale).values[0]
        for level in LEVELS:
            value = float(agreement(scores.only("perfect"), people, level=level))
            found[level].append(summary.ceiling(level, "pearson").perfect - value)
    for level, differences in found.items():
        error = np.std(differences, ddof=1) / np.sqrt(len(differences))
        # Where systems within an item have different numbers of raters it is an approximation.
        slack = 0.03 if level == "item" else 0.01
        assert abs(np.mean(differences)) < 3 * error + slack, level


def test_what_is_printed():
    ratings, scores = study(stream(1), each=4)
    validation = validate_metrics(scores, ratings, plan=ValidationPlan(resamples=20))
    ceiling = validation.raters.ceiling("pooled", "pearson")
    assert ceiling.one_rater < ceiling.halves < ceiling.perfect
    assert ceiling.perfect == pytest.approx(np.sqrt(validation.raters.reliability), abs=1e-3)
    table = validation.table("pooled")
    titles = [column.name for column in table.columns]
    assert titles.index("disattenuated") == titles.index("pearson") + 2
    shown = {str(row[0].value): row for row in table.rows}
    assert shown["a perfect metric"][1].value == ceiling.perfect
    value = validation.agreement("perfect", "pooled", "pearson").value
    assert shown["perfect"][titles.index("disattenuated")].value == value / ceiling.perfect
    assert "may exceed 1" in table.notes["disattenuated"]
    assert "people with people" not in table.notes
    assert np.isnan(validation.raters.ceiling("pooled", "kendall-b").disattenuated(0.5))


def test_few_doubly_rated_outputs_are_told():
    ratings, scores = study(stream(2), each=2)
    first = np.unique(ratings.system * ITEMS + ratings.item, return_index=True)[1]
    outputs = ratings.system * ITEMS + ratings.item
    kept = np.isin(np.arange(len(ratings)), first) | (outputs < 11)
    found = rater_summary(ratings[kept], scores, ValidationPlan())
    # A rater with a single rating cannot be standardised, and one output loses its second.
    assert (found.doubly_rated, found.outputs) == (10, 240)
    assert found.notes()["people with people"].startswith("rests on the 10 of 240 outputs")


def test_ceilings_are_on_the_scale_that_metrics_are_compared_on():
    """Raters' strictness is noise in raw means and gone from standardised ones."""
    ratings, scores = study(stream(5), shift=2.0)
    z, mixed, raw = (
        rater_summary(ratings, scores, ValidationPlan(scale=scale)).reliability
        for scale in ("z", "mixed", "raw")
    )
    assert z == pytest.approx(mixed, abs=0.1)
    assert raw < z - 0.2


def test_outputs_with_too_few_raters_or_without_scores_do_not_count():
    ratings, scores = study(stream(6), uneven=True)
    every = rater_summary(ratings, scores, ValidationPlan())
    some = rater_summary(ratings, scores, ValidationPlan(min_raters=3))
    assert some.outputs == some.doubly_rated < every.doubly_rated < every.outputs
    assert some.reliability > every.reliability
    fewer = rater_summary(ratings, scores.select(systems=["s0", "s1", "s2"]), ValidationPlan())
    assert fewer.outputs == every.outputs / 2
