"""`deltableu import` on the command line."""

from __future__ import annotations

import json

import pytest

from deltableu import read_study

TABLE = "qid,question,model,answer,gold\n1,how ?,a,so,this way\n1,how ?,b,no,this way\n"


@pytest.fixture
def place(tmp_path, monkeypatch):
    (tmp_path / "t.csv").write_text(TABLE)
    monkeypatch.chdir(tmp_path)
    return tmp_path


COLUMNS = ("--columns", "item=qid,prediction=answer")


def test_import_and_go_on(run, place):
    result = run("import", "table", "t.csv", *COLUMNS, "-o", "study")
    assert (result.code, result.err) == (0, "deltableu: wrote study\n")
    assert ["outputs", "2"] in [line.split() for line in result.out.splitlines()]
    assert run("check", "study").code == 0
    assert run("score", "study").code == 0
    result = run("import", "table", "t.csv", *COLUMNS, "-o", "study")
    assert "the folder is not empty" in result.err
    assert run("import", "table", "t.csv", *COLUMNS, "-o", "study", "--replace").code == 0


def test_a_dry_run_writes_nothing(run, place):
    result = run("import", "table", "t.csv", *COLUMNS, "--dry-run")
    assert result.code == 0
    assert [path.name for path in place.iterdir()] == ["t.csv"]
    for said in ("qid", "item: the item's id", "message     how ?", "references   1"):
        assert " ".join(said.split()) in " ".join(result.out.split())
    result = run("import", "table", "t.csv", *COLUMNS, "--dry-run", "--format", "json")
    assert json.loads(result.out)["counts"]["outputs"] == 2


def test_the_list_of_layouts(run):
    result = run("import", "--list", "--format", "tsv")
    names = [line.split("\t")[0] for line in result.out.splitlines()[1:]]
    assert {"table", "text", "wmt", "mtme", "sgm", "wmt-xml", "dialogue", "sacrebleu"} <= {*names}


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ([], "name a layout, one of "),
        (["tabel", "t.csv", "-o", "s"], "did you mean 'table'?"),
        (["table", "t.csv"], "--output names the study's folder; --dry-run writes nothing"),
        (["table", "-o", "s"], "name at least one table"),
        (["table", "no.csv", "-o", "s"], "no.csv: there is no such file"),
        (["table", "*.tsv", "-o", "s"], "*.tsv: no file matches this pattern"),
        (
            ["table", "t.csv", "-o", "s", "--where", "x"],
            "--where takes such as lang=cs-en",
        ),
        (["table", "t.csv", "-o", "t.csv"], "t.csv: is a file, but a study is written to a folder"),
        (["table", "t.csv", "-o", "s", "--scale", "5"], "a scale is written LOW-HIGH"),
        (["text", "t.csv", "-o", "s"], "name the references with --refs"),
        (["table", "t.txt", "-o", "s"], "is no table that is known: they end in .csv"),
    ],
)
def test_mistakes(arguments, said, run, place, refusal):
    (place / "t.txt").write_text("x\n")
    before = sorted(path.name for path in place.iterdir())
    result = run("import", *arguments)
    refusal(result)
    assert said in result.err
    assert sorted(path.name for path in place.iterdir()) == before


def test_plain_text_with_patterns(run, place):
    (place / "out").mkdir()
    for name in "ab":
        (place / "out" / f"{name}.txt").write_text(f"{name}\n{name}\n")
    (place / "r.txt").write_text("x\ny\n")
    assert run("import", "text", "out/*.txt", "--refs", "r.txt", "-o", "study").code == 0
    assert dict(read_study("study").outputs) == {"a": ("a", "a"), "b": ("b", "b")}
