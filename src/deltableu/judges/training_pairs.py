"""Logged pairs that a rater learns from, as numbers; kept in a file between two runs."""

from __future__ import annotations

import zipfile
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from deltableu._types import Bools, Ints
from deltableu.errors import InputError, Problem
from deltableu.io import atomic_path
from deltableu.judges.encoded_texts import EncodedTexts

__all__ = ["TrainingCounts", "TrainingPairs"]


#: What numpy may say of a file that is not one of ours.
_DAMAGES = (
    ValueError, KeyError, TypeError, AttributeError, IndexError, EOFError, zipfile.BadZipFile,
    NotImplementedError,
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class TrainingCounts:
    """What the logs had, and what is kept of it.

    Attributes
    ----------
    rows : int
        Of the logs.
    empty : int
        Rows that were left out, because their utterance or response has no words or no number of
        the vocabulary.
    utterances : int
        Different ones; case, punctuation and spacing do not count.
    several : int
        Utterances with two or more different responses.
    responses : int
        Rows of these that are kept.
    too_many : int
        Different rows of these that were left out, because an utterance had more than the most
        responses.
    training, validation : int
        Parts of `several`.
    other : int
        Random rows of the logs that are kept beside.
    texts : int
        Different ones, letter by letter.
    cut : int
        Texts that were too long.
    """

    rows: int
    empty: int
    utterances: int
    several: int
    responses: int
    too_many: int
    training: int
    validation: int
    other: int
    texts: int
    cut: int


@dataclass(frozen=True, slots=True, eq=False)
class TrainingPairs:
    """Logged pairs that a rater learns from, a row each.

    The first `counts.responses` rows are those of utterances with several responses, an utterance
    after the other; the rest are random rows of the logs, which may repeat rows of the first part.

    Attributes
    ----------
    texts : EncodedTexts
        Every text once.
    utterances, responses : array
        A row's texts, as places in `texts`.
    groups : array
        The number of a row's utterance; utterances of the same words have the same number in both
        parts. Those with several responses come first. Responses of an utterance differ.
    validation : array
        Whether an utterance is held out.
    counts : TrainingCounts
    """

    texts: EncodedTexts
    utterances: Ints
    responses: Ints
    groups: Ints
    validation: Bools
    counts: TrainingCounts

    def write(self, path: Path) -> None:
        """Keep them as one file."""
        arrays: dict[str, Any] = {
            "numbers": self.texts.numbers,
            "bounds": self.texts.bounds,
            **{name: getattr(self, name) for name in _COLUMNS},
            "counts": np.array([*asdict(self.counts).values()], np.int64),
        }
        try:
            with atomic_path(path) as temporary, open(temporary, "wb") as file:
                np.savez(file, **arrays)
        except OSError as error:
            message = f"cannot be written: {error.strerror or type(error).__name__}"
            raise InputError(Problem(message, file=str(path))) from None

    @classmethod
    def read(cls, path: Path) -> TrainingPairs:
        """Read what `write` wrote."""
        try:
            with open(path, "rb") as file, np.load(file, allow_pickle=False) as found:
                arrays = {name: found[name] for name in found.files}
            counts = TrainingCounts(*map(int, arrays["counts"]))
            texts = EncodedTexts(arrays["numbers"], arrays["bounds"])
            made = cls(texts, counts=counts, **{name: arrays[name] for name in _COLUMNS})
            made._check()
        except OSError as error:
            message = f"cannot be read: {error.strerror or error}"
            raise InputError(Problem(message, file=str(path))) from None
        except _DAMAGES as error:
            message = f"does not hold training pairs, or is damaged: remove it ({error})"
            raise InputError(Problem(message, file=str(path))) from None
        return made

    def _check(self) -> None:
        """Raise a ValueError where places lead nowhere."""
        rows = self.counts.responses + self.counts.other
        columns = (self.utterances, self.responses, self.groups)
        bounds, limits = self.texts.bounds, (len(self.texts), len(self.texts), len(self.validation))
        if (
            any(len(column) != rows for column in columns)
            or any(
                len(column) and not 0 <= column.min() <= column.max() < limit
                for column, limit in zip(columns, limits, strict=True)
            )
            or bounds[0] != 0
            or bounds[-1] != len(self.texts.numbers)
            or (np.diff(bounds) < 0).any()
        ):
            raise ValueError("its arrays do not belong together")


_COLUMNS = tuple(
    field.name for field in fields(TrainingPairs) if field.name not in ("texts", "counts")
)
