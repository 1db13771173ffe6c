"""Several true nulls at once: how often a comparison of four systems claims anything false."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.systems import compare_systems
from deltableu.stats.resampling import stream
from simulations.compare import RESAMPLES, SIGNIFICANCE
from simulations.replications import Outcome, Progress, replicate
from simulations.tables import Row, measured

__all__ = ["CORRECTIONS", "Family", "simulate"]

CORRECTIONS = ("no correction", "Holm", "Benjamini-Hochberg")
_SYSTEMS = ("A", "B", "C", "D")


@dataclass(frozen=True, slots=True)
class Family:
    """Four systems with normal scores, exchangeable but for D, which may be better."""

    relation: str
    advantage: float
    n: int

    def sampler(self) -> Family:
        return self

    @property
    def target(self) -> str:
        return "any of 3 pairs" if self.advantage else "any of 6 pairs"

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        """Whether any pair of equal systems is called significant, by correction."""
        rng = stream(seed, crc32(self.relation.encode()), number)
        item, noise = rng.normal(size=(self.n, 1)), rng.normal(size=(self.n, len(_SYSTEMS)))
        scores = 70.0 + 10.0 * (item + 0.7 * noise)
        scores[:, -1] += self.advantage
        plan = ComparisonPlan(trials=RESAMPLES, seed=int(rng.integers(1 << 62)))
        table = dict(zip(_SYSTEMS, scores.T.tolist(), strict=True))
        (comparison,) = compare_systems(table, plan=plan, threads=1)
        equal = [
            pair
            for pair in comparison.pairs
            if not self.advantage or "D" not in (pair.first, pair.second)
        ]
        test = plan.tests[0]
        for method, smallest in zip(
            CORRECTIONS,
            (
                min(pair.p_values[test] for pair in equal),
                min(pair.holm[test] for pair in equal),
                min(pair.bh[test] for pair in equal),
            ),
            strict=True,
        ):
            yield Outcome("size", method, self.target, smallest < SIGNIFICANCE)


FAMILIES = (
    Family("four exchangeable systems", 0.0, 50),
    Family("three exchangeable systems, one better", 20.0, 50),
)


def simulate(
    replications: int,
    seed: int = 0,
    *,
    chosen: Sequence[Family] = FAMILIES,
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """How often any pair of equal systems is called significant."""
    tallies = replicate(chosen, replications, seed, processes=processes, progress=progress)
    return [
        measured(
            what,
            method,
            "normal scores",
            family.relation,
            family.n,
            target,
            SIGNIFICANCE,
            hits,
            replications,
            # Corrections promise a bound, not a rate.
            exact=method != "no correction",
        )
        for family, tally in zip(chosen, tallies, strict=True)
        for (what, method, target), hits in tally.hits.items()
    ]
