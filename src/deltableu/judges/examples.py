"""Logged pairs in, labelled examples for one epoch out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np

from deltableu._types import Bytes, Ints
from deltableu.errors import InputError, check_at_least, check_choice
from deltableu.judges.settings import Negatives
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.neural import Split, starts_of
from deltableu.stats import stream

_DRAW = 15  # a key of random streams
#: Rounds of swaps; only where one utterance has nearly half of all examples are they too few.
_ROUNDS = 64


@dataclass(frozen=True, slots=True, eq=False)
class Examples:
    """Two rows of `TrainingPairs` each, in random order.

    Attributes
    ----------
    first, second : array
        Rows.
    labels : array
        1 where both are of the same utterance, else 0.
    """

    first: Ints
    second: Ints
    labels: Bytes

    def __len__(self) -> int:
        return len(self.labels)


def draw_examples(
    pairs: TrainingPairs,
    split: Split,
    *,
    seed: int,
    epoch: int,
    negatives: Negatives = "matched",
    most: int | None = None,
) -> Examples:
    """Draw as many positive as negative examples, afresh for every epoch.

    The responses of an utterance form a ring of random order, and neighbours are positive
    examples: k of them where there are k > 2 responses, one where there are two.

    Parameters
    ----------
    pairs
    split : {"training", "validation"}
        Whose utterances to draw from.
    seed, epoch : int
    negatives : {"matched", "random"}
        The rows of the positive examples, each in its place as often as there, but with a row of
        another utterance; so that nothing but belonging together tells the two apart. Or two
        random rows of the logs that are of different utterances, as Tsuta et al. (2020) have it.
    most : int, optional
        Positive examples, at most.

    Notes
    -----
    Matched examples do not exist where an utterance has more than half of the positive ones; then
    some of these are left out.
    """
    check_choice("split", split, get_args(Split))
    check_choice("negatives", negatives, get_args(Negatives))
    if most is not None:
        check_at_least("most", most, 2)
    check_at_least("seed", seed, 0)
    check_at_least("epoch", epoch, 0)
    rng = stream(seed, _DRAW, get_args(Split).index(split), epoch)
    first, second = _positives(pairs, split, rng)
    chosen = choose_examples(pairs.groups[first], rng, most, balanced=negatives == "matched")
    first, second = first[chosen], second[chosen]
    if negatives == "matched":
        others = (first, second[unlike(pairs.groups[first], rng)])
    else:
        others = _random_rows(pairs, split, len(first), rng)
    labels = np.repeat(np.array([1, 0], np.uint8), len(first))
    order = rng.permutation(len(labels))
    return Examples(
        np.concatenate((first, others[0]))[order],
        np.concatenate((second, others[1]))[order],
        labels[order],
    )


def rows_of(pairs: TrainingPairs, split: Split, part: slice) -> Ints:
    """Rows of a part of the pairs whose utterances are of the split."""
    wanted = pairs.validation == (split == "validation")
    rows: Ints = np.flatnonzero(wanted[pairs.groups[part]]) + part.start
    return rows[np.argsort(pairs.groups[rows], kind="stable")]


def _positives(pairs: TrainingPairs, split: Split, rng: np.random.Generator) -> tuple[Ints, Ints]:
    rows = rows_of(pairs, split, slice(0, pairs.counts.responses))
    groups = pairs.groups[rows]
    ring = rows[np.lexsort((rng.random(len(rows)), groups))]
    starts = starts_of(groups)
    sizes = np.diff(starts)
    after = np.arange(1, len(ring) + 1)
    after[starts[1:] - 1] = starts[:-1]
    # A ring of two has the same neighbours twice.
    once = np.ones(len(ring), np.bool_)
    once[starts[1:][sizes == 2] - 1] = False
    ends = np.stack((ring, ring[after]))[:, once]
    turned = rng.random(ends.shape[1]) < 0.5
    return np.where(turned, ends[1], ends[0]), np.where(turned, ends[0], ends[1])


def choose_examples(
    groups: Ints, rng: np.random.Generator, most: int | None, *, balanced: bool
) -> Ints:
    """Random positive examples; if `balanced`, no utterance has more than half of them."""
    size = len(groups)
    wanted = size if most is None else min(most, size)
    if not balanced:
        return rng.permutation(size)[:wanted]
    numbers = np.unique(groups, return_counts=True)[1]
    wanted = min(wanted, 2 * (size - int(numbers.max(initial=0))))
    order = rng.permutation(size)
    by_group = np.argsort(groups[order], kind="stable")
    starts = starts_of(groups[order][by_group])
    within = np.empty(size, np.int64)
    within[by_group] = np.arange(size) - np.repeat(starts[:-1], np.diff(starts))
    return order[within < wanted // 2][:wanted]


def unlike(groups: Ints, rng: np.random.Generator) -> Ints:
    """A random permutation that gives every example one of another group.

    No group has more than half of the examples.
    """
    size = len(groups)
    found = rng.permutation(size)
    for _ in range(_ROUNDS):
        (alike,) = np.nonzero(groups == groups[found])
        if not len(alike):
            return found
        partners = rng.integers(size, size=len(alike))
        # Each one may be swapped once in a round.
        _, firsts, counts = np.unique(
            np.concatenate((alike, partners)), return_index=True, return_counts=True
        )
        free = np.zeros(2 * len(alike), np.bool_)
        free[firsts[counts == 1]] = True
        fits = (groups[alike] != groups[found[partners]]) & (groups[partners] != groups[alike])
        swap = fits & free[: len(alike)] & free[len(alike) :]
        one, other = alike[swap], partners[swap]
        found[one], found[other] = found[other], found[one]
    # Sorted by group and moved by the size of the largest one, nothing meets its own group.
    _, names, numbers = np.unique(groups, return_inverse=True, return_counts=True)
    shuffled = rng.permutation(len(numbers))[names]
    order = np.lexsort((rng.random(size), shuffled))
    found[order] = np.roll(order, -int(numbers.max(initial=0)))
    return found


def _random_rows(
    pairs: TrainingPairs, split: Split, size: int, rng: np.random.Generator
) -> tuple[Ints, Ints]:
    """Any two random rows of different utterances are equally likely."""
    rows = rows_of(pairs, split, slice(pairs.counts.responses, len(pairs.groups)))
    starts = starts_of(pairs.groups[rows])
    sizes = np.diff(starts)
    if len(sizes) < 2:
        raise InputError(
            f"there are no two random rows of different utterances for {split}: keep more "
            f"other rows (there are {pairs.counts.other}), or use matched negatives"
        )
    partners = np.repeat(len(rows) - sizes, sizes)
    steps = np.cumsum(partners)
    one = np.searchsorted(steps, rng.integers(steps[-1], size=size), side="right")
    ends = np.repeat(starts[1:], sizes)[one]
    other = (ends + rng.integers(partners[one])) % len(rows)
    return rows[one], rows[other]
