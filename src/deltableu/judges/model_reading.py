"""Models of judges, each of the kind that is needed."""

from __future__ import annotations

import os
from typing import Literal

from deltableu.errors import InputError, Problem, check_kind
from deltableu.judges.model_file import RaterModel, read_model
from deltableu.neural import read_once as read_model_once

_NAMES = {
    "nn-rater": "an NN-rater, which rates references (--judge)",
    "ruber": "the unreferenced scorer of RUBER, which scores replies (--model)",
}


def read_once(path: str | os.PathLike[str], kind: Literal["nn-rater", "ruber"]) -> RaterModel:
    """A model of this kind; one in use already is not read again, unless its file has changed."""
    model = read_model_once(path, read_model)
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
