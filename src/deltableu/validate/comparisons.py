"""A scored study in; which metrics agree better than which at a level, out."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from deltableu._types import Array, Progress, steps_of
from deltableu.corpus import ScoreTable
from deltableu.validate.levels import Level, Measure
from deltableu.validate.metric_tests import compare_metrics, compare_pairs, enough_resamples
from deltableu.validate.paired_scores import group_codes
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.scored_study import ScoredStudy
from deltableu.validate.system_bootstrap import (
    SystemScores,
    bootstrap_systems,
    corpus_scores_of,
    means_of,
)
from deltableu.validate.winners import SENTINELS, MetricComparison, MetricTest

#: Tests of whole systems, which need no scores of single outputs.
WHOLE_SYSTEMS = ("perm-systems", "bootstrap-systems", "williams")
#: Tests that make each system's score anew on items drawn again.
_DRAWN_ITEMS = ("bootstrap-items", "bootstrap-both")

#: The comparison, if there is anything to compare, and what its readers must know.
Compared = tuple[MetricComparison | None, list[str]]


def compare_level(
    study: ScoredStudy,
    level: Level,
    plan: ValidationPlan,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Compared:
    """Which metrics agree better than which, among those that agree at all."""
    test = plan.test_at(level)
    if level == "item" and not study.shared:
        return None, ["no item has rated outputs of two systems: level item is empty"]
    if level == "system" and test in _DRAWN_ITEMS:
        return _by_drawn_items(study, test, plan, threads)
    people, scores, groups = study.people, study.scores.values, study.groups
    notes = []
    if level == "system" and test in WHOLE_SYSTEMS:
        # A corpus score is not the mean of its segments' scores.
        people = study.human.totals[0][:, np.newaxis]
        scores = study.scores.totals[..., np.newaxis]
        groups = None
    elif level == "system" and (other := _corpus_metrics(study.everything)):
        notes.append(
            f"{test} exchanges scores of single outputs: at level system it compares their means, "
            f"not the corpus scores of {', '.join(other)}"
        )
    tables = {}
    for metric, values in zip(study.scores.metrics, scores, strict=True):
        used = values[~np.isnan(people)]
        if np.isnan(used).all():
            continue
        if (used == used[0]).all():
            notes += _told_constant(metric)
        else:
            tables[metric] = values
    if not _comparable(tables):
        return None, notes
    found = compare_metrics(
        tables,
        people,
        test=test,
        method=plan.correlations[0],
        level=level,
        correction=plan.correction,
        significance=plan.significance,
        groups=groups,
        resamples=plan.resamples,
        seed=plan.seed,
        threshold=plan.threshold,
        threads=threads,
        progress=steps_of(progress, f"metrics, level {level}"),
    )
    if found.unranked is not None:
        notes.append(f"level {level}: {found.unranked}")
    return found, notes


def _by_drawn_items(
    study: ScoredStudy, test: MetricTest, plan: ValidationPlan, threads: int | None
) -> Compared:
    """Level system, with each system's score made anew on the items of a draw."""
    table, people = drawn_tables(study)
    notes = []
    drawn: dict[str, SystemScores] = {}
    for metric in table.metrics:
        total = table.total(metric)
        own = drawn_scores(study, metric, table)
        if (total == total[0]).all():
            notes += _told_constant(metric)
        elif own is not None:
            drawn[metric] = own
        else:
            notes.append(
                f"{metric} has ready scores of whole systems: {test} cannot make them anew, so it "
                "is not compared at level system"
            )
    if not _comparable(drawn):
        return None, notes
    names = list(drawn)
    resamples = enough_resamples(
        test,
        sum(name not in SENTINELS for name in names),
        plan.resamples,
        correction=plan.correction,
        significance=plan.significance,
    )
    labels = None if study.labels is None else [study.labels[item] for item in table.items]
    found = bootstrap_systems(
        [*drawn.values()],
        means_of(people),
        len(table.items),
        measure=Measure(plan.correlations[0], "system", "zero", plan.threshold),
        systems=test == "bootstrap-both",
        codes=group_codes(labels, np.ones(len(table.items), bool)),
        resamples=resamples,
        seed=plan.seed,
        threads=threads,
    )
    compared = compare_pairs(
        dict(zip(names, found.observed.tolist(), strict=True)),
        lambda one, two: found.p_values(names.index(one), names.index(two)),
        sentinels=SENTINELS,
        correction=plan.correction,
        significance=plan.significance,
        test=test,
        method=plan.correlations[0],
        level="system",
        resamples=resamples,
    )
    return compared, notes


def drawn_tables(study: ScoredStudy) -> tuple[ScoreTable, Array]:
    """Everything that was scored, of the systems that count, and people beside it."""
    table = study.everything.select(systems=study.scores.systems)
    people = np.full((len(table.systems), len(table.items)), np.nan)
    places = {item: place for place, item in enumerate(table.items)}
    people[:, [places[item] for item in study.human.items]] = study.people
    return table, people


def drawn_scores(study: ScoredStudy, metric: str, table: ScoreTable) -> SystemScores | None:
    """Scores of systems on drawn items, from rows where they are there, or as means."""
    for scoring in study.scorings:
        rows = {one.system: one.rows for one in scoring.only(metric).scores}
        if rows:
            places = {item: place for place, item in enumerate(scoring.item_ids)}
            kept = [places[item] for item in table.items]
            better = next(iter(rows.values())).metric.higher_is_better
            own = [rows[system][kept] for system in table.systems]
            return corpus_scores_of(own, 1.0 if better else -1.0)
    if table.has_items(metric) and _is_mean(metric, table):
        return means_of(table.only(metric))
    return None


def _corpus_metrics(table: ScoreTable) -> list[str]:
    """Metrics of outputs whose score of a system is not the mean of its outputs' scores."""
    return [
        metric
        for metric in table.metrics
        if table.has_items(metric) and not _is_mean(metric, table)
    ]


def _is_mean(metric: str, table: ScoreTable) -> bool:
    once = np.ones((1, len(table.items)), np.int64)
    means = means_of(table.only(metric))(once)[0]
    return bool(np.allclose(means, table.total(metric), rtol=1e-9, equal_nan=True))


def _comparable(metrics: Mapping[str, object]) -> bool:
    """Whether there is a metric, and another or a sentinel to compare it with."""
    return len(metrics) > 1 and any(name not in SENTINELS for name in metrics)


def _told_constant(metric: str) -> list[str]:
    if metric == "constant":
        return []
    return [f"{metric} gives all outputs the same score: it is not compared"]
