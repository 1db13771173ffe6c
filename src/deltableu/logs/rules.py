"""What a dialogue is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from deltableu.errors import InputError, Problem

Users = Literal["two", "any"]
OwnReplies = Literal["drop", "keep"]

#: Who gives chat models orders or data, but takes no part in the conversation.
SILENT_ROLES = ("system", "developer", "tool", "function")
#: Seconds; times are whole milliseconds, of which there are not endlessly many.
_LONGEST_SKEW = 1e12


@dataclass(frozen=True, slots=True)
class PairRules:
    """Which posts make a dialogue, and which of its pairs are wanted.

    A dialogue begins with a root, which is neither a reply nor a repost, and follows replies from
    there for as long as they are between two users (Ritter et al. 2010; Tsuta et al. 2020, section
    5.2). A root with several replies begins several dialogues, and so does every branch below it.
    A dialogue that is long enough gives a pair for each post and the reply to it that follows; a
    pair that several dialogues share is written once.

    Parameters
    ----------
    min_posts : int, optional
        The fewest posts of a dialogue. By default 3 for posts, and 2 for logs that come as
        dialogues already.
    users : {"two", "any"}, optional
        With `two`, a dialogue is between two users, no more and no fewer: it ends before the post
        of a third, and posts without a user are dropped. By default `two` for posts, `any` for
        dialogues.
    own_replies : {"drop", "keep"}, optional
        Whether a reply to a post of the same user ends the dialogue before it, or is followed like
        any other. By default `drop` for posts, `keep` for dialogues.
    clock_skew : float
        Seconds that a reply may be earlier than its parent: clocks differ. One that is earlier by
        more is no reply to it. Posts without a time are not looked at.
    first : bool
        Only the root and the replies to it, as upsilon-BLEU's test data has them.
    roles : sequence of str, optional
        Whose turns are utterances; others are left out, and what follows them answers what comes
        before. By default all but `SILENT_ROLES`, where logs have roles. Not for posts.
    responder : str, optional
        Only responses of this role (or speaker) make pairs. Not for posts.
    """

    min_posts: int | None = None
    users: Users | None = None
    own_replies: OwnReplies | None = None
    clock_skew: float = 300.0
    first: bool = False
    roles: Sequence[str] | None = None
    responder: str | None = None

    def __post_init__(self) -> None:
        if self.min_posts is not None and self.min_posts < 2:
            message = f"must be at least 2, which make a pair, got {self.min_posts}"
            raise InputError(Problem(message, field="min_posts"))
        if self.users not in (None, "two", "any"):
            raise InputError(Problem(f"must be two or any, got {self.users!r}", field="users"))
        if self.own_replies not in (None, "drop", "keep"):
            message = f"must be drop or keep, got {self.own_replies!r}"
            raise InputError(Problem(message, field="own_replies"))
        if not 0.0 <= self.clock_skew <= _LONGEST_SKEW:
            message = f"must be from 0 to {_LONGEST_SKEW:g} seconds, got {self.clock_skew}"
            raise InputError(Problem(message, field="clock_skew"))
        if self.roles is not None and (isinstance(self.roles, str) or not self.roles):
            message = f"must be a list of one role or more, got {self.roles!r}"
            raise InputError(Problem(message, field="roles"))
        if self.responder == "":
            raise InputError(Problem("must name a role", field="responder"))
        if self.responder and self.roles is not None and self.responder not in self.roles:
            message = (
                f"{self.responder!r} must be one of the roles, which are {', '.join(self.roles)}"
            )
            raise InputError(Problem(message, field="responder"))

    def for_posts(self) -> Rules:
        """The rules for logs of posts."""
        for name in ("roles", "responder"):
            if getattr(self, name) is not None:
                message = "is of turns and conversations, but the logs hold posts, which have users"
                raise InputError(Problem(message, field=name))
        return self._complete(3, "two", "drop")

    def for_dialogues(self) -> Rules:
        """The rules for logs that come as dialogues already."""
        return self._complete(2, "any", "keep")

    def _complete(self, min_posts: int, users: Users, own_replies: OwnReplies) -> Rules:
        return Rules(
            self.min_posts or min_posts,
            (self.users or users) == "two",
            (self.own_replies or own_replies) == "drop",
            round(self.clock_skew * 1000),
            self.first,
            None if self.roles is None else frozenset(self.roles),
            self.responder,
        )


@dataclass(frozen=True, slots=True)
class Rules:
    """`PairRules` with nothing left open."""

    min_posts: int
    two_users: bool
    drop_own_replies: bool
    clock_skew: int
    """In milliseconds."""
    first: bool
    roles: frozenset[str] | None
    responder: str | None
