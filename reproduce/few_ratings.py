"""Quality of systems from few of the ratings that people gave: do intervals hold, what is saved."""

from __future__ import annotations

import gzip
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltableu import SentenceBLEU
from deltableu.corpus import ScoreTable
from deltableu.rate import QualityEstimates, estimate_systems
from deltableu.score import ChrFPlusPlus
from reproduce.layout import number, table
from reproduce.rated_sets import read_judged_responses
from reproduce.scores import segment_scores
from reproduce.wmt_systems import read_lines

__all__ = ["RatedOutputs", "Trial", "rated_dstc7", "rated_wmt21", "section", "trials"]

Array = np.ndarray[Any, np.dtype[np.float64]]

SHARES = (0.05, 0.1, 0.2)
DRAWS = 300

SETTING = """\
All of these outputs were rated; of each draw ({draws}) only a share of the ratings is shown to
`rate estimate`, chosen as it asks for them (`--order`, before anything was rated), and its 95%
intervals for these outputs (`--population these`) are held against the means of all ratings.
*within* is the correlation of the metric with people within a system, averaged. *held* says how
many intervals held the truth, of systems and of differences of pairs. *saving* is the mean squared
error of as many ratings alone, drawn at random (for differences on the same items), over that of
the estimate, with its standard error over draws: 1.1 means that ten ratings do for eleven. One
judge: what one of the three said of an output helps to estimate what the other two say, as a model
might that agrees with people as well as they do with each other."""


@dataclass(frozen=True, slots=True, eq=False)
class RatedOutputs:
    """Outputs of some systems on the same items, mean ratings, and what may help to guess them."""

    name: str
    systems: tuple[str, ...]
    items: tuple[str, ...]
    human: Array
    helpers: dict[str, tuple[Array, Array]]


@dataclass(frozen=True, slots=True)
class Trial:
    """What came of one helper at one share of ratings.

    Held intervals are shares; savings are ratios of mean squared errors, with standard errors.
    """

    share: float
    within: float
    held: float
    pairs_held: float
    saving: tuple[float, float]
    pairs_saving: tuple[float, float]


def rated_dstc7(data: Path) -> RatedOutputs:
    """Nine machine systems on the contexts that have references, three judges each."""
    systems, outputs, references, judged = read_judged_responses(data)
    machines = tuple(name for name in systems if name != "Human")
    items = tuple(item for item, texts in references.items() if texts)
    given: dict[tuple[str, str], list[float]] = defaultdict(list)
    for _, item, system, value in judged:
        given[system, item].append(value)
    # One team was judged twice as often as the others.
    slots = np.array([[given[system, item][:3] for item in items] for system in machines])
    texts = [[outputs[system][item] for item in items] for system in machines]
    every = [references[item] for item in items]
    mean = slots.mean(axis=2)
    helpers = {
        "chrF++": (segment_scores(ChrFPlusPlus(lowercase=True), texts, every), mean),
        "sBLEU-2": (
            segment_scores(SentenceBLEU(order=2, method="moses", lowercase=True), texts, every),
            mean,
        ),
        "one judge": (slots[:, :, 0], slots[:, :, 1:].mean(axis=2)),
    }
    return RatedOutputs("dstc7", machines, items, mean, helpers)


def rated_wmt21(data: Path) -> RatedOutputs:
    """Czech to English: segments that were rated for every system, means of z."""
    folder = data / "wmt21_da"
    said: dict[tuple[str, str], list[float]] = defaultdict(list)
    path = folder / "humaneval/newstest2021-toen/ad-csen-good-stnd-redup.csv.gz"
    with gzip.open(path, "rt") as lines:
        next(lines)
        for line in lines:
            row = line.replace('"', "").split()
            if row[8] in ("SYSTEM", "REPEAT"):
                said[row[6].rpartition(".")[0], row[9]].append(float(row[10]))
    texts = folder / "txt"
    outputs = {
        found.name.split(".")[3]: read_lines(found)
        for found in sorted((texts / "system-outputs").glob("newstest2021.cs-en.hyp.*.gz"))
    }
    systems = tuple(name for name in outputs if any(system == name for system, _ in said))
    segments = sorted({segment for _, segment in said}, key=int)
    items = tuple(one for one in segments if all((name, one) in said for name in systems))
    places = [int(item) - 1 for item in items]
    both = [
        read_lines(texts / "references" / f"newstest2021.cs-en.ref.{name}.en.gz") for name in "AB"
    ]
    every = [[own[place] for own in both] for place in places]
    human = np.array([[np.mean(said[name, item]) for item in items] for name in systems])
    chosen = [[outputs[name][place] for place in places] for name in systems]
    helpers = {
        "chrF++": (segment_scores(ChrFPlusPlus(), chosen, every), human),
        "sBLEU-4": (segment_scores(SentenceBLEU(method="moses"), chosen, every), human),
    }
    return RatedOutputs("wmt21, cs-en", systems, items, human, helpers)


def trials(rated: RatedOutputs, helper: str, draws: int = DRAWS) -> Iterator[Trial]:
    """What comes of one helper, for each share."""
    scores, human = rated.helpers[helper]
    size = human.size
    truth = human.mean(axis=1)
    first, second = np.triu_indices(len(truth), 1)
    helping = ScoreTable.from_arrays([helper], rated.systems, rated.items, scores[np.newaxis])
    nobody = _people(rated, np.full(human.shape, np.nan))
    orders = [_places(rated, estimate_systems(nobody, helping, seed=draw)) for draw in range(draws)]
    within = [np.corrcoef(one, two)[0, 1] for one, two in zip(scores, human, strict=True)]
    for share in SHARES:
        count = round(share * size)
        # As many items of each pair as of each system.
        pairs_count = count * len(first) / len(truth)
        held, pairs_held, errors, pair_errors = ([] for _ in range(4))
        for order in orders:
            shown = np.full(human.shape, np.nan)
            chosen = tuple(order[:count].T)
            shown[chosen] = human[chosen]
            found = estimate_systems(_people(rated, shown), helping, finite=True)
            quality = {one.system: one.quality for one in found.systems}
            means = np.array([quality[name].mean for name in rated.systems])
            low, high = (
                np.array([getattr(quality[name].interval, end) for name in rated.systems])
                for end in ("low", "high")
            )
            held.append((low <= truth) & (truth <= high))
            errors.append(means - truth)
            pair_errors.append((means[first] - means[second]) - (truth[first] - truth[second]))
            pairs_held.append(_pairs_held(found, dict(zip(rated.systems, truth, strict=True))))
        yield Trial(
            share,
            float(np.nanmean(within)),
            float(np.mean(held)),
            float(np.mean(pairs_held)),
            _saving(_alone(human, count), errors),
            _saving(_alone(human[first] - human[second], pairs_count), pair_errors),
        )


def _people(rated: RatedOutputs, values: Array) -> ScoreTable:
    return ScoreTable.from_arrays(["human"], rated.systems, rated.items, values[np.newaxis])


def _places(rated: RatedOutputs, found: QualityEstimates) -> Array:
    systems = {f"system:{name}": place for place, name in enumerate(rated.systems)}
    items = {item: place for place, item in enumerate(rated.items)}
    return np.array([(systems[one.target], items[one.item]) for one in found.order])


def _pairs_held(found: QualityEstimates, truth: dict[str, float]) -> float:
    return float(
        np.mean(
            [
                one.difference.interval.low
                <= truth[one.better] - truth[one.worse]
                <= one.difference.interval.high
                for one in found.pairs
            ]
        )
    )


def _alone(values: Array, count: float) -> float:
    """The mean squared error of plain means of as many ratings, drawn at random from each row."""
    each = count / len(values)
    left = 1.0 - each / values.shape[1]
    return float(left * values.var(axis=1, ddof=1).mean() / each)


def _saving(alone: float, errors: list[Array]) -> tuple[float, float]:
    """Over the mean squared error, with a standard error over draws, whose parts go together."""
    squares = np.square(errors).mean(axis=1)
    saving = alone / float(squares.mean())
    return saving, saving * float(squares.std(ddof=1) / squares.mean()) / len(squares) ** 0.5


def _with_error(saving: tuple[float, float]) -> str:
    return f"{number(saving[0], 2)} +- {number(saving[1], 2)}"


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    header = ["set", "outputs", "helper", "within", "rated", "held", "held, pairs", "saving"]
    header.append("saving, pairs")
    rows = []
    for rated in (rated_dstc7(data), rated_wmt21(data)):
        size = f"{len(rated.systems)} x {len(rated.items):,}"
        for helper in rated.helpers:
            for one in trials(rated, helper):
                rows.append(
                    [
                        *(rated.name, size, helper, number(one.within, 2), f"{one.share:.0%}"),
                        *(f"{one.held:.1%}", f"{one.pairs_held:.1%}"),
                        *map(_with_error, (one.saving, one.pairs_saving)),
                    ]
                )
    lines = ["## Few ratings", "", SETTING.format(draws=DRAWS), "", *table(header, rows), ""]
    return "\n".join(lines)
