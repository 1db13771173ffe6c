"""A pilot study in; rows of two systems out, as fewer references or other raters would give them.

What a pilot has, all its references and their weights, is taken for the truth: anything less is a
worse instrument for the same gap between the systems.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.corpus import ReferenceSet, Study, reference_set
from deltableu.errors import InputError, check_at_least, check_kind, hint_at
from deltableu.rate import RatingNoise, rating_noise
from deltableu.score import Metric, Statistics
from deltableu.stats import group_numbers, stream, sum_groups

_FEWEST_ITEMS = 10
_DRAWS = 2  # its random streams differ from those of the simulated studies


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
        How single ratings scatter, where they are needed.
    dropped : tuple of str
        Items without a positively weighted reference.
    numbers : array of int or None
        The number of each item's group, where whole groups are drawn.
    """

    metric: Metric
    systems: tuple[str, str]
    references: ReferenceSet
    outputs: tuple[Sequence[str], Sequence[str]]
    noise: RatingNoise | None
    dropped: tuple[str, ...]
    numbers: Ints | None = None

    @property
    def units(self) -> int:
        """Items, or groups of them."""
        return len(self.references) if self.numbers is None else int(self.numbers.max()) + 1

    @classmethod
    def of(
        cls,
        study: Study,
        systems: Sequence[str],
        metric: Metric,
        *,
        ratings: bool = False,
        criterion: str | None = None,
        groups: Sequence[str] | None = None,
    ) -> Pilot:
        """Two systems of a study, if they can be compared under this metric.

        `ratings` says whether the raw ratings of references will be needed, `criterion` which; it
        may be left out where all have the same. `groups` names what each item belongs to.
        """
        check_kind("study", study, Study)
        check_kind("metric", metric, Metric)
        first, second = _two(study, systems)
        references = reference_set(study)
        weighted = "weights" in metric.needs
        if weighted and metric.prepare_references(references).weights is None:
            raise InputError(f"{metric.name} needs weights, and no reference of the pilot is rated")
        dropped = set(references.without_positive()) if weighted else set()
        kept = [index for index in range(len(study.items)) if index not in dropped]
        if len(kept) < _FEWEST_ITEMS:
            raise InputError(
                f"a pilot needs at least {_FEWEST_ITEMS} items that can be scored, got {len(kept)}"
            )
        references = references.take(kept)
        numbers = None
        if groups is not None:
            if len(groups) != len(study.items):
                raise InputError(f"there are {len(groups)} groups for {len(study.items)} items")
            numbers = group_numbers([groups[index] for index in kept])
            if int(numbers.max()) + 1 < _FEWEST_ITEMS:
                raise InputError(
                    f"a pilot needs at least {_FEWEST_ITEMS} groups of items, got "
                    f"{int(numbers.max()) + 1}"
                )
        noise = None
        if weighted and ratings:
            items = [study.items[index] for index in kept]
            noise = rating_noise(references, study.ratings.of_references(items, criterion))
        one, other = ([study.outputs[name][i] for i in kept] for name in (first, second))
        return cls(
            metric=metric.for_outputs(references, {first: one, second: other}),
            systems=(first, second),
            references=references,
            outputs=(one, other),
            noise=noise,
            dropped=tuple(study.items[index].id for index in sorted(dropped)),
            numbers=numbers,
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
        """Complain unless the pilot has this many references per item, raters per reference."""
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
        check_at_least("raters", raters, 1)
        if "weights" not in self.metric.needs:
            raise InputError(
                f"{self.metric.name} does not look at weights, so raters do not matter"
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
    ) -> tuple[Array, Array, float]:
        """Variants of every item: some of its references, weights from some raters.

        Returns rows of both systems, a variant per row, and how many references per item keeps.

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
            _, one, other = self._by_unit(range(len(self.references)), first.rows, second.rows)
            return one, other, _mean_size(self.references)
        noise = None
        if raters is not None and self.noise is not None:
            rng = stream(seed, _DRAWS, 0)
            noise = self.noise.draw("answers", draws, rng, raters=raters)
        found: list[tuple[Sequence[int], Array, Array]] = []
        sizes = []
        for number in range(draws):
            positions = self._positions(references, stream(seed, _DRAWS, 1, number))
            drawn = self.references.keep(positions, self.references.selection)
            if noise is None:
                kept, rows = self._rows_of(drawn, threads)
            else:
                starts = self.references.bounds[:-1].tolist()
                places = [
                    start + place
                    for start, row in zip(starts, positions, strict=True)
                    for place in row
                ]
                kept, rows = self._noisy_rows(drawn, noise[number, places])
            if kept:
                found.append(self._by_unit(kept, *rows))
                sizes.append(_mean_size(drawn.take(kept)))
            if progress is not None:
                progress(number + 1, draws)
        if not found:
            raise InputError("no item keeps a positive reference with so few references or raters")
        # Variants of an item side by side: one random number then means the same item everywhere.
        order = np.argsort(np.concatenate([rows[0] for rows in found]), kind="stable")
        one, other = (np.concatenate([rows[which] for rows in found])[order] for which in (1, 2))
        return one, other, sum(sizes) / len(sizes)

    def _by_unit(
        self, kept: Sequence[int], first: Array, second: Array
    ) -> tuple[Sequence[int], Array, Array]:
        """Rows of items as rows of what is drawn: items, or groups of which something is kept."""
        if self.numbers is None:
            return kept, first, second
        groups, places = np.unique(self.numbers[kept], return_inverse=True)
        return groups.tolist(), sum_groups(first, places), sum_groups(second, places)

    def _positions(self, size: int | None, rng: np.random.Generator) -> list[list[int]]:
        """The original and others at random, in their order, as many as asked for or there are."""
        positions = []
        for index, row in enumerate(self.references.texts):
            original = 0 if self.references.originals is None else self.references.originals[index]
            others = [place for place in range(len(row)) if place != original]
            if size is not None:
                drawn = rng.permutation(len(others))[: size - 1].tolist()
                others = [others[place] for place in drawn]
            positions.append(sorted([original, *others]))
        return positions

    def _rows_of(
        self, drawn: ReferenceSet, threads: int | None
    ) -> tuple[list[int], tuple[Array, Array]]:
        """Items that can be scored, and the rows of both systems for them."""
        lost = set(drawn.without_positive()) if "weights" in self.metric.needs else set()
        kept = [index for index in range(len(drawn)) if index not in lost]
        one, other = ([texts[i] for i in kept] for texts in self.outputs)
        taken = replace(self, references=drawn.take(kept), outputs=(one, other))
        first, second = taken.rows(threads=threads)
        return kept, (first.rows, second.rows)

    def _noisy_rows(
        self, drawn: ReferenceSet, noise: Array
    ) -> tuple[list[int], tuple[Array, Array]]:
        """The same with noise upon the weights, which may leave [-1, 1]: see `RatingNoise`."""
        weights = drawn.flat_weights + noise
        kept = np.flatnonzero(np.maximum.reduceat(weights, drawn.bounds[:-1]) > 0.0)
        rows = self.metric.reweighting(drawn, self.outputs).rows(weights[None])[0, kept]
        return kept.tolist(), (rows[:, 0], rows[:, 1])


def _two(study: Study, systems: Sequence[str]) -> tuple[str, str]:
    if len(systems) != 2:
        raise InputError(f"a comparison is planned for two systems, got {len(systems)}")
    for name in systems:
        if name not in study.outputs:
            there, meant = ", ".join(study.outputs) or "none", hint_at(name, study.outputs)
            raise InputError(f"there is no system {name!r} in the pilot; there are {there}{meant}")
    first, second = systems
    if first == second:
        raise InputError(f"system {first!r} is named twice")
    return first, second


def _mean_size(references: ReferenceSet) -> float:
    return sum(map(len, references.texts)) / len(references.texts)
