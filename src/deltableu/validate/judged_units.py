"""Ratings, weights or scores in; one value for each text, on one scale where there is one, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import RatingTable, Scale, ScoreTable, Study, reference_set, says_simulated
from deltableu.errors import InputError, check_choice
from deltableu.rate import rated_units

JudgedTargets = Literal["outputs", "references"]
#: Item, and `system:NAME` or `reference:ID`.
Key = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class JudgedUnits:
    """What one source says of texts.

    Attributes
    ----------
    name : str
    targets : {"outputs", "references"}
    keys : tuple of (str, str)
        Item and target of each text.
    values : array
        One for each text: the mean of raters where there are several; in [-1, 1] where the scale
        is known.
    scaled : bool
        Whether it is: then 0 is neutral, and signs mean good and bad.
    raters : tuple of str
    said : array
        Raters x texts, NaN where a rater said nothing; no rows where single raters are not known.
    simulated : bool
        Whether raters are.
    """

    name: str
    targets: JudgedTargets
    keys: tuple[Key, ...]
    values: Array
    scaled: bool
    raters: tuple[str, ...] = ()
    said: Array | None = None
    simulated: bool = False

    @classmethod
    def of_weights(cls, name: str, study: Study) -> JudgedUnits:
        """The weights of a study's references."""
        found = [
            ((item.id, f"reference:{one.id}"), one.weight)
            for item in study.items
            for one in item.references
            if one.weight is not None
        ]
        if not found:
            raise InputError(f"{name}: its references have no weights")
        keys, values = zip(*found, strict=True)
        simulated = says_simulated(reference_set(study).weights_from)
        weights = np.array(values, dtype=np.float64)
        return cls(name, "references", keys, weights, True, simulated=simulated)

    @classmethod
    def of_ratings(
        cls,
        name: str,
        ratings: RatingTable,
        targets: JudgedTargets | None = None,
        criterion: str | None = None,
    ) -> JudgedUnits:
        """Means of ratings by one criterion, in [-1, 1] where they say their scale."""
        if targets is not None:
            check_choice("targets", targets, get_args(JudgedTargets))
        found = [one for one in rated_units(ratings, targets, criterion) if one.keys]
        if len(found) != 1:
            there = ", ".join(f"{one.targets} ({one.criterion})" for one in found)
            if not found:
                raise InputError(f"{name}: has no ratings of outputs or references")
            raise InputError(f"{name}: has ratings of {there}: choose targets and a criterion")
        (units,) = found
        names, said = units.rows()
        scaled = units.scale is not None
        if units.scale is not None:
            ends = Scale.parse(units.scale)
            said = (2.0 * said - ends.low - ends.high) / (ends.high - ends.low)
        given = ~np.isnan(said)
        counts = given.sum(axis=0)
        kept = np.flatnonzero(counts)
        sums = np.where(given, said, 0.0).sum(axis=0)
        kind: JudgedTargets = "references" if units.targets == "references" else "outputs"
        return cls(
            name,
            kind,
            tuple(units.keys[place] for place in kept.tolist()),
            sums[kept] / counts[kept],
            scaled,
            tuple(names),
            said[:, kept],
            units.table.is_simulated,
        )

    @classmethod
    def of_scores(cls, name: str, scores: ScoreTable) -> JudgedUnits:
        """Scores of outputs by one metric, higher being better; they have no neutral point."""
        if len(scores.metrics) != 1:
            raise InputError(
                f"{name}: has {len(scores.metrics)} metrics, choose one: "
                f"{', '.join(scores.metrics)}"
            )
        values = scores.turned().values[0]
        places = np.argwhere(~np.isnan(values)).tolist()
        if not places:
            raise InputError(f"{name}: has no scores of single outputs")
        keys = tuple((scores.items[i], f"system:{scores.systems[s]}") for s, i in places)
        found = np.array([values[s, i] for s, i in places])
        simulated = says_simulated(scores.signatures[0])
        return cls(name, "outputs", keys, found, False, simulated=simulated)

    def take(self, places: Ints) -> JudgedUnits:
        """Some of the texts."""
        return JudgedUnits(
            self.name,
            self.targets,
            tuple(self.keys[place] for place in places.tolist()),
            self.values[places],
            self.scaled,
            self.raters,
            None if self.said is None else self.said[:, places],
            self.simulated,
        )


def shared_units(first: JudgedUnits, second: JudgedUnits) -> tuple[JudgedUnits, JudgedUnits]:
    """Both on the texts that both judge, in the order of the first."""
    if first.targets != second.targets:
        raise InputError(
            f"{first.name} judges {first.targets} and {second.name} {second.targets}: "
            "they have no text in common"
        )
    known = {key: place for place, key in enumerate(second.keys)}
    places = [(place, known[key]) for place, key in enumerate(first.keys) if key in known]
    if len(places) < 3:
        raise InputError(
            f"{first.name} and {second.name} have {len(places)} {first.targets} in common: it "
            "takes 3 at least; look whether items and targets are called the same"
        )
    one, two = (np.array(own, dtype=np.int64) for own in zip(*places, strict=True))
    return first.take(one), second.take(two)


def item_numbers(keys: Sequence[Key]) -> Ints:
    """A number for the item of each text."""
    numbers: dict[str, int] = {}
    return np.array([numbers.setdefault(item, len(numbers)) for item, _ in keys], dtype=np.int64)
