"""What a ranking by preferences gives: systems, pairs, the effect of position, and their tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from deltableu.io import Cell, Column, Table, Tabular, fact_table, field_record
from deltableu.stats import (
    INTERVAL_COLUMNS,
    ConfidenceInterval,
    Correction,
    interval_cells,
)

Resampled = Literal["items", "raters", "items,raters"]

_CORRECTIONS = {"holm": "Holm", "bh": "Benjamini-Hochberg", "none": "no correction"}


@dataclass(frozen=True, slots=True)
class PreferredSystem:
    """One system among those ranked.

    Attributes
    ----------
    system : str
    strength : float
        Natural logarithm, with mean 0 over systems: the odds of being preferred to another, rather
        than the other to it, are the exponential of the difference.
    interval : ConfidenceInterval
    rank : (int, int)
        Best and worst rank that the significant differences leave possible.
    cluster : int
        All systems of a cluster are significantly better than all of the next.
    letters : str
        Systems that share a letter do not differ significantly; none where systems are many.
    share : float
        The expected share of judgements against the other systems, ties counted half.
    wins, ties, losses : int
        As counted, which is against whom it happened to be compared with.
    """

    system: str
    strength: float
    interval: ConfidenceInterval
    rank: tuple[int, int]
    cluster: int
    letters: str
    share: float
    wins: int
    ties: int
    losses: int


@dataclass(frozen=True, slots=True)
class PreferredPair:
    """Two systems.

    Attributes
    ----------
    first, second : str
    wins, ties, losses : int
        Of the first, in judgements of these two.
    difference : float
        The strength of the first minus that of the second, from all judgements.
    interval : ConfidenceInterval
    share, share_interval : float, ConfidenceInterval
        What is expected of the first, ties counted half.
    p_value, adjusted : float
        As the test gives it, and corrected for the number of pairs.
    better : str or None
        The better system where the difference is significant.
    """

    first: str
    second: str
    wins: int
    ties: int
    losses: int
    difference: float
    interval: ConfidenceInterval
    share: float
    share_interval: ConfidenceInterval
    p_value: float
    adjusted: float
    better: str | None

    @property
    def judgements(self) -> int:
        """How many there are of these two."""
        return self.wins + self.ties + self.losses

    @property
    def observed(self) -> float:
        """The share of the first, ties counted half."""
        return (self.wins + self.ties / 2.0) / self.judgements if self.judgements else float("nan")

    def record(self) -> dict[str, object]:
        """The fields and what was observed."""
        return {**field_record(self), "judgements": self.judgements, "observed": self.observed}


@dataclass(frozen=True, slots=True)
class PositionEffect:
    """Whether the output that was shown first won more often than it should.

    Attributes
    ----------
    wins, ties, losses : int
        Of outputs that were shown first.
    effect : float or None
        By how much being shown first raises the logarithm of the odds of being preferred; None
        where systems had their places, so that the two cannot be told apart.
    interval : ConfidenceInterval or None
    p_value : float or None
        That there is no effect.
    share : float or None
        Of the output shown first, if both are equally good, ties counted half.
    """

    wins: int
    ties: int
    losses: int
    effect: float | None
    interval: ConfidenceInterval | None
    p_value: float | None
    share: float | None


@dataclass(frozen=True, slots=True)
class PreferenceRanking(Tabular):
    """Systems by preference, best first.

    Attributes
    ----------
    criterion : str
    systems : tuple of PreferredSystem
    pairs : tuple of PreferredPair
        Those that were compared, the better system first.
    nearest : PreferredPair
        The two best.
    position : PositionEffect or None
        None where nobody knows positions.
    tie : float or None
        Davidson's nu: equals tie with odds nu : 2; None without ties.
    judgements, ties, items, raters : int
    left_out : int
        Ratings whose pair lacks the other output.
    significant : int
        Pairs that differ significantly, of all pairs of systems.
    resample, resamples, seed
        What was drawn anew for intervals and tests, how often, and the seed.
    """

    criterion: str
    systems: tuple[PreferredSystem, ...]
    pairs: tuple[PreferredPair, ...]
    nearest: PreferredPair
    position: PositionEffect | None
    tie: float | None
    judgements: int
    ties: int
    items: int
    raters: int
    left_out: int
    significant: int
    resample: Resampled
    resamples: int
    seed: int
    correction: Correction
    significance: float
    confidence: float
    prior: float
    log_likelihood: float

    def table(self, *, digits: int = 2) -> Table:
        """Systems in rows, best first."""
        columns = (
            Column("system"),
            Column("strength", f".{digits}f", better="higher"),
            Column("rank", "range", align="right"),
            Column("cluster", align="right", drop=3),
            Column("preferred", ".1%"),
            Column("wins", drop=1),
            Column("ties", drop=1),
            Column("losses", drop=1),
        )
        rows = (
            (
                one.system,
                Cell(one.strength, one.interval, one.letters, best=place == 0),
                one.rank,
                *(one.cluster, one.share, one.wins, one.ties, one.losses),
            )
            for place, one in enumerate(self.systems)
        )
        caption = (
            f"{self.criterion}: {self.judgements:,} judgements of {self.items:,} items by "
            f"{self.raters:,} raters"
        )
        return Table(columns, rows, caption, self._notes())

    def pairs_table(self, *, digits: int = 1) -> Table:
        """A row for each two systems that were compared: who won how often, and is that chance."""
        columns = (
            *(Column("first"), Column("second"), Column("wins"), Column("ties"), Column("losses")),
            Column("observed", f".{digits}%", drop=1),
            Column("expected", f".{digits}%"),
            Column(f"p {_CORRECTIONS[self.correction]}", "p"),
            Column("better"),
        )
        rows = (
            (
                *(one.first, one.second, one.wins, one.ties, one.losses, one.observed),
                Cell(one.share, one.share_interval),
                one.adjusted,
                Cell(one.better or "-", best=one.better is not None),
            )
            for one in self.pairs
        )
        notes = {
            "observed, expected": "share of the first in judgements of the two, ties counted half: "
            "as counted, and by the strengths, which all judgements tell of",
            "intervals": self._how(),
        }
        return Table(columns, rows, "who was preferred to whom", notes)

    def position_table(self, *, digits: int = 2) -> Table | None:
        """What position did; None where nobody knows positions."""
        one = self.position
        if one is None:
            return None
        facts: dict[str, object] = {
            "won by the output shown first": one.wins,
            "ties": one.ties,
            "won by the output shown second": one.losses,
        }
        notes = {}
        if one.effect is None:
            notes["effect"] = (
                "unknown: systems had their places, so that strength and position are one"
            )
        else:
            facts["effect of being first, log odds"] = Cell(
                one.effect, one.interval, form=f".{digits}f"
            )
            facts["p: no effect"] = Cell(one.p_value, form="p")
            facts["share of the first of two equals"] = Cell(one.share, form=".1%")
            notes["intervals"] = self._how()
        return fact_table((Column("position", room=34), ""), facts, notes)

    def tidy_table(self) -> Table:
        """A row for each system, for programs."""
        columns = (
            *("criterion", "system", "strength", *INTERVAL_COLUMNS, "first_rank", "last_rank"),
            *("cluster", "letters", "share", "wins", "ties", "losses"),
        )
        rows = (
            (
                *(self.criterion, one.system, one.strength, *interval_cells(one.interval)),
                *(*one.rank, one.cluster, one.letters, one.share, one.wins, one.ties, one.losses),
            )
            for one in self.systems
        )
        return Table(columns, rows)

    def tidy_pairs(self) -> Table:
        """A row for each two systems that were compared, for programs."""
        columns = (
            *("criterion", "first", "second", "wins", "ties", "losses", "observed", "share"),
            *("share_low", "share_high", "difference", *INTERVAL_COLUMNS, "p", "p_adjusted"),
            "better",
        )
        rows = (
            (
                *(self.criterion, one.first, one.second, one.wins, one.ties, one.losses),
                *(one.observed, one.share, one.share_interval.low, one.share_interval.high),
                *(one.difference, *interval_cells(one.interval)),
                *(one.p_value, one.adjusted, one.better),
            )
            for one in self.pairs
        )
        return Table(columns, rows)

    def tidy_position(self) -> Table:
        """One row about positions, for programs."""
        one = self.position
        columns = (
            *("criterion", "wins", "ties", "losses", "effect", *INTERVAL_COLUMNS, "p", "share"),
        )
        if one is None:
            return Table(columns, ())
        ends = interval_cells(one.interval)
        row = (self.criterion, one.wins, one.ties, one.losses, one.effect, *ends)
        return Table(columns, [(*row, one.p_value, one.share)])

    def _how(self) -> str:
        drawn = self.resample.replace(",", " and ")
        return f"{100 * self.confidence:g}%, {drawn} drawn anew {self.resamples:,} times"

    def _notes(self) -> dict[str, str]:
        notes = {
            "strength": "log odds of being preferred to an average system, by Bradley and Terry's "
            "model",
            "preferred": "expected share of judgements against the others, ties counted half",
        }
        if any(one.letters for one in self.systems):
            how = f"{_CORRECTIONS[self.correction]}, {self.significance:g}"
            notes["letters"] = f"systems that share a letter do not differ significantly ({how})"
        notes["intervals"] = self._how()
        if self.prior:
            notes["prior"] = (
                f"as if each system had also won and lost {self.prior / 2:g} judgements against "
                "an average one"
            )
        if self.left_out:
            notes["left out"] = (
                f"{self.left_out:,} ratings whose pair lacks the other output by the same rater"
            )
        return notes
