"""What becomes of a post: each has one fate, so that all counts together are the posts read."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from enum import Enum

import numpy as np

from deltableu._types import Bools


class Fate(Enum):
    """Why a post is in no pair, in the order in which reasons are looked for; or that it is."""

    DUPLICATE = "same id and content as an earlier one"
    CONFLICT = "same id as an earlier one, other content"
    NO_SPEAKER = "of a role that makes no utterances"
    REPOST = "a repost"
    EMPTY = "empty text"
    NO_USER = "no user"
    SELF_REPLY = "a reply to itself"
    MISSING_PARENT = "a reply to a post that is not in the logs"
    EARLY = "a reply earlier than its parent"
    OWN_REPLY = "a reply to the same user's post"
    CYCLE = "on a cycle of replies"
    THIRD_USER = "by a third user"
    CUT_OFF = "below a post that was dropped"
    LONE = "a root without replies"
    SHORT = "in no dialogue that is long enough"
    LATER = "after the first reply"
    NO_RESPONDER = "in no pair with a response of the responder"
    NO_TIME = "in a thread without a time"
    NO_PERIOD = "in a thread of no period"
    CROSSING = "in a thread that crosses periods"
    KEPT = "in pairs"


class Counts:
    """How many posts met which fate."""

    def __init__(self) -> None:
        self._counts: Counter[Fate] = Counter()

    def add(self, fate: Fate, number: int = 1) -> None:
        """Count posts."""
        self._counts[fate] += number

    def add_where(self, fate: Fate, mask: Bools) -> None:
        """Count the posts where a mask is true."""
        self._counts[fate] += int(np.count_nonzero(mask))

    def __getitem__(self, fate: Fate) -> int:
        return self._counts[fate]

    @property
    def total(self) -> int:
        """All posts that were counted."""
        return self._counts.total()

    def dropped(self) -> Mapping[str, int]:
        """What was dropped, by reason."""
        return {
            fate.name.lower(): self._counts[fate]
            for fate in Fate
            if fate is not Fate.KEPT and self._counts[fate]
        }
