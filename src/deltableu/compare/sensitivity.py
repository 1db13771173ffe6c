"""A study in; what would change the conclusion that one system beats another out."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from deltableu._types import Array, Bools, Ints, Progress, Steps, steps_of
from deltableu.compare.pairs import Pairs
from deltableu.compare.results import ComparedPair, Comparison
from deltableu.compare.runs import RunEvidence
from deltableu.compare.sensitivity_results import Flip, Flips, PairSensitivity, Sensitivity
from deltableu.compare.systems import compare_systems
from deltableu.corpus import ReferenceSet, Study, reference_set, system_runs
from deltableu.errors import InputError, check_at_least, check_kind
from deltableu.score import Metric, score_systems
from deltableu.stats import (
    Exchange,
    group_numbers,
    mean_score,
    mean_score_gradient,
    stream,
    sum_groups,
)

_SHIFT_STEP = 0.01
_POWER_STEP = 2.0**0.05
_POWERS = 40
_DROP_STEP = 0.05
#: Numbers held in memory at once.
_NUMBERS = 4_000_000
_LARGEST_CHUNK = 64
#: A difference without any error counts as so many times what is significant.
_SURE = 100.0
#: Sizes that change nothing, where they are not 0.
_NO_CHANGE = {"power": 1.0}


def sensitivity(
    source: Study | ReferenceSet,
    outputs: Mapping[str, Sequence[str]] | None,
    metric: Metric,
    *,
    comparison: Comparison | None = None,
    baseline: str | None = None,
    groups: Sequence[str] | None = None,
    no_positive: Literal["error", "skip"] = "error",
    runs: Literal["auto", "off"] = "auto",
    draws: int = 20,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Sensitivity:
    """Find the smallest changes that flip each significant difference between systems.

    Weights are moved (the neutral point of the scale), bent (the scale itself), and references are
    dropped at random. After each change a difference is significant if it is larger than Student's
    quantile times its standard error by the infinitesimal jackknife, at the level that the
    comparison's correction left to the pair. A pair for which already that is not so flips at no
    change at all. Where a score is clamped nothing is significant.

    Parameters
    ----------
    source : Study or ReferenceSet
    outputs : mapping of str to list of str, or None
        The outputs of each system, in the order of the items; None takes those of the study.
    metric : Metric
        If it does not use weights, references are only dropped.
    comparison : Comparison, optional
        What was found under this metric; by default systems are compared here.
    baseline : str, optional
        Look only at differences from this system.
    groups : list of str, optional
        What each item belongs to.
    no_positive : {"error", "skip"}
        What to do about items without a positively weighted reference. Items that lose theirs by
        a change are left out there.
    runs : {"auto", "off"}
        As in `compare_systems`.
    draws : int
        How often references are dropped at random.
    seed : int
    threads : int, optional
    progress : callable, optional
        Called with (what is done, done, in all).

    Returns
    -------
    Sensitivity

    Examples
    --------
    >>> from deltableu import DeltaBLEU
    >>> texts = [[f"a b c{k}", f"x y z{k}"] for k in range(8)]
    >>> references = ReferenceSet(texts, [[1.0, 0.5]] * 8)
    >>> outputs = {"A": [f"a b c{k % 7}" for k in range(8)], "B": ["x y"] * 8}
    >>> found = sensitivity(references, outputs, DeltaBLEU(tokenize="none"))
    >>> [(pair.better, pair.worse) for pair in found.pairs]
    [('A', 'B')]
    """
    check_at_least("draws", draws, 1)
    check_kind("metric", metric, Metric)
    if "references" not in metric.needs:
        raise InputError(f"{metric.name} uses no references, so that there is nothing to change")
    references = source if isinstance(source, ReferenceSet) else reference_set(source)
    if outputs is None:
        outputs = source.outputs if isinstance(source, Study) else {}
    if comparison is None:
        scoring = score_systems(
            references, outputs, [metric], no_positive=no_positive, groups=groups, threads=threads
        )
        (comparison,) = compare_systems(scoring, baseline=baseline, runs=runs, threads=threads)
    check_kind("comparison", comparison, Comparison)
    weighted = "weights" in type(metric).needs
    prepared = metric.prepare_references(references) if weighted else references
    if weighted and no_positive == "skip":
        without_positive = set(prepared.without_positive())
        kept = [index for index in range(len(prepared)) if index not in without_positive]
        prepared = prepared.take(kept)
        outputs = {name: [texts[index] for index in kept] for name, texts in outputs.items()}
        groups = None if groups is None else [groups[index] for index in kept]
    if metric.needs == type(metric).needs:
        # Only a judge wants to see them.
        prepared = replace(prepared, items=None)
    known = system_runs(outputs) if runs == "auto" else {name: (name,) for name in outputs}
    wanted = [pair for pair in comparison.pairs if pair.better is not None]
    if baseline is not None:
        wanted = [pair for pair in wanted if baseline in (pair.first, pair.second)]
    names = list(dict.fromkeys(name for pair in wanted for name in (pair.first, pair.second)))
    used = {name: known[name] for name in names}
    trial = _Trial(
        metric.for_outputs(prepared, outputs),
        prepared,
        {run: outputs[run] for some in used.values() for run in some},
        used,
        None if groups is None else group_numbers(groups),
        [(names.index(pair.first), names.index(pair.second)) for pair in wanted],
        np.array([_sign(comparison, pair) for pair in wanted]),
        np.array([_level(comparison, pair) for pair in wanted]),
        threads,
    )
    pairs: tuple[PairSensitivity, ...] = ()
    if wanted:
        pairs = _pairs(wanted, trial, weighted, draws, seed, progress)
    return Sensitivity(
        metric=metric.name,
        items=len(prepared),
        references=int(prepared.bounds[-1]),
        pairs=pairs,
        shift_step=_SHIFT_STEP,
        power_step=_POWER_STEP,
        drop_step=_DROP_STEP,
        draws=draws,
        seed=seed,
    )


def _pairs(
    wanted: Sequence[ComparedPair],
    trial: _Trial,
    weighted: bool,
    draws: int,
    seed: int,
    progress: Progress | None,
) -> tuple[PairSensitivity, ...]:
    """Try all changes, and collect what flips each pair."""
    name = trial.metric.name
    found: dict[str, list[Flips]] = {}
    if weighted:
        shifts = _steps(_SHIFT_STEP)
        shifts = np.stack((shifts, -shifts), axis=1).ravel()
        powers: Array = _POWER_STEP ** np.arange(1.0, _POWERS + 1.0)
        powers = np.stack((powers, 1.0 / powers), axis=1).ravel()
        given = trial.references.flat_weights
        for kind, sizes, change in (
            ("shift", shifts, lambda size: np.clip(given + size, -1.0, 1.0)),
            ("power", powers, lambda size: np.sign(given) * np.abs(given) ** size),
        ):
            steps = steps_of(progress, f"{name}, {kind}")
            found[kind] = _scan(sizes, trial.reweighted(sizes, change, steps), len(wanted))
    shares = _steps(_DROP_STEP)
    steps = steps_of(progress, f"{name}, dropped")
    dropped = _Dropped.draw(shares, trial, draws, seed, steps)
    unchanged = trial.unchanged()
    found["dropped"] = _scan(shares, dropped.means(), len(wanted))
    found["half_dropped"] = _scan(shares, dropped.halves(), len(wanted))
    pairs = []
    for place, pair in enumerate(wanted):
        flips = {kind: some[place] for kind, some in found.items()}
        if unchanged.strength[place] < 1.0:
            # Already the quick test does not tell the two apart.
            flips = {
                kind: Flips(Flip(_NO_CHANGE.get(kind, 0.0)), some.turned)
                for kind, some in flips.items()
            }
        first = pair.better == pair.first
        pairs.append(
            PairSensitivity(
                better=pair.first if first else pair.second,
                worse=pair.second if first else pair.first,
                difference=pair.difference if first else -pair.difference,
                strength=float(unchanged.strength[place]),
                shift=flips.get("shift"),
                power=flips.get("power"),
                dropped=flips["dropped"],
                half_dropped=flips["half_dropped"],
            )
        )
    return tuple(pairs)


@dataclass(frozen=True, eq=False)
class _State:
    """Pairs after a change.

    Attributes
    ----------
    strength : array
        Differences in favour of the systems that were better, over their standard errors, as
        multiples of what is significant; 0 where a score is clamped.
    ahead : array
        By how much these systems are ahead.
    clamped : array of bool
        Pairs with a clamped score.
    left_out : int
        Items without a positive reference.
    """

    strength: Array
    ahead: Array
    clamped: Bools
    left_out: int


@dataclass(frozen=True, eq=False)
class _Trial:
    """Systems under one metric, to be scored after a change of weights or references."""

    metric: Metric
    references: ReferenceSet
    outputs: Mapping[str, Sequence[str]]
    runs: Mapping[str, tuple[str, ...]]
    numbers: Ints | None
    pairs: Pairs
    #: For each pair: 1 where a positive difference speaks for the system that is better, else -1.
    signs: Array
    #: Below which a p-value is significant.
    levels: Array
    threads: int | None

    @property
    def weighted(self) -> bool:
        return "weights" in type(self.metric).needs

    def unchanged(self) -> _State:
        """As things are."""
        return self.with_references(self.references)

    def reweighted(
        self, sizes: Array, change: Callable[[float], Array], progress: Steps | None
    ) -> Iterator[_State]:
        """After each change of the weights; texts are not touched again."""
        ready = self.metric.reweighting(self.references, list(self.outputs.values()))
        given, starts = self.references.flat_weights, self.references.bounds[:-1]
        counts = np.diff(self.references.bounds)
        step = int(np.clip(_NUMBERS // max(ready.size, 1), 1, _LARGEST_CHUNK))
        for first in range(0, len(sizes), step):
            weights = np.stack([change(float(size)) for size in sizes[first : first + step]])
            kept = np.maximum.reduceat(weights, starts, axis=1) > 0.0
            # Metrics refuse items without a positive reference; these are left out anyway.
            rows = ready.rows(np.where(np.repeat(kept, counts, axis=1), weights, given))
            for one, some in zip(rows, kept, strict=True):
                yield self._state(one.transpose(1, 0, 2), some)
            if progress is not None:
                progress(min(first + step, len(sizes)), len(sizes))

    def with_references(self, references: ReferenceSet) -> _State:
        """With other references of the same items."""
        kept = np.ones(len(references), dtype=bool)
        if self.weighted:
            kept[list(references.without_positive())] = False
        places = np.flatnonzero(kept).tolist()
        if not places:
            return self._nothing(len(references))
        if len(places) < len(kept):
            references = references.take(places)
        encoded = self.metric.encode(references, threads=self.threads)
        made = []
        for texts in self.outputs.values():
            some = [texts[place] for place in places]
            rows = self.metric.statistics(some, encoded, threads=self.threads).rows
            whole = np.zeros((len(kept), rows.shape[1]))
            whole[kept] = rows
            made.append(whole)
        return self._state(np.stack(made), kept)

    def _state(self, rows: Array, kept: Bools) -> _State:
        """From outputs x items x columns, and which items can be scored."""
        left_out = int(np.count_nonzero(~kept))
        metric, formula = self.metric, (self.metric.aggregate, self.metric.gradient)
        if metric.averages_segments:
            segments = np.stack([metric.segment_scores(one[kept]) for one in rows])
            rows = np.zeros((*rows.shape[:2], 2))
            rows[:, kept, 0], rows[:, kept, 1] = segments, 1.0
            formula = (mean_score, mean_score_gradient)
        present = kept
        if self.numbers is not None:
            numbers = self.numbers
            rows = np.stack([sum_groups(one, numbers) for one in rows])
            present = sum_groups(kept.astype(np.float64), numbers) > 0.0
        rows = rows[:, present]
        if rows.shape[1] < 2:
            return self._nothing(left_out)
        exchange = Exchange(rows, *formula)
        clamped = metric.clamped(exchange.totals) if not metric.averages_segments else None
        places = {name: place for place, name in enumerate(self.outputs)}
        of_system = [[places[run] for run in some] for some in self.runs.values()]
        evidence = RunEvidence(
            tuple(self.runs),
            tuple(exchange.scores[some] for some in of_system),
            tuple(exchange.influences[some] for some in of_system),
            np.array([clamped is not None and clamped[some].any() for some in of_system]),
            metric.score_limits,
        )
        found = [
            evidence.strength(*pair, float(level))
            for pair, level in zip(self.pairs, self.levels, strict=True)
        ]
        ahead = np.array([evidence.difference(*pair) for pair in self.pairs])
        return _State(
            self.signs * np.clip(found, -_SURE, _SURE),
            self.signs * ahead,
            np.array([evidence.clamped[list(pair)].any() for pair in self.pairs]),
            left_out,
        )

    def _nothing(self, left_out: int) -> _State:
        none = np.zeros(len(self.pairs))
        return _State(none, none, none > 0.0, left_out)


@dataclass(frozen=True, eq=False)
class _Dropped:
    """What is left of all pairs, by share of references dropped and by draw."""

    states: Sequence[Sequence[_State]]

    @classmethod
    def draw(
        cls, shares: Array, trial: _Trial, draws: int, seed: int, progress: Steps | None
    ) -> _Dropped:
        """Drop references in a random order, so that those of a share are among those of more."""
        references = trial.references
        originals = references.originals or [0] * len(references)
        starts = references.bounds[:-1]
        free = np.ones(int(references.bounds[-1]), dtype=bool)
        free[starts + np.asarray(originals, dtype=np.int64)] = False
        order = [stream(seed, draw).permutation(np.flatnonzero(free)) for draw in range(draws)]
        states = []
        for number, share in enumerate(shares):
            some = []
            for permuted in order:
                stays = np.ones(len(free), dtype=bool)
                stays[permuted[: round(float(share) * len(permuted))]] = False
                kept = [
                    np.flatnonzero(stays[first:last]).tolist()
                    for first, last in zip(starts, references.bounds[1:], strict=True)
                ]
                some.append(trial.with_references(references.keep(kept, "dropped")))
            states.append(some)
            if progress is not None:
                progress(number + 1, len(shares))
        return cls(states)

    def means(self) -> Iterator[_State]:
        """Over draws."""
        for some in self.states:
            yield _State(
                np.mean([one.strength for one in some], axis=0),
                np.mean([one.ahead for one in some], axis=0),
                np.mean([one.clamped for one in some], axis=0) >= 0.5,
                max(one.left_out for one in some),
            )

    def halves(self) -> Iterator[_State]:
        """Worse than this are half of the draws, or a few more."""
        middle = (len(self.states[0]) - 1) // 2
        for some in self.states:
            yield _State(
                np.sort([one.strength for one in some], axis=0)[middle],
                np.sort([one.ahead for one in some], axis=0)[middle],
                np.mean([one.clamped for one in some], axis=0) >= 0.5,
                max(one.left_out for one in some),
            )


def _steps(size: float) -> Array:
    """Multiples of a size up to 1, without what rounding makes of them."""
    return np.array([round(k * size, 9) for k in range(1, round(1.0 / size) + 1)])


def _scan(sizes: Array, states: Iterator[_State], pairs: int) -> list[Flips]:
    """The first of the sizes at which each pair's conclusions flip."""
    lost: dict[int, Flip] = {}
    turned: dict[int, Flip] = {}
    for size, state in zip(sizes, states, strict=True):
        for place in np.flatnonzero(state.strength < 1.0).tolist():
            flip = Flip(float(size), state.left_out, bool(state.clamped[place]))
            lost.setdefault(place, flip)
        for place in np.flatnonzero(state.ahead < 0.0).tolist():
            turned.setdefault(place, Flip(float(size), state.left_out))
    never = Flip(None)
    return [Flips(lost.get(place, never), turned.get(place, never)) for place in range(pairs)]


def _sign(comparison: Comparison, pair: ComparedPair) -> float:
    """1 where a positive difference speaks for the system that is better, else -1."""
    return 1.0 if (pair.better == pair.first) == comparison.higher_is_better else -1.0


def _level(comparison: Comparison, pair: ComparedPair) -> float:
    """The significance that the correction for several pairs left to this one."""
    raw = pair.p_values[comparison.tests[0]]
    factor = comparison.deciding(pair) / raw if raw > 0.0 else float(len(comparison.pairs))
    return comparison.significance / max(factor, 1.0)
