"""What planning of ratings gives: how many, which first, and whether they are enough."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from deltableu.corpus import labelled
from deltableu.io import Better, Cell, Column, Table, field_record
from deltableu.rate import RatingStep, Reliability
from deltableu.stats import ConfidenceInterval

#: References that a table shows.
_SHOWN = 10


@dataclass(frozen=True, slots=True)
class PlannedSystem:
    """A system: the score that all ratings are expected to give it, and its rank.

    `interval` and `ranks` hold 95% of forecasts.
    """

    system: str
    score: float
    interval: ConfidenceInterval
    rank: int
    ranks: tuple[int, int]


@dataclass(frozen=True, slots=True)
class PlannedPair:
    """Two neighbours in the ranking, and the chance that all ratings leave them in this order."""

    better: str
    worse: str
    difference: float
    chance: float


@dataclass(frozen=True, slots=True)
class Outlook:
    """If so many ratings more are given, of so many references: how likely the ranking then stays.

    That is how likely it is before anybody knows what these ratings say.
    """

    ratings: int
    references: int
    chance: float


@dataclass(frozen=True, slots=True)
class RatingPlan:
    """How to go on rating references.

    Attributes
    ----------
    metric : str
    higher_is_better : bool
    items, references : int
    complete : int
        References that have all their ratings.
    ratings, ratings_missing : int
        Given and not given yet; what a reference has beyond `raters` does not count.
    raters : int
        Ratings that each reference gets in the end.
    reliability : Reliability or None
        What the ratings so far say of that; None where fewer than three references have two.
    target : float
        The reliability asked for.
    aim : str
    tau, significance : float
    chance : float
        Of the ranking staying as it is (tau or more with it) when all ratings are given.
    systems : tuple of PlannedSystem
        The best first.
    pairs : tuple of PlannedPair
        Neighbours.
    outlook : tuple of Outlook
    order : tuple of RatingStep
        Single ratings that are missing, the most valuable first; a reference stands there once
        for each rating it needs.
    clamped : tuple of str
        Systems whose expected score stands still.
    note : str
        What users should know of the weights.
    draws, seed : int
    simulated : bool
        Whether raters are, so far.
    """

    metric: str
    higher_is_better: bool
    items: int
    references: int
    complete: int
    ratings: int
    ratings_missing: int
    raters: int
    reliability: Reliability | None
    target: float
    aim: str
    tau: float
    significance: float
    chance: float
    systems: tuple[PlannedSystem, ...]
    pairs: tuple[PlannedPair, ...]
    outlook: tuple[Outlook, ...]
    order: tuple[RatingStep, ...]
    clamped: tuple[str, ...]
    note: str
    draws: int
    seed: int
    simulated: bool = False

    @property
    def may_stop(self) -> bool:
        """Whether more rating will hardly change the ranking."""
        return len(self.systems) > 1 and self.chance >= 1.0 - self.significance

    @property
    def enough(self) -> Outlook | None:
        """The first step of the outlook that is expected to be enough."""
        return next((one for one in self.outlook if one.chance >= 1.0 - self.significance), None)

    def systems_table(self, *, digits: int = 2) -> Table:
        """Systems as all ratings would rank them."""
        better: Better = "higher" if self.higher_is_better else "lower"
        chances = {pair.better: pair.chance for pair in self.pairs}
        rows = (
            (
                one.rank,
                one.system,
                Cell(one.score, one.interval),
                f"{one.ranks[0]}-{one.ranks[1]}" if one.ranks[0] < one.ranks[1] else one.ranks[0],
                chances.get(one.system),
            )
            for one in self.systems
        )
        columns = (
            Column("rank"),
            Column("system"),
            Column(self.metric, f".{digits}f", better=better),
            Column("ranks", align="right"),
            Column("above the next", ".0%"),
        )
        notes = {
            "ranks": "95% of forecasts of all ratings, as for the score",
            "above the next": "the chance that the order stays when all ratings are given",
        }
        return Table(columns, rows, "systems when all ratings are given", notes)

    def outlook_table(self) -> Table:
        """How likely the ranking is to stay, by ratings that are given until then."""
        rows = [(0, 0, self.chance)]
        rows += [(one.ratings, one.references, one.chance) for one in self.outlook]
        columns = (
            Column("ratings more", ",d"),
            Column("of references", ",d"),
            Column("ranking stays", ".0%"),
        )
        return Table(columns, rows, "if ratings are given in the order of their value")

    def order_table(self, most: int = _SHOWN) -> Table:
        """What to rate first."""
        rows = ((one.item, one.target, one.value) for one in self.order[:most])
        columns = (Column("item"), Column("target"), Column("value", ".2g"))
        meaning = (
            "the part of the number of pairs of systems in the wrong order that the rating settles"
            if self.aim == "ranking"
            else "the variance of a system's score that the rating settles, on average"
        )
        return Table(
            columns,
            rows,
            f"ratings to be given first, of {len(self.order):,}",
            {"value": meaning},
        )

    def tables(self, *, digits: int = 2) -> list[Table]:
        """All that people are shown."""
        tables = [] if self.reliability is None else [self.reliability.table(digits=digits)]
        tables.append(self.systems_table(digits=digits))
        if self.order:
            tables += [self.outlook_table()] if len(self.systems) > 1 else []
            tables.append(self.order_table())
        return [labelled(one, self.simulated) for one in tables]

    def record(self) -> dict[str, Any]:
        """All of it."""
        record = field_record(self)
        if self.reliability is not None:
            record["reliability"]["of_mean"] = self.reliability.of_mean(self.raters)
            record["reliability"]["ratings_needed"] = self.reliability.needed(self.target)
        record["may_stop"] = self.may_stop
        return record
