"""A few inputs for every reader; the long run has a million of them.

`python -m tests.fuzz.readers READER/SEED/BLOCK/NUMBER` reads an input again and tells about it.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")
pytest.importorskip("pyarrow")
pytest.importorskip("resource", reason="what an input takes is measured on POSIX only")

from deltableu.layouts import layout_names
from tests.fuzz.reader_inputs import Tally
from tests.fuzz.readers import READERS, run_again, run_some

KEPT = Path(__file__).with_name("reader_seeds.txt")


def assert_clean(done: Tally) -> None:
    assert not done.first, done.summary()


def kept() -> list[str]:
    lines = KEPT.read_text().splitlines()
    return [line.split("#")[0].strip() for line in lines if line and not line.startswith("#")]


def test_every_layout_is_there():
    assert {f"layout {name}" for name in layout_names()} <= READERS.keys()


@pytest.mark.parametrize("address", kept())
def test_inputs_that_once_failed(address):
    assert_clean(run_again(address))


def test_a_few_inputs_of_every_reader():
    done = run_some(blocks=2, each=12)
    assert done.inputs.keys() == READERS.keys()
    assert_clean(done)


@pytest.mark.long
def test_a_million_inputs():
    from tests.fuzz.reader_runs import run_long

    done = run_long(list(READERS), seed=0, minutes=60, inputs=1_000_000, jobs=2)
    assert_clean(done)
    assert done.inputs.total() >= 1_000_000
    # What is refused at the door proves nothing of what is behind it.
    for name, count in done.inputs.items():
        assert done.refused[name] < 0.95 * count, name
