"""What is known of raters, and the thresholds that it was found with."""

from __future__ import annotations

import math
from dataclasses import dataclass
from numbers import Real
from typing import Literal, get_args

from deltableu.errors import InputError, check_at_least, check_choice, check_known, check_share
from deltableu.io import Column, Table, Tabular
from deltableu.rate.bad_references import LEVELS, ControlRule

ControlEvidence = Literal["both", "bad-references"]
Check = Literal["bad references", "repeats", "one value", "speed", "straight-lining"]

_WORDS = {True: "passed", False: "failed", None: "cannot be judged"}
_ORDER = {False: 0, None: 1, True: 2}


@dataclass(frozen=True, slots=True, kw_only=True)
class RaterCheckPlan:
    """What makes a rater fail.

    Attributes
    ----------
    rule : {"paired-t", "rank-sum"}
        How bad references are held against the texts they were made from.
    significance : float, optional
        The p-value up to which a rater passes that test: .05 for "paired-t", .01 for "rank-sum".
    evidence : {"both", "bad-references"}
        "bad-references": nothing else counts, as published. "both": a rater who nearly passes (a
        p-value of up to three times that) also passes if bad references and exact repeats together
        reach it, and so does one whose differences are all the same and above 0. This spares many
        careful raters and hardly any other.
    min_pairs : int
        Bad references, rated together with their counterparts, below which nothing is said by them.
        With fewer than five, the rank-sum test can never be passed.
    min_repeats : int
        Exact repeats from which on they decide by themselves, where bad references are too few.
    min_seconds : float
        A rater whose median time per text is shorter fails; Appraise asks for 6. 0 is never.
    constant_after : int
        Ratings from which on a rater who gave one value only fails.
    min_run : int
        Equal values in a row from which on a rater may fail for straight-lining.
    chance : float
        How likely what constant and straight-lining raters did may be for an honest rater, both
        together, for them to fail.
    in_order : bool
        Whether ratings without times are in the order in which they were made.
    """

    rule: ControlRule = "paired-t"
    significance: float | None = None
    evidence: ControlEvidence = "both"
    min_pairs: int = 6
    min_repeats: int = 10
    min_seconds: float = 1.0
    constant_after: int = 10
    min_run: int = 10
    chance: float = 0.001
    in_order: bool = False

    def __post_init__(self) -> None:
        check_choice("rule", self.rule, get_args(ControlRule))
        check_choice("evidence", self.evidence, get_args(ControlEvidence))
        if self.significance is not None:
            check_share("significance", self.significance)
        check_share("chance", self.chance)
        for name in ("min_pairs", "min_repeats", "constant_after", "min_run"):
            check_at_least(name, getattr(self, name), 2)
        seconds = self.min_seconds
        if not isinstance(seconds, Real) or not 0.0 <= float(seconds) < math.inf:
            raise InputError(f"min_seconds must be a number of at least 0, got {seconds!r}")

    @property
    def limit(self) -> float:
        """The p-value up to which a rater passes."""
        return LEVELS[self.rule] if self.significance is None else self.significance


@dataclass(frozen=True, slots=True)
class RaterCheck:
    """What is known of one rater.

    Attributes
    ----------
    rater : str
    ratings : int
    passed : bool or None
        None where too few control items were rated, and nothing else was wrong.
    failed_by : tuple of str
        The checks that the rater failed.
    reasons : tuple of str
        Why the rater failed, or cannot be judged, in sentences.
    pairs : int
        Bad references rated together with the texts they were made from.
    difference, p_value : float
        Mean of text minus bad reference, and of the test that it is above 0; NaN where there is
        none.
    repeats : int
    repeat_ratio, repeat_p_value : float
        How much repeats differ, as a share of what different texts do; and how likely that is for
        somebody who rates at random.
    seconds : float
        Median per text; NaN where times are not known.
    longest_run : int
        0 where the order of ratings is not known.
    run_chance : float
        How likely a run as long is by chance, at most.
    """

    rater: str
    ratings: int
    passed: bool | None
    failed_by: tuple[Check, ...]
    reasons: tuple[str, ...]
    pairs: int
    difference: float
    p_value: float
    repeats: int
    repeat_ratio: float
    repeat_p_value: float
    seconds: float
    longest_run: int
    run_chance: float

    @property
    def verdict(self) -> str:
        """In words."""
        return _WORDS[self.passed]


@dataclass(frozen=True, slots=True)
class RaterChecks(Tabular):
    """What is known of all raters.

    Attributes
    ----------
    raters : tuple of RaterCheck
        In the order of the ratings.
    plan : RaterCheckPlan
    standardised : bool
        Whether differences are in standard deviations, because there are several criteria or
        scales.
    """

    raters: tuple[RaterCheck, ...]
    plan: RaterCheckPlan
    standardised: bool

    def __getitem__(self, rater: str) -> RaterCheck:
        """What is known of a rater, by name."""
        check_known("rater", rater, [one.rater for one in self.raters])
        return next(one for one in self.raters if one.rater == rater)

    @property
    def failed(self) -> tuple[str, ...]:
        """Who failed."""
        return tuple(one.rater for one in self.raters if one.passed is False)

    @property
    def passed(self) -> tuple[str, ...]:
        """Who passed."""
        return tuple(one.rater for one in self.raters if one.passed is True)

    @property
    def unknown(self) -> tuple[str, ...]:
        """Who cannot be judged."""
        return tuple(one.rater for one in self.raters if one.passed is None)

    def record(self) -> dict[str, object]:
        """For programs."""
        return {
            "failed": self.failed,
            "unknown": self.unknown,
            "passed": self.passed,
            "plan": self.plan,
            "standardised": self.standardised,
            "raters": self.raters,
        }

    def table(self, *, digits: int = 2) -> Table:
        """Raters in rows: those who failed first."""
        unit = " (sd)" if self.standardised else ""
        form = f".{digits}f"
        columns = (
            Column("rater"),
            Column("verdict"),
            Column("failed by", drop=1),
            Column("ratings", drop=3),
            Column("bad refs"),
            Column(f"difference{unit}", form, key="difference"),
            Column("p", ".3f"),
            Column("repeats", drop=4),
            Column("of chance", form, key="repeat_ratio", drop=4),
            Column("s per text", ".1f", key="seconds", drop=5),
            Column("longest run", key="longest_run", drop=5),
        )
        notes = {
            "difference": "of texts and their bad references; p: of the test that it is above 0",
            "of chance": "how much exact repeats differ, as a share of what different texts do",
        }
        return Table(columns, map(self._row, self._best_last()), notes=notes)

    def tidy_table(self) -> Table:
        """For programs: everything, with reasons."""
        names = (
            *("verdict", "rater", "ratings", "pairs", "difference", "p_value", "repeats"),
            *("repeat_ratio", "repeat_p_value", "seconds", "longest_run", "run_chance"),
        )
        rows = (
            [
                *(getattr(one, name) for name in names),
                ", ".join(one.failed_by),
                " ".join(one.reasons),
            ]
            for one in self._best_last()
        )
        return Table((*names, "failed_by", "reasons"), rows)

    def sentences(self, *, most: int = 12) -> tuple[str, ...]:
        """Who failed and why, of so many at most; who cannot be judged, who passed."""
        total = len(self.raters)
        counts = [
            f"{len(names)} {word}"
            for names, word in ((self.passed, "passed"), (self.unknown, "cannot be judged"))
            if names
        ]
        rest = f"; {' and '.join(counts)}" if counts else ""
        who = "rater" if total == 1 else "raters"
        first = f"{len(self.failed) or 'None'} of {total} {who} failed{rest}."
        if not self.failed and not self.passed:
            first = f"None of {total} {who} can be judged."
        said = [first]
        failed = [one for one in self.raters if one.passed is False]
        said += [f"{one.rater}: {' '.join(one.reasons)}" for one in failed[:most]]
        if len(failed) > most:
            said.append(f"And {len(failed) - most} more.")
        unknown = [one for one in self.raters if one.passed is None]
        if unknown:
            reasons = {one.reasons for one in unknown}
            such = "" if len(reasons) == 1 else f", such as {unknown[0].rater}"
            said.append(f"Not judged{such}: {' '.join(unknown[0].reasons)}")
        return tuple(said)

    def _best_last(self) -> list[RaterCheck]:
        return sorted(self.raters, key=lambda one: _ORDER[one.passed])

    def _row(self, one: RaterCheck) -> list[object]:
        return [
            *(one.rater, one.verdict, ", ".join(one.failed_by), one.ratings, one.pairs),
            *(one.difference, one.p_value, one.repeats, one.repeat_ratio, one.seconds),
            one.longest_run or None,
        ]
