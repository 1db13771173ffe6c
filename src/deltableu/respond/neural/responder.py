"""A trained responder: a model and items in, responses out."""

from __future__ import annotations

import hashlib
import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from deltableu._types import Bools, Ints, Steps
from deltableu.corpus import Item, NBestLists
from deltableu.errors import InputError, Problem, check_at_least, check_kind
from deltableu.neural import check_threads, need, read_once
from deltableu.respond.neural.decoding import Decoding
from deltableu.respond.neural.inputs import joined_turns
from deltableu.respond.neural.model_file import ResponderModel, read_responder
from deltableu.respond.responses import Responses, checked_items, make_responses
from deltableu.stats import stream

if TYPE_CHECKING:
    from deltableu.respond.neural.network import Conversed
    from deltableu.respond.neural.search import Found

#: Features of n-best lists.
FEATURES = ("logprob", "length", "mean_logprob", "min_logprob")

#: A message, or the turns of a conversation, the message last; and the response to it.
Answered: TypeAlias = tuple[str | Sequence[str], str]

#: Keys of random streams.
_WORDS, _LATENT = 61, 62
_DIGITS = 12
#: The last digits depend on what else is computed at the same time.
_DECIMALS = 6
_WHAT = "responding with a model"
#: The number of what the vocabulary does not know.
_UNKNOWN = 1


@dataclass(frozen=True, slots=True)
class Perplexity:
    """How well a model foresees responses, each word after the true ones.

    Attributes
    ----------
    pairs, words : int
        Responses, and their words or pieces with their ends.
    unknown : int
        Words that the vocabulary does not have: one symbol, foreseen as any other.
    loss : float
        Minus the log-probability of a word, on average; with VHRED its bound.
    divergence : float
        VHRED's divergence of the posterior from the prior, per response; part of the loss.
    bound : bool
        Whether the perplexity is at most this large, and not this large.
    """

    pairs: int
    words: int
    unknown: int
    loss: float
    divergence: float
    bound: bool

    @property
    def perplexity(self) -> float:
        """e to the loss."""
        return math.exp(min(self.loss, 700.0))


@dataclass(frozen=True, eq=False)
class NeuralResponder:
    """Responds with a sequence-to-sequence model or VHRED.

    Parameters
    ----------
    model : ResponderModel
        What `train_responder` trained.
    batch : int
        Items that are decoded at once; no response depends on it.

    Examples
    --------
    >>> responder = NeuralResponder.load("model.safetensors")  # doctest: +SKIP
    >>> responder.respond(study.items, Decoding(beam=5)).texts  # doctest: +SKIP
    ('I am fine, thank you.', 'What kind of music?')
    """

    model: ResponderModel
    batch: int = 32

    def __post_init__(self) -> None:
        check_kind("model", self.model, ResponderModel)
        check_at_least("batch", self.batch, 1)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, batch: int = 32) -> NeuralResponder:
        """The responder of a model's file."""
        model = read_once(path, read_responder)
        need("torch", _WHAT)
        return cls(model, batch)

    def signature(self, decoding: Decoding) -> str:
        """The model's digest and how responses are made."""
        return f"{self.model.kind}:{self.model.digest[:_DIGITS]},{decoding.signature}"

    @cached_property
    def _networks(self) -> tuple[Any, Any]:
        """In float32, to read many texts; in float64, so that no word depends on the batch."""
        need("torch", _WHAT)
        from deltableu.respond.neural.networks import network_of

        made = network_of(self.model.settings)
        one, other = (
            made.of(self.model.settings, self.model.state).requires_grad_(False) for _ in range(2)
        )
        return one, other.double()

    @cached_property
    def _visible(self) -> Bools:
        """Which words of the vocabulary can be seen."""
        vocabulary = self.model.vocabulary
        texts = vocabulary.decode([[number] for number in range(2, len(vocabulary))])
        return np.array([False, False, *(bool(text.strip()) for text in texts)])

    def respond(
        self,
        items: Sequence[Item],
        decoding: Decoding | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Responses:
        """A response to each item's message, and what else was considered.

        Responses depend on the item, its id where something is drawn, and the settings, and on
        nothing else: neither on other items nor on how many are decoded at once.

        Parameters
        ----------
        items
            Each with a message, which the last turns of its context may precede.
        decoding : Decoding, optional
        threads : int, optional
            All cores by default.
        progress : callable, optional
            Called with (items done, items in all).
        """
        need("torch", _WHAT)
        from deltableu.neural.networks import threads_of_torch

        decoding = decoding or Decoding()
        check_threads(threads)
        items = checked_items(items)
        for item in items:
            if not (item.message or "").strip():
                message = "is empty, and a model answers messages"
                raise InputError(Problem(message, item=item.id, field="message"))
        turns = [(*item.context, item.message or "") for item in items]
        read = self._conversed(turns)
        order = np.argsort(read.joined.lengths, kind="stable")
        found: list[list[Found]] = [[] for _ in items]
        for start in range(0, len(order), self.batch):
            rows = order[start : start + self.batch]
            with threads_of_torch(threads):
                several = self._decoded(read, rows, [items[row].id for row in rows], decoding)
            for row, few in zip(rows.tolist(), several, strict=True):
                found[row] = few
            if progress is not None:
                progress(min(start + self.batch, len(order)), len(order))
        nbest = self._listed(items, found, decoding)
        firsts = nbest.texts_of(nbest.bounds[:-1])
        return make_responses(items, firsts, self.signature(decoding), {}, nbest)

    def _conversed(self, turns: Sequence[Sequence[str]]) -> Conversed:
        """Conversations as the network reads them: the last turns that it was trained for."""
        need("torch", _WHAT)
        from deltableu.respond.neural.network import Conversed

        settings = self.model.settings
        places: dict[str, int] = {}
        found = np.full((len(turns), settings.turns), -1)
        for row, said in enumerate(turns):
            for column, text in enumerate(reversed(said[-settings.turns :]), start=1):
                found[row, -column] = places.setdefault(text, len(places))
        texts = self.model.vocabulary.encode(list(places)).cut(settings.max_length)
        return Conversed(texts, found, joined_turns(texts, found))

    def _decoded(
        self, read: Conversed, rows: Ints, ids: Sequence[str], decoding: Decoding
    ) -> list[list[Found]]:
        torch = need("torch", _WHAT)
        from deltableu.respond.neural.search import WordRules, beam_search, sample

        network = self._networks[1]
        rules = WordRules(self._visible, decoding.max_length, decoding.no_repeat)
        times = decoding.width if decoding.method == "sample" else 1
        streams = [
            [stream(decoding.seed, key, _number(id), place) for key in (_WORDS, _LATENT)]
            for id in ids
            for place in range(times)
        ]
        noise = None
        if self.model.kind == "vhred":
            size = self.model.settings.latent
            noise = torch.from_numpy(np.stack([own.standard_normal(size) for _, own in streams]))
        with torch.inference_mode():
            state = network.begin(read, np.repeat(rows, times), noise)
            if decoding.method != "sample":
                return beam_search(network, state, len(rows), decoding, rules)
            drawn = sample(network, state, [own for own, _ in streams], decoding, rules)
        return [drawn[start : start + times] for start in range(0, len(drawn), times)]

    def _listed(
        self, items: Sequence[Item], found: Sequence[Sequence[Found]], decoding: Decoding
    ) -> NBestLists:
        texts: list[str] = []
        features: list[tuple[float, float, float, float]] = []
        totals: list[float] = []
        bounds = [0]
        for few in found:
            spelt = self.model.vocabulary.decode([one.words for one in few])
            seen: set[str] = set()
            for one, text in zip(few, spelt, strict=True):
                text = " ".join(text.split())
                if text in seen or len(seen) == decoding.listed:
                    continue
                seen.add(text)
                texts.append(text)
                mean = one.score / len(one.scores)
                features.append((one.score, len(one.words), mean, min(one.scores)))
                totals.append(one.ranked_by(decoding.length_penalty))
            bounds.append(len(texts))
        return NBestLists(
            tuple(item.id for item in items),
            np.array(bounds),
            tuple(texts),
            FEATURES,
            np.array(features).round(_DECIMALS) + 0.0,
            np.array(totals).round(_DECIMALS) + 0.0,
        )

    def perplexity(self, pairs: Sequence[Answered], *, seed: int = 0) -> Perplexity:
        """How well the model foresees the responses to messages or conversations.

        Texts are cut as in training; a word that the vocabulary lacks is one symbol.

        Parameters
        ----------
        pairs
            (message, response), or (turns, response) with the message last.
        seed : int
            Of VHRED's one draw from the posterior of each response.
        """
        need("torch", _WHAT)
        from deltableu.respond.neural.task import judged

        if not pairs:
            raise InputError("there are no pairs to foresee")
        turns = [(said,) if isinstance(said, str) else tuple(said) for said, _ in pairs]
        for number, said in enumerate(turns):
            if not said:
                raise InputError(Problem("has no message", field=f"pairs[{number}]"))
        read = self._conversed(turns)
        cut = self.model.settings.max_length
        responses = self.model.vocabulary.encode([text for _, text in pairs]).cut(cut)
        rows = np.arange(len(pairs))
        told = judged(self._networks[0], read, responses, rows, seed)
        divergences, words = told.scores[:, 1:].sum(0, dtype=np.float64).tolist()
        return Perplexity(
            len(pairs),
            int(words),
            int((responses.numbers == _UNKNOWN).sum()),
            told.loss,
            divergences / len(pairs),
            self.model.kind == "vhred",
        )


def _number(id: str) -> int:
    """A number of an item, for random streams."""
    return int.from_bytes(hashlib.sha256(id.encode("utf-8", "surrogatepass")).digest()[:8], "big")
