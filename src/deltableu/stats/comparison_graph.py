"""Who was compared with whom in; complaints where no ranking of all follows from that, out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deltableu._types import Ints
from deltableu.errors import InputError

#: Names in a sentence.
_NAMED = 3


def check_comparisons(
    names: Sequence[str], first: Ints, second: Ints, outcome: Ints, *, mixed: bool
) -> None:
    """Complain where no strengths follow from judgements of two, and say whose.

    Parameters
    ----------
    names
        Whom places stand for.
    first, second, outcome
        Places of both, and 1 where the first was preferred, -1 where the second was, 0 for a tie.
    mixed
        Whether everybody must have lost something, and won something, by way of others too.
    """
    if len(names) < 2:
        raise InputError("a ranking by preferences needs at least two systems")
    if not len(first):
        raise InputError("there are no judgements of two systems")
    if not outcome.any():
        raise InputError(f"all {len(first):,} judgements are ties: nothing tells the systems apart")
    _check_connected(names, first, second)
    if mixed:
        _check_mixed(names, first, second, outcome)


def _check_connected(names: Sequence[str], first: Ints, second: Ints) -> None:
    groups = _components(len(names), first, second, "weak")
    if groups.max() == 0:
        return
    sizes = np.bincount(groups)
    smaller = int(np.argmin(sizes))
    alone, others = np.flatnonzero(groups == smaller), np.flatnonzero(groups != smaller)
    raise InputError(
        f"no judgement compares {_some(names, alone)} with {_some(names, others)}, directly or by "
        "way of others: rank each group by itself (--systems), or compare more pairs"
    )


def _check_mixed(names: Sequence[str], first: Ints, second: Ints, outcome: Ints) -> None:
    """Complain where a group of systems wins all that it has with the others (Ford 1957)."""
    from scipy.sparse import csr_array

    winners = np.concatenate((first[outcome >= 0], second[outcome <= 0]))
    losers = np.concatenate((second[outcome >= 0], first[outcome <= 0]))
    groups = _components(len(names), winners, losers, "strong")
    number = int(groups.max()) + 1
    if number == 1:
        return
    apart = groups[winners] != groups[losers]
    beats = csr_array(
        (np.ones(int(apart.sum())), (groups[winners[apart]], groups[losers[apart]])),
        shape=(number, number),
    )
    ahead = np.asarray(beats.sum(axis=1)).ravel() > 0
    behind = np.asarray(beats.sum(axis=0)).ravel() > 0
    sizes = np.bincount(groups)
    # Those that nobody beat, and those that beat nobody: the smallest of them says it best.
    ends = np.flatnonzero(ahead != behind).tolist()
    chosen = min(ends, key=lambda place: (sizes[place], not ahead[place]))
    mine = groups == chosen
    number = int((mine[first] != mine[second]).sum())
    judged = "the only judgement" if number == 1 else f"all {number:,} judgements"
    raise InputError(
        f"{_some(names, np.flatnonzero(mine))} {'won' if ahead[chosen] else 'lost'} {judged} with "
        "others, so that strengths have no finite estimate: take a prior (--prior 1), or leave "
        "systems out (--systems)"
    )


def _components(size: int, start: Ints, end: Ints, connection: str) -> Ints:
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(len(start)), (start, end)), shape=(size, size))
    found: Ints = connected_components(graph, connection=connection)[1].astype(np.int64)
    return found


def _some(names: Sequence[str], places: Ints) -> str:
    """The names of some places; of many, the first few."""
    shown = [names[place] for place in places[:_NAMED].tolist()]
    if len(places) > _NAMED:
        return f"{', '.join(shown)} and {len(places) - _NAMED:,} more"
    return shown[0] if len(shown) == 1 else f"{', '.join(shown[:-1])} and {shown[-1]}"
