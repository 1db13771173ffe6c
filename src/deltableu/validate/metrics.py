"""Metric scores and human scores in; how well each metric agrees, and which agree best, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from typing import Any, Literal

import numpy as np

from deltableu._types import Progress, steps_of
from deltableu.corpus import (
    RatingTable,
    ReferenceSet,
    ScoreTable,
    align_scores,
    says_simulated,
)
from deltableu.errors import InputError, check_kind
from deltableu.rate import direct_assessment, human_scores, of_one_criterion, table_source
from deltableu.score import Metric, Scoring
from deltableu.stats import (
    Method,
    correlate,
    correlation_interval,
    correlation_test,
    in_threads,
    partial_correlation,
)
from deltableu.validate.accuracy import pairwise_accuracy, soft_pairwise_accuracies
from deltableu.validate.accuracy_methods import measure_accuracy
from deltableu.validate.accuracy_results import Accuracy
from deltableu.validate.agreement_bootstrap import agreement_of_draws, drawn_agreements
from deltableu.validate.comparisons import WHOLE_SYSTEMS, compare_level
from deltableu.validate.levels import Level, Measure, level_agreement
from deltableu.validate.paired_scores import Groups
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.rater_summary import rater_summary
from deltableu.validate.resampled_scores import ResampledScores
from deltableu.validate.results import Agreement, Validation
from deltableu.validate.scored_study import ScoredStudy, group_labels
from deltableu.validate.sources import human_source, validation_sources
from deltableu.validate.tie_calibration import calibrated_accuracy
from deltableu.validate.winners import SENTINELS


def validate_metrics(
    scores: Any,
    human: Any = None,
    *,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    references: ReferenceSet | Sequence[Sequence[str]] | None = None,
    weights: Sequence[Sequence[float]] | None = None,
    messages: Sequence[str] | None = None,
    columns: Mapping[str, str | Sequence[str]] | str | None = None,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    plan: ValidationPlan | None = None,
    systems: Sequence[str] | None = None,
    groups: Groups | Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Validation:
    """Measure how well metrics agree with people, and test which agree better than others.

    Parameters
    ----------
    scores
        What `score_systems` or `read_scores` give, with any sentinels; of several, the metrics of
        all on the systems and items that all have. Or a study, its folder or a data frame, whose
        texts are scored first; or a data frame or file of scores.
    human
        Raw ratings, or a table of ready scores with one metric: people. Also as a data frame or
        file of ratings (rater, item, system, value), or as each system's scores, in the order of
        the items. May be left out where `scores` is a study with ratings.
    metrics : str, metric, or list of them, optional
        For texts, see `score_systems`; by default delta-bleu, delta-chrf++, bleu and sentence-bleu
        of order 2, and chrf++, the first two where references have weights.
    references, weights, messages, columns, select, no_positive
        For texts, see `score_systems`; `columns` also names those of a data frame of scores.
    plan : ValidationPlan, optional
    systems : sequence of str, optional
        Only these.
    groups : sequence or mapping, optional
        What each item of the scores belongs to (a document, a dialogue, a user), or that of each
        item's id: whole groups are resampled and exchanged. See `item_groups`.
    notes : sequence of str
        What else the result is to say, such as `ungrouped_note`.
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
    check_kind("plan", chosen, ValidationPlan)
    sources, ratings = validation_sources(
        scores,
        metrics=metrics,
        references=references,
        weights=weights,
        messages=messages,
        columns=columns,
        select=select,
        no_positive=no_positive,
        systems=systems,
        threads=threads,
        progress=progress,
    )
    human = human_source(human, ratings, sources[0])
    for one in sources:
        check_kind("scores", one, Scoring, ScoreTable)
    tables = [one.score_table() if isinstance(one, Scoring) else one for one in sources]
    as_given = reduce(ScoreTable.joined, tables)
    given = as_given.turned()
    given = given.select(
        metrics=sorted(given.metrics, key=lambda name: name in SENTINELS), systems=systems
    )
    labels = group_labels(groups, given.items)
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
    source = human.signatures[0] if judgements is not None else table_source(human)
    everything = given
    least = 1 if chosen.levels == ("pooled",) else 2
    given, people, left_out = align_scores(given, human.turned(), least=least)
    chosen, unmeasured = _measurable(chosen, everything, human)
    told = [*notes, *left_out, *unmeasured]
    scorings = tuple(one for one in sources if isinstance(one, Scoring))
    study = ScoredStudy(given, people, everything, scorings, labels)
    work = _Work(study, chosen, threads, progress)
    agreements = tuple(one for level in chosen.levels for one in work.agreements(level))
    accuracies = work.accuracies()
    told += dict.fromkeys(one.reason for one in accuracies if one.reason)
    if says_simulated(source):
        people = replace(people, metrics=("simulated raters",))
    simulated = says_simulated(source) or any(map(says_simulated, given.signatures))
    comparisons = []
    # What is told of metrics by simulated raters ranks none of them.
    for level in () if simulated else chosen.levels:
        comparison, lines = compare_level(study, level, chosen, threads, progress)
        told += [line for line in lines if line not in told]
        if comparison is not None:
            comparisons.append(comparison)
    measured = [measure_accuracy(study, one, chosen, threads) for one in chosen.accuracies]
    accuracy_comparisons = [found.comparison for found in measured if not simulated]
    told += [line for found in measured for line in found.notes if line not in told]
    return Validation(
        human=people,
        source=source,
        assessment=assessment,
        metrics=given.metrics,
        agreements=agreements,
        accuracies=accuracies,
        comparisons=tuple(comparisons),
        raters=None if judgements is None else rater_summary(judgements, given, chosen),
        sentinels=tuple(name for name in given.metrics if name in SENTINELS),
        notes=tuple(told),
        signature=(
            f"human:{source}|systems:{len(people.systems)}|items:{len(people.items)}"
            f"{'' if labels is None else f'|groups:{len(set(labels.values()))}'}"
            f"|{chosen.signature()}"
        ),
        signatures=dict(zip(given.metrics, given.signatures, strict=True)),
        scores=as_given.select(metrics=given.metrics, systems=given.systems, items=given.items),
        measured=tuple(one for found in measured for one in found.accuracies),
        accuracy_comparisons=tuple(
            comparison for comparison in accuracy_comparisons if comparison is not None
        ),
        simulated=simulated,
    )


def _measurable(
    plan: ValidationPlan, scores: ScoreTable, people: ScoreTable
) -> tuple[ValidationPlan, list[str]]:
    """The levels that can be measured: totals of systems say nothing about items."""
    rated = people.has_items(people.metrics[0])
    if rated and any(scores.has_items(metric) for metric in scores.metrics):
        return plan, []
    whose = "metric" if rated else "human"
    rest = [level for level in plan.levels if level != "system"]
    if len(rest) == len(plan.levels):
        raise InputError(
            f"the {whose} scores are totals of systems: level {' and '.join(rest)} needs scores of "
            "items, so choose level system"
        )
    if plan.test_at("system") not in WHOLE_SYSTEMS:
        raise InputError(
            f"the {whose} scores are totals of systems, but {plan.test} needs scores of items: "
            f"choose {', '.join(WHOLE_SYSTEMS)}"
        )
    if not rest:
        return plan, []
    note = f"the {whose} scores are totals of systems: no level {' and '.join(rest)}"
    return replace(plan, levels=("system",)), [note]


@dataclass(frozen=True, slots=True, eq=False)
class _Work:
    """What is measured of each metric."""

    study: ScoredStudy
    plan: ValidationPlan
    threads: int | None
    progress: Progress | None

    def agreements(self, level: Level) -> list[Agreement]:
        """Agreement of all metrics that have scores at a level, by every method."""
        scores, methods = self.study.scores, self.plan.correlations
        if level == "system":
            return [
                self._of_systems(metric, method) for metric in scores.metrics for method in methods
            ]
        metrics = [metric for metric in scores.metrics if scores.has_items(metric)]
        found = [self._of_outputs(metrics, level, method) for method in methods]
        return [one for of_a_metric in zip(*found, strict=True) for one in of_a_metric]

    def _of_systems(self, metric: str, method: Method) -> Agreement:
        """Agreement on whole systems, with the metric's own corpus score."""
        x, y = self.study.scores.total(metric), self.study.human.totals[0]
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

    def _of_outputs(self, metrics: Sequence[str], level: Level, method: Method) -> list[Agreement]:
        """Agreement on outputs; what is drawn for the intervals is drawn once for all metrics."""
        people, plan, groups = self.study.people, self.plan, self.study.groups
        how = Measure(method, level, "zero", plan.threshold)
        options: dict[str, Any] = {"method": method, "level": level, "threshold": plan.threshold}
        found = {
            metric: level_agreement(self.study.scores.only(metric), people, **options)
            for metric in metrics
        }
        tables = {
            metric: ResampledScores.of(self.study.scores.only(metric), people, how, groups)
            for metric, one in found.items()
            if not np.isnan(one.value) and people.shape[1] > 2
        }
        drawn = {}
        if tables:
            # People's scores are there where those of all metrics are.
            columns = drawn_agreements(
                [*tables.values()],
                resamples=plan.resamples,
                seed=plan.seed,
                threads=self.threads,
                progress=steps_of(self.progress, f"intervals, level {level}, {method}"),
            ).T
            drawn = {
                metric: agreement_of_draws(one, column, confidence=plan.confidence)
                for (metric, one), column in zip(tables.items(), columns, strict=True)
            }
        return [
            Agreement(
                metric,
                level,
                method,
                found[metric].value,
                drawn[metric].interval if metric in drawn else None,
                # Outputs of one item are not independent, so their number is no sample size.
                drawn[metric].p_value if metric in drawn else float("nan"),
                found[metric].units,
                found[metric].dropped,
                "other items" if self.study.labels is None else "other groups of items",
                self._without_length(metric, level, method),
            )
            for metric in metrics
        ]

    def _without_length(self, metric: str, level: Level, method: Method) -> float | None:
        lengths = self.study.scores.lengths
        if level != "pooled" or lengths is None or method == "kendall-like" or metric == "length":
            return None
        own, people = self.study.scores.only(metric), self.study.people
        cells = ~np.isnan(people) & ~np.isnan(own)
        value = float(partial_correlation(own[cells], people[cells], lengths[cells], method))
        return None if np.isnan(value) else value

    def accuracies(self) -> tuple[Accuracy, ...]:
        """Accuracies of each metric on pairs of systems, and on pairs of outputs."""
        found: dict[str, list[Accuracy]] = {metric: [] for metric in self.study.scores.metrics}
        with_items = [metric for metric in found if self.study.scores.has_items(metric)]
        if "system" in self.plan.levels:
            soft = dict(zip(with_items, self._soft(with_items), strict=True))
            for metric, own in found.items():
                own.append(self._pairwise(metric))
                own += [soft[metric]] if metric in soft else []
        if "item" in self.plan.levels and self.study.shared:
            tied = in_threads(
                lambda place: self._tied(with_items[place]),
                len(with_items),
                self.threads,
                steps_of(self.progress, "accuracies of pairs"),
            )
            for metric, one in zip(with_items, tied, strict=True):
                found[metric].append(one)
        return tuple(one for own in found.values() for one in own)

    def _pairwise(self, metric: str) -> Accuracy:
        pairs = pairwise_accuracy(self.study.scores.total(metric), self.study.human.totals[0])
        return Accuracy(metric, "pairwise", pairs.accuracy, pairs.chance, pairs.pairs)

    def _soft(self, metrics: Sequence[str]) -> list[Accuracy]:
        if not metrics:
            return []
        found = soft_pairwise_accuracies(
            [self.study.scores.only(metric) for metric in metrics],
            self.study.people,
            permutations=self.plan.resamples,
            groups=self.study.groups,
            seed=self.plan.seed,
            threads=self.threads,
        )
        return [
            Accuracy(
                metric,
                "spa",
                one.accuracy,
                one.chance,
                one.pairs,
                reason=one.reason and f"no soft pairwise accuracy: {one.reason}",
            )
            for metric, one in zip(metrics, found, strict=True)
        ]

    def _tied(self, metric: str) -> Accuracy:
        found = calibrated_accuracy(
            self.study.scores.only(metric), self.study.people, seed=self.plan.seed
        )
        return Accuracy(metric, "acc-eq", found.accuracy, found.chance, found.pairs, found.epsilon)
