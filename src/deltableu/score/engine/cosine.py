"""The cosine of sentence vectors: what a hypothesis and a reference mean, as an encoder sees it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError
from deltableu.score.engine.similarity import Similarity
from deltableu.text import (
    Encoder,
    Texts,
    TextVectors,
    WordAverages,
    dot_products,
    text_vectors,
)


@dataclass(frozen=True)
class CosineSimilarity(Similarity):
    """Cosine of sentence vectors, in [-1, 1]; 0 where a text has no vector.

    Parameters
    ----------
    encoder : str, callable, Encoder or WordAverages
        `wordllama`, whose weights come with its package (extra `encoder`);
        `sentence-transformers:MODEL`; a function of a list of texts, itself or as
        `package.module:function`; or a file of word vectors, which are averaged.
    lowercase : bool
    """

    encoder: Any = "wordllama"
    lowercase: bool = True
    _source: TextVectors = field(init=False, repr=False, compare=False)
    _label: str = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        source, label = _source_of(self.encoder)
        object.__setattr__(self, "_source", source)
        object.__setattr__(self, "_label", label)

    @property
    def name(self) -> str:
        return "cosine"

    def vectors(self, texts: Sequence[str]) -> tuple[Array, Ints]:
        """Vectors of the different texts, and which one each text has."""
        if self.lowercase:
            texts = [text.lower() for text in texts]
        places: dict[str, int] = {}
        numbers = np.fromiter(
            (places.setdefault(text, len(places)) for text in texts), np.int64, len(texts)
        )
        made = self._source.vectors(Texts.of(list(places)))
        return np.ascontiguousarray(made, np.float64), numbers

    def encode_texts(self, references: Sequence[str]) -> tuple[Array, Ints]:
        return self.vectors(references)

    def compare(
        self, hypotheses: Sequence[str], encoded: tuple[Array, Ints], owners: Ints
    ) -> Array:
        own, places = self.vectors(hypotheses)
        other, numbers = encoded
        cosines = dot_products(own, other, places[owners], numbers.astype(np.int32))
        # Vectors have length 1 but for the last digits.
        return np.clip(cosines, -1.0, 1.0)

    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        return self.compare(hypotheses, self.encode_texts(references), owners)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("encoder", self._label), ("case", "lower" if self.lowercase else "mixed"))


def _source_of(given: Any) -> tuple[TextVectors, str]:
    """What makes the vectors, and what signatures call it."""
    source: Encoder | WordAverages
    if isinstance(given, str):
        if not given:
            raise InputError("the encoder has no name: give one, or a file of word vectors")
        source = text_vectors(given)
    elif isinstance(given, Encoder | WordAverages):
        source = given
    elif isinstance(given, Callable):  # type: ignore[arg-type]
        source = Encoder(given)
    else:
        raise InputError(
            f"an encoder is a name, a file of word vectors or a function, got {given!r}"
        )
    name = source.signature.partition("|")[0].partition(":")[2]
    if isinstance(source, WordAverages):
        return source, f"words-{name}"
    return source, f"{name.replace('|', '_').replace(' ', '_')}-{source.digest()}"
