"""`systems.toml` in, what it says of each system out, and back."""

from __future__ import annotations

from collections.abc import Mapping

from deltableu.corpus.types import System
from deltableu.errors import Problem
from deltableu.io import (
    Checker,
    PathLike,
    Report,
    atomic_write,
    fail,
    file_name,
    read_toml,
    shown,
    toml_string,
)

_TEXTS = ("type", "description", "variant_of")


def read_systems(path: PathLike, report: Report = fail) -> dict[str, System]:
    """Read what is said of each system.

    Parameters
    ----------
    path
        A TOML file with a table `[systems.NAME]` for each system, that may hold `type`,
        `description`, `variant_of` and a table `tags` of texts; or a line `NAME = "type"` for each
        system under `[systems]`.
    report
        Called with each problem; the system is then left out. The default raises InputError.
    """
    name = file_name(path)
    document = read_toml(path, report)
    checker = Checker(name, report)
    checker.unknown(document, ("note", "systems"))
    checker.optional_text(document.get("note"), "note")
    tables = document.get("systems", {})
    if not isinstance(tables, dict):
        message = f"must be a table: write [systems.NAME], got {shown(tables)}"
        report(Problem(message, file=name, field="systems"))
        return {}
    found = (_parse_system(key, value, checker) for key, value in tables.items())
    return {system.name: system for system in found if system is not None}


def read_note(path: PathLike) -> str | None:
    """The `note` at the top of the file; what is wrong with the file `read_systems` tells."""
    note = read_toml(path, lambda problem: None).get("note")
    return note if isinstance(note, str) else None


def _parse_system(name: str, value: object, checker: Checker) -> System | None:
    checker.start(None)
    place = f"systems.{name}"
    if isinstance(value, str):
        return System(name, value)
    if not isinstance(value, dict):
        checker.complain(place, f"must be a table or a type in quotes, got {shown(value)}")
        return None
    checker.unknown(value, (*_TEXTS, "tags"), f"{place}.")
    texts = {key: checker.optional_text(value.get(key), f"{place}.{key}") for key in _TEXTS}
    tags = value.get("tags", {})
    if not isinstance(tags, dict):
        checker.complain(f"{place}.tags", f"must be a table of texts, got {shown(tags)}")
        return None
    for key, tag in tags.items():
        if not isinstance(tag, str):
            checker.complain(f"{place}.tags.{key}", f"must be a text, got {shown(tag)}")
    return None if checker.failed else System(name, **texts, tags=tags)


def write_systems(path: PathLike, systems: Mapping[str, System], note: str | None = None) -> None:
    """Write the note, and a table for each system, in the order given."""
    with atomic_write(path) as stream:
        if note is not None:
            stream.write(f"note = {toml_string(note)}\n\n")
        for system in systems.values():
            stream.write(f"[systems.{toml_string(system.name)}]\n")
            for key in _TEXTS:
                value = getattr(system, key)
                if value is not None:
                    stream.write(f"{key} = {toml_string(value)}\n")
            for key, value in system.tags.items():
                stream.write(f"tags.{toml_string(key)} = {toml_string(value)}\n")
