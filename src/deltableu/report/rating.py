"""What a rater did with a study, and what is known of a model, as tables and as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import asdict
from typing import Any

from deltableu.io import Cell, Table, encode
from deltableu.judges import RatedStudy, RaterModel

__all__ = ["model_record", "model_tables", "rating_notes", "rating_record", "rating_table"]


def rating_table(rated: RatedStudy) -> Table:
    """The references of each origin, how many were rated, and how."""
    rows = [
        (
            Cell(one.origin),
            Cell(f"{one.references:,}"),
            Cell(f"{one.rated:,}"),
            Cell("" if one.mean is None else f"{one.mean:.3f}"),
            Cell("" if one.positive is None else f"{one.positive:.1%}"),
        )
        for one in rated.origins
    ]
    return Table(("origin", "references", "rated", "mean weight", "positive"), tuple(rows))


def rating_notes(rated: RatedStudy) -> dict[str, str]:
    """What was left alone, and all that the weights depend on but the items."""
    notes = {}
    if rated.kept:
        references = "reference" if rated.kept == 1 else "references"
        notes["kept"] = f"{rated.kept:,} {references} had a weight before (--which all rates anew)"
    return notes | {"judge": rated.signature}


def rating_record(rated: RatedStudy) -> dict[str, Any]:
    """What `--format json` prints."""
    return {
        "items": len(rated.study.items),
        "rated": rated.rated,
        "kept": rated.kept,
        "which": rated.which,
        "origins": [asdict(one) for one in rated.origins],
        "items_rated_before": rated.resumed,
        "judge": rated.signature,
    }


def model_record(model: RaterModel) -> dict[str, Any]:
    """All that is known of a model."""
    return {
        "digest": model.digest,
        "parameters": model.parameters,
        "settings": asdict(model.settings),
        "vocabulary": {"kind": model.vocabulary.kind, "size": len(model.vocabulary)},
        "card": dict(model.card),
    }


def model_tables(model: RaterModel) -> list[Table]:
    """The same, a table for what belongs together."""
    record = model_record(model)
    card = record.pop("card")
    return [*_tables(record, "judge"), *_tables(card, "training")]


def _tables(section: Mapping[str, Any], name: str) -> Iterator[Table]:
    """First the plain facts of a section, then its lists of records and its own sections."""
    inner = {key: value for key, value in section.items() if _is_section(value)}
    facts = [
        (Cell(_words(key)), Cell(_shown(value)))
        for key, value in section.items()
        if key not in inner
    ]
    if facts:
        yield Table((_words(name), ""), tuple(facts))
    for key, value in inner.items():
        if isinstance(value, Mapping):
            yield from _tables(value, key)
        else:
            yield _record_table(value, key)


def _record_table(records: list[Mapping[str, Any]], name: str) -> Table:
    columns = list(dict.fromkeys(key for record in records for key in record))
    rows = tuple(
        tuple(Cell(_shown(record[key]) if key in record else "") for key in columns)
        for record in records
    )
    return Table(tuple(map(_words, columns)), rows, caption=_words(name))


def _is_section(value: object) -> bool:
    if isinstance(value, Mapping):
        return bool(value)
    return isinstance(value, list) and bool(value) and all(isinstance(o, Mapping) for o in value)


def _words(key: str) -> str:
    return key.replace("_", " ")


def _shown(value: object) -> str:
    """A value of JSON as people read it.

    Examples
    --------
    >>> [_shown(value) for value in (1234567, 0.123456, True, None, ["a", 2], {})]
    ['1,234,567', '0.1235', 'yes', '', 'a, 2', '{}']
    """
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case int():
            return f"{value:,}"
        case float():
            return f"{value:,.0f}" if abs(value) >= 1e5 else f"{value:.4g}"
        case str():
            return value
        case list():
            return ", ".join(map(_shown, value))
        case _:
            return encode(value)
