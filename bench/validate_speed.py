"""Validation of a shared task's metrics: seconds, memory, growth, and beside scipy's own loops."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any

import numpy as np
from scipy import stats

from bench.score_speed import _peak, _reset_peak, _resident
from bench.timing import best_of
from deltableu.corpus import ScoreTable
from deltableu.stats import stream
from deltableu.validate import ValidationPlan, validate_metrics
from deltableu.validate.agreement_bootstrap import drawn_agreements
from deltableu.validate.levels import Level, Measure
from deltableu.validate.metric_tests import compare_metrics
from deltableu.validate.resampled_scores import ResampledScores

__all__ = ["main"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: Systems, items and metrics.
SIZES = ((30, 1_000, 10), (30, 3_000, 40))
#: Systems, metrics, and numbers of items.
GROWTH = (4, 4, (10_000, 100_000))
#: Draws and exchanges that the loops are timed on.
FEW = 3


def shared_task(systems: int, items: int, metrics: int) -> tuple[dict[str, Array], Array]:
    """Scores of ever noisier metrics, and people's: means of three ratings from 0 to 100."""
    rng = np.random.default_rng(0)
    quality = 0.3 * rng.normal(size=(systems, 1)) + 0.5 * rng.normal(size=(1, items))
    quality = quality + rng.normal(size=(systems, items))
    ratings = 50.0 + 15.0 * (quality + rng.normal(size=(3, systems, items)))
    human = np.clip(np.round(ratings), 0.0, 100.0).mean(axis=0)
    noises = 0.5 + 2.0 * np.arange(metrics) / metrics
    scores = {
        f"metric {number}": quality + noise * rng.normal(size=quality.shape)
        for number, noise in enumerate(noises.tolist())
    }
    return scores, human


def tables(scores: dict[str, Array], human: Array) -> tuple[ScoreTable, ScoreTable]:
    names = [f"system {number}" for number in range(len(human))]
    people = ScoreTable.of({"people": dict(zip(names, human, strict=True))})
    rows = {name: dict(zip(names, own, strict=True)) for name, own in scores.items()}
    return ScoreTable.of(rows), people


def whole(systems: int, items: int, metrics: int) -> None:
    """All levels, intervals, tests and winners, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.validate_speed", *map(str, (systems, items, metrics))],
        capture_output=True,
        text=True,
        check=True,
    )
    seconds, processor, loaded, peak = map(float, done.stdout.split())
    print(
        f"  {systems} systems x {items:7,} items x {metrics:2} metrics  {seconds:6.1f} s   "
        f"processor {processor:6.1f} s   peak {peak:5.0f} MB, {peak - loaded:4.0f} MB above the "
        f"scores   {1e9 * processor / (systems * items * metrics):6.0f} ns per score"
    )


def measure_once(systems: int, items: int, metrics: int) -> None:
    """For `whole`: seconds, seconds of the processor, megabytes with the scores and at the peak."""
    given = tables(*shared_task(systems, items, metrics))
    loaded = _resident()
    _reset_peak()
    start, processor = time.perf_counter(), time.process_time()
    validate_metrics(*given, plan=ValidationPlan())
    spent = time.perf_counter() - start, time.process_time() - processor
    print(*spent, loaded, _peak())


def beside_loops(systems: int, items: int, metrics: int) -> None:
    """Intervals and tests as scipy is used for them, one draw or exchange after the other."""
    scores, human = shared_task(systems, items, metrics)
    rng = stream(0)
    draws = rng.integers(items, size=(FEW, items))
    peers: dict[str, Any] = {
        "pearson": stats.pearsonr,
        "spearman": stats.spearmanr,
        "kendall-b": stats.kendalltau,
    }
    for method, peer in peers.items():
        how = Measure(method, "pooled", "zero", 25.0)  # type: ignore[arg-type]

        def ours(how: Measure = how) -> object:
            own = [ResampledScores.of(one, human, how) for one in scores.values()]
            return drawn_agreements(own, resamples=1000, threads=1)

        def theirs(peer: Any = peer) -> object:
            return [
                peer(one[:, drawn].ravel(), human[:, drawn].ravel())
                for one in scores.values()
                for drawn in draws
            ]

        report(f"intervals, pooled, {method}", best_of(ours, 1), best_of(theirs, 1) / FEW * 1000)
    levels: tuple[Level, ...] = ("pooled", "item")
    for level in levels:

        def test(level: Level = level) -> object:
            return compare_metrics(scores, human, test="perm-items", level=level, threads=1)

        def agree(one: Array, level: Level = level) -> float:
            if level == "pooled":
                return float(stats.pearsonr(one.ravel(), human.ravel()).statistic)
            return float(np.mean(stats.pearsonr(one, human, axis=0).statistic))

        def loop(agree: Any = agree) -> object:
            found = []
            first, second, *_ = scores.values()
            for _ in range(FEW):
                swap = rng.random(items) < 0.5
                sides = np.where(swap, second, first), np.where(swap, first, second)
                found.append(agree(sides[0]) - agree(sides[1]))
            return found

        pairs = metrics * (metrics - 1) // 2
        exchanges = max(1000, 40 * pairs)  # what Holm's correction needs
        slow = best_of(loop) / FEW * exchanges * pairs
        report(f"tests of {pairs} pairs, {level}, pearson", best_of(test, 1), slow)


def report(what: str, ours: float, theirs: float) -> None:
    print(
        f"  {what:34}  deltableu {ours:7.2f} s   scipy {theirs:9.0f} s (from {FEW})   "
        f"ratio {theirs / ours:7.0f}x"
    )


def main() -> None:
    print("validation with defaults, all cores")
    for size in SIZES:
        whole(*size)
    systems, metrics, sizes = GROWTH
    for items in sizes:
        whole(systems, items, metrics)
    print("\n1,000 draws, and PERM-INPUT, of 30 systems x 1,000 items x 10 metrics, 1 thread")
    beside_loops(*SIZES[0])


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure_once(*map(int, sys.argv[1:]))
    else:
        main()
