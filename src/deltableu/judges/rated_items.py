"""Items that a judge has rated in; a judge that says the same of the same references out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeAlias

from deltableu.corpus import ITEM_FORMS, WEIGHTS_FROM, Item, Reference, read_items
from deltableu.errors import InputError, Problem
from deltableu.io import file_form

#: What tells references of an item apart: their text, and the utterance they were a response to.
_Key: TypeAlias = tuple[str, str | None]


def holds_items(spec: str) -> bool:
    """Whether a judge is asked for by a study, or by a file of items."""
    return os.path.isdir(spec) or file_form(spec) in ITEM_FORMS


@dataclass(frozen=True, eq=False)
class RatedItems:
    """What a judge said of a study's references, where the judge itself is not at hand.

    Parameters
    ----------
    name : str
        What they were read from, for messages.
    signature : str
        The judge's.
    weights : mapping
        By the id of the item, its message, and a weight by text and utterance of each reference.

    Examples
    --------
    >>> one = Reference("r0", "fine", 0.5)
    >>> judge = RatedItems("items", "somebody", {"1": ("how are you", {("fine", None): 0.5})})
    >>> judge.rate(Item("1", (), message="how are you"), [one])
    [0.5]
    """

    name: str
    signature: str
    weights: Mapping[str, tuple[str | None, Mapping[_Key, float]]] = field(repr=False)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> RatedItems:
        """Those of a study folder, or of a file of items, such as `judge apply` writes."""
        name = os.fspath(path)
        file = Path(path) / "items.jsonl" if os.path.isdir(path) else Path(path)
        found: dict[str, tuple[str | None, dict[_Key, float]]] = {}
        judges: dict[str, None] = {}
        for item in read_items(file):
            said: dict[_Key, float] = {}
            for one in item.references:
                if one.weight is None:
                    message = f"reference {one.id!r} has no weight: a judge must have rated all"
                    raise InputError(Problem(message, file=str(file), item=item.id))
                said[_key(one)] = one.weight
            found[item.id] = item.message, said
            judges[str(item.meta.get(WEIGHTS_FROM, "items"))] = None
        if len(judges) != 1:
            what = f"weights from {' and '.join(judges)}" if judges else "no items"
            message = f"holds {what}: it can stand for one judge (judge apply --which all)"
            raise InputError(Problem(message, file=str(file)))
        return cls(name, f"{next(iter(judges))},saved", found)

    def rate(self, item: Item, references: Sequence[Reference]) -> Sequence[float]:
        """The weights that these references of this item had."""
        message, said = self.weights.get(item.id, (None, None))
        if said is None:
            raise self._lacks(item, "has no such item")
        if message != item.message:
            raise self._lacks(item, "has this item with another message")
        for one in references:
            if _key(one) not in said:
                raise self._lacks(item, f"has no weight of the reference {one.text!r}")
        return [said[_key(one)] for one in references]

    def _lacks(self, item: Item, what: str) -> InputError:
        message = f"{self.name} {what}: rate these references with a model, or mine the same ones"
        return InputError(Problem(message, item=item.id))


def _key(one: Reference) -> _Key:
    return one.text, None if one.source is None else one.source.utterance
