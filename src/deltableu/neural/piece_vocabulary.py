"""Logs -> pieces of words by SentencePiece (Kudo 2018), and texts as numbers of these."""

from __future__ import annotations

import io
import re
import unicodedata
from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from deltableu._types import BytesRead, Hashes
from deltableu.errors import InputError, check_at_least
from deltableu.neural.encoded_texts import EncodedTexts
from deltableu.neural.extra import need
from deltableu.neural.mixing import mixed, salt
from deltableu.text import Texts, hash_texts, key_numbers

if TYPE_CHECKING:
    from deltableu.logs import Partition


_WHAT = "a vocabulary of word pieces"
_PADDING, _UNKNOWN, _FIRST = 0, 1, 2
_SAMPLE = 10  # a key of random streams
#: Threads add up what they saw, and sums of floats depend on how many there are: not the machine's.
_THREADS = 4
#: Characters so rare that the rest is this much of the text are unknown. The smaller ones are for
#: logs of more different characters than pieces were asked for; SentencePiece allows no less.
_COVERAGES = (0.9995, 0.998, 0.99, 0.98)
_NEEDED = re.compile(r"required_chars\D*\d+ vs (\d+)")
#: SentencePiece leaves out longer texts.
_LONGEST = 4000
#: Characters that it reads as a space.
_BLANKS = "\u2581\ufffd"
_UNSEEN = ("Zs", "Zl", "Zp", "Cc", "Cf")
_ONLY_ERRORS = 2
_AT_ONCE = 1 << 16


class PieceVocabulary:
    """A model of SentencePiece: padding is 0, what is unknown 1, and pieces have numbers from 2 on.

    Parameters
    ----------
    model
        The bytes of a model file. They hold the normalisation (NFKC, lower case) too.
    """

    kind: ClassVar[str] = "pieces"

    def __init__(self, model: bytes) -> None:
        sentencepiece = need("sentencepiece", _WHAT)
        self._model = bytes(model)
        try:
            self._processor: Any = sentencepiece.SentencePieceProcessor(model_proto=self._model)
            numbers = [getattr(self._processor, f"{name}_id")() for name in _SPECIAL]
            self._size = len(self._processor)
        except (RuntimeError, ValueError, TypeError) as error:
            raise InputError(f"this is not a SentencePiece model: {error}") from None
        if not self._model or numbers != list(_SPECIAL.values()) or self._size <= _FIRST:
            raise InputError(
                "this is not a SentencePiece model with padding 0, unknown 1 and pieces from 2 on: "
                "train one with piece_vocabulary"
            )

    def __len__(self) -> int:
        return self._size

    def pieces(self) -> tuple[str, ...]:
        """Pieces by their numbers, from 2 on; a low line of its own stands for a space."""
        return tuple(map(self._processor.id_to_piece, range(_FIRST, self._size)))

    def encode(self, texts: Texts | Sequence[str]) -> EncodedTexts:
        """Numbers of the pieces of each text; characters that no piece has are 1."""
        if not isinstance(texts, Texts):
            texts = Texts.of(texts)
        parts = [
            self._encoded(texts.choose(slice(first, first + _AT_ONCE)))
            for first in range(0, len(texts), _AT_ONCE)
        ]
        return EncodedTexts.joined(parts)

    def _encoded(self, texts: Texts) -> EncodedTexts:
        found = self._processor.encode(list(texts.encoded()), out_type=int)
        bounds = np.zeros(len(found) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, found), np.int64, len(found)), out=bounds[1:])
        numbers = np.fromiter(chain.from_iterable(found), np.int32, int(bounds[-1]))
        return EncodedTexts(numbers, bounds)

    def decode(self, texts: Sequence[Sequence[int]]) -> list[str]:
        """The texts that pieces make up, as SentencePiece puts them together."""
        found: list[str] = self._processor.decode(
            [[int(number) for number in text] for text in texts]
        )
        return found

    def to_bytes(self) -> bytes:
        """The model, as SentencePiece writes it."""
        return self._model

    @classmethod
    def from_bytes(cls, data: bytes) -> PieceVocabulary:
        """The vocabulary that gave these bytes."""
        return cls(data)


_SPECIAL = {"pad": _PADDING, "unk": _UNKNOWN, "bos": -1, "eos": -1}


def piece_vocabulary(
    partitions: Sequence[Partition],
    *,
    size: int,
    sample: int = 1_000_000,
    lowercase: bool = True,
    seed: int = 0,
    tell: BytesRead = lambda read: None,
) -> PieceVocabulary:
    """Train a unigram model of SentencePiece on logs.

    Parameters
    ----------
    partitions
        What `deltableu.logs.partitions.find_partitions` found.
    size
        Pieces, at most, beside padding and the unknown word; small logs give fewer.
    sample
        How many different texts of the logs to train on, at most; they are held in memory.
    lowercase
        Read small and capital letters as the same.
    seed
        Seed of the choice of texts. The same texts and seed give the same pieces, in whatever order
        and however many files the texts lie.
    tell
        Called with the bytes that were read since the last call; all logs are read once.

    Raises
    ------
    InputError
        Where the logs have no characters to learn from, or far more different ones than `size`.
    """
    check_at_least("size", size, 1)
    check_at_least("sample", sample, 1)
    need("sentencepiece", _WHAT)
    from deltableu.vectors import texts_of

    chosen = _Sample(sample, salt(seed, _SAMPLE))
    for texts in texts_of(partitions, tell):
        chosen.add(texts)
    return PieceVocabulary(_trained(chosen.texts(), size, lowercase))


class _Sample:
    """Different texts, those whose mixed hashes are the smallest."""

    def __init__(self, most: int, start: np.uint64) -> None:
        self._most = most
        self._salt = start
        self._limit = np.uint64(0xFFFFFFFFFFFFFFFF)
        self._held: dict[bytes, int] = {}

    def add(self, texts: Texts) -> None:
        ranks: Hashes = mixed(self._salt, key_numbers(hash_texts(texts)))
        (rows,) = np.nonzero((ranks <= self._limit) & (texts.ends > texts.starts))
        few = texts.choose(rows).encoded()
        self._held.update(zip(few, ranks[rows].tolist(), strict=True))
        if len(self._held) > 2 * self._most:
            self._shrink()

    def _shrink(self) -> None:
        kept = sorted((rank, text) for text, rank in self._held.items())[: self._most]
        self._limit = np.uint64(kept[-1][0])
        self._held = {text: rank for rank, text in kept}

    def texts(self) -> list[bytes]:
        if self._held:
            self._shrink()
        return list(self._held)


def _trained(texts: list[bytes], size: int, lowercase: bool) -> bytes:
    if not any(map(_is_visible, texts)):
        raise InputError("the logs hold no words")
    sentencepiece = need("sentencepiece", _WHAT)
    characters = size
    for coverage in _COVERAGES:
        written = io.BytesIO()
        try:
            sentencepiece.SentencePieceTrainer.train(
                sentence_iterator=map(_cut, texts),
                model_writer=written,
                model_type="unigram",
                vocab_size=size + _FIRST,
                hard_vocab_limit=False,
                character_coverage=coverage,
                normalization_rule_name="nmt_nfkc_cf" if lowercase else "nmt_nfkc",
                num_threads=_THREADS,
                minloglevel=_ONLY_ERRORS,
                **{f"{name}_id": number for name, number in _SPECIAL.items()},
            )
        except RuntimeError as error:
            needed = _NEEDED.search(str(error))
            if needed is None:
                raise InputError(f"SentencePiece cannot learn from the logs: {error}") from None
            characters = int(needed[1]) - _FIRST
            continue
        return written.getvalue()
    raise InputError(
        f"{size} pieces are too few to spell the logs, whose {characters} most frequent characters "
        f"make up {_COVERAGES[-1]:.0%} of all: ask for a larger vocabulary"
    )


def _is_visible(text: bytes) -> bool:
    """Whether something is left of a text when SentencePiece has normalised it."""
    return any(
        character not in _BLANKS and unicodedata.category(character) not in _UNSEEN
        for character in text.decode(errors="replace")
    )


def _cut(text: bytes) -> bytes:
    if len(text) > _LONGEST:
        text = text[:_LONGEST].decode(errors="ignore").encode()
    # It would leave out the whole text.
    return text.replace(b"\0", b" ")
