"""Logged pairs that a rater learns from, as numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from deltableu._types import AnyArray, Bools, Ints
from deltableu.neural import EncodedTexts


@dataclass(frozen=True, slots=True)
class TrainingCounts:
    """What the logs had, and what is kept of it.

    Attributes
    ----------
    rows : int
        Rows that the logs have.
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
        Parts of `several`; of all utterances, where those with a single response count too.
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

    def arrays(self) -> dict[str, AnyArray]:
        """All but the counts, as it is kept between two runs."""
        texts: dict[str, AnyArray] = {"numbers": self.texts.numbers, "bounds": self.texts.bounds}
        return texts | {name: getattr(self, name) for name in _COLUMNS}

    @classmethod
    def of(cls, arrays: Mapping[str, AnyArray], counts: Mapping[str, int]) -> TrainingPairs:
        """The pairs whose `arrays` and counts these are."""
        texts = EncodedTexts(arrays["numbers"], arrays["bounds"])
        columns = {name: arrays[name] for name in _COLUMNS}
        return cls(texts, counts=TrainingCounts(**counts), **columns)


_COLUMNS = tuple(
    field.name for field in fields(TrainingPairs) if field.name not in ("texts", "counts")
)
