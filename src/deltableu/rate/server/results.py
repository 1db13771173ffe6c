"""A campaign's database in; ratings, weights, progress and what a pilot calls for out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from statistics import median

import msgspec
from sqlalchemy import Connection

from deltableu.corpus import SCORED, Item, Rating, RatingTable, Reference, Scale, Study
from deltableu.errors import InputError, Problem, check_at_least, check_share
from deltableu.io import Column, Table
from deltableu.rate.consistency import Consistency, rater_consistency
from deltableu.rate.rater_check_results import RaterCheckPlan
from deltableu.rate.server.campaign import SCALES, Campaign
from deltableu.rate.server.database import (
    AnswerRow,
    Database,
    TaskRow,
    read_answers,
    read_blocks,
    read_raters,
    read_tasks,
)

#: A preference counts for the one, for both by halves, or for the other.
_PREFERENCES = {1.0: (1.0, 0.0), 2.0: (0.0, 1.0), 0.0: (0.5, 0.5)}


def campaign_ratings(
    campaign: Campaign, database: Database, *, excluded: bool = False, rater: int | None = None
) -> RatingTable:
    """Everything that raters said, as ratings; of an answer that was changed the last version.

    A preference becomes two ratings on the scale 0-1: 1 for the better output, 0 for the other, or
    1/2 for both. Texts that are the same were shown once, and the rating is that of all of them.
    What excluded raters said is left out, unless it is asked for, and what others than a rater said
    if one is given by number.
    """
    with _whole(database), database.reading() as connection:
        return RatingTable.from_records(_ratings(campaign, connection, excluded, rater))


@contextmanager
def _whole(database: Database) -> Iterator[None]:
    """Say that a database is damaged, where its rows do not fit together."""
    try:
        yield
    except InputError:
        raise
    except (LookupError, TypeError, ValueError, AttributeError) as error:
        database.check()
        message = "is damaged: its rows do not fit together"
        raise InputError(Problem(message, file=database.name)) from error


def _ratings(
    campaign: Campaign, connection: Connection, excluded: bool, rater: int | None
) -> Iterator[Rating]:
    rows = read_raters(connection)
    names = {row.number: row.name for row in rows if excluded or row.excluded is None}
    tasks = {row.number: row for row in read_tasks(connection, rater=rater)}
    for answer in current_answers(read_answers(connection, rater)):
        if answer.rater not in names:
            continue
        yield from _of_answer(campaign, tasks[answer.task], answer, names[answer.rater])


def check_plan(campaign: Campaign) -> RaterCheckPlan:
    """What makes a rater of a campaign fail."""
    return RaterCheckPlan(min_seconds=campaign.min_seconds)


def scored(ratings: RatingTable) -> Iterator[Rating]:
    """Ratings that say what somebody thinks of an output or a reference, and control nobody."""
    return (one for one in ratings if one.kind in SCORED)


def current_answers(answers: Iterable[AnswerRow]) -> list[AnswerRow]:
    """Answers that no other one superseded."""
    rows = list(answers)
    superseded = {row.supersedes for row in rows}
    return [row for row in rows if row.number not in superseded]


def _of_answer(
    campaign: Campaign, task: TaskRow, answer: AnswerRow, rater: str
) -> Iterator[Rating]:
    targets = msgspec.json.decode(task.targets, type=list[list[str]])
    values = msgspec.json.decode(answer.values, type=list[list[float]])
    if campaign.scale == "preference":
        both = [_PREFERENCES[value] for value in values[0]]
        values = [[one[side] for one in both] for side in (0, 1)]
    shown = targets[::-1] if answer.flipped else targets
    paired = len(targets) > 1
    for place, (sides, row) in enumerate(zip(shown, values, strict=True)):
        for target in sides:
            for criterion, value in zip(campaign.criteria, row, strict=True):
                yield Rating(
                    rater,
                    task.item,
                    target,
                    value,
                    criterion.name,
                    SCALES[campaign.scale],
                    task.kind,  # type: ignore[arg-type]
                    task.pair if paired else None,
                    place + 1 if paired else None,
                    answer.started,
                    answer.finished,
                )


@dataclass(frozen=True, slots=True)
class RaterProgress:
    """What one rater did so far."""

    name: str
    answers: int
    revised: int
    seconds: float
    last: str | None
    can_rate: bool
    excluded: bool


@dataclass(frozen=True, slots=True)
class CampaignStatus:
    """How far a campaign is.

    Attributes
    ----------
    tasks : int
    wanted : int
        Ratings of tasks in all.
    given : int
        Of these, those that were given; what is over the number wanted is not counted.
    beyond : int
        Ratings over the number wanted: a rater's lease had ended, another got the task, and both
        answered.
    complete : int
        Tasks that have all their ratings.
    waiting : int
        Tasks that nobody gets, because a pilot comes first, or enough people rated them before.
    raters : tuple of RaterProgress
    state : str
        open or paused.
    """

    title: str
    state: str
    tasks: int
    complete: int
    waiting: int
    wanted: int
    given: int
    beyond: int
    raters: tuple[RaterProgress, ...]

    def sentences(self) -> list[str]:
        """What people want to know first."""
        share = self.given / self.wanted if self.wanted else 1.0
        said = [
            f"{self.given:,} of {self.wanted:,} ratings are given ({share:.0%}), and "
            f"{self.complete:,} of {self.tasks:,} tasks have all of theirs."
        ]
        if self.state != "open":
            said.append("The campaign is paused: nobody gets tasks.")
        if self.waiting:
            said.append(
                f"{self.waiting:,} tasks go to nobody: they wait until a pilot is over (rate "
                "pilot), or had enough ratings before (--count-ratings)."
            )
        if self.beyond:
            said.append(
                f"{self.beyond:,} ratings more than wanted: of a pilot, or of raters who answered "
                "after others had got the same task."
            )
        return said

    def tables(self) -> list[Table]:
        """As people see it."""
        names = ("tasks", "complete", "waiting", "wanted", "given", "beyond")
        progress = Table(names, [[getattr(self, name) for name in names]], "ratings")
        columns = (
            "rater",
            "answers",
            Column("revised", drop=3),
            Column("seconds per answer", ".1f", drop=1),
            Column("last answer", drop=2),
            Column("link works", drop=1),
        )
        rows = [
            [
                one.name,
                one.answers,
                one.revised,
                one.seconds,
                one.last and one.last[:16].replace("T", " "),
                "yes" if one.can_rate else "excluded" if one.excluded else "no",
            ]
            for one in self.raters
        ]
        return [progress, Table(columns, rows, "raters")]


def campaign_status(campaign: Campaign, database: Database, now: str) -> CampaignStatus:
    """How far a campaign is, and who did how much."""
    with _whole(database):
        return _status(campaign, database, now)


def _status(campaign: Campaign, database: Database, now: str) -> CampaignStatus:
    facts = database.facts()
    with database.reading() as connection:
        wanted = read_blocks(connection)
        block_of = {row.number: row.block for row in read_tasks(connection)}
        sizes = Counter(block_of.values())
        everything = list(read_answers(connection))
        raters = read_raters(connection)
    answers = current_answers(everything)
    out = {row.number for row in raters if row.excluded is not None}
    per_task = Counter(row.task for row in answers if row.rater not in out)
    due = {task: wanted[block] for task, block in block_of.items()}
    by_rater: dict[int, list[AnswerRow]] = {row.number: [] for row in raters}
    for row in answers:
        by_rater[row.rater].append(row)
    revised = Counter(row.rater for row in everything if row.supersedes is not None)
    return CampaignStatus(
        campaign.title,
        facts["state"],
        tasks=len(block_of),
        complete=sum(0 < number <= per_task[task] for task, number in due.items()),
        waiting=sum(number == 0 for number in due.values()),
        wanted=sum(wanted[block] * size for block, size in sizes.items()),
        given=sum(min(number, per_task[task]) for task, number in due.items()),
        beyond=sum(max(0, per_task[task] - number) for task, number in due.items()),
        raters=tuple(
            RaterProgress(
                one.name,
                len(by_rater[one.number]),
                revised[one.number],
                _median_seconds(by_rater[one.number]),
                max((row.finished for row in by_rater[one.number]), default=None),
                one.may_rate(now),
                one.number in out,
            )
            for one in raters
        ),
    )


def _median_seconds(answers: list[AnswerRow]) -> float:
    if not answers:
        return float("nan")
    read = datetime.fromisoformat
    return median((read(row.finished) - read(row.started)).total_seconds() for row in answers)


def weighted_study(study: Study, ratings: RatingTable, criterion: str | None = None) -> Study:
    """A study whose references have the means of their ratings for weights.

    A Likert mean m becomes (m - 3)/2, a slider's (m - 50)/50; what nobody rated keeps its weight.
    All ratings come along as they are, after those of the study.
    """
    sums: dict[tuple[str, str], tuple[float, int, str | None]] = {}
    criteria = sorted({one.criterion for one in ratings})
    if criterion is None and len(criteria) > 1:
        raise InputError(f"there are ratings by {', '.join(criteria)}: choose one with --criterion")
    for one in scored(ratings):
        if not one.target.startswith("reference:") or criterion not in (None, one.criterion):
            continue
        key = (one.item, one.target.removeprefix("reference:"))
        total, count, scale = sums.get(key, (0.0, 0, one.scale))
        if scale is None or scale != one.scale:
            raise InputError("ratings of one reference are on several scales, or on none")
        sums[key] = (total + one.value, count + 1, scale)
    if not sums:
        raise InputError("nobody has rated a reference of this study yet")

    def weighted(item: Item, reference: Reference) -> Reference:
        total, count, scale = sums.get((item.id, reference.id), (0.0, 0, None))
        if scale is None:
            return reference
        ends = Scale.parse(scale)
        # Whole numbers until the one division: a weight has no more error than a float must.
        weight = (2 * total - count * (ends.low + ends.high)) / (count * (ends.high - ends.low))
        return replace(reference, weight=weight)

    items = tuple(
        replace(item, references=tuple(weighted(item, one) for one in item.references))
        for item in study.items
    )
    table = RatingTable.from_records([*study.ratings, *ratings])
    return replace(study, items=items, ratings=table, path=None)


@dataclass(frozen=True, slots=True)
class PilotResult:
    """What a pilot says.

    `enough` is the smallest number of raters whose mean reaches the target; None where even all
    of the pilot's do not.
    """

    target: float
    tasks: int
    enough: int | None
    consistency: Consistency

    def sentences(self) -> list[str]:
        """What people want to know first."""
        n = self.consistency.n
        if self.enough is None:
            most = float(self.consistency.correlations.max())
            return [
                f"Not even {_raters(n - 1)} would be enough: the mean correlates {most:.3f} at "
                f"best with that of the others, and the target is {self.target:g}."
            ]
        return [
            f"{_raters(self.enough)} per item {'is' if self.enough == 1 else 'are'} enough: the "
            f"mean correlates {self.target:g} or more with that of the other {n - self.enough} "
            f"({self.tasks} texts of the pilot)."
        ]


def _raters(number: int) -> str:
    return "1 rater" if number == 1 else f"{number:,} raters"


def pilot_result(ratings: RatingTable, target: float = 0.9, seed: int = 0) -> PilotResult:
    """How many raters per task a campaign needs, from its pilot (Wei 2018, section 2.1).

    The mean of i raters is correlated with the mean of the others; the smallest i that reaches
    the target is enough. Tasks count that have as many ratings as nine in ten of them have.
    """
    check_at_least("seed", seed, 0)
    check_share("target", target)
    values: dict[tuple[str, str, str, str | None], list[float]] = {}
    for one in scored(ratings):
        # An output in two pairs was judged beside two others.
        key = (one.item, one.target, one.criterion, one.pair)
        values.setdefault(key, []).append(one.value)
    rows = [row for row in values.values() if len(row) > 1]
    if len(rows) < 3:
        raise InputError("a pilot needs at least 3 tasks with 2 ratings or more")
    n = sorted(map(len, rows))[len(rows) // 10]
    found = rater_consistency(rows, n, seed=seed)
    return PilotResult(target, len(rows), found.enough(target), found)
