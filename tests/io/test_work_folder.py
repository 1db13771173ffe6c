"""What a job keeps is whole and its own, or not there."""

from __future__ import annotations

import os
import shutil
from contextlib import suppress

import numpy as np
import pytest

from deltableu.errors import InputError
from deltableu.io import Journal, WorkFolder


@pytest.fixture
def work(tmp_path):
    made = WorkFolder(tmp_path / "work", "key")
    made.begin()
    return made


def test_parts_come_back(work):
    arrays = {"floats": np.arange(3.0), "a/b": np.array([[1, 2]], np.int32), "none": np.zeros(0)}
    work.keep("part", arrays, {"text": "é\ud800", "numbers": [1, 2.5, None]})
    found, notes = work.kept("part")
    assert found.keys() == arrays.keys()
    for name, array in arrays.items():
        assert np.array_equal(found[name], array)
        assert found[name].dtype == array.dtype
    assert notes == {"text": "é\ud800", "numbers": [1, 2.5, None]}
    work.keep("part", {})
    assert work.kept("part") == ({}, {})
    assert work.kept("other") is None


def test_no_flipped_bit_goes_unnoticed(work):
    work.keep("part", {"numbers": np.arange(4)}, {"rows": 7})
    path = work.folder / "part.npz"
    data = path.read_bytes()
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 1 << place % 8]) + data[place + 1 :])
        assert work.kept("part") is None
    for size in (0, 1, 31, 32, 33, len(data) // 2, len(data) - 1):
        path.write_bytes(data[:size])
        assert work.kept("part") is None


def test_a_part_of_another_name_or_job_is_not_taken(work, tmp_path):
    work.keep("one", {"numbers": np.arange(4)})
    shutil.copy(work.folder / "one.npz", work.folder / "two.npz")
    assert work.kept("two") is None
    other = WorkFolder(tmp_path / "work", "another")
    other.begin()
    shutil.copy(work.folder / "one.npz", other.folder / "one.npz")
    assert other.kept("one") is None


def test_only_what_the_job_made_is_removed(work, tmp_path):
    (tmp_path / "work" / "thesis.txt").touch()
    strange = WorkFolder(tmp_path / "work", "strange")
    strange.folder.mkdir()
    (strange.folder / "photo").touch()
    with pytest.raises(InputError, match="was not made for checkpoints"):
        strange.begin()
    strange.end()
    assert os.listdir(strange.folder) == ["photo"]
    work.keep("part", {})
    work.end()
    assert sorted(one.name for one in (tmp_path / "work").iterdir()) == ["strange", "thesis.txt"]
    assert (strange.folder / "photo").exists()


def test_a_folder_with_nothing_to_go_on_with_is_not_left(tmp_path):
    def fail(error: BaseException, parts: list[str], worth: str = "") -> bool:
        work = WorkFolder(tmp_path / "work", "key")
        with suppress(InputError, KeyboardInterrupt), work.worth_keeping(worth):
            for part in parts:
                work.keep(part, {})
            raise error
        left = (tmp_path / "work").exists()
        work.begin()
        work.end()
        assert not (tmp_path / "work").exists()
        return left

    assert not fail(InputError("wrong"), [])
    assert not fail(KeyboardInterrupt(), [])
    assert fail(InputError("wrong"), ["state"], "state")
    assert not fail(InputError("wrong"), ["words"], "state")
    assert fail(KeyboardInterrupt(), ["words"], "state")


def test_without_a_folder_nothing_is_kept():
    work = WorkFolder(None, "key")
    work.begin()
    work.keep("part", {"numbers": np.arange(3)})
    assert work.kept("part") is None
    work.end()


def test_a_journal_survives_being_cut_anywhere(tmp_path):
    path = tmp_path / "made" / "journal.jsonl"
    Journal(path).add([{"n": 1}, {"n": 2, "text": "é"}])
    content = path.read_bytes()
    for cut in range(len(content) + 1):
        path.write_bytes(content[:cut])
        whole = [line for line in content[:cut].split(b"\n") if line.endswith(b"}")]
        Journal(path).add([{"n": 3}])
        lines = path.read_bytes().splitlines()
        assert [line for line in lines if line.endswith(b"}")] == [*whole, b'{"n": 3}']


def test_a_journal_that_cannot_be_kept(tmp_path):
    with pytest.raises(InputError, match="cannot be written"):
        Journal(tmp_path).add([{}])
