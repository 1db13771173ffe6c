"""Logged pairs in; messages with their replies, and replies to other messages, out."""

from __future__ import annotations

from typing import get_args

import numpy as np

from deltableu._types import Ints
from deltableu.errors import check_at_least, check_choice
from deltableu.judges.examples import choose_examples, rows_of, unlike
from deltableu.judges.training_pairs import TrainingPairs
from deltableu.neural import Split
from deltableu.stats import stream

_DRAW = 16  # a key of random streams


def draw_replies(
    pairs: TrainingPairs, split: Split, *, seed: int, epoch: int, most: int | None = None
) -> Ints:
    """The places of messages, of their replies and of sampled replies among the texts.

    The sampled replies are the replies themselves in another order, afresh for every epoch, each
    beside a message of other words than its own: what a reply looks like by itself tells nothing.

    Parameters
    ----------
    pairs
    split : {"training", "validation"}
        Whose messages to draw from.
    seed, epoch : int
    most : int, optional
        Examples, at most.

    Returns
    -------
    array of three columns
    """
    check_choice("split", split, get_args(Split))
    check_at_least("seed", seed, 0)
    rng = stream(seed, _DRAW, get_args(Split).index(split), epoch)
    rows = rows_of(pairs, split, slice(pairs.counts.responses, len(pairs.groups)))
    rows = rows[choose_examples(pairs.groups[rows], rng, most, balanced=True)]
    others = rows[unlike(pairs.groups[rows], rng)]
    columns = (pairs.utterances[rows], pairs.responses[rows], pairs.responses[others])
    return np.stack(columns, axis=1).astype(np.int64)
