"""What a vocabulary is: texts in, numbers out; and it can be kept as bytes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from deltableu.errors import InputError
from deltableu.neural.encoded_texts import EncodedTexts
from deltableu.neural.piece_vocabulary import PieceVocabulary
from deltableu.neural.word_vocabulary import WordVocabulary
from deltableu.text import Texts


class Vocabulary(Protocol):
    """Numbers words or pieces of them: 0 is padding and never given, 1 is what is unknown."""

    @property
    def kind(self) -> str:
        """Such as "pieces" or "words"."""

    def __len__(self) -> int:
        """All numbers, with padding and the unknown word."""

    def encode(self, texts: Texts | Sequence[str]) -> EncodedTexts:
        """Texts as numbers, all of them; an empty text has none."""

    def decode(self, texts: Sequence[Sequence[int]]) -> list[str]:
        """The texts that numbers spell, none of which is padding or unknown."""

    def to_bytes(self) -> bytes:
        """All that is needed to make it again with `vocabulary_from_bytes`."""


def vocabulary_from_bytes(kind: str, data: bytes) -> Vocabulary:
    """The vocabulary that gave these bytes.

    Raises
    ------
    InputError
        Where they are not of such a vocabulary.

    Examples
    --------
    >>> vocabulary_from_bytes("words", WordVocabulary(["hi"]).to_bytes()).encode(["Hi!"]).numbers
    array([2], dtype=int32)
    """
    if kind == PieceVocabulary.kind:
        return PieceVocabulary.from_bytes(data)
    if kind == WordVocabulary.kind:
        return WordVocabulary.from_bytes(data)
    raise InputError(f"unknown kind of vocabulary {kind!r}; there are pieces and words")
