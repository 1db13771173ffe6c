"""How candidates are related to the message they answer, as numbers to rank them by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError
from deltableu.text import Texts, WordNumbers, WordRule, empty_keys

#: In the order of the columns of `message_features`.
MESSAGE_FEATURES = ("edit-distance", "cosine", "jaccard", "length-ratio")

#: Cells of tables of edit distances that are worked on at once.
_CELLS = 1 << 20


def message_features(
    texts: Sequence[str], messages: Sequence[str], *, tokenize: str = "words"
) -> Array:
    """Features of candidates and the messages they answer (Galley et al. 2015, section 4.2).

    The columns are `MESSAGE_FEATURES`. Edit distance: words to insert, delete or replace, divided
    by the words of the longer text. Cosine of the counts of words. Jaccard index of the sets of
    words (the paper's Jaccard distance is 1 minus it). Length ratio: words of the candidate to
    words of the message, which count as 1 where there are none. What has no words is like nothing.

    Parameters
    ----------
    texts, messages
        Candidates, and the message of each.
    tokenize : str
        What a word is (`deltableu.text.WordRule`).

    Returns
    -------
    array
        A row per candidate.

    Examples
    --------
    >>> message_features(["how are you", "fine"], ["how are they", "and you"]).round(3)
    array([[0.333, 0.667, 0.5  , 1.   ],
           [1.   , 0.   , 0.   , 0.5  ]])
    """
    if len(texts) != len(messages):
        raise InputError(f"there are {len(texts)} texts, but {len(messages)} messages")
    if not texts:
        return np.empty((0, len(MESSAGE_FEATURES)))
    rule, table = WordRule(tokenize), WordNumbers.of(empty_keys(0))
    (words, bounds), (others, other_bounds) = (
        (table.add(cut.keys)[0].astype(np.int64), cut.bounds)
        for cut in (rule.hash(Texts.of(texts)), rule.hash(Texts.of(messages)))
    )
    lengths, other_lengths = np.diff(bounds), np.diff(other_bounds)
    distances = edit_distances(words, bounds, others, other_bounds)
    mine, theirs = _counts(words, bounds, table.size), _counts(others, other_bounds, table.size)
    products = _row_sums(mine.multiply(theirs))
    squares = _row_sums(mine.multiply(mine)) * _row_sums(theirs.multiply(theirs))
    for counts in (mine, theirs):
        counts.data[:] = 1.0
    common = _row_sums(mine.multiply(theirs))
    either = _row_sums(mine) + _row_sums(theirs) - common
    return np.column_stack(
        (
            distances / np.maximum(np.maximum(lengths, other_lengths), 1),
            products / np.sqrt(np.maximum(squares, 1.0)),
            common / np.maximum(either, 1.0),
            lengths / np.maximum(other_lengths, 1),
        )
    )


def _counts(words: Ints, bounds: Ints, size: int) -> Any:
    """Texts x words, as scipy's sparse rows."""
    from scipy.sparse import csr_array

    shape = (len(bounds) - 1, max(size, 1))
    counts = csr_array((np.ones(len(words)), words, bounds.copy()), shape)
    counts.sum_duplicates()
    return counts


def _row_sums(counts: Any) -> Array:
    return np.asarray(counts.sum(axis=1), np.float64).ravel()


def edit_distances(words: Ints, bounds: Ints, others: Ints, other_bounds: Ints) -> Ints:
    """Levenshtein distance of each pair of sequences of numbers.

    Pairs of equal length on one side are worked on together, a row of their tables at a time.

    References
    ----------
    Wagner and Fischer (1974). The string-to-string correction problem.

    Examples
    --------
    >>> bounds = np.array([0, 3])
    >>> edit_distances(np.array([1, 2, 3]), bounds, np.array([1, 3, 4]), bounds).tolist()
    [2]
    """
    lengths, other_lengths = np.diff(bounds), np.diff(other_bounds)
    found = np.empty(len(lengths), np.int64)
    order = np.lexsort((lengths, other_lengths))
    begin = 0
    while begin < len(order):
        steps = int(other_lengths[order[begin]])
        same = int(np.searchsorted(other_lengths[order], steps, side="right"))
        # As many as fit, with room for the longest of them; those are in order.
        widths = lengths[order[begin:same]] + 1
        fits = int(np.searchsorted(widths * np.arange(1, len(widths) + 1), _CELLS, side="right"))
        pairs = order[begin : begin + max(fits, 1)]
        left = _padded(words, bounds[pairs], lengths[pairs], int(widths[len(pairs) - 1]) - 1)
        right = _padded(others, other_bounds[pairs], other_lengths[pairs], steps)
        found[pairs] = _last_rows(left, right)[np.arange(len(pairs)), lengths[pairs]]
        begin += len(pairs)
    return found


def _padded(words: Ints, starts: Ints, lengths: Ints, width: int) -> Ints:
    """Sequences as rows; -1 stands behind the shorter ones."""
    within = np.arange(width)
    places = np.minimum(starts[:, np.newaxis] + within, max(len(words) - 1, 0))
    if not len(words):
        return np.full(places.shape, -1, np.int64)
    return np.where(within < lengths[:, np.newaxis], words[places], -1)


def _last_rows(left: Ints, right: Ints) -> Ints:
    """The last row of the table of each pair: distances of `right` from beginnings of `left`."""
    steps = np.arange(left.shape[1] + 1)
    row = np.broadcast_to(steps, (len(left), len(steps))).copy()
    for place in range(right.shape[1]):
        replaced = row[:, :-1] + (left != right[:, place : place + 1])
        below = row + 1
        below[:, 1:] = np.minimum(below[:, 1:], replaced)
        # An insertion costs 1 more than what stands before it.
        row = np.minimum.accumulate(below - steps, axis=1) + steps
    return row
