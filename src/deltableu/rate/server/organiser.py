"""A campaign that is being served in; what its organiser wants to see out."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import numpy as np

from deltableu.corpus import RatingTable
from deltableu.errors import InputError
from deltableu.rate.chance_agreement import krippendorff_alpha
from deltableu.rate.consistency import rater_consistency
from deltableu.rate.rater_check_results import RaterCheck, RaterCheckPlan
from deltableu.rate.rater_checks import check_raters
from deltableu.rate.server.campaign import Campaign
from deltableu.rate.server.database import Database, utc_now
from deltableu.rate.server.results import (
    CampaignStatus,
    campaign_ratings,
    campaign_status,
    check_plan,
    scored,
)

#: Hours that the page draws.
_HOURS = 48
#: Number of ratings of a task up to which consistency is drawn, and the least that it needs.
_MOST_RATERS, _LEAST_RATERS = 20, 3


@dataclass(frozen=True, slots=True)
class Hour:
    """Answers of one hour; `start` is in UTC."""

    start: str
    answers: int


@dataclass(frozen=True, slots=True)
class RaterView:
    """One rater, as the organiser's page shows it."""

    name: str
    answers: int
    seconds: float | None
    last: str | None
    can_rate: bool
    excluded: bool
    verdict: str
    reasons: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cost:
    """Time and money: so far, and as long as the rest takes if it goes on so."""

    hours: float
    hours_left: float | None
    money: float | None
    money_left: float | None


@dataclass(frozen=True, slots=True)
class CriterionView:
    """How far raters agree on one question; None where too little is known."""

    name: str
    alpha: float | None
    consistency: tuple[float, ...]
    """Correlation of the mean of 1, 2, ... raters with that of the others."""
    raters: int
    tasks: int


@dataclass(frozen=True, slots=True)
class OrganiserView:
    """Everything that the organiser's page shows."""

    title: str
    state: str
    sentences: tuple[str, ...]
    tasks: int
    complete: int
    waiting: int
    wanted: int
    given: int
    beyond: int
    per_hour: float | None
    """Answers of the last hour in which somebody rated."""
    hours: tuple[Hour, ...]
    cost: Cost
    criteria: tuple[CriterionView, ...]
    raters: tuple[RaterView, ...]
    now: str


def organiser_view(campaign: Campaign, database: Database) -> OrganiserView:
    """Look at a campaign as it is now."""
    now = utc_now()
    status = campaign_status(campaign, database, now)
    everything = campaign_ratings(campaign, database, excluded=True)
    out = [one.name for one in status.raters if one.excluded]
    ratings = everything.without_raters(out)
    hours = _hours(ratings, now)
    return OrganiserView(
        status.title,
        status.state,
        tuple(status.sentences()),
        status.tasks,
        status.complete,
        status.waiting,
        status.wanted,
        status.given,
        status.beyond,
        next((float(one.answers) for one in reversed(hours) if one.answers), None),
        hours,
        _cost(campaign, status),
        tuple(_criterion(one.name, ratings) for one in campaign.criteria),
        _raters(status, everything, check_plan(campaign)),
        now,
    )


def _hours(ratings: RatingTable, now: str) -> tuple[Hour, ...]:
    # An answer has a rating for each of its texts and questions, all of the same moment.
    moments = {
        (one.rater, one.item, one.pair or one.target, one.finished)
        for one in ratings
        if one.finished is not None
    }
    counts = Counter(str(one[3])[:13] for one in moments)
    end = datetime.fromisoformat(now).astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    starts = [end - timedelta(hours=back) for back in range(_HOURS - 1, -1, -1)]
    return tuple(Hour(one.isoformat(), counts[one.isoformat()[:13]]) for one in starts)


def _cost(campaign: Campaign, status: CampaignStatus) -> Cost:
    times = [(one.answers, one.seconds) for one in status.raters if one.answers]
    answers = sum(count for count, _ in times)
    seconds = sum(count * each for count, each in times)
    hours = seconds / 3600
    left = None
    if answers:
        left = (status.wanted - status.given) * seconds / answers / 3600
    pay = campaign.pay_per_hour
    return Cost(
        hours,
        left,
        hours * pay if pay else None,
        left * pay if pay and left is not None else None,
    )


def _criterion(name: str, ratings: RatingTable) -> CriterionView:
    rows: dict[tuple[str, str, str | None], list[float]] = {}
    people: dict[str, dict[tuple[str, str, str | None], float]] = {}
    for one in scored(ratings):
        if one.criterion == name:
            rows.setdefault((one.item, one.target, one.pair), []).append(one.value)
            people.setdefault(one.rater, {})[one.item, one.target, one.pair] = one.value
    several = [row for row in rows.values() if len(row) > 1]
    alpha = None
    if len(several) > 1:
        places = {key: place for place, key in enumerate(rows)}
        values = np.full((len(people), len(places)), np.nan)
        for place, said in enumerate(people.values()):
            for key, value in said.items():
                values[place, places[key]] = value
        try:
            alpha = float(krippendorff_alpha(values, "interval").value)
        except InputError:
            alpha = None
        alpha = None if alpha is None or not np.isfinite(alpha) else alpha
    enough = sorted((min(len(row), _MOST_RATERS) for row in several), reverse=True)
    # As many ratings as a tenth of the tasks have that have several, and no fewer than ten.
    n = enough[max(len(enough) // 10, 10)] if len(enough) > 10 else 0
    curve: tuple[float, ...] = ()
    if n >= _LEAST_RATERS:
        found = rater_consistency(several, n, shuffles=30).correlations.tolist()
        curve = tuple(one for one in found if np.isfinite(one))
    return CriterionView(name, alpha, curve, n, len(rows))


def _raters(
    status: CampaignStatus, ratings: RatingTable, plan: RaterCheckPlan
) -> tuple[RaterView, ...]:
    checks: dict[str, RaterCheck] = {}
    if len(ratings):
        try:
            checks = {one.rater: one for one in check_raters(ratings, plan).raters}
        except InputError:
            checks = {}
    return tuple(
        RaterView(
            one.name,
            one.answers,
            one.seconds if np.isfinite(one.seconds) else None,
            one.last,
            one.can_rate,
            one.excluded,
            *_verdict(checks.get(one.name)),
        )
        for one in status.raters
    )


def _verdict(check: RaterCheck | None) -> tuple[str, tuple[str, ...]]:
    if check is None:
        return "unknown", ()
    word = {True: "passed", False: "failed", None: "unknown"}[check.passed]
    return word, tuple(check.reasons)
