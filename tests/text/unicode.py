"""Random strings that are rich in what tokenizers trip over."""

from __future__ import annotations

import random

WHITE_SPACE = [chr(point) for point in range(0x110000) if chr(point).isspace()]

PIECES = [
    *".,-&;:!?'\"#$%()*+/<=>@[\\]^_`{|}~",
    *"0123456789" * 2,
    *".,-" * 6,
    *" " * 12,
    *"abzéßΣσςİıñж中の😀𝔘\u0301\u200b\ufeff\u00ad",
    *WHITE_SPACE,
    *map(chr, range(32)),
    "\x7f",
    "\r\n",
    "\n",
    "-\n",
    "-\r\n",
    "&quot;",
    "&amp;",
    "&lt;",
    "&gt;",
    "&apos;",
    "&amp;lt;",
    "&amp;quot;",
    "&#39;",
    "<skipped>",
    "<skip",
    "ped>",
    "1,000.50",
    "...",
    "word",
    "\x85",
    "\xc2",
    "\ue000",
    "\u2007",
    "٣",  # a digit to Python, not to 13a
    "²",
]


def random_strings(count: int, seed: int, *, newlines: bool = True) -> list[str]:
    """Mostly of `PIECES`, one character in ten from anywhere in Unicode."""
    rng = random.Random(seed)
    pieces = PIECES if newlines else [piece for piece in PIECES if "\n" not in piece]
    return ["".join(_piece(rng, pieces) for _ in range(rng.randrange(14))) for _ in range(count)]


def _piece(rng: random.Random, pieces: list[str]) -> str:
    if rng.random() > 0.1:
        return rng.choice(pieces)
    point = rng.randrange(0x80, 0x110000)
    return "" if 0xD800 <= point <= 0xDFFF else chr(point)


def chunks(texts: list[str], size: int) -> list[list[str]]:
    return [texts[start : start + size] for start in range(0, len(texts), size)]
