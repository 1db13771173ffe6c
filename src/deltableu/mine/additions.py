"""References that are added to an item: they never touch those that are there."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from deltableu.corpus import Origin, Reference, Source
from deltableu.text import text_keys


@dataclass(frozen=True, slots=True)
class Addition:
    """A text that is to be a reference."""

    text: str
    origin: Origin
    source: Source | None = None


def add_references(
    references: tuple[Reference, ...], additions: Iterable[Addition]
) -> tuple[Reference, ...]:
    """The references, then the additions that are not the same text as any of them.

    An id is made of origin and text alone, so that a rating of it can never come to mean another
    text, whatever is mined later and in whatever order.

    Examples
    --------
    >>> added = add_references((Reference("a", "Hi."),), [Addition("Hello!", "mined")])
    >>> added[1].id
    'mined-334d016f755c'
    """
    result = list(references)
    taken = {reference.id for reference in references}
    new = list(additions)
    texts = [*(one.text for one in references), *(one.text for one in new)]
    all_keys = text_keys(texts).keys.tolist()
    keys = set(all_keys[: len(references)])
    for addition, key in zip(new, all_keys[len(references) :], strict=True):
        if key in keys:
            continue
        keys.add(key)
        digest = hashlib.sha256(addition.text.encode("utf-8", "surrogatepass")).hexdigest()
        id = f"{addition.origin}-{digest[:12]}"
        while id in taken:
            id += "x"
        taken.add(id)
        result.append(Reference(id, addition.text, None, addition.origin, addition.source))
    return tuple(result)
