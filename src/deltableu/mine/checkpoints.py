"""Results of partitions in a work folder, so that a long run can go on after being killed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict
from typing import Any

from deltableu._types import AnyArray
from deltableu.errors import Problem
from deltableu.io import WorkFolder
from deltableu.mine.heaps import Heaps
from deltableu.mine.join import Counted, Joined
from deltableu.mine.rows import LoggedPair

_HEAPS = ("scores", "positions", "keys", "sizes")


def kept_counted(work: WorkFolder, partition: int) -> Counted | None:
    """What the first pass found, if it was finished."""
    found = work.kept(f"counted-{partition:06}")
    if found is None:
        return None
    arrays, notes = found
    problem = notes["problem"] and Problem(**notes["problem"])
    return Counted(notes["rows"], arrays["sums"], notes["skipped"], problem or None)


def keep_counted(work: WorkFolder, partition: int, result: Counted) -> None:
    """Keep what the first pass found."""
    problem = result.problem and asdict(result.problem)
    notes = {"rows": result.rows, "skipped": result.skipped, "problem": problem}
    work.keep(f"counted-{partition:06}", {"sums": result.sums}, notes)


def kept_joined(work: WorkFolder, partition: int) -> Joined | None:
    """What the second pass found, if it was finished."""
    found = work.kept(f"joined-{partition:06}")
    if found is None:
        return None
    arrays, notes = found
    pairs, picked = (
        {position: LoggedPair(*texts) for position, *texts in notes[name]}
        for name in ("pairs", "picked")
    )
    heaps = Heaps(*(arrays[name] for name in _HEAPS))
    return Joined(heaps, pairs, picked, arrays["leaks"], notes["dropped"], notes["rows"])


def keep_joined(work: WorkFolder, partition: int, result: Joined) -> None:
    """Keep what the second pass found."""
    arrays: dict[str, AnyArray] = {name: getattr(result.heaps, name) for name in _HEAPS}
    notes = {
        "pairs": _texts(result.pairs),
        "picked": _texts(result.picked),
        "dropped": dict(result.dropped),
        "rows": result.rows,
    }
    work.keep(f"joined-{partition:06}", {**arrays, "leaks": result.leaks}, notes)


def _texts(pairs: Mapping[int, LoggedPair]) -> list[list[Any]]:
    return [[position, *pair] for position, pair in pairs.items()]
