"""Minimum error rate training beside a line search as one would write it: speed and memory."""

from __future__ import annotations

import itertools
import os
import time

import numpy as np

from bench.nbest import loglinear_lists
from bench.score_speed import _peak, _reset_peak, _resident
from bench.timing import best_of
from deltableu._types import Array
from deltableu.score import DeltaBLEU
from deltableu.tune import (
    MertSettings,
    TuningProblem,
    candidate_statistics,
    score_line,
    tune_weights,
)

__all__ = ["main"]

ITEMS, CANDIDATES, FEATURES, RESTARTS = 2_000, 100, 15, 20


def plain_line(problem: TuningProblem, totals: Array, slopes: Array) -> float:
    """The best score on a line: lines sorted, a stack for the envelope, corners in order."""
    rows, bounds = problem.statistics.rows, problem.lists.bounds.tolist()
    heights, rises = totals.tolist(), slopes.tolist()
    corners = []
    sums = np.zeros(rows.shape[1])
    for first, last in itertools.pairwise(bounds):
        stack: list[tuple[int, float]] = []
        for one in sorted(range(first, last), key=lambda k: (rises[k], -heights[k])):
            step = -np.inf
            while stack:
                top, since = stack[-1]
                if rises[one] == rises[top]:
                    step = np.inf
                    break
                step = (heights[top] - heights[one]) / (rises[one] - rises[top])
                if step > since:
                    break
                stack.pop()
                step = -np.inf
            if step < np.inf:
                stack.append((one, step))
        sums += rows[stack[0][0]]
        corners += [(step, before, one) for (before, _), (one, step) in itertools.pairwise(stack)]
    corners.sort()
    best = float(problem.metric.aggregate(sums))
    for _, before, one in corners:
        sums = sums + rows[one] - rows[before]
        best = max(best, float(problem.metric.aggregate(sums)))
    return best


def main() -> None:
    lists, references = loglinear_lists(ITEMS, CANDIDATES, features=FEATURES)
    metric = DeltaBLEU(tokenize="none")
    print(
        f"tuning for delta-BLEU: {ITEMS:,} items x {CANDIDATES} candidates x {FEATURES} features, "
        f"16 references per item, {os.cpu_count()} cores"
    )
    encoded = metric.encode(references)
    rows = candidate_statistics(metric, encoded, lists)
    problem = TuningProblem(lists, rows)

    scoring = best_of(lambda: candidate_statistics(metric, encoded, lists), repeats=3)
    print(f"rows of all candidates: {scoring:.2f} s, {len(rows) / scoring / 1e3:.0f} thousand/s")

    rng = np.random.default_rng(0)
    totals, slopes = (problem.totals(rng.normal(size=FEATURES)) for _ in range(2))
    ours = best_of(lambda: score_line(problem, totals, slopes))
    theirs = best_of(lambda: plain_line(problem, totals, slopes), repeats=2)
    line = score_line(problem, totals, slopes)
    apart = abs(float(metric.aggregate(line.sums).max()) - plain_line(problem, totals, slopes))
    print(
        f"one line of {len(line.steps):,} corpora: {1e3 * ours:.1f} ms; plain Python "
        f"{1e3 * theirs:.0f} ms, ratio {theirs / ours:.0f}x; best scores differ by {apart:.0e}"
    )

    loaded = _resident()
    _reset_peak()
    start, worked = time.perf_counter(), time.process_time()
    found = tune_weights(lists, references, metric, settings=MertSettings(restarts=RESTARTS))
    seconds, work = time.perf_counter() - start, time.process_time() - worked
    print(
        f"{RESTARTS} restarts, from texts to weights: {seconds:.1f} s ({work:.1f} s of processor "
        f"time), delta-BLEU {found.training.start:.2f} to {found.training.tuned:.2f}; peak "
        f"{_peak():.0f} MB, {_peak() - loaded:.0f} MB above all that was there"
    )


if __name__ == "__main__":
    main()
