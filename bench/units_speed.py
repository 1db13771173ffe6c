"""Table 2 and Figure 2 of the delta-BLEU paper beside the same in plain Python."""

from __future__ import annotations

import time
from collections.abc import Sequence
from itertools import combinations

import numpy as np

from bench.plain_units import plain_correlations, plain_observations
from deltableu.corpus import Item, Reference, ScoreTable, Study, reference_set
from deltableu.rate import pair_scores
from deltableu.score import Metric
from deltableu.validate import SweepName, SweepPlan, UnitIntervalPlan, UnitPlan, swept_metrics
from deltableu.validate.sweep_work import SweepWork
from deltableu.validate.units import assign, orient

__all__ = ["main"]

ITEMS, SYSTEMS, PAIRS, REFERENCES = 2114, 7, 12, 16
FIGURES: tuple[SweepName, ...] = ("settings", "threshold", "unit-size", "order")
EVERYTHING: tuple[SweepName, ...] = (*FIGURES, "references", "origin")
_ORIGINS = ("original", *("mined",) * 12, "parrot", "random", "random")
_WORDS = [f"w{number}" for number in range(3000)]


def a_study(items: int = ITEMS, seed: int = 0) -> tuple[Study, ScoreTable]:
    """Texts of about the paper's size: replies of about ten words, 16 rated references each."""
    rng = np.random.default_rng(seed)
    common = 1.0 / np.arange(1, len(_WORDS) + 1)
    common /= common.sum()

    def texts(size: int) -> list[str]:
        lengths = rng.integers(4, 17, size=size)
        drawn = rng.choice(len(_WORDS), size=int(lengths.sum()), p=common)
        cuts = np.split(drawn, np.cumsum(lengths)[:-1])
        return [" ".join(_WORDS[word] for word in cut) for cut in cuts]

    references = texts(items * REFERENCES)
    weights = rng.integers(-10, 11, size=(items, REFERENCES)) / 10
    weights[:, 0] = rng.integers(4, 11, size=items) / 10
    made = []
    for number in range(items):
        own = references[number * REFERENCES : (number + 1) * REFERENCES]
        listed = tuple(
            Reference(f"r{place}", text, float(weights[number, place]), _ORIGINS[place])  # type: ignore[arg-type]
            for place, text in enumerate(own)
        )
        made.append(Item(str(number), listed))
    outputs = {f"s{number}": tuple(texts(items)) for number in range(SYSTEMS)}
    quality = np.linspace(-0.3, 0.3, SYSTEMS)[:, np.newaxis]
    ratings = np.clip(np.rint(3 + quality + rng.normal(size=(SYSTEMS, items))), 1, 5)
    ids = [item.id for item in made]
    people = ScoreTable.of({"people": dict(zip(outputs, ratings.tolist(), strict=True))}, ids)
    return Study(tuple(made), outputs), people


def prepared(
    study: Study, people: ScoreTable, names: Sequence[SweepName], assignments: int
) -> SweepWork:
    """A study whose statistics are there."""
    pairs = list(combinations(study.outputs, 2))[:PAIRS]
    plan = SweepPlan(
        units=UnitPlan(assignments=assignments), intervals=UnitIntervalPlan(method="none")
    )
    references = reference_set(study)
    metrics: tuple[Metric, ...] = swept_metrics(references)
    scores = pair_scores(people, pairs)
    work = SweepWork.of(references, study.outputs, scores, metrics, names, plan, None, None)
    for name in names:
        if name != "references":  # whose texts are drawn as it goes
            work.scores(name)
    return work


def plain_seconds(work: SweepWork) -> float:
    """Processor seconds of one assignment of the settings of Table 2, in plain Python."""
    scores = work.scores("settings")
    sources = [*scores.values(), work.people]
    sides = []
    for number, (a, b) in enumerate(work.pairs):
        sides.append([one.of_pair(number, a, b).tolist() for one in sources])
    aggregates = [lambda sums, one=one: float(one.aggregate(np.array(sums))) for one in sources]
    start = time.process_time()
    observed: list[list[float]] = [[] for _ in sources]
    for number, pair in enumerate(sides):
        items = np.flatnonzero(work.rated[number])
        units = assign(work.units, items, work.rated.shape[1], 0, number, 1)[0].tolist()
        count = work.units.units(len(items))
        signs = orient(work.units, 0, number, (1, count))[0].tolist()
        for place, (first, second) in enumerate(pair):
            observed[place] += plain_observations(first, second, aggregates[place], units, signs)
    for metric in observed[:-1]:
        plain_correlations(metric, observed[-1])
    return time.process_time() - start


def main(assignments: int = 1000) -> None:
    print(f"{PAIRS} pairs of systems x {ITEMS:,} items, {assignments:,} assignments, 3 metrics")
    study, people = a_study()
    start = time.perf_counter()
    work = prepared(study, people, EVERYTHING, assignments)
    print(f"  statistics of all texts           {time.perf_counter() - start:7.2f} s")
    clock, processor = time.perf_counter(), time.process_time()
    table = 0.0
    for name in EVERYTHING:
        start = time.process_time()
        work.sweep(name, None)
        seconds = time.process_time() - start
        table = seconds if name == "settings" else table
        print(f"  {name:33} {seconds:7.2f} s of processor time")
        if name == FIGURES[-1]:
            passed, used = time.perf_counter() - clock, time.process_time() - processor
            print(
                f"  Table 2 and Figure 2              {passed:7.2f} s ({used:.2f} s of processor)"
            )
    plain = min(plain_seconds(work) for _ in range(3)) * assignments
    print(f"  Table 2 in plain Python           {plain:7.0f} s of processor time (from 1 of them)")
    print(f"  ratio                             {plain / table:7.0f}x")


if __name__ == "__main__":
    main()
