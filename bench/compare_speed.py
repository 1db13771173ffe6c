"""Paired tests beside sacreBLEU's, statistics ready on both sides: speed, growth, memory."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import sacrebleu
from sacrebleu.significance import PairedTest, Result, _paired_ar_test, _paired_bs_test

import deltableu
from bench.corpora import zipf_corpus
from bench.score_speed import _peak, _reset_peak, _resident
from bench.timing import best_of
from deltableu.compare import ComparisonPlan, Test, compare_systems
from deltableu.score import Statistics

__all__ = ["main"]

Systems = dict[str, list[str]]

#: Our name of a test, sacreBLEU's function, and how often each resamples.
_TESTS: tuple[tuple[Test, Any, int], ...] = (
    ("moses", _paired_bs_test, 1_000),
    ("randomization", _paired_ar_test, 10_000),
    ("studentized", _paired_ar_test, 10_000),
)


class ReadyBLEU(sacrebleu.BLEU):
    """sacreBLEU's BLEU that looks up the statistics of texts it knows."""

    def __init__(self, systems: Systems, references: list[str]) -> None:
        super().__init__(tokenize="none", references=[references])
        extract = super()._extract_corpus_statistics
        self.ready = {id(texts): extract(texts, None) for texts in systems.values()}
        self.seconds = 0.0

    def _extract_corpus_statistics(self, hypotheses: Sequence[str], references: Any) -> Any:
        start = time.perf_counter()
        statistics = self.ready[id(hypotheses)]
        self.seconds += time.perf_counter() - start
        return statistics


def noisy_systems(items: int, systems: int) -> tuple[Systems, list[str]]:
    """References, and systems that replace about three words in ten of them."""
    corpus = zipf_corpus(items, 1)
    references = [row[0] for row in corpus.references]
    others = [text.split() for text in corpus.hypotheses]
    outputs: Systems = {}
    for number in range(systems):
        rng = np.random.default_rng(number)
        drawn = rng.random((items, 32)) < 0.3 + 0.002 * number
        outputs[f"system {number}"] = [
            " ".join(
                other[place % len(other)] if replaced else word
                for place, (word, replaced) in enumerate(zip(text.split(), row, strict=False))
            )
            for text, other, row in zip(references, others, drawn.tolist(), strict=True)
        ]
    return outputs, references


def ready_rows(outputs: Systems, references: list[str]) -> dict[str, Statistics]:
    """Our statistics."""
    metric = deltableu.BLEU(tokenize="none")
    encoded = metric.encode([[text] for text in references])
    return {name: metric.statistics(texts, encoded) for name, texts in outputs.items()}


def compare(
    rows: Mapping[str, Statistics],
    test: Test,
    trials: int,
    *,
    baseline: str | None = None,
    threads: int | None = 1,
) -> dict[str, float]:
    """p-values of every system against the baseline, or of all pairs: from rows to intervals."""
    interval: Any = "studentized" if test == "studentized" else "jackknife"
    plan = ComparisonPlan(tests=(test,), interval=interval, trials=trials, resamples=trials)
    (comparison,) = compare_systems(rows, baseline=baseline, plan=plan, threads=threads)
    return {f"{pair.first}, {pair.second}": pair.p_values[test] for pair in comparison.pairs}


def against_sacrebleu() -> None:
    """sacreBLEU compares four systems with a baseline; we do that, and then all ten pairs."""
    outputs, references = noisy_systems(2_000, 5)
    rows = ready_rows(outputs, references)
    metric = ReadyBLEU(outputs, references)
    baseline, *others = outputs
    statistics = metric.ready[id(outputs[baseline])]
    info = {"BLEU": (statistics, Result(metric._aggregate_and_compute(statistics).score))}
    for test, function, trials in _TESTS:
        p_values: dict[str, float] = {}

        def theirs(
            function: Any = function, trials: int = trials, p_values: Any = p_values
        ) -> None:
            for name in others:
                arguments = (info, name, outputs[name], None, {"BLEU": metric})
                _, found = function(*arguments, n_samples=trials, seed=12345)
                p_values[name] = found["BLEU"].p_value

        metric.seconds = 0.0
        slow = best_of(theirs)
        share = metric.seconds / slow
        whole: Any = PairedTest(
            [(baseline, outputs[baseline]), (others[0], outputs[others[0]])],
            {"BLEU": metric},
            None,
            "bs" if test == "moses" else "ar",
            n_samples=trials,
        )
        same = whole()[1]["BLEU"][1].p_value == p_values[others[0]]
        print(
            f"\n{test}, {trials:,} trials: sacreBLEU {slow:.2f} s (of which statistics "
            f"{share:.1%}; its PairedTest says {'the same' if same else 'SOMETHING ELSE'})"
        )
        for threads in (1, 2):
            for pairs, base in ((4, baseline), (10, None)):
                call = partial(compare, rows, test, trials, baseline=base, threads=threads)
                ours = best_of(call, repeats=5)
                print(
                    f"  {threads} thread{'s' if threads > 1 else ' '}  {pairs:2} pairs  "
                    f"deltableu {1000 * ours:6.1f} ms   ratio {slow / ours:5.0f}x"
                )
        found = compare(rows, test, trials, baseline=baseline)
        largest = max(abs(found[f"{name}, {baseline}"] - p_values[name]) for name in others)
        print(f"  largest difference of p-values {largest:.3f}")


def growth() -> None:
    """Nanoseconds for a segment of a trial: constant where cost is linear."""
    outputs, references = noisy_systems(64_000, 2)
    rows = ready_rows(outputs, references)
    steps: tuple[tuple[str, list[tuple[int, int]]], ...] = (
        ("trials", [(trials, 2_000) for trials in (1_000, 2_000, 4_000, 8_000, 16_000)]),
        ("segments", [(1_000, size) for size in (1_000, 4_000, 16_000, 64_000)]),
    )
    for test, _, _ in _TESTS:
        for what, sizes in steps:
            costs = []
            for trials, size in sizes:
                chosen = {name: one[:size] for name, one in rows.items()}
                seconds = best_of(partial(compare, chosen, test, trials))
                costs.append(1e9 * seconds / trials / size)
            grown = "  ".join(
                f"{(trials if what == 'trials' else size) // 1000}k {cost:.2f}"
                for (trials, size), cost in zip(sizes, costs, strict=True)
            )
            print(
                f"  {test:13}  {what:8}  {grown}   largest to smallest size "
                f"{costs[-1] / costs[0]:.2f}"
            )


def memory() -> None:
    """10,000 trials on 100,000 segments, two systems, in a process each."""
    for test, _, _ in _TESTS:
        done = subprocess.run(
            [sys.executable, "-m", "bench.compare_speed", test],
            capture_output=True,
            text=True,
            check=True,
        )
        seconds, loaded, peak = map(float, done.stdout.split())
        print(
            f"  {test:13}  {seconds:5.1f} s   peak {peak:5.0f} MB, "
            f"{peak - loaded:4.0f} MB above the loaded rows and texts"
        )


def measure_once(test: Test) -> None:
    """For `memory`: seconds, megabytes with the rows loaded, at the peak."""
    rows = ready_rows(*noisy_systems(100_000, 2))
    compare({name: one[:10] for name, one in rows.items()}, test, 10)
    loaded = _resident()
    _reset_peak()
    start = time.perf_counter()
    compare(rows, test, 10_000, threads=None)
    print(time.perf_counter() - start, loaded, _peak())


def main() -> None:
    print("paired tests of BLEU, 5 systems x 2,000 segments, statistics ready, best of 3")
    against_sacrebleu()
    print("\ncost in ns per segment and trial, 2 systems, 1 thread")
    growth()
    print("\nmemory, 10,000 trials x 100,000 segments, 2 systems")
    memory()


if __name__ == "__main__":
    if len(sys.argv) > 1:
        measure_once(sys.argv[1])  # type: ignore[arg-type]
    else:
        main()
