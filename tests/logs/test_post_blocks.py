"""Posts that are read many at once are those that are read one by one, with the same problems."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from deltableu.io import escape_cell, find_files, tsv_lines
from deltableu.logs import posts as posts_module
from deltableu.logs import read_posts
from deltableu.logs.times import parse_time, parse_times

values = st.one_of(
    st.none(),
    st.sampled_from(["", "7", " ", "a\tb", "é", "2018-10-10T20:19:24Z", "2018-13-10T20:19:24Z"]),
    st.sampled_from(["1", "true", "No", "perhaps", "Wed Oct 10 20:19:24 +0000 2018"]),
    st.integers(-(10**19), 10**19),
    st.floats(allow_nan=False, allow_infinity=False),
    st.booleans(),
    st.lists(st.integers(), max_size=1),
    st.text(max_size=3),
)
usual = st.fixed_dictionaries(
    {"id": st.integers(0, 99) | st.text("abc", min_size=1), "text": st.text(max_size=5)},
    optional={
        "user": st.sampled_from(["ann", None]),
        "time": st.sampled_from(["2018-10-10T20:19:24Z", "1970-01-01 00:00:00Z", 5, None]),
        "reply_to": st.none() | st.sampled_from(["a", 3]),
        "repost": st.booleans() | st.none(),
        "lang": st.just({"a": "b:c"}),
    },
)
odd = st.dictionaries(
    st.sampled_from(["id", "text", "user", "time", "reply_to", "repost_of", "repost", "x"]), values
)


@st.composite
def lines(draw):
    """A line of JSON, perhaps spoilt."""
    record = draw(usual | usual | odd)
    line = json.dumps(record, ensure_ascii=draw(st.booleans())).encode()
    match draw(st.integers(0, 12)):
        case 0:
            place = draw(st.integers(0, len(line)))
            line = line[:place] + draw(st.binary(max_size=2)) + line[place:]
        case 1:
            line = line[: draw(st.integers(0, len(line)))]
        case 2:
            line = line[:-1] + b', "id": "again"}'
        case 3:
            line = draw(st.sampled_from([b"", b" ", b"[]", b"{}", b'{"id": NaN}', b"\xff"]))
        case 4:
            line = line + draw(st.sampled_from([b"\r", b" ", b"\t", b"\x0c"]))
        case 5:
            line = line.replace(b"id", b"\\u0069d")
        case 6:
            line = line[:-1] + rb', "user": "\ud800"}'
    return line.replace(b"\n", b"")


def found(path, columns):
    problems = []
    made = list(read_posts(path, columns=columns, report=problems.append))
    return made, problems


def slowly(path, columns, monkeypatch):
    with monkeypatch.context() as patch:
        for name in ("_fast_jsonl", "_fast_tsv"):
            patch.setattr(posts_module, name, lambda *_: lambda _: None)
        patch.setattr(posts_module.PostScanner, "of", lambda _: None)
        patch.setattr(posts_module, "_plain_posts", lambda _: None)
        return found(path, columns)


@pytest.fixture(scope="module")
def patches():
    with pytest.MonkeyPatch.context() as patch:
        yield patch


@settings(max_examples=250, deadline=None)
@given(
    st.lists(lines(), min_size=1, max_size=12),
    st.sampled_from([{}, {"id": "text", "text": "id"}, {"user": "lang.a"}, {"user": "id"}]),
)
@example([b'{"id": "1", "text": "a", "repost_of": "5", "repost": "perhaps"}'], {})
@example([b'{"id": 1, "text": "a"}', b"", b" ", b'{"id": 2, "text": null}', b""], {})
def test_json_lines(patches, tmp_path_factory, lines, columns):
    path = tmp_path_factory.mktemp("posts") / "posts.jsonl"
    # So that the file is one of posts, whatever comes after.
    first = b'{"id": "0", "text": "", "lang": {"a": 1}}'
    path.write_bytes(b"\n".join([first, *lines]) + b"\n")
    assert found(path, columns) == slowly(path, columns, patches)


cells = st.text("ab \\tn0é\r", max_size=4)


@settings(max_examples=150, deadline=None)
@given(st.lists(st.lists(cells, min_size=4, max_size=6), max_size=8))
def test_tables(patches, tmp_path_factory, rows):
    path = tmp_path_factory.mktemp("posts") / "posts.tsv"
    text = "id\treply_to\ttext\ttime\trepost\n" + "".join("\t".join(row) + "\n" for row in rows)
    path.write_bytes(text.encode())
    assert found(path, {}) == slowly(path, {}, patches)


def test_parquet(patches, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    path = tmp_path / "posts.parquet"
    ids = pa.array([1.0, None, 3.0])
    table = pa.table({"id": ids, "reply_to": ["", None, "1"], "text": ["a", "b", None]})
    pyarrow.parquet.write_table(table, path)
    made, problems = found(path, {})
    assert (made, problems) == slowly(path, {}, patches)
    assert [post.id for post in made] == ["1", "3"]
    assert [(problem.line, problem.field) for problem in problems] == [(2, "id")]


def test_usual_posts_are_read_together(tmp_path):
    """Else all of this would be for nothing."""
    lines = [
        b'{"id": "1", "user": null, "time": "2018-10-10T20:19:24Z", "text": "a: b"}',
        b'{"id": 2, "user": "x", "time": "2018-10-10T20:19:24Z", "reply_to": null, "text": "c"}',
    ]
    read = posts_module._fast_jsonl(posts_module.POST_COLUMNS)
    assert read(lines)[0] == ["1", "2"]
    assert read([*lines, b'{"id": 3, "text": "with", "more": {"a": [1]}}']) is not None
    assert read([*lines, b'{"id": 3.0, "text": "a float"}']) is None
    more = b'{"x": [1, -0.5, true, {"a": null}], "id": "\\u00e9", "time": 60, "repost": false}\r'
    data = b"\n".join([*lines, more, b'{"id": "4", "text": "b", "time": "60.5"}', b""])
    found, end = posts_module.PostScanner.of(posts_module.POST_COLUMNS)(data, 0)
    assert (len(found), end) == (4, len(data))
    path = tmp_path / "posts.jsonl"
    path.write_bytes(b"\n".join([*lines * 1500, b""]))
    blocks = list(posts_module.read_post_blocks(find_files([path])[0], {}, None))
    assert [len(block) for block in blocks] == [3000]


@settings(max_examples=300, deadline=None)
@given(
    st.datetimes().map(lambda time: time.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")),
    st.integers(0, 19),
    st.sampled_from("0123456789-:TZ /"),
)
def test_many_times_are_those_of_one_by_one(text, place, sign):
    for one in (text, text[:place] + sign + text[place + 1 :]):
        try:
            expected = [parse_time(one)]
        except ValueError:
            with pytest.raises(ValueError, match="must be a time"):
                parse_times([one])
        else:
            assert parse_times([one]) == expected


@given(st.lists(st.tuples(cells, cells | st.sampled_from(["\t", "\n", "a\tb"]), cells), max_size=5))
def test_lines_of_tables_are_escaped_cell_by_cell(rows):
    expected = "".join("\t".join(escape_cell(cell or None) for cell in row) + "\n" for row in rows)
    assert tsv_lines(rows) == expected
