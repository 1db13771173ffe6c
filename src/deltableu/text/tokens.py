"""Texts -> tokens: how a text is cleaned and cut, and the arrays of token keys that result."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import IntEnum
from itertools import pairwise
from typing import Literal

import numpy as np

from deltableu import _kernels
from deltableu._types import Ints, Keys
from deltableu.errors import InputError, hint_at
from deltableu.text.keys import empty_longs, key_longs, lanes, unset_keys
from deltableu.text.peers import PEER_TOKENIZERS, peer_tokenizer
from deltableu.text.texts import Texts

Tokenize = str | Callable[[str], str | Iterable[str]]
Normalization = Literal["NFC", "NFKC"]

_kernel = _kernels.load("text._tokens")
_BEGINNING = np.zeros(1, dtype=np.int64)
_NO_SPANS = np.empty((2, 0), dtype=np.int64)

_UNIT_SEPARATOR = "\x1f"


class ByteClass(IntEnum):
    """What a byte does to the token being read; the kernel knows these numbers."""

    LETTER = 0
    SPACE = 1  # ends a token
    SYMBOL = 2  # a token by itself (13a, first rule)
    DIGIT = 3
    POINT = 4  # . and , stay only between digits (13a, second and third rule)
    DASH = 5  # a token by itself after a digit (13a, fourth rule)
    LEAD = 6  # may begin a white space character beyond ASCII


def _white_space() -> bytearray:
    table = bytearray(256)
    for byte in (*range(0x09, 0x0E), *range(0x1C, 0x21)):
        table[byte] = ByteClass.SPACE
    for byte in (0xC2, 0xE1, 0xE2, 0xE3):
        table[byte] = ByteClass.LEAD
    return table


def _mteval_13a() -> bytes:
    table = _white_space()
    for byte in b'{|}~[\\]^_`!"#$%&()*+:;<=>?@/':
        table[byte] = ByteClass.SYMBOL
    for byte in b"0123456789":
        table[byte] = ByteClass.DIGIT
    for byte in b".,":
        table[byte] = ByteClass.POINT
    table[ord("-")] = ByteClass.DASH
    return bytes(table)


def _unit_separated() -> bytes:
    table = bytearray(256)
    table[ord(_UNIT_SEPARATOR)] = ByteClass.SPACE
    return bytes(table)


WHITE_SPACE_CLASSES = bytes(_white_space())
_13A_CLASSES = _mteval_13a()
_UNIT_CLASSES = _unit_separated()

#: Names that `tokenize=` takes; the last ones need sacreBLEU's extras.
TOKENIZERS: tuple[str, ...] = ("none", "13a", *PEER_TOKENIZERS)


@dataclass(frozen=True, slots=True)
class TokenArrays:
    """Keys of the tokens of many texts; text i has `keys[bounds[i]:bounds[i + 1]]`.

    Equal keys are equal tokens, see `deltableu.text.keys.span_keys`.
    """

    keys: Keys
    bounds: Ints


@dataclass(frozen=True, slots=True)
class Tokenizer:
    """How texts are cleaned and cut into tokens.

    Parameters
    ----------
    tokenize : str or callable
        `none` (white space), `13a`, `char`, `intl`, `zh`, ..., as sacreBLEU defines them, or a
        function from a text to its tokens (or to a text whose words are the tokens).
    lowercase : bool
    normalize : {"NFC", "NFKC"}, optional
    strip_punctuation : bool
        Drop every character of a Unicode punctuation category first.

    Examples
    --------
    >>> Tokenizer("13a").tokens("It costs $1,000.50, doesn't it?")
    ['It', 'costs', '$', '1,000.50', ',', "doesn't", 'it', '?']
    >>> Tokenizer("none", lowercase=True, strip_punctuation=True).tokens("I always do.")
    ['i', 'always', 'do']
    """

    tokenize: Tokenize = "13a"
    lowercase: bool = False
    normalize: Normalization | None = None
    strip_punctuation: bool = False

    def __post_init__(self) -> None:
        if isinstance(self.tokenize, str):
            if self.tokenize not in TOKENIZERS:
                there, meant = ", ".join(TOKENIZERS), hint_at(self.tokenize, TOKENIZERS)
                raise InputError(
                    f"unknown tokenizer {self.tokenize!r}; choose one of {there}{meant}"
                )
        elif not callable(self.tokenize):
            raise InputError(f"tokenize must be a name or a function, got {self.tokenize!r}")
        if self.normalize not in (None, "NFC", "NFKC"):
            raise InputError(f"normalize must be NFC, NFKC or None, got {self.normalize!r}")

    @property
    def name(self) -> str:
        """The name that goes into a signature."""
        if isinstance(self.tokenize, str):
            return self.tokenize
        module = getattr(self.tokenize, "__module__", "")
        return f"{module}.{getattr(self.tokenize, '__qualname__', type(self.tokenize).__name__)}"

    def hash(self, texts: Sequence[str], raw: Texts | None = None) -> TokenArrays:
        """Token keys of all texts; `raw` are the same, where they are joined already."""
        return _key_tokens(*self._prepare(texts, raw), _NO_SPANS)

    def hash_one(self, text: str) -> TokenArrays:
        """What `hash([text])` gives, sooner: for loops over single texts."""
        if type(text) is str and not self._cleans:
            if self.tokenize == "none":
                classes = WHITE_SPACE_CLASSES
            elif self.tokenize == "13a" and _is_plain_13a(text):
                classes = _13A_CLASSES
            else:
                return self.hash([text])
            try:
                data = text.encode()
            except UnicodeEncodeError:
                return self.hash([text])  # which says what is wrong
            return _key_tokens(Texts(data, _BEGINNING, np.array([len(data)])), classes, _NO_SPANS)
        return self.hash([text])

    def tokens(self, text: str) -> list[str]:
        """The tokens of one text, as strings."""
        return self.tokens_of([text])[0]

    def tokens_of(self, texts: Sequence[str]) -> list[list[str]]:
        """The tokens of each text, as strings."""
        if not texts:
            return []
        tokens, bounds = self.spans(texts)
        words = tokens.strings()
        return [words[begin:end] for begin, end in pairwise(bounds.tolist())]

    def spans(self, texts: Sequence[str]) -> tuple[Texts, Ints]:
        """All tokens, as they are spelt, and the bounds of each text among them."""
        cleaned, classes = self._prepare(texts, None)
        spans = np.empty((2, max(1, cleaned.size)), dtype=np.int64)
        found = _key_tokens(cleaned, classes, spans)
        begins, stops = spans[:, : len(found.keys)]
        return Texts(cleaned.data, begins, stops), found.bounds

    def _prepare(self, texts: Sequence[str], raw: Texts | None) -> tuple[Texts, bytes]:
        """The texts as the kernel cuts them, and the table of byte classes that cuts them."""
        if self._cleans or self.tokenize not in ("none", "13a"):
            Texts.of(texts)  # complains of what is no text, before anything is changed
        if self._cleans:
            texts, raw = self._clean(texts), None
        if self.tokenize == "none":
            return raw or Texts.of(texts), WHITE_SPACE_CLASSES
        if self.tokenize == "13a":
            return _unescape_13a(texts, raw or Texts.of(texts)), _13A_CLASSES
        if isinstance(self.tokenize, str):
            tokenizer = peer_tokenizer(self.tokenize)
            # Trailing white space goes first, as sacreBLEU has it.
            return Texts.of([tokenizer(text.rstrip()) for text in texts]), WHITE_SPACE_CLASSES
        return _call_tokenizer(self.tokenize, texts)

    @property
    def _cleans(self) -> bool:
        return self.lowercase or self.strip_punctuation or self.normalize is not None

    def _clean(self, texts: Sequence[str]) -> list[str]:
        """Normalise, lower-case and strip; all texts at once where no text holds a newline."""
        joined = "\n".join(texts)
        if joined.count("\n") == len(texts) - 1:
            return self._clean_text(joined).split("\n")
        return [self._clean_text(text) for text in texts]

    def _clean_text(self, text: str) -> str:
        if self.normalize is not None:
            text = unicodedata.normalize(self.normalize, text)
        if self.lowercase:
            text = text.lower()
        if self.strip_punctuation:
            text = text.translate(_WITHOUT_PUNCTUATION)
        return text


class _WithoutPunctuation(dict[int, int | None]):
    """A translation table that learns each character at its first use."""

    def __missing__(self, point: int) -> int | None:
        kept = None if unicodedata.category(chr(point)).startswith("P") else point
        self[point] = kept
        return kept


_WITHOUT_PUNCTUATION = _WithoutPunctuation()


def _key_tokens(texts: Texts, classes: bytes, spans: Ints) -> TokenArrays:
    # A text of n bytes has at most n tokens.
    keys = unset_keys(texts.size)
    longs = empty_longs(texts.size)
    bounds = np.empty(len(texts) + 1, dtype=np.int64)
    places = (texts.data, texts.starts, texts.ends)
    listed = _kernel.key_tokens(*places, classes, lanes(keys), longs, bounds, spans)
    numbers, begins, stops = longs[:, :listed]
    key_longs(texts.data, begins, stops, numbers, keys)
    return TokenArrays(keys[: bounds[-1]], bounds)


def _is_plain_13a(text: str) -> bool:
    """Whether there is nothing to do for `_unescape_13a`."""
    return not ("\n" in text or "&" in text or "<skipped>" in text)


def _unescape_13a(texts: Sequence[str], joined: Texts) -> Texts:
    """What mteval-v13a does before its rules: hyphenated line ends, <skipped>, four entities."""
    if not joined.lines:
        return Texts.of_lines(
            b"\n".join(_unescape(_unwrap(text.rstrip())).encode() for text in texts)
        )
    if b"&" in joined.data or b"<skipped>" in joined.data:
        text = joined.data.decode().replace("<skipped>", "")
        return Texts.of_lines(_unescape(text).encode())
    return joined


def _unwrap(text: str) -> str:
    return text.replace("<skipped>", "").replace("-\n", "").replace("\n", " ")


def _unescape(text: str) -> str:
    text = text.replace("&quot;", '"').replace("&amp;", "&")
    return text.replace("&lt;", "<").replace("&gt;", ">")


def _call_tokenizer(
    function: Callable[[str], str | Iterable[str]], texts: Sequence[str]
) -> tuple[Texts, bytes]:
    """Tokens from the caller's function: a text to split at white space, or a list of tokens."""
    results = [function(text) for text in texts]
    if all(isinstance(result, str) for result in results):
        return Texts.of([str(result) for result in results]), WHITE_SPACE_CLASSES
    lines = []
    for text, result in zip(texts, results, strict=True):
        words = result.split() if isinstance(result, str) else list(result)
        if not all(isinstance(word, str) for word in words):
            raise InputError(f"the tokenizer must give tokens that are strings, for {text!r}")
        line = _UNIT_SEPARATOR.join(words)
        if line.count(_UNIT_SEPARATOR) != max(0, len(words) - 1) or "" in words:
            raise InputError(
                f"the tokenizer gave an empty token or one with the control character U+001F "
                f"for {text!r}"
            )
        lines.append(line)
    return Texts.of(lines), _UNIT_CLASSES
