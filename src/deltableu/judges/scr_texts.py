"""Texts, prepared once for all that self-calibrated references compare, and these comparisons."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array, Ints
from deltableu.judges.relevance_model import lowercase_vectors
from deltableu.judges.word_space import WordSpace, WordTexts
from deltableu.score import SentenceBLEUSimilarity, chrf_counts, chrf_score
from deltableu.text import (
    Encoder,
    TokenArrays,
    Tokenizer,
    WordAverages,
    characters,
    chrf_words,
    dot_products,
)

#: What is compared, in the order of all arrays.
SIMILARITIES = ("chrf++", "sentence-bleu-2", "shared-words", "alignment", "cosine")

_CHARACTERS, _WORDS, _BETA = 6, 2, 2.0
_BLEU = SentenceBLEUSimilarity(order=2, method="nakov")
_TOKENIZER = Tokenizer("13a")


def words_of(texts: Sequence[str]) -> list[list[str]]:
    """The words of lower-cased texts."""
    return _TOKENIZER.tokens_of([text.lower() for text in texts])


@dataclass(frozen=True, slots=True, eq=False)
class PreparedTexts:
    """Lower-cased texts as each similarity has them, a row each."""

    characters: TokenArrays
    chrf_words: TokenArrays
    tokens: TokenArrays
    words: WordTexts
    vectors: Array

    def __len__(self) -> int:
        return len(self.vectors)


def prepare_texts(
    texts: Sequence[str], space: WordSpace, encoder: Encoder | WordAverages
) -> tuple[PreparedTexts, WordSpace]:
    """The texts, and the space with their words in it."""
    lowered = [text.lower() for text in texts]
    words = words_of(lowered)
    space = space.with_words(word for row in words for word in row)
    made = PreparedTexts(
        characters(lowered),
        chrf_words(lowered),
        _TOKENIZER.hash(lowered),
        space.numbered(words),
        np.ascontiguousarray(lowercase_vectors(encoder, lowered)),
    )
    return made, space


def similarities(
    own: PreparedTexts, other: PreparedTexts, space: WordSpace, owners: Ints, chosen: Ints
) -> Array:
    """Similarities of texts owners[j] and chosen[j], a row for each of `SIMILARITIES`.

    The pairs of one own text should stand together, which makes it fast.
    """
    kinds = (
        (own.characters, other.characters, _CHARACTERS),
        (own.chrf_words, other.chrf_words, _WORDS),
    )
    shared, aligned = space.compare(own.words, other.words, owners, chosen)
    cosines = dot_products(own.vectors, other.vectors, owners, chosen.astype(np.int32))
    return np.stack(
        (
            chrf_score(chrf_counts(kinds, owners, chosen), _BETA) / 100.0,
            _BLEU.compare_tokens(own.tokens, other.tokens, owners, chosen),
            shared,
            aligned,
            np.clip(cosines, -1.0, 1.0),
        )
    )
