"""A pilot study in; rows of two systems out, as fewer references or other raters would give them.

What a pilot has, all its references and their weights, is taken for the truth: anything less is a
worse instrument for the same gap between the systems.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.corpus import ReferenceSet, Scale, Study, reference_set
from deltableu.errors import InputError
from deltableu.score import Metric, Statistics
from deltableu.stats import stream

__all__ = ["Pilot", "Rows"]


_FEWEST_ITEMS = 10
_DRAWS = 2  # its random streams differ from those of the simulated studies


@dataclass(frozen=True, slots=True, eq=False)
class Rows:
    """Rows of two systems, an item (or one of its variants) a row, and references an item."""

    first: Array
    second: Array
    references: float


@dataclass(frozen=True, slots=True, eq=False)
class Pilot:
    """Two systems on the items of a study.

    Attributes
    ----------
    metric : Metric
    systems : (str, str)
    references : ReferenceSet
        Without the items that the metric could not score.
    outputs : pair of lists of str
    noise : RatingNoise or None
        How single ratings scatter, where there are raw ratings.
    dropped : tuple of str
        Items without a positively weighted reference.
    """

    metric: Metric
    systems: tuple[str, str]
    references: ReferenceSet
    outputs: tuple[Sequence[str], Sequence[str]]
    noise: RatingNoise | None
    dropped: tuple[str, ...]

    @classmethod
    def of(
        cls, study: Study, systems: Sequence[str], metric: Metric, *, ratings: bool = False
    ) -> Pilot:
        """Two systems of a study, if they can be compared under this metric.

        `ratings` says whether the raw ratings of references will be needed.
        """
        first, second = _two(study, systems)
        references = reference_set(study)
        weighted = "weights" in metric.needs
        if weighted and references.weights is None:
            raise InputError(f"{metric.name} needs weights, and no reference of the pilot is rated")
        dropped = set(references.without_positive()) if weighted else set()
        kept = [index for index in range(len(study.items)) if index not in dropped]
        if len(kept) < _FEWEST_ITEMS:
            raise InputError(
                f"a pilot needs at least {_FEWEST_ITEMS} items that can be scored, got {len(kept)}"
            )
        items = tuple(study.items[index] for index in kept)
        outputs = [study.outputs[name] for name in (first, second)]
        return cls(
            metric=metric,
            systems=(first, second),
            references=references.take(kept),
            outputs=([outputs[0][i] for i in kept], [outputs[1][i] for i in kept]),
            noise=RatingNoise.of(replace(study, items=items)) if weighted and ratings else None,
            dropped=tuple(study.items[index].id for index in sorted(dropped)),
        )

    def turned(self) -> Pilot:
        """The same with the systems exchanged."""
        return replace(self, systems=self.systems[::-1], outputs=self.outputs[::-1])

    def rows(self, *, threads: int | None = None) -> tuple[Statistics, Statistics]:
        """Under all references and their weights."""
        encoded = self.metric.encode(self.references, threads=threads)
        both = [self.metric.statistics(one, encoded, threads=threads) for one in self.outputs]
        if not both[0].adds_up:
            raise InputError(f"{self.metric.name} pools all segments, so none can be drawn alone")
        return both[0], both[1]

    def check(self, references: int | None, raters: int | None) -> None:
        """Complain unless the pilot can show this many references an item, raters a reference."""
        if references is not None:
            most = max(map(len, self.references.texts))
            if not 1 <= references <= most:
                raise InputError(
                    f"references must lie between 1 and {most}, the most an item of the pilot has, "
                    f"got {references}"
                )
            if "references" not in self.metric.needs:
                raise InputError(f"{self.metric.name} does not look at references")
        if raters is None:
            return
        if raters < 1:
            raise InputError(f"raters must be at least 1, got {raters}")
        if "weights" not in self.metric.needs:
            raise InputError(
                f"{self.metric.name} does not look at weights, so raters do not matter"
            )
        if self.noise is None:
            raise InputError(
                "the number of raters cannot be varied: the pilot has no raw ratings of a "
                "reference by two raters or more"
            )

    def draw(
        self,
        references: int | None,
        raters: int | None,
        draws: int,
        seed: int,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Rows:
        """Variants of every item: some of its references, weights from some raters.

        Parameters
        ----------
        references : int or None
            How many an item keeps, drawn at random, the original always among them; None is all.
        raters : int or None
            How many ratings a weight is the mean of; None leaves the weights as they are.
        draws : int
            Variants of each item. Those without a positive reference are left out, as such items
            would be.
        seed : int
        """
        if references is None and raters is None:
            first, second = self.rows(threads=threads)
            return Rows(first.rows, second.rows, _mean_size(self.references))
        found: list[tuple[list[int], Array, Array]] = []
        sizes = []
        for number in range(draws):
            drawn = self._weighted(raters, stream(seed, _DRAWS, 0, number))
            drawn = _subset(drawn, references, stream(seed, _DRAWS, 1, number))
            lost = set(drawn.without_positive()) if "weights" in self.metric.needs else set()
            kept = [index for index in range(len(drawn)) if index not in lost]
            if kept:
                one, other = ([texts[i] for i in kept] for texts in self.outputs)
                taken = replace(self, references=drawn.take(kept), outputs=(one, other))
                first, second = taken.rows(threads=threads)
                found.append((kept, first.rows, second.rows))
                sizes.append(_mean_size(taken.references))
            if progress is not None:
                progress(number + 1, draws)
        if not found:
            raise InputError("no item keeps a positive reference with so few references or raters")
        # Variants of an item side by side: one random number then means the same item everywhere.
        order = np.argsort(np.concatenate([kept for kept, _, _ in found]), kind="stable")
        return Rows(
            np.concatenate([first for _, first, _ in found])[order],
            np.concatenate([second for _, _, second in found])[order],
            sum(sizes) / len(sizes),
        )

    def _weighted(self, raters: int | None, rng: np.random.Generator) -> ReferenceSet:
        if raters is None or self.noise is None or self.references.weights is None:
            return self.references
        counts = [len(row) for row in self.references.weights]
        flat = np.array([w for row in self.references.weights for w in row], dtype=np.float64)
        drawn = self.noise.weights(flat, counts, raters, rng).tolist()
        ends = np.cumsum(counts)
        weights = tuple(
            tuple(drawn[end - size : end]) for end, size in zip(ends.tolist(), counts, strict=True)
        )
        return replace(self.references, weights=weights)


@dataclass(frozen=True, slots=True, eq=False)
class RatingNoise:
    """How the ratings of each reference scatter around their mean.

    `residuals` holds the ratings, on the scale of weights, less their mean and times
    sqrt(k/(k-1)) for k raters, which makes up for the mean's following them. Reference j of the
    study owns `sizes[j]` of them from `starts[j]` on; what only one rater rated borrows from all.
    """

    residuals: Array
    starts: Ints
    sizes: Ints
    borrowed: Any

    @classmethod
    def of(cls, study: Study) -> RatingNoise | None:
        """From a study's raw ratings; None where no reference has two raters."""
        ratings = _reference_ratings(study)
        residuals: list[float] = []
        places = []
        for item in study.items:
            for reference in item.references:
                by_rater = ratings.get((item.id, reference.id), {})
                values = [float(np.mean(by_rater[rater])) for rater in sorted(by_rater)]
                places.append((len(residuals), len(values)))
                if len(values) > 1:
                    scatter = np.array(values) - np.mean(values)
                    scale = np.sqrt(len(values) / (len(values) - 1.0))
                    residuals += (scatter * scale).tolist()
        if not residuals:
            return None
        starts, sizes = (np.array(part, dtype=np.int64) for part in zip(*places, strict=True))
        borrowed = sizes == 1
        starts[borrowed], sizes[borrowed] = 0, len(residuals)
        return cls(np.array(residuals), starts, sizes, borrowed)

    def weights(
        self, weights: Array, counts: Sequence[int], raters: int, rng: np.random.Generator
    ) -> Array:
        """Weights as this many raters might give them, if the given ones are the true means.

        Raters are drawn an item at a time: who rated all its references errs on all alike.
        """
        drawn = np.repeat(rng.random((len(counts), raters)), counts, axis=0)
        drawn[self.borrowed] = rng.random((int(self.borrowed.sum()), raters))
        places = self.starts[:, None] + (drawn * self.sizes[:, None]).astype(np.int64)
        unrated = self.sizes == 0
        places[unrated] = 0
        noise = self.residuals[places].mean(axis=1)
        noise[unrated] = 0.0
        noisy: Array = np.clip(weights + noise, -1.0, 1.0)
        return noisy


def _reference_ratings(study: Study) -> dict[tuple[str, str], dict[str, list[float]]]:
    """Ratings of references as weights: item and reference -> rater -> values."""
    found: dict[tuple[str, str], dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    criteria = set()
    for rating in study.ratings:
        sort, _, name = rating.target.partition(":")
        # Hidden controls among ratings of systems show references too, to other ends.
        if sort != "reference" or rating.kind not in ("item", "repeat"):
            continue
        if rating.scale is None:
            raise InputError(
                f"the rating of reference {name!r} of item {rating.item!r} by {rating.rater!r} has "
                "no scale, such as 1-5, so it says nothing about weights"
            )
        criteria.add(rating.criterion)
        value = _scale(rating.scale).weight(rating.value)
        found[rating.item, name][rating.rater].append(value)
    if len(criteria) > 1:
        raise InputError(
            f"references were rated by several criteria ({', '.join(sorted(criteria))}): keep the "
            "ratings of the one that the weights came from"
        )
    return found


_scale = lru_cache(maxsize=64)(Scale.parse)


def _two(study: Study, systems: Sequence[str]) -> tuple[str, str]:
    if len(systems) != 2:
        raise InputError(f"a comparison is planned for two systems, got {len(systems)}")
    for name in systems:
        if name not in study.outputs:
            there = ", ".join(study.outputs) or "none"
            raise InputError(f"there is no system {name!r} in the pilot; there are {there}")
    if systems[0] == systems[1]:
        raise InputError(f"system {systems[0]!r} is named twice")
    return systems[0], systems[1]


def _subset(references: ReferenceSet, size: int | None, rng: np.random.Generator) -> ReferenceSet:
    """The original and others at random, in their order, as many as asked for or there are."""
    if size is None:
        return references
    texts, weights, originals, items = [], [], [], []
    for index, row in enumerate(references.texts):
        original = 0 if references.originals is None else references.originals[index]
        others = [place for place in range(len(row)) if place != original]
        drawn = rng.permutation(len(others))[: size - 1].tolist()
        kept = sorted([original, *(others[place] for place in drawn)])
        texts.append(tuple(row[place] for place in kept))
        originals.append(kept.index(original))
        if references.weights is not None:
            weights.append(tuple(references.weights[index][place] for place in kept))
        if references.items is not None:
            item = references.items[index]
            items.append(replace(item, references=tuple(item.references[i] for i in kept)))
    return replace(
        references,
        texts=tuple(texts),
        weights=None if references.weights is None else tuple(weights),
        originals=tuple(originals),
        items=None if references.items is None else tuple(items),
    )


def _mean_size(references: ReferenceSet) -> float:
    return sum(map(len, references.texts)) / len(references.texts)
