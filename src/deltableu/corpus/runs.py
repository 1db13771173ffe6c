"""Names of outputs in, systems with their runs out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from deltableu.errors import InputError


def system_runs(names: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Systems and the names of their runs: `NAME@SEED` is one of several runs of `NAME`.

    The system is what stands before the last "@". A name that is the only one with what stands
    before its "@" is an ordinary system, its only run.

    Examples
    --------
    >>> system_runs(["A@1", "A@2", "B", "me@home"])
    {'A': ('A@1', 'A@2'), 'B': ('B',), 'me@home': ('me@home',)}
    """
    given = tuple(names)
    stems = {name: name.rpartition("@")[0] if name[-1:] != "@" else "" for name in given}
    counted = [stem for stem in stems.values() if stem]
    found: dict[str, list[str]] = {}
    for name, stem in stems.items():
        several = counted.count(stem) > 1
        if several and stem in stems:
            raise InputError(
                f"there is an output of {stem!r} beside runs of it such as {name!r}: rename one, "
                "or take all for systems (runs off)"
            )
        found.setdefault(stem if several else name, []).append(name)
    return {system: tuple(runs) for system, runs in found.items()}


def with_runs(wanted: Iterable[str], there: Sequence[str]) -> list[str]:
    """Names of outputs, in place of each system that was asked for and has several runs.

    Examples
    --------
    >>> with_runs(["A", "B"], ["A@1", "A@2", "B"])
    ['A@1', 'A@2', 'B']
    """
    asked = list(wanted)
    if all(name in there for name in asked):
        return asked
    known = system_runs(there)
    return [
        run for name in asked for run in ((name,) if name in there else known.get(name, (name,)))
    ]
