"""Agreement on units of M sentences in; what it would be on other items or systems, out.

Units share sentences and systems, so that no number of them is a sample size: items are drawn
again, and assigned to units anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.stats import Method, in_chunks, stream
from deltableu.validate.agreement_bootstrap import Resample
from deltableu.validate.unit_rows import PairedRows
from deltableu.validate.units import UnitPlan, unit_correlations

_DRAWS = 13  # key of the random streams


@dataclass(frozen=True, slots=True, eq=False)
class UnitDraws:
    """Correlations on items and systems that were drawn again.

    Attributes
    ----------
    distribution : array
        Metrics x methods x draws: means over the assignments of a draw; NaN where there is none.
    noise : array
        Metrics x methods: variance of those means that comes from having few assignments.
    """

    distribution: Array = field(repr=False)
    noise: Array = field(repr=False)


def draw_units(
    paired: PairedRows,
    plan: UnitPlan,
    methods: Sequence[Method],
    *,
    draws: int = 200,
    assignments: int = 20,
    resample: Resample = "items",
    codes: Ints | None = None,
    threads: int | None = None,
    progress: Steps | None = None,
) -> UnitDraws:
    """Draw items (or groups of them), systems or both, with replacement.

    Parameters
    ----------
    draws, assignments
        How often, and into how many assignments each draw's items are put.
    codes
        The number of each item's group; None where each item is its own.
    """
    few = replace(plan, assignments=assignments)
    size = paired.total if codes is None else int(codes.max()) + 1
    members = None if codes is None else [np.flatnonzero(codes == code) for code in range(size)]
    systems = sorted(set(chain.from_iterable(paired.pairs)))

    def work(number: int, first: int, last: int) -> Array:
        generator = stream(plan.seed, _DRAWS, number)
        again = replace(few, seed=int(generator.integers(2**62)))
        items = pairs = None
        if resample != "systems":
            items = generator.integers(size, size=size)
            if members is not None:
                items = np.concatenate([members[code] for code in items])
        if resample != "items":
            often = Counter(systems[one] for one in generator.integers(len(systems), size=len(systems)))
            pairs = [
                place
                for place, (a, b) in enumerate(paired.pairs)
                for _ in repeat(None, often[a] * often[b])
            ]
        drawn = paired.drawn(items, pairs)
        if sum(again.units(len(one)) for one in drawn.items) < 2:
            return np.full((1, len(paired.names), len(methods), again.trials), np.nan)
        return unit_correlations(drawn, again, methods, threads=1).values[np.newaxis]

    found = in_chunks(work, draws, 1, threads, progress)
    means = np.moveaxis(found.mean(axis=3), 0, 2)
    noise = np.zeros(means.shape[:2])
    if found.shape[3] > 1:
        noise = np.nanmean(found.var(axis=3, ddof=1), axis=0) / found.shape[3]
    return UnitDraws(means, noise)
