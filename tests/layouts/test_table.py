"""Tables with any columns become studies."""

from __future__ import annotations

import csv
import gzip
import io
import json

import pytest

import deltableu
from deltableu.errors import InputError
from deltableu.layouts import ColumnMap, Request, import_study, study_from
from tests.layouts.kit import judgements, table, texts, write

LONG = (
    "qid,question,model,answer,gold,judge,score\n"
    "1,how ?,a,so,this way,p,4\n"
    "1,how ?,b,no,this way,p,2\n"
    "2,who ?,a,me,you,p,5\n"
    "2,who ?,b,you,you,p,3\n"
)
COLUMNS = "item=qid,prediction=answer"


def test_one_row_per_output(tmp_path):
    study = table(tmp_path, LONG, COLUMNS)
    assert [(item.id, item.message) for item in study.items] == [("1", "how ?"), ("2", "who ?")]
    assert texts(study) == [["this way"], ["you"]]
    assert dict(study.outputs) == {"a": ("so", "me"), "b": ("no", "you")}
    assert judgements(study)[1] == ("p", "1", "system:b", "overall", 2.0)


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("t.csv", lambda text: text),
        ("t.csv", lambda text: text.replace(",", ";")),
        ("t.csv", lambda text: "\ufeff" + text.replace("\n", "\r\n")),
        ("t.tsv", lambda text: text.replace(",", "\t")),
        ("t.tsv", lambda text: text.replace(",", "\t").replace("how ?", '"how ?"')),
        ("t.jsonl", lambda text: "".join(json.dumps(one) + "\n" for one in _rows(text))),
        ("t.json", lambda text: json.dumps(_rows(text))),
        ("t.json", lambda text: json.dumps({"version": 1, "rows": _rows(text)})),
    ],
)
def test_every_form_gives_the_same(name, made, tmp_path):
    expected = table(tmp_path / "a", LONG, COLUMNS)
    assert table(tmp_path / "b", made(LONG), COLUMNS, name=name).items == expected.items
    packed = write(tmp_path, {f"{name}.gz": gzip.compress(made(LONG).encode())})
    request = Request(tuple(packed.values()), ColumnMap.parse(COLUMNS))
    import_study("table", request, tmp_path / "c")
    found = deltableu.read_study(tmp_path / "c")
    assert (found.items, found.outputs) == (expected.items, expected.outputs)
    assert judgements(found) == judgements(expected)


def _rows(text):
    header, *lines = (line.split(",") for line in text.splitlines())
    return [dict(zip(header, line, strict=True)) for line in lines]


def test_several_references_and_raters(tmp_path):
    content = "id,output,ref_a,ref_b,r1,r2\n1,x,a,b,4,\n2,y,c,,3,5\n"
    study = table(tmp_path, content, "references=ref_*,raters=r1+r2")
    assert texts(study) == [["a", "b"], ["c"]]
    assert judgements(study) == [
        ("r1", "1", "system:t", "overall", 4.0),
        ("r1", "2", "system:t", "overall", 3.0),
        ("r2", "2", "system:t", "overall", 5.0),
    ]


def test_lists_in_cells(tmp_path):
    content = (
        'id,output,refs,score,context\n1,x,"[""a"", ""b""]","[4, 5, 3]",one||two||three\n'
        '2,y,"[\'it\', ""it\'s""]","[1, \'N/A\', 2]",alone\n'
    )
    study = table(tmp_path, content, separators={"context": "||"})
    assert texts(study) == [["a", "b"], ["it", "it's"]]
    assert [(item.context, item.message) for item in study.items] == [
        (("one", "two"), "three"),
        ((), "alone"),
    ]
    found = [(rater, item, value) for rater, item, *_, value in judgements(study)]
    assert found == [
        ("rater-1", "1", 4), ("rater-2", "1", 5), ("rater-3", "1", 3),
        ("rater-1", "2", 1), ("rater-3", "2", 2),
    ]  # fmt: skip


def test_good_and_bad_and_weights(tmp_path):
    rows = [{"id": 1, "good": ["a", "b"], "bad": ["c"]}]
    study = study_from(rows, columns={"good": "good", "bad": "bad"})
    assert [(one.text, one.weight, one.origin) for one in study.items[0].references] == [
        ("a", 1.0, "original"),
        ("b", 1.0, "written"),
        ("c", -1.0, "written"),
    ]
    study = study_from([{"id": 1, "refs": ["a", "b"], "weights": [1, -0.5]}])
    assert [one.weight for one in study.items[0].references] == [1.0, -0.5]


def test_files_are_joined_by_item(tmp_path):
    paths = write(
        tmp_path,
        {
            "sys1.tsv": "InstanceID\tout\n1\tx\n2\ty\n",
            "sys2.tsv": "InstanceID\tout\n2\tz\n1\tw\n",
            "gold.tsv": "InstanceID\tReference1\t...\n1\ta\tb\tc\n2\td\n3\te\n",
            "people.csv": "JudgeID InstanceID SystemID good fine\np 1 sys1 4 5\np 2 nobody 1 1\n",
        },
    )
    columns = "item=InstanceID,prediction=out,references=Reference1,system=SystemID,"
    request = Request(
        tuple(paths.values()), ColumnMap.parse(columns + "rater=JudgeID,ratings=good+fine")
    )
    found = import_study("table", request, tmp_path / "study", missing="drop")
    study = deltableu.read_study(tmp_path / "study")
    assert texts(study) == [["a", "b", "c"], ["d"]]
    assert dict(study.outputs) == {"sys1": ("x", "y"), "sys2": ("w", "z")}
    assert judgements(study) == [
        ("p", "1", "system:sys1", "good", 4.0),
        ("p", "1", "system:sys1", "fine", 5.0),
    ]
    assert (found.counts.dropped, found.counts.unknown) == (1, 2)


def test_constants_alternatives_rows_and_filters(tmp_path):
    content = "MR,said,lang\na,x,cs\nb,y,de\n"
    study = table(
        tmp_path, content, "item=mr|MR,prediction=said,system=:gpt", where={"lang": "de"},
        keep_all=True,
    )  # fmt: skip
    assert (study.outputs, [item.id for item in study.items]) == ({"gpt": ("y",)}, ["b"])
    study = table(tmp_path / "b", content, "item=#,prediction=said,references=MR,system=:s")
    assert [item.id for item in study.items] == ["2", "3"]
    assert study.items[0].meta == {"lang": "cs"}


def test_systems_in_an_object():
    study = study_from(
        [
            {
                "id": 1,
                "ref": "r",
                "systems": {"a": {"output": "x", "scores": {"good": 3}}, "b": "y"},
            },
        ]
    )
    assert dict(study.outputs) == {"a": ("x",), "b": ("y",)}
    assert judgements(study) == [("all", "1", "system:a", "good", 3.0)]


def test_plain_text_beside_and_systems_by_line(tmp_path):
    paths = write(
        tmp_path,
        {"h.txt": "x\ny\n", "r0.txt": "a\nb\n", "r1.txt": "c\n\n", "z.csv": "id,score\n1,3\n2,4\n",
         "s.en": "u\nv\n"},
    )  # fmt: skip
    beside = {"prediction": (paths["h.txt"],), "references": (paths["r0.txt"], paths["r1.txt"])}
    request = Request((paths["z.csv"],), beside=beside, systems=(paths["s.en"],), names="{}.en")
    import_study("table", request, tmp_path / "study")
    study = deltableu.read_study(tmp_path / "study")
    assert texts(study) == [["a", "c"], ["b"]]
    assert dict(study.outputs) == {"s": ("u", "v"), "z": ("x", "y")}
    paths["h.txt"].write_text("x\n")
    with pytest.raises(InputError, match=r"h\.txt: has 1 rows or lines, but another file has more"):
        import_study("table", request, tmp_path / "other")


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow", "dict", "list", "generator"])
def test_tables_in_memory(kind):
    columns = {"id": [1, 2], "answer": ["x", None], "gold": ["a", "b"], "note": ["n", None]}
    rows = [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]
    given = {
        "pandas": lambda: pytest.importorskip("pandas").DataFrame(columns),
        "polars": lambda: pytest.importorskip("polars").DataFrame(columns, strict=False),
        "arrow": lambda: pytest.importorskip("pyarrow").table(columns),
        "dict": lambda: columns,
        "list": lambda: rows,
        "generator": lambda: (row for row in rows),
    }[kind]()
    study = study_from(
        given, columns={"prediction": "answer", "references": "gold"}, missing="empty", system="s"
    )
    assert texts(study) == [["a"], ["b"]]
    assert dict(study.outputs) == {"s": ("x", "")}
    assert study.items[0].meta == {"note": "n"}


@pytest.mark.parametrize(
    ("content", "columns", "said"),
    [
        ("a,b\n1,2\n", "", "no column says what is in it: map some of 'a', 'b' with --columns"),
        ("id,output,ref\n1,x\n", "", r"t.csv, line 2: has 2 cells, but the header names 3 columns"),
        ("id,output,ref\n1,x,a\n1,y,a\n", "", "line 3, item '1', prediction: system 't' said 'x'"),
        ("id,id,ref\n1,1,a\n", "", "line 1, id: the column is named twice"),
        ("id,prompt,ref\n1,a,x\n1,b,x\n", "", "item '1', message: was 'a' before and is 'b' here"),
        ("id,output,ref,score\n1,x,a,good\n", "", "line 2, score: must be a number, got 'good'"),
        ("id,output,ref\n,x,a\n", "", "line 2, id: the item's id is missing"),
        (LONG, "item=quid", "did you mean 'qid'?"),
        (LONG, "itm=qid", "did you mean 'item'?"),
        (LONG, "item", "--columns takes such as item=segment_id, got 'item'"),
        (LONG, "system=model+judge", "system is one column, got 2"),
        ("", "", "t.csv: is empty"),
        ("id,ref\n1,\n", "", "no item has a reference"),
        ("rater,item,target,value\nann,1,reference:r0,4\n", "", "t.csv: holds ratings of a study"),
        ('id,ref\n1,"a\n', "", "line 2: a quotation mark is never closed"),
        (b"id,ref\n1,\xff\n", "", "line 2: is not valid UTF-8"),
        (
            "id,ref,output,model\n1,a,x,s\n2,b,,s\n3,c,y,t\n",
            "",
            "item '3': system 's' has no output",
        ),
    ],
)
def test_bad_tables(content, columns, said, tmp_path):
    paths = write(tmp_path, {"t.csv": content})

    def bad() -> None:
        request = Request((paths["t.csv"],), ColumnMap.parse(columns or None))
        import_study("table", request, tmp_path / "s")

    with pytest.raises(InputError) as caught:
        bad()
    assert said in str(caught.value)
    assert not (tmp_path / "s").exists()


def test_a_study_is_never_half_written(tmp_path, monkeypatch):
    paths = write(tmp_path, {"t.csv": LONG})
    request = Request((paths["t.csv"],), ColumnMap.parse(COLUMNS))

    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("deltableu.layouts.gathering.write_ratings", interrupted)
    with pytest.raises(KeyboardInterrupt):
        import_study("table", request, tmp_path / "s")
    assert sorted(one.name for one in tmp_path.iterdir()) == ["t.csv"]


def test_surplus_cells_of_the_csv_module():
    rows = csv.DictReader(io.StringIO("id,output,ref\n1,x,y\n2,z,w,more\n"))
    with pytest.raises(InputError, match="row 2: names of columns must be strings, got None"):
        study_from(rows)
