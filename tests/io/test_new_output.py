"""One rule for all outputs: nothing that is read is overwritten, nothing strange is replaced."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from deltableu.errors import InputError
from deltableu.io import check_apart, check_new_file, check_new_folder, check_work


def no_strangers(folder: Path) -> list[str]:
    return sorted(one.name for one in folder.iterdir() if one.suffix != ".ours")


def test_files_that_may_be_written(tmp_path):
    check_new_file(tmp_path / "new.txt", [tmp_path / "other.txt"])
    (tmp_path / "old.txt").touch()
    check_new_file(tmp_path / "old.txt")
    check_new_file("/dev/null")


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("folder", "is a folder"),
        ("gone/new.txt", "its folder does not exist"),
        ("old.txt", "is there already"),
        ("input.txt", "is read here too"),
        ("link.txt", "is read here too"),
        ("hard.txt", "is read here too"),
        ("study/page.html", "lies in .*study, which is read here"),
    ],
)
def test_files_that_may_not(tmp_path, name, said):
    for folder in ("folder", "study"):
        (tmp_path / folder).mkdir()
    for file in ("old.txt", "input.txt"):
        (tmp_path / file).touch()
    (tmp_path / "link.txt").symlink_to("input.txt")
    os.link(tmp_path / "input.txt", tmp_path / "hard.txt")
    inputs = [tmp_path / "input.txt", tmp_path / "study"]
    with pytest.raises(InputError, match=said):
        check_new_file(tmp_path / name, inputs, replace=name != "old.txt")


@pytest.mark.parametrize("name", ["data/r.csv", "other.csv", "outs/a.txt", "outs/new.txt", "data"])
def test_what_links_in_a_folder_lead_to_is_read_too(tmp_path, name):
    study, outs = tmp_path / "study", tmp_path / "outs"
    for folder in (study, outs, tmp_path / "data"):
        folder.mkdir()
    (tmp_path / "data" / "r.csv").touch()
    (study / "ratings.csv").symlink_to("../data/r.csv")
    (study / "items.jsonl").touch()
    os.link(study / "items.jsonl", tmp_path / "other.csv")
    (outs / "a.txt").touch()
    (outs / "round").symlink_to(study)
    (study / "outputs").symlink_to(outs)
    check_new_file(tmp_path / "new.csv", [study])
    check_new_file(tmp_path / "data" / "new.csv", [study])
    with pytest.raises(InputError, match=r"study, which is read here|as part of .*study"):
        check_apart(tmp_path / name, [study])


def test_a_folder_is_replaced_by_what_is_made_from_it_and_no_other(tmp_path):
    def check(name: str, *, replace: bool = True) -> None:
        source = tmp_path / "box"
        check_new_folder(
            tmp_path / name, replace=replace, what="a box", strangers=no_strangers, source=source
        )

    (tmp_path / "box" / "b.ours").mkdir(parents=True)
    check("box")
    check("new")
    for name, said in (("box/b.ours", "lies in"), ("box/new", "lies in"), ("", "move box away")):
        with pytest.raises(InputError, match=said):
            check(name)
    with pytest.raises(InputError, match="not empty"):
        check("box", replace=False)


def test_folders(tmp_path):
    def check(name: str, *inputs: Path, replace: bool = False) -> None:
        check_new_folder(
            tmp_path / name, inputs, replace=replace, what="a box", strangers=no_strangers
        )

    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    (tmp_path / "old").mkdir()
    (tmp_path / "old" / "a.ours").touch()
    (tmp_path / "full").mkdir()
    for name in "abcd":
        (tmp_path / "full" / name).touch()
    check("new")
    check("empty")
    check("old", replace=True)
    for name, replace, said in (
        ("file", False, "is a file, but a box is written to a folder"),
        ("old", False, "the folder is not empty"),
        ("full", True, "holds more than a box: move a, b, c and others away"),
        ("gone/new", False, "its folder does not exist"),
    ):
        with pytest.raises(InputError, match=said):
            check(name, replace=replace)
    with pytest.raises(InputError, match=r"holds .*a\.ours, which is read here"):
        check("old", tmp_path / "old" / "a.ours", replace=True)
    with pytest.raises(InputError, match=r"lies in .*old, which is read here"):
        check("old/new", tmp_path / "old")


def test_work_lies_apart_from_results(tmp_path):
    check_work(tmp_path / "new.work", [tmp_path / "new"])
    check_work(tmp_path, [tmp_path / "new"])
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="is a file, but checkpoints"):
        check_work(tmp_path / "file", [])
    with pytest.raises(InputError, match=r"lies in .*new, which is read here"):
        check_work(tmp_path / "new" / "work", [], [tmp_path / "new"])
    with pytest.raises(InputError, match=r"lies in .*new, which is written here"):
        check_apart(tmp_path / "new" / "work", [tmp_path / "new"], "written")
