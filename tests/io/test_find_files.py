"""What may not be read is an error, or said; it is never as if it were not there."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from deltableu.corpus import Item, Reference
from deltableu.errors import InputError, Problem
from deltableu.io import find_files
from deltableu.logs import write_pairs
from deltableu.mine import mine_references

NOBODY = 65534
LINE = '{"utterance": "how are you ?", "response": "fine"}\n'
CHAT = '{"id": "c1", "turns": ["how are you ?", "fine"]}\n'


@contextmanager
def as_nobody() -> Iterator[None]:
    """Root may read everything, so it becomes somebody else for a while."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def logs() -> Iterator[Path]:
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for name in ("open", "closed", "other"):
            (place / name).mkdir()
            (place / name / "log.jsonl").write_text(LINE)
        (place / "closed").chmod(0)
        (place / "other" / "log.jsonl").chmod(0)
        place.chmod(0o755)
        if os.geteuid() == 0:
            os.chown(place, NOBODY, -1)
            for path in place.rglob("*"):
                os.chown(path, NOBODY, -1)
        yield place
        (place / "closed").chmod(0o755)


def problems(*logs: object) -> list[str]:
    found: list[Problem] = []
    with as_nobody():
        files = find_files(map(str, logs), found.append)
    assert [Path(file.name).parent.name for file in files] == ["open"]
    return sorted(str(one).replace(str(Path(str(logs[0])).parent), "") for one in found)


@pytest.mark.parametrize("pattern", ["", "*", "*/*.jsonl", "**/*.jsonl", "**"])
def test_a_folder_that_may_not_be_looked_into(pattern, logs):
    found = problems(logs / pattern)
    assert len(found) == 2
    assert "closed: may not be read by this user: change its permissions" in found[0]
    assert "other/log.jsonl: may not be read by this user" in found[1]
    with as_nobody(), pytest.raises(InputError, match="may not be read by this user"):
        find_files([str(logs / pattern)])


def test_mining_says_what_it_left_out(logs):
    items = [Item("1", (Reference("r0", "well", origin="original"),), message="how are you ?")]
    with as_nobody():
        with pytest.raises(InputError, match="closed: may not be read"):
            mine_references(items, [str(logs)])
        mined = mine_references(items, [str(logs)], on_error="skip")
    left_out = [Path(one.file or "").name for one in mined.unreadable_parts]
    assert (left_out, mined.rows) == (["closed", "log.jsonl"], 1)


def test_pairs_say_what_they_left_out(logs):
    (logs / "open" / "log.jsonl").write_text(CHAT)
    pairs = logs / "pairs.tsv"
    with as_nobody():
        with pytest.raises(InputError, match="closed: may not be read"):
            write_pairs(logs, pairs)
        assert not pairs.exists()
        written = write_pairs(logs, pairs, on_error="skip")
    left_out = [Path(one.file or "").name for one in written.unreadable_files]
    assert (left_out, written.posts) == (["closed", "log.jsonl"], 2)
