"""Sums of random samples: literal loops, moments, seeds; threads and compilers change nothing."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu import BLEU, DeltaBLEU
from deltableu.compare import ComparisonPlan, compare_systems
from deltableu.stats import resampling
from deltableu.stats.resampling import (
    all_choices,
    assigned_sums,
    bootstrap_sums,
    choice_streams,
    chosen_sums,
    random_orders,
    stream,
)
from tests.uncompiled import run_uncompiled

few = settings(max_examples=25, deadline=None)


def whole_rows(size: int, columns: int, seed: int = 0) -> np.ndarray:
    """Counts, as most metrics have them: sums of them have no rounding."""
    return np.random.default_rng(seed).integers(0, 50, size=(size, columns)).astype(float)


def awkward_rows(size: int, columns: int, seed: int = 0) -> np.ndarray:
    """Numbers of many sizes whose sums depend on the order of the terms."""
    rng = np.random.default_rng(seed)
    return rng.normal(size=(size, columns)) * 10.0 ** rng.integers(-8, 8, size=(size, columns))


def drawn(size: int, trials: int, seed: int) -> list[np.ndarray]:
    """What each trial draws: chunk k has the random stream (0, k) of the seed."""
    chunk = resampling._draws_chunk(size)
    return [
        row
        for number, first in enumerate(range(0, trials, chunk))
        for row in resampling.stream(seed, 0, number).integers(
            size, size=(min(chunk, trials - first), size), dtype=np.int32
        )
    ]


# --- Literal loops --------------------------------------------------------------------------------


@few
@given(st.integers(1, 150), st.integers(1, 7), st.integers(1, 30), st.integers(0, 9), st.booleans())
def test_the_bootstrap_adds_up_what_was_drawn(size, columns, trials, seed, awkward):
    rows = (awkward_rows if awkward else whole_rows)(size, columns, seed)
    found = bootstrap_sums(rows, trials, seed)
    expected = np.array([sum(rows[i] for i in draws) for draws in drawn(size, trials, seed)])
    largest = np.abs(rows).sum() * size
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-15 * largest if awkward else 0)


@few
@given(st.integers(1, 50), st.integers(1, 7), st.integers(1, 60), st.integers(0, 9), st.booleans())
def test_exchanges_add_up_what_was_chosen(size, columns, trials, seed, awkward):
    rows = (awkward_rows if awkward else whole_rows)(size, columns, seed)
    chosen = np.concatenate(list(choice_streams(size, trials, seed)))
    assert chosen.shape == (trials, size)
    expected = np.array([rows[choice].sum(axis=0) for choice in chosen])
    others = np.array([rows[~choice].sum(axis=0) for choice in chosen])
    found = chosen_sums(rows, trials, seed)
    slack = 1e-15 * np.abs(rows).sum() * size if awkward else 0
    np.testing.assert_allclose(found, expected, rtol=0, atol=slack)
    np.testing.assert_allclose(
        found + others, np.broadcast_to(rows.sum(axis=0), found.shape), rtol=0, atol=2 * slack
    )


@pytest.mark.parametrize("size", [0, 1, 2, 7, 8, 9, 11])
def test_all_choices_are_all_subsets(size):
    rows = whole_rows(size, 3)
    found = all_choices(rows)
    every = [np.array(taken[::-1], bool) for taken in product([0, 1], repeat=size)]
    expected = np.array([rows[taken].sum(axis=0) for taken in every])
    assert found.tolist() == expected.tolist()
    assert found[0].tolist() == [0.0] * 3
    assert found[-1].tolist() == rows.sum(axis=0).tolist()


def test_rows_may_be_whole_numbers_and_views():
    rows = whole_rows(30, 6)
    assert (
        bootstrap_sums(rows.astype(np.int64), 9, 1).tolist() == bootstrap_sums(rows, 9, 1).tolist()
    )
    assert chosen_sums(rows[::2], 9, 1).tolist() == chosen_sums(rows[::2].copy(), 9, 1).tolist()


# --- Moments --------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [5, 40, 333])
def test_moments_of_the_bootstrap(size):
    """Mean: the total. Covariance: n times that of the rows."""
    trials = 40_000
    rows = np.random.default_rng(size).normal(size=(size, 3))
    rows[:, 2] += rows[:, 0]
    sums = bootstrap_sums(rows, trials, seed=8)
    covariance = size * np.cov(rows.T, ddof=0)
    errors = np.sqrt(np.diag(covariance) / trials)
    assert (np.abs(sums.mean(axis=0) - rows.sum(axis=0)) < 4.5 * errors).all()
    np.testing.assert_allclose(np.cov(sums.T), covariance, atol=0.04 * covariance.max())


@pytest.mark.parametrize("size", [5, 40, 333])
def test_moments_of_random_subsets(size):
    """Mean: half the total. Covariance: a quarter of the sum of products."""
    trials = 40_000
    rows = np.random.default_rng(size).normal(size=(size, 3))
    rows[:, 2] += rows[:, 0]
    sums = chosen_sums(rows, trials, seed=8)
    covariance = rows.T @ rows / 4
    errors = np.sqrt(np.diag(covariance) / trials)
    assert (np.abs(sums.mean(axis=0) - rows.sum(axis=0) / 2) < 4.5 * errors).all()
    np.testing.assert_allclose(np.cov(sums.T), covariance, atol=0.04 * covariance.max())


def test_trials_are_independent_also_across_chunks():
    """Neighbouring trials, and the same place in neighbouring chunks, are uncorrelated."""
    rows = whole_rows(16, 1)
    for function, chunk in (
        (bootstrap_sums, resampling._draws_chunk(16)),
        (chosen_sums, resampling._choices_chunk(16)),
    ):
        sums = function(rows, 20 * chunk, 3)[:, 0]
        for lag in (1, chunk):
            correlation = np.corrcoef(sums[lag:], sums[:-lag])[0, 1]
            assert abs(correlation) < 4.5 / np.sqrt(len(sums) - lag)


# --- Seeds, threads, chunks -----------------------------------------------------------------------


@pytest.mark.parametrize("function", [bootstrap_sums, chosen_sums])
@pytest.mark.parametrize("make", [whole_rows, awkward_rows])
@pytest.mark.parametrize("size", [3, 700])
def test_sums_depend_on_the_seed_and_not_on_threads(function, make, size):
    rows = make(size, 5)
    trials = 3000
    one = function(rows, trials, 7, threads=1)
    for threads in (2, 5, None):
        assert function(rows, trials, 7, threads=threads).tobytes() == one.tobytes()
    assert function(rows, trials, 7, threads=1).tobytes() == one.tobytes()
    assert (function(rows, trials, 8) != one).any(axis=1).mean() > 0.5


def test_the_bootstrap_and_exchanges_have_streams_of_their_own():
    first = resampling.stream(5, 0, 0).random(4).tolist()
    assert first == resampling.stream(5, 0, 0).random(4).tolist()
    others = [
        resampling.stream(*key).random(4).tolist() for key in ((5, 1, 0), (5, 0, 1), (6, 0, 0))
    ]
    assert first not in others
    assert len({tuple(one) for one in others}) == 3


@pytest.mark.parametrize("function", [bootstrap_sums, chosen_sums])
@pytest.mark.parametrize("threads", [1, 3])
def test_progress_counts_up_to_all_trials(function, threads):
    told: list[tuple[int, int]] = []
    function(whole_rows(9, 2), 2500, 0, threads=threads, progress=lambda *at: told.append(at))
    assert told == sorted(told)
    assert len(told) > 1
    assert told[-1] == (2500, 2500)


def test_a_chunk_does_not_grow_with_the_rows():
    """Memory: drawn numbers and choices of a chunk stay within a few megabytes."""
    for size in (1, 10, 1000, 100_000, 3_000_000):
        assert resampling._draws_chunk(size) * size <= max(resampling._DRAWS, size)
        assert resampling._choices_chunk(size) * size / 8 <= max(resampling._CHOICES, size)


# --- Without a compiler ---------------------------------------------------------------------------

_SCRIPT = """
import json, sys
from deltableu import _kernels
from deltableu.stats import resampling
from tests.stats.test_resampling import results

json.dump({"compiled": _kernels.compiled(resampling._kernel), "results": results()}, sys.stdout)
"""


def results() -> dict[str, object]:
    """Numbers that must not depend on the compiler; JSON keeps every bit of a float."""
    texts = [f"a b c {'d ' * (k % 3)}e f {'gh'[k % 2]}" for k in range(40)]
    outputs = {"A": [t.replace("b c", "b") for t in texts], "B": [t[:9] for t in texts]}
    outputs["C"] = [t if k % 4 else "a b" for k, t in enumerate(outputs["A"])]
    references = [[text, "a c e"] for text in texts]
    weights = [[0.7, -0.1 * (k % 3) - 1 / 3] for k in range(40)]
    tests = ("studentized", "randomization", "bootstrap")
    plan = ComparisonPlan(tests=tests, trials=60, resamples=40)
    found: dict[str, object] = {}
    for metric in (BLEU(tokenize="none"), DeltaBLEU(tokenize="none", combine="arithmetic")):
        encoded = metric.encode(references, weights)
        rows = {name: metric.statistics(given, encoded) for name, given in outputs.items()}
        (comparison,) = compare_systems(rows, plan=plan)
        found[metric.name] = [
            [pair.first, pair.second, pair.difference, pair.interval.low, dict(pair.p_values)]
            for pair in comparison.pairs
        ]
    for name, rows in (("whole", whole_rows(70, 3)), ("awkward", awkward_rows(70, 3))):
        found[f"drawn {name}"] = bootstrap_sums(rows, 20, 4).tolist()
        found[f"chosen {name}"] = chosen_sums(rows, 20, 4).tolist()
        found[f"all {name}"] = all_choices(rows[:9]).tolist()
    return found


def test_uncompiled_kernels_give_the_same_numbers():
    uncompiled = run_uncompiled(_SCRIPT)
    assert uncompiled["compiled"] is False
    assert uncompiled["results"] == results()


def test_random_orders_are_uniform_and_the_same_uncompiled():
    found = random_orders(stream(5), 24_000, 4)
    assert (np.sort(found, axis=1) == np.arange(4)).all()
    _, counts = np.unique(found @ 5 ** np.arange(4), return_counts=True)
    assert len(counts) == 24
    assert np.abs(counts - 1000).max() < 150
    code = (
        "import json; from deltableu.stats import assigned_sums, random_orders, stream; "
        "import numpy as np; orders = random_orders(stream(5), 3, 40); "
        "sums = assigned_sums(np.arange(80.0).reshape(40, 2), orders // 7 - 1, 5); "
        "print(json.dumps([orders.tolist(), sums.tolist()]))"
    )
    orders = random_orders(stream(5), 3, 40)
    sums = assigned_sums(np.arange(80.0).reshape(40, 2), orders // 7 - 1, 5)
    assert run_uncompiled(code, warnings="default") == [orders.tolist(), sums.tolist()]
