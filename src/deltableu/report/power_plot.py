"""What a comparison needs, as a plot."""

from __future__ import annotations

from typing import Any, Literal

from deltableu._visible import visible
from deltableu.compare import PowerCurve, PowerPlan
from deltableu.report.plots import COLOURS, drawn, new_figure, set_title

_DASHES = ("-", "--", ":", "-.")
#: Curves whose numbers of items fit below a plot.
_FEW = 4


def power_plot(plan: PowerPlan, form: Literal["svg", "png"] = "svg") -> bytes:
    """Power by the number of items, with the simulation's interval and the power asked for."""
    return drawn(power_figure(plan), form, dpi=160, bbox_inches="tight")


def power_figure(plan: PowerPlan) -> Any:
    """The same as a figure."""
    few = len(plan.curves) <= _FEW
    figure, ((axis,),) = new_figure(size=(6.8 if few else 8.4, 4.2))
    axis.axhline(plan.power, color="#444444", linewidth=0.9, linestyle=(0, (4, 3)), zorder=1)
    for curve in plan.curves:
        _draw_curve(axis, plan, curve, few)
    sizes = [point.items for point in plan.curves[0].points]
    place = (sizes[0] / 1.04, plan.power + 0.012)
    axis.text(*place, f"power {plan.power:g}", color="#444444", fontsize=9)
    axis.set_xscale("log")
    axis.set_xticks(sizes, [f"{size:,}" for size in sizes])
    axis.minorticks_off()
    axis.set_xlim(sizes[0] / 1.06, sizes[-1] * 1.06)
    axis.set_ylim(0.0, 1.02)
    axis.set_yticks([0.0, 0.2, 0.4, 0.6, 0.8, 1.0])
    axis.set_xlabel("items")
    axis.set_ylabel(f"power at p < {plan.significance:g}")
    axis.grid(color="#e4e4e4", linewidth=0.6)
    axis.set_axisbelow(True)
    set_title(axis, _heading(plan))
    if few:
        legend = axis.legend(loc="lower right", edgecolor="none", framealpha=0.94)
        legend.set_zorder(5)
    else:
        axis.legend(frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))
    return figure


def _draw_curve(axis: Any, plan: PowerPlan, curve: PowerCurve, few: bool) -> None:
    references = list(dict.fromkeys(one.references for one in plan.curves))
    raters = list(dict.fromkeys(one.raters for one in plan.curves))
    raters.sort(key=lambda number: number is not None)  # the pilot's own weights are solid
    hue, dash = references.index(curve.references), raters.index(curve.raters)
    if len(references) == 1:  # colours tell more than dashes
        hue, dash = dash, 0
    colour = COLOURS[hue % len(COLOURS)]
    sizes = [point.items for point in curve.points]
    axis.fill_between(
        sizes,
        [point.interval.low for point in curve.points],
        [point.interval.high for point in curve.points],
        color=colour,
        alpha=0.16 if few else 0.06,
        linewidth=0,
    )
    needed = curve.needed(plan.power)
    label = plan.curve_name(curve)
    if needed is not None:
        label += f": {needed:,} items"
        if few and sizes[0] < needed <= sizes[-1]:
            axis.plot(
                [needed, needed], [0.0, plan.power], color=colour, linewidth=0.9, linestyle=":"
            )
            axis.plot(needed, plan.power, "o", color="white", markeredgecolor=colour, zorder=4)
    else:
        label += f": more than {sizes[-1]:,} items"
    axis.plot(
        sizes,
        [point.smoothed for point in curve.points],
        color=colour,
        linestyle=_DASHES[dash % len(_DASHES)],
        linewidth=1.8,
        label=label,
        zorder=3,
    )
    shares = [point.power for point in curve.points]
    axis.plot(sizes, shares, "o", color=colour, markersize=3.5, zorder=3)


def _heading(plan: PowerPlan) -> str:
    first, second = plan.systems
    return visible(f"{first} against {second}: a {plan.metric} difference of {plan.difference:.4g}")
