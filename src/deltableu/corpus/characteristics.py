"""A study in; what its texts are like (lengths, vocabulary, how alike references are) out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain, combinations, pairwise

from deltableu.corpus.types import Study
from deltableu.io import Cell, Column, Table, Tabular
from deltableu.text import Tokenizer

#: References of an item that are compared with each other: their pairs grow with the square.
_COMPARED = 20


@dataclass(frozen=True, slots=True)
class TextFacts:
    """What texts of one sort are like.

    Attributes
    ----------
    texts, words, vocabulary : int
        Texts, their words in all, and different words (in lower case).
    different : int
        Different texts.
    """

    texts: int
    words: int
    vocabulary: int
    different: int

    @classmethod
    def of(cls, texts: Sequence[str]) -> TextFacts:
        """Count."""
        return cls.of_words(texts, _words(texts))

    @classmethod
    def of_words(cls, texts: Sequence[str], words: Sequence[Sequence[str]]) -> TextFacts:
        """Count, where the texts are cut into words already."""
        vocabulary = set(chain.from_iterable(words))
        return cls(len(texts), sum(map(len, words)), len(vocabulary), len(set(texts)))

    @property
    def mean_words(self) -> float:
        """Words per text; NaN without texts."""
        return self.words / self.texts if self.texts else float("nan")


@dataclass(frozen=True, slots=True)
class StudyFacts(Tabular):
    """What the texts of a study are like, and which of its systems are variants of others.

    Attributes
    ----------
    items : int
    references_per_item : float
    overlap : float
        How alike the references of an item are: the share of words that two of them have in common
        (F1 of their words), averaged over pairs and then over items; NaN where no item has two.
    sorts : mapping of str to TextFacts
        Of messages, references, and each system's outputs.
    variants : mapping of str to str
        Systems that are variants, and of which.
    """

    items: int
    references_per_item: float
    overlap: float
    sorts: dict[str, TextFacts]
    variants: dict[str, str]

    def table(self) -> Table:
        """One row per sort of text."""
        rows = [
            (
                Cell(
                    name,
                    note=f"(variant of {self.variants[name]})" if name in self.variants else "",
                ),
                facts.texts,
                facts.mean_words,
                facts.vocabulary,
                100.0 * facts.different / facts.texts if facts.texts else None,
            )
            for name, facts in self.sorts.items()
        ]
        columns = (
            "texts",
            Column("number"),
            Column("mean words", ".1f"),
            "different words",
            Column("different texts (%)", ".0f"),
        )
        shared = f", which share {100 * self.overlap:.0f}% of their words" * (
            self.overlap == self.overlap
        )
        caption = (
            f"the test set: {self.items} items, {self.references_per_item:.1f} references per item"
            f"{shared}"
        )
        return Table(columns, rows, caption)


def study_facts(study: Study, systems: Iterable[str] | None = None) -> StudyFacts:
    """Describe the texts of a study, as Wei asks of a validation (section 3.1).

    Words are those of the tokenizer 13a.

    Parameters
    ----------
    study : Study
    systems : list of str, optional
        Only these.

    Examples
    --------
    >>> from deltableu.corpus import Item, Reference
    >>> references = (Reference("0", "i do"), Reference("1", "i do not"))
    >>> facts = study_facts(Study((Item("a", references, message="do you?"),)))
    >>> round(facts.overlap, 2), facts.sorts["references"].vocabulary
    (0.8, 3)
    """
    chosen = list(study.outputs if systems is None else systems)
    messages = [item.message for item in study.items if item.message is not None]
    references = [one.text for item in study.items for one in item.references]
    words = _words(references)
    sorts = {"messages": TextFacts.of(messages)} if messages else {}
    sorts["references"] = TextFacts.of_words(references, words)
    sorts |= {name: TextFacts.of(study.outputs[name]) for name in chosen}
    bounds = accumulate((len(item.references) for item in study.items), initial=0)
    found = (_overlap(words[begin:end]) for begin, end in pairwise(bounds))
    overlaps = [one for one in found if one is not None]
    variants = {name: study.systems[name].variant_of for name in chosen if name in study.systems}
    return StudyFacts(
        len(study.items),
        len(references) / len(study.items) if study.items else float("nan"),
        sum(overlaps) / len(overlaps) if overlaps else float("nan"),
        sorts,
        {name: other for name, other in variants.items() if other is not None},
    )


def _overlap(references: Sequence[Sequence[str]]) -> float | None:
    """F1 of the words of two references, averaged over their pairs; None below two."""
    bags = [Counter(words) for words in references[:_COMPARED] if words]
    pairs = [
        2.0 * (one & two).total() / (one.total() + two.total())
        for one, two in combinations(bags, 2)
    ]
    return sum(pairs) / len(pairs) if pairs else None


def _words(texts: Sequence[str]) -> list[list[str]]:
    return Tokenizer("13a", lowercase=True).tokens_of(texts)
