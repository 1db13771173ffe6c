"""One item as the nested record that JSON Lines and Parquet share, and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import cast

from deltableu.corpus.types import ORIGINS, Item, Origin, Reference, Source
from deltableu.io import Checker, decode, encode, shown

WEIGHTS = (-1.0, 1.0)

_SOURCE = {"utterance": "string", "id": "string", "score": "float64", "rank": "int64"}
_REFERENCE = {
    "id": "string",
    "text": "string",
    "weight": "float64",
    "origin": "string",
    "source": _SOURCE,
}
ITEM_COLUMNS: dict[str, object] = {
    "id": "string",
    "context": ["string"],
    "message": "string",
    "references": [_REFERENCE],
    "meta": "string",  # JSON, because Parquet has no type for anything at all
}


def default_origin(position: int) -> Origin:
    """The origin of a reference that does not say: the first is the original."""
    return "original" if position == 0 else "written"


def parse_item(values: Mapping[str, object], checker: Checker) -> Item | None:
    """Check one record; None when something was wrong with it. Sets `checker.item` to the id."""
    id = checker.identifier(values.get("id"), "id")
    checker.item = id or None
    checker.unknown(values, ITEM_COLUMNS)
    context = checker.texts(values.get("context"), "context")
    message = checker.optional_text(values.get("message"), "message")
    references = _parse_references(values.get("references"), checker)
    meta = parse_meta(values.get("meta"), checker)
    return None if checker.failed else Item(id, references, context, message, meta)


def _parse_references(value: object, checker: Checker) -> tuple[Reference, ...]:
    if not isinstance(value, list | tuple):
        wrong = "is missing" if value is None else f"must be a list, got {shown(value)}"
        checker.complain("references", wrong)
        return ()
    references = tuple(_parse_reference(one, i, checker) for i, one in enumerate(value))
    first: dict[str, int] = {}
    for position, reference in enumerate(references):
        if first.setdefault(reference.id, position) != position:
            message = f"the id {shown(reference.id)} is that of references[{first[reference.id]}]"
            checker.complain(f"references[{position}].id", message)
    return references


def _parse_reference(value: object, position: int, checker: Checker) -> Reference:
    place = f"references[{position}]"
    if isinstance(value, str):
        text = checker.text(value, place)
        return Reference(f"r{position}", text, None, default_origin(position))
    if not isinstance(value, dict):
        checker.complain(place, f"must be an object or a string, got {shown(value)}")
        return Reference(f"r{position}", "")
    checker.unknown(value, _REFERENCE, f"{place}.")
    return Reference(
        checker.optional_identifier(value.get("id"), f"{place}.id") or f"r{position}",
        checker.text(value.get("text"), f"{place}.text"),
        checker.number(value.get("weight"), f"{place}.weight", WEIGHTS),
        parse_origin(value.get("origin"), f"{place}.origin", position, checker),
        _parse_source(value.get("source"), f"{place}.source", checker),
    )


def parse_origin(value: object, field: str, position: int, checker: Checker) -> Origin:
    """One of the known origins; None is the default for the position."""
    if value is None:
        return default_origin(position)
    if value not in ORIGINS:
        checker.complain(field, f"must be one of {', '.join(ORIGINS)}, got {shown(value)}")
    return cast(Origin, value)


def _parse_source(value: object, place: str, checker: Checker) -> Source | None:
    if value is None:
        return None
    if not isinstance(value, dict):
        checker.complain(place, f"must be an object, got {shown(value)}")
        return None
    checker.unknown(value, _SOURCE, f"{place}.")
    source = Source(
        checker.optional_text(value.get("utterance"), f"{place}.utterance"),
        checker.optional_identifier(value.get("id"), f"{place}.id"),
        checker.number(value.get("score"), f"{place}.score"),
        checker.integer(value.get("rank"), f"{place}.rank"),
    )
    return None if source == Source() else source


def parse_meta(value: object, checker: Checker) -> Mapping[str, object]:
    """Anything JSON holds, given as an object or as its JSON text."""
    if isinstance(value, str):
        try:
            value = decode(value)
        except ValueError as error:
            checker.complain("meta", str(error))
            return {}
    if value is None:
        return {}
    if not isinstance(value, dict):
        checker.complain("meta", f"must be an object, got {shown(value)}")
        return {}
    if value:
        checker.text(encode(value), "meta")
    return value


def item_record(item: Item) -> dict[str, object]:
    """The item as one JSON object."""
    record: dict[str, object] = {
        "id": item.id,
        "context": list(item.context),
        "message": item.message,
        "references": [_reference_record(reference) for reference in item.references],
    }
    return record | {"meta": dict(item.meta)} if item.meta else record


def _reference_record(reference: Reference) -> dict[str, object]:
    record: dict[str, object] = {
        "id": reference.id,
        "text": reference.text,
        "weight": None if reference.weight is None else float(reference.weight),
        "origin": reference.origin,
    }
    source = reference.source
    if source is not None and source != Source():
        record["source"] = {
            "utterance": source.utterance,
            "id": source.id,
            "score": None if source.score is None else float(source.score),
            "rank": source.rank,
        }
    return record
