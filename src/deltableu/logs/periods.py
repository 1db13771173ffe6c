"""Threads in, the period that each belongs to out: by time, or by hash of the thread.

Evaluator logs (mining, vectors, rater), system logs (responders) and the test set must not share a
thread (Tsuta et al. 2020, Table 1): what a metric has seen, systems should not be judged by.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Literal

from deltableu.errors import InputError
from deltableu.logs.fates import Fate
from deltableu.logs.times import Span, parse_span
from deltableu.logs.types import Thread

_NAME = re.compile(r"[A-Za-z0-9][\w.-]*")
_INFINITY = math.inf
_PARTS = 1 << 64


@dataclass(frozen=True, slots=True)
class Period:
    """A span of time with a name."""

    name: str
    span: Span

    @property
    def start(self) -> float:
        """Its first second; minus infinity where it is open."""
        return -_INFINITY if self.span[0] is None else self.span[0]

    @property
    def end(self) -> float:
        """The second that it ends before; infinity where it is open."""
        return _INFINITY if self.span[1] is None else self.span[1]

    def holds(self, time: int | None) -> bool:
        """Whether a time lies in it; an unknown one may."""
        return time is None or self.start <= time < self.end


@dataclass(frozen=True, slots=True)
class TimeSplit:
    """A thread belongs to the period in which its root was written.

    Parameters
    ----------
    periods : tuple of Period
        That do not overlap; gaps between them are allowed.
    crossing : {"drop", "keep"}
        What to do with threads of which some post was written outside the period of the root: they
        may answer to what the next period knows.
    """

    periods: tuple[Period, ...]
    crossing: Literal["drop", "keep"] = "drop"

    def __post_init__(self) -> None:
        _check_names(self.names)
        if self.crossing not in ("drop", "keep"):
            raise InputError(f"crossing must be drop or keep, got {self.crossing!r}")
        ordered = sorted(self.periods, key=lambda period: (period.start, period.end))
        for before, after in pairwise(ordered):
            if after.start < before.end:
                message = f"the periods {before.name} and {after.name} overlap"
                raise InputError(f"{message}: give each time to one of them")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the periods, in their order."""
        return tuple(period.name for period in self.periods)

    def place(self, thread: Thread) -> int | Fate:
        """The number of a thread's period, or why it has none."""
        if thread.time is None:
            return Fate.NO_TIME
        for number, period in enumerate(self.periods):
            if period.holds(thread.time):
                whole = period.holds(thread.earliest) and period.holds(thread.latest)
                return number if whole or self.crossing == "keep" else Fate.CROSSING
        return Fate.NO_PERIOD


@dataclass(frozen=True, slots=True)
class Share:
    """A part of all threads with a name."""

    name: str
    part: float


@dataclass(frozen=True, slots=True)
class HashSplit:
    """A thread belongs to a period by a hash of its id and the seed, wherever it comes from.

    Parameters
    ----------
    shares : tuple of Share
        Parts from 0 to 1; where they sum to less than 1, the rest of the threads is left out.
    """

    shares: tuple[Share, ...]
    seed: int = 0

    def __post_init__(self) -> None:
        _check_names(self.names)
        for share in self.shares:
            if not 0.0 < share.part <= 1.0:
                raise InputError(f"the share of {share.name} must lie in (0, 1], got {share.part}")
        total = math.fsum(share.part for share in self.shares)
        if total > 1.0 + 1e-9:
            raise InputError(f"the shares sum to {total:g}, which is more than 1: they overlap")

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the shares, in their order."""
        return tuple(share.name for share in self.shares)

    def place(self, thread: Thread) -> int | Fate:
        """The number of a thread's period, or why it has none."""
        digest = blake2b(thread.id.encode(), digest_size=8, key=str(self.seed).encode()).digest()
        at = int.from_bytes(digest, "little") / _PARTS
        parts = [share.part for share in self.shares]
        for number in range(len(parts)):
            # Rounding must not leave a gap behind the last of shares that sum to 1.
            if at < math.fsum(parts[: number + 1]) + 1e-12:
                return number
        return Fate.NO_PERIOD


Split = TimeSplit | HashSplit


def _check_names(names: tuple[str, ...]) -> None:
    if not names:
        raise InputError("a split names at least one period")
    for name in names:
        if not _NAME.fullmatch(name):
            message = f"a period cannot be called {name!r}, because it becomes the name of a file"
            raise InputError(f"{message}: use letters, digits, '.', '-' and '_'")
        if [other.lower() for other in names].count(name.lower()) > 1:
            raise InputError(f"there are two periods {name}: give each a name of its own")


def parse_split(
    text: str, *, seed: int | None = None, crossing: Literal["drop", "keep"] | None = None
) -> Split:
    """A split as it is written on the command line.

    Parameters
    ----------
    text
        ``NAME=DATES`` with commas between them, where dates are a year, month, day or second, or
        ``FIRST..LAST`` with one or both ends; or ``NAME:SHARE`` with commas between them.
    seed
        Seed for shares.
    crossing
        What becomes of pairs that cross dates.

    Examples
    --------
    >>> parse_split("evaluator=2017,system=2018,test=2019..").names
    ('evaluator', 'system', 'test')
    >>> parse_split("evaluator:0.8,system:0.15,test:0.05", seed=1).shares[2]
    Share(name='test', part=0.05)
    """
    parts = [part.strip() for part in text.split(",")]
    spans: list[Period] = []
    shares: list[Share] = []
    for part in parts:
        name, sign, value = part.partition("=")
        other_name, colon, share = part.partition(":")
        if sign and not (colon and len(other_name) < len(name)):
            try:
                spans.append(Period(name.strip(), parse_span(value.strip())))
            except ValueError as error:
                raise InputError(f"the period {name.strip()}: {error}") from None
        elif colon:
            try:
                shares.append(Share(other_name.strip(), float(share)))
            except ValueError:
                message = f"the share of {other_name.strip()} must be a number, got {share!r}"
                raise InputError(message) from None
        else:
            message = f"{part!r} is no period: write NAME=DATES such as test=2019, or NAME:SHARE"
            raise InputError(f"{message} such as test:0.1")
    if spans and shares:
        raise InputError("a split is by dates (NAME=DATES) or by shares (NAME:SHARE), not both")
    if shares:
        if crossing is not None:
            raise InputError("crossing is of periods by dates, but the split is by shares")
        return HashSplit(tuple(shares), seed or 0)
    if seed is not None:
        raise InputError("a seed is of shares, but the split is by dates")
    return TimeSplit(tuple(spans), crossing or "drop")
