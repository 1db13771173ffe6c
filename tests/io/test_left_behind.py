"""What a killed process left half-written goes with the next write, and nothing else ever does."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from deltableu.errors import InputError
from deltableu.io import WorkFolder, atomic_folder, atomic_path
from deltableu.io.atomic import remove, temporary_beside, unwritable
from deltableu.io.owner import Owner

KILLED = """
import os, sys
from deltableu.io import atomic_folder, atomic_path
with {function}(sys.argv[1]) as temporary:
    path = temporary / "part" if temporary.is_dir() else temporary
    path.write_text("half of it")
    os.kill(os.getpid(), 9)
"""


def leave_behind(function, target):
    done = subprocess.run([sys.executable, "-c", KILLED.format(function=function), target])
    assert done.returncode == -9


def write(function, target):
    if function == "atomic_path":
        with atomic_path(target) as path:
            path.write_text("all of it")
    else:
        with atomic_folder(target) as path:
            (path / "part").write_text("all of it")


@pytest.mark.parametrize("function", ["atomic_path", "atomic_folder"])
@pytest.mark.parametrize("name", ["new.txt", "x" * 200, "日本" * 40])
def test_the_next_write_removes_it(function, name, tmp_path):
    leave_behind(function, tmp_path / name)
    (left,) = os.listdir(tmp_path)
    assert left.startswith(f".{name[:40]}.")
    assert left.endswith(".deltableu.tmp")
    assert len(os.fsencode(left)) < 255
    write(function, tmp_path / "another")
    assert set(os.listdir(tmp_path)) == {left, "another"}
    write(function, tmp_path / name)
    assert set(os.listdir(tmp_path)) == {name, "another"}


def test_nothing_else_is_removed(tmp_path):
    leave_behind("atomic_path", tmp_path / "new.txt")
    (left,) = (one.name for one in tmp_path.iterdir())
    pid = left.split("-")[1]
    living = temporary_beside(tmp_path / "new.txt")
    place = Owner.here().place
    names = (
        {
            living.name,
            left.replace(place, "00000000"),  # of another machine
            left.removesuffix(".deltableu.tmp") + ".tmp",
            left.removesuffix(".deltableu.tmp"),
            left.replace(".new.txt", ".New.txt"),
            left[1:],
            f"{left}~",
            left.replace(f"-{pid}-", "--"),
            left.replace(f"-{pid}-", f"-0{pid}-"),
            left.replace(f"-{pid}-", "-0-"),
            left[:-15] + "g.deltableu.tmp",
            ".0123456789ab.tmp",
            ".new.txt.deltableu-old",
            ".new.txt.swp",
            "new.txt.deltableu.tmp",
            "deltableu.tmp",
        }
        - {left}
    )
    for name in names:
        (tmp_path / name).write_text("somebody's")
    write("atomic_path", tmp_path / "new.txt")
    assert set(os.listdir(tmp_path)) == {*names, "new.txt"}
    assert {(tmp_path / name).read_text() for name in names} == {"somebody's"}


def test_links_are_removed_and_not_followed(tmp_path):
    leave_behind("atomic_folder", tmp_path / "new")
    (left,) = tmp_path.iterdir()
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "text").touch()
    (left / "link").symlink_to(tmp_path / "thesis")
    write("atomic_folder", tmp_path / "new")
    assert set(os.listdir(tmp_path)) == {"thesis", "new"}
    assert os.listdir(tmp_path / "thesis") == ["text"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError, InputError("no")])
def test_whatever_is_raised_nothing_is_left(error, tmp_path):
    for function in (atomic_path, atomic_folder):
        kind = error if isinstance(error, type) else type(error)
        with pytest.raises(kind), function(tmp_path / "new"):
            raise error
        assert os.listdir(tmp_path) == []


def test_an_interrupt_at_any_moment_leaves_nothing_half_done(tmp_path, monkeypatch):
    """After any call to the system by which a job's folder is made or a file written."""

    def write():
        with atomic_path(tmp_path / "file") as path:
            path.write_text("all of it")

    works = []
    for whole in (None, "file"):
        for moment in range(1, 1000):
            works.append(WorkFolder(tmp_path / "work", "key"))
            moments = iter(range(1, 10_000))
            with monkeypatch.context() as patch:
                for name in ("mkdir", "open", "pwrite", "ftruncate", "close", "listdir", "stat"):
                    patch.setattr(os, name, interrupting(getattr(os, name), moments, moment))
                try:
                    works[-1].begin() if whole is None else write()
                    break
                except KeyboardInterrupt:
                    pass
            left = os.listdir(tmp_path)
            assert left == [] or (left == [whole] and (tmp_path / whole).stat().st_size == 9)
            remove(tmp_path / "file")
        assert moment > 3
        works[-1].end()


def interrupting(call, moments, moment):
    def interrupted(*arguments, **options):
        made = call(*arguments, **options)
        if next(moments) == moment:
            raise KeyboardInterrupt
        return made

    return interrupted


def test_half_of_a_folder_is_no_job_of_others(tmp_path):
    """Killed between making the folder and marking it."""
    folder = tmp_path / "work" / "key"
    for names in ([], ["lock"], ["lock", temporary_beside(folder / "deltableu.json").name]):
        folder.mkdir(parents=True)
        for name in names:
            (folder / name).touch()
        work = WorkFolder(tmp_path / "work", "key")
        work.begin()
        assert sorted(os.listdir(folder)) == ["deltableu.json", "lock"]
        work.end()
        assert os.listdir(tmp_path / "work") == []
        (tmp_path / "work").rmdir()


def test_a_job_that_was_killed_while_it_ended(tmp_path):
    """Its folder has another name already."""
    program = (
        "import os, sys, deltableu.io.work_folder as module\n"
        "work = module.WorkFolder(sys.argv[1], 'key')\n"
        "work.begin(); work.keep('part', {})\n"
        "module.remove = lambda path: os.kill(os.getpid(), 9)\n"
        "work.end()"
    )
    done = subprocess.run([sys.executable, "-c", program, tmp_path])
    assert done.returncode == -9
    (left,) = os.listdir(tmp_path)
    assert left.startswith(".key.")
    WorkFolder(tmp_path, "another").begin()
    assert left in os.listdir(tmp_path)
    work = WorkFolder(tmp_path, "key")
    work.begin()
    assert not work.has("part")
    assert left not in os.listdir(tmp_path)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_an_array_for_which_there_is_no_room():
    """NumPy does not say why."""
    with (
        open("/dev/full", "wb", buffering=0) as full,
        pytest.raises(OSError, match="written") as caught,
    ):
        np.zeros(100_000).tofile(full)
    assert "No space left on device" in str(unwritable("here", caught.value))
