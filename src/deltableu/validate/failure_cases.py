"""Scores in; the outputs about which a metric and people disagree most out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deltableu.corpus import ScoreTable
from deltableu.errors import check_at_least
from deltableu.validate.quality_bins import BinRule, bin_edges, bin_names, bin_places, rated_outputs

Kind = Literal["too low", "too high"]
#: The bin in which each kind is looked for, and which way scores are sorted there.
_KINDS: tuple[tuple[Kind, int, float], ...] = (("too low", -1, 1.0), ("too high", 0, -1.0))


@dataclass(frozen=True, slots=True)
class FailureCase:
    """An output that people like and the metric does not, or the other way round.

    Attributes
    ----------
    metric, system, item : str
    kind : {"too low", "too high"}
        A low score in the best bin, or a high one in the worst.
    bin : str
        The name of that bin.
    rank : int
        From 1, the worst disagreement of its kind.
    score, human : float
    """

    metric: str
    kind: Kind
    bin: str
    rank: int
    system: str
    item: str
    score: float
    human: float


def failure_cases(
    scores: ScoreTable,
    human: ScoreTable,
    *,
    metrics: Sequence[str] | None = None,
    most: int = 5,
    bins: int = 3,
    rule: BinRule = "quantile",
) -> tuple[FailureCase, ...]:
    """The lowest scores of outputs that people find good, and the highest of those they find bad.

    Parameters
    ----------
    scores, human : ScoreTable
        `human` has one metric, people.
    metrics : list of str, optional
        By default all that score single outputs.
    most : int
        Cases of each kind.
    bins, rule
        As in `bin_edges`.

    References
    ----------
    Wei, "On conducting better validation studies", section 4.2.

    Examples
    --------
    >>> people = ScoreTable.of({"people": {"A": [1, 2, 3, 4, 5, 6]}})
    >>> metric = ScoreTable.of({"m": {"A": [0.7, 0.1, 0.2, 0.3, 0.2, 0.9]}})
    >>> [(one.kind, one.item, one.score) for one in failure_cases(metric, people, most=1)]
    [('too low', '4', 0.2), ('too high', '0', 0.7)]
    """
    check_at_least("most", most, 1)
    scores, people = rated_outputs(scores, human, metrics)
    places, names = bin_places(people, bin_edges(people, bins, rule)), bin_names(bins)
    found = []
    for metric, higher in zip(scores.metrics, scores.higher_is_better, strict=True):
        values = scores.only(metric)
        for kind, wanted, sign in _KINDS:
            place = wanted % bins
            inside = np.argwhere(places == place)
            worth = (sign if higher else -sign) * values[tuple(inside.T)]
            # Of equal scores, those that people would move farthest come first.
            order = np.lexsort((-sign * people[tuple(inside.T)], worth))[:most]
            for rank, (s, i) in enumerate(inside[order].tolist(), start=1):
                score, human_score = float(values[s, i]), float(people[s, i])
                output = scores.systems[s], scores.items[i]
                found.append(
                    FailureCase(metric, kind, names[place], rank, *output, score, human_score)
                )
    return tuple(found)
