"""A responder's model as one safetensors file."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from deltableu.neural import ModelFormat, NetworkShape, StoredModel, Vocabulary
from deltableu.respond.neural.settings import Seq2SeqSettings, VHREDSettings


@dataclass(frozen=True, eq=False)
class ResponderModel(StoredModel):
    """A trained responder: sequence to sequence, or VHRED.

    Attributes
    ----------
    settings, vocabulary, state, card, digest
        See `StoredModel`.
    """

    what: ClassVar[str] = "responder"


_FORMAT = ModelFormat(
    "deltableu-responder",
    ResponderModel,
    {"seq2seq": Seq2SeqSettings, "vhred": VHREDSettings},
    {"seq2seq": 1, "vhred": 1},
    "seq2seq",
)


def write_responder(
    path: str | os.PathLike[str],
    settings: NetworkShape,
    vocabulary: Vocabulary,
    state: Mapping[str, NDArray[np.float32]],
    card: Mapping[str, Any],
) -> ResponderModel:
    """Write a model; the same model and card give the same bytes, and the file appears whole.

    Parameters
    ----------
    path, settings, vocabulary, state, card
        As `train_responder` gives them, and where the file goes.
    """
    return _FORMAT.write(path, settings, vocabulary, state, card)


def read_responder(path: str | os.PathLike[str]) -> ResponderModel:
    """Read a model that `write_responder` wrote; torch is not needed.

    Whatever is wrong with the file is an `InputError` that says so.
    """
    return _FORMAT.read(path)
