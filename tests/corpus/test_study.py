from __future__ import annotations

import os
import shutil

import pytest

from deltableu.corpus import Item, Rating, RatingTable, Reference, Study, read_study, write_study
from deltableu.errors import InputError, Problem
from deltableu.io.atomic import interrupted_copy

ITEMS = (Item("q1", (Reference("r0", "yes"),)), Item("q2", (Reference("r0", "no"),)))
STUDY = Study(
    ITEMS,
    {"b": ("x", "y"), "a": ("z", "")},
    RatingTable.from_records([Rating("ann", "q1", "system:a", 4.0)]),
)


def reading(path):
    return lambda report: read_study(path, report=report)


@pytest.fixture
def folder(tmp_path):
    write_study(STUDY, tmp_path / "study")
    return tmp_path / "study"


def test_systems_are_sorted_and_dotfiles_ignored(folder):
    (folder / ".items.tsv").write_text("junk")
    (folder / "outputs" / ".DS_Store").write_text("junk")
    study = read_study(folder)
    assert list(study.outputs) == ["a", "b"]
    assert study.path == folder
    assert study.items == ITEMS
    assert study.ratings == STUDY.ratings


def test_no_folder(tmp_path, the_problem):
    problem = the_problem(reading(tmp_path / "none"))
    assert (problem.file, problem.message) == (str(tmp_path / "none"), "there is no such folder")


def test_file_instead_of_folder(folder, the_problem):
    problem = the_problem(reading(folder / "items.jsonl"))
    assert "a study is a folder" in problem.message


def test_interrupted_write_is_pointed_out(folder, the_problem):
    folder.rename(interrupted_copy(folder))
    assert str(interrupted_copy(folder)) in the_problem(reading(folder)).message


def test_no_items(folder, the_problem):
    (folder / "items.jsonl").unlink()
    problem = the_problem(reading(folder))
    assert problem.file == str(folder)
    assert "items.jsonl" in problem.message


def test_empty_items(folder, problems):
    (folder / "items.jsonl").write_text("\n")
    shutil.rmtree(folder / "outputs")
    (problem,) = problems(reading(folder))
    assert problem.message == "holds no items"


def test_two_items_files(folder, the_problem):
    shutil.copy(folder / "items.jsonl", folder / "items.jsonl.bak")
    read_study(folder)
    (folder / "items.tsv").write_text("id\treference\nq1\tyes\n")
    problem = the_problem(reading(folder))
    assert problem.file == str(folder)
    assert "items.jsonl, items.tsv" in problem.message


def test_two_ratings_files(folder, the_problem):
    (folder / "ratings.tsv").write_text("")
    assert "more than one ratings file" in the_problem(reading(folder)).message


def test_two_files_of_one_system(folder, the_problem):
    (folder / "outputs" / "a.txt").write_text("x\ny\n")
    problem = the_problem(reading(folder))
    assert problem.file == str(folder / "outputs" / "a.txt")
    assert "'a' has two output files" in problem.message


def test_other_files_among_the_outputs_warn(folder, the_problem):
    (folder / "outputs" / "notes.md").write_text("x")
    problem = the_problem(reading(folder))
    assert (problem.file, problem.severity) == (str(folder / "outputs" / "notes.md"), "warning")


def test_bad_item_does_not_make_its_outputs_wrong(folder, the_problem):
    (folder / "items.jsonl").write_text(
        '{"id": "q1", "references": 3}\n{"id": "q2", "references": ["no"]}\n'
    )
    problem = the_problem(reading(folder))
    assert (problem.line, problem.field) == (1, "references")
    study = read_study(folder, report=lambda _: None)
    assert [item.id for item in study.items] == ["q2"]
    assert study.outputs == {"a": ("",), "b": ("y",)}


def test_broken_line_does_not_make_outputs_wrong(folder, the_problem):
    (folder / "items.jsonl").write_text('{"id": "q1"\n{"id": "q2", "references": ["no"]}\n')
    assert the_problem(reading(folder)).line == 1


def test_writing_refuses_a_full_folder_unless_told(folder, tmp_path):
    with pytest.raises(InputError, match="not empty"):
        write_study(STUDY, folder)
    write_study(Study(ITEMS), folder, "tsv", replace=True)
    assert os.listdir(folder) == ["items.tsv"]
    assert os.listdir(tmp_path) == ["study"]


@pytest.mark.parametrize(
    "name",
    [
        "thesis.tex",
        ".git/config",
        ".hidden",
        "outputs/notes.md",
        "outputs/.hidden",
        "outputs/old/a.txt",
        "outputs/a.jsonl.bak",
        "weights.tsv",
        "r0.txt",
        "items.tsv",
        "ratings.jsonl/mine",
        "a -> systems.toml",
        "a.txt -> outputs/link.txt",
    ],
)
def test_replacing_never_deletes_what_is_no_study(name, folder, tmp_path):
    target, _, place = name.rpartition(" -> ")
    path = folder / place
    path.parent.mkdir(parents=True, exist_ok=True)
    path.symlink_to(tmp_path / target) if target else path.write_text("years of work")
    before = sorted(folder.rglob("*"))
    with pytest.raises(InputError, match=r"holds more than a study: move \S+ away"):
        write_study(STUDY, folder, replace=True)
    assert sorted(folder.rglob("*")) == before
    if not target:
        assert path.read_text() == "years of work"


@pytest.mark.parametrize("form", ["jsonl", "tsv", "parquet", "plain"])
def test_what_was_written_can_be_replaced(form, tmp_path):
    study = STUDY if form != "plain" else Study(ITEMS, {"a": ("x", "y")})
    write_study(study, tmp_path / "study", form)
    write_study(study, tmp_path / "study", replace=True)
    assert os.listdir(tmp_path) == ["study"]


@pytest.mark.parametrize(
    ("study", "form", "message"),
    [
        (Study(ITEMS, {"a": ("x",)}), "jsonl", "1 outputs, but 2 items"),
        (Study(ITEMS, {"a/b": ("x", "y")}), "jsonl", "file name"),
        (Study(ITEMS, {".a": ("x", "y")}), "jsonl", "file name"),
        (Study(ITEMS, {"a": ("x\ny", "y")}), "plain", "line break"),
        (STUDY, "plain", "ratings"),
        (STUDY, "xml", "must be one of jsonl, tsv, parquet, plain"),
        (Study((*ITEMS, ITEMS[0])), "jsonl", "used before"),
    ],
)
def test_failed_write_leaves_the_old_study(folder, tmp_path, study, form, message):
    with pytest.raises(InputError, match=message) as raised:
        write_study(study, folder, form, replace=True)
    assert ".tmp" not in str(raised.value)
    assert read_study(folder).items == ITEMS
    assert os.listdir(tmp_path) == ["study"]


def test_a_name_that_no_system_takes(the_problem):
    problem = the_problem(reading("a" * 300))
    assert problem.message == "cannot be read: File name too long"


def test_a_long_id_hides_neither_place_nor_reason():
    problem = Problem("there is no item with this id", "ratings.csv", 7, "item", "y" * 20_000)
    assert len(str(problem)) < 2_100
    assert str(problem).startswith("ratings.csv, line 7, item 'yyy")
    assert str(problem).endswith("yyy', item: there is no item with this id")
