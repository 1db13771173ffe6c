"""What comes out of logs: pairs, by thread."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Pair", "Thread"]


@dataclass(frozen=True, slots=True)
class Pair:
    """An utterance and a response to it.

    Attributes
    ----------
    id, time, user
        Of the response; the time in milliseconds since 1970.
    thread : str
        The id of the root, or of the dialogue.
    context : str or None
        What the utterance was a response to; None where it began the thread.
    """

    utterance: str
    response: str
    id: str
    time: int | None
    thread: str
    user: str
    context: str | None = None


@dataclass(frozen=True, slots=True)
class Thread:
    """The pairs of all dialogues that have their root in common.

    Attributes
    ----------
    time : int or None
        Of the root.
    earliest, latest : int or None
        Of the times that are known of its posts.
    posts : int
        That are in the pairs.
    """

    id: str
    time: int | None
    earliest: int | None
    latest: int | None
    posts: int
    pairs: tuple[Pair, ...]
