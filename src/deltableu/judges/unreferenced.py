"""RUBER's unreferenced scorer: a model, messages and replies in, relevance out."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from deltableu._types import Array
from deltableu.judges.model_file import RaterModel
from deltableu.judges.model_reading import check_model_kind, read_once
from deltableu.neural import by_length, need

_DIGITS = 12
#: float32 knows no more, and the last bits depend on what else is computed at the same time.
_DECIMALS = 6
#: Pairs that go through the network at once.
_BATCH = 4096


@dataclass(frozen=True, eq=False)
class UnreferencedScorer:
    """Scores in (0, 1) how well a reply suits a message; an empty reply scores 0.

    Parameters
    ----------
    model : RaterModel
        What `train_ruber` trained.

    Examples
    --------
    >>> scorer = UnreferencedScorer.load("ruber.safetensors")  # doctest: +SKIP
    >>> scorer.scores(["where are you?"], ["at home"])  # doctest: +SKIP
    array([0.731904])
    """

    model: RaterModel

    def __post_init__(self) -> None:
        check_model_kind(self.model, "ruber")

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> UnreferencedScorer:
        """The scorer of a model's file."""
        model = read_once(path, "ruber")
        need("torch", "scoring with a model")
        return cls(model)

    @property
    def signature(self) -> str:
        """The model's digest."""
        return self.model.digest[:_DIGITS]

    @property
    def held_out_range(self) -> tuple[float, float] | None:
        """The smallest and the largest score of held-out replies, true and sampled ones."""
        held_out = self.model.card.get("held out")
        known = held_out if isinstance(held_out, dict) else {}
        ends = [known.get(f"{one} score") for one in ("smallest", "largest")]
        if any(not isinstance(end, int | float) for end in ends):
            return None
        return float(ends[0]), float(ends[1])  # type: ignore[arg-type]

    @cached_property
    def _network(self) -> Any:
        need("torch", "scoring with a model")
        from deltableu.judges.ruber_network import RuberNetwork

        shape: Any = self.model.settings
        return RuberNetwork.of(shape, self.model.state).requires_grad_(False)

    def scores(self, messages: Sequence[str], replies: Sequence[str]) -> Array:
        """A score for each message and its reply; a text that occurs often is read once."""
        if not messages:
            return np.zeros(0)
        torch = need("torch", "scoring with a model")
        network = self._network
        with torch.inference_mode():
            asked, said = (
                self._vectors(encoder, texts)
                for encoder, texts in ((network.message, messages), (network.reply, replies))
            )
            parts = []
            for start in range(0, len(messages), _BATCH):
                some = [
                    vectors[places[start : start + _BATCH]] for vectors, places in (asked, said)
                ]
                parts.append(network.judge(*some).sigmoid().numpy())
        found: Array = np.concatenate(parts).astype(np.float64).round(_DECIMALS)
        found[[not reply.strip() for reply in replies]] = 0.0
        return found

    def _vectors(self, encoder: Any, texts: Sequence[str]) -> tuple[Any, Any]:
        """Vectors of the different texts, and which of them each text has."""
        torch = need("torch", "scoring with a model")
        numbers: dict[str, int] = {}
        places = [numbers.setdefault(text, len(numbers)) for text in texts]
        encoded = self.model.vocabulary.encode(list(numbers))
        lengths = np.minimum(encoded.lengths, self.model.settings.max_length)
        vectors = torch.empty(len(numbers), 2 * self.model.settings.hidden)
        for some in by_length(lengths):
            vectors[torch.from_numpy(some)] = encoder.encode(encoded, some)
        return vectors, torch.tensor(places)
