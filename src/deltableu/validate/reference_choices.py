"""References in; the choices of them that a sweep goes through, out."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from deltableu._types import Bools
from deltableu.corpus import ORIGINS, ReferenceSet
from deltableu.errors import InputError
from deltableu.io import number_text
from deltableu.stats import stream
from deltableu.validate.sweep_plan import SweepName, SweepPlan
from deltableu.validate.sweep_rows import Positions

_REFERENCES = 14  # key of the random streams

#: The delta-BLEU paper's high-scoring references.
_HIGH = 0.6


def reference_choices(
    references: ReferenceSet, sweep: SweepName, plan: SweepPlan
) -> dict[str, Positions]:
    """Which references count at each place of a sweep; all of them where it is about others."""
    everything = all_positions(references)
    if sweep == "settings":
        found = {"single": tuple(references.single())}
        if references.weights is not None:
            found[_label(_HIGH)] = tuple(references.at_least(_HIGH))
        return {**found, "all": everything}
    if sweep == "threshold":
        return {_label(one): tuple(references.at_least(one)) for one in plan.thresholds}
    if sweep == "origin":
        return _by_origin(references)
    return {"all": everything}


def all_positions(references: ReferenceSet) -> Positions:
    """Positions of all references."""
    return tuple(tuple(range(len(texts))) for texts in references.texts)


def _label(threshold: float) -> str:
    return f"w>={number_text(threshold)}"


def _by_origin(references: ReferenceSet) -> dict[str, Positions]:
    """All; all but those of one origin; and the originals alone."""
    if references.items is None:
        raise InputError("a sweep of origins needs a study, whose items say them")
    origins = [[one.origin for one in item.references] for item in references.items]
    there = [name for name in ORIGINS if any(name in row for row in origins)]
    if len(there) < 2:
        raise InputError(f"a sweep of origins needs several: all references are {there[0]}")
    others = [name for name in there if name != "original"]
    found = {"all": all_positions(references)}
    for name in others:
        found[f"without {name}"] = _where(origins, [one for one in there if one != name])
    if "original" in there and len(others) > 1:
        found["original"] = _where(origins, ["original"])
    return found


def _where(origins: Sequence[Sequence[str]], wanted: Sequence[str]) -> Positions:
    return tuple(
        tuple(place for place, name in enumerate(row) if name in wanted) for row in origins
    )


def random_choice(references: ReferenceSet, count: int, seed: int, *key: int) -> Positions:
    """So many references of each item at random, or all where there are no more.

    A choice without a positive one is drawn again: delta-BLEU needs one, and all metrics are to
    have the same.
    """
    generator = stream(seed, _REFERENCES, count, *key)
    rows = references.weights or [[1.0] * len(texts) for texts in references.texts]
    found = []
    for texts, weights in zip(references.texts, rows, strict=True):
        positive: Bools = np.array([weight is not None and weight > 0.0 for weight in weights])
        while True:
            chosen = np.sort(generator.permutation(len(texts))[:count])
            if positive[chosen].any() or not positive.any():
                break
        found.append(tuple(chosen.tolist()))
    return tuple(found)
