"""Scores on disk: nothing is asked twice, nothing finished is lost, nothing is mixed up."""

from __future__ import annotations

import sqlite3
import threading
from contextlib import closing

import pytest

from deltableu.errors import InputError
from deltableu.score import Discriminative, FunctionSimilarity
from deltableu.score.engine.pair_cache import PairCache

PAIRS = [("a", "b"), ("a", "c"), ("", ""), ("ab", "c"), ("a", "bc"), ("é\n", "😀\x00")]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "scores.sqlite"


def saved(path, scores, label="judge"):
    with PairCache(path, label) as cache:
        cache.write(scores.items())


def found(path, pairs, label="judge"):
    with PairCache(path, label) as cache:
        return cache.read(pairs)


def test_scores_come_back_exactly(path):
    scores = {pair: 1 / (3 + number) for number, pair in enumerate(PAIRS)}
    saved(path, scores)
    assert found(path, PAIRS) == scores
    assert found(path, [("a", "b"), ("new", "pair")]) == {("a", "b"): scores["a", "b"]}
    assert found(path, []) == {}


def test_a_later_score_replaces_an_earlier_one(path):
    saved(path, {("a", "b"): 0.25})
    saved(path, {("a", "b"): 0.75})
    assert found(path, [("a", "b")]) == {("a", "b"): 0.75}


def test_hypothesis_reference_and_label_are_kept_apart(path):
    saved(path, {("a", "b"): 0.1})
    assert found(path, [("b", "a"), ("ab", ""), ("", "ab")]) == {}
    assert found(path, [("a", "b")], label="other") == {}
    saved(path, {("a", "b"): 0.9}, label="other")
    assert found(path, [("a", "b")]) == {("a", "b"): 0.1}
    assert found(path, [("a", "b")], label="other") == {("a", "b"): 0.9}


def test_more_pairs_than_one_query_can_name(path):
    scores = {(f"h{number}", "r"): number / 4000 for number in range(1700)}
    saved(path, scores)
    assert found(path, list(scores)) == scores


def test_written_scores_are_there_for_another_process_at_once(path):
    with PairCache(path, "judge") as cache:
        cache.write([(("a", "b"), 0.5)])
        assert found(path, [("a", "b")]) == {("a", "b"): 0.5}


def test_several_writers_share_a_file(path):
    def write(number):
        for step in range(10):
            saved(path, {(f"{number}", f"{step}"): 0.5})

    threads = [threading.Thread(target=write, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    everything = [(f"{number}", f"{step}") for number in range(4) for step in range(10)]
    assert len(found(path, everything)) == 40


def test_an_error_keeps_what_was_written_and_closes_the_file(path):
    def stop(cache):
        with cache:
            cache.write([(("a", "b"), 0.5)])
            raise RuntimeError("stop")

    cache = PairCache(path, "judge")
    with pytest.raises(RuntimeError, match="stop"):
        stop(cache)
    assert found(path, [("a", "b")]) == {("a", "b"): 0.5}
    with pytest.raises(sqlite3.ProgrammingError):
        cache._base.execute("SELECT 1")


# --- Files that are no cache ----------------------------------------------------------------------


def no_database(path):
    path.write_bytes(b"hypothesis,reference,score\n" * 50)


def another_database(path):
    with closing(sqlite3.connect(path)) as base, base:
        base.execute("CREATE TABLE pairs (something TEXT)")


def damaged_pages(path):
    saved(path, {(f"h{number}", "r"): 0.5 for number in range(2000)})
    content = path.read_bytes()
    path.write_bytes(content[:4096] + b"\xff" * (len(content) - 4096))


def a_folder(path):
    path.mkdir()


@pytest.mark.parametrize("spoil", [no_database, another_database, damaged_pages, a_folder])
def test_a_file_that_is_no_cache_is_named(spoil, path):
    spoil(path)
    similarity = FunctionSimilarity(lambda hypothesis, reference: 0.5, label="judge", cache=path)
    metric = Discriminative(similarity)
    hypotheses = [f"h{number}" for number in range(2000)]
    with pytest.raises(InputError) as raised:
        metric.compute(hypotheses, [["r"]] * 2000, [[1.0]] * 2000)
    assert str(path) in str(raised.value)
    assert "cannot be used as a cache" in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(InputError, match="nowhere"):
        PairCache(tmp_path / "nowhere" / "scores.sqlite", "judge")
