"""Who gets what next: blocks, raters and answers in; leases out."""

from __future__ import annotations

import heapq
import random
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

#: Open blocks that are looked at, to take one that few have had.
_DRAWS = 32


@dataclass(slots=True)
class TaskBlock:
    """Tasks that one rater does in a row; in most campaigns a single one."""

    number: int
    wanted: int
    tasks: list[int] = field(default_factory=list)
    things: set[str] = field(default_factory=set)
    finished: set[int] = field(default_factory=set)
    """Raters who answered all of it."""
    holders: dict[int, float] = field(default_factory=dict)
    """Raters who are at it, and when that ends unless they go on."""

    @property
    def taken(self) -> int:
        """Number of raters who did it or are at it."""
        return len(self.finished) + len(self.holders)

    @property
    def is_open(self) -> bool:
        """Whether another rater can have it."""
        return self.taken < self.wanted


@dataclass(slots=True)
class RaterState:
    """What a rater did, and has."""

    answered: set[int] = field(default_factory=set)
    things: set[str] = field(default_factory=set)
    held: list[int] = field(default_factory=list)
    """Blocks, in the order in which they were given."""
    begun: set[int] = field(default_factory=set)
    """Blocks of which something was answered."""
    unfinished: set[int] = field(default_factory=set)
    """Of these, the ones of which not all was."""
    practised: int = 0


class Assignment:
    """Gives every block to as many different raters as it is for, and never twice to one.

    Blocks are drawn at random, of those that fewest have had: outputs of different systems
    alternate, every rater has an order of their own, and a campaign that is stopped early has
    spread its ratings evenly. With `priorities`, what is lowest comes first instead: a block has
    one for each rating that it still needs, the last one for the last. Who takes a block has a
    lease; when it ends, another may have the block, and what the first one answers after all is
    kept beside: only so a block gets more raters than wanted.

    Parameters
    ----------
    lease : float
        Seconds.
    per_rater : int
        Most tasks of a rater; 0 is no limit.
    seed : int or None
    """

    def __init__(self, lease: float, per_rater: int = 0, seed: int | None = None) -> None:
        self.lease = lease
        self.per_rater = per_rater
        self.blocks: dict[int, TaskBlock] = {}
        self.block_of: dict[int, int] = {}
        self.raters: dict[int, RaterState] = {}
        self.priorities: dict[int, Sequence[float]] = {}
        self._excluded: frozenset[int] = frozenset()
        self._thing: dict[int, str] = {}
        self._ends: list[tuple[float, int, int]] = []
        self._open = _Bag()
        self._held: set[int] = set()
        self._random = random.Random(seed)

    def rater(self, number: int) -> RaterState:
        """The state of a rater, who may be new."""
        return self.raters.setdefault(number, RaterState())

    def exclude(self, raters: Collection[int]) -> None:
        """Nothing of these raters counts: others get what they did. Nobody comes back in."""
        fresh = frozenset(raters) - self._excluded
        self._excluded |= fresh
        for number in fresh:
            state = self.rater(number)
            for block in [self.blocks[one] for one in {*state.begun, *state.held}]:
                block.finished.discard(number)
                block.holders.pop(number, None)
                self._settle(block)
            state.held.clear()

    def add_block(self, number: int, wanted: int) -> None:
        """Add a block, or change for how many raters it is."""
        block = self.blocks.setdefault(number, TaskBlock(number, wanted))
        block.wanted = wanted
        self._settle(block)

    def add_task(self, number: int, block: int, thing: str) -> None:
        """Add a task at the end of a block."""
        self.block_of[number] = block
        self._thing[number] = thing
        self.blocks[block].tasks.append(number)
        self.blocks[block].things.add(thing)
        self._settle(self.blocks[block])

    def add_lease(self, block: int, rater: int, until: float) -> None:
        """A rater has a block until some time."""
        held = self.blocks[block]
        if rater in held.finished or rater in self._excluded:
            return
        held.holders[rater] = until
        state = self.rater(rater)
        if block not in state.held:
            state.held.append(block)
        heapq.heappush(self._ends, (until, block, rater))
        self._settle(held)

    def add_answer(self, rater: int, task: int) -> None:
        """A rater answered a task, or changed the answer."""
        state, block = self.rater(rater), self.blocks[self.block_of[task]]
        if task in state.answered:
            return
        state.answered.add(task)
        state.things.add(self._thing[task])
        state.begun.add(block.number)
        state.unfinished.add(block.number)
        if state.answered.issuperset(block.tasks):
            state.unfinished.remove(block.number)
            if rater not in self._excluded:
                block.finished.add(rater)
            block.holders.pop(rater, None)
            if block.number in state.held:
                state.held.remove(block.number)
            self._settle(block)

    def next_tasks(self, rater: int, count: int, now: float) -> list[int]:
        """Tasks that a rater has and did not answer yet, and new ones until there are enough."""
        self._expire(now)
        state = self.rater(rater)
        left = count
        if self.per_rater:
            left = min(count, self.per_rater - len(state.answered))
        found: list[int] = []
        for block in list(state.held):
            found.extend(self._unanswered(block, state))
            if len(found) >= left:
                break
        # The last tasks are not kept from others for the sake of speed.
        scarce = len(self._open) < 2 * max(len(self.raters), 1)
        while len(found) < (min(left, 1) if scarce else left):
            drawn = self._draw(rater, state)
            if drawn is None:
                break
            self.add_lease(drawn, rater, now + self.lease)
            found.extend(self._unanswered(drawn, state))
        for block in {self.block_of[task] for task in found[: max(left, 0)]}:
            self._renew(block, rater, now)
        return found[: max(left, 0)]

    def leases_of(self, rater: int) -> Iterator[tuple[int, float]]:
        """Blocks that a rater has, and until when."""
        for block in self.rater(rater).held:
            yield block, self.blocks[block].holders[rater]

    def total(self, rater: int) -> int:
        """How many tasks a rater may come to do in all, as it looks now."""
        state = self.rater(rater)
        done = len(state.answered)
        going_on = self._open.both(state.unfinished).union(state.held)
        more = sum(len(self._unanswered(block, state)) for block in going_on)
        fresh = self._open.tasks - sum(
            len(self.blocks[block].tasks) for block in self._open.both(state.begun, state.held)
        )
        found = done + more + fresh
        return min(found, max(self.per_rater, done)) if self.per_rater else found

    def may_come(self, rater: int) -> bool:
        """Whether something may come free that this rater could have."""
        state = self.rater(rater)
        if self.per_rater and len(state.answered) >= self.per_rater:
            return False
        return any(
            len(block.finished) < block.wanted and self._fits(block, rater, state)
            for block in (self.blocks[number] for number in self._held)
        )

    def _unanswered(self, block: int, state: RaterState) -> list[int]:
        return [task for task in self.blocks[block].tasks if task not in state.answered]

    def _draw(self, rater: int, state: RaterState) -> int | None:
        if left := self._open.both(state.unfinished).difference(state.held):
            return min(left)
        if self.priorities:
            fitting = self._fitting(self._open, rater, state)
            return min(fitting, key=self._urgency, default=None)
        drawn = self._fitting(self._open.draw(_DRAWS, self._random), rater, state)
        best = min(drawn, key=lambda number: self.blocks[number].taken, default=None)
        if best is not None:
            return best
        # Somebody who did most of what is open.
        rest = list(self._fitting(self._open, rater, state))
        self._random.shuffle(rest)
        return min(rest, key=lambda number: self.blocks[number].taken, default=None)

    def _urgency(self, number: int) -> tuple[float, int]:
        block = self.blocks[number]
        places = self.priorities.get(number)
        if not places:
            return float("inf"), block.taken
        next_one = len(places) - (block.wanted - block.taken)
        return places[min(max(next_one, 0), len(places) - 1)], block.taken

    def _fitting(self, numbers: Iterable[int], rater: int, state: RaterState) -> Iterator[int]:
        return (one for one in numbers if self._fits(self.blocks[one], rater, state))

    def _fits(self, block: TaskBlock, rater: int, state: RaterState) -> bool:
        if rater in block.finished or rater in block.holders:
            return False
        if block.number in state.unfinished:
            return True
        return state.things.isdisjoint(block.things) and all(
            block.things.isdisjoint(self.blocks[held].things) for held in state.held
        )

    def _renew(self, block: int, rater: int, now: float) -> None:
        """Who comes again has time again; half a lease's worth is not worth noting."""
        until = self.blocks[block].holders.get(rater, 0.0)
        if until < now + self.lease / 2:
            self.add_lease(block, rater, now + self.lease)

    def _expire(self, now: float) -> None:
        while self._ends and self._ends[0][0] <= now:
            _, number, rater = heapq.heappop(self._ends)
            block = self.blocks[number]
            if block.holders.get(rater, float("inf")) > now:
                continue
            del block.holders[rater]
            self.rater(rater).held.remove(number)
            self._settle(block)

    def _settle(self, block: TaskBlock) -> None:
        if block.is_open:
            self._open.add(block.number, len(block.tasks))
        else:
            self._open.discard(block.number)
        if block.holders:
            self._held.add(block.number)
        else:
            self._held.discard(block.number)


class _Bag:
    """A set of numbers from which some are drawn at random in no time."""

    def __init__(self) -> None:
        self._numbers: list[int] = []
        self._places: dict[int, int] = {}
        self._sizes: dict[int, int] = {}
        self.tasks = 0

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[int]:
        return iter(self._numbers)

    def both(self, *others: Iterable[int]) -> set[int]:
        """Numbers that are here and in one of the others."""
        return set().union(*(self._places.keys() & other for other in others))

    def add(self, number: int, size: int) -> None:
        self.discard(number)
        self._places[number] = len(self._numbers)
        self._numbers.append(number)
        self._sizes[number] = size
        self.tasks += size

    def discard(self, number: int) -> None:
        place = self._places.pop(number, None)
        if place is None:
            return
        self.tasks -= self._sizes.pop(number)
        last = self._numbers.pop()
        if last != number:
            self._numbers[place] = last
            self._places[last] = place

    def draw(self, count: int, source: random.Random) -> list[int]:
        size = len(self._numbers)
        if size <= count:
            drawn = self._numbers.copy()
            source.shuffle(drawn)
            return drawn
        return [self._numbers[source.randrange(size)] for _ in range(count)]
