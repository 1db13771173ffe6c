from __future__ import annotations

import gzip
import io
import os
import stat
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from deltableu.errors import InputError
from deltableu.io import atomic_folder, atomic_write, read_lines
from deltableu.io.atomic import interrupted_copy
from deltableu.io.files import write_lines
from deltableu.io.names import file_form

ODD = "a\u2028b\x0bc\x85d\x1ce\x0cf\u2029g\rh"


def lines(path: Path) -> list[str]:
    return [line for _, line in read_lines(path)]


def test_only_line_feeds_end_lines(write):
    path = write("a.txt", f"{ODD}\r\n\nlast")
    assert list(read_lines(path)) == [(1, ODD), (2, ""), (3, "last")]


def test_byte_order_mark_is_not_text_but_only_at_the_start(write):
    assert lines(write("a.txt", "\ufeffa\n\ufeffb\n")) == ["a", "\ufeffb"]


def test_written_lines_come_back(tmp_path):
    texts = ["\ufeffstarts with a mark", ODD, "", " "]
    for name in ("a.txt", "a.txt.gz"):
        write_lines(tmp_path / name, texts)
        assert lines(tmp_path / name) == texts
    assert (
        gzip.decompress((tmp_path / "a.txt.gz").read_bytes()) == (tmp_path / "a.txt").read_bytes()
    )


def test_packed_files_are_the_same_bytes_each_time(tmp_path):
    write_lines(tmp_path / "a.gz", ["x"])
    write_lines(tmp_path / "b.gz", ["x"])
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


def test_standard_input(monkeypatch, the_problem):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"a\r\nb\n")))
    assert list(read_lines("-")) == [(1, "a"), (2, "b")]


def test_standard_input_is_named(monkeypatch, problems):
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(b"\xff\n")))
    (problem,) = problems(lambda report: read_lines("-", report))
    assert (problem.file, problem.line) == ("standard input", 1)


@pytest.mark.parametrize(
    ("name", "form"),
    [("items.jsonl", "jsonl"), ("a/items.TSV.gz", "tsv"), ("-", ""), ("/dev/fd/63", "")],
)
def test_form(name, form):
    assert file_form(name) == form


def test_missing_file(tmp_path, the_problem):
    problem = the_problem(lambda report: read_lines(tmp_path / "none.txt", report))
    assert (problem.file, problem.message) == (
        str(tmp_path / "none.txt"),
        "there is no such file",
    )


def test_folder_instead_of_file(tmp_path, the_problem):
    problem = the_problem(lambda report: read_lines(tmp_path, report))
    assert problem.file == str(tmp_path)
    assert "is a folder" in problem.message


def test_no_permission(write, the_problem, monkeypatch):
    path = write("a.txt", "a\n")

    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("builtins.open", refuse)
    problem = the_problem(lambda report: read_lines(path, report))
    assert problem.file == str(path)
    assert "permissions" in problem.message


def test_invalid_utf8_names_each_line_and_goes_on(write, problems):
    path = write("a.txt", b"one\ntw\xff\nthree\n\xc3\n")
    found = problems(lambda report: read_lines(path, report))
    assert [(problem.file, problem.line) for problem in found] == [(str(path), 2), (str(path), 4)]
    assert "byte 0xff at position 3" in found[0].message
    assert [line for _, line in read_lines(path, lambda _: None)] == ["one", "three"]


@pytest.mark.parametrize(
    "content", [b"not gzip", gzip.compress(b"abc" * 1000, mtime=0)[:-10]], ids=["other", "cut"]
)
def test_broken_gzip(write, the_problem, content):
    path = write("a.txt.gz", content)
    problem = the_problem(lambda report: read_lines(path, report))
    assert problem.file == str(path)
    assert "gzip" in problem.message


def break_off(_: object, error: type[BaseException]) -> None:
    raise error


def test_exception_leaves_the_old_file_and_nothing_else(write, tmp_path):
    path = write("a.txt", "old")
    for error in (RuntimeError, KeyboardInterrupt):
        with pytest.raises(error), atomic_write(path) as stream:
            break_off(stream.write("new" * 100_000), error)
        assert path.read_text() == "old"
        assert os.listdir(tmp_path) == ["a.txt"]


def test_lone_surrogate_is_refused_and_leaves_the_old_file(write, tmp_path):
    path = write("a.txt", "old")
    with pytest.raises(InputError, match="surrogate"):
        write_lines(path, ["fine", "\ud800"])
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["a.txt"]


def test_writing_keeps_permissions_and_links(write, tmp_path):
    path = write("a.txt", "old")
    path.chmod(0o640)
    link = tmp_path / "link.txt"
    link.symlink_to(path)
    write_lines(link, ["new"])
    assert link.is_symlink()
    assert path.read_text() == "new\n"
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_devices_are_written_to_and_not_replaced():
    write_lines("/dev/null", ["x"])
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_writing_where_no_folder_is(tmp_path):
    with pytest.raises(InputError, match="folder does not exist"):
        write_lines(tmp_path / "none" / "a.txt", ["x"])
    with pytest.raises(InputError, match="is a folder"):
        write_lines(tmp_path, ["x"])


def fill(folder: Path, text: str) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "a.txt").write_text(text)


def content(folder: Path) -> str:
    return (folder / "inner" / "a.txt").read_text()


def test_folder_appears_whole(tmp_path):
    target = tmp_path / "new"
    with atomic_folder(target) as folder:
        fill(folder, "first")
        assert not target.exists()
    assert content(target) == "first"
    assert os.listdir(tmp_path) == ["new"]


def test_empty_folder_is_taken_and_a_full_one_refused(tmp_path):
    target = tmp_path / "study"
    target.mkdir()
    with atomic_folder(target) as folder:
        fill(folder, "first")
    with pytest.raises(InputError, match="not empty"), atomic_folder(target):
        pytest.fail("must refuse before anything is written")
    with atomic_folder(target, replace=True) as folder:
        fill(folder, "second")
    assert content(target) == "second"
    assert os.listdir(tmp_path) == ["study"]


def test_file_where_the_folder_should_be(write):
    with pytest.raises(InputError, match="is a file"), atomic_folder(write("a", "x")):
        pass


@pytest.mark.parametrize("replace", [False, True])
def test_exception_leaves_the_old_folder(tmp_path, replace):
    target = tmp_path / "study"
    if replace:
        target.mkdir()
        fill(target, "old")
    with pytest.raises(RuntimeError), atomic_folder(target, replace=replace) as folder:
        break_off(fill(folder, "new"), RuntimeError)
    assert os.listdir(tmp_path) == (["study"] if replace else [])
    assert not replace or content(target) == "old"


def test_failure_between_the_renames_puts_the_old_folder_back(tmp_path, monkeypatch):
    target = tmp_path / "study"
    target.mkdir()
    fill(target, "old")
    rename = Path.rename

    def fail_at_the_second(self: Path, to: Path) -> Path:
        if self.name.endswith(".tmp"):
            raise OSError(28, "No space left on device")
        return rename(self, to)

    monkeypatch.setattr(Path, "rename", fail_at_the_second)
    with (
        pytest.raises(InputError, match="No space left"),
        atomic_folder(target, replace=True) as folder,
    ):
        fill(folder, "new")
    assert content(target) == "old"
    assert os.listdir(tmp_path) == ["study"]


def test_kill_between_the_renames_loses_nothing(tmp_path):
    target = tmp_path / "study"
    target.mkdir()
    fill(target, "old")
    program = f"""
import os, pathlib
from deltableu.io import atomic_folder
rename = pathlib.Path.rename
def killed(self, to):
    if self.name.endswith(".tmp"):
        os.kill(os.getpid(), 9)
    return rename(self, to)
pathlib.Path.rename = killed
with atomic_folder({str(target)!r}, replace=True) as folder:
    (folder / "new.txt").write_text("new")
"""
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": str(source)}, check=False
    )
    assert done.returncode == -9
    assert not target.exists()
    assert content(interrupted_copy(target)) == "old"
    with pytest.raises(RuntimeError), atomic_folder(target, replace=True):
        raise RuntimeError
    assert content(target) == "old"
