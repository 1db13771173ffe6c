"""Gates of many commits: one JSON record a run in a file that only grows."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from deltableu.compare.gate_results import Gate, Sequential
from deltableu.errors import InputError, Problem
from deltableu.io import Cell, Column, Journal, PathLike, Table, Tabular, as_record, read_records
from deltableu.stats import ConfidenceInterval

#: Parts of signatures that change where items are added.
_GROWING = re.compile(r"\|(?:items|refs|refhash|weighthash|groups):[^|]*")
_SHOWN_COMMIT = 10


@dataclass(frozen=True, slots=True)
class PastScore:
    """A system's score at one commit."""

    system: str
    metric: str
    score: float
    interval: ConfidenceInterval | None


@dataclass(frozen=True, slots=True)
class PastGate:
    """One run of a gate.

    Attributes
    ----------
    units : int
        Items, or groups of them.
    digest : str
        A hash of what all systems did on them.
    signatures : dict of metric to str
    """

    time: str
    commit: str
    passed: bool
    baseline: str
    mode: str
    margin: float
    units: int
    digest: str
    signatures: dict[str, str]
    scores: tuple[PastScore, ...]


@dataclass(frozen=True, slots=True)
class History(Tabular):
    """Runs of a gate, the oldest first."""

    path: str
    gates: tuple[PastGate, ...]

    def look(self, digest: str) -> int:
        """The number of a look at such outputs: the same ones again are no new look."""
        seen = list(dict.fromkeys(gate.digest for gate in self.gates))
        return seen.index(digest) + 1 if digest in seen else len(seen) + 1

    def check(self, gate: Gate) -> None:
        """Complain where a gate is about something else than those before it."""
        if not self.gates:
            return
        last, new = self.gates[-1], signatures(gate)
        growing = gate.sequential == "items"
        shared = [metric for metric in new if metric in last.signatures]
        if not shared:
            raise self._refusal(
                f"holds {' and '.join(last.signatures)}, and not {' and '.join(new)}"
            )
        for metric in shared:
            old, now = last.signatures[metric], new[metric]
            if growing:
                old, now = _GROWING.sub("", old), _GROWING.sub("", now)
            if old != now:
                raise self._refusal(
                    f"holds {metric} with other references or settings ({_apart(old, now)})"
                )
        if gate.baseline != last.baseline:
            raise self._refusal(
                f"holds differences from {last.baseline!r}, and not from {gate.baseline!r}"
            )

    def check_growth(self, units: int, digest: Callable[[int | None], str]) -> None:
        """Complain unless every earlier look saw the first part of what there is now."""
        for gate in self.gates:
            if gate.units > units or digest(gate.units) != gate.digest:
                raise self._refusal(
                    f"the look of {gate.time} saw other outputs on its {gate.units} items than "
                    "the first of these: --sequential items is for systems that stay as they are "
                    "while items are added at the end; for new outputs say --sequential commits"
                )

    def _refusal(self, message: str) -> InputError:
        hint = "" if message.startswith("the look") else ": take another file"
        return InputError(Problem(f"{message}{hint}", file=self.path))

    def table(self, *, digits: int = 2) -> Table:
        """A row for each run, a column for each system and metric."""
        names = list(
            dict.fromkeys((one.metric, one.system) for gate in self.gates for one in gate.scores)
        )
        form = f".{digits}f"
        columns = [
            Column("time"),
            Column("commit"),
            Column("gate"),
            *(Column(f"{system} {metric}", form) for metric, system in names),
        ]
        rows: list[list[object]] = []
        for gate in self.gates:
            found = {(one.metric, one.system): one for one in gate.scores}
            cells = [
                None if one is None else Cell(one.score, one.interval)
                for one in (found.get(name) for name in names)
            ]
            told = "pass" if gate.passed else "FAIL"
            rows.append([gate.time, gate.commit[:_SHOWN_COMMIT], told, *cells])
        return Table(columns, rows)

    def record(self) -> list[Any]:
        """All runs."""
        return [as_record(gate) for gate in self.gates]


def read_history(path: PathLike) -> History:
    """Read a history; one that is not there yet is empty."""
    if not Path(path).exists():
        return History(str(path), ())
    return History(str(path), tuple(_read(path)))


def add_to_history(path: PathLike, gate: Gate, commit: str, time: datetime | None = None) -> None:
    """Add a run; the record is on the disk when this returns."""
    when = (time or datetime.now(UTC)).astimezone(UTC).isoformat(timespec="seconds")
    record = {
        "time": when,
        "commit": commit,
        "passed": gate.passed,
        "baseline": gate.baseline,
        "mode": gate.mode,
        "margin": gate.margin,
        "significance": gate.significance,
        "sequential": gate.sequential,
        "look": gate.look,
        "items": gate.items,
        "units": gate.units,
        "digest": gate.digest,
        "signatures": signatures(gate),
        "scores": as_record(gate.scores),
        "checks": as_record(gate.checks),
    }
    Journal(path).add([record])


def signatures(gate: Gate) -> dict[str, str]:
    """The signature of each metric's scores."""
    metrics = dict.fromkeys(check.metric for check in gate.checks)
    return dict(zip(metrics, gate.signatures, strict=True))


def sequential_look(
    history: History, sequential: Sequential, units: int, digest: Callable[[int | None], str]
) -> int:
    """The number of this look."""
    if sequential == "items":
        history.check_growth(units, digest)
    return history.look(digest(None))


def _apart(old: str, new: str) -> str:
    """The first part in which two signatures differ."""
    for one, two in zip(old.split("|"), new.split("|"), strict=False):
        if one != two:
            return f"{one} there, {two} here"
    return "their signatures differ"


def _read(path: PathLike) -> Iterator[PastGate]:
    for line, record in read_records(path):
        try:
            yield PastGate(
                time=_text(record, "time"),
                commit=_text(record, "commit"),
                passed=_kind(record, "passed", bool),
                baseline=_text(record, "baseline"),
                mode=_text(record, "mode"),
                margin=_number(record, "margin"),
                units=_kind(record, "units", int),
                digest=_text(record, "digest"),
                signatures={
                    str(metric): str(text)
                    for metric, text in _kind(record, "signatures", dict).items()
                },
                scores=tuple(_past_score(one) for one in _kind(record, "scores", list)),
            )
        except _RecordError as error:
            message = f"{error.args[0]}: this is no record of deltableu gate"
            raise InputError(
                Problem(message, file=str(path), line=line, field=error.args[1])
            ) from None


class _RecordError(Exception):
    """What is wrong, and with which field."""


def _past_score(one: object) -> PastScore:
    if not isinstance(one, dict):
        raise _RecordError("must hold objects", "scores")
    interval = one.get("interval")
    found = None
    if isinstance(interval, dict):
        low, high, level = (_number(interval, name) for name in ("low", "high", "confidence"))
        found = ConfidenceInterval(low, high, level, _text(interval, "method"))
    score = _number(one, "score")
    return PastScore(_text(one, "system"), _text(one, "metric"), score, found)


def _text(record: Any, name: str) -> str:
    return str(_kind(record, name, str))


def _number(record: Any, name: str) -> float:
    value = _kind(record, name, int, float)
    try:
        return float(value)
    except OverflowError:
        raise _RecordError("is too large a number", name) from None


def _kind(record: Any, name: str, *kinds: type) -> Any:
    value = record.get(name)
    wrong = not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds)
    if wrong:
        raise _RecordError("is missing" if value is None else f"cannot be {value!r:.40}", name)
    return value
