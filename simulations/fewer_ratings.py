"""How many ratings of references a ranking of systems needs, and whether stopped ones hold.

References get their ratings in rounds. Before each round the scores that all ratings will give are
forecast, and systems ranked by them; then the next ratings are given in one of several orders.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, Literal

import numpy as np

from deltableu.compare.rating_plan import RatingLook, RatingPlanner
from deltableu.compare.rating_values import discordant_share, rating_order
from deltableu.compare.weight_forecast import RATING_VARIANCE, RatedSoFar
from deltableu.corpus import read_study, reference_set
from deltableu.rate import mean_reliability
from deltableu.score import DeltaBLEU
from deltableu.stats import stream
from simulations.rated_studies import StudySize, WrittenStudy, write_study
from simulations.replications import Progress

__all__ = [
    "ORDERS",
    "Course",
    "Look",
    "calibration_table",
    "plan_studies",
    "planning_table",
    "stop_studies",
    "stopping_table",
]

Array = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]
Order = Literal["value", "random", "by origin"]

ORDERS: tuple[Order, ...] = ("value", "random", "by origin")
TAU = 0.95
SIGNIFICANCE = 0.05
#: What raters of a pilot rated before: a share of the references, to the end.
_PILOT, _SMALL_PILOT = 0.02, 0.05
_ORIGINS = ("original", "written", "mined", "parrot", "random")
_DEMO = Path(__file__).parents[1] / "examples" / "demo"
_LARGE = {
    "2,000 items, 20 systems close to each other": StudySize(2000, 16, 20, spread=0.25),
    "2,000 items, 20 systems farther apart": StudySize(2000, 16, 20, spread=0.6),
}
_STUDIES, _DEMO_RUNS = 6, 20
_USUAL, _OTHERS = "raters drawn for each rating", 5
_KINDS: dict[str, dict[str, Any]] = {
    _USUAL: {},
    "references good or bad, nothing between": {"bimodal": True},
    "one rater for all references of an item": {"who": "by item"},
    "raters who differ, one after another": {"who": "in turn"},
}


@dataclass(frozen=True, slots=True)
class Look:
    """At one moment: the share of ratings given, tau with the ranking under all, its chance.

    `tied` says whether scores of two systems are equal in the end: who is tied cannot be misranked.
    """

    share: float
    tau: float
    chance: float
    tied: bool = False


@dataclass(frozen=True, slots=True)
class Course:
    """All looks at a study whose references were rated in some order."""

    study: str
    order: Order
    looks: tuple[Look, ...]

    @property
    def needed(self) -> float:
        """The share of ratings from which on the ranking agrees with that under all."""
        wrong = [one for one in self.looks if one.tau < TAU]
        if not wrong:
            return self.looks[0].share
        later = [one.share for one in self.looks if one.share > wrong[-1].share]
        return later[0] if later else 1.0

    @property
    def stopped(self) -> Look:
        """The first look at which rating may stop; the last of all where there is none."""
        ready = (one for one in self.looks if one.chance >= 1.0 - SIGNIFICANCE)
        return next(ready, self.looks[-1])


def follow(
    study: WrittenStudy,
    name: str,
    order: Order,
    *,
    step: float,
    pilot: float,
    draws: int,
    seed: int,
) -> Course:
    """Rate a study to the end, and look at it before every round."""
    metric = DeltaBLEU(tokenize="none" if name != "demo" else "13a")
    planner = RatingPlanner(
        study.references, study.outputs, metric, tau=TAU, draws=draws, seed=seed
    )
    answers = study.answers
    size, wanted = answers.shape
    full = metric.aggregate(planner.ready.rows(study.weights[None])[0].sum(axis=0))
    tied = len(np.unique(full)) < len(full)
    rng = stream(seed, 0)
    counts = np.zeros(size, dtype=np.int64)
    counts[rng.permutation(size)[: max(3, round(pilot * size))]] = wanted
    luck, looks = rng.random(size), []
    while True:
        look = planner.look(_so_far(answers, counts))
        tau = 1.0 - 2.0 * float(discordant_share(full, look.expected))
        looks.append(Look(float(counts.sum()) / answers.size, tau, look.chance, tied))
        if counts.sum() == answers.size:
            return Course(name, order, tuple(looks))
        following = _following(planner, look, study, order, counts, luck)
        given = following[: max(1, round(step * answers.size))]
        counts = counts + np.bincount(given, minlength=size)


def _so_far(answers: Array, counts: Ints) -> RatedSoFar:
    given = np.arange(answers.shape[1]) < counts[:, None]
    sums = np.where(given, answers, 0.0).sum(axis=1)
    means = np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
    found = mean_reliability(answers[given], np.repeat(np.arange(len(counts)), counts))
    variance = RATING_VARIANCE if found is None else found.within
    return RatedSoFar(means, counts, answers.shape[1], variance)


def _following(
    planner: RatingPlanner,
    look: RatingLook,
    study: WrittenStudy,
    order: Order,
    counts: Ints,
    luck: Array,
) -> Ints:
    """The references of the ratings that come next."""
    if order == "value":
        values, _ = planner.values(look)
        return rating_order(values, look.forecast)[0]
    size, wanted = study.answers.shape
    number, place = np.repeat(np.arange(wanted), size), np.tile(np.arange(size), wanted)
    if order == "random":
        # As the rating server does: all references get a rating before any gets another.
        key = number + luck[place]
    else:
        key = 1000.0 * _origin_places(study)[place] + number + luck[place]
    open_ = number >= counts[place]
    chosen: Ints = place[open_][np.argsort(key[open_], kind="stable")]
    return chosen


def _origin_places(study: WrittenStudy) -> Array:
    """Originals first, then mined ones by rank, then what is probably bad."""
    references = [one for item in study.references.items or () for one in item.references]
    return np.array(
        [
            _ORIGINS.index(one.origin)
            + (0.0 if one.source is None or one.source.rank is None else one.source.rank / 100.0)
            for one in references
        ]
    )


def demo_study(seed: int) -> WrittenStudy:
    """The demo, whose references have five ratings each, in random order."""
    study = read_study(_DEMO)
    answers = study.ratings.of_references(study.items)
    counts = np.bincount(answers.reference, minlength=len(answers.references))
    fewest = int(counts.min())
    rng = stream(seed, 1)
    keys = answers.reference + rng.random(len(answers))
    values = answers.values[np.argsort(keys)]
    starts = np.concatenate(([0], np.cumsum(counts)[:-1]))
    chosen = values[starts[:, None] + np.arange(fewest)]
    outputs = [list(texts) for texts in study.outputs.values()]
    return WrittenStudy(reference_set(study.items), outputs, chosen)


Job = tuple[str, Order, int]


def plan_studies(
    studies: int = _STUDIES,
    demo_runs: int = _DEMO_RUNS,
    *,
    sizes: dict[str, StudySize] | None = None,
    step: float = 0.05,
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Course]:
    """Rate large studies and the demo in every order."""
    large = _LARGE if sizes is None else sizes
    jobs: list[Job] = [("demo", order, seed) for seed in range(demo_runs) for order in ORDERS]
    jobs += [(name, order, seed) for seed in range(studies) for name in large for order in ORDERS]
    return _work(partial(_planned, sizes=large, step=step), jobs, processes, progress)


def _planned(job: Job, sizes: dict[str, StudySize], step: float) -> Course:
    name, order, seed = job
    if name == "demo":
        study, pilot = demo_study(seed), _SMALL_PILOT
    else:
        study, pilot = write_study(sizes[name], seed), _PILOT
    return follow(study, name, order, step=step, pilot=pilot, draws=200, seed=seed)


def stop_studies(
    studies: int,
    *,
    order: Order = "value",
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Course]:
    """Rate small studies, and look before every twentieth part of the ratings.

    A fifth as many of each kind that the forecast was not made for.
    """
    others = max(1, studies // _OTHERS)
    jobs: list[Job] = [(_USUAL, order, seed) for seed in range(studies)]
    jobs += [(name, order, seed) for name in _KINDS if name != _USUAL for seed in range(others)]
    return _work(_stopped, jobs, processes, progress)


def _stopped(job: Job) -> Course:
    name, order, seed = job
    rng = stream(seed, 2)
    size = StudySize(
        items=int(rng.integers(40, 150)),
        references=int(rng.integers(5, 13)),
        systems=int(rng.integers(2, 7)),
        raters=int(rng.integers(3, 6)),
        spread=float(rng.uniform(0.0, 0.5)),
        telling=float(rng.choice([0.0, 0.5, 1.0])),
    )
    study = write_study(replace(size, **_KINDS[name]), 10_000 + seed)
    return follow(study, name, order, step=0.05, pilot=_SMALL_PILOT, draws=400, seed=seed)


def _work(
    function: Callable[[Job], Course],
    jobs: Sequence[Job],
    processes: int | None,
    progress: Progress | None,
) -> list[Course]:
    workers = min(processes or os.cpu_count() or 1, len(jobs))
    found = []
    if workers == 1:
        for job in jobs:
            found.append(function(job))
        return found
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        for course in pool.map(function, jobs):
            found.append(course)
            if progress is not None and len(found) % 10 == 0:
                progress(len(found), len(jobs))
    return found


def planning_table(courses: Sequence[Course]) -> str:
    """Markdown: the share of ratings that the ranking needs, by study and order."""
    lines = [
        f"| study | runs | {' | '.join(ORDERS)} | value / random |",
        f"| --- | --: |{' --: |' * (len(ORDERS) + 1)}",
    ]
    for study in dict.fromkeys(one.study for one in courses):
        shares = [
            [one.needed for one in courses if (one.study, one.order) == (study, order)]
            for order in ORDERS
        ]
        means = [float(np.mean(some)) for some in shares]
        cells = [f"{mean:.0%}" for mean in means]
        lines.append(
            f"| {study} | {len(shares[0])} | {' | '.join(cells)} | {means[0] / means[1]:.2f} |"
        )
    return "\n".join(lines)


def stopping_table(courses: Sequence[Course]) -> str:
    """Markdown: where rating stopped, and how often the conclusion was another, by kind."""
    lines = [
        "| small studies | number | stopped early | ratings given | other conclusion "
        "| of studies without ties |",
        "| --- | --: | --: | --: | --: | --: |",
    ]
    for kind in dict.fromkeys(one.study for one in courses):
        stops = [one.stopped for one in courses if one.study == kind]
        early = np.mean([one.share < 1.0 for one in stops])
        given = np.mean([one.share for one in stops])
        wrong = [one.tau < TAU for one in stops]
        untied = [one.tau < TAU for one in stops if not one.tied]
        lines.append(
            f"| {kind} | {len(stops)} | {early:.0%} | {given:.0%} | {np.mean(wrong):.1%} | "
            f"{np.mean(untied):.1%} ({sum(untied)} of {len(untied)}) |"
        )
    return "\n".join(lines)


def calibration_table(courses: Sequence[Course]) -> str:
    """Markdown: chances at all looks, and how often the ranking did stay."""
    bins = ((0.0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 0.9), (0.9, 0.95), (0.95, 1.01))
    looks = [
        look for one in courses if one.study == _USUAL for look in one.looks if look.share < 1.0
    ]
    lines = ["| chance said | looks | mean | ranking stayed |", "| --- | --: | --: | --: |"]
    for low, high in bins:
        some = [one for one in looks if low <= one.chance < high]
        if some:
            mean = np.mean([one.chance for one in some])
            stayed = np.mean([one.tau >= TAU for one in some])
            lines.append(
                f"| {low:.0%} to {min(high, 1.0):.0%} | {len(some):,} | {mean:.1%} | {stayed:.1%} |"
            )
    return "\n".join(lines)
