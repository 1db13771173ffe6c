"""What would other raters have said? Ways to draw their weights, against drawing real raters.

Items have six references of known quality, and raters are drawn for each item. A rater answers with
the quality of a reference, plus a harshness of the rater (standard deviation .2 on the scale of
weights), plus noise (.4), cut off at the ends of the scale and rounded to its steps. A pilot of a
few raters per item tells how answers scatter; then as many weights are drawn as asked for, each the
mean of so many raters' answers, by every method and from new raters, who are the truth.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Literal
from zlib import crc32

import numpy as np

from deltableu._types import Array, Bools
from deltableu.corpus import Item, RatingTable, Reference, ReferenceSet, reference_set
from deltableu.rate import rating_noise
from deltableu.score import DeltaBLEU
from deltableu.stats import stream
from simulations.replications import Progress

__all__ = ["METHODS", "Cell", "Figures", "cells", "simulate", "table"]

Method = Literal["wild", "wild, cut off", "residuals", "residuals, cut off", "answers"]

#: The first is what `RatingNoise` does.
METHODS: tuple[Method, ...] = (
    "wild",
    "wild, cut off",
    "residuals",
    "residuals, cut off",
    "answers",
)
_ITEMS, _REFERENCES = 60, 6
_DRAWS = 40
_HARSHNESS, _NOISE = 0.2, 0.4
_METRIC = DeltaBLEU(tokenize="none")


@dataclass(frozen=True, slots=True)
class Cell:
    """A scale, where on it the references are, and how many raters there are.

    Attributes
    ----------
    scale : {"1-5", "0-100"}
    place : {"all over", "at the ends"}
        Of the qualities of references on the scale.
    pilot : int
        Raters per item in the pilot.
    raters : int
        Raters per item whose weights are asked for.
    known : bool
        Whether weights are drawn around the true means, else around those of the pilot.
    """

    scale: Literal["1-5", "0-100"]
    place: Literal["all over", "at the ends"]
    pilot: int
    raters: int
    known: bool = True

    @property
    def name(self) -> str:
        """What the table says of it."""
        around = "true means" if self.known else "the pilot's means"
        return f"{self.scale}, {self.place} | {self.pilot} | {self.raters} | {around}"


def cells() -> list[Cell]:
    """All that is simulated."""
    return [
        *(
            Cell(scale, place, 3, 2)
            for scale in ("1-5", "0-100")
            for place in ("all over", "at the ends")
        ),
        Cell("1-5", "at the ends", 2, 1),
        Cell("1-5", "at the ends", 5, 5),
        Cell("1-5", "all over", 3, 2, known=False),
        Cell("1-5", "at the ends", 3, 2, known=False),
    ]


@dataclass(frozen=True, slots=True)
class Figures:
    """How one method's weights and scores differ from those of new raters.

    Attributes
    ----------
    weight : float
        Mean weight of good references (.6 and more), less the true one.
    spread : float
        Standard deviation of a weight, over the true one.
    largest : float
        Mean of the items' largest weights, less the true one.
    score, score_spread : float
        Mean delta-BLEU less the true one, and its standard deviation over the true one. Around the
        means of the pilot, by how much noise moves the score is compared.
    """

    weight: float
    spread: float
    largest: float
    score: float
    score_spread: float


def simulate(
    replications: int, seed: int = 0, *, progress: Progress | None = None
) -> dict[tuple[Cell, Method], Figures]:
    """Figures of every cell and method, from so many pilots."""
    found: dict[tuple[Cell, Method], Figures] = {}
    wanted = cells()
    for done, cell in enumerate(wanted):
        made = figures(cell, replications, seed)
        found |= {(cell, method): one for method, one in zip(METHODS, made, strict=True)}
        if progress is not None:
            progress(done + 1, len(wanted))
    return found


def figures(cell: Cell, replications: int, seed: int = 0) -> list[Figures]:
    """Of one cell, by method."""
    sums = np.zeros((len(METHODS) + 1, 5))
    for number in range(replications):
        sums += _one_pilot(cell, stream(seed, crc32(cell.name.encode()), number))
    means = sums / replications
    truth, rest = means[0], means[1:]
    return [
        Figures(
            weight=float(one[0] - truth[0]),
            spread=float(np.sqrt(one[1] / truth[1])),
            largest=float(one[2] - truth[2]),
            score=float(one[3] - truth[3]),
            score_spread=float(np.sqrt(one[4] / truth[4])),
        )
        for one in rest
    ]


def _one_pilot(cell: Cell, rng: np.random.Generator) -> Array:
    """Truth and methods x mean good weight, variance, largest weight, score, its variance."""
    quality = _qualities(cell, rng)
    true = _mean_answers(cell, quality)
    items, outputs = _texts(quality, rng)
    pilot = _answers(cell, quality, cell.pilot, rng)
    centre = true if cell.known else pilot.mean(axis=2)
    ready = _METRIC.reweighting(_weighted(items, true), [outputs])

    def summary(weights: Array, around: Array) -> list[float]:
        flat = weights.reshape(len(weights), -1)
        noise = weights - around
        scores = _METRIC.aggregate(ready.rows(flat).sum(axis=1))[:, 0]
        still = _METRIC.aggregate(ready.rows(around.reshape(1, -1)).sum(axis=1))[0, 0]
        largest = weights.max(axis=2).mean() - around.max(axis=1).mean()
        good = float(noise[:, true >= 0.6].mean())
        variance = float(noise.var(axis=0, ddof=1).mean())
        return [good, variance, largest, float(scores.mean() - still), float(scores.var(ddof=1))]

    new = np.stack([_answers(cell, quality, cell.raters, rng).mean(axis=2) for _ in range(_DRAWS)])
    rows = [summary(new, true)]
    for method in METHODS:
        rows.append(summary(_drawn(method, cell, items, pilot, centre, rng), centre))
    return np.array(rows)


def _drawn(
    method: Method,
    cell: Cell,
    items: list[Item],
    pilot: Array,
    centre: Array,
    rng: np.random.Generator,
) -> Array:
    shape = (_DRAWS, *centre.shape)
    if method.startswith("wild"):
        noise = rating_noise(_weighted(items, centre), _table(items, pilot))
        drawn = noise.draw("answers", _DRAWS, rng, raters=cell.raters).reshape(shape)
    else:
        scatter = pilot - pilot.mean(axis=2, keepdims=True)
        if method != "answers":
            scatter *= np.sqrt(cell.pilot / (cell.pilot - 1.0))
        # Who rated an item rated all its references.
        who = rng.integers(cell.pilot, size=(_DRAWS, _ITEMS, 1, cell.raters))
        drawn = np.take_along_axis(scatter[None], np.broadcast_to(who, (*shape, cell.raters)), 3)
        drawn = drawn.mean(axis=3)
    weights: Array = centre + drawn
    return np.clip(weights, -1.0, 1.0) if method.endswith("cut off") else weights


def _qualities(cell: Cell, rng: np.random.Generator) -> Array:
    shape = (_ITEMS, _REFERENCES)
    if cell.place == "all over":
        quality = rng.normal(0.1, 0.4, size=shape)
    else:
        quality = np.where(rng.random(shape) < 0.5, 0.95, -0.8) + rng.normal(0.0, 0.15, size=shape)
    quality[:, 0] = 0.6 if cell.place == "all over" else 1.0
    return quality


def _steps(cell: Cell) -> float:
    """Steps of the scale from the middle to an end."""
    return 2.0 if cell.scale == "1-5" else 50.0


def _answers(cell: Cell, quality: Array, raters: int, rng: np.random.Generator) -> Array:
    """Items x references x raters."""
    harshness = rng.normal(0.0, _HARSHNESS, size=(_ITEMS, 1, raters))
    felt = quality[..., None] + harshness + rng.normal(0.0, _NOISE, size=(*quality.shape, raters))
    return _said(cell, felt)


def _said(cell: Cell, felt: Array) -> Array:
    steps = _steps(cell)
    return np.asarray(np.round(steps * np.clip(felt, -1.0, 1.0)) / steps)


def _mean_answers(cell: Cell, quality: Array) -> Array:
    """What endlessly many raters say on average."""
    deviations = np.linspace(-4.0, 4.0, 801)
    density = np.exp(-0.5 * deviations**2)
    felt = quality[..., None] + np.hypot(_HARSHNESS, _NOISE) * deviations
    return np.asarray(_said(cell, felt) @ (density / density.sum()))


def _texts(quality: Array, rng: np.random.Generator) -> tuple[list[Item], list[str]]:
    """References have good words as their quality says; the output has more good than bad ones."""
    items = []
    for number, row in enumerate(quality):
        good = rng.random((len(row), 6)) < ((1.0 + np.clip(row, -0.9, 0.9)) / 2.0)[:, None]
        texts = [" ".join(_words(one, rng)) for one in good]
        made = (Reference(f"r{place}", text) for place, text in enumerate(texts))
        items.append(Item(str(number), tuple(made)))
    outputs = [" ".join(_words(rng.random(6) < 0.6, rng)) for _ in items]
    return items, outputs


def _words(good: Bools, rng: np.random.Generator) -> Iterator[str]:
    for one, place in zip(good.tolist(), rng.integers(8, size=len(good)).tolist(), strict=True):
        yield f"{'g' if one else 'b'}{place}"


def _weighted(items: list[Item], weights: Array) -> ReferenceSet:
    return replace(reference_set(items), weights=weights.tolist())


def _table(items: list[Item], answers: Array) -> RatingTable:
    """Each item has raters of its own."""
    item, reference, rater = (one.ravel().tolist() for one in np.indices(answers.shape))
    table = RatingTable.of(
        raters=[f"{one}-{who}" for one, who in zip(item, rater, strict=True)],
        items=[str(one) for one in item],
        references=[f"r{one}" for one in reference],
        values=answers.ravel(),
        scale="-1-1",
    )
    return table.of_references(items)


def table(found: dict[tuple[Cell, Method], Figures]) -> str:
    """Markdown, a line a cell: errors of weights, of their spread and of scores, by method."""
    lines = [
        f"| scale | pilot's raters | raters | around | {' | '.join(METHODS)} |",
        f"|{' --- |' * (4 + len(METHODS))}",
    ]
    for cell in dict.fromkeys(cell for cell, _ in found):
        made = [found[cell, method] for method in METHODS]
        shown = (f"{one.weight:+.3f}, {one.spread:.2f}, {one.score:+.1f}" for one in made)
        lines.append(f"| {cell.name} | {' | '.join(shown)} |")
    return "\n".join(lines)
