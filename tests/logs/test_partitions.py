"""Logs are found wherever they lie, cut into partitions, and every row is read exactly once."""

from __future__ import annotations

import gzip
import json
import os
import pickle
import sys
import tracemalloc
from collections import namedtuple
from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import fsspec
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from deltableu.errors import InputError, Problem
from deltableu.io import BrokenFile
from deltableu.io.delimited import write_tsv
from deltableu.io.problems import fail
from deltableu.logs.blocks import Block
from deltableu.logs.partitions import Partition, find_partitions

ROWS = [(f"utterance {i} é", f"response\t{i}\n\\n", f"id{i}", f"t{i // 3}") for i in range(50)]
NAMES = ("utterance", "response", "id", "thread")
PAIR = '{"utterance": "u", "response": "r"}\n'
HEADER = "utterance\tresponse\n"

Row = tuple[str, str, str, str]


def rows_of(partition: Partition, report=fail) -> list[Row]:
    return [row for block in partition.blocks(report) for row in block_rows(block)]


def block_rows(block: Block) -> Iterator[Row]:
    nothing = [""] * len(block)
    ids = nothing if block.ids is None else block.ids
    threads = nothing if block.threads is None else block.threads
    yield from zip(block.utterances, block.responses, ids, threads, strict=True)


def all_rows(logs: Any, **settings: int) -> list[Row]:
    return [row for one in find_partitions(logs, **settings) for row in rows_of(one)]


def zstd(content: bytes) -> bytes:
    return pa.compress(content, codec="zstd", asbytes=True)


def write_log(path: Path, rows: list[Row] = ROWS) -> Path:
    """Write rows in the form that the name promises."""
    path.parent.mkdir(parents=True, exist_ok=True)
    records = [dict(zip(NAMES, row, strict=True)) for row in rows]
    plain = path.with_name(path.name.removesuffix(".gz").removesuffix(".zst"))
    if plain.suffix == ".parquet":
        pq.write_table(pa.Table.from_pylist(records), path, row_group_size=10)
        return path
    if plain.suffix == ".tsv":
        write_tsv(plain, NAMES, records)
    else:
        plain.write_text("".join(json.dumps(record) + "\n" for record in records))
    if path.suffix in (".gz", ".zst"):
        pack = partial(gzip.compress, compresslevel=1) if path.suffix == ".gz" else zstd
        path.write_bytes(pack(plain.read_bytes()))
        plain.unlink()
    return path


FORMS = ["a.tsv", "a.jsonl", "a.parquet", "a.tsv.gz", "a.tsv.zst", "a.jsonl.gz", "a.jsonl.zst"]


@pytest.fixture
def write(tmp_path: Path) -> Callable[[str, str | bytes], Path]:
    def write(name: str, content: str | bytes) -> Path:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    return write


def the_error(logs: Any, **settings: int) -> str:
    with pytest.raises(InputError) as raised:
        find_partitions(logs, **settings)
    assert len(raised.value.problem.message) < 200
    assert "\n" not in str(raised.value)
    return str(raised.value)


# Every form


@pytest.mark.parametrize("name", FORMS)
def test_every_form_holds_the_same_rows(tmp_path, name):
    path = write_log(tmp_path / name)
    assert all_rows(path) == ROWS
    assert all_rows(str(path), block_rows=1) == ROWS
    assert all_rows([path], partition_bytes=1, block_rows=7) == ROWS


@pytest.mark.parametrize("name", FORMS)
def test_partitions_tell_their_name_size_and_progress(tmp_path, name):
    path = write_log(tmp_path / name)
    partitions = find_partitions(path, partition_bytes=700, block_rows=4)
    cut = name in FORMS[:3]
    assert (len(partitions) > 1) == cut
    assert (partitions[0].name == str(path)) == (not cut)
    assert len({one.name for one in partitions}) == len(partitions)
    assert all(one.name.startswith(str(path)) for one in partitions)
    total = sum(one.size for one in partitions)
    assert 0 <= path.stat().st_size - total < (2500 if name == "a.parquet" else 1)
    for one in partitions:
        read = [block.read for block in one.blocks()]
        assert read == sorted(read)
        assert not read or read[-1] == one.size


def test_names_of_parts(tmp_path):
    text = find_partitions(write_log(tmp_path / "a.tsv"), partition_bytes=1000)
    assert text[1].name == f"{tmp_path}/a.tsv, bytes 1000-2000"
    groups = find_partitions(write_log(tmp_path / "a.parquet"), partition_bytes=1)
    assert [one.name for one in groups] == [
        f"{tmp_path}/a.parquet, row group {i}" for i in range(5)
    ]
    size = groups[0].size + 1
    groups = find_partitions(tmp_path / "a.parquet", partition_bytes=size)
    assert groups[0].name == f"{tmp_path}/a.parquet, row groups 0-1"
    assert find_partitions([("a", "b")] * 3)[0].name == "rows 0-3"


@pytest.mark.parametrize("name", FORMS)
def test_partitions_may_be_sent_to_other_machines(tmp_path, name):
    for one in find_partitions(write_log(tmp_path / name), partition_bytes=500):
        again = pickle.loads(pickle.dumps(one))
        assert (again.name, again.size, again.fingerprint) == (one.name, one.size, one.fingerprint)
        assert rows_of(again) == rows_of(one)


@pytest.mark.parametrize("name", FORMS)
def test_fingerprints_change_with_the_file_and_only_then(tmp_path, name):
    path = write_log(tmp_path / name)

    def prints() -> list[str]:
        return [one.fingerprint for one in find_partitions(path, partition_bytes=500)]

    first = prints()
    assert first == prints()
    assert len(set(first)) == len(first)
    os.utime(path, ns=(1, 1))
    second = prints()
    assert not set(first) & set(second)
    write_log(path, [*ROWS, ROWS[0]])
    os.utime(path, ns=(1, 1))
    assert not set(second) & set(prints())


def test_columns_and_keys_that_are_not_read_are_no_matter(write):
    tsv = "time\tresponse\tx\tutterance\n9\tr\t\tu\n"
    assert all_rows(write("a.tsv", tsv)) == [("u", "r", "", "")]
    line = '{"response": "r", "time": 9, "x": {"utterance": 1}, "utterance": "u", "id": 5}\n'
    assert all_rows(write("a.jsonl", line)) == [("u", "r", "5", "")]


def test_empty_texts_are_texts(write):
    assert all_rows(write("a.tsv", HEADER + "\tr\n\\e\t\n")) == [("", "r", "", ""), ("",) * 4]
    assert all_rows(write("a.jsonl", '{"utterance":"","response":""}')) == [("",) * 4]


def test_logs_without_rows(write, tmp_path):
    assert all_rows(write("a.tsv", HEADER)) == []
    assert all_rows(write("a.jsonl", "")) == []
    assert all_rows(write("b.jsonl", "\n \r\n\n")) == []
    nothing = pa.array([], pa.string())
    pq.write_table(pa.table({"utterance": nothing, "response": nothing}), tmp_path / "a.parquet")
    assert all_rows(tmp_path / "a.parquet") == []
    assert len(find_partitions([tmp_path / "a.parquet", tmp_path / "a.tsv"])) == 2


def test_several_members_and_frames_are_one_file(write):
    one, two = (HEADER + "a\tb\n").encode(), b"c\td\n"
    wanted = [("a", "b", "", ""), ("c", "d", "", "")]
    assert all_rows(write("a.tsv.gz", gzip.compress(one) + gzip.compress(two))) == wanted
    assert all_rows(write("a.tsv.zst", zstd(one) + zstd(two))) == wanted


# Where logs lie


def test_folders_are_read_by_name_and_leave_out_what_is_hidden(tmp_path):
    for number, name in enumerate(["b.tsv", "a.jsonl.gz", "sub/c.parquet", "sub/a.tsv.zst"]):
        write_log(tmp_path / name, ROWS[number : number + 1])
    for name in (".hidden.tsv", "_part.tsv", "_temporary/a.tsv", ".git/a.tsv"):
        write_log(tmp_path / name)
    (tmp_path / "README.md").write_text("not a log")
    (tmp_path / "_SUCCESS").write_text("")
    files = [os.path.relpath(one.name, tmp_path) for one in find_partitions(tmp_path)]
    assert files == ["a.jsonl.gz", "b.tsv", "sub/a.tsv.zst", "sub/c.parquet"]
    assert all_rows(tmp_path) == [ROWS[1], ROWS[0], ROWS[3], ROWS[2]]


@pytest.mark.parametrize(
    ("pattern", "files"),
    [
        ("*.tsv", ["a.tsv", "b.tsv"]),
        ("**/*.tsv", ["a.tsv", "b.tsv", "x/c.tsv", "x/y/d.tsv"]),
        ("*", ["a.tsv", "b.tsv", "x/c.tsv", "x/y/d.tsv"]),
        ("[ab].*", ["a.tsv", "b.tsv"]),
        ("x/?.tsv", ["x/c.tsv"]),
        ("a[1].jsonl", ["a[1].jsonl"]),
    ],
)
@pytest.mark.parametrize("remote", [False, True])
def test_patterns(tmp_path, pattern, files, remote):
    names = ["b.tsv", "a.tsv", "x/y/d.tsv", "x/c.tsv", "notes.txt"]
    if pattern == "a[1].jsonl":
        names.append("a[1].jsonl")
    root = f"memory://{tmp_path}" if remote else str(tmp_path)
    for name in names:
        content = PAIR if name.endswith("jsonl") else HEADER
        with fsspec.open(f"{root}/{name}", "w", auto_mkdir=True) as stream:
            stream.write(content)
    found = [one.name for one in find_partitions(f"{root}/{pattern}")]
    assert [os.path.relpath(one.removeprefix("memory://"), tmp_path) for one in found] == files


def test_logs_come_in_the_order_given_and_once(tmp_path):
    for name in "cab":
        write_log(tmp_path / f"{name}.tsv", ROWS[:1])
    paths = [tmp_path / "c.tsv", f"{tmp_path}/*.tsv", f"file://{tmp_path}/a.tsv", str(tmp_path)]
    assert [Path(one.name).stem for one in find_partitions(paths)] == ["c", "a", "b"]


@pytest.fixture
def memory(tmp_path) -> str:
    """A folder of fsspec's file system in memory, with a log of every form."""
    for name in FORMS:
        path = write_log(tmp_path / name)
        with fsspec.open(f"memory://{tmp_path}/logs/{name}", "wb") as stream:
            stream.write(path.read_bytes())
    return f"memory://{tmp_path}/logs"


@pytest.mark.parametrize("name", FORMS)
def test_urls(memory, name):
    assert all_rows(f"{memory}/{name}") == ROWS
    parts = find_partitions(f"{memory}/{name}", partition_bytes=300, block_rows=3)
    assert [row for one in parts for row in rows_of(one)] == ROWS
    again = pickle.loads(pickle.dumps(parts))
    assert [row for one in again for row in rows_of(one)] == ROWS
    assert [one.fingerprint for one in again] == [one.fingerprint for one in parts]
    assert parts[0].name.startswith("memory://")
    assert name in parts[0].name


def test_folders_behind_urls(memory):
    assert len(find_partitions(memory)) == len(FORMS)
    assert all_rows([memory + "/*.gz", memory + "/a.parquet"]) == ROWS * 3
    assert len(find_partitions(memory.rpartition("/")[0])) == len(FORMS)


def test_urls_of_files_that_change_have_new_fingerprints(memory):
    url = f"{memory}/a.jsonl"
    (before,) = find_partitions(url)
    with fsspec.open(url, "w") as stream:
        stream.write(PAIR)
    (after,) = find_partitions(url)
    assert before.fingerprint != after.fingerprint
    assert rows_of(after) == [("u", "r", "", "")]


def test_chained_urls(memory):
    assert all_rows(f"simplecache::{memory}/a.tsv") == ROWS


@pytest.mark.parametrize(
    ("logs", "sentence"),
    [
        ("no.tsv", "no.tsv: there is no such file"),
        ("no", "no: there is no such file or folder"),
        ("*.tsv", "*.tsv: no file matches this pattern"),
        ("notes.txt", "notes.txt: is not known as a log: log files end in"),
        ("a.parquet.gz", "a.parquet.gz: is not known as a log"),
        ("*.txt", "*.txt: holds no logs: log files end in .jsonl, .tsv or .parquet"),
        ("empty", "empty: holds no logs"),
        ("pipe.jsonl", "pipe.jsonl: is not an ordinary file"),
        ("memory://no/no.tsv", "memory://no/no.tsv: there is no such file"),
        ("memory://no", "memory://no: there is no such file"),
        ("memory://no/*.tsv", "memory://no/*.tsv: no file matches this pattern"),
        ("nowhere://a.tsv", "nowhere://a.tsv: cannot be read: Protocol not known: nowhere"),
        ([], "there are no logs: name at least one file or folder"),
        (["notes.txt", ("a", "b")], "logs are either paths or rows, not both"),
        ([3], "logs[0]: must be a path, or a row with utterance and response, got 3"),
    ],
)
def test_logs_that_are_not_there(tmp_path, monkeypatch, logs, sentence):
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("")
    Path("a.parquet.gz").write_text("")
    Path("empty").mkdir()
    os.mkfifo("pipe.jsonl")
    assert the_error(logs).startswith(sentence)


def test_settings_are_checked(tmp_path):
    path = write_log(tmp_path / "a.tsv")
    assert the_error(path, partition_bytes=0) == "partition_bytes: must be 1 or more, got 0"
    assert the_error(path, block_rows=-1) == "block_rows: must be 1 or more, got -1"


def test_packages_that_are_missing_are_named(tmp_path, monkeypatch):
    write_log(tmp_path / "a.parquet")
    write_log(tmp_path / "a.tsv.zst")
    for package in ("pyarrow", "pyarrow.parquet", "fsspec"):
        monkeypatch.setitem(sys.modules, package, None)
    assert the_error(tmp_path / "a.parquet").endswith(
        "Parquet files need pyarrow: run pip install 'deltableu[parquet]'"
    )
    assert the_error(tmp_path / "a.tsv.zst").endswith(
        "Zstandard files need pyarrow: run pip install 'deltableu[parquet]'"
    )
    assert the_error("s3://b/a.tsv") == (
        "s3://b/a.tsv: URLs need fsspec: run pip install 'deltableu[cluster]'"
    )


# Wrong columns


@pytest.mark.parametrize(
    ("header", "sentence"),
    [
        ("", "the first line must name the columns, at least utterance and response"),
        ("\n", "the first line must name the columns, at least utterance and response"),
        ("dialog\tturn\tspeaker\ttext\n", "the first line names no column 'utterance'"),
        ("utterance\tid\n", "the first line names no column 'response', which is required"),
        ("utterance\tresponse\tutterance\n", "utterance: the column is named twice"),
        ("id\tutterance\tresponse\tid\n", "id: the column is named twice"),
    ],
)
@pytest.mark.parametrize("packed", [False, True])
def test_headers(write, header, sentence, packed):
    content = (header + ROWS[0][0]).encode() if header else b""
    path = write("a.tsv.gz" if packed else "a.tsv", gzip.compress(content) if packed else content)
    assert sentence in the_error(path)


def test_headers_behind_urls_are_checked_when_they_are_read(tmp_path):
    url = f"memory://{tmp_path}/bad.tsv"
    with fsspec.open(url, "w") as stream:
        stream.write("dialog\ttext\na\tb\n")
    (partition,) = find_partitions(url)
    told: list[Problem] = []
    with pytest.raises(BrokenFile, match="names no column 'utterance'"):
        rows_of(partition, told.append)
    assert len(told) == 1


def test_spaces_around_column_names_and_other_columns_named_twice(write):
    path = write("a.tsv", " utterance \tx\tx\tresponse\r\na\t1\t2\tb\r\n")
    assert all_rows(path) == [("a", "b", "", "")]


# Bad rows

BAD_TSV = HEADER + "a\tb\nno tab\n\nc\td\ne\tf\tg\n" + "x\ty\n" * 30 + "\xff\tz\n" + "q\tr\n"


@pytest.mark.parametrize("partition_bytes", [1, 10, 64, 1000])
def test_bad_rows_are_named_by_their_line_in_the_whole_file(write, partition_bytes):
    path = write("a.tsv", BAD_TSV.encode("latin-1"))
    told: list[Problem] = []
    partitions = find_partitions(path, partition_bytes=partition_bytes)
    rows = [row for one in partitions for row in rows_of(one, told.append)]
    assert len(rows) == 33
    assert [str(problem).removeprefix(f"{path}, ") for problem in told] == [
        "line 3: has 1 cell, but the first line names 2",
        "line 4: is blank: remove the line",
        "line 6: has 3 cells, but the first line names 2",
        "line 37: is not valid UTF-8 (byte 0xff at position 1): save the file as UTF-8",
    ]


def test_line_numbers_do_not_depend_on_what_was_asked_before(write):
    body = "".join("bad\n" if i % 7 == 0 else f"u\t{i}\n" for i in range(300))
    path = write("a.tsv", HEADER + body)
    partitions = find_partitions(path, partition_bytes=100)
    for one in [*reversed(partitions), *partitions]:
        told: list[Problem] = []
        rows_of(one, told.append)
        for problem in told:
            assert (problem.line - 2) % 7 == 0


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("{", "is not valid JSON at column 2: expecting property name enclosed in double quotes"),
        ("[1]", "must be a JSON object such as {...}, got [1]"),
        ('{"utterance": "u"}', "response: is missing"),
        ('{"utterance": null, "response": 3}', "utterance: is missing"),
        ('{"utterance": "u", "response": 3}', "response: must be a string, got 3"),
        (
            '{"utterance": "u", "response": "r", "id": []}',
            "id: must be a string or a whole number, got []",
        ),
        (
            '{"utterance": "u", "response": "\\ud800"}',
            "response: holds a lone surrogate, which is no text: repair the escape",
        ),
    ],
)
def test_bad_objects_are_one_problem_each_and_left_out(write, line, sentence):
    path = write("a.jsonl", PAIR + line + "\n" + PAIR)
    told: list[Problem] = []
    (partition,) = find_partitions(path)
    assert len(rows_of(partition, told.append)) == 2
    (problem,) = told
    separator = ": " if sentence[:2] in ("is", "mu") else ", "
    assert str(problem) == f"{path}, line 2{separator}{sentence}"
    with pytest.raises(InputError) as raised:
        rows_of(partition)
    assert raised.value.problem == problem
    assert not isinstance(raised.value, BrokenFile)


def test_rows_are_numbered_without_those_left_out(write):
    path = write("a.tsv", HEADER + "bad\n" + "a\tb\nbad\n" * 6)
    (partition,) = find_partitions(path, block_rows=4)
    blocks = list(partition.blocks([].append))
    assert [block.first for block in blocks] == list(
        np.cumsum([0, *(len(block) for block in blocks[:-1])])
    )
    assert sum(map(len, blocks)) == 6


# Parquet


def test_parquet_columns_of_many_types(tmp_path):
    table = pa.table(
        {
            "utterance": pa.array(["a", "é", "a"]).dictionary_encode(),
            "response": pa.array(["x", "", "z"], pa.large_string()),
            "id": pa.array([1, None, -3], pa.int64()),
            "thread": pa.array([1.0, None, float("nan")]),
            "time": pa.array([1, 2, 3], pa.timestamp("s")),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    wanted = [("a", "x", "1", "1"), ("é", "", "", ""), ("a", "z", "-3", "")]
    assert all_rows(tmp_path / "a.parquet") == wanted
    table = table.set_column(2, "id", pa.nulls(3))
    table = table.set_column(0, "utterance", pa.array(["a", "é", "a"], pa.string_view()))
    pq.write_table(table, tmp_path / "b.parquet")
    assert [row[:2] for row in all_rows(tmp_path / "b.parquet")] == [row[:2] for row in wanted]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"utterance": ["a"]}, "response: has no column 'response', which is required"),
        (
            {"utterance": ["a"], "response": [1]},
            "response: the column must hold strings, but is of type int64",
        ),
        (
            {"utterance": ["a"], "response": ["b"], "id": [[1]]},
            "id: the column must hold strings, but is of type list<element: int64>",
        ),
        (
            {"utterance": [{"utterance": "a"}], "response": ["b"]},
            "utterance: the column must hold strings, but is of type struct<utterance: string>",
        ),
    ],
)
def test_parquet_columns_that_cannot_be_read(tmp_path, columns, sentence):
    pq.write_table(pa.table(columns), tmp_path / "a.parquet")
    assert the_error(tmp_path / "a.parquet").endswith(sentence)


@pytest.mark.parametrize("partition_bytes", [1, 1 << 20])
def test_parquet_rows_without_text_are_named(tmp_path, partition_bytes):
    texts = [None if i in (4, 17) else f"u{i}" for i in range(25)]
    answers = [None if i in (4, 24) else "r" for i in range(25)]
    path = tmp_path / "a.parquet"
    pq.write_table(pa.table({"utterance": texts, "response": answers}), path, row_group_size=6)
    told: list[Problem] = []
    partitions = find_partitions(path, partition_bytes=partition_bytes, block_rows=4)
    rows = [row for one in partitions for row in rows_of(one, told.append)]
    assert [row[0] for row in rows] == [f"u{i}" for i in range(25) if i not in (4, 17, 24)]
    assert [str(problem) for problem in told] == [
        f"{path}, row 5, utterance: is missing",
        f"{path}, row 18, utterance: is missing",
        f"{path}, row 25, response: is missing",
    ]


def test_parquet_texts_that_are_not_utf8(tmp_path):
    """Also two halves of a character in two rows, which together look right."""
    raw = [b"a", b"\xc3", b"\xa9", "é".encode(), b"\xff", b""]
    offsets = np.cumsum([0, *map(len, raw)], dtype=np.int32)
    texts = pa.StringArray.from_buffers(6, pa.py_buffer(offsets), pa.py_buffer(b"".join(raw)))
    path = tmp_path / "a.parquet"
    pq.write_table(
        pa.table({"utterance": texts, "response": ["r"] * 6}), path, use_dictionary=False
    )
    told: list[Problem] = []
    (partition,) = find_partitions(path)
    assert [row[0] for row in rows_of(partition, told.append)] == ["a", "é", ""]
    assert [problem.line for problem in told] == [2, 3, 5]
    (halves,) = find_partitions(path, block_rows=3)
    assert [row[0] for row in rows_of(halves, [].append)] == ["a", "é", ""]


# Damaged files


def damaged(path: Path, how: str) -> Path:
    content = bytearray(path.read_bytes())
    if how == "cut":
        del content[len(content) * 3 // 4 :]
    elif how == "noise":
        content[len(content) // 2 : len(content) // 2 + 40] = b"\xa5" * 40
    else:
        content[:20] = b"not packed at all..."
    path.write_bytes(content)
    return path


@pytest.mark.parametrize("how", ["cut", "head"])
@pytest.mark.parametrize("name", [*FORMS[2:], "a.parquet"])
def test_damaged_files_are_told_once_and_break_the_partition(tmp_path, name, how):
    rng = np.random.default_rng(0)
    rows = [(str(rng.random()), str(rng.random()), str(i), "") for i in range(5000)]
    path = damaged(write_log(tmp_path / name, rows), how)
    if how == "head" and name == "a.parquet":
        path.write_bytes(b"not a Parquet file")
    (partition,) = find_partitions([path])
    told: list[Problem] = []
    with pytest.raises(BrokenFile) as raised:
        rows_of(partition, told.append)
    assert told == [raised.value.problem]
    assert told[0].file == str(path)
    kind = {".gz": "gzip", ".zst": "Zstandard", ".parquet": "Parquet"}[path.suffix]
    assert kind in told[0].message
    with pytest.raises(BrokenFile):
        rows_of(partition)
    assert pickle.loads(pickle.dumps(raised.value)).problem == told[0]


def test_damaged_row_groups_leave_the_others_alone(tmp_path):
    path = write_log(tmp_path / "a.parquet")
    page = pq.ParquetFile(path).metadata.row_group(2).column(0).dictionary_page_offset
    content = bytearray(path.read_bytes())
    content[page : page + 30] = b"\xff" * 30
    path.write_bytes(content)
    partitions = find_partitions(path, partition_bytes=1)
    assert rows_of(partitions[1]) == ROWS[10:20]
    assert rows_of(partitions[3]) == ROWS[30:40]
    with pytest.raises(BrokenFile, match="is not a readable Parquet file"):
        rows_of(partitions[2])


def test_files_that_are_gone_when_they_are_read(tmp_path):
    for name in FORMS:
        path = write_log(tmp_path / name)
        (partition,) = find_partitions(path)
        path.unlink()
        told: list[Problem] = []
        with pytest.raises(BrokenFile, match="there is no such file"):
            rows_of(partition, told.append)
        assert len(told) == 1


def test_what_a_listener_raises_is_passed_on(write):
    """A full disk under the list of problems is not a damaged log."""

    def full(problem: Problem) -> None:
        raise OSError("no space left")

    (partition,) = find_partitions(write("a.tsv", HEADER + "bad\n"))
    with pytest.raises(OSError, match="no space left"):
        rows_of(partition, full)


# Rows in memory

Pair = namedtuple("Pair", ["response", "utterance"])


def test_rows_in_memory():
    wanted = [("u", "r", "", ""), ("v", "s\n", "7", "t")]
    assert all_rows([("u", "r"), ["v", "s\n"]]) == [(*row[:2], "", "") for row in wanted]
    assert all_rows(iter([("u", "r")])) == wanted[:1]
    second = {"utterance": "v", "response": "s\n", "id": 7, "thread": "t", "other": 1}
    assert all_rows([("u", "r"), second]) == wanted
    assert all_rows([Pair("r", "u"), SimpleNamespace(**second)]) == wanted


@given(
    st.lists(st.tuples(st.text(max_size=4), st.text(max_size=4)), min_size=1, max_size=12),
    st.integers(1, 30),
    st.integers(1, 5),
)
def test_rows_in_memory_may_be_cut_anywhere(rows, partition_bytes, block_rows):
    partitions = find_partitions(rows, partition_bytes=partition_bytes, block_rows=block_rows)
    found = [row[:2] for one in partitions for row in rows_of(one)]
    assert found == rows
    bounds = [one.name.removeprefix("rows ").split("-") for one in partitions]
    assert bounds[0][0] == "0"
    assert bounds[-1][1] == str(len(rows))
    assert all(one[1] == two[0] for one, two in pairwise(bounds))
    for one in partitions:
        blocks = list(one.blocks())
        assert max(map(len, blocks)) <= block_rows
        assert [block.first for block in blocks] == list(np.cumsum([0, *map(len, blocks[:-1])]))
        assert blocks[-1].read == one.size
        assert pickle.loads(pickle.dumps(one)).fingerprint == one.fingerprint


def test_fingerprints_of_rows_in_memory():
    def fingerprint(rows: list[tuple[str, str]]) -> str:
        return find_partitions(rows)[0].fingerprint

    assert fingerprint([("a", "b")]) == fingerprint([("a", "b")])
    assert (
        len({fingerprint([one]) for one in [("a", "b"), ("ab", ""), ("", "ab"), ("b", "a")]}) == 4
    )


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([("a", "b"), ("a", 5)], "logs[1].response: must be a string, got 5"),
        ([("a", "b"), ("a", "\ud800")], "logs[1].response: holds a lone surrogate"),
        ([("a", "b"), ("a", "b", "c")], "logs[1]: must be an utterance and a response, got 3"),
        ([{"utterance": "a"}], "logs[0].response: is missing"),
        ([SimpleNamespace(utterance="a", response="b", id=[])], "logs[0].id: must be a string"),
        ([b"a.tsv"], "logs[0]: must be a path, or a row"),
    ],
)
def test_bad_rows_in_memory(rows, sentence):
    assert the_error(rows).startswith(sentence)


# Memory


@pytest.mark.parametrize("name", ["a.tsv", "a.jsonl", "a.tsv.gz", "a.tsv.zst", "a.parquet"])
def test_memory_does_not_grow_with_the_file(tmp_path, name):
    """Also where all rows are in one row group: that of Arrow is counted too."""
    pool = pa.default_memory_pool()

    def peak(rows: int) -> int:
        numbers = np.random.default_rng(0).integers(1 << 60, size=(rows, 4)).tolist()
        log = [(f"{a} {b} " * 2, f"é{c}{d}", "", "") for a, b, c, d in numbers]
        if name == "a.parquet":
            columns = dict(zip(NAMES, map(list, zip(*log, strict=True)), strict=True))
            pq.write_table(pa.table(columns), tmp_path / name, use_dictionary=False)
        else:
            write_log(tmp_path / name, log)
        (partition,) = find_partitions(tmp_path / name, partition_bytes=1 << 30)
        counted = pa.proxy_memory_pool(pool)
        pa.set_memory_pool(counted)
        tracemalloc.start()
        try:
            assert sum(map(len, partition.blocks())) == rows
            return tracemalloc.get_traced_memory()[1] + (counted.max_memory() or 0)
        finally:
            tracemalloc.stop()
            pa.set_memory_pool(pool)

    rows = 60_000 if name == "a.parquet" else 25_000
    small, large = peak(rows), peak(3 * rows)
    assert large < 1.2 * small
    assert large < 30e6


def test_a_gap_in_a_column_of_numbers_is_no_id_wherever_the_rows_lie(tmp_path):
    """Rows in memory once refused the NaN that Parquet files and logs of posts took for a gap."""
    ids = [7.0, float("nan"), None]
    rows = [{"utterance": "u", "response": "r", "id": id} for id in ids]
    path = tmp_path / "a.parquet"
    parquet = pytest.importorskip("pyarrow.parquet")
    table = {name: [row[name] for row in rows] for name in rows[0]}
    parquet.write_table(pytest.importorskip("pyarrow").table(table), path)
    for logs in (rows, path):
        (partition,) = find_partitions(logs)
        (block,) = partition.blocks()
        assert [block.ids[number] for number in range(3)] == ["7", "", ""]
