"""Perceptrons for reranking: pairs of candidates that stand in the wrong order pull at weights."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.errors import InputError, check_at_least, check_choice, check_kind, check_share
from deltableu.tune.mert import Restart, unit_length
from deltableu.tune.problem import Objective, TuningProblem

PerceptronRule = Literal["ordinal", "splitting"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PerceptronSettings:
    """How a perceptron learns to rerank.

    Parameters
    ----------
    rule : {"ordinal", "splitting"}
        Ordinal: any two candidates whose ranks are far enough apart must be in order, by a margin
        that is larger between the best than between the worst. Splitting: the best candidates must
        stand above the worst, and the others do not count.
    margin : float
        By how much, in units of the features' spreads.
    distance : float
        Of the ordinal rule: how far apart 1 / rank must be for a pair to count.
    best, worst : float
        Of the splitting rule: shares of each list.
    epochs : int
        Passes over the items; the averaged weights after the pass that scored best are kept.

    References
    ----------
    Shen and Joshi (2005). Ranking and reranking with perceptron.
    Shen, Sarkar and Och (2004). Discriminative reranking for machine translation.
    """

    rule: PerceptronRule = "ordinal"
    margin: float = 1.0
    distance: float = 0.1
    best: float = 0.3
    worst: float = 0.3
    epochs: int = 20

    def __post_init__(self) -> None:
        check_choice("rule", self.rule, get_args(PerceptronRule))
        check_at_least("epochs", self.epochs, 1)
        check_kind("margin", self.margin, int, float)
        if not 0.0 < self.margin < np.inf:
            raise InputError(f"margin must be a number above 0, got {self.margin!r}")
        for name in ("distance", "best", "worst"):
            check_share(name, getattr(self, name))
        if self.best + self.worst > 1.0:
            raise InputError("best and worst are shares of the same list: at most 1 together")

    def signature(self) -> str:
        """What weights depend on beside the candidates and the metric."""
        kind = f"ordinal-{self.distance:g}"
        if self.rule == "splitting":
            kind = f"splitting-{self.best:g}-{self.worst:g}"
        return f"rule:{kind}|margin:{self.margin:g}|epochs:{self.epochs}"


def quality_ranks(problem: TuningProblem) -> Ints:
    """The rank of each candidate in its list by the metric's segment score; ties share the best.

    Examples
    --------
    >>> from deltableu import BLEU
    >>> from deltableu.corpus import NBestLists
    >>> from deltableu.tune.candidate_rows import candidate_statistics
    >>> lists = NBestLists(("1",), np.array([0, 4]), ("x", "a b", "a c", "a d"), ("F",),
    ...                    np.zeros((4, 1)))
    >>> metric = BLEU(order=1)
    >>> rows = candidate_statistics(metric, metric.encode([["a b"]]), lists)
    >>> quality_ranks(TuningProblem(lists, rows)).tolist()
    [4, 1, 2, 2]
    """
    metric, owners = problem.metric, problem.lists.owners
    if not metric.has_segments:
        raise InputError(f"{metric.name} has no scores of single texts, which a perceptron needs")
    scores = problem.statistics.segment_scores()
    _, ties = Objective(metric).values(problem.statistics.rows)
    scores = np.round(scores if metric.higher_is_better else -scores, 9)
    ties = np.where(scores <= 0.0, np.round(ties, 9), 0.0)
    order = np.lexsort((-ties, -scores, owners))
    new = np.ones(len(order), bool)
    new[1:] = (np.diff(owners[order]) != 0) | (np.diff(scores[order]) != 0.0)
    new[1:] |= np.diff(ties[order]) != 0.0
    starts = problem.lists.bounds[owners[order]]
    places = np.arange(len(order)) - starts + 1
    shared = np.maximum.accumulate(np.where(new, np.arange(len(order)), 0))
    ranks = np.empty(len(order), np.int64)
    ranks[order] = places[shared]
    return ranks


def run_perceptron(
    problem: TuningProblem,
    start: Array,
    settings: PerceptronSettings,
    *,
    seed: int = 0,
    progress: Steps | None = None,
) -> Restart:
    """Learn weights, in units of spreads, from the order of each item's candidates.

    All candidates of an item are looked at before the weights move, as in the papers. Weights are
    averaged over all that were ever in force, and of the averages after each pass, and the start,
    the one whose choices score best is kept.

    Parameters
    ----------
    problem
    start : array
        Weights in units of spreads.
    settings
    seed : int
        Of the order in which items are passed.
    progress : callable, optional
        Called with (passes that have ended, all of them).
    """
    learner = _Learner(problem, settings)
    weights = unit_length(start).copy()
    average, steps = np.zeros_like(weights), 0
    best = learner.judged(weights)
    path = [best.path[0]]
    rng = np.random.default_rng(seed)
    for epoch in range(settings.epochs):
        moved = False
        for item in rng.permutation(len(problem.lists)).tolist():
            pull = learner.pull(item, weights)
            if pull is not None:
                weights += pull
                moved = True
            average += weights
            steps += 1
        found = learner.judged(unit_length(average / steps))
        if (found.objective, found.tie) > (best.objective, best.tie):
            best = found
            path.append(found.path[0])
        if progress is not None:
            progress(epoch + 1, settings.epochs)
        if not moved:
            break
    return Restart(best.weights, tuple(path), best.objective, best.tie)


class _Learner:
    """One item's candidates and weights in, what they pull the weights by out."""

    def __init__(self, problem: TuningProblem, settings: PerceptronSettings) -> None:
        self.problem, self.settings = problem, settings
        self.objective = Objective(problem.metric)
        self.sign = 1.0 if problem.metric.higher_is_better else -1.0
        self.ranks = quality_ranks(problem)
        self.bounds = problem.lists.bounds.tolist()
        units = np.where(problem.spreads > 0.0, problem.spreads, np.inf)
        #: Features x candidates, in units of their spreads; 0 where there is none.
        self.columns = problem.columns / units[:, np.newaxis]

    def pull(self, item: int, weights: Array) -> Array | None:
        """The sum over all pairs in the wrong order, or too close; None where there are none."""
        first, last = self.bounds[item], self.bounds[item + 1]
        features, ranks = self.columns[:, first:last], self.ranks[first:last]
        margins = self._margins(ranks)
        totals = weights @ features
        wrong = (margins > 0.0) & (totals[:, np.newaxis] - totals < margins * self.settings.margin)
        if not wrong.any():
            return None
        # In the splitting rule every margin is 1, and so is every pull.
        pulls = np.where(wrong, margins, 0.0)
        pull: Array = features @ (pulls.sum(axis=1) - pulls.sum(axis=0))
        return pull

    def _margins(self, ranks: Ints) -> Array:
        """By how much the candidate of each row must stand above that of each column, or 0."""
        settings = self.settings
        if settings.rule == "splitting":
            high = ranks <= settings.best * len(ranks)
            low = ranks > (1.0 - settings.worst) * len(ranks)
            return (high[:, np.newaxis] & low).astype(np.float64)
        levels = 1.0 / ranks
        apart: Array = levels[:, np.newaxis] - levels
        return np.where(apart > settings.distance, apart, 0.0)

    def judged(self, weights: Array) -> Restart:
        """How good weights are, by the candidates that they choose."""
        (value,), (tie,) = self.objective.values(self.problem.best_sums(weights))
        return Restart(weights, (self.sign * float(value),), float(value), float(tie))
