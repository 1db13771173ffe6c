"""Texts in, vectors of length 1 out: averages of word vectors, or what an encoder says.

And the products of such vectors, whose last digits depend on nothing but the two.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from pkgutil import resolve_name
from typing import Any, Literal, Protocol, get_args

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Ints, Ints32, Singles
from deltableu.errors import InputError, check_choice, hint_at
from deltableu.text.texts import Texts
from deltableu.text.vectors import WordVectors, read_vectors
from deltableu.text.word_numbers import WordNumbers
from deltableu.text.words import WordRule

_kernel = _kernels.load("text._embed")

Encode = Callable[[Sequence[str]], Any]
Unknown = Literal["unk", "skip"]

#: What files call the vector of all other words.
_UNK = ("<unk>", "unk", "<UNK>", "UNK")
#: Encoders that are known by a short name.
ENCODERS = {"wordllama": "deltableu.text.wordllama_encoder:encode"}
#: What the models of this library are named after.
_TRANSFORMERS = "sentence-transformers:"
#: Encoders that agree on how alike these are are taken to be the same one.
_PROBES = (
    "yes , i would love to .",
    "no thanks , i am tired .",
    "what time does the train leave ?",
    "the old house by the river was sold last year .",
    "he plays football",
)


class TextVectors(Protocol):
    """How texts become vectors. The vector of a text must not depend on its neighbours."""

    @property
    def signature(self) -> str:
        """All that vectors depend on, in one line."""

    @property
    def own_threads(self) -> bool:
        """Whether making vectors, as encoders do, keeps all cores busy already."""

    def vectors(self, texts: Texts) -> Array | Singles:
        """One row a text, of length 1, or 0 where it has nothing to say; of either precision."""


def text_vectors(name: str) -> WordAverages | Encoder:
    """What makes vectors of texts, by name.

    Parameters
    ----------
    name : str
        A short name (`wordllama`), a model as `sentence-transformers:NAME`, a function of a list
        of texts as `package.module:function`, or a file of word vectors.

    Examples
    --------
    >>> text_vectors("wordllama").signature
    'encoder:wordllama'
    """
    if name in ENCODERS:
        return Encoder(ENCODERS[name], name)
    if name.startswith(_TRANSFORMERS):
        return Encoder(name, name)
    if Path(name).is_file():
        return WordAverages(read_vectors(name), "skip")
    if ":" in name:
        return Encoder(name, name)
    raise InputError(
        f"unknown encoder {name!r}: choose {', '.join(ENCODERS)}, {_TRANSFORMERS}NAME, "
        f"package.module:function or a file of word vectors{hint_at(name, ENCODERS)}"
    )


@cache
def _transformer(name: str) -> Encode:
    try:
        library = resolve_name("sentence_transformers")
    except ImportError:
        raise InputError(
            "sentence-transformers is not installed: run pip install sentence-transformers"
        ) from None
    try:
        model = library.SentenceTransformer(name)
    except Exception as error:  # of whatever kind the library has
        said = (str(error).splitlines() or [""])[0]
        raise InputError(f"the model {name!r} cannot be loaded: {said}") from error
    return lambda texts: model.encode(list(texts), show_progress_bar=False)


def dot_products(left: Array, right: Array, left_rows: Ints, right_rows: Ints32) -> Array:
    """Products of the named rows, two by two; the same two have the same product anywhere."""
    products = np.empty(len(left_rows))
    _kernel.dot_products(left, right, left_rows, right_rows, products)
    return products


def _to_length_one(sums: Array, squares: Array) -> Array:
    lengths = np.sqrt(squares)[:, np.newaxis]
    return np.divide(sums, lengths, out=sums, where=lengths > 0.0)


@dataclass(frozen=True, slots=True, eq=False)
class WordAverages:
    """The mean of a text's word vectors, each of length 1 (Tsuta et al. 2020).

    Parameters
    ----------
    words : WordVectors
    unknown : {"unk", "skip"}
        A word without a vector has that of `<unk>` or `unk`, if there is one; or it does not count.
    tokenize : str, optional
        What a word is (`deltableu.text.WordRule`): that of the vectors, where they know it, and
        `words` by default where they do not.
    """

    words: WordVectors
    unknown: Unknown = "unk"
    tokenize: str | None = None
    _rule: WordRule = field(init=False, repr=False)
    _vocabulary: WordNumbers = field(init=False, repr=False)
    _matrix: Singles = field(init=False, repr=False)
    _unknown: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        check_choice("unknown", self.unknown, get_args(Unknown))
        known = self.words.tokenize
        if None not in (known, self.tokenize) and known != self.tokenize:
            raise InputError(
                f"the word vectors are of words by the rule {known!r}, and texts are to be cut by "
                f"{self.tokenize!r}: use tokenize={known!r}, or train vectors of such words"
            )
        rule = WordRule(self.tokenize or known or "words")
        # What is no single word ("u.s.") is never looked up; of "The" and "the" the first counts.
        keys = self.words.keys(rule)
        (single,) = np.nonzero(keys != b"")
        if not len(single):
            raise InputError("the word vectors hold no word that texts are cut into")
        matrix = self.words.matrix32[single]
        unknown = -1
        if self.unknown == "unk":
            named = (self.words.rows[name] for name in _UNK if name in self.words.rows)
            if (row := next(named, None)) is not None:
                matrix = np.vstack((matrix, self.words.matrix32[row]))
                unknown = len(matrix) - 1
        object.__setattr__(self, "tokenize", rule.tokenize)
        object.__setattr__(self, "_rule", rule)
        object.__setattr__(self, "_vocabulary", WordNumbers.of(keys[single]))
        object.__setattr__(self, "_matrix", np.ascontiguousarray(matrix))
        object.__setattr__(self, "_unknown", unknown)

    @property
    def signature(self) -> str:
        """All that vectors depend on, in one line."""
        return f"words:{self.words.digest()}|unknown:{self.unknown}"

    def digest(self) -> str:
        """A short hash of words and vectors, for signatures."""
        return self.words.digest()

    @property
    def own_threads(self) -> bool:
        """One core makes them."""
        return False

    @property
    def dimension(self) -> int:
        """How many numbers a vector has."""
        return int(self._matrix.shape[1])

    def vectors(self, texts: Texts) -> Array:
        """One row a text; 0 where none of its words has a vector."""
        hashed = self._rule.hash(texts)
        terms = self._vocabulary.find(hashed.keys)
        sums = np.zeros((len(texts), self.dimension))
        squares = np.empty(len(texts))
        _kernel.add_words(terms, hashed.bounds, self._matrix, self._unknown, sums, squares)
        return _to_length_one(sums, squares)


@dataclass(frozen=True, slots=True)
class Encoder:
    """Vectors from any function of a list of texts.

    Parameters
    ----------
    encode : callable or str
        From texts to an array, a row a text; or `package.module:function`, which is imported where
        the work is done, or `sentence-transformers:MODEL`. The vector of a text should not depend
        on the other texts of a call, or results will depend on partitions.
    name : str, optional
        What signatures call it; the function's own name by default.
    """

    encode: Encode | str
    name: str | None = None

    def __post_init__(self) -> None:
        _load(self.encode)

    @property
    def signature(self) -> str:
        """All that vectors depend on, as far as it is known."""
        if self.name is not None:
            return f"encoder:{self.name}"
        if isinstance(self.encode, str):
            return f"encoder:{self.encode}"
        name = getattr(self.encode, "__qualname__", type(self.encode).__qualname__)
        return f"encoder:{getattr(self.encode, '__module__', '')}:{name}"

    def digest(self) -> str:
        """A short hash of how alike a few texts are to it, for signatures.

        Rounded, so that the last digits of another machine do not matter.
        """
        made = self.vectors(Texts.of(_PROBES))
        alike = np.round(made @ made.T, 3) + 0.0
        return hashlib.blake2b(alike.astype("<f8").tobytes(), digest_size=4).hexdigest()

    @property
    def own_threads(self) -> bool:
        """Encoders mostly use all cores."""
        return True

    def vectors(self, texts: Texts) -> Array:
        """One row a text, scaled to length 1."""
        encode = _load(self.encode)
        try:
            given = encode([texts[number] for number in range(len(texts))])
        except InputError:
            raise
        except Exception as error:
            kind = type(error).__name__
            raise InputError(
                f"{self.signature} failed on {len(texts)} texts: {kind}: {error}"
            ) from error
        try:
            found = np.array(given, dtype=np.float64, order="C")
        except (TypeError, ValueError):
            raise InputError(f"{self.signature} did not give an array of numbers") from None
        if found.ndim != 2 or len(found) != len(texts):
            raise InputError(
                f"{self.signature} gave an array of shape {found.shape} for {len(texts)} texts; it "
                "must give a row a text"
            )
        if not np.isfinite(found).all():
            number = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
            raise InputError(
                f"{self.signature} gave numbers that are not finite for {texts[number][:60]!r}"
            )
        rows = np.arange(len(found))
        squares = dot_products(found, found, rows, rows.astype(np.int32))
        return _to_length_one(found, squares)


def _load(encode: Encode | str) -> Encode:
    if not isinstance(encode, str):
        if not callable(encode):
            raise InputError(f"an encoder must be a function of a list of texts, got {encode!r}")
        return encode
    if encode.startswith(_TRANSFORMERS):
        return _transformer(encode.removeprefix(_TRANSFORMERS))
    if not all(encode.partition(":")):
        raise InputError(f"an encoder is named package.module:function, got {encode!r}")
    try:
        found: Any = resolve_name(encode)
    except (ImportError, AttributeError, ValueError) as error:
        raise InputError(f"the encoder {encode!r} cannot be loaded: {error}") from None
    if not callable(found):
        raise InputError(f"the encoder {encode!r} is no function")
    loaded: Encode = found
    return loaded
