"""A power plan in; how many items a comparison needs, in a sentence, out."""

from __future__ import annotations

from deltableu.compare import PowerCurve, PowerPlan


def plan_verdict(plan: PowerPlan) -> tuple[str, ...]:
    """How many items each instrument needs; the first few of them."""
    return tuple(_sentence(plan, curve) for curve in plan.curves[:3])


def _sentence(plan: PowerPlan, curve: PowerCurve) -> str:
    of = "items" if plan.pilot_groups is None else "groups of items"
    needed, largest = curve.needed(plan.power), curve.points[-1].items
    goal = (
        f"to show a difference of {plan.difference:.4g} {plan.metric} with {plan.power:.0%} power"
    )
    whose = f" with {plan.curve_name(curve)}" if len(plan.curves) > 1 else ""
    if needed is None:
        return f"More than {largest:,} {of} are needed{whose} {goal}."
    if needed == curve.points[0].items:
        return f"{needed:,} {of} or fewer are enough{whose} {goal}."
    return f"About {needed:,} {of} are needed{whose} {goal}."
