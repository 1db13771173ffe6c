"""Who gets what: each block goes to as many as it is for, and to nobody twice, whatever they do."""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.rate.server.assignment import Assignment

LEASE = 100.0


@dataclass
class World:
    """A campaign with raters who come, go, come back and answer late."""

    sizes: list[int]
    wanted: int
    raters: int
    per_rater: int = 0
    now: float = 0.0
    log: list[tuple[int, int]] = field(default_factory=list)
    leases: dict[tuple[int, int], float] = field(default_factory=dict)
    seen: dict[int, list[int]] = field(default_factory=lambda: defaultdict(list))
    late: Counter[int] = field(default_factory=Counter)

    def __post_init__(self) -> None:
        self.assignment = self.fresh()

    def fresh(self) -> Assignment:
        made = Assignment(LEASE, self.per_rater, seed=1)
        task = 0
        for block, size in enumerate(self.sizes, 1):
            made.add_block(block, self.wanted)
            for _ in range(size):
                task += 1
                made.add_task(task, block, f"thing {task}")
        return made

    def restart(self) -> None:
        """As a server does: answers and leases are read again, the rest is forgotten."""
        self.assignment = self.fresh()
        for rater, task in self.log:
            self.assignment.add_answer(rater, task)
        for (block, rater), until in self.leases.items():
            if until > self.now:
                self.assignment.add_lease(block, rater, until)

    def ask(self, rater: int, count: int = 1) -> list[int]:
        found = self.assignment.next_tasks(rater, count, self.now)
        state = self.assignment.rater(rater)
        assert len(found) <= count
        assert len(set(found)) == len(found)
        assert state.answered.isdisjoint(found), "nobody gets what they answered"
        assert self.assignment.next_tasks(rater, count, self.now) == found, "asking changes nothing"
        for block, until in self.assignment.leases_of(rater):
            assert until > self.now
            self.leases[block, rater] = until
        self.seen[rater] += [task for task in found if task not in self.seen[rater]]
        if self.per_rater:
            assert len(state.answered) + len(found) <= max(self.per_rater, len(state.answered))
        self.check()
        return found

    def answer(self, rater: int, task: int) -> None:
        if (rater, task) in self.log:
            return
        block = self.assignment.block_of[task]
        state = self.assignment.rater(rater)
        # As time goes on, a lease ends when somebody asks the next time.
        if block not in state.held:
            self.late[block] += 1
        self.log.append((rater, task))
        self.assignment.add_answer(rater, task)
        self.check()

    def check(self) -> None:
        made = self.assignment
        for number, block in made.blocks.items():
            assert block.taken <= max(self.wanted, block.wanted) + self.late[number]
            assert block.finished.isdisjoint(block.holders)
            assert all(number in made.raters[one].held for one in block.holders)
            assert (number in set(made._open)) == block.is_open
        for rater, state in made.raters.items():
            done, total = len(state.answered), made.total(rater)
            assert done <= total <= max(sum(self.sizes), done)
            for number in state.held:
                assert rater in made.blocks[number].holders

    def finish(self) -> None:
        """Let everybody go on until there is nothing more for anybody."""
        for _ in range(20 * sum(self.sizes) * self.raters):
            self.now += LEASE / 7
            busy = False
            for rater in range(1, self.raters + 1):
                if found := self.ask(rater):
                    self.answer(rater, found[0])
                    busy = True
                elif self.assignment.may_come(rater):
                    busy = True
            if not busy:
                return
        raise AssertionError("it never ends")


# What happens: who, what (ask, answer something seen, wait, restart), and how much.
EVENTS = st.lists(
    st.tuples(
        st.integers(1, 4), st.sampled_from(["ask", "answer", "wait", "restart"]), st.integers(0, 30)
    ),
    max_size=50,
)


@settings(max_examples=100)
@given(
    sizes=st.lists(st.integers(1, 3), min_size=1, max_size=7),
    wanted=st.integers(1, 4),
    raters=st.integers(1, 4),
    per_rater=st.sampled_from([0, 0, 3]),
    events=EVENTS,
)
def test_whatever_raters_do(
    sizes: list[int], wanted: int, raters: int, per_rater: int, events: list[tuple[int, str, int]]
):
    world = World(sizes, wanted, raters, per_rater)
    for who, what, much in events:
        rater = min(who, raters)
        if what == "ask":
            world.ask(rater, 1 + much % 5)
        elif what == "answer" and world.seen[rater]:
            world.answer(rater, world.seen[rater][much % len(world.seen[rater])])
        elif what == "wait":
            world.now += much * LEASE / 10
        elif what == "restart":
            world.restart()
    world.finish()
    assert len(set(world.log)) == len(world.log)
    for rater in range(1, raters + 1):
        state = world.assignment.rater(rater)
        assert world.ask(rater) == []
        assert world.assignment.total(rater) == len(state.answered), "done is done"
    if not per_rater:
        for number, block in world.assignment.blocks.items():
            assert len(block.finished) >= min(wanted, raters)
            assert len(block.finished) <= wanted + world.late[number]
    if not any(world.late.values()) and not per_rater:
        answers = Counter(task for _, task in world.log)
        assert max(answers.values()) <= wanted + max(sizes) - 1


@settings(max_examples=30)
@given(
    raters=st.integers(2, 12),
    tasks=st.integers(1, 40),
    wanted=st.integers(1, 5),
    order=st.randoms(use_true_random=False),
)
def test_who_answers_in_time_gives_exactly_what_is_wanted(raters, tasks, wanted, order):
    world = World([1] * tasks, wanted, raters)
    going = set(range(1, raters + 1))
    while going:
        rater = order.choice(sorted(going))
        if found := world.ask(rater, order.choice([1, 2])):
            world.answer(rater, found[0])
        elif not world.assignment.may_come(rater):
            going.remove(rater)
    assert Counter(task for _, task in world.log) == dict.fromkeys(
        range(1, tasks + 1), min(wanted, raters)
    )


@settings(max_examples=30)
@given(
    sizes=st.lists(st.integers(1, 2), min_size=1, max_size=8),
    wanted=st.integers(1, 3),
    steps=st.integers(0, 30),
    restarts=st.booleans(),
)
def test_what_excluded_raters_did_is_done_by_others(sizes, wanted, steps, restarts):
    world = World(sizes, wanted, 5)
    for step in range(steps):
        if found := world.ask(1 + step % 5):
            world.answer(1 + step % 5, found[0])
    world.ask(2)
    world.assignment.exclude({2})
    if restarts:
        world.restart()
        world.assignment.exclude({2})
    world.check()
    assert not any(2 in one.holders for one in world.assignment.blocks.values())
    for _ in range(60):
        for rater in (1, 3, 4, 5):
            if found := world.ask(rater):
                world.answer(rater, found[0])
    for block in world.assignment.blocks.values():
        assert len(block.finished) == wanted
        assert 2 not in block.finished


def test_ratings_spread_evenly():
    """A campaign that is stopped early has no task with many ratings and another with none."""
    world = World([1] * 60, 10, 8)
    for _ in range(30):
        for rater in range(1, 9):
            (task,) = world.ask(rater)
            world.answer(rater, task)
    counts = Counter(task for _, task in world.log)
    assert {counts[task] for task in range(1, 61)} <= {3, 4, 5}
    assert sum(counts.values()) == 240


def test_nobody_gets_one_thing_in_two_blocks():
    made = Assignment(LEASE, seed=3)
    for block in (1, 2):
        made.add_block(block, 2)
        made.add_task(block, block, "the same")
    assert len(made.next_tasks(1, 5, 0.0)) == 1
    first = made.next_tasks(1, 1, 0.0)[0]
    made.add_answer(1, first)
    assert made.next_tasks(1, 5, 0.0) == []
    assert not made.may_come(1)


def test_the_most_urgent_come_first():
    made = Assignment(LEASE, seed=3)
    for block in range(1, 21):
        made.add_block(block, 1)
        made.add_task(block, block, str(block))
    made.priorities = {7: [0.0], 3: [1.0], 11: [2.0]}
    found = []
    for _ in range(3):
        (task,) = made.next_tasks(1, 1, 0.0)
        made.add_answer(1, task)
        found.append(task)
    assert found == [7, 3, 11]


def test_an_order_of_single_ratings():
    """A block that is worth one rating now and another later lets others come between."""
    made = Assignment(LEASE, seed=3)
    for block in (1, 2, 3):
        made.add_block(block, 3)
        made.add_task(block, block, str(block))
    made.add_answer(9, 2)
    made.priorities = {1: [0, 3, 7], 2: [1, 4], 3: [2, 5, 6]}
    given = []
    for rater in range(10, 18):
        (task,) = made.next_tasks(rater, 1, 0.0)
        made.add_answer(rater, task)
        given.append(task)
    assert given == [1, 2, 3, 1, 2, 3, 3, 1]


@pytest.mark.parametrize("wanted", [1, 3])
def test_more_and_fewer_raters_per_block(wanted: int):
    world = World([1] * 5, wanted, 3)
    world.finish()
    for block in range(1, 6):
        world.assignment.add_block(block, 2)
    assert (world.ask(1) != []) == (world.assignment.rater(1).answered != set(range(1, 6)))
    world.finish()
    counts = Counter(task for _, task in world.log)
    assert set(counts.values()) == {max(2, wanted)}


def test_who_comes_back_to_a_block_goes_on_with_it():
    world = World([3, 3], 1, 2)
    first = world.ask(1)[0]
    block = world.assignment.block_of[first]
    world.answer(1, first)
    world.now += 2 * LEASE
    again = world.ask(1)
    assert world.assignment.block_of[again[0]] == block
    assert world.assignment.total(1) == 6
