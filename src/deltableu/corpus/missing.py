"""Outputs of which some are missing in; what is scored in their place, or without them, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from deltableu.errors import InputError, Problem, check_choice
from deltableu.io import Report
from deltableu.text import Texts

Missing: TypeAlias = Literal["error", "empty", "drop"]
"""What to do with items for which a system has no output."""

MISSING: tuple[Missing, ...] = ("error", "empty", "drop")


@dataclass(frozen=True, slots=True)
class SettledOutputs:
    """A text of every system for each item that is `kept`, by its place."""

    outputs: dict[str, Sequence[str]]
    kept: tuple[int, ...]


def settle_missing(
    outputs: Mapping[str, Sequence[str | None]],
    items: int,
    missing: Missing,
    place: str,
    report: Report,
) -> SettledOutputs:
    """Give a text to outputs that are None, or leave their items out; a warning says how many.

    Parameters
    ----------
    outputs
        The outputs of each system, in item order.
    items
        How many there are.
    missing
        "drop" leaves out items; otherwise the text is empty.
    place
        Where the outputs stand.
    report
        Called with the warning.
    """
    check_choice("missing", missing, MISSING)
    kept = tuple(range(items))
    whole = {name: texts for name, texts in outputs.items() if isinstance(texts, Texts)}
    if len(whole) == len(outputs):
        return SettledOutputs({**whole}, kept)
    gaps = {name: [text is None for text in texts] for name, texts in outputs.items()}
    counts = {name: sum(gap) for name, gap in gaps.items() if any(gap)}
    if missing == "drop" and counts:
        kept = tuple(i for i in kept if not any(gap[i] for gap in gaps.values()))
    if counts and missing != "error":
        lost = ", ".join(f"{name} {count}" for name, count in list(counts.items())[:5])
        of = f"{lost}{' and others' * (len(counts) > 5)}"
        if not kept:
            message = f"no item is left: each lacks an output of some system ({of})"
            raise InputError(Problem(message, file=place))
        done = f"left out {items - len(kept)} of {items} items without an output ({of})"
        if missing == "empty":
            done = f"outputs that are missing count as empty texts ({of} of {items})"
        report(Problem(done, file=place, severity="warning"))
    return SettledOutputs(
        {name: tuple(texts[i] or "" for i in kept) for name, texts in outputs.items()}, kept
    )
