"""Texts -> keys that are equal where the texts say the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deltableu import _kernels
from deltableu._types import Bools, Keys
from deltableu.text.keys import empty_keys, halves, lanes, span_keys, unset_keys
from deltableu.text.texts import Texts
from deltableu.text.words import character_tables, spelling_parts

_kernel = _kernels.load("text._words")


@dataclass(frozen=True, slots=True, eq=False)
class TextKeys:
    """What `text_keys` gives.

    Attributes
    ----------
    keys : array
        Equal where texts are the same; `b""` of a text that is blank.
    worded : array
        Whether a text has a letter, a digit or a picture.
    """

    keys: Keys
    worded: Bools


def text_keys(texts: Texts | Sequence[str]) -> TextKeys:
    """Keys by which leaks, duplicates and overlap are found: the one rule of what is the same.

    Two texts are the same where they have the same letters, digits and pictures (and the marks
    above and below letters) in the same order. Case, punctuation and white space do not matter.
    So a text is the same before and after tokenisation, whichever tokenizer cut it ("it's fine",
    "it 's fine" and "It s fine!"; "你好 吗" and "你好吗"), and the rule knows no language. The
    price is that "no where" is "nowhere", which hardly ever matters for a whole text.

    A text without a letter, a digit or a picture is what is left of it without white space, so
    that ":-)" differs from ":-(".

    Examples
    --------
    >>> keys = text_keys(["It's fine!", "it s  fine", "a_b", "a b", ":-)", ": - )", " "]).keys
    >>> bool(keys[0] == keys[1] and keys[2] == keys[3] and keys[4] == keys[5]), keys[6]
    (True, np.bytes_(b''))
    """
    if not isinstance(texts, Texts):
        texts = Texts.of(texts)
    keys = unset_keys(len(texts))
    worded = np.empty(len(texts), dtype=np.bool_)
    for begin, part, spelt, bounds in spelling_parts(texts):
        _kernel.spell_texts(
            part.data, part.starts, part.ends, *character_tables(),
            spelt, bounds, worded[begin:].view(np.uint8),
        )  # fmt: skip
        span_keys(spelt, bounds[: len(part)], bounds[1 : len(part) + 1], keys[begin:])
    return TextKeys(keys, worded)


def text_ends(texts: Texts) -> Keys:
    """Both ends of texts: where those of two are not `b""` and differ, `text_keys` do so too.

    This takes a fraction of the time, and where most texts differ it spares them the keys.

    Examples
    --------
    >>> ends = text_ends(Texts.of(["It's fine!", "it s  fine", "It's not fine", "\u00e9"]))
    >>> bool(ends[0] == ends[1]), bool(ends[0] == ends[2]), ends[3]
    (True, False, np.bytes_(b''))
    """
    ends = unset_keys(len(texts))
    plain = character_tables()[2]
    _kernel.text_ends(texts.data, texts.starts, texts.ends, plain, lanes(ends))
    return ends


def spelt_ends(texts: Texts) -> Keys:
    """The ends that those of texts that are the same as these may have; `b""` where none has any.

    They are not `text_ends` where what stands between letters is beyond ASCII.
    """
    found = [empty_keys(0)]
    for _, part, spelt, bounds in spelling_parts(texts):
        worded = np.empty(len(part), np.uint8)
        tables = character_tables()
        _kernel.spell_texts(part.data, part.starts, part.ends, *tables, spelt, bounds, worded)
        data, count = spelt[: bounds[len(part)]].tobytes(), len(part)
        found.append(text_ends(Texts(data, bounds[:count].copy(), bounds[1 : count + 1].copy())))
    return np.concatenate(found)


def may_be_same(ends: Keys, others: Keys) -> Bools:
    """Where the ends of texts do not tell them apart."""
    (first, one), (second, other) = halves(ends), halves(others)
    same: Bools = (first == second) & (one == other)
    same |= (one == 0) | (other == 0)
    return same


def same_text(one: str, other: str) -> bool:
    """Whether two texts are the same, as `text_keys` has it.

    Examples
    --------
    >>> same_text("Oh,  REALLY?", "oh really"), same_text("yes", "no")
    (True, False)
    """
    first, second = text_keys([one, other]).keys.tolist()
    return bool(first == second)
