"""Metric scores and human scores in; how well each metric agrees, and which agree best, out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Progress, steps_of
from deltableu.corpus import RatingTable, ScoreTable, align_scores
from deltableu.errors import InputError
from deltableu.rate import direct_assessment, human_scores, of_one_criterion
from deltableu.score import Scoring
from deltableu.stats import (
    Method,
    correlate,
    correlation_interval,
    correlation_test,
    partial_correlation,
)
from deltableu.validate.accuracy import pairwise_accuracy, soft_pairwise_accuracy
from deltableu.validate.agreement_bootstrap import bootstrap_agreement
from deltableu.validate.levels import Level, level_agreement
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.rater_summary import rater_summary
from deltableu.validate.results import Accuracy, Agreement, Validation
from deltableu.validate.tie_calibration import calibrated_accuracy
from deltableu.validate.winners import MetricComparison, compare_metrics

#: Metrics that know nothing of quality: what a metric must beat.
_SENTINELS = ("length", "message-overlap", "random", "constant")
#: Tests of whole systems, which need no scores of single outputs.
_WHOLE_SYSTEMS = ("perm-systems", "bootstrap-systems", "williams")


def validate_metrics(
    scores: Scoring | ScoreTable,
    human: ScoreTable | RatingTable,
    *,
    plan: ValidationPlan | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Validation:
    """Measure how well metrics agree with people, and test which agree better than others.

    Parameters
    ----------
    scores
        What `score_systems` or `read_scores` give, with any sentinels.
    human
        Raw ratings, or a table of ready scores with one metric: people.
    plan : ValidationPlan, optional
    threads : int, optional
    progress : callable, optional
        Called with (what is done, done, in all).

    Returns
    -------
    Validation

    References
    ----------
    Wei, "On conducting better validation studies of automatic metrics in natural language
    generation evaluation"; Deutsch et al. 2021; Freitag et al. 2023, "Results of WMT23 Metrics
    Shared Task".

    Examples
    --------
    >>> people = {"A": [5, 4, 5, 3], "B": [3, 3, 4, 2], "C": [1, 2, 3, 1], "D": [2, 4, 2, 2]}
    >>> metric = {"A": [0.9, 0.7, 0.8, 0.6], "B": [0.6, 0.5, 0.7, 0.3], "C": [0.2, 0.3, 0.4, 0.3],
    ...           "D": [0.5, 0.6, 0.3, 0.2]}
    >>> found = validate_metrics(ScoreTable.of({"m": metric}), ScoreTable.of({"likert": people}))
    >>> round(found.agreement("m", "pooled", "pearson").value, 3)
    0.923
    """
    chosen = plan or ValidationPlan()
    given = (scores.score_table() if isinstance(scores, Scoring) else scores).turned()
    given = given.select(metrics=sorted(given.metrics, key=lambda name: name in _SENTINELS))
    judgements, assessment = None, None
    if isinstance(human, RatingTable):
        judgements = of_one_criterion(human)
        assessment = direct_assessment(
            judgements,
            min_raters=chosen.min_raters,
            rank_by="z" if chosen.scale == "z" else "raw",
        )
        human = human_scores(
            judgements, scale=chosen.scale, min_raters=chosen.min_raters, assessment=assessment
        )
    if len(human.metrics) != 1:
        there = ", ".join(human.metrics)
        raise InputError(f"there are several human scores ({there}): choose a criterion")
    source = human.signatures[0] if judgements is not None else f"table-{human.metrics[0]}"
    given, people, left_out = align_scores(given, human.turned())
    notes = list(left_out)
    work = _Work(given, people, chosen, threads, progress)
    agreements = tuple(
        work.agreement(metric, level, method)
        for level in chosen.levels
        for metric in given.metrics
        if level == "system" or given.has_items(metric)
        for method in chosen.methods
    )
    comparisons = []
    for level in chosen.levels:
        comparison, lines = work.comparison(level)
        notes += [line for line in lines if line not in notes]
        if comparison is not None:
            comparisons.append(comparison)
    return Validation(
        human=people,
        source=source,
        assessment=assessment,
        metrics=given.metrics,
        agreements=agreements,
        accuracies=work.accuracies(),
        comparisons=tuple(comparisons),
        raters=None if judgements is None else rater_summary(judgements, given, chosen),
        sentinels=tuple(name for name in given.metrics if name in _SENTINELS),
        notes=tuple(notes),
        signature=(
            f"human:{source}|systems:{len(people.systems)}|items:{len(people.items)}"
            f"|{chosen.signature()}"
        ),
        signatures=dict(zip(given.metrics, given.signatures, strict=True)),
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """Scores and people side by side."""

    scores: ScoreTable
    human: ScoreTable
    plan: ValidationPlan
    threads: int | None
    progress: Progress | None

    @property
    def people(self) -> Array:
        """Human scores, systems x items."""
        scores: Array = self.human.values[0]
        return scores

    def agreement(self, metric: str, level: Level, method: Method) -> Agreement:
        if level == "system":
            return self._of_systems(metric, method)
        return self._of_outputs(metric, level, method)

    def _of_systems(self, metric: str, method: Method) -> Agreement:
        """Of whole systems, with the metric's own corpus score."""
        x, y = self.scores.total(metric), self.human.totals[0]
        value = float(correlate(x, y, method, threshold=self.plan.threshold))
        interval, p_value = None, float("nan")
        # Nobody knows the spread of kendall-like, nor of a perfect correlation.
        if method != "kendall-like" and not np.isnan(value):
            p_value = correlation_test(x, y, method).p_value
            if len(x) > 4 and abs(value) < 1.0:
                interval = correlation_interval(value, len(x), method, self.plan.confidence)
        return Agreement(
            metric, "system", method, value, interval, p_value, len(x), 0, "other systems"
        )

    def _of_outputs(self, metric: str, level: Level, method: Method) -> Agreement:
        x, y = self.scores.only(metric), self.people
        options: dict[str, Any] = {
            "method": method,
            "level": level,
            "threshold": self.plan.threshold,
        }
        found = level_agreement(x, y, **options)
        interval, p_value = None, float("nan")
        if not np.isnan(found.value) and x.shape[1] > 2:
            drawn = bootstrap_agreement(
                x,
                y,
                confidence=self.plan.confidence,
                n_resamples=self.plan.resamples,
                seed=self.plan.seed,
                threads=self.threads,
                **options,
            )
            interval = drawn.interval
            # Outputs of one item are not independent, so the number of outputs is no sample size.
            p_value = _normal_p_value(found.value, drawn.standard_error)
        return Agreement(
            metric,
            level,
            method,
            found.value,
            interval,
            p_value,
            found.units,
            found.dropped,
            "other items",
            self._without_length(metric, level, method),
        )

    def _without_length(self, metric: str, level: Level, method: Method) -> float | None:
        lengths = self.scores.lengths
        if level != "pooled" or lengths is None or method == "kendall-like" or metric == "length":
            return None
        own = self.scores.only(metric)
        cells = ~np.isnan(self.people) & ~np.isnan(own)
        value = float(partial_correlation(own[cells], self.people[cells], lengths[cells], method))
        return None if np.isnan(value) else value

    def accuracies(self) -> tuple[Accuracy, ...]:
        found = []
        for metric in self.scores.metrics:
            pairs = pairwise_accuracy(self.scores.total(metric), self.human.totals[0])
            found.append(Accuracy(metric, "pairwise", pairs.accuracy, pairs.chance, pairs.pairs))
            if not self.scores.has_items(metric):
                continue
            x, y = self.scores.only(metric), self.people
            soft = soft_pairwise_accuracy(
                x, y, permutations=self.plan.resamples, seed=self.plan.seed, threads=self.threads
            )
            pairs_in_all = len(x) * (len(x) - 1) // 2
            found.append(Accuracy(metric, "spa", soft.accuracy, soft.chance, pairs_in_all))
            tied = calibrated_accuracy(x, y, seed=self.plan.seed)
            found.append(
                Accuracy(metric, "acc-eq", tied.accuracy, tied.chance, tied.pairs, tied.epsilon)
            )
        return tuple(found)

    def comparison(self, level: Level) -> tuple[MetricComparison | None, list[str]]:
        """Which metrics agree better than which, among those that agree at all."""
        method, test = self.plan.methods[0], self.plan.test_at(level)
        people, scores = self.people, self.scores.values
        if level == "system" and test in _WHOLE_SYSTEMS:
            # A corpus score is not the mean of its segments' scores.
            people = self.human.totals[0][:, np.newaxis]
            scores = self.scores.totals[..., np.newaxis]
        tables = {}
        notes = []
        for metric, values in zip(self.scores.metrics, scores, strict=True):
            used = values[~np.isnan(people)]
            if np.isnan(used).all():
                continue
            if (used == used[0]).all():
                if metric != "constant":
                    notes.append(f"{metric} gives all outputs the same score: it is not compared")
                continue
            tables[metric] = values
        if len(tables) < 2:
            return None, notes
        found = compare_metrics(
            tables,
            people,
            test=test,
            method=method,
            level=level,
            correction=self.plan.correction,
            significance=self.plan.significance,
            resamples=self.plan.resamples,
            seed=self.plan.seed,
            threshold=self.plan.threshold,
            threads=self.threads,
            progress=steps_of(self.progress, f"metrics, level {level}"),
        )
        return found, notes


def _normal_p_value(value: float, standard_error: float) -> float:
    from scipy.special import ndtr

    if standard_error <= 0.0:
        return 0.0 if value else 1.0
    return float(2.0 * ndtr(-abs(value) / standard_error))
