"""Items and outputs in; texts that are suspiciously equal out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, compress, islice

from deltableu.corpus.types import ORIGINS, Item, Origin
from deltableu.errors import Problem
from deltableu.text import text_keys


@dataclass(frozen=True, slots=True)
class ItemKeys:
    """What an output of the item is compared with: keys of `deltableu.text.text_keys`."""

    message: bytes
    references: tuple[bytes, ...]
    origins: tuple[Origin, ...]

    @classmethod
    def of(cls, items: Sequence[Item]) -> dict[str, ItemKeys]:
        """By the items' ids."""
        texts = ([item.message or "", *(one.text for one in item.references)] for item in items)
        return {
            item.id: cls(found[0], found[1:], tuple(one.origin for one in item.references))
            for item, found in zip(items, _keys_of(texts), strict=True)
        }


@dataclass(frozen=True, slots=True)
class OutputMatches:
    """How many of a system's outputs equal a reference of their item, or its message."""

    outputs: int
    by_origin: Mapping[str, int]
    messages: int

    @classmethod
    def count(cls, pairs: Iterable[tuple[ItemKeys, str]]) -> OutputMatches:
        """Compare each output with its item; blank outputs equal nothing."""
        found = list(pairs)
        messages = 0
        by_origin = dict.fromkeys(ORIGINS, 0)
        keys = text_keys([text for _, text in found]).keys.tolist()
        for (item, _), key in zip(found, keys, strict=True):
            if not key:
                continue
            messages += key == item.message
            same = (one == key for one in item.references)
            for origin in set(compress(item.origins, same)):
                by_origin[origin] += 1
        return cls(len(found), {key: count for key, count in by_origin.items() if count}, messages)


def output_problems(matches: OutputMatches, file: str) -> Iterator[Problem]:
    """Warn of outputs that equal references or repeat the message."""
    for origin, count in matches.by_origin.items():
        message = f"{count} of {matches.outputs} outputs equal a reference of origin {origin}"
        yield Problem(f"{message} of their item", file=file, severity="warning")
    if matches.messages:
        message = f"{matches.messages} of {matches.outputs} outputs repeat the message they answer"
        yield Problem(message, file=file, severity="warning")


def reference_problems(item: Item, keys: ItemKeys, file: str, line: int) -> Iterator[Problem]:
    """Warn of references that are blank, repeat the message, or differ in weight alone."""
    first: dict[bytes, int] = {}
    for position, (reference, key) in enumerate(zip(item.references, keys.references, strict=True)):
        place = (file, line, f"references[{position}]", item.id)
        if not key:
            yield Problem("the reference is blank", *place, severity="warning")
            continue
        if key == keys.message and reference.origin != "parrot":
            wrong = f"the reference repeats the message, but its origin is {reference.origin}"
            yield Problem(wrong, *place, severity="warning")
        before = first.setdefault(key, position)
        if item.references[before].weight != reference.weight:
            wrong = f"the text is that of references[{before}], but the weight differs"
            yield Problem(wrong, *place, severity="warning")


def _keys_of(rows: Iterable[Sequence[str]]) -> list[tuple[bytes, ...]]:
    """The keys of the texts of each row, all made at once."""
    kept = list(rows)
    keys = iter(text_keys(list(chain.from_iterable(kept))).keys.tolist())
    return [tuple(islice(keys, len(row))) for row in kept]


def duplicate_items(items: Iterable[tuple[int, Item]], file: str) -> Iterator[Problem]:
    """Warn of items whose context and message an earlier item has too."""
    first: dict[tuple[bytes, ...], tuple[int, str]] = {}
    asking = [(line, item) for line, item in items if item.message is not None or item.context]
    keys = _keys_of([*item.context, item.message or ""] for _, item in asking)
    for (line, item), asked in zip(asking, keys, strict=True):
        before, id = first.setdefault(asked, (line, item.id))
        if before != line:
            message = f"the context and message are those of item {id!r} on line {before}"
            yield Problem(message, file, line, None, item.id, "warning")
