"""Differences between systems with their intervals, as a plot."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from deltableu.compare import ComparedPair, Comparison
from deltableu.report.plots import (
    COLOURS,
    GREY,
    draw_estimate,
    name_rows,
    new_figure,
    set_title,
    shortened,
)
from deltableu.stats import ConfidenceInterval

#: Pairs that a panel can show; of more, those that differ most.
_MOST = 30


def difference_figure(comparisons: Comparison | Sequence[Comparison]) -> Any:
    """A panel for each metric: differences from the baseline, or of all pairs.

    Significant ones are coloured and filled, others grey and hollow. Where lower is better, the
    axis still shows the difference of the scores, and says so.
    """
    shown = [comparisons] if isinstance(comparisons, Comparison) else list(comparisons)
    chosen = [_chosen(one) for one in shown]
    heights = [0.8 + 0.28 * len(pairs) for pairs in chosen]
    figure, axes = new_figure(
        len(shown), size=(7.0, sum(heights)), gridspec_kw={"height_ratios": heights}
    )
    for axis, comparison, pairs in zip(axes[:, 0], shown, chosen, strict=True):
        _draw(axis, comparison, pairs)
    return figure


def _chosen(comparison: Comparison) -> list[ComparedPair]:
    largest = sorted(comparison.pairs, key=lambda one: -abs(one.difference))[:_MOST]
    return [pair for pair in comparison.pairs if pair in largest]


def _draw(axis: Any, comparison: Comparison, pairs: Sequence[ComparedPair]) -> None:
    names = []
    axis.axvline(0.0, color="#444444", linewidth=0.8)
    for place, pair in enumerate(pairs):
        turned = pair.first == comparison.baseline
        first, second = (pair.second, pair.first) if turned else (pair.first, pair.second)
        value = -pair.difference if turned else pair.difference
        interval = _turned(pair.interval) if turned else pair.interval
        colour = COLOURS[0] if pair.significant else GREY
        draw_estimate(axis, place, value, interval, colour, filled=pair.significant)
        against = comparison.baseline is None
        names.append(f"{shortened(first)} − {shortened(second)}" if against else first)
    name_rows(axis, names, longest=60)
    set_title(axis, _heading(comparison, len(pairs)))
    better = "" if comparison.higher_is_better else ", lower is better"
    axis.set_xlabel(
        f"difference, {100 * comparison.confidence:g}% intervals; "
        f"filled: significant at {comparison.significance:g}{better}"
    )


def _heading(comparison: Comparison, shown: int) -> str:
    of = "" if comparison.baseline is None else f", difference from {comparison.baseline}"
    all_pairs = len(comparison.pairs)
    some = f" (the {shown} largest of {all_pairs})" if shown < all_pairs else ""
    return f"{comparison.metric}{of}{some}"


def _turned(interval: ConfidenceInterval | None) -> ConfidenceInterval | None:
    if interval is None:
        return None
    return replace(interval, low=-interval.high, high=-interval.low)
