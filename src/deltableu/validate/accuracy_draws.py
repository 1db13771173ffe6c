"""A scored study in; accuracies of each metric, as they are and on items drawn again, out."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array, Ints
from deltableu.stats import ConfidenceInterval, bootstrap_counts, in_chunks
from deltableu.validate.accuracy import pairwise_accuracy, soft_pairwise_accuracy
from deltableu.validate.comparisons import drawn_scores, drawn_tables
from deltableu.validate.label_accuracy import LabelMeasure, good_labels, label_accuracy
from deltableu.validate.levels import Measure
from deltableu.validate.paired_scores import group_codes
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.scored_study import ScoredStudy
from deltableu.validate.system_bootstrap import bootstrap_systems, means_of
from deltableu.validate.tie_pairs import Grouping, TiePairs, make_folds

#: Draws and permutations of soft pairwise accuracy, each draw of which is many tests.
_SOFT = 200
#: What rounding leaves of the spread of an accuracy that never changes.
_NOTHING = 1e-12
#: Draws that are made at once.
_CHUNK = 50


@dataclass(frozen=True, slots=True, eq=False)
class DrawnAccuracy:
    """One metric's accuracy.

    Attributes
    ----------
    value, chance : float
        Where there is none, NaN.
    pairs : int
        Pairs of systems or outputs, or, of labels, outputs.
    units : int
        Items, or groups of them.
    distribution : array
        On items drawn again; NaN where there is none.
    epsilon : float or None
        The tie that was calibrated; of several folds the median.
    parts : array
        Accuracies of the items or systems that it is the mean of, where it is one.
    """

    value: float
    chance: float
    pairs: int
    units: int
    distribution: Array
    epsilon: float | None = None
    parts: Array | None = None
    reason: str | None = None

    def interval(self, confidence: float) -> ConfidenceInterval | None:
        """Student's, from the spread of the draws, within 0 and 1."""
        from scipy.special import stdtrit

        drawn = self.distribution[~np.isnan(self.distribution)]
        if len(drawn) < 2 or np.isnan(self.value) or self.units < 2:
            return None
        error = float(drawn.std(ddof=1)) * math.sqrt(self.units / (self.units - 1))
        if error < _NOTHING:  # a constant metric's, which says nothing
            return None
        reach = float(stdtrit(self.units - 1, (1.0 + confidence) / 2.0)) * error
        low, high = max(0.0, self.value - reach), min(1.0, self.value + reach)
        return ConfidenceInterval(low, high, confidence, "bootstrap over items")


@dataclass(frozen=True, slots=True, eq=False)
class AccuracyDraws:
    """All accuracies of a study's metrics share their draws of items."""

    study: ScoredStudy
    plan: ValidationPlan
    threads: int | None = None

    @property
    def codes(self) -> Ints | None:
        """The number of each item's group."""
        items = len(self.study.scores.items)
        return group_codes(self.study.groups, np.ones(items, bool))

    @property
    def units(self) -> int:
        """What is drawn: items, or groups of them."""
        codes = self.codes
        return len(self.study.scores.items) if codes is None else int(codes.max()) + 1

    def counts(self, draws: int) -> Ints:
        """How often each item is there, draws x items."""
        codes = self.codes
        counts = bootstrap_counts(self.units, draws, self.plan.seed)
        return counts if codes is None else counts[:, codes]

    def pairwise(self, metric: str) -> DrawnAccuracy:
        """Pairs of systems by their scores, which are made anew on each draw."""
        found = pairwise_accuracy(self.study.scores.total(metric), self.study.human.totals[0])
        table, people = drawn_tables(self.study)
        own = drawn_scores(self.study, metric, table)
        distribution = np.empty(0)
        if own is not None:
            labels = self.study.labels
            groups = None if labels is None else [labels[item] for item in table.items]
            drawn = bootstrap_systems(
                [own],
                means_of(people),
                len(table.items),
                measure=Measure("kendall-like", "system", "zero", 0.0),
                codes=group_codes(groups, np.ones(len(table.items), bool)),
                resamples=self.plan.resamples,
                seed=self.plan.seed,
                threads=self.threads,
            )
            # Of pairs that people do not tie: (C - D) / (C + D), a tie of the metric in D.
            distribution = (1.0 + drawn.distribution[:, 0]) / 2.0
        return DrawnAccuracy(found.accuracy, found.chance, found.pairs, self.units, distribution)

    def soft(self, metric: str) -> DrawnAccuracy:
        """Soft pairwise accuracy."""
        x, y, groups = self.study.scores.only(metric), self.study.people, self.study.groups
        found = soft_pairwise_accuracy(
            x,
            y,
            permutations=self.plan.resamples,
            groups=groups,
            seed=self.plan.seed,
            threads=self.threads,
        )
        distribution = np.empty(0)
        if found.reason is None:
            counts, codes = self.counts(min(_SOFT, self.plan.resamples)), self.codes

            def again(often: Ints) -> float:
                kept = np.repeat(np.arange(len(often)), often)
                drawn = None
                if codes is not None:  # a group that is drawn twice is two groups
                    copies = np.concatenate([np.arange(n) for n in often if n])
                    drawn = list(zip(codes[kept].tolist(), copies.tolist(), strict=True))
                one = soft_pairwise_accuracy(
                    x[:, kept],
                    y[:, kept],
                    permutations=_SOFT,
                    groups=drawn,
                    seed=self.plan.seed,
                    threads=1,
                )
                return one.accuracy

            distribution = self._each(again, counts)
        return DrawnAccuracy(
            found.accuracy,
            found.chance,
            found.pairs,
            self.units,
            distribution,
            reason=found.reason,
        )

    def tied(self, metric: str, by: Grouping, *, in_sample: bool = False) -> DrawnAccuracy:
        """Pairs of outputs, ties calibrated on other items or on the same."""
        pairs = TiePairs.of(self.study.scores.only(metric), self.study.people, by)
        once = np.ones(pairs.items)
        ties = pairs.tie_share()
        chance = max(ties, (1.0 - ties) / 2.0)
        counts = self.counts(self.plan.resamples)
        if in_sample:
            value, epsilon = pairs.in_sample(once)
            parts = pairs.group_accuracies(epsilon)
            distribution = self._each(lambda often: pairs.in_sample(often.astype(float))[0], counts)
        else:
            folds = make_folds(pairs.items, by, self.codes, self.plan.seed)
            value, epsilons = pairs.cross_fitted(once, folds)
            epsilon = float(np.median(epsilons))
            parts = pairs.group_accuracies(pairs.fitted(once, folds)[0], folds)
            distribution = self._each(
                lambda often: pairs.cross_fitted(often.astype(float), folds)[0], counts
            )
        return DrawnAccuracy(value, chance, len(pairs), self.units, distribution, epsilon, parts)

    def labelled(self, metric: str, measure: LabelMeasure) -> DrawnAccuracy:
        """Labels good and bad of all outputs."""
        people = self.study.people
        there = ~np.isnan(people)
        good = good_labels(people)[there]
        scores = self.study.scores.only(metric)[there]
        item = np.nonzero(there)[1]
        value = float(label_accuracy(scores, good, measure)[0])

        def work(number: int, first: int, last: int) -> Array:
            return label_accuracy(scores, good, measure, often=counts[first:last, item])

        counts = self.counts(self.plan.resamples)
        distribution = in_chunks(work, len(counts), _CHUNK, self.threads)
        chance = 0.5 if measure == "auc" else float(good.mean())
        return DrawnAccuracy(value, chance, len(good), self.units, distribution)

    def _each(self, function: Callable[[Ints], float], counts: Ints) -> Array:
        def work(number: int, first: int, last: int) -> Array:
            return np.array([function(often) for often in counts[first:last]])

        return in_chunks(work, len(counts), _CHUNK, self.threads)
