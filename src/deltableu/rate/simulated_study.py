"""A study without ratings in; the same with ratings of simulated raters out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, get_args

import numpy as np

from deltableu.corpus import (
    ORIGINS,
    SIMULATED_PREFIX,
    SIMULATED_RATERS,
    WEIGHTS_FROM,
    Item,
    Rating,
    RatingTable,
    Reference,
    Scale,
    Study,
    labelled,
    reference_set,
)
from deltableu.errors import InputError, check_choice, check_kind, check_known
from deltableu.io import Column, Table, Tabular, field_record
from deltableu.rate.simulated_raters import (
    RatingModel,
    SimulatedRaters,
    SimulatedTargets,
    named_stream,
)
from deltableu.rate.weights import rated_weights

#: How good references of each origin are, where nothing else is said.
ORIGIN_QUALITIES: Mapping[str, float] = MappingProxyType(
    {"original": 0.7, "mined": 0.1, "written": 0.5, "parrot": -0.6, "random": -0.8}
)
#: Systems of which nothing is said lie within it.
_WIDEST = 0.6


@dataclass(frozen=True, slots=True)
class SimulatedGroup:
    """A system, or the references of an origin.

    Attributes
    ----------
    name : str
    quality : float
        What its ratings were made from, from -1 to 1.
    targets, ratings : int
        Outputs or references that got ratings now, and how many these are.
    kept : int
        Those that had ratings, or a weight, already.
    mean : float or None
        The mean of the new ratings.
    """

    name: str
    quality: float
    targets: int
    kept: int
    ratings: int
    mean: float | None


@dataclass(frozen=True, slots=True, eq=False)
class SimulatedStudy(Tabular):
    """A study with simulated ratings, and what they are.

    Attributes
    ----------
    study : Study
        With the new ratings after those it had, and a note that says so.
    what : {"outputs", "references"}
    settings : SimulatedRaters
    ratings : RatingTable
        The new ones.
    groups : tuple of SimulatedGroup
    """

    study: Study
    what: SimulatedTargets
    settings: SimulatedRaters
    ratings: RatingTable
    groups: tuple[SimulatedGroup, ...]

    @property
    def kept(self) -> int:
        """Outputs or references that kept what they had."""
        return sum(one.kept for one in self.groups)

    def sentences(self) -> tuple[str, ...]:
        """What these ratings are, and what they are not."""
        said = [
            f"These ratings of {self.what} are simulated, not people's: they say nothing about any "
            "text, system or metric."
            if len(self.ratings)
            else "Nothing was simulated."
        ]
        if self.kept:
            had = "ratings" if self.what == "outputs" else "ratings or a weight"
            said.append(f"{self.kept:,} {self.what} had {had} already and got none.")
        return tuple(said)

    def table(self, *, digits: int = 2) -> Table:
        """A row for each system or origin."""
        columns = (
            Column("system" if self.what == "outputs" else "origin"),
            Column("quality", f"+.{digits}f"),
            Column(self.what, ",d"),
            Column("had ratings", ",d", key="kept", drop=1),
            Column("ratings", ",d"),
            Column("mean rating", f".{digits}f"),
        )
        rows = (
            (one.name, one.quality, one.targets, one.kept, one.ratings, one.mean)
            for one in self.groups
        )
        notes = {"quality": "the mean that ratings were made from, on a scale from -1 to 1"}
        caption = f"ratings of {self.what}, scale {self.settings.scale}"
        return labelled(Table(columns, rows, caption, notes))

    def record(self) -> dict[str, Any]:
        """All but the study and its ratings."""
        return {"simulated": True, **field_record(self, without=("study", "ratings"))}


def simulate_ratings(
    study: Study, settings: SimulatedRaters | None = None, what: SimulatedTargets = "outputs"
) -> RatingTable:
    """Ratings of a study's outputs or references by raters that do not exist.

    No text is looked at. Every effect is drawn from a stream of its own, named by the seed and by
    the system, item or rater it belongs to: a further system, or another order of items and
    systems, changes no rating.

    Parameters
    ----------
    study : Study
        Outputs and references that have ratings already, and references that have a weight, get
        none.
    settings : SimulatedRaters, optional
    what : {"outputs", "references"}

    Returns
    -------
    RatingTable
        The new ratings only; see `simulate_study` for a study that has them.

    Examples
    --------
    >>> study = Study((Item("1", ()), Item("2", ())), {"A": ("yes", "no"), "B": ("so", "so")})
    >>> found = simulate_ratings(study, SimulatedRaters(raters=2, qualities={"A": 0.9, "B": -0.9}))
    >>> len(found), found.is_simulated, [name for name in found.raters if name[:10] != "simulated-"]
    (8, True, [])
    """
    return simulate_study(study, settings, what).ratings


def simulate_study(
    study: Study, settings: SimulatedRaters | None = None, what: SimulatedTargets = "outputs"
) -> SimulatedStudy:
    """The study with simulated ratings; of references with the weights that follow from them.

    Parameters
    ----------
    study, settings, what
        See `simulate_ratings`.
    """
    chosen = settings or SimulatedRaters()
    check_kind("settings", chosen, SimulatedRaters)
    check_choice("what", what, get_args(SimulatedTargets))
    qualities = _qualities(study, chosen, what)
    criterion = _criterion(study.ratings, chosen.scale, what)
    rated = _rated(study, what)
    model = RatingModel(chosen, what)
    known: dict[str, list[tuple[str, str]]] = {name: [] for name in qualities}
    for name, item, target in _targets(study, what):
        known[name].append((item, target))
    made: list[Rating] = []
    groups = []
    for name, quality in qualities.items():
        targets = known[name]
        asked = [one for one in targets if one not in rated]
        values: list[float] = []
        for item, target in asked:
            for rater, value in model.ratings(quality, item, target):
                values.append(value)
                made.append(Rating(rater, item, target, value, criterion, chosen.scale))
        mean = float(np.mean(values)) if values else None
        kept = len(targets) - len(asked)
        groups.append(SimulatedGroup(name, quality, len(asked), kept, len(values), mean))
    new = RatingTable.from_records(made)
    if made:
        study = _with_ratings(study, new, criterion, what)
    return SimulatedStudy(study, what, chosen, new, tuple(groups))


def _qualities(study: Study, settings: SimulatedRaters, what: SimulatedTargets) -> dict[str, float]:
    """The mean of each system, or of each origin that occurs."""
    given = settings.qualities
    if what == "outputs":
        if not study.outputs:
            raise InputError("the study has no outputs to rate: add outputs/SYSTEM.jsonl")
        for name in given:
            check_known("system", name, study.outputs)
        return {
            name: float(given[name])
            if name in given
            else named_stream(settings.seed, "quality", name).uniform(-_WIDEST, _WIDEST)
            for name in study.outputs
        }
    for name in given:
        check_known("origin", name, ORIGINS)
    there = {one.origin for item in study.items for one in item.references}
    if not there:
        raise InputError("the study has no references to rate")
    qualities = {**ORIGIN_QUALITIES, **given}
    return {name: float(qualities[name]) for name in ORIGINS if name in there}


def _targets(study: Study, what: SimulatedTargets) -> Iterator[tuple[str, str, str]]:
    """System or origin, item and target of everything that can be rated."""
    if what == "outputs":
        for name in study.outputs:
            for item in study.items:
                yield name, item.id, f"system:{name}"
        return
    for item in study.items:
        for one in item.references:
            yield one.origin, item.id, f"reference:{one.id}"


def _own(ratings: RatingTable, what: SimulatedTargets) -> RatingTable:
    """The ratings of outputs, or of references, that say how good they are."""
    places = ratings.system if what == "outputs" else ratings.reference
    return ratings[(places >= 0) & ratings.of_kind("item", "repeat")]


def _rated(study: Study, what: SimulatedTargets) -> set[tuple[str, str]]:
    """Item and target of what has ratings, or a weight, already."""
    found = {(one.item, one.target) for one in _own(study.ratings, what)}
    if what == "references":
        found |= {
            (item.id, f"reference:{one.id}")
            for item in study.items
            for one in item.references
            if one.weight is not None
        }
    return found


def _criterion(ratings: RatingTable, scale: str, what: SimulatedTargets) -> str:
    """That of the ratings that are there, which new ones must fit."""
    own = _own(ratings, what)
    there = [own.criteria[place] for place in np.unique(own.criterion).tolist()]
    if not there:
        return "overall"
    if len(there) > 1 and "overall" not in there:
        raise InputError(
            f"the study has ratings of {what} by {', '.join(there)}: simulated ones are by one "
            "criterion, so leave the others out first"
        )
    criterion = "overall" if "overall" in there else there[0]
    for one in own[own.criterion == own.criteria.index(criterion)]:
        if one.scale is None or Scale.parse(one.scale) != Scale.parse(scale):
            raise InputError(
                f"the study's ratings of {what} are on the scale {one.scale or 'none'}, and "
                f"simulated ones on {scale}: they must be on one scale"
            )
    return criterion


def _with_ratings(study: Study, new: RatingTable, criterion: str, what: SimulatedTargets) -> Study:
    table = RatingTable.from_records([*study.ratings, *new])
    sentence = (
        f"The ratings of {what} are SIMULATED by deltableu rate simulate: no person gave them."
    )
    if _own(study.ratings, what):
        sentence = (
            f"Ratings of {what} by raters called {SIMULATED_PREFIX}... are SIMULATED by deltableu "
            "rate simulate: no person gave them."
        )
    note = study.note or ""
    if sentence not in note:
        note = f"{note} {sentence}".strip()
    items = study.items
    if what == "references":
        items = _weighted(study.items, table, criterion)
    return replace(study, items=items, ratings=table, note=note, path=None)


def _weighted(items: Sequence[Item], table: RatingTable, criterion: str) -> tuple[Item, ...]:
    """Items whose references have the means of their ratings for weights, unless they had one."""
    rated, _ = rated_weights(reference_set(items), table.of_references(items, criterion))
    simulated = {(one.item, one.target) for one in table if one.rater.startswith(SIMULATED_PREFIX)}
    made = []
    for item, weights in zip(items, rated.weights or (), strict=True):
        references = tuple(
            one if one.weight is not None else replace(one, weight=_rounded(weight))
            for one, weight in zip(item.references, weights, strict=True)
        )
        whose = [_is_simulated(item, one, simulated) for one in item.references]
        meta = dict(item.meta)
        if any(whose):
            before = str(meta.get(WEIGHTS_FROM, "items"))
            mixed = before if SIMULATED_RATERS in before else f"{before}+{SIMULATED_RATERS}"
            meta[WEIGHTS_FROM] = SIMULATED_RATERS if all(whose) else mixed
        made.append(replace(item, references=references, meta=meta))
    return tuple(made)


def _is_simulated(item: Item, one: Reference, simulated: set[tuple[str, str]]) -> bool:
    return one.weight is None and (item.id, f"reference:{one.id}") in simulated


def _rounded(weight: float | None) -> float | None:
    """Means of whole ratings, without the last digits of floating point."""
    return None if weight is None else round(weight, 12)
