"""What all tests share: where the real data sets are, if they are there."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import settings

from deltableu.errors import InputError, Problem
from deltableu.io import Report, fail

# How long an example takes says more about the machine than about the code.
settings.register_profile("any machine", deadline=None)
settings.load_profile("any machine")

# In the background of a shell, tests ignore Ctrl-C, and so would all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Tables and sentences are as wide as tests say, not as wide as whoever starts them has it. The
# readline library sets it for child processes, unseen by `os.environ`.
os.unsetenv("COLUMNS")
os.environ.pop("COLUMNS", None)

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets; a clone has none."""
    if not DATA.is_dir():
        pytest.skip("the real data sets are not here")
    return DATA


@pytest.fixture(scope="session")
def demo() -> Path:
    """The demo study."""
    return ROOT / "examples" / "demo"


Reader = Callable[[Report], object]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    """Write a file with exactly these bytes, and return its path."""

    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


@pytest.fixture
def problems() -> Callable[[Reader], list[Problem]]:
    """Run a reader to its end and return all problems, each one sentence long."""

    def problems(reader: Reader) -> list[Problem]:
        found: list[Problem] = []
        exhaust(reader(found.append))
        for problem in found:
            assert_one_sentence(problem)
        return found

    return problems


@pytest.fixture
def the_problem(problems: Callable[[Reader], list[Problem]]) -> Callable[[Reader], Problem]:
    """Run a reader that has exactly one thing to say, and check that by default it raises that."""

    def the_problem(reader: Reader) -> Problem:
        (problem,) = problems(reader)
        if problem.severity == "error":
            with pytest.raises(InputError) as raised:
                exhaust(reader(fail))
            assert raised.value.problem == problem
        return problem

    return the_problem


def exhaust(result: object) -> None:
    if isinstance(result, Iterable):
        list(result)


def assert_one_sentence(problem: Problem) -> None:
    text = str(problem)
    assert "\n" not in text
    assert ". " not in problem.message
    assert not problem.message.endswith(".")
    assert len(problem.message) < 200
