"""Turns of conversations as numbers in; padded arrays out."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from deltableu._types import Ints
from deltableu.neural import EncodedTexts

#: What every text ends with, what separates turns, and what the decoder begins with: the number
#: that vocabularies keep for padding.
END = 0


@dataclass(frozen=True, slots=True, eq=False)
class Padded:
    """Texts below each other in columns, each with its end, and filled up with ends.

    Attributes
    ----------
    numbers : array
        step, text
    lengths : array
        With the end.
    """

    numbers: Ints
    lengths: Ints


def padded(texts: EncodedTexts, chosen: Ints) -> Padded:
    """Some texts in columns.

    Examples
    --------
    >>> texts = EncodedTexts(np.array([7, 8, 9], np.int32), np.array([0, 1, 3]))
    >>> padded(texts, np.array([0, 1])).numbers
    array([[7, 8],
           [0, 9],
           [0, 0]])
    """
    starts = texts.bounds[chosen]
    lengths = texts.bounds[chosen + 1] - starts
    steps = np.arange(int(lengths.max(initial=0)) + 1)[:, None]
    inside = steps < lengths
    found = np.full(inside.shape, END, np.int64)
    found[inside] = texts.numbers[(starts + steps)[inside]]
    return Padded(found, lengths + 1)


def joined_turns(texts: EncodedTexts, turns: Ints) -> EncodedTexts:
    """One text of the turns of each row, with an end between them; -1 is no turn.

    Examples
    --------
    >>> texts = EncodedTexts(np.array([7, 8, 9], np.int32), np.array([0, 1, 3]))
    >>> joined = joined_turns(texts, np.array([[0, 1], [-1, 0]]))
    >>> joined[0], joined[1]
    (array([7, 0, 8, 9], dtype=int32), array([7], dtype=int32))
    """
    with_end = EncodedTexts(
        np.append(texts.numbers, np.int32(END)), np.append(texts.bounds, texts.bounds[-1] + 1)
    )
    rows, width = turns.shape
    places = np.full((rows, 2 * width - 1), -1)
    places[:, ::2] = turns
    between = places[:, 1::2]
    between[turns[:, :-1] >= 0] = len(texts)
    there = places >= 0
    flat = with_end.choose(places[there])
    bounds = np.concatenate(([0], np.cumsum(there.sum(1))))
    return EncodedTexts(flat.numbers, flat.bounds[bounds])
