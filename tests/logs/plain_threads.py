"""Thread reconstruction as the definitions read, with recursion and without any care for size."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from deltableu.logs.fates import Fate
from deltableu.logs.posts import Post
from deltableu.logs.rules import Rules

Path = tuple[int, ...]


def plain_pairs(
    posts: Sequence[Post], rules: Rules
) -> tuple[list[tuple[Post | None, Post, Post, Post]], Counter[Fate]]:
    """Context, utterance, response and root of each pair, and what became of the posts."""
    return _Plain(posts, rules).run()


class _Plain:
    def __init__(self, posts: Sequence[Post], rules: Rules) -> None:
        self.posts = posts
        self.rules = rules
        self.first: dict[str, int] = {}
        self.fates: dict[int, Fate] = {}
        for place, post in enumerate(posts):
            if post.id not in self.first:
                self.first[post.id] = place
            elif posts[self.first[post.id]] == post:
                self.fates[place] = Fate.DUPLICATE
            else:
                self.fates[place] = Fate.CONFLICT

    def parent(self, place: int) -> int | None:
        return self.first.get(self.posts[place].reply_to)

    def own_fate(self, place: int) -> Fate | None:
        """Why a post is dropped, whatever became of those above it."""
        post, rules = self.posts[place], self.rules
        if post.repost:
            return Fate.REPOST
        if not post.text.strip():
            return Fate.EMPTY
        if rules.two_users and not post.user:
            return Fate.NO_USER
        if not post.reply_to:
            return None
        if post.reply_to == post.id:
            return Fate.SELF_REPLY
        above = self.parent(place)
        if above is None:
            return Fate.MISSING_PARENT
        other = self.posts[above]
        if (
            post.time is not None
            and other.time is not None
            and other.time - post.time > rules.clock_skew
        ):
            return Fate.EARLY
        if rules.drop_own_replies and post.user and post.user == other.user:
            return Fate.OWN_REPLY
        return None

    def fate_above(self, place: int, seen: Path = ()) -> Fate | None:
        """What becomes of a post because of those above it."""
        if place in seen:
            return Fate.CYCLE if place == seen[0] else Fate.CUT_OFF
        above = self.parent(place)
        if not self.posts[place].reply_to:
            return None
        if self.own_fate(above) is not None:
            return Fate.CUT_OFF
        return self.fate_above(above, (*seen, place))

    def allowed(self, path: Path) -> bool:
        users = {self.posts[place].user for place in path} - {""}
        return not self.rules.two_users or len(users) <= 2

    def dialogues(self, path: Path) -> Iterator[Path]:
        """All ways to follow replies until there are none."""
        replies = [(*path, place) for place in self.replies[path[-1]]]
        allowed = [longer for longer in replies if self.allowed(longer)]
        if not allowed:
            yield path
        for longer in allowed:
            yield from self.dialogues(longer)

    def spread(self, path: Path, fate: Fate) -> None:
        """A post that is no part of any dialogue, and all below it."""
        self.fates[path[-1]] = fate
        for place in self.replies[path[-1]]:
            self.spread((*path, place), Fate.CUT_OFF)

    def find_strangers(self, path: Path) -> None:
        for place in self.replies[path[-1]]:
            if self.allowed((*path, place)):
                self.find_strangers((*path, place))
            else:
                self.spread((*path, place), Fate.THIRD_USER)

    def run(self) -> tuple[list[tuple[Post | None, Post, Post, Post]], Counter[Fate]]:
        unique = sorted(self.first.values())
        for place in unique:
            fate = self.own_fate(place) or self.fate_above(place)
            if fate is not None:
                self.fates[place] = fate
        fine = [place for place in unique if place not in self.fates]
        self.replies: dict[int, list[int]] = {place: [] for place in fine}
        for place in fine:
            if self.posts[place].reply_to:
                self.replies[self.parent(place)].append(place)
        found: set[tuple[int, int, int, int | None]] = set()
        for root in fine:
            if not self.posts[root].reply_to:
                self.find_strangers((root,))
                for path in self.dialogues((root,)):
                    users = {self.posts[place].user for place in path}
                    if len(path) >= self.rules.min_posts and (
                        not self.rules.two_users or len(users) == 2
                    ):
                        found |= self.pairs_of(path)
        for place in fine:
            if place not in self.fates:
                lone = not self.posts[place].reply_to and not self.replies[place]
                self.fates[place] = Fate.LONE if lone else Fate.SHORT
        made = []
        posts = self.posts
        for root, response, utterance, context in sorted(found, key=lambda pair: pair[:2]):
            before = None if context is None else posts[context]
            made.append((before, posts[utterance], posts[response], posts[root]))
        return made, Counter(self.fates.values())

    def pairs_of(self, path: Path) -> set[tuple[int, int, int, int | None]]:
        pairs = set()
        for number, place in enumerate(path):
            self.fates[place] = Fate.LATER if self.rules.first and number > 1 else Fate.KEPT
            if number == 1 or (number > 1 and not self.rules.first):
                context = path[number - 2] if number > 1 else None
                pairs.add((path[0], place, path[number - 1], context))
        return pairs
