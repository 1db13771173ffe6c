"""Items that belong together: what tests and intervals do that know of it, and those that do not.

Dialogues of ten turns; what tells two systems apart on one turn correlates by .3 with what does on
another of the same dialogue.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np

from deltableu.compare.observations import observe
from deltableu.compare.plan import ComparisonPlan
from deltableu.compare.systems import compare_observations
from deltableu.stats.resampling import stream
from simulations.compare import LEVEL, RESAMPLES, SIGNIFICANCE
from simulations.populations import EQUAL, populations
from simulations.replications import Outcome, Progress, replicate
from simulations.tables import Row, measured

__all__ = ["DIALOGUES", "METHODS", "Dialogues", "simulate"]

METHODS = ("by group", "by item")
_CORRELATION = 0.3
_TURNS = 10


@dataclass(frozen=True, slots=True)
class Dialogues:
    """So many dialogues from the pool of one kind of data; `uneven` ones have 1 to 19 turns."""

    data: str
    dialogues: int
    uneven: bool = False

    @property
    def relation(self) -> str:
        """What the table says of it."""
        turns = "1 to 19" if self.uneven else str(_TURNS)
        return f"{EQUAL}; {self.dialogues} dialogues of {turns} turns"

    def sampler(self) -> Dialogues:
        return self

    def outcomes(self, number: int, seed: int) -> Iterator[Outcome]:
        """Whether equal systems are told apart, and whether the interval holds no difference."""
        rng = stream(seed, crc32(f"{self.data}|{self.relation}".encode()), number)
        sizes = np.full(self.dialogues, _TURNS)
        if self.uneven:
            sizes = rng.integers(1, 2 * _TURNS, size=self.dialogues)
        owners = np.repeat(np.arange(self.dialogues), sizes)
        population = populations(self.data)[EQUAL]
        chosen = population.draw_groups(owners, _CORRELATION, rng)
        plan = ComparisonPlan(trials=RESAMPLES, seed=int(rng.integers(1 << 62)), confidence=LEVEL)
        systems = population.systems(chosen)
        for method, groups in zip(METHODS, (owners.astype(str).tolist(), None), strict=True):
            (found,) = observe(systems, groups=groups)
            (pair,) = compare_observations(found, plan, threads=1).pairs
            yield Outcome("size", method, "difference", pair.significant)
            if pair.interval is not None:
                hit = pair.interval.low <= 0.0 <= pair.interval.high
                yield Outcome("coverage", method, "difference", hit)


DIALOGUES = (
    Dialogues("normal scores", 20),
    Dialogues("normal scores", 100),
    Dialogues("normal scores", 20, uneven=True),
    Dialogues("five-point scores", 20),
    Dialogues("delta-BLEU", 20),
    Dialogues("delta-BLEU", 100),
    Dialogues("delta-BLEU", 20, uneven=True),
)


def simulate(
    replications: int,
    seed: int = 0,
    *,
    chosen: Sequence[Dialogues] = DIALOGUES,
    processes: int | None = None,
    progress: Progress | None = None,
) -> list[Row]:
    """Size and coverage with groups and without."""
    tallies = replicate(chosen, replications, seed, processes=processes, progress=progress)
    return [
        measured(
            what,
            method,
            cell.data,
            cell.relation,
            cell.dialogues * _TURNS,
            target,
            SIGNIFICANCE if what == "size" else LEVEL,
            hits,
            tally.counts[what, method, target],
        )
        for cell, tally in zip(chosen, tallies, strict=True)
        for (what, method, target), hits in tally.hits.items()
    ]
