"""Agreement on units of M sentences in; what it would be on other items or systems, out.

Units share sentences and systems, so that no number of them is a sample size: items are drawn
again, and assigned to units anew.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, repeat
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.errors import check_at_least, check_choice, check_share
from deltableu.stats import ConfidenceInterval, Method, correlation_interval, in_chunks, stream
from deltableu.validate.agreement_bootstrap import Resample
from deltableu.validate.unit_rows import PairedRows
from deltableu.validate.units import UnitPlan, unit_correlations

UnitInterval = Literal["bootstrap", "fisher-replication", "none"]

_DRAWS = 13  # key of the random streams
#: Beyond it Fisher's z is that of a perfect correlation.
_PERFECT = 1.0 - 1e-9
#: Share of the variance of draws that is not taken for noise of few assignments: it is estimated.
_LEAST = 0.25
#: What rounding leaves of the spread of a correlation that never changes.
_NOTHING = 1e-12


@dataclass(frozen=True, slots=True, kw_only=True)
class UnitIntervalPlan:
    """How intervals of correlations on units are made.

    Attributes
    ----------
    method : {"bootstrap", "fisher-replication", "none"}
        `bootstrap` draws items (and systems) again. `fisher-replication` repeats what the
        delta-BLEU paper did, and is far off: it takes each unit twice, as if all were independent.
    draws, assignments : int
        How often items are drawn, and into how many assignments each time.
    resample : {"items", "systems", "both"}
    confidence : float
    """

    method: UnitInterval = "bootstrap"
    draws: int = 200
    assignments: int = 20
    resample: Resample = "items"
    confidence: float = 0.95

    def __post_init__(self) -> None:
        check_choice("method", self.method, get_args(UnitInterval))
        check_choice("resample", self.resample, get_args(Resample))
        check_share("confidence", self.confidence)
        check_at_least("draws", self.draws, 2)
        check_at_least("assignments", self.assignments, 1)


@dataclass(frozen=True, slots=True, eq=False)
class UnitDraws:
    """Correlations on items and systems that were drawn again.

    Attributes
    ----------
    distribution : array
        Metrics x methods x draws: means over the assignments of a draw; NaN where there is none.
    noise : array
        Metrics x methods: variance of those means that comes from having few assignments.
    drawn : str
        What was drawn.
    fewest : int
        How many of them there are: items (or groups of them) or systems, whichever are fewer.
    """

    distribution: Array = field(repr=False)
    noise: Array = field(repr=False)
    drawn: str
    fewest: int

    def interval(
        self, metric: int, method: int, value: float, confidence: float
    ) -> ConfidenceInterval | None:
        """Student's, on Fisher's z; None where too few draws have a correlation.

        The spread that few assignments add is taken out. In simulations it covered better than
        percentiles, which are biased: a draw's units share more sentences than a sample's do.
        """
        from scipy.special import stdtrit

        drawn = self.distribution[metric, method]
        drawn = drawn[~np.isnan(drawn)]
        if len(drawn) < 2 or np.isnan(value) or self.fewest < 2:
            return None
        spread = float(drawn.var(ddof=1))
        noise = float(self.noise[metric, method]) / spread if spread > 0.0 else 0.0
        kept = max(_LEAST, 1.0 - noise)
        about = drawn.mean() + (drawn - drawn.mean()) * np.sqrt(kept)
        error = float(_z(about).std(ddof=1))
        if error < _NOTHING:
            return None
        short = np.sqrt(self.fewest / (self.fewest - 1))
        reach = short * stdtrit(self.fewest - 1, (1.0 + confidence) / 2.0) * error
        middle = float(_z(np.asarray(value)))
        low, high = np.tanh([middle - reach, middle + reach]).tolist()
        return ConfidenceInterval(low, high, confidence, f"bootstrap over {self.drawn}")


def _z(values: Array) -> Array:
    return np.asarray(np.arctanh(np.clip(values, -_PERFECT, _PERFECT)))


def replication_interval(
    value: float, units: int, method: Method, confidence: float = 0.95
) -> ConfidenceInterval | None:
    """The interval of the delta-BLEU paper's Table 2, for repeating it and nothing else.

    Fisher's z with 1 / sqrt(N - 3) for all correlations, where N is twice the number of units: 528
    for 12 pairs of systems on 2,114 sentences in units of 100. Units share sentences and systems,
    so that N observations are far fewer.

    Examples
    --------
    >>> interval = replication_interval(0.484, 12 * 22, "spearman")
    >>> round(interval.low, 3), round(interval.high, 3)
    (0.416, 0.547)
    """
    if np.isnan(value) or abs(value) >= 1.0:
        return None
    found = correlation_interval(value, 2 * units, method, confidence, se="fisher")
    return replace(found, method=f"Fisher, N = {2 * units}, a replication")


def draw_units(
    paired: PairedRows,
    plan: UnitPlan,
    methods: Sequence[Method],
    how: UnitIntervalPlan,
    *,
    codes: Ints | None = None,
    threads: int | None = None,
    progress: Steps | None = None,
) -> UnitDraws:
    """Draw items (or groups of them), systems or both, with replacement.

    Parameters
    ----------
    codes
        The number of each item's group; None where each item is its own.
    """
    few = replace(plan, assignments=how.assignments)
    size = paired.total if codes is None else int(codes.max()) + 1
    members = None if codes is None else [np.flatnonzero(codes == code) for code in range(size)]
    systems = sorted(set(chain.from_iterable(paired.pairs)))

    def work(number: int, first: int, last: int) -> Array:
        generator = stream(plan.seed, _DRAWS, number)
        again = replace(few, seed=int(generator.integers(2**62)))
        items = pairs = None
        if how.resample != "systems":
            items = generator.integers(size, size=size)
            if members is not None:
                items = np.concatenate([members[code] for code in items])
        if how.resample != "items":
            chosen = generator.integers(len(systems), size=len(systems))
            often = Counter(systems[one] for one in chosen)
            pairs = [
                place
                for place, (a, b) in enumerate(paired.pairs)
                for _ in repeat(None, often[a] * often[b])
            ]
        drawn = paired.drawn(items, pairs)
        if sum(again.units(len(one)) for one in drawn.items) < 2:
            return np.full((1, len(paired.names), len(methods), again.trials), np.nan)
        return unit_correlations(drawn, again, methods, threads=1).values[np.newaxis]

    found = in_chunks(work, how.draws, 1, threads, progress)
    means = np.moveaxis(found.mean(axis=3), 0, 2)
    noise = np.zeros(means.shape[:2])
    whole = ~np.isnan(found).any(axis=(1, 2, 3))
    if found.shape[3] > 1 and whole.any():
        noise = found[whole].var(axis=3, ddof=1).mean(axis=0) / found.shape[3]
    items = "items" if codes is None else "groups of items"
    fewest = {"items": size, "systems": len(systems), "both": min(size, len(systems))}
    names = {"items": items, "systems": "systems", "both": f"{items} and systems"}
    return UnitDraws(means, noise, names[how.resample], fewest[how.resample])
