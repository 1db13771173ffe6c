"""Two systems in; the outputs that changed most between them, explained where they can be, out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deltableu.corpus import Item, ReferenceSet
from deltableu.report.cases import explained_case
from deltableu.report.explain import Case
from deltableu.score import BLEU, DeltaBLEU, Metric, Statistics

#: Score differences below this are rounding errors.
_SAME = 1e-9


@dataclass(frozen=True, slots=True)
class Change:
    """What two systems said to one item, with their scores; why, where the metric can tell."""

    item: Item
    texts: tuple[str, str]
    scores: tuple[float, float]
    case: Case | None

    @property
    def difference(self) -> float:
        """What the score of the item gained."""
        return self.scores[1] - self.scores[0]


@dataclass(frozen=True, slots=True)
class Changes:
    """The largest gains and losses of a system over a baseline, and how many there were."""

    baseline: str
    system: str
    metric: str
    gains: tuple[Change, ...]
    losses: tuple[Change, ...]
    better: int
    worse: int
    same: int


def changed_outputs(
    references: ReferenceSet,
    outputs: Mapping[str, Sequence[str]],
    metric: Metric,
    pairs: Sequence[tuple[str, str]],
    *,
    most: int = 5,
) -> Iterator[Changes]:
    """For each pair of baseline and system, the items whose scores changed most.

    Parameters
    ----------
    references, outputs
        As `score_systems` takes them.
    metric
        That has scores of single items. Most items of geometric delta-BLEU score 0 by themselves,
        which hides changes: its signed form takes its place.
    pairs
        Outputs of baseline and system.
    most
        Gains, and losses, of each pair.
    """
    if isinstance(metric, DeltaBLEU):
        # The signed form takes weights as they are, also those that a judge gives.
        references, metric = metric.prepare_references(references), metric.signed()
    metric = metric.for_outputs(references, outputs)
    encoded = metric.encode(references)
    names = dict.fromkeys(name for pair in pairs for name in pair)
    rows = {name: metric.statistics(outputs[name], encoded) for name in names}
    for baseline, system in pairs:
        yield _changes(references, outputs, metric, rows, baseline, system, most)


def _changes(
    references: ReferenceSet,
    outputs: Mapping[str, Sequence[str]],
    metric: Metric,
    rows: Mapping[str, Statistics],
    baseline: str,
    system: str,
    most: int,
) -> Changes:
    before, after = rows[baseline].segment_scores(), rows[system].segment_scores()
    gained = (after - before) * (1.0 if metric.higher_is_better else -1.0)
    order = np.argsort(-gained, kind="stable")
    better, worse = int((gained > _SAME).sum()), int((gained < -_SAME).sum())
    both = {name: outputs[name] for name in (baseline, system)}
    items = references.items or ()

    def change(place: int) -> Change:
        case = None
        if isinstance(metric, BLEU):
            case = explained_case(references, place, both, {name: rows[name] for name in both})
        return Change(
            items[place],
            (outputs[baseline][place], outputs[system][place]),
            (float(before[place]), float(after[place])),
            case,
        )

    return Changes(
        baseline,
        system,
        metric.name,
        gains=tuple(map(change, order[: min(most, better)].tolist())),
        losses=tuple(map(change, order[::-1][: min(most, worse)].tolist())),
        better=better,
        worse=worse,
        same=len(gained) - better - worse,
    )
