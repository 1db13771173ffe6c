"""The neural rater of upsilon-BLEU (Tsuta et al. 2020): a model and references in, weights out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from deltableu.corpus import Item, Reference
from deltableu.errors import InputError, Problem, check_at_least
from deltableu.io import number_text
from deltableu.judges.combination import Magnitude, Triplets, check_rule, combined_weights
from deltableu.judges.model_file import RaterModel
from deltableu.judges.model_reading import check_model_kind, read_once
from deltableu.judges.rater import RatingBatch
from deltableu.neural import by_length, need

_DIGITS = 12
#: float32 knows no more, and the last bits depend on what else is computed at the same time.
_DECIMALS = 6


@dataclass(frozen=True, eq=False)
class NNRater:
    """Rates a reference by how likely it answers the message as the original reference does.

    An item's message and its original reference (the first of that origin, else its first one)
    are the pair U1, R1. A mined or random reference R2 comes with the utterance U2 that it
    answered; any other one is taken as an answer to the message.

    Parameters
    ----------
    model : RaterModel
        What was trained.
    triplets : {"max", "mean", "first", "second"}
        How the probabilities of the two triplets become one, see `combined_weights`.
    magnitude : {"2p-1", "p"}
        How large a weight is.
    original : float or "rated"
        The weight of the original reference; or it is rated as if it had been mined itself.
    batch : int
        References that go through the network at once.

    Examples
    --------
    >>> rater = NNRater.load("judge.safetensors")  # doctest: +SKIP
    >>> rater.rate(item, item.references)  # doctest: +SKIP
    (1.0, 0.734119, -0.918253)
    """

    model: RaterModel
    triplets: Triplets = "max"
    magnitude: Magnitude = "2p-1"
    original: float | Literal["rated"] = 1.0
    batch: int = 4096

    def __post_init__(self) -> None:
        check_rule(self.triplets, self.magnitude)
        if isinstance(self.original, str):
            given_well = self.original == "rated"
        else:
            given_well = -1 <= self.original <= 1
        if not given_well:
            message = f"must be a number in [-1, 1] or 'rated', got {self.original!r}"
            raise InputError(Problem(message, field="original"))
        check_at_least("batch", self.batch, 1)
        check_model_kind(self.model, "nn-rater")

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        triplets: Triplets = "max",
        magnitude: Magnitude = "2p-1",
        original: float | Literal["rated"] = 1.0,
        batch: int = 4096,
    ) -> NNRater:
        """The rater of a model's file."""
        check_rule(triplets, magnitude)
        model = read_once(path, "nn-rater")
        need("torch", "rating with a model")
        return cls(model, triplets, magnitude, original, batch)

    @property
    def signature(self) -> str:
        """The model's digest and the settings."""
        known = self.original if isinstance(self.original, str) else number_text(self.original)
        digest = self.model.digest[:_DIGITS]
        return f"nn-rater:{digest},{self.triplets},{self.magnitude},original={known}"

    @cached_property
    def _network(self) -> Any:
        need("torch", "rating with a model")
        from deltableu.judges.network import RaterNetwork

        # Nothing is learnt here, so nothing need be kept for gradients: a third of the time.
        shape: Any = self.model.settings
        return RaterNetwork.of(shape, self.model.state).requires_grad_(False)

    def rate(self, item: Item, references: Sequence[Reference]) -> Sequence[float]:
        """One weight per reference."""
        return self.rate_items([(item, references)])[0]

    def rate_items(self, batch: RatingBatch) -> list[tuple[float, ...]]:
        """The weights of many items' references; a text that occurs often is read once."""
        places: dict[str, int] = {}
        quadruples: list[tuple[int, int, int, int]] = []
        # Where a reference has no quadruple, it is the original one.
        rows: list[list[int | None]] = []
        for item, references in batch:
            row: list[int | None] = []
            first = _original(item)
            message = _message(item)
            given = [places.setdefault(text, len(places)) for text in (message, first.text)]
            for reference in references:
                if reference.id == first.id and self.original != "rated":
                    row.append(None)
                    continue
                utterance = self._utterance(item, reference, message)
                pair = [
                    places.setdefault(text, len(places)) for text in (utterance, reference.text)
                ]
                row.append(len(quadruples))
                quadruples.append((given[0], given[1], pair[0], pair[1]))
            rows.append(row)
        weights = self._weights(list(places), np.array(quadruples, np.int64).reshape(-1, 4))
        fixed = 1.0 if isinstance(self.original, str) else float(self.original)
        return [
            tuple(fixed if place is None else float(weights[place]) for place in row)
            for row in rows
        ]

    def _weights(self, texts: Sequence[str], quadruples: NDArray[np.int64]) -> NDArray[np.float64]:
        if len(quadruples) == 0:
            return np.zeros(0)
        torch = need("torch", "rating with a model")
        network = self._network
        encoded = self.model.vocabulary.encode(texts)
        lengths = np.minimum(np.diff(encoded.bounds), self.model.settings.max_length)
        with torch.inference_mode():
            vectors = torch.empty(len(texts), 2 * self.model.settings.hidden)
            for some in by_length(lengths):
                vectors[torch.from_numpy(some)] = network.encode(encoded, some)
            parts = [
                network.judge(vectors, quadruples[start : start + self.batch]).softmax(-1).numpy()
                for start in range(0, len(quadruples), self.batch)
            ]
        weights = combined_weights(np.concatenate(parts), self.triplets, self.magnitude)
        return weights.round(_DECIMALS) + 0.0

    def _utterance(self, item: Item, reference: Reference, message: str) -> str:
        """What a reference answered where it was found."""
        if reference.origin not in ("mined", "random") or self.triplets == "first":
            return message  # which the first triplet does not look at
        source = reference.source
        if source is None or not (source.utterance or "").strip():
            wrong = f"the {reference.origin} reference {reference.id!r} does not say which "
            wrong += (
                "utterance it answered (source.utterance): mine it anew, or take triplets='first'"
            )
            raise InputError(Problem(wrong, item=item.id))
        return source.utterance or ""


def _message(item: Item) -> str:
    if not (item.message or "").strip():
        raise InputError(Problem("has no message, which this rater needs", item=item.id))
    return item.message or ""


def _original(item: Item) -> Reference:
    if not item.references:
        raise InputError(Problem("has no reference", item=item.id))
    origins = (one for one in item.references if one.origin == "original")
    return next(origins, item.references[0])
