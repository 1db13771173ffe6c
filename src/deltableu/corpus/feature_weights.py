"""Weights of the features of n-best lists: JSON in, a mapping of names to numbers out, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from deltableu.corpus.tuned_on import TunedOn
from deltableu.errors import InputError, Problem
from deltableu.io import (
    Checker,
    PathLike,
    atomic_write,
    decode_object,
    encode,
    fail,
    file_name,
    open_binary,
)


class TunedWeights(NamedTuple):
    """Weights, and the items that they were tuned on, where that is known."""

    weights: dict[str, float]
    tuned_on: TunedOn | None


def read_feature_weights(path: PathLike) -> dict[str, float]:
    """Read what `deltableu tune mert` wrote, or an object of names and numbers.

    Parameters
    ----------
    path
        JSON: `{"weights": {feature: number}, ...}`, or `{feature: number}`.
    """
    return read_tuned_weights(path).weights


def read_tuned_weights(path: PathLike) -> TunedWeights:
    """The same, with the items that the weights were tuned on (`tuned_on`), if the file says."""
    name = file_name(path)
    try:
        with open_binary(path, lines=False) as stream:
            found = decode_object(stream.read().decode("utf-8-sig"))
    except UnicodeDecodeError:
        raise InputError(Problem("is not valid UTF-8: save the file as UTF-8", name)) from None
    except InputError:
        raise
    except ValueError as error:
        raise InputError(Problem(str(error), name)) from None
    inner = found.get("weights")
    given = inner if isinstance(inner, dict) else found
    checker = Checker(name, fail)
    weights = {}
    for feature, value in given.items():
        number = checker.number(value, feature)
        if number is None:
            raise InputError(Problem("must be a number, got null", name, field=feature))
        weights[feature] = number
    if not weights:
        raise InputError(Problem("holds no weights", name))
    tuned = found.get("tuned_on") if given is inner else None
    try:
        return TunedWeights(weights, None if tuned is None else msgspec.convert(tuned, TunedOn))
    except ValueError as error:
        message = (
            f"does not say which items were tuned on: {str(error)[:1].lower()}{str(error)[1:]}"
        )
        raise InputError(Problem(message, name, field="tuned_on")) from None


def write_feature_weights(
    path: PathLike, weights: Mapping[str, float], about: Mapping[str, object] | None = None
) -> None:
    """Write weights as JSON, a feature per line, and what else there is to know of them."""
    lines = ",\n".join(f"    {encode(name)}: {encode(value)}" for name, value in weights.items())
    parts = [f'  "weights": {{\n{lines}\n  }}']
    parts += [f"  {encode(name)}: {encode(value)}" for name, value in (about or {}).items()]
    with atomic_write(path) as stream:
        stream.write("{\n" + ",\n".join(parts) + "\n}\n")
