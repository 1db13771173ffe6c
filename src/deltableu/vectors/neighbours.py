"""Word vectors and a word in, the words that are most like it out."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches

import numpy as np

from deltableu.errors import InputError
from deltableu.text import WordVectors, word_form
from deltableu.vectors.glove import UNKNOWN


@dataclass(frozen=True, slots=True)
class Neighbour:
    """A word, and the cosine of its vector and another word's."""

    word: str
    cosine: float


def nearest_words(vectors: WordVectors, word: str, top: int = 10) -> tuple[Neighbour, ...]:
    """The words whose vectors have the largest cosines with that of a word, without itself.

    A word that is not there as it is spelt is looked up in small letters. Equal cosines are in the
    order of the file.

    Raises
    ------
    InputError
        For a word without a vector; names some that are spelt like it.
    """
    if top < 1:
        raise InputError(f"top must be 1 or more, got {top}")
    known = next((form for form in (word, word_form(word)) if form in vectors.rows), None)
    if known is None:
        alike = similar_spellings(vectors, word)
        hint = f": did you mean {', '.join(alike)}?" if alike else ""
        raise InputError(f"there is no vector for the word {word!r}{hint}")
    row = vectors.rows[known]
    unit = vectors.matrix32
    cosines = unit @ unit[row]
    left_out = [row, *(vectors.rows[name] for name in (UNKNOWN,) if name in vectors.rows)]
    cosines[left_out] = -np.inf
    # Products in single precision only propose: which library multiplies must not change an order.
    proposed = np.argsort(-cosines, kind="stable")[: top + 32]
    own = vectors.raw[row].astype(np.float64)
    others = vectors.raw[proposed].astype(np.float64)
    lengths = np.linalg.norm(others, axis=1) * np.linalg.norm(own)
    exact = np.divide(others @ own, lengths, out=np.zeros(len(others)), where=lengths > 0)
    order = np.lexsort((proposed, -exact))
    words = {vectors.rows[name]: name for name in vectors.rows}
    return tuple(
        Neighbour(words[int(proposed[place])], float(exact[place]))
        for place in order.tolist()
        if int(proposed[place]) not in left_out
    )[:top]


def similar_spellings(vectors: WordVectors, word: str, most: int = 3) -> list[str]:
    """Words with a vector that are spelt like a word."""
    form = word_form(word)
    # Comparing hundreds of thousands of words takes long; one typing error leaves its length.
    near = [other for other in vectors.rows if abs(len(other) - len(form)) <= 2]
    return get_close_matches(form, near[:50_000], most, 0.7)
