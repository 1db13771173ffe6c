"""Spoilt files, absurd options and misused functions: one sentence each, and nothing is touched.

`python -m tests.fuzz SEED` runs a case again and tells about it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("pyarrow")

from tests.fuzz.commands import commands
from tests.fuzz.runs import Done, run_many

KEPT = Path(__file__).with_name("seeds.txt")


def kept_seeds() -> list[int]:
    lines = KEPT.read_text().splitlines()
    return [int(line.split()[0]) for line in lines if line and not line.startswith("#")]


def assert_clean(done: Done, cases: int) -> None:
    assert done.cases == cases
    assert not done.failures, done.summary()


def test_every_command_of_the_program_is_fuzzed():
    names = {command.name for command in commands()}
    assert {"check", "mine", "logs pairs", "judge train", "plan compare"} <= names
    assert all(len(one.options) > 0 for one in commands())


def test_cases_that_once_failed_and_some_others():
    """In one process, which begins by importing torch."""
    seeds = [*kept_seeds(), *range(10**6, 10**6 + 60)]
    assert_clean(run_many(seeds), len(seeds))


@pytest.mark.long
def test_many_cases():
    done = run_many(range(100_000), jobs=2)
    assert_clean(done, 100_000)
    # A fuzzer all of whose cases are refused at the door finds nothing behind it.
    for command in commands():
        ends = done.ends[command.name]
        assert ends["0"] > 0.1 * ends.total(), (command.name, ends)
