from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from deltableu.corpus import Item, Reference, Source, read_items, write_items
from deltableu.errors import InputError, InputWarning

GOOD = '{"id": "q1", "references": ["yes"]}'


def reading(path):
    return lambda report: read_items(path, report)


def one(**fields: object) -> str:
    return json.dumps({"id": "q1", "references": ["yes"]} | fields)


def reference(**fields: object) -> str:
    return one(references=["first", {"text": "second"} | fields])


def test_full_record(write):
    record = {
        "id": "q1",
        "context": ["hi", "hello"],
        "message": "what's up?",
        "references": [
            {"id": "a", "text": "not much", "weight": 1, "origin": "original"},
            {
                "id": "b",
                "text": "sky",
                "weight": -0.6,
                "origin": "mined",
                "source": {"utterance": "whats up", "id": 17, "score": 3, "rank": 2},
            },
        ],
        "meta": {"split": "test"},
    }
    (item,) = read_items(write("items.jsonl", json.dumps(record)))
    assert item == Item(
        "q1",
        (
            Reference("a", "not much", 1.0),
            Reference("b", "sky", -0.6, "mined", Source("whats up", "17", 3.0, 2)),
        ),
        ("hi", "hello"),
        "what's up?",
        {"split": "test"},
    )


def test_shorthand(write):
    (item,) = read_items(
        write("items.jsonl", '{"id": 7, "references": ["a", {"text": "b"}, {"text": "", "id": 3}]}')
    )
    assert item.id == "7"
    assert item.references == (
        Reference("r0", "a", None, "original"),
        Reference("r1", "b", None, "written"),
        Reference("3", "", None, "written"),
    )


def test_blank_lines_at_the_end_are_nothing(write):
    assert len(list(read_items(write("items.jsonl", GOOD + "\r\n\n \r\n\n")))) == 1


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        ('{"references": ["yes"]}', "id", "is missing"),
        (one(id=None), "id", "is missing"),
        (one(id=""), "id", "must not be empty"),
        (one(id=True), "id", "must be a string, got True"),
        (one(id=1.5), "id", "must be a string, got 1.5"),
        (one(context="hi"), "context", "must be a list of strings, got 'hi'"),
        (one(context=["a", 2]), "context[1]", "must be a string, got 2"),
        (one(message=3), "message", "must be a string, got 3"),
        (one(meta=[1]), "meta", "must be an object, got [1]"),
        (one(references=None), "references", "is missing"),
        (one(references="yes"), "references", "must be a list, got 'yes'"),
        (one(references=["a", 5]), "references[1]", "must be an object or a string, got 5"),
        (one(references=[{}]), "references[0].text", "is missing"),
        (reference(text=1), "references[1].text", "must be a string, got 1"),
        (reference(id=[]), "references[1].id", "must be a string, got []"),
        (reference(id="r0"), "references[1].id", "the id 'r0' is that of references[0]"),
        (reference(weight="1"), "references[1].weight", "must be a number, got '1'"),
        (reference(weight=True), "references[1].weight", "must be a number, got True"),
        (reference(weight=1.5), "references[1].weight", "must lie in [-1, 1], got 1.5"),
        (reference(weight=-2), "references[1].weight", "must lie in [-1, 1], got -2"),
        (
            reference(origin="mind"),
            "references[1].origin",
            "must be one of original, mined, parrot, written, random, got 'mind'",
        ),
        (reference(origin=["mined"]), "references[1].origin", None),
        (reference(source="log"), "references[1].source", "must be an object, got 'log'"),
        (
            reference(source={"rank": 1.5}),
            "references[1].source.rank",
            "must be a whole number, got 1.5",
        ),
        (reference(source={"score": "x"}), "references[1].source.score", None),
        (reference(source={"score": 10**400}), "references[1].source.score", None),
        (reference(source={"utterance": 1}), "references[1].source.utterance", None),
        (reference(source={"id": False}), "references[1].source.id", None),
        (reference(text="\ud800"), "references[1].text", None),
        (one(meta={"a": "\ud800"}), "meta", None),
    ],
)
def test_wrong_fields(write, the_problem, line, field, message):
    path = write("items.jsonl", f'{{"id": "q0", "references": ["yes"]}}\n{line}\n')
    problem = the_problem(reading(path))
    assert (problem.file, problem.line, problem.field) == (str(path), 2, field)
    assert message is None or problem.message == message


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            '{"id": "q1" "references": []}',
            "is not valid JSON at column 13: expecting ',' delimiter",
        ),
        ('{"id": "q1", "weight": NaN}', None),
        ('{"id": "q1", "weight": -Infinity}', None),
        ('{"id": "q1", "meta": 1e999}', "is not usable JSON: the number '1e999' is too large"),
        ('{"id": ' + "9" * 5000 + "}", None),
        ("[" * 100_000, "is not usable JSON: it is nested too deeply"),
        ("[1]", "must be a JSON object such as {...}, got [1]"),
        ("", "is blank: remove the line"),
    ],
)
def test_wrong_lines_are_named_and_skipped(write, the_problem, line, message):
    path = write("items.jsonl", f'{{"id": "q0", "references": ["yes"]}}\n{line}\n{GOOD}\n')
    problem = the_problem(reading(path))
    assert (problem.file, problem.line, problem.field) == (str(path), 2, None)
    assert message is None or problem.message == message
    assert [item.id for item in read_items(path, lambda _: None)] == ["q0", "q1"]


def test_duplicate_item_names_the_first_line(write, the_problem):
    path = write("items.jsonl", f"{GOOD}\n{one(id='q2')}\n{GOOD}\n")
    problem = the_problem(reading(path))
    assert (problem.line, problem.field, problem.item) == (3, "id", "q1")
    assert problem.message == "the id was used before, on line 1"


def test_all_that_is_wrong_with_a_record_is_said_at_once(write, problems):
    path = write("items.jsonl", one(message=1, references=[{"text": 2, "weight": 3}]))
    assert [problem.field for problem in problems(reading(path))] == [
        "message",
        "references[0].text",
        "references[0].weight",
    ]


def test_unknown_keys_warn_once_and_the_item_is_kept(write, problems):
    extra = [{"text": "a", "wieght": 1}, {"text": "b", "wieght": 1}]
    path = write("items.jsonl", "\n".join(one(id=i, ref=1, references=extra) for i in range(3)))
    found = problems(reading(path))
    assert [(p.line, p.field, p.severity) for p in found] == [
        (1, "ref", "warning"),
        (1, "references[0].wieght", "warning"),
    ]
    with (
        pytest.warns(InputWarning, match="ref: is not read"),
        pytest.warns(InputWarning, match="wieght: is not read"),
    ):
        assert len(list(read_items(path))) == 3


def test_reading_streams(write):
    path = write("items.jsonl", GOOD + "\nbroken\n")
    assert next(read_items(path)).id == "q1"


def test_form_that_nobody_knows(write, the_problem):
    path = write("items.xml", "<items/>")
    assert "ends in .jsonl, .tsv or .parquet" in the_problem(reading(path)).message
    with pytest.raises(InputError, match=r"ends in \.jsonl"):
        write_items(path, [])


@pytest.mark.parametrize("name", ["items.jsonl", "items.parquet"])
def test_an_item_may_have_no_reference_yet(name, tmp_path):
    item = Item("q1", (), message="hi")
    write_items(tmp_path / name, [item])
    assert list(read_items(tmp_path / name)) == [item]
    with pytest.raises(InputError, match="TSV has a row per reference"):
        write_items(tmp_path / "items.tsv", [item])


@pytest.mark.parametrize("name", ["items.jsonl", "items.tsv", "items.parquet"])
@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (Item("q2", (Reference("a", "x", 2.0),)), r"must lie in \[-1, 1\]"),
        (Item("q2", (Reference("a", "x", float("nan")),)), r"must lie in \[-1, 1\]"),
        (Item("q2", (Reference("a", "x"),), meta={"a": {1}}), "cannot be written as JSON"),
        (Item("q2", (Reference("a", "x"),), meta={"a": float("nan")}), "cannot be written"),
        (Item("q2", (Reference("a", "\ud800"),)), "surrogate"),
        (Item("q1", (Reference("a", "x"),)), "used before"),
    ],
)
def test_what_could_not_be_read_is_not_written(tmp_path, name, bad, message):
    path = tmp_path / name
    good = Item("q1", (Reference("a", "x"),))
    write_items(path, [good])
    before = path.read_bytes()
    with pytest.raises(InputError, match=message) as raised:
        write_items(path, [good, bad])
    assert raised.value.problem.item == bad.id
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == [name]


HEADER = "id\tcontext\tmessage\treference_id\treference\tweight\torigin\tsource_rank\n"


def test_table(write):
    rows = (
        "id\treference\tweight\tcontext\tmessage\n"
        'q1\tnot\\tmuch\t1\t["hi","you"]\twhat\'s up?\n'
        "q1\t¯\\_(ツ)_/¯\t\t\t\n"
        "q2\t\t-0.5\t[laughs] ok\t\\e\n"
    )
    first, second = read_items(write("items.tsv", rows))
    assert first == Item(
        "q1",
        (
            Reference("r0", "not\tmuch", 1.0, "original"),
            Reference("r1", "¯\\_(ツ)_/¯", None, "written"),
        ),
        ("hi", "you"),
        "what's up?",
    )
    assert second == Item("q2", (Reference("r0", "", -0.5),), ("[laughs] ok",), "")


@pytest.mark.parametrize(
    ("rows", "line", "field", "message"),
    [
        ("q1\t\t\ta\tx\t1.5\t\t\n", 2, "weight", "must lie in [-1, 1], got 1.5"),
        ("q1\t\t\ta\tx\tnan\t\t\n", 2, "weight", "must be a number, got 'nan'"),
        ("q1\t\t\ta\tx\t0,5\t\t\n", 2, "weight", "must be a number, got '0,5'"),
        ("q1\t\t\ta\tx\t\tmind\t\n", 2, "origin", None),
        ("q1\t\t\ta\tx\t\t\ttwo\n", 2, "source_rank", "must be a whole number, got 'two'"),
        ("\t\t\ta\tx\t\t\t\n", 2, "id", "is missing"),
        ("q1\t\t\ta\tx\n", 2, None, "has 5 cells, but the first line names 8"),
        (
            "q1\t\t\ta\tx\t\t\t\nq1\t\t\ta\ty\t\t\t\n",
            3,
            "reference_id",
            "the id 'a' was used on line 2",
        ),
        ("q1\t\tm\ta\tx\t\t\t\nq1\t\tn\tb\ty\t\t\t\n", 3, "message", None),
        (
            "q1\t\t\ta\tx\t\t\t\nq2\t\t\ta\tx\t\t\t\nq1\t\t\tb\ty\t\t\t\n",
            4,
            "id",
            "the rows of an item must stand together, but others end on line 2",
        ),
        ("q1\t\t\ta\tx\t\t\t\n\nq2\t\t\ta\tx\t\t\t\n", 3, None, "is blank: remove the line"),
    ],
)
def test_wrong_tables(write, the_problem, rows, line, field, message):
    path = write("items.tsv", HEADER + rows)
    problem = the_problem(reading(path))
    assert (problem.file, problem.line, problem.field) == (str(path), line, field)
    assert message is None or problem.message == message


@pytest.mark.parametrize(
    ("header", "field", "severity"),
    [
        ("id\ttext\n", "reference", "error"),
        ("id\treference\tid\n", "id", "error"),
        ("id\treference\tcolour\n", "colour", "warning"),
    ],
)
def test_wrong_headers(write, problems, header, field, severity):
    path = write("items.tsv", header)
    found = [p for p in problems(reading(path)) if p.severity == severity]
    assert [(problem.line, problem.field) for problem in found] == [(1, field)]


def test_table_without_header(write, the_problem):
    assert "is empty" in the_problem(reading(write("items.tsv", ""))).message


def test_parquet_names_the_row(tmp_path, the_problem):
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = tmp_path / "items.parquet"
    rows = [{"id": f"q{i}", "references": [{"text": "x", "weight": 0.5}]} for i in range(3000)]
    rows.append({"id": "bad", "references": [{"text": "x", "weight": 2.0}]})
    pq.write_table(pa.Table.from_pylist(rows), path)
    problem = the_problem(reading(path))
    assert (problem.line, problem.field, problem.item) == (3001, "references[0].weight", "bad")
    assert f"{path}, row 3001" in str(problem)
    pq.write_table(pa.table({"id": [1, 2], "references": [["x"], ["y", "z"]]}), path)
    assert [len(item.references) for item in read_items(path)] == [1, 2]


def test_broken_parquet(write, the_problem):
    assert "Parquet" in the_problem(reading(write("items.parquet", b"PAR1 broken"))).message


def test_parquet_without_pyarrow(tmp_path, the_problem, monkeypatch):
    path = tmp_path / "items.parquet"
    write_items(path, [Item("q", (Reference("a", "x"),))])
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    assert "pip install 'deltableu[parquet]'" in the_problem(reading(path)).message
    with pytest.raises(InputError, match="pip install"):
        write_items(path, [])


def test_import_is_light():
    program = "import sys, deltableu.corpus.study; print(sorted({'pyarrow'} & set(sys.modules)))"
    source = Path(__file__).parents[2] / "src"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "PYTHONPATH": str(source)},
        check=True,
        capture_output=True,
        text=True,
    )
    assert done.stdout == "[]\n"
