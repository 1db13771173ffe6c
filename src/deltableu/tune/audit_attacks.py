"""Attacks on a metric: what each may look at, and what it makes of that.

An attack is tuned on the items of one half of the study and answers those of the other, and the
other way round: so what it says to an item never comes from that item's references, unless the
attack is an oracle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from deltableu._types import Array, Ints
from deltableu.tune.audit_material import Material

#: What an attack may look at: an item's message and all of other items; what systems said to the
#: item; or the references of the item itself.
Sees = Literal["other items", "outputs", "own references"]

#: The answer of one form of an attack to an item.
Form = Callable[[int, np.random.Generator], str]

#: Runs of words that stay together when the others are shuffled.
_RUNS = (1, 2, 3)


class Target(ABC):
    """The metric under attack, on some of the items."""

    places: Ints

    @abstractmethod
    def score(self, texts: Sequence[str]) -> float:
        """The corpus score of an answer to each of the items; higher is better."""

    @abstractmethod
    def item_scores(self, texts: Sequence[str]) -> Array | None:
        """The score of each answer, where the metric has any."""

    def constant(self, text: str) -> float:
        """The score of one answer to all."""
        return self.score([text] * len(self.places))


@dataclass(frozen=True, slots=True)
class Round:
    """One half of the items attacked with what is known of the other.

    Attributes
    ----------
    material : Material
    known : Target
        Items of which everything may be looked at.
    asked : Target
        The items to be answered; only an oracle may look at their references or ask for scores.
    trials : int
        How many texts a search may score.
    rng : numpy Generator
    """

    material: Material
    known: Target
    asked: Target
    trials: int
    rng: np.random.Generator


@dataclass(frozen=True, slots=True)
class Attempt:
    """What an attack answers to the items it was asked to, and in which of its forms."""

    texts: tuple[str, ...]
    form: str


class Attack(ABC):
    """A way to make outputs that are no answers."""

    name: ClassVar[str]
    sees: ClassVar[Sees]
    summary: ClassVar[str]

    def missing(self, material: Material) -> str:
        """What the study lacks for it; nothing where it can be made."""
        return ""

    @abstractmethod
    def attempt(self, given: Round) -> Attempt:
        """Answers to the items that are asked."""


class _OneForAll(Attack):
    """An attack that finds one text on the items that it knows."""

    sees = "other items"

    def attempt(self, given: Round) -> Attempt:
        text = self.search(given)
        return Attempt((text,) * len(given.asked.places), "one answer to all")

    @abstractmethod
    def search(self, given: Round) -> str:
        """The best text it finds."""


def _best(texts: Iterator[str] | Sequence[str], known: Target) -> tuple[str, float]:
    """The text with the highest score, the first of those that tie; nothing scores lowest."""
    best, most = "", -np.inf
    for text in texts:
        score = known.constant(text)
        if score > most:
            best, most = text, score
    return best, most


class Repetition(_OneForAll):
    name = "repetition"
    summary = "frequent words again and again"

    def search(self, given: Round) -> str:
        """The best of frequent n-grams, repeated up to 20 times."""
        ngrams = given.material.ngrams(given.known.places)
        times = (2, 3, 5, 8, 13, 20)
        frequent = ngrams[: max(1, given.trials // len(times))]
        texts = (given.material.join(one * n) for one in frequent for n in times)
        return _best(texts, given.known)[0]


class Generic(_OneForAll):
    name = "generic answer"
    summary = "the reference or output of another item that suits most items"

    def search(self, given: Round) -> str:
        """Half of the trials are the most frequent texts, half are drawn from the others."""
        return _best(_candidates(given, given.trials), given.known)[0]


def _candidates(given: Round, trials: int) -> list[str]:
    texts = given.material.answers(given.known.places)
    if len(texts) <= trials:
        return texts
    kept = trials // 2
    others = given.rng.permutation(len(texts) - kept)[: trials - kept] + kept
    return [*texts[:kept], *(texts[place] for place in sorted(others.tolist()))]


class Assembled(_OneForAll):
    name = "assembled answer"
    summary = "one text put together from n-grams by greedy and random search"

    def search(self, given: Round) -> str:
        """A third looks for a text to begin with, a third appends to it, a third changes it."""
        material, known = given.material, given.known
        ngrams = material.ngrams(known.places)
        share = max(1, given.trials // 3)
        text, score = _best(_candidates(given, share), known)
        grown = self._grown(material, known, ngrams, share)
        if grown[1] > score:
            text, score = grown
        words = material.cut(text)
        for _ in range(share if ngrams else 0):
            changed = _changed(words, ngrams, given.rng)
            other = known.constant(material.join(changed))
            if other > score:
                words, score = changed, other
        return material.join(words)

    def _grown(
        self, material: Material, known: Target, ngrams: list[tuple[str, ...]], trials: int
    ) -> tuple[str, float]:
        """From nothing, the n-gram appended that helps most, as long as one does."""
        words: list[str] = []
        best = -np.inf
        width = max(1, min(len(ngrams), trials // 6))
        left = trials
        while ngrams and left >= width:
            left -= width
            scores = [known.constant(material.join([*words, *one])) for one in ngrams[:width]]
            place = int(np.argmax(scores))
            if scores[place] <= best:
                break
            best = scores[place]
            words = [*words, *ngrams[place]]
        return material.join(words), best


def _changed(
    words: list[str], ngrams: list[tuple[str, ...]], rng: np.random.Generator
) -> list[str]:
    """The words with an n-gram put in or in place of others, or with some left out."""
    at = int(rng.integers(len(words) + 1))
    until = min(len(words), at + int(rng.integers(1, 4)))
    # Frequent n-grams first: the square of a uniform number is near 0 more often.
    gram = ngrams[int(len(ngrams) * rng.random() ** 2)]
    change = rng.integers(4)
    if change == 0:
        return [*words[:at], *words[until:]]
    if change == 1:
        return [*words[:at], *gram, *words[until:]]
    return [*words[:at], *gram, *words[at:]]


class _ByForm(Attack):
    """An attack in several forms, of which the one is taken that does best on known items."""

    @abstractmethod
    def forms(self, material: Material, known: Ints) -> dict[str, Form]:
        """What each form answers to an item, from all that there is of the known ones."""

    def attempt(self, given: Round) -> Attempt:
        known, rng = given.known, given.rng
        forms = self.forms(given.material, known.places)
        scores = {
            name: known.score([form(place, rng) for place in known.places.tolist()])
            for name, form in forms.items()
        }
        best = max(scores, key=lambda name: scores[name])
        places = given.asked.places.tolist()
        return Attempt(tuple(forms[best](place, rng) for place in places), best)


class Parrot(_ByForm):
    name = "parrot"
    sees = "other items"
    summary = "the message itself, whole or in part"

    def missing(self, material: Material) -> str:
        return "" if material.messages() is not None else "not every item has a message"

    def forms(self, material: Material, known: Ints) -> dict[str, Form]:
        """Whole, twice, or its first or last words."""
        messages = material.messages() or []

        def part(which: slice) -> Form:
            return lambda place, _: material.join(material.cut(messages[place])[which])

        return {
            "the whole message": lambda place, _: messages[place],
            "the message twice": lambda place, _: material.join([messages[place]] * 2),
            **{f"its first {size} words": part(slice(0, size)) for size in (2, 4, 8)},
            **{f"its last {size} words": part(slice(-size, None)) for size in (2, 4, 8)},
        }


class OtherReferences(_ByForm):
    name = "other items' references"
    sees = "other items"
    summary = "a good reference of another item, drawn by chance, whole or shuffled"

    def forms(self, material: Material, known: Ints) -> dict[str, Form]:
        """Whole, or with runs of words shuffled."""

        def drawn(place: int, rng: np.random.Generator) -> str:
            others = known[known != place]
            texts = material.good_references(int(others[rng.integers(len(others))]))
            return texts[int(rng.integers(len(texts)))]

        def shuffled(size: int) -> Form:
            return lambda place, rng: material.shuffled(drawn(place, rng), size, rng)

        return {"whole": drawn, **{_run_name(size): shuffled(size) for size in _RUNS}}


def _run_name(size: int) -> str:
    return "words shuffled" if size == 1 else f"runs of {size} words shuffled"


class ShuffledOutputs(_ByForm):
    name = "shuffled outputs"
    sees = "outputs"
    summary = "what a system said to the item, its words in random order"

    def missing(self, material: Material) -> str:
        return "" if material.outputs else "the study has no outputs"

    def forms(self, material: Material, known: Ints) -> dict[str, Form]:
        """Of each system, runs of one, two or three words."""

        def shuffled(system: str, size: int) -> Form:
            texts = material.outputs[system]
            return lambda place, rng: material.shuffled(texts[place], size, rng)

        return {
            f"{system}, {_run_name(size)}": shuffled(system, size)
            for system in material.outputs
            for size in _RUNS
        }


class JoinedOutputs(_ByForm):
    name = "joined outputs"
    sees = "outputs"
    summary = "what several systems said to the item, one after the other"

    def missing(self, material: Material) -> str:
        return "" if len(material.outputs) > 1 else "the study has no two systems"

    def forms(self, material: Material, known: Ints) -> dict[str, Form]:
        """Of each two systems, and of all."""
        names = list(material.outputs)
        pairs = [(one, other) for at, one in enumerate(names) for other in names[at + 1 :]]

        def joined(systems: Sequence[str]) -> Form:
            texts = [material.outputs[name] for name in systems]
            return lambda place, _: material.join(one[place] for one in texts)

        forms = {" + ".join(pair): joined(pair) for pair in pairs}
        return forms if len(names) == 2 else {**forms, "all systems": joined(names)}


class Oracle(Attack):
    name = "oracle"
    sees = "own references"
    summary = "shuffled and joined references of the item itself, the best of many for each item"

    def attempt(self, given: Round) -> Attempt:
        """The best of some for each item; of whole corpora where items have no scores."""
        best: list[str] = []
        most = np.empty(0)
        places = given.asked.places.tolist()
        for trial in range(max(1, given.trials // 5)):
            texts = [self._garbled(given.material, place, trial, given.rng) for place in places]
            scores = given.asked.item_scores(texts)
            if scores is None:
                scores = np.full(len(texts), given.asked.score(texts))
            if not best:
                best, most = texts, scores
            better = scores > most
            best = [new if win else old for new, old, win in zip(texts, best, better, strict=True)]
            most = np.maximum(scores, most)
        return Attempt(tuple(best), "the best of each item's references garbled")

    def _garbled(self, material: Material, place: int, trial: int, rng: np.random.Generator) -> str:
        texts = material.good_references(place)
        size = _RUNS[trial % len(_RUNS)]
        chosen = rng.permutation(len(texts))[: 1 + trial % 2]
        return material.shuffled(material.join(texts[one] for one in chosen), size, rng)


#: All attacks, those that see least first.
ATTACKS: tuple[Attack, ...] = (
    Repetition(),
    Parrot(),
    Generic(),
    Assembled(),
    OtherReferences(),
    ShuffledOutputs(),
    JoinedOutputs(),
    Oracle(),
)
