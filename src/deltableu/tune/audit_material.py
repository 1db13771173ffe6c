"""A study in; what an attacker has to work with out: texts of some items, cut and shuffled."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Ints
from deltableu.corpus import ReferenceSet

#: Texts that are looked at to see whether words have spaces between them.
_LOOKED_AT = 200
#: N-grams that a search puts together, the most frequent ones.
_NGRAMS = 300
_LONGEST_NGRAM = 4


@dataclass(frozen=True, slots=True)
class Material:
    """References, outputs and messages of all items; `places` say whose may be looked at."""

    references: ReferenceSet
    outputs: Mapping[str, Sequence[str]]

    @property
    def separator(self) -> str:
        """What stands between words; nothing where a language does without."""
        texts = [text for row in self.references.texts[:_LOOKED_AT] for text in row]
        spaced = sum(" " in text.strip() for text in texts)
        return " " if 2 * spaced > sum(len(text) > 12 for text in texts) else ""

    def cut(self, text: str) -> list[str]:
        """The words of a text, or its characters."""
        return text.split() if self.separator else [one for one in text if not one.isspace()]

    def join(self, words: Iterable[str]) -> str:
        """The text of some words."""
        return self.separator.join(words)

    def good_references(self, place: int) -> list[str]:
        """An item's references that nobody thinks bad; all where that is not known."""
        texts = self.references.texts[place]
        if self.references.weights is None:
            return list(texts)
        weights = self.references.weights[place]
        good = [
            text
            for text, weight in zip(texts, weights, strict=True)
            if weight is None or weight > 0
        ]
        return good or list(texts)

    def messages(self) -> list[str] | None:
        """The message of each item, where all have one."""
        given = self.references.messages
        if given is None or any(not one for one in given):
            return None
        return [str(one) for one in given]

    def answers(self, places: Ints) -> list[str]:
        """References and outputs of some items, each text once, the most frequent first."""
        counted: Counter[str] = Counter()
        for place in places.tolist():
            counted.update(self.references.texts[place])
            counted.update(texts[place] for texts in self.outputs.values())
        return [text for text, _ in counted.most_common() if text.strip()]

    def ngrams(self, places: Ints) -> list[tuple[str, ...]]:
        """The n-grams that most references of some items have, long ones before their parts."""
        counted: Counter[tuple[str, ...]] = Counter()
        for place in places.tolist():
            for text in self.good_references(place):
                words = self.cut(text)
                counted.update(
                    {
                        tuple(words[at : at + n])
                        for n in range(1, _LONGEST_NGRAM + 1)
                        for at in range(len(words) - n + 1)
                    }
                )
        # A longer one is worth more to metrics that count all of its parts.
        ranked = sorted(counted, key=lambda one: (-counted[one] * len(one), -len(one), one))
        return ranked[:_NGRAMS]

    def shuffled(self, text: str, size: int, rng: np.random.Generator) -> str:
        """A text whose runs of `size` words are in random order."""
        words = self.cut(text)
        runs = [words[at : at + size] for at in range(0, len(words), size)]
        return self.join(word for number in rng.permutation(len(runs)) for word in runs[number])
