"""A plan of ratings in; whether to go on, and with what, in sentences, out."""

from __future__ import annotations

from deltableu.compare import RatingPlan
from deltableu.report.phrases import SIMULATED, count, listed, rounded_up


def rating_verdict(plan: RatingPlan) -> tuple[str, ...]:
    """Whether more rating can change the ranking; how much more it takes; how many raters."""
    simulated = SIMULATED if plan.simulated else ""
    return tuple(filter(None, (simulated, _stop(plan), _more(plan), _raters(plan), _clamped(plan))))


def _stop(plan: RatingPlan) -> str:
    every = f"each of the {plan.references:,} references has {count(plan.raters, 'rating')}"
    if not plan.order:
        return f"Nothing is left to be rated: {every} or more."
    if len(plan.systems) < 2:
        return (
            f"{count(plan.ratings_missing, 'rating')} are missing until {every}; with one system "
            "there is no ranking that could change."
        )
    close = "" if plan.tau == 1.0 else f" (Kendall's tau of {plan.tau:g} or more with it)"
    if plan.may_stop:
        return (
            f"Rating may stop: with a chance of {_percent(plan.chance)} the ranking stays as it "
            f"is{close} until {every}."
        )
    return (
        f"Go on rating: the chance is only {_percent(plan.chance)} that the ranking stays as it "
        f"is{close} until {every}."
    )


def _more(plan: RatingPlan) -> str:
    if not plan.outlook or plan.may_stop or len(plan.systems) < 2:
        return ""
    if plan.enough is None:
        return (
            f"Expect to need more than {plan.outlook[-1].ratings:,} of the "
            f"{plan.ratings_missing:,} ratings that are missing."
        )
    share = plan.enough.ratings / plan.ratings_missing
    return (
        f"About {rounded_up(plan.enough.ratings):,} ratings more are likely to be enough if the "
        f"most valuable come first ({share:.0%} of those that are missing)."
    )


def _raters(plan: RatingPlan) -> str:
    found = plan.reliability
    if found is None:
        return (
            f"{count(plan.raters, 'rating')} per reference is a guess: how many are needed can be "
            "told when three references have two ratings."
        )
    needed = found.needed(plan.target)
    if needed is None:
        return "Ratings of one reference differ as much as those of all: no number of them will do."
    one = found.of_mean(1)
    if needed == 1:
        return (
            f"1 rating per reference reaches a reliability of {plan.target:g} (it has {one:.2f})."
        )
    return (
        f"{needed} ratings per reference reach a reliability of {plan.target:g} (one alone has "
        f"{one:.2f})."
    )


def _clamped(plan: RatingPlan) -> str:
    if not plan.clamped:
        return ""
    return (
        f"The score of {listed(plan.clamped)} is clamped, so that its references count for little "
        "here; signed-delta-bleu goes on below 0."
    )


def _percent(chance: float) -> str:
    """Never certain by rounding."""
    return f"{min(100.0 * chance, 99.9):.1f}%" if 0.99 <= chance < 1.0 else f"{chance:.0%}"
