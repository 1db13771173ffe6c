"""What each similarity counts in self-calibrated references: its file, its table, its signature."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from deltableu.errors import InputError, Problem
from deltableu.io import (
    Column,
    FoundFile,
    Table,
    atomic_write,
    decode_object,
    json_text,
    unreadable,
)
from deltableu.judges.scr_texts import SIMILARITIES

_FORMAT = "deltableu-scr-calibration"
_VERSION = 1
_DIGITS = 8

#: What stood in for outputs: good references; original references, beside mined ones; or good and
#: bad references.
Design = Literal["rated", "mined", "good-bad"]

_SAID: Mapping[Design, str] = {
    "rated": "good references at their own items and at others",
    "mined": "original references at their own items and at others, among mined ones",
    "good-bad": "good and bad references at their own items",
}


@dataclass(frozen=True, slots=True)
class ScrCalibration:
    """The coefficients of self-calibrated references, and what they were learnt from.

    Attributes
    ----------
    good : tuple of float
        For each of `SIMILARITIES`, what the pool of good references counts, 0 or more.
    bad : tuple of float
        The same for bad references, 0 or less; empty where there were none.
    relevance : float or None
        What relevance to the message counts, 0 or more; None without a model.
    spreads : tuple of float
        The standard deviation of each feature, in the order of the coefficients.
    design : {"rated", "mined", "good-bad"}
        What stood in for outputs.
    pseudo_outputs, items, seed : int
        How many references stood in for outputs, of how many items, and how these were drawn.
    encoder : str
        What made the vectors.
    model : str or None
        The signature of the relevance model.
    """

    good: tuple[float, ...]
    bad: tuple[float, ...]
    relevance: float | None
    spreads: tuple[float, ...]
    design: Design
    pseudo_outputs: int
    items: int
    seed: int
    encoder: str
    model: str | None

    @property
    def digest(self) -> str:
        """A hash of everything that scores depend on."""
        parts = [self.good, self.bad, self.relevance, self.encoder, self.model]
        return hashlib.blake2b(json.dumps(parts).encode(), digest_size=4).hexdigest()

    def features(self) -> Iterator[tuple[str, str, float]]:
        """What each coefficient is for: a similarity, or relevance, and which references."""
        for name, value in zip(SIMILARITIES, self.good, strict=True):
            yield name, "good", value
        for name, value in zip(SIMILARITIES, self.bad, strict=False):
            yield name, "bad", value
        if self.relevance is not None:
            yield "relevance", "message", self.relevance

    def tables(self) -> list[Table]:
        """The coefficients, and what they would move in a score."""
        columns = (
            "similarity",
            "to",
            Column("coefficient", ".3f"),
            Column("spread", ".4f"),
            Column("coefficient x spread", ".3f", key="effect"),
        )
        rows = [
            [name, to, value, spread, value * spread]
            for (name, to, value), spread in zip(self.features(), self.spreads, strict=True)
        ]
        return [Table(columns, rows, self.about)]

    def tidy_table(self) -> Table:
        """The same, for programs."""
        return self.tables()[0]

    @property
    def about(self) -> str:
        """One line on how it was found."""
        return (
            f"learnt from {self.pseudo_outputs:,} {_SAID[self.design]} "
            f"({self.items:,} items, no output, no rating of one)"
        )

    def record(self) -> dict[str, Any]:
        """All of it, as its file has it."""
        parts = [
            {"similarity": name, "to": to, "coefficient": value, "spread": spread}
            for (name, to, value), spread in zip(self.features(), self.spreads, strict=True)
        ]
        return {
            "format": _FORMAT,
            "format_version": _VERSION,
            "design": self.design,
            "coefficients": parts,
            "pseudo_outputs": self.pseudo_outputs,
            "items": self.items,
            "seed": self.seed,
            "encoder": self.encoder,
            "relevance_model": self.model,
            "digest": self.digest,
        }


def write_calibration(path: str | os.PathLike[str], calibration: ScrCalibration) -> None:
    """Write a calibration as JSON, whole or not at all."""
    with atomic_write(path) as stream:
        stream.write(json_text(calibration.record()))


def holds_calibration(path: str | os.PathLike[str]) -> bool:
    """Whether a file begins as calibrations do."""
    try:
        with open(path, "rb") as stream:
            return f'"{_FORMAT}"'.encode() in stream.read(200)
    except OSError:
        return False


def read_calibration(path: str | os.PathLike[str]) -> ScrCalibration:
    """Read what `write_calibration` wrote; whatever is wrong is an `InputError` that says so."""
    name = os.fspath(path)
    try:
        with open(name, "rb") as stream:
            record: Any = decode_object(stream.read().decode())
    except OSError as error:
        raise unreadable(FoundFile(name), error) from None
    except ValueError:
        raise _fault(name, "is no JSON, but a calibration of scr is") from None
    if record.get("format") != _FORMAT:
        message = "is no calibration of scr: make one with `deltableu judge calibrate STUDY`"
        raise _fault(name, message)
    if record.get("format_version") != _VERSION:
        raise _fault(name, "is of another version of deltableu: calibrate again")
    try:
        found = _parsed(record)
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise _fault(name, f"is damaged: {error}") from None
    if found.digest != record.get("digest"):
        raise _fault(name, "is damaged or was edited: its digest is of other coefficients")
    return found


def _parsed(record: Mapping[str, Any]) -> ScrCalibration:
    parts = record["coefficients"]
    values = {(one["similarity"], one["to"]): float(one["coefficient"]) for one in parts}
    relevance = values.pop(("relevance", "message"), None)
    good = tuple(values.pop((name, "good")) for name in SIMILARITIES)
    bad = tuple(values.pop((name, "bad")) for name in SIMILARITIES) if values else ()
    if record["design"] not in get_args(Design):
        raise ValueError(f"there is no design {record['design']!r}")
    signs_fit = min((*good, relevance or 0.0)) >= 0.0 and max((*bad, 0.0)) <= 0.0
    if values or len(parts) != len(good) + len(bad) + (relevance is not None) or not signs_fit:
        raise ValueError("its coefficients are none that calibrating gives")
    return ScrCalibration(
        good,
        bad,
        relevance,
        tuple(float(one["spread"]) for one in parts),
        record["design"],
        int(record["pseudo_outputs"]),
        int(record["items"]),
        int(record["seed"]),
        str(record["encoder"]),
        record["relevance_model"],
    )


def rounded(values: Sequence[float]) -> tuple[float, ...]:
    """Numbers as they are stored: their last digits depend on the machine."""
    return tuple(float(f"{value:.{_DIGITS}g}") + 0.0 for value in values)


def _fault(name: str, message: str) -> InputError:
    return InputError(Problem(message, file=name))
