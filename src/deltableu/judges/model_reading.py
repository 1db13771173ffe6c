"""Models that are in use: each read once, and their texts in parts that fit into memory."""

from __future__ import annotations

import os
from typing import Literal
from weakref import WeakValueDictionary

import numpy as np

from deltableu._types import Ints
from deltableu.errors import InputError, Problem, check_kind
from deltableu.judges.model_file import RaterModel, read_model

#: Words that the Bi-GRU reads at once; it needs some 7 to 28 kilobytes for each.
WORDS = 16_384

_NAMES = {
    "nn-rater": "an NN-rater, which rates references (--judge)",
    "ruber": "the unreferenced scorer of RUBER, which scores replies (--model)",
}

_in_use: WeakValueDictionary[tuple[str, int, int, int], RaterModel] = WeakValueDictionary()


def read_once(path: str | os.PathLike[str], kind: Literal["nn-rater", "ruber"]) -> RaterModel:
    """A model of this kind; one in use already is not read again, unless its file has changed."""
    model = _read(path)
    check_model_kind(model, kind, os.fspath(path))
    return model


def check_model_kind(
    model: RaterModel, kind: Literal["nn-rater", "ruber"], name: str | None = None
) -> None:
    """Complain of a model that does something else, or of what is none."""
    check_kind("model", model, RaterModel)
    if model.kind != kind:
        message = f"is {_NAMES[model.kind]}; train what is needed here with `deltableu judge "
        raise InputError(Problem(f"{message}train --kind {kind}`", file=name))


def _read(path: str | os.PathLike[str]) -> RaterModel:
    try:
        found = os.stat(path)
    except OSError:
        return read_model(path)  # says what is wrong
    key = (os.path.realpath(path), found.st_ino, found.st_size, found.st_mtime_ns)
    model = _in_use.get(key)
    if model is None:
        model = _in_use[key] = read_model(path)
    return model


def by_length(lengths: Ints) -> list[Ints]:
    """The texts in parts of like length that are small enough for the memory of any machine.

    Examples
    --------
    >>> by_length(np.array([5, WORDS, 2, 0]))
    [array([3, 2, 0]), array([1])]
    """
    order = np.argsort(lengths, kind="stable")
    part = np.cumsum(lengths[order]) // (WORDS + 1)
    return np.split(order, np.flatnonzero(np.diff(part)) + 1)
