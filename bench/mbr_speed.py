"""Minimum Bayes risk over 100 candidates for 1,000 items, beside loops and packages that do it.

Each package is installed into an environment of its own in a temporary folder, where pip can reach
one to install from.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import sacrebleu

from bench.corpora import zipf_corpus
from bench.timing import best_of
from deltableu.corpus import NBestLists, ReferenceSet
from deltableu.score import BLEU
from deltableu.tune import DeltaBLEUReward, MBRPlan, minimum_bayes_risk

__all__ = ["main"]

ITEMS, CANDIDATES = 1_000, 100
#: Items of the slow ways.
SAMPLE = 2
PEER_SAMPLE = 20

#: What runs in an environment that has the package: seconds and chosen candidates, as JSON.
_FASTCHRF = """
import json, sys, time
from fastchrf import aggregate_chrf, pairwise_chrf
rows = json.load(open(sys.argv[1]))
start = time.perf_counter()
exact = [[sum(row) for row in item] for item in pairwise_chrf(rows, rows)]
middle = time.perf_counter()
fast = aggregate_chrf(rows, rows)
end = time.perf_counter()
best = lambda scores: max(range(len(scores)), key=lambda place: scores[place])
print(json.dumps([[middle - start, [*map(best, exact)]], [end - middle, [*map(best, fast)]]]))
"""
_MBRS = """
import json, sys, time
from mbrs.decoders import DecoderAggregateMBR, DecoderMBR
from mbrs.metrics import MetricChrF
rows = json.load(open(sys.argv[1]))
found = []
for decoder in (DecoderMBR, DecoderAggregateMBR):
    metric = MetricChrF(MetricChrF.Config(fastchrf=True))
    made = decoder(decoder.Config(), metric)
    start = time.perf_counter()
    chosen = [made.decode(row, row, nbest=1).idx[0] for row in rows]
    found.append([time.perf_counter() - start, chosen])
print(json.dumps(found))
"""


def perturbed_lists(items: int, candidates: int, seed: int = 0) -> NBestLists:
    """Texts of 8 to 16 words with other words in some places, as samples of a model differ."""
    rng = np.random.default_rng(seed)
    bases = [text.split() for text in zipf_corpus(items, 1, seed).hypotheses]
    words = [word for base in bases[:300] for word in base]
    texts = []
    for base in bases:
        for _ in range(candidates):
            other = rng.random(len(base)) < 0.3
            text = [
                words[rng.integers(len(words))] if new else word
                for word, new in zip(base, other, strict=True)
            ]
            if rng.random() < 0.5:
                text.pop(int(rng.integers(len(text))))
            texts.append(" ".join(text))
    ids = tuple(map(str, range(items)))
    bounds = np.arange(items + 1) * candidates
    return NBestLists(ids, bounds, tuple(texts), ("LM",), np.zeros((len(texts), 1)))


def seconds_of(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def ours(lists: NBestLists) -> dict[tuple[str, bool], float]:
    """Seconds of each utility, on one thread; by all pairs and from expected counts."""
    found = {}
    for utility, aggregate in (
        ("bleu", False),
        ("bleu", True),
        ("chrf", False),
        ("chrf", True),
        ("delta-bleu", False),
    ):
        plan = MBRPlan(aggregate=aggregate)
        both = {
            threads: best_of(
                lambda threads=threads: minimum_bayes_risk(  # type: ignore[misc]
                    lists,
                    utility,  # noqa: B023
                    plan,  # noqa: B023
                    threads=threads,
                ),
                repeats=2,
            )
            for threads in (1, 2)
        }
        found[utility, aggregate] = both[1]
        way = "expected counts" if aggregate else "exact"
        print(f"  {utility:10} {way:15}  1 thread {both[1]:6.2f} s   2 threads {both[2]:6.2f} s")
    return found


def agreement(lists: NBestLists) -> None:
    """How often expected counts choose what all pairs do."""
    plan = MBRPlan(aggregate=True, compare_exact=True)
    for utility in ("bleu", "chrf"):
        found = minimum_bayes_risk(lists, utility, plan)
        print(f"  {utility:10} {found.agreement:.1%} of items, mean loss {found.loss:.3f}")


def against_loops(lists: NBestLists, found: dict[tuple[str, bool], float]) -> None:
    """A loop over sacreBLEU's sentence scores, on some of the items."""
    bleu = sacrebleu.BLEU(smooth_method="add-k", smooth_value=1, effective_order=True)
    chrf = sacrebleu.CHRF()
    bleu_plan = BLEU(smooth="add-k")
    for name, metric, utility in (("bleu", bleu, bleu_plan), ("chrf", chrf, "chrf")):
        chosen: list[int] = []
        theirs = seconds_of(
            lambda metric=metric, chosen=chosen: chosen.extend(  # type: ignore[misc]
                _loop(lists.candidates(item), metric) for item in range(SAMPLE)
            )
        )
        same = minimum_bayes_risk(lists.select(range(SAMPLE)), utility)
        places = (same.chosen - same.lists.bounds[:-1]).tolist()
        whole = theirs / SAMPLE * len(lists)
        print(
            f"  {name:10} {theirs:6.2f} s for {SAMPLE} items, {whole:7,.0f} s for all: ratio "
            f"{whole / found[name, False]:6,.0f}x (same choices: {places == chosen})"
        )


def _loop(texts: Sequence[str], metric: Any) -> int:
    sums = [sum(metric.sentence_score(one, [other]).score for other in texts) for one in texts]
    return int(np.argmax(np.round(sums, 6)))


def against_package(name: str, program: str, packages: Sequence[Sequence[str]], lists: Any) -> None:
    """chrF by a package, on one thread, beside ours on the same items."""
    sample = lists.select(range(PEER_SAMPLE))
    rows = [list(sample.candidates(item)) for item in range(PEER_SAMPLE)]
    with tempfile.TemporaryDirectory() as folder:
        python = _environment(Path(folder, "env"), packages)
        if python is None:
            print(f"  {name}: not measured, because pip cannot install it here")
            return
        path = Path(folder, "rows.json")
        path.write_text(json.dumps(rows))
        one = dict.fromkeys(("RAYON_NUM_THREADS", "OMP_NUM_THREADS"), "1")
        done = subprocess.run(
            [str(python), "-c", program, str(path)],
            capture_output=True,
            text=True,
            check=False,
            env=os.environ | one | {"PYTHONPATH": ""},
        )
    if done.returncode:
        print(f"  {name}: not measured, because it fails here: {done.stderr.splitlines()[-1]}")
        return
    for aggregate, (theirs, chosen) in enumerate(json.loads(done.stdout.splitlines()[-1])):
        plan = MBRPlan(aggregate=bool(aggregate))
        seconds = best_of(lambda plan=plan: minimum_bayes_risk(sample, "chrf", plan, threads=1))  # type: ignore[misc]
        found = minimum_bayes_risk(sample, "chrf", plan)
        same = np.mean((found.chosen - sample.bounds[:-1]) == np.array(chosen))
        way = "expected counts" if aggregate else "exact"
        print(
            f"  {name:9} {way:15}  theirs {theirs:7.3f} s   ours {seconds:6.3f} s   ratio "
            f"{theirs / seconds:5.1f}x   same choices {same:.0%}"
        )


def _environment(folder: Path, packages: Sequence[Sequence[str]]) -> Path | None:
    """A new environment with the packages, installed one set after the other; None if not."""
    venv.create(folder, with_pip=True)
    python = folder / ("Scripts/python.exe" if sys.platform == "win32" else "bin/python")
    for some in packages:
        command = [
            str(python),
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            *some,
        ]
        done = subprocess.run(command, capture_output=True, check=False)
        if done.returncode:
            return None
    return python


def reward_batches() -> None:
    """64 texts of any items as a trainer asks, references encoded."""
    corpus = zipf_corpus(2_000, 8)
    ids = [f"q{number}" for number in range(2_000)]
    reward = DeltaBLEUReward(ReferenceSet(corpus.references, corpus.weights, item_ids=ids))
    rng = np.random.default_rng(0)
    places = rng.integers(0, 2_000, 64)
    completions = [corpus.hypotheses[place] for place in places]
    chosen = [ids[place] for place in places]

    def calls() -> None:
        for _ in range(200):
            reward(completions=completions, id=chosen)

    milliseconds = best_of(calls, repeats=5) / 200 * 1e3
    print(f"  64 texts of 2,000 items with 8 references each: {milliseconds:.3f} ms")


def single_rewards() -> None:
    """One text against 16 references, by itself and as a batch of one would be scored."""
    corpus = zipf_corpus(2_000, 16)
    ids = [f"q{number}" for number in range(2_000)]
    reward = DeltaBLEUReward(ReferenceSet(corpus.references, corpus.weights, item_ids=ids))

    def one_by_one() -> None:
        for id, text in zip(ids, corpus.hypotheses, strict=True):
            reward.compute_score("bench", text, id)

    def batches_of_one() -> None:
        for place, text in enumerate(corpus.hypotheses):
            taken = reward.encoded.take(np.array([place]))
            reward.metric.statistics([text], taken, threads=1).segment_scores()

    alone, batches = (
        1e6 * best_of(call, repeats=5) / len(ids) for call in (one_by_one, batches_of_one)
    )
    print(
        f"  one text against 16 references: {alone:.0f} microseconds; as a batch of one "
        f"{batches:.0f}, ratio {batches / alone:.1f}x"
    )


def main() -> None:
    lists = perturbed_lists(ITEMS, CANDIDATES)
    print(f"minimum Bayes risk, {CANDIDATES} candidates for each of {ITEMS:,} items, best of 2")
    found = ours(lists)
    print("\nexpected counts choose the same text as all pairs")
    agreement(lists)
    print("\nbeside a loop over sacreBLEU's sentence scores")
    against_loops(lists, found)
    print(f"\nbeside packages, chrF, {PEER_SAMPLE} items, 1 thread")
    against_package("fastchrf", _FASTCHRF, [["fastchrf"]], lists)
    against_package("mbrs", _MBRS, [["torch==2.13.0"], ["mbrs", "setuptools<81"]], lists)
    print("\na batch of rewards")
    reward_batches()
    print("\nsingle rewards")
    single_rewards()


if __name__ == "__main__":
    main()
