"""What files call their columns."""

from __future__ import annotations

import json

import pytest

from deltableu.errors import InputError, find_name, hint_at
from deltableu.io import TableColumns, read_table_rows, write_rows

ROWS = [
    {"model": "A", "seg": "q1", "score": "x", "bleu": "1", "comet": "2"},
    {"model": "B", "seg": "q1", "score": "y", "bleu": "3", "comet": ""},
]


def written(tmp_path, form):
    path = tmp_path / f"t.{form}"
    if form == "jsonl":
        path.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    elif form == "parquet":
        pytest.importorskip("pyarrow")
        write_rows(path, ROWS, dict.fromkeys(ROWS[0], "string"))
    else:
        mark = "," if form == "csv" else "\t"
        lines = [mark.join(ROWS[0]), *(mark.join(row.values()) for row in ROWS)]
        path.write_text("\n".join(lines) + "\n")
    return path


def columns(**names):
    return TableColumns(
        ("system", "item"), ("score",), ("metrics",), names=names, option="--columns"
    )


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
def test_columns_are_called_by_our_names(tmp_path, form):
    wanted = columns(system="model", item="seg", score="bleu")
    rows = [dict(row) for _, row in read_table_rows(written(tmp_path, form), wanted)]
    assert [(row["system"], row["item"], row["score"]) for row in rows] == [
        ("A", "q1", "1"),
        ("B", "q1", "3"),
    ]
    assert rows[0]["comet"] == "2"


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl", "parquet"])
@pytest.mark.parametrize("several", ["bleu+comet", "bleu + com*", "*[tu]"])
def test_several_columns_stand_under_one_name(tmp_path, form, several):
    wanted = columns(system="model", item="seg", metrics=several)
    ((_, row), _) = read_table_rows(written(tmp_path, form), wanted)
    assert row["metrics"] == {"bleu": "1", "comet": "2"}


def test_a_pattern_passes_over_what_is_read_anyway(tmp_path):
    wanted = columns(system="model", item="seg", score="score", metrics="*")
    ((_, row), _) = read_table_rows(written(tmp_path, "csv"), wanted)
    assert list(row["metrics"]) == ["bleu", "comet"]


@pytest.mark.parametrize("form", ["csv", "jsonl", "parquet"])
@pytest.mark.parametrize(
    ("names", "field", "said"),
    [
        (
            {"system": "model"},
            "item",
            "no column 'item': there are model, seg, score, bleu, comet; "
            "say which it is with --columns item=NAME",
        ),
        ({"system": "modell", "item": "seg"}, "system", "did you mean 'model'?"),
        ({"system": "model", "item": "seg", "metrics": "bleu+come"}, "metrics", "'comet'?"),
        ({"system": "model", "item": "seg", "metrics": "x*"}, "metrics", "no column 'x*'"),
        ({"system": "model", "item": "seg", "score": "bleurt"}, "score", "no column 'bleurt'"),
    ],
)
def test_what_is_missing_is_said_with_what_is_there(tmp_path, form, names, field, said):
    path = written(tmp_path, form)
    with pytest.raises(InputError) as raised:
        list(read_table_rows(path, columns(**names)))
    problem = raised.value.problem
    assert (problem.file, problem.line, problem.field) == (str(path), 1, field)
    assert said in problem.message


def test_sentences_stay_short_where_columns_are_many(tmp_path, the_problem):
    path = tmp_path / "t.csv"
    path.write_text(",".join(f"a_long_name_of_column_{n}" for n in range(500)) + "\n")
    wanted = columns(system="a_long_name_of_column_0", item="x" * 50)
    problem = the_problem(lambda report: read_table_rows(path, wanted, report))
    assert "a_long_name_of_column_0, " in problem.message
    assert " more" in problem.message


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match=r"no column 'sytem'.*did you mean 'system'"):
        columns(sytem="model")
    with pytest.raises(InputError, match="must be the name of a column"):
        columns(system="")
    with pytest.raises(InputError, match="columns must be"):
        TableColumns(("a",), names="a=b")


def test_names_that_are_alike():
    assert find_name("ChrF++", ["chrf", "chrf++"]) == "chrf++"
    assert find_name("a", ["A", "a"]) == "a"
    assert find_name("ab", ["Ab", "aB"]) == "ab"  # which of them?
    assert hint_at("CHRFF", ["bleu", "chrf"]) == "; did you mean 'chrf'?"
    assert hint_at("x" * 10_000, ["x" * 10_001]) == ""
    assert hint_at(None, ["none"]) == ""
