"""Items and outputs in; texts that are suspiciously equal out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from deltableu.corpus.types import ORIGINS, Item
from deltableu.errors import Problem

__all__ = [
    "FoldedItem",
    "OutputMatches",
    "duplicate_items",
    "fold",
    "fold_item",
    "output_problems",
    "reference_problems",
]


def fold(text: str) -> str:
    """The text without case, and with white space folded.

    Examples
    --------
    >>> fold(" Not  MUCH ")
    'not much'
    """
    return " ".join(text.lower().split())


@dataclass(frozen=True, slots=True)
class FoldedItem:
    """What an output of the item is compared with."""

    message: str
    origins: Mapping[str, frozenset[str]]


def fold_item(item: Item) -> FoldedItem:
    """Fold an item's message and references."""
    origins: dict[str, set[str]] = {}
    for reference in item.references:
        origins.setdefault(fold(reference.text), set()).add(reference.origin)
    return FoldedItem(
        fold(item.message or ""), {text: frozenset(found) for text, found in origins.items()}
    )


@dataclass(frozen=True, slots=True)
class OutputMatches:
    """How many of a system's outputs equal a reference of their item, or its message."""

    outputs: int
    by_origin: Mapping[str, int]
    messages: int

    @classmethod
    def count(cls, pairs: Iterable[tuple[FoldedItem, str]]) -> OutputMatches:
        """Compare each output with its item; empty outputs equal nothing."""
        outputs = messages = 0
        by_origin = dict.fromkeys(ORIGINS, 0)
        for item, text in pairs:
            outputs += 1
            folded = fold(text)
            if not folded:
                continue
            messages += folded == item.message
            for origin in item.origins.get(folded, ()):
                by_origin[origin] += 1
        return cls(outputs, {key: count for key, count in by_origin.items() if count}, messages)


def output_problems(matches: OutputMatches, file: str) -> Iterator[Problem]:
    """Warn of outputs that equal references or repeat the message."""
    for origin, count in matches.by_origin.items():
        message = f"{count} of {matches.outputs} outputs equal a reference of origin {origin}"
        yield Problem(f"{message} of their item", file=file, severity="warning")
    if matches.messages:
        message = f"{matches.messages} of {matches.outputs} outputs repeat the message they answer"
        yield Problem(message, file=file, severity="warning")


def reference_problems(item: Item, file: str, line: int) -> Iterator[Problem]:
    """Warn of references that are blank, repeat the message, or differ in weight alone."""
    message = fold(item.message or "")
    first: dict[str, int] = {}
    for position, reference in enumerate(item.references):
        place = (file, line, f"references[{position}]", item.id)
        text = fold(reference.text)
        if not text:
            yield Problem("the reference is blank", *place, severity="warning")
            continue
        if text == message and reference.origin != "parrot":
            wrong = f"the reference repeats the message, but its origin is {reference.origin}"
            yield Problem(wrong, *place, severity="warning")
        before = first.setdefault(text, position)
        if item.references[before].weight != reference.weight:
            wrong = f"the text is that of references[{before}], but the weight differs"
            yield Problem(wrong, *place, severity="warning")


def duplicate_items(items: Iterable[tuple[int, Item]], file: str) -> Iterator[Problem]:
    """Warn of items whose context and message an earlier item has too."""
    first: dict[tuple[str, ...], tuple[int, str]] = {}
    for line, item in items:
        if item.message is None and not item.context:
            continue
        asked = (*(fold(turn) for turn in item.context), fold(item.message or ""))
        before, id = first.setdefault(asked, (line, item.id))
        if before != line:
            message = f"the context and message are those of item {id!r} on line {before}"
            yield Problem(message, file, line, None, item.id, "warning")
