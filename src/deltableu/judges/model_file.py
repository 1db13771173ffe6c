"""A judge's model as one safetensors file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deltableu.judges.ruber_settings import RuberSettings
from deltableu.judges.settings import RaterSettings
from deltableu.neural import ModelFormat, NetworkShape, StoredModel, Vocabulary


@dataclass(frozen=True, eq=False)
class RaterModel(StoredModel):
    """A trained judge: an NN-rater, or the unreferenced scorer of RUBER.

    Attributes
    ----------
    settings, vocabulary, state, card, digest
        See `StoredModel`.
    """

    what: ClassVar[str] = "judge"


_FORMAT = ModelFormat(
    "deltableu-rater",
    RaterModel,
    {"nn-rater": RaterSettings, "ruber": RuberSettings},
    {"nn-rater": 1, "ruber": 2},
    "nn-rater",
)


def write_model(
    path: str | os.PathLike[str],
    settings: NetworkShape,
    vocabulary: Vocabulary,
    state: Mapping[str, NDArray[np.float32]],
    card: Mapping[str, Any],
) -> RaterModel:
    """Write a model; the same model and card give the same bytes, and the file appears whole.

    Parameters
    ----------
    path, settings, vocabulary, state, card
        See `ModelFormat.write`.
    """
    return _FORMAT.write(path, settings, vocabulary, state, card)


def read_model(path: str | os.PathLike[str]) -> RaterModel:
    """Read a model that `write_model` wrote; torch is not needed.

    Whatever is wrong with the file is an `InputError` that says so.
    """
    return _FORMAT.read(path)
