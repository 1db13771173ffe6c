"""N-best lists, references and a metric in; weights that choose better candidates out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, NamedTuple

import numpy as np

from deltableu._types import Array, Progress, steps_of
from deltableu._version import __version__
from deltableu.compare import Comparison, ComparisonPlan, compare_systems
from deltableu.corpus import NBestLists, ReferenceSet
from deltableu.errors import (
    InputError,
    Problem,
    check_at_least,
    check_choice,
    check_kind,
    check_share,
)
from deltableu.score import DeltaBLEU, Metric, Statistics, as_metrics
from deltableu.tune.candidate_rows import candidate_statistics
from deltableu.tune.mert import MertSettings, best_restart, run_restarts
from deltableu.tune.perceptron import PerceptronSettings, run_perceptron
from deltableu.tune.problem import TuningProblem
from deltableu.tune.results import START, TUNED, TunedScore, Tuning

#: Fewer items than that cannot be compared.
_FEWEST = 2


def tune_weights(
    nbest: NBestLists,
    references: ReferenceSet,
    metric: str | Metric,
    *,
    start: Mapping[str, float] | None = None,
    settings: MertSettings | PerceptronSettings | None = None,
    held_out: float | NBestLists | None = None,
    groups: Sequence[str] | None = None,
    no_positive: Literal["error", "skip"] = "error",
    plan: ComparisonPlan | None = None,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Tuning:
    """Find weights of features with which the best candidates score best.

    Parameters
    ----------
    nbest : NBestLists
        Candidates of some of the items or all.
    references : ReferenceSet
        Of all items, with their ids.
    metric : str or Metric
        One whose score is that of sums over items: BLEU, delta-BLEU, chrF, NIST, a mean over items.
    start : mapping of feature to float, optional
        The weights so far, with which the tuned ones are compared; by default 1 for each.
    settings : MertSettings or PerceptronSettings, optional
        How to search; by default minimum error rate training.
    held_out : float or NBestLists, optional
        A share of the items, drawn at random, or lists of other items, on which nothing is tuned.
    groups : list of str, optional
        What each of the references' items belongs to (a dialogue, a document): whole groups are
        held out, and resampled where weights are compared.
    no_positive : {"error", "skip"}
        Items without a positively weighted reference are an error, or left out.
    plan : ComparisonPlan, optional
        How the weights are compared on the items held out.
    seed : int
        Of everything random.
    threads : int, optional
        All cores by default; no result depends on it.
    progress : callable, optional
        Called with (what is done, done, in all).

    References
    ----------
    Och (2003). Minimum error rate training in statistical machine translation.

    Examples
    --------
    >>> lists = NBestLists(("1", "2"), np.array([0, 2, 4]), ("a b", "a", "c", "c d"), ("short",),
    ...                    np.array([[-2.0], [-1.0], [-1.0], [-2.0]]))
    >>> references = ReferenceSet([["a b"], ["c d"]], item_ids=("1", "2"))
    >>> found = tune_weights(lists, references, "bleu-1")
    >>> found.training.start < found.training.tuned == 100.0, found.weights["short"] < 0
    (True, True)
    """
    check_kind("nbest", nbest, NBestLists)
    check_kind("references", references, ReferenceSet)
    check_choice("no_positive", no_positive, ("error", "skip"))
    check_at_least("seed", seed, 0)
    chosen = settings or MertSettings()
    check_kind("settings", chosen, MertSettings, PerceptronSettings)
    one = _only(metric, references)
    given = _checked_start(nbest, start)
    about = _Items(references, groups)
    dropped: tuple[str, ...] = ()
    if no_positive == "skip" and "weights" in one.needs:
        nbest, dropped = about.with_positive(nbest)
    if isinstance(held_out, NBestLists):
        others: NBestLists | None = _checked_others(held_out, nbest)
        if no_positive == "skip" and "weights" in one.needs and others is not None:
            others, more = about.with_positive(others)
            dropped += more
    else:
        nbest, others = about.split(nbest, held_out, seed)
    problem = _problem(nbest, about, one, threads, progress, "scoring candidates")
    units = problem.in_units(np.array([given[name] for name in nbest.names]))
    paths: tuple[tuple[float, ...], ...]
    if isinstance(chosen, MertSettings):
        steps = steps_of(progress, "searching")
        found = run_restarts(problem, units, chosen, seed=seed, threads=threads, progress=steps)
        best = best_restart(found)
        end, paths = found[best], tuple(restart.path for restart in found)
    else:
        steps = steps_of(progress, "learning")
        end = run_perceptron(problem, units, chosen, seed=seed, progress=steps)
        best, paths = 0, (end.path,)
    weights = dict(zip(nbest.names, problem.of_features(end.weights).tolist(), strict=True))
    training = _scored(problem, given, weights, about, None, threads)
    if (training.tuned - training.start) * (1.0 if one.higher_is_better else -1.0) < 0.0:
        # Candidates that tie exactly under the starting weights may be chosen by luck.
        weights = given
        training = _scored(problem, given, weights, about, None, threads)
    unseen = None
    if others is not None:
        other = _problem(others, about, one, threads, progress, "scoring candidates held out")
        unseen = _scored(other, given, weights, about, plan or ComparisonPlan(seed=seed), threads)
    units = problem.in_units(np.array(list(weights.values())))
    shares = np.abs(units) / (float(np.abs(units).sum()) or 1.0)
    return Tuning(
        method="mert" if isinstance(chosen, MertSettings) else "perceptron",
        metric=one.name,
        higher_is_better=one.higher_is_better,
        start=given,
        weights=weights,
        influence=dict(zip(nbest.names, shares.tolist(), strict=True)),
        training=training,
        held_out=unseen,
        paths=paths,
        best=best,
        dropped=dropped,
        tuned_on=nbest.item_ids,
        warnings=_warnings(problem, units, unseen),
        signature=_signature(problem, chosen, given, others, seed),
    )


def compare_weights(
    nbest: NBestLists,
    references: ReferenceSet,
    metric: str | Metric,
    *,
    weights: Mapping[str, float],
    start: Mapping[str, float] | None = None,
    groups: Sequence[str] | None = None,
    plan: ComparisonPlan | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> TunedScore:
    """Whether weights choose better candidates than others do, on items they were not tuned on.

    Parameters are those of `tune_weights`.

    Examples
    --------
    >>> lists = NBestLists(("1", "2"), np.array([0, 2, 4]), ("a b", "a", "c", "c d"), ("short",),
    ...                    np.array([[-2.0], [-1.0], [-1.0], [-2.0]]))
    >>> references = ReferenceSet([["a b"], ["c d"]], item_ids=("1", "2"))
    >>> found = compare_weights(lists, references, "bleu-1", weights={"short": -1.0})
    >>> round(found.start), round(found.tuned), found.changed
    (37, 100, 2)
    """
    one = _only(metric, references)
    given, others = _checked_start(nbest, start), _checked_start(nbest, weights)
    about = _Items(references, groups)
    problem = _problem(nbest, about, one, threads, progress, "scoring candidates")
    return _scored(problem, given, others, about, plan or ComparisonPlan(), threads)


def _only(metric: str | Metric, references: ReferenceSet) -> Metric:
    several = as_metrics(metric, references)
    if len(several) != 1:
        raise InputError(f"weights are tuned for one metric, and {len(several)} were given")
    return several[0].fitted_to(references)


def _checked_start(nbest: NBestLists, start: Mapping[str, float] | None) -> dict[str, float]:
    """The weights to start from, in the order of the features."""
    if start is None:
        return dict.fromkeys(nbest.names, 1.0)
    totals = nbest.scores(start)
    if not np.isfinite(totals).all():
        raise InputError("the weighted sum of some candidate's features is not a finite number")
    return {name: float(start[name]) for name in nbest.names}


def _checked_others(others: NBestLists, nbest: NBestLists) -> NBestLists:
    """Lists that were held out, if they fit those that are tuned on."""
    if set(others.names) != set(nbest.names):
        there, wanted = ", ".join(others.names), ", ".join(nbest.names)
        raise InputError(
            f"the lists held out have the features {there}, but those tuned on have {wanted}"
        )
    seen = set(nbest.item_ids)
    for id in others.item_ids:
        if id in seen:
            message = "is held out, but tuned on as well: a score on seen items says nothing"
            raise InputError(Problem(message, item=id))
    return others


class _Items:
    """References by the ids of items, and which items belong together."""

    def __init__(self, references: ReferenceSet, groups: Sequence[str] | None) -> None:
        if groups is not None and len(groups) != len(references):
            raise InputError(f"there are {len(groups)} groups, but {len(references)} items")
        names = [references.item_name(place) for place in range(len(references))]
        self.references = references
        self.groups = groups
        self.places = {name: place for place, name in enumerate(names)}

    def places_of(self, lists: NBestLists) -> list[int]:
        for id in lists.item_ids:
            if id not in self.places:
                message = "there are candidates for this item, but there is no such item"
                raise InputError(Problem(message, item=id))
        return [self.places[id] for id in lists.item_ids]

    def of(self, lists: NBestLists) -> ReferenceSet:
        return self.references.take(self.places_of(lists))

    def groups_of(self, lists: NBestLists) -> list[str] | None:
        if self.groups is None:
            return None
        return [self.groups[place] for place in self.places_of(lists)]

    def with_positive(self, lists: NBestLists) -> tuple[NBestLists, tuple[str, ...]]:
        """The lists of items that have a positively weighted reference, and the other items."""
        without = set(self.of(lists).without_positive())
        kept = [place for place in range(len(lists)) if place not in without]
        if not kept:
            raise InputError("no item has a reference with a positive weight")
        return lists.select(kept), tuple(lists.item_ids[place] for place in sorted(without))

    def split(
        self, lists: NBestLists, share: float | None, seed: int
    ) -> tuple[NBestLists, NBestLists | None]:
        """Lists to tune on and lists to hold out, whole groups at a time."""
        if share is None:
            return lists, None
        check_share("held_out", share)
        groups = self.groups_of(lists) or list(lists.item_ids)
        names = sorted(set(groups))
        order = np.random.default_rng((seed, len(names))).permutation(len(names))
        count = round(share * len(names))
        if count < _FEWEST or len(names) - count < 1:
            what = "items" if self.groups is None else "groups"
            raise InputError(
                f"a share of {share:g} of {len(names)} {what} holds out {count}: at least "
                f"{_FEWEST} must be held out, and 1 left to tune on"
            )
        apart = {names[place] for place in order[:count].tolist()}
        kept = [place for place, group in enumerate(groups) if group not in apart]
        held = [place for place, group in enumerate(groups) if group in apart]
        return lists.select(kept), lists.select(held)


def _problem(
    lists: NBestLists,
    about: _Items,
    metric: Metric,
    threads: int | None,
    progress: Progress | None,
    what: str,
) -> TuningProblem:
    encoded = metric.encode(about.of(lists), threads=threads)
    steps = steps_of(progress, what)
    rows = candidate_statistics(metric, encoded, lists, threads=threads, progress=steps)
    return TuningProblem(lists, rows)


class _Choice(NamedTuple):
    """What weights choose: the texts, and their rows."""

    texts: tuple[str, ...]
    rows: Statistics
    score: float

    @classmethod
    def of(cls, problem: TuningProblem, weights: Mapping[str, float]) -> _Choice:
        lists = problem.lists
        best = lists.best(lists.scores(weights))
        rows = problem.statistics[best]
        return cls(lists.texts_of(best), rows, float(problem.metric.aggregate(rows.sums())))


def _scored(
    problem: TuningProblem,
    start: Mapping[str, float],
    weights: Mapping[str, float],
    about: _Items,
    plan: ComparisonPlan | None,
    threads: int | None,
) -> TunedScore:
    """Both vectors of weights on the same lists; with a plan they are compared."""
    tuned, before = _Choice.of(problem, weights), _Choice.of(problem, start)
    changed = sum(a != b for a, b in zip(tuned.texts, before.texts, strict=True))
    comparisons: tuple[Comparison, ...] = ()
    if plan is not None:
        groups = about.groups_of(problem.lists)

        def compared(rows: Mapping[str, Statistics]) -> tuple[Comparison, ...]:
            return compare_systems(
                rows, baseline=START, groups=groups, runs="off", plan=plan, threads=threads
            )

        comparisons = compared({TUNED: tuned.rows, START: before.rows})
        metric = problem.metric
        clamped = [metric.clamped(one.rows.sums()) for one in (tuned, before)]
        if type(metric) is DeltaBLEU and any(clamped):
            # A score that stands still cannot be tested; its signed form can.
            signed = metric.signed()
            encoded = signed.encode(about.of(problem.lists), threads=threads)
            both = {TUNED: tuned.texts, START: before.texts}
            rows = {name: signed.statistics(texts, encoded) for name, texts in both.items()}
            comparisons += compared(rows)
    return TunedScore(
        len(problem.lists),
        len(problem.lists.texts),
        before.score,
        tuned.score,
        changed,
        comparisons,
    )


def _warnings(problem: TuningProblem, units: Array, unseen: TunedScore | None) -> tuple[str, ...]:
    """What to know before the weights are used."""
    found = []
    names = problem.lists.names
    still = [
        name for name, spread in zip(names, problem.spreads.tolist(), strict=True) if not spread
    ]
    if still:
        verb = "is" if len(still) == 1 else "are"
        found.append(
            f"{', '.join(still)} {verb} the same for all candidates of every item, and the weight "
            "is 0"
        )
    if not np.any(units):
        found.append("all weights are 0: no feature tells the candidates of any item apart")
    if bool(problem.metric.clamped(problem.best_sums(units))):
        found.append(
            f"{problem.metric.name} is clamped on the items that were tuned on, because the "
            "matches of some order sum to nothing or less; signed means of precisions were "
            "compared instead"
        )
    if unseen is not None and unseen.decisive is not None:
        pair = unseen.decisive.pair(TUNED, START)
        if pair.better == START:
            found.append("the tuned weights are worse than the starting ones on other items")
        elif pair.better is None:
            found.append("the difference on the items held out is within noise")
    return tuple(found)


def _signature(
    problem: TuningProblem,
    settings: MertSettings | PerceptronSettings,
    start: Mapping[str, float],
    others: NBestLists | None,
    seed: int,
) -> str:
    """All that the weights and scores depend on."""
    statistics = problem.statistics[np.zeros(len(problem.lists), np.int64)]
    if isinstance(settings, MertSettings):
        how = f"method:mert|{settings.signature(len(problem.lists.names))}"
    else:
        how = f"method:perceptron|{settings.signature()}"
    began = ",".join(f"{name}={weight:.12g}" for name, weight in start.items())
    unseen = "none" if others is None else others.fingerprint()
    return (
        f"{problem.metric.signature(statistics.info)}|tune|{how}|start:{began}"
        f"|candidates:{problem.lists.fingerprint()}|heldout:{unseen}|seed:{seed}"
        f"|version:{__version__}"
    )
