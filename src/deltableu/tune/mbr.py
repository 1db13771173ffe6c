"""Minimum Bayes risk: of an item's candidates, the one most like what else is probable."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.corpus import NBestLists
from deltableu.errors import InputError
from deltableu.score import Metric, SentenceBLEU, make_metrics, metric_label, metric_name
from deltableu.tune.mbr_probabilities import DistinctTexts, candidate_probabilities
from deltableu.tune.mbr_results import EQUAL, MBRChoices
from deltableu.tune.mbr_utilities import Prepared, Utility, utility_of

#: Different texts that are encoded at once, to bound memory.
_BATCH = 4096


@dataclass(frozen=True, slots=True)
class MBRPlan:
    """How candidates are chosen.

    Parameters
    ----------
    probabilities
        "uniform", as for samples; or the name of a log-probability: "total", or a feature.
    scale
        What that is multiplied by before the softmax.
    aggregate
        Compare each candidate with the expected n-gram counts of all, which takes time that grows
        with the number of candidates and not with its square; for BLEU and chrF.
    own_reference
        Whether a candidate is compared with itself too. By default ("default") it is in an
        expectation, as in the literature, where that adds the same to all equally probable ones;
        and is not for metrics with weighted references, where it would match itself completely.
    compare_exact
        With `aggregate`, choose by all pairs too, and say how often the two agree.

    References
    ----------
    Kumar and Byrne 2004, "Minimum Bayes-Risk Decoding for Statistical Machine Translation".
    DeNero, Chiang and Knight 2009, "Fast Consensus Decoding over Translation Forests".
    Eikema and Aziz 2020, "Is MAP Decoding All You Need? The Inadequacy of the Mode in Neural
    Machine Translation". Vamvas and Sennrich 2024, "Linear-time Minimum Bayes Risk Decoding with
    Reference Aggregation".
    """

    probabilities: str = "uniform"
    scale: float = 1.0
    aggregate: bool = False
    own_reference: str = "default"
    compare_exact: bool = False

    def __post_init__(self) -> None:
        if self.own_reference not in ("default", "keep", "leave"):
            raise InputError(
                f"own_reference must be default, keep or leave, got {self.own_reference!r}"
            )
        if self.compare_exact and not self.aggregate:
            raise InputError("compare_exact goes with aggregate: all pairs are exact already")


_PLAN = MBRPlan()


def utility_metric(name: str, **settings: object) -> Metric:
    """The metric of a name as it scores single texts: BLEU as smoothed sentence BLEU.

    Examples
    --------
    >>> utility_metric("bleu-2"), utility_metric("delta-bleu")
    (SentenceBLEU(order=2), DeltaBLEU())
    """
    (metric,) = make_metrics([utility_name(name)], settings)
    return metric


def utility_name(name: str) -> str:
    """The name of the metric that stands for this one where single texts are scored.

    Examples
    --------
    >>> utility_name("BLEU"), utility_name("bleu-2"), utility_name("chrf")
    ('sentence-bleu', 'sentence-bleu-2', 'chrf')
    """
    if metric_name(name) != "bleu":
        return name
    given = name.lower()
    return SentenceBLEU.family + (given.removeprefix("bleu") if metric_label(name) == given else "")


def minimum_bayes_risk(
    lists: NBestLists,
    utility: str | Metric = "bleu",
    plan: MBRPlan = _PLAN,
    *,
    threads: int | None = None,
    progress: Steps | None = None,
) -> MBRChoices:
    """Choose the candidate of each item with the highest expected utility.

    What a list has twice counts as one text that is as probable as both. Of candidates that tie,
    the most probable is chosen, and of those the first.

    Parameters
    ----------
    lists
        N-best lists, or samples.
    utility
        A metric, or its name; "bleu" is smoothed sentence BLEU. A metric with weighted references,
        such as delta-BLEU, takes all candidates as references at once: the weight of each is its
        probability, scaled so that the most probable of the references has 1. Where a candidate is
        no reference of its own, that is the most probable of the others.
    plan
        How candidates are weighed and compared.
    threads : int, optional
        All cores by default; the result does not depend on it.
    progress : callable, optional
        Called with (items done, items in all).

    Examples
    --------
    >>> texts = ("yes I do", "yes I think so", "I think so too", "purple")
    >>> lists = NBestLists(("q",), np.array([0, 4]), texts, ("LM",), np.zeros((4, 1)))
    >>> minimum_bayes_risk(lists).texts
    ('yes I think so',)
    """
    metric = utility_metric(utility) if isinstance(utility, str) else utility
    found = utility_of(metric)
    if plan.aggregate and not found.aggregates:
        raise InputError(
            f"{metric.name} cannot be computed from expected counts: bleu, sentence-bleu, chrf and "
            "chrf++ can"
        )
    leave = (
        found.leaves_itself if plan.own_reference == "default" else plan.own_reference == "leave"
    )
    given = candidate_probabilities(lists, plan.probabilities, scale=plan.scale)
    distinct = DistinctTexts.of(lists, given)
    run = _Run(found, distinct, plan, leave, threads)
    utilities, exact = run(progress)
    chosen = _best(distinct, utilities)
    return MBRChoices(
        lists,
        metric.name,
        "expected counts" if plan.aggregate else "exact",
        plan.probabilities,
        distinct.firsts[chosen],
        utilities[distinct.places],
        distinct.probabilities[distinct.places],
        None if exact is None else exact[distinct.places],
        None if exact is None else distinct.firsts[_best(distinct, exact)],
    )


@dataclass(frozen=True, slots=True)
class _Run:
    """The utilities of all texts, batch by batch."""

    utility: Utility
    distinct: DistinctTexts
    plan: MBRPlan
    leave: bool
    threads: int | None

    def __call__(self, progress: Steps | None) -> tuple[Array, Array | None]:
        texts = len(self.distinct.texts)
        utilities = np.full(texts, np.nan)
        exact = np.full(texts, np.nan) if self.plan.compare_exact else None
        batches = list(_batches(self.distinct.bounds))
        items = len(self.distinct.bounds) - 1

        def work(batch: tuple[int, int]) -> int:
            self._fill(*batch, utilities, exact)
            return batch[1]

        workers = min(self.threads or os.cpu_count() or 1, len(batches))
        if workers <= 1:
            for done in map(work, batches):
                _tell(progress, done, items)
        else:
            with ThreadPoolExecutor(workers) as pool:
                for done in pool.map(work, batches):
                    _tell(progress, done, items)
        return utilities, exact

    def _fill(self, begin: int, end: int, utilities: Array, exact: Array | None) -> None:
        bounds = self.distinct.bounds[begin : end + 1].tolist()
        offset = bounds[0]
        prepared = self.utility.prepare(self.distinct.texts[offset : bounds[-1]])
        for first, last in pairwise(bounds):
            if self.leave and last - first == 1:
                continue  # a text without another has nothing to be compared with
            given = self.distinct.probabilities[first:last]
            place = first - offset, last - offset
            utilities[first:last] = self._scores(prepared, *place, given, self.plan.aggregate)
            if exact is not None:
                exact[first:last] = self._scores(prepared, *place, given, False)

    def _scores(
        self, prepared: Prepared, first: int, last: int, given: Array, aggregate: bool
    ) -> Array:
        score = prepared.aggregated if aggregate else prepared.exact
        return score(first, last, given, leave=self.leave)


def _tell(progress: Steps | None, done: int, items: int) -> None:
    if progress is not None:
        progress(done, items)


def _batches(bounds: Ints) -> Iterator[tuple[int, int]]:
    """Runs of items whose texts are few enough to be encoded at once."""
    items, begin = len(bounds) - 1, 0
    while begin < items:
        end = int(np.searchsorted(bounds, bounds[begin] + _BATCH, side="right")) - 1
        end = min(max(end, begin + 1), items)
        yield begin, end
        begin = end


def _best(distinct: DistinctTexts, utilities: Array) -> Ints:
    """The best text of each item; the most probable of those that tie, and of these the first."""
    chosen = []
    for first, last in pairwise(distinct.bounds.tolist()):
        scores = utilities[first:last]
        given = distinct.probabilities[first:last]
        if last - first > 1:
            best = scores.max()
            given = np.where(scores >= best - EQUAL * max(1.0, abs(best)), given, -1.0)
        most = given.max()
        chosen.append(first + int(np.flatnonzero(given >= most * (1.0 - EQUAL))[0]))
    return np.array(chosen)
