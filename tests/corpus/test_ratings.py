from __future__ import annotations

import json
import os

import pytest

from deltableu.corpus import Rating, read_ratings, write_ratings
from deltableu.errors import InputError, InputWarning

GOOD = {"rater": "ann", "item": "q1", "target": "system:a", "value": 4}


def reading(path):
    return lambda report: read_ratings(path, report)


def test_columns_in_any_order_and_only_four_needed(write):
    path = write("ratings.csv", "\ufeffvalue,target,item,rater\r\n4,system:a,q1,ann\r\n")
    assert list(read_ratings(path)) == [Rating("ann", "q1", "system:a", 4.0)]


def test_defaults_stand_for_empty_cells(write):
    path = write(
        "ratings.csv",
        "rater,item,target,criterion,value,scale,kind,pair,position,started,finished\n"
        "ann,q1,reference:r0,,4,1-5,,p1,1.0,,2024-01-01T00:00:00Z\n",
    )
    assert list(read_ratings(path)) == [
        Rating(
            "ann",
            "q1",
            "reference:r0",
            4.0,
            scale="1-5",
            pair="p1",
            position=1,
            finished="2024-01-01T00:00:00Z",
        )
    ]


def test_written_file_is_what_people_expect(tmp_path):
    write_ratings(tmp_path / "r.csv", [Rating("ann", 'say "hi", you', "system:a", 4.0)])
    assert (tmp_path / "r.csv").read_text() == (
        "rater,item,target,criterion,value,scale,kind,pair,position,started,finished\n"
        'ann,"say ""hi"", you",system:a,overall,4,,item,,,,\n'
    )


WRONG = [
    ({"rater": None}, "rater", "is missing"),
    ({"item": None}, "item", "is missing"),
    ({"target": "a"}, "target", "must be system:NAME or reference:ID, got 'a'"),
    ({"target": "system:"}, "target", None),
    ({"target": "person:x"}, "target", None),
    ({"value": None}, "value", "is missing"),
    ({"value": "good"}, "value", "must be a number, got 'good'"),
    ({"value": "nan"}, "value", "must be a number, got 'nan'"),
    ({"value": 6, "scale": "1-5"}, "value", "must lie on its scale 1-5, got 6"),
    ({"scale": "5"}, "scale", None),
    ({"kind": "items"}, "kind", None),
    ({"position": 1.5}, "position", "must be a whole number, got 1.5"),
    ({"position": "left"}, "position", None),
]


@pytest.mark.parametrize("form", ["csv", "tsv", "jsonl"])
@pytest.mark.parametrize(("wrong", "field", "message"), WRONG)
def test_wrong_fields(write, the_problem, form, wrong, field, message):
    records = [GOOD, GOOD | wrong]
    if form == "jsonl":
        content = "".join(json.dumps(record) + "\n" for record in records)
        line = 2
    else:
        columns = list(GOOD | wrong)
        mark = "," if form == "csv" else "\t"
        cells = [[str(one.get(c) or "") for c in columns] for one in records]
        content = "".join(mark.join(row) + "\n" for row in [columns, *cells])
        line = 3
    path = write(f"ratings.{form}", content)
    problem = the_problem(reading(path))
    assert (problem.file, problem.line, problem.field) == (str(path), line, field)
    assert message is None or problem.message == message


def test_boolean_is_no_number(write, the_problem):
    path = write("ratings.jsonl", json.dumps(GOOD | {"value": True}))
    assert the_problem(reading(path)).field == "value"


def test_line_is_where_the_record_starts(write, problems):
    path = write(
        "ratings.csv",
        'rater,item,target,value\n"two\r\n\nlines",q1,system:a,4\n'
        '"x\ny",q1,system:a,bad\nz,q1,system:a,bad\n',
    )
    found = []
    (rating,) = read_ratings(path, found.append)
    assert rating.rater == "two\r\n\nlines"
    assert [problem.line for problem in found] == [5, 7]


@pytest.mark.parametrize(
    ("rows", "line", "message"),
    [
        ("ann,q1,system:a\n", 2, "has 3 cells, but the first line names 4"),
        ("\nann,q1,system:a,4\n", 2, "is blank: remove the line"),
        (
            'a,b,system:a,4\nann,"q1,system:a,4\nb\n',
            3,
            "a quote opens in this record and is never closed",
        ),
        ("ann\rbob,q1,system:a,4\n", 2, "holds a carriage return outside quotes"),
        ('"ann"x,q1,system:a,4\n', 2, None),
        ('ann,"' + "x" * 140_000 + '",system:a,4\n', 2, None),
    ],
)
def test_wrong_csv(write, the_problem, rows, line, message):
    path = write("ratings.csv", "rater,item,target,value\n" + rows)
    problem = the_problem(reading(path))
    assert (problem.file, problem.line) == (str(path), line)
    assert message is None or problem.message == message


def test_invalid_utf8_in_csv_does_not_shift_line_numbers(write, problems):
    path = write("ratings.csv", b"rater,item,target,value\n\xff,q,system:a,4\na,q,system:a,x\n")
    assert [problem.line for problem in problems(reading(path))] == [2, 3]


def test_missing_columns_are_all_named(write, problems):
    path = write("ratings.csv", "rater;item;target;value\n")
    errors = [p for p in problems(reading(path)) if p.severity == "error"]
    assert [problem.field for problem in errors] == ["rater", "item", "target", "value"]


def test_missing_file(tmp_path, the_problem):
    for form in ("csv", "tsv", "jsonl", "parquet"):
        problem = the_problem(reading(tmp_path / f"ratings.{form}"))
        assert problem.message == "there is no such file"


def test_unknown_column_warns(write):
    path = write("ratings.csv", "rater,item,target,value,mood\nann,q1,system:a,4,fine\n")
    with pytest.warns(InputWarning, match="mood"):
        assert len(list(read_ratings(path))) == 1


def test_parquet_timestamps_become_text(tmp_path):
    import datetime

    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "ratings.parquet"
    started = datetime.datetime(2024, 1, 1, 12, 0)
    pq.write_table(pa.Table.from_pylist([GOOD | {"started": started}]), path)
    assert next(iter(read_ratings(path))).started == "2024-01-01T12:00:00"


def test_form_that_nobody_knows(write, the_problem):
    path = write("ratings.xlsx", "")
    assert "ends in .csv" in the_problem(reading(path)).message
    with pytest.raises(InputError, match="ends in"):
        write_ratings(path, [])


def test_bad_rating_leaves_the_old_file(tmp_path):
    path = tmp_path / "ratings.csv"
    good = Rating("ann", "q1", "system:a", 4.0)
    write_ratings(path, [good])
    with pytest.raises(InputError, match="scale"):
        write_ratings(path, [good, Rating("ann", "q1", "system:a", 9.0, scale="1-5")])
    assert list(read_ratings(path)) == [good]
    assert os.listdir(tmp_path) == ["ratings.csv"]
