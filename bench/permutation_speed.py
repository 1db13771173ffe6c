"""PERM-BOTH beside nlpstats: is one metric closer to people than another."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from bench.timing import best_of
from deltableu.validate.permutation import permutation_test

__all__ = ["main"]

Array = np.ndarray[Any, np.dtype[np.float64]]

_RNG = np.random.default_rng(1)


def random_scores(systems: int, items: int) -> tuple[Array, Array, Array]:
    """Two metrics of unequal noise, and people."""
    rng = np.random.default_rng(0)
    quality = rng.normal(size=(systems, 1)) * 0.3 + rng.normal(size=(systems, items))
    x, y, human = (quality + noise * rng.normal(size=quality.shape) for noise in (1.0, 1.5, 0.5))
    return x, y, human


def swap_cells(x: Array, y: Array) -> tuple[Array, Array]:
    """Each score by itself, as the paper's own code exchanges them."""
    mask = _RNG.random(x.shape) > 0.5
    return np.where(mask, y, x), np.where(mask, x, y)


def main() -> None:
    theirs = import_module("nlpstats.correlations").permutation_test
    x, y, human = random_scores(10, 500)
    print("permutation tests, 10 systems x 500 items")
    for name, method, level, their_method, their_level, resamples in (
        ("PERM-BOTH, Pearson, system level", "pearson", "system", "pearson", "system", 1000),
        ("PERM-BOTH, Kendall, by item", "kendall-b", "item", "kendall", "input", 5),
    ):

        def slow(
            coefficient: str = their_method, grouping: str = their_level, count: int = resamples
        ) -> object:
            return theirs(x, y, human, grouping, coefficient, swap_cells, n_resamples=count)

        def fast(coefficient: Any = method, grouping: Any = level) -> object:
            return permutation_test(
                x, y, human, method=coefficient, level=grouping, undefined="drop", resamples=1000
            )

        theirs_s = best_of(slow) * 1000 / resamples
        ours_s = best_of(fast)
        told = "" if resamples == 1000 else f" (from {resamples} resamples)"
        print(
            f"  {name}: deltableu {ours_s:.4f} s   nlpstats {theirs_s:.2f} s{told}   "
            f"ratio {theirs_s / ours_s:.0f}x for 1,000 resamples"
        )


if __name__ == "__main__":
    main()
