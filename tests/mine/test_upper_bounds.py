"""What is not looked at could not have won: upper bounds change no result."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.corpus import Item, Reference
from deltableu.logs import find_partitions
from deltableu.mine import BM25, MiningPlan, RowFilter, mine_references, upper_bounds
from deltableu.mine import bm25 as bm25_module
from deltableu.mine.bm25 import Bm25Scorer
from deltableu.mine.rows import LogRows, Queries
from deltableu.text import WordRule
from tests.mine import unpruned
from tests.mine.test_exact import EVERYTHING, items, pairs, zipf_corpus
from tests.uncompiled import run_uncompiled

#: All terms dense, none, and as it is.
DENSE = (10**9, 0, upper_bounds._DENSE)
similarities = st.builds(
    BM25,
    on=st.sampled_from(["both", "utterance", "response"]),
    idf=st.sampled_from(["lucene", "robertson", "atire"]),
    product=st.sampled_from(["damped", "plain"]),
    k1=st.sampled_from([0.0, 0.9, 1.5, 40.0]),
    b=st.sampled_from([0.0, 0.4, 1.0]),
    alpha=st.sampled_from([0.0, 1e-9, 0.5, 1.0]),
    epsilon=st.sampled_from([0.0, 0.1, 30.0]),
)


def scored(scorer, rows, admitted, thresholds, candidates=Bm25Scorer.candidates):
    """The score of each row and item that are candidates."""
    found: dict[tuple[int, int], float] = {}
    begin = 0
    while begin < len(rows):
        best = candidates(scorer, rows, begin, admitted, thresholds)
        keys = zip(best.rows.tolist(), best.items.tolist(), strict=True)
        found.update(zip(keys, best.scores.tolist(), strict=True))
        assert best.done > begin
        begin = best.done
    return found


def scorer_of(similarity, queries, logs):
    """A scorer of a log, and its rows."""
    rule = WordRule()
    counter = similarity.counter(
        Queries.of(
            [one.message for one in queries], [one.references[0].text for one in queries], rule
        )
    )
    (partition,) = find_partitions(logs, partition_bytes=10**9)
    (block,) = partition.blocks()
    rows = LogRows(block, rule)
    return counter.scorer(counter.count(rows)), rows


@settings(max_examples=80, deadline=None)
@given(pairs, items, similarities, st.randoms(use_true_random=False))
def test_candidates_are_all_that_exceed_thresholds(logs, queries, similarity, rng):
    """Also where a score is the threshold, or the next number; also with bounds made before."""
    scorer, rows = scorer_of(similarity, queries, logs)
    admitted = np.array([rng.random() < 0.9 for _ in logs], np.uint8)
    every = scored(scorer, rows, admitted, np.zeros(len(queries)), unpruned.candidates)
    by_item = [[s for (_, item), s in every.items() if item == at] for at in range(len(queries))]

    def threshold(scores):
        score = rng.choice([0.0, *scores])
        return rng.choice([score, np.nextafter(score, 0.0), np.nextafter(score, math.inf)])

    thresholds = np.array([threshold(scores) for scores in by_item])
    for higher in (thresholds * 0.99, thresholds, np.nextafter(thresholds, math.inf)):
        wanted = {key: score for key, score in every.items() if score > higher[key[1]]}
        for dense in DENSE:
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(upper_bounds, "_DENSE", dense)
                patch.setattr(bm25_module, "_CAPACITY", rng.choice([0, 5, 1000]))
                fresh = replace(scorer, bounds=replace(scorer.bounds, kept=upper_bounds._Kept()))
                assert scored(fresh, rows, admitted, higher) == wanted
                assert scored(scorer, rows, admitted, higher) == wanted


@pytest.mark.parametrize(
    "similarity",
    [
        BM25(),
        BM25(product="plain"),
        BM25(epsilon=30.0),
        BM25(alpha=1e-9, epsilon=0.0),
        BM25(alpha=0.01, idf="atire"),
        BM25(k1=40.0, b=1.0, idf="robertson"),
        BM25(k1=0.0),
        BM25("utterance"),
        BM25("response", k1=9.0, b=0.0),
    ],
)
@pytest.mark.parametrize("place", [0, 2, 40])
def test_thresholds_of_a_place(similarity, place, monkeypatch):
    """The best of each item are found with thresholds just below and just above their scores."""
    queries = queries_of(zipf_corpus(8, 20, vocabulary=60, most=12))
    scorer, rows = scorer_of(similarity, queries, zipf_corpus(9, 120, vocabulary=60, most=14))
    admitted = np.ones(len(rows), np.uint8)
    every = scored(scorer, rows, admitted, np.zeros(20), unpruned.candidates)
    scores = np.zeros((20, len(rows)))
    for (row, item), score in every.items():
        scores[item, row] = score
    at_place = np.sort(scores)[:, -1 - place].copy()
    for thresholds in (np.nextafter(at_place, 0.0), at_place):
        wanted = {key: score for key, score in every.items() if score > thresholds[key[1]]}
        assert scored(scorer, rows, admitted, thresholds) == wanted


def queries_of(corpus):
    return [
        Item(str(number), (Reference("own", response),), message=message)
        for number, (message, response) in enumerate(corpus)
    ]


def mined(logs, queries, plan, **run):
    found = mine_references(queries, logs, plan=plan, **run)
    return found.study.items, found.record()


@pytest.mark.parametrize("similarity", [BM25(), BM25(product="plain"), BM25("utterance", b=0.2)])
def test_mining_finds_the_same_however_it_runs(similarity, monkeypatch):
    """Order, scores, ties; threads, partitions and few candidates at a time."""
    logs = zipf_corpus(3, 1200, vocabulary=400, most=12)
    logs += logs[:200]
    queries = queries_of(zipf_corpus(4, 25, vocabulary=400, most=12))
    plan = MiningPlan(similarity, top=5, rows=EVERYTHING)
    with monkeypatch.context() as patch:
        patch.setattr(Bm25Scorer, "candidates", unpruned.candidates)
        wanted = mined(logs, queries, plan, threads=1)
    for dense in DENSE:
        monkeypatch.setattr(upper_bounds, "_DENSE", dense)
        for threads, partition_bytes, capacity in (
            (1, 10**7, 1 << 16),
            (2, 9000, 50),
            (3, 2500, 7),
        ):
            monkeypatch.setattr(bm25_module, "_CAPACITY", capacity)
            run = {"threads": threads, "partition_bytes": partition_bytes}
            assert mined(logs, queries, plan, **run) == wanted


UNCOMPILED = """
import json, math
from deltableu.mine import BM25, MiningPlan, mine_references
from tests.mine.test_exact import EVERYTHING, zipf_corpus
from tests.mine.test_upper_bounds import queries_of
found = mine_references(
    queries_of(zipf_corpus(4, 8, vocabulary=100, most=9)),
    zipf_corpus(3, 150, vocabulary=100, most=9),
    plan=MiningPlan(BM25(), top=3, rows=EVERYTHING),
)
print(json.dumps(repr(found.study.items)))
"""


def test_uncompiled():
    plan = MiningPlan(BM25(), top=3, rows=EVERYTHING)
    queries = queries_of(zipf_corpus(4, 8, vocabulary=100, most=9))
    logs = zipf_corpus(3, 150, vocabulary=100, most=9)
    made, _ = mined(logs, queries, plan)
    assert run_uncompiled(UNCOMPILED) == repr(made)


@pytest.mark.parametrize(
    "similarity",
    [BM25(), BM25("response", idf="atire"), BM25(k1=60.0, epsilon=4.0), BM25(k1=1e300)],
)
@pytest.mark.parametrize("count", [1, 2, 300])
def test_words_that_rows_and_items_repeat(similarity, count):
    """Of few different words most are repeated, some of them many times."""
    queries = queries_of(zipf_corpus(11, count, vocabulary=25, most=30))
    logs = zipf_corpus(12, 50, vocabulary=25, most=40)
    logs += [(" ".join(["w0 w1"] * 400), " ".join(["w1"] * 300)), (logs[0][0], logs[0][1] * 40)]
    scorer, rows = scorer_of(similarity, queries, logs)
    admitted = np.ones(len(rows), np.uint8)
    every = scored(scorer, rows, admitted, np.zeros(count), unpruned.candidates)
    scores = np.zeros((count, len(rows)))
    for (row, item), score in every.items():
        scores[item, row] = score
    for place in (1, 3, 20):
        at_place = np.sort(scores)[:, -place].copy()
        for thresholds in (np.nextafter(at_place, 0.0), at_place):
            wanted = {key: score for key, score in every.items() if score > thresholds[key[1]]}
            assert scored(scorer, rows, admitted, thresholds) == wanted


def test_long_queries_and_rows(monkeypatch):
    """More terms than hits can tell apart."""
    rng = np.random.default_rng(7)
    words = np.array([f"w{number}" for number in range(3000)])
    long = [
        (" ".join(rng.choice(words, 2500)), " ".join(rng.choice(words, 2500))) for _ in range(4)
    ]
    logs = long[:3] + zipf_corpus(5, 60, vocabulary=3000)
    queries = queries_of(long[2:] + zipf_corpus(6, 5, vocabulary=3000))
    plan = MiningPlan(BM25(), top=4, rows=RowFilter(min_words=0, junk=False))
    with monkeypatch.context() as patch:
        patch.setattr(Bm25Scorer, "candidates", unpruned.candidates)
        wanted = mined(logs, queries, plan)
    for dense in DENSE:
        monkeypatch.setattr(upper_bounds, "_DENSE", dense)
        assert mined(logs, queries, plan) == wanted


def test_most_pairs_are_never_looked_at():
    """High thresholds leave little to look at."""
    logs = zipf_corpus(1, 3000)
    queries = queries_of(zipf_corpus(2, 60))
    scorer, rows = scorer_of(BM25(), queries, logs)
    every = scored(scorer, rows, np.ones(len(rows), np.uint8), np.zeros(60))
    best = np.zeros(60)
    for (_, item), score in every.items():
        best[item] = max(best[item], score)
    looks = []
    for part in (0.1, 0.4, 1.0):
        fresh = replace(scorer, bounds=replace(scorer.bounds, kept=upper_bounds._Kept()))
        scored(fresh, rows, np.ones(len(rows), np.uint8), best * part)
        looks.append(int(fresh.bounds.kept.worths.tally[0]))
    assert looks[0] > looks[1] > looks[2]
    assert looks[2] < 0.05 * len(rows) * 60
