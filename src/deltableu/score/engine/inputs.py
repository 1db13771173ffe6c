"""Checks what callers hand in, once, so that everything behind works on clean lists."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError, InputWarning
from deltableu.text import Texts

#: Up to this many items a square input is tried the other way round too.
_SQUARE_LIMIT = 64


def as_list(values: Any, name: str) -> Sequence[Any]:
    """Rows as a list: lists and tuples as they are, numpy, pandas and polars columns converted."""
    if isinstance(values, list | tuple | Texts):
        return values
    if isinstance(values, str | bytes):
        raise InputError(f"{name} is one string where a list is expected; write [{name}]")
    if isinstance(values, Mapping | Set):
        kind = type(values).__name__
        raise InputError(f"{name} is a {kind} where a list is expected, in the order of the items")
    if hasattr(values, "itertuples"):  # a pandas table: one row per item
        return [list(row) for row in values.itertuples(index=False, name=None)]
    if hasattr(values, "iter_rows"):  # a polars table
        return [list(row) for row in values.iter_rows()]
    for method in ("to_list", "tolist"):
        if hasattr(values, method):
            listed = getattr(values, method)()
            if isinstance(listed, list):
                return listed
            raise InputError(f"{name} is a single value where a list is expected")
    if isinstance(values, Iterable):
        return list(values)
    raise InputError(f"{name} must be a list, got {type(values).__name__}")


def as_nested(values: Any, name: str, entry: str) -> Sequence[Sequence[Any]]:
    """Rows of rows: for each item a list of texts or weights."""
    rows = as_list(values, name)
    kinds = set(map(type, rows))
    if kinds <= {list, tuple}:
        return rows
    for number, row in enumerate(rows):
        if isinstance(row, str | bytes | float | int) or row is None:
            raise InputError(
                f"{name}[{number}] is {_kind(row)} where a list of {entry} is expected: "
                f"{name} holds one list for each item"
            )
    return [as_list(row, f"{name}[{number}]") for number, row in enumerate(rows)]


def as_reference_set(references: Any, weights: Any) -> ReferenceSet:
    """What the caller gave as references, in the one shape that scoring reads."""
    if isinstance(references, ReferenceSet):
        if weights is not None:
            raise InputError("give weights either in the ReferenceSet or beside lists, not twice")
        return references
    texts = as_nested(references, "references", "texts")
    if weights is None:
        return ReferenceSet(texts, None)
    numbers = as_nested(weights, "weights", "numbers")
    if len(numbers) != len(texts):
        raise InputError(
            f"references for {len(texts)} items but weights for {len(numbers)}; "
            "weights have the shape of the references"
        )
    return ReferenceSet(texts, numbers)


def lacking_weights(metric: str) -> InputError:
    """What is said where a metric needs weights, and no reference is rated."""
    return InputError(
        f"{metric} needs a weight for every reference, and none were given: rate the references "
        "(deltableu rate, deltableu judge apply), give weights (weights=, --weights), or take a "
        "metric without"
    )


def as_hypotheses(hypotheses: Any, items: int) -> Sequence[Any]:
    """What the caller gave as hypotheses: one for each item that was encoded."""
    texts = as_list(hypotheses, "hypotheses")
    if len(texts) != items:
        raise InputError(f"{len(texts)} hypotheses for {items} items: give one for each item")
    return texts


def check_layout(hypotheses: Sequence[Any], references: Sequence[Sequence[Any]]) -> None:
    """References must hold one list an item; say so when they look transposed or incomplete."""
    if not hypotheses:
        raise InputError("there is nothing to score: no hypotheses were given")
    items = len(hypotheses)
    if len(references) != items:
        if references and all(len(stream) == items for stream in references):
            raise InputError(
                f"references look transposed: {len(references)} lists of {items} texts for {items} "
                "hypotheses; give one list of references for each hypothesis, "
                "such as list(zip(*references))"
            )
        raise InputError(
            f"{items} hypotheses but references for {len(references)} items; "
            "give one list of references for each hypothesis"
        )
    if 2 <= items <= _SQUARE_LIMIT and all(len(row) == items for row in references):
        _check_square(hypotheses, references)


def _check_square(hypotheses: Sequence[Any], references: Sequence[Sequence[Any]]) -> None:
    """With as many references as items the shape cannot tell; the words can."""
    if not all(isinstance(text, str) for row in (hypotheses, *references) for text in row):
        return
    words = [set(text.lower().split()) for text in hypotheses]
    bags = [[set(text.lower().split()) for text in row] for row in references]
    items = range(len(words))
    given = sum(len(words[i] & bags[i][j]) for i in items for j in items)
    turned = sum(len(words[i] & bags[j][i]) for i in items for j in items)
    if turned > 2 * given and turned >= 2 * len(words):
        warnings.warn(
            "references are a square, and would match the hypotheses better transposed; "
            "deltableu reads references[i] as the references of hypothesis i",
            InputWarning,
            stacklevel=4,
        )


def first_wrong_text(texts: Sequence[Any]) -> tuple[int, str] | None:
    """Position and kind of the first element that is no string."""
    for number, text in enumerate(texts):
        if not isinstance(text, str):
            return number, _kind(text)
    return None


def is_missing(value: object) -> bool:
    """None, or the NaN by which tables mark an empty cell."""
    return value is None or (isinstance(value, float) and value != value)


def _kind(value: object) -> str:
    if value is None:
        return "None"
    if isinstance(value, str):
        return "a string"
    return f"a {type(value).__name__}"
