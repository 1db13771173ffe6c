"""Lines that are read many at once give what the house's own JSON decoder and TSV reader find."""

from __future__ import annotations

import json
import math
import random
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deltableu.errors import Problem
from deltableu.io import Checker, not_utf8
from deltableu.io.delimited import read_tsv, write_tsv
from deltableu.io.jsonl import decode, read_records
from deltableu.logs import read_lines
from deltableu.logs.blocks import FIELDS
from deltableu.logs.partitions import find_partitions

Row = tuple[str, str, str, str]


def rows_of(path: Path, report=None, **settings: int) -> list[Row]:
    return [
        row
        for partition in find_partitions(path, **settings)
        for block in (partition.blocks() if report is None else partition.blocks(report))
        for row in block_rows(block)
    ]


def block_rows(block) -> Iterator[Row]:
    nothing = [""] * len(block)
    yield from zip(
        block.utterances,
        block.responses,
        nothing if block.ids is None else block.ids,
        nothing if block.threads is None else block.threads,
        strict=True,
    )


@pytest.fixture(scope="module")
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


def both_ways(path: Path, content: bytes, **settings: int) -> tuple[list[Row], list[Problem]]:
    path.write_bytes(content)
    problems: list[Problem] = []
    rows = rows_of(path, problems.append, **settings)
    return rows, problems


# TSV

CELL = st.text(st.sampled_from("aé\u2028😀 \\tnre\x00\x0b\x85\r") | st.characters(codec="utf-8"))
PIECES = ("\t", "\n", "\r\n", "\r", "\\", "\\t", "\\e", " ", "a", "word", "é")
RAW = st.sampled_from([*(piece.encode() for piece in PIECES), b"\xff"])


@given(st.lists(st.tuples(CELL, CELL, CELL), max_size=4), st.permutations(FIELDS[:3]))
def test_what_the_house_writes_comes_back(folder, rows, columns):
    path = folder / "written.tsv"
    table = [dict(zip(FIELDS, row, strict=False)) for row in rows]
    write_tsv(path, columns, table)
    assert rows_of(path) == [(*row, "") for row in rows]


@settings(max_examples=200)
@given(
    st.lists(RAW, max_size=40).map(b"".join), st.integers(1, 60), st.integers(1, 5), st.booleans()
)
@example(b"\xff\n\n\n", 1, 1, False)
@example(b"\n\n\r\na\tb\tc", 2, 1, False)
@example(b"a\tb\tc\r", 60, 1, True)
def test_rows_and_problems_are_those_of_the_house_however_it_is_cut(
    folder, body, partition_bytes, block_rows, mark
):
    path = folder / "any.tsv"
    content = b"\xef\xbb\xbf" * mark + b"id\tutterance\tresponse\n" + body
    # The last line may lack its end, and then a carriage return was half of one.
    path.write_bytes(content.removesuffix(b"\r"))
    wanted: list[Problem] = []
    rows = [
        (row["utterance"] or "", row["response"] or "", row["id"] or "", "")
        for _, row in read_tsv(path, FIELDS[:2], FIELDS, wanted.append)
    ]
    found, problems = both_ways(
        path, content, partition_bytes=partition_bytes, block_rows=block_rows
    )
    assert found == rows
    # The house reads lines that are not UTF-8 before it knows which lines are blank.
    key = str
    blank_at_end = {problem.line for problem in problems} - {problem.line for problem in wanted}
    assert sorted(
        (problem for problem in problems if problem.line not in blank_at_end), key=key
    ) == sorted(wanted, key=key)
    assert [problem.line for problem in problems] == sorted(problem.line for problem in problems)
    for line in blank_at_end:
        assert b"\xff" in b"".join(content.split(b"\n")[line:])


# JSON Lines


def refuse(constant: str) -> None:
    raise ValueError(constant)


def each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    if len({name for name, _ in pairs}) < len(pairs):
        raise ValueError("twice")
    return dict(pairs)


def finite(digits: str) -> float:
    number = float(digits)
    return number if math.isfinite(number) else refuse(digits)


def plain_row(line: str) -> Row | None:
    """What a row is, literally."""
    value = json.loads(line, parse_constant=refuse, parse_float=finite, object_pairs_hook=each_once)
    if not isinstance(value, dict):
        return None
    row = []
    for name in FIELDS[:2]:
        if not isinstance(value.get(name), str):
            return None
        row.append(value[name])
    for name in FIELDS[2:]:
        one = value.get(name)
        if isinstance(one, bool) or not isinstance(one, str | int | float | None):
            return None
        if isinstance(one, float):
            if not math.isfinite(one):
                return None
            one = int(one) if one.is_integer() and abs(one) < 1e15 else one
        row.append("" if one is None else str(one))
    try:
        "".join(row).encode()
    except UnicodeEncodeError:
        return None
    return tuple(row)


def plain_rows(lines: list[str]) -> list[Row]:
    rows = []
    for line in lines:
        try:
            row = plain_row(line)
        except (ValueError, RecursionError):
            continue
        if row is not None:
            rows.append(row)
    return rows


KEY = st.sampled_from(
    [*FIELDS, *(f"{n}x" for n in range(9)), "time", "meta", "", "Utterance", "utteranc", "i", "é"]
)
STRING = st.text(
    st.sampled_from('a é😀"\\/\b\f\n\r\t\x00\x1f\x7f\u2028{}[]:,') | st.characters(), max_size=12
)
NUMBER = st.integers() | st.floats() | st.sampled_from([0, -0.0, 1e300, 10**17, 10**18, 10**400])
LEAF = STRING | STRING | NUMBER | st.none() | st.booleans()


@st.composite
def spelt(draw, depth: int = 2) -> str:
    """A JSON value, spelt in any way."""
    kind = draw(st.integers(0, 9 if depth > 0 else 7))
    if kind < 8:
        value = draw(LEAF)
        if isinstance(value, float) and draw(st.booleans()):
            return f"{value:e}"
        return spelt_string(draw, value) if isinstance(value, str) else json.dumps(value)
    parts = draw(st.lists(spelt(depth - 1), max_size=3))
    if kind == 8:
        return "[" + spelt_list(draw, parts) + "]"
    return spelt_object(draw, [(draw(KEY), part) for part in parts])


def spelt_string(draw, value: str) -> str:
    ascii = draw(st.booleans()) or any(0xD800 <= ord(one) <= 0xDFFF for one in value)
    text = json.dumps(value, ensure_ascii=ascii)
    if draw(st.integers(0, 9)) == 0 and value:
        text = '"' + "".join(f"\\u{ord(one):04X}" for one in value if ord(one) < 0x10000) + '"'
    return text.replace("/", "\\/") if draw(st.booleans()) else text


def spelt_list(draw, parts: list[str]) -> str:
    space = st.sampled_from(["", "", "", " ", "  ", "\t", "\r", " \t "])
    return ",".join(draw(space) + part + draw(space) for part in parts)


def spelt_object(draw, pairs: list[tuple[str, str]]) -> str:
    space = st.sampled_from(["", "", " "])
    spelt = [
        f"{spelt_string(draw, key) if draw(st.integers(0, 9)) == 0 else json.dumps(key)}"
        f"{draw(space)}:{draw(space)}{value}"
        for key, value in pairs
    ]
    return "{" + (spelt_list(draw, spelt) or draw(space)) + "}"


@st.composite
def lines(draw) -> str:
    """A line that is mostly a row, and sometimes nearly one."""
    pairs = [(draw(KEY), draw(spelt())) for _ in range(draw(st.integers(0, 3)))]
    for name in FIELDS[:2]:
        if draw(st.integers(0, 9)) > 0:
            pairs.append((name, spelt_string(draw, draw(STRING))))
    line = spelt_object(draw, draw(st.permutations(pairs)))
    change = draw(st.integers(0, 19))
    if change == 0 and line:  # a byte that is gone
        at = draw(st.integers(0, len(line) - 1))
        line = line[:at] + line[at + 1 :]
    elif change == 1:  # one too many
        at = draw(st.integers(0, len(line)))
        line = line[:at] + draw(st.sampled_from('",:{}[]\\01-+.eEtN \ufeff\x01')) + line[at:]
    return line


@settings(max_examples=150)
@given(st.lists(lines(), min_size=1, max_size=4))
def test_objects_are_what_json_says(folder, lines):
    found, problems = both_ways(folder / "any.jsonl", "\n".join(lines).encode(errors="replace"))
    lines = [line.encode(errors="replace").decode() for line in lines]
    assert found == plain_rows(lines)
    assert len(found) + len(problems) == len(lines)


ODDITIES = [
    '{"utterance": "a", "response": "b", "utterance": "c"}',
    '{"utterance": "a", "response": "b", "id": 1, "id": null}',
    '{"time": 1, "utterance": "a", "response": "b", "time": 1}',
    '{"meta": {"a": {"a": 1}, "b": [{"a": 1}, {"a": 2}]}, "utterance": "a", "response": "b"}',
    '{"meta": {"a": {"a": 1}, "b": [{"a": 1}], "a": 2}, "utterance": "a", "response": "b"}',
    '{"meta": {"a": [{"b": 1, "b": 1}]}, "utterance": "a", "response": "b"}',
    '{"meta": {"a": 1, "\\u0061": 1}, "utterance": "a", "response": "b"}',
    '{"": 1, "utterance": "a", "response": "b", "": 1}',
    '{"m": {' + ", ".join(f'"{k}": 1' for k in range(70)) + '}, "utterance": "a", "response": "b"}',
    '{"utterance": "a", "response": "b", "score": 1e99}',
    '{"utterance": "a", "response": "b", "score": ' + "9" * 190 + "e99}",
    '{"utterance": "a", "response": "b", "score": ' + "9" * 400 + ".5}",
    '{"utterance": "a", "response": "b", "score": 1e-999}',
    '{"meta": {"utterance": "x", "id": 3}, "utterance": "a", "response": "b"}',
    '{"meta": [[], {}, [{"response": []}], "]", -1.5e-7], "utterance": "a", "response": "b"}',
    '{"\\u0075tterance": "a", "response": "b"}',
    '{"utterance": "a\\ud83d\\ude00", "response": "\\u00e9\\u20ac\\/\\"\\\\\\b\\f\\n\\r\\t"}',
    '{"utterance": "a", "response": "b", "id": -0, "thread": 007}',
    '{"utterance": "a", "response": "b", "id": -0}',
    '{"utterance": "a", "response": "b", "id": 1.0, "thread": 1e3}',
    '{"utterance": "a", "response": "b", "id": 123456789012345678901234567890}',
    '{"utterance": "a", "response": "b", "id": true}',
    '{"utterance": "a", "response": "b", "id": nul}',
    '{"utterance": "a", "response": "b", "score": NaN}',
    '{"utterance": "a", "response": "b", "score": -Infinity}',
    '{"utterance": "a", "response": "b", "id": NaN}',
    '{"utterance": "a", "response": "b", "score": 1.}',
    '{"utterance": "a", "response": "b", "score": .1}',
    '{"utterance": "a", "response": "b", "score": 01}',
    '{"utterance": "a", "response": "b", "score": 1e}',
    '{"utterance": "a", "response": "b", "score": -}',
    '{"utterance": "a", "response": "b", "score": 1e999}',
    '{"utterance": "a", "response": "b", "score": ' + "9" * 4000 + "}",
    '{"utterance": "a", "response": "b", "score": ' + "9" * 9000 + "}",
    '{"utterance": "a", "response": "b", "deep": ' + "[" * 60 + "]" * 60 + "}",
    '{"utterance": "a", "response": "b", "deep": ' + "[" * 61 + "]" * 61 + "}",
    '{"utterance": "a", "response": "b", "deep": ' + '{"a":' * 99 + "1" + "}" * 99 + "}",
    '{"utterance": "a", "response": "b", "deep": ' + "[" * 100000 + "]" * 100000 + "}",
    '{"utterance": "a", "response": "b", "mixed": [{"a": [1}]}',
    '{"utterance": "a", "response": "b"} x',
    '{"utterance": "a", "response": "b",}',
    '{"utterance": "a", "response": "b", "l": [1,]}',
    '{"utterance": "a", "response": "b", "l": {"a": 1,}}',
    '{"utterance": "a", "response": "b", "l": {"a"}}',
    '{"utterance": "a", "response": "b", "l": {1: 2}}',
    '{"utterance": "a", "response": "b", "l": "\\x"}',
    '{"utterance": "a", "response": "b", "l": "\\u12g4"}',
    '{"utterance": "a", "response": "b", "l": "\\ud800"}',
    '{"utterance": "a", "response": "b", "l": "\t"}',
    '{"utterance": "a", "response": "\\ud800\\u0041"}',
    '{"utterance": "a", "response": "\\udc00\\ud800"}',
    '{"utterance": "a", "response": "\\ud800"}',
    '{"utterance": "a", "response": "\\ud800\\ud83d\\ude00"}',
    '{"utterance": "a", "response": "b',
    '{"utterance": "a", "response": "b\\',
    '{"utterance": "a", "response": "b\\u12',
    '{"utterance": "a", "response": "b"',
    '{"utterance": "a", "response": ',
    '{"utterance": "a", "response"',
    '{"utterance": null, "response": "b"}',
    '{"utterance": ["a"], "response": "b"}',
    '{"utterance": "a"}',
    "{}",
    "{",
    "[]",
    '["utterance", "response"]',
    "null",
    "\ufeff{}",
    ' \t{ "utterance" : "a" , "response" : "b" } \r\t ',
    '{"utterance":"","response":""}',
]


@pytest.mark.parametrize("line", ODDITIES, ids=range(len(ODDITIES)))
@pytest.mark.parametrize("end", ["", "\n", "\r\n"])
def test_odd_objects(tmp_path, line, end):
    good = '{"id": "x", "utterance": "u", "response": "r\\n"}'
    found, problems = both_ways(tmp_path / "a.jsonl", f"{good}\n{line}\n{good}{end}".encode())
    assert found == plain_rows([good, line, good])
    assert len(problems) == 3 - len(found)
    for problem in problems:
        assert (problem.line, problem.file) == (2, str(tmp_path / "a.jsonl"))
        assert len(problem.message) < 200


@pytest.mark.parametrize("line", ODDITIES, ids=range(len(ODDITIES)))
def test_all_readers_refuse_the_same_objects(tmp_path, line):
    """A NaN in a field that nobody reads was once fine in logs, and an error in a study."""
    path = tmp_path / "a.jsonl"
    path.write_text(line, "utf-8")
    ours: list[Problem] = []
    records = list(read_records(path, ours.append))
    _, problems = both_ways(path, line.encode())
    if not records:
        assert problems == ours
    else:
        assert all(problem.field is not None for problem in problems)


@pytest.mark.parametrize("seed", range(3))
def test_damaged_objects(tmp_path, seed):
    """Many at once: bytes that are changed, gone or twice there, at every distance from a word."""
    rng = random.Random(seed)
    whole = [line.encode() for line in ODDITIES if len(line) < 400]
    whole += [b'{"id": 12, "utterance": "\xc3\xa9 %s", "response": "b\\n%s"}' % (b"x" * k, b"y" * k)
              for k in range(24)]  # fmt: skip
    interesting = b'"\\{}[]:,0123456789eE+-.tfnu \t\r\x00\x1f\x7f\xc3\xa9\xff' + b"utranceid"
    lines = []
    for _ in range(20_000):
        line = bytearray(rng.choice(whole))
        for _ in range(rng.choice((0, 1, 1, 2, 3))):
            at = rng.randrange(len(line) + 1)
            new = bytes([rng.choice(interesting)]) if rng.random() < 0.7 else b""
            line[at : at + rng.randrange(2)] = new
        lines.append(bytes(line))
    found, problems = both_ways(
        tmp_path / "a.jsonl", b"\n".join([*lines, whole[0]]), block_rows=999
    )
    texts = []
    for line in [*lines, whole[0]]:
        try:
            texts.append(line.decode())
        except UnicodeDecodeError:
            continue
    assert found == plain_rows(texts)
    assert len(found) + len(problems) == len(lines) + 1


@given(
    st.lists(st.sampled_from(["", " ", "{}", "\r", "é", *ODDITIES[:4]]), max_size=12),
    st.sampled_from(["\n", "\r\n"]),
    st.booleans(),
    st.integers(1, 100),
    st.integers(1, 5),
)
def test_json_lines_may_be_cut_anywhere(folder, lines, end, mark, partition_bytes, block_rows):
    content = ("\ufeff" * mark + end.join(lines)).encode()
    whole = both_ways(folder / "cut.jsonl", content)
    parts = both_ways(
        folder / "cut.jsonl", content, partition_bytes=partition_bytes, block_rows=block_rows
    )
    assert parts == whole
    assert whole[0] == plain_rows(lines)
    filled = [number for number, line in enumerate(lines, 1) if line.strip(" \r")]
    last = max(filled, default=0)
    bad = [number for number in range(1, last + 1) if plain_rows([lines[number - 1]]) == []]
    assert [problem.line for problem in whole[1]] == bad


#: Pieces of lines that a fast decoder may take for something else.
HOSTILE = [
    *(
        '"utterance": "a"',
        '"response": "b"',
        '"utterance": ": c :) \\\\"',
        '"response":":"',
        '"id": 7',
    ),
    *('"id" : -0', '"id": 1.0', '"id": 1.5', '"id": null', '"id": true', '"id": ""', '"id": 0'),
    *('"thread": "t:"', '"thread": 12345678901234567890123', '"\\u0069d": 3', '"i\\u0064" : "x"'),
    *('"a": {"b": 1, "b": 2}', '"a": {"b": {"b": ":"}}', '"a": [{"\\u003a": 1}, {":": 2}]'),
    *('"a": {"b": "\\u003a", "b": "\\u003A"}', '"a": "\\\\u003a"', '"a": NaN', '"a": 1e999'),
    *(
        '"a": "\\ud800"',
        '"response": "\\udc00"',
        '"a": -Infinity',
        '"a": 01',
        '"a": "\t"',
        '"a"\t:\r1',
    ),
    *('"response": "\\u003a"', '"utterance": "x\\u003ay"', '"a": "\xff"', '"response": "é😀"'),
    *(
        "}",
        "{",
        "}, {",
        "} {",
        ",",
        "[",
        '"a": [',
        "]",
        '"',
        "\\",
        "\ufeff",
        "\n",
        "\r\n",
        "\n\n",
        " ",
    ),
]
LINE = st.lists(st.sampled_from(HOSTILE), max_size=4).map(lambda parts: f"{{{', '.join(parts)}}}")
GOOD = st.sampled_from(['{"utterance": "a", "response": "b :"}', '{"response":"","utterance":"é"}'])
LINES = st.lists(GOOD | LINE | st.sampled_from(["", "  ", "\r", "[]", "null"]), max_size=8)


ONE_LINE = '{"utterance": "", "response": ""}'


@settings(max_examples=200)
@given(
    LINES, st.sampled_from(["\n", "\r\n"]), st.booleans(), st.integers(1, 300), st.integers(1, 5)
)
@example(['{"utterance": "a"', '"response": "b"}' + ONE_LINE], "\n", False, 300, 2)
@example([ONE_LINE + " " + ONE_LINE, ""], "\n", False, 300, 2)
@example(['{"response": "b", "utterance": "a", "utterance": "\\u003a"}'], "\n", False, 300, 1)
def test_rows_and_problems_are_those_of_each_line_alone(
    folder, lines, end, mark, partition_bytes, block_rows
):
    """The oracle is the strict decoder, which is never fast."""
    content = ("\ufeff" * mark + end.join(lines)).encode()
    content = content.replace("\xff".encode(), b"\xff")
    found, problems = both_ways(
        folder / "hostile.jsonl", content, partition_bytes=partition_bytes, block_rows=block_rows
    )
    rows, wanted = one_by_one(folder / "hostile.jsonl", content)
    assert found == rows
    assert problems == wanted


def one_by_one(path: Path, content: bytes) -> tuple[list[Row], list[Problem]]:
    rows: list[Row] = []
    problems: list[Problem] = []
    blank: list[Problem] = []
    for number, line in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), 1):
        wrong: list[Problem] = []
        place = {"file": str(path), "line": number}
        if not line.strip(b" \r"):
            blank.append(Problem("is blank: remove the line", **place))
            continue
        try:
            value = decode(line.removesuffix(b"\r").decode())
            if not isinstance(value, dict):
                raise ValueError(f"must be a JSON object such as {{...}}, got {value!r}")
            checker = Checker(str(path), wrong.append)
            checker.start(number)
            row = [checker.text(value.get(name), name) for name in FIELDS[:2]]
            row += [checker.name(value.get(name), name) for name in FIELDS[2:]]
        except UnicodeDecodeError as error:
            wrong.append(Problem(not_utf8(line, error), **place))
        except ValueError as error:
            wrong.append(Problem(str(error), **place))
        problems += [*blank, *wrong[:1]]
        blank.clear()
        if not wrong:
            rows.append(tuple(row))
    return rows, problems


# Chunks


@pytest.mark.parametrize("form", ["tsv", "jsonl"])
@pytest.mark.parametrize("chunk", [1, 2, 7, 64])
def test_chunks_may_end_anywhere(tmp_path, monkeypatch, form, chunk):
    """Also amid a long line, a character, or a line end."""
    rng = random.Random(chunk)
    rows = [("é" * rng.randrange(60), "b\\" * rng.randrange(30), str(i), "") for i in range(40)]
    path = tmp_path / f"a.{form}"
    if form == "tsv":
        write_tsv(path, FIELDS, [dict(zip(FIELDS, row, strict=True)) for row in rows])
    else:
        records = (dict(zip(FIELDS, row, strict=True)) for row in rows)
        path.write_text("".join(json.dumps(one, ensure_ascii=False) + "\r\n" for one in records))
    monkeypatch.setattr(read_lines, "CHUNK", chunk)
    monkeypatch.setattr(read_lines, "_LEAST", 1)
    for partition_bytes in (1, 50, 1 << 20):
        assert rows_of(path, partition_bytes=partition_bytes) == rows


def test_blocks_have_no_more_rows_than_asked_and_follow_on_each_other(tmp_path):
    path = tmp_path / "a.tsv"
    path.write_text("utterance\tresponse\n" + "".join(f"{i}\tr\n" for i in range(1000)))
    (partition,) = find_partitions(path, block_rows=300)
    blocks = list(partition.blocks())
    assert [len(block) for block in blocks] == [250] * 4
    assert [block.first for block in blocks] == [0, 250, 500, 750]
    assert blocks[-1].read == partition.size == path.stat().st_size
    assert blocks[0].ids is None


def test_lines_of_many_megabytes(tmp_path):
    long = "word é " * 1_000_000
    path = tmp_path / "a.jsonl"
    with path.open("w") as stream:
        for number in range(3):
            record = {"utterance": long, "response": "r", "id": number}
            stream.write(json.dumps(record, ensure_ascii=False) + "\n")
    found = rows_of(path, partition_bytes=1 << 20)
    assert [row[2] for row in found] == ["0", "1", "2"]
    assert all(row[0] == long for row in found)


@given(st.lists(st.integers(0, 400), min_size=1, max_size=40), st.integers(1, 9))
def test_lines_are_cut_into_parts(lengths, most):
    """However much longer one line is than the others."""
    data = b"".join(b"x" * length + b"\n" for length in lengths)
    parts = list(read_lines.cut_lines(data, most))
    assert b"".join(part for part, _ in parts) == data
    assert all(part.endswith(b"\n") for part, _ in parts)
    assert all(1 <= lines == part.count(b"\n") <= most for part, lines in parts)
    assert len({lines for _, lines in parts[:-1]}) <= 1
