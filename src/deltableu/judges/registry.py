"""Raters by name: a model's file, items that were rated, or what other packages offer.

A package offers a judge with an entry point of the group `deltableu.judges`, whose name is the
rater's and whose value is called with the argument that follows the name, or with None.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from deltableu.corpus import ITEM_FORMS, Item, Reference
from deltableu.errors import InputError
from deltableu.io import file_form, load_offered, offered
from deltableu.judges.rated_items import RatedItems, holds_items
from deltableu.judges.rater import Rater, RatingBatch

_GROUP = "deltableu.judges"
_SUFFIX = ".safetensors"


@dataclass(frozen=True)
class _Named:
    """A rater that does not say what it is, called by what was asked for."""

    rater: Rater
    signature: str

    def rate(self, item: Item, references: Sequence[Reference]) -> Sequence[float]:
        return self.rater.rate(item, references)

    def rate_items(self, batch: RatingBatch) -> Sequence[Sequence[float]]:
        if hasattr(self.rater, "rate_items"):
            rated: Sequence[Sequence[float]] = self.rater.rate_items(batch)
            return rated
        return [self.rater.rate(item, references) for item, references in batch]


def rater_names() -> list[str]:
    """The names of the raters that installed packages offer."""
    return sorted(offered(_GROUP))


def is_model_file(spec: str) -> bool:
    """Whether a judge is asked for by its file or folder, and not by its name."""
    spec = os.fspath(spec)
    ends = spec.endswith(_SUFFIX) or file_form(spec) in ITEM_FORMS
    return ends or os.sep in spec.partition(":")[0] or os.path.exists(spec)


def load_rater(spec: str, **settings: Any) -> Rater:
    """The judge of a model's file, of a rated study, or one that an installed package offers.

    Parameters
    ----------
    spec : str
        A file that `deltableu judge train` wrote; a study, or its file of items, whose references a
        judge has rated, for a judge that says the same of these again; or NAME or NAME:ARGUMENT,
        with the name of an entry point of the group `deltableu.judges`.
    **settings
        Those of `NNRater.load`, for a file.
    """
    spec = os.fspath(spec)
    if is_model_file(spec):
        if holds_items(spec):
            if settings:
                raise InputError(f"{' and '.join(settings)} cannot be set: {spec} is rated already")
            return RatedItems.load(spec)
        from deltableu.judges.nn_rater import NNRater

        return NNRater.load(spec, **settings)
    name, colon, argument = spec.partition(":")
    if name not in offered(_GROUP):
        known = f"; installed ones are {', '.join(rater_names())}" if rater_names() else ""
        raise InputError(f"there is no file {spec!r}, and no judge of that name{known}")
    if settings:
        raise InputError(f"{' and '.join(settings)} cannot be set for the judge {name!r}")
    made = load_offered(_GROUP, name, "judge", lambda make: make(argument if colon else None))
    if not callable(getattr(made, "rate", None)):
        raise InputError(f"the judge {name!r} has no method rate(item, references)")
    rater: Rater = made
    return rater if getattr(made, "signature", None) is not None else _Named(rater, spec)
