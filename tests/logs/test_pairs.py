"""From files to files: forms, columns, layouts, counts, and nothing half-written."""

from __future__ import annotations

import gzip
import json
import os

import pytest

from deltableu.errors import InputError
from deltableu.logs import (
    PairRules,
    Post,
    TimeSplit,
    find_partitions,
    parse_split,
    read_posts,
    write_pairs,
)

POSTS = [
    {"id": "1", "user": "ann", "time": "2017-03-01T10:00:00Z", "text": "Who wants\ttea?"},
    {"id": "2", "user": "bob", "time": 1488362460, "reply_to": "1", "text": "Me, a \\ pot of it!"},
    {"id": "3", "user": "ann", "time": "2017-03-01 10:02", "reply_to": "2", "text": "Green\nor é?"},
    {"id": "4", "user": "cem", "reply_to": "1", "text": "Not me."},
    {"id": "5", "user": "ann", "reply_to": "4", "text": "Fine."},
    {"id": "6", "user": "dan", "text": "Hello?", "repost_of": "9"},
]
PAIRS = [
    ("Who wants\ttea?", "Me, a \\ pot of it!", "2", "2017-03-01T10:01:00Z", "1", "bob"),
    ("Me, a \\ pot of it!", "Green\nor é?", "3", "2017-03-01T10:02:00Z", "1", "ann"),
    ("Who wants\ttea?", "Not me.", "4", "", "1", "cem"),
    ("Not me.", "Fine.", "5", "", "1", "ann"),
]
NAMES = ("id", "user", "time", "reply_to", "text", "repost_of")


def cell(value):
    text = "" if value is None else str(value)
    return text.replace("\\", "\\\\").replace("\t", "\\t").replace("\n", "\\n")


def save(path, records, names=NAMES):
    if ".parquet" in path.name:
        pa = pytest.importorskip("pyarrow")
        import pyarrow.parquet

        columns = {name: [record.get(name) for record in records] for name in names}
        if "time" in columns:
            columns["time"] = [None if v is None else str(v) for v in columns["time"]]
        pyarrow.parquet.write_table(pa.table(columns), path, row_group_size=2)
        return path
    if ".tsv" in path.name:
        rows = [names, *([cell(record.get(name)) for name in names] for record in records)]
        data = "".join("\t".join(row) + "\n" for row in rows).encode()
    else:
        data = "".join(json.dumps(record) + "\n" for record in records).encode()
    if path.name.endswith(".gz"):
        data = gzip.compress(data)
    if path.name.endswith(".zst"):
        pa = pytest.importorskip("pyarrow")
        data = pa.Codec("zstd").compress(data, asbytes=True)
    path.write_bytes(data)
    return path


def saved(path):
    """The rows of a file, as the project's own readers of logs understand it."""
    rows = []
    for partition in find_partitions(path):
        for block in partition.blocks():
            for n in range(len(block)):
                texts = (block.utterances, block.responses, block.ids, block.threads)
                rows.append(tuple(text[n] if text is not None else "" for text in texts))
    return rows


def short(pairs):
    return [(utterance, response, id, thread) for utterance, response, id, _, thread, _ in pairs]


FORMS = ["tsv", "jsonl", "parquet", "tsv.gz", "jsonl.gz", "jsonl.zst", "tsv.zst"]


@pytest.mark.parametrize("form", FORMS)
def test_every_form_is_read(form, tmp_path):
    path = save(tmp_path / f"posts.{form}", POSTS)
    made = write_pairs(path, tmp_path / "pairs.tsv")
    assert saved(tmp_path / "pairs.tsv") == short(PAIRS)
    assert (made.layout, made.posts, made.in_pairs, dict(made.left_out)) == (
        "posts",
        6,
        5,
        {"repost": 1},
    )
    (period,) = made.periods
    assert (period.name, period.threads, period.pairs, period.triples) == ("", 1, 4, 2)
    assert (
        period.texts.utterances,
        period.texts.with_2_responses,
        period.texts.with_5_responses,
    ) == (3, 1, 0)


@pytest.mark.parametrize("form", ["tsv", "jsonl", "parquet", "tsv.gz", "jsonl.gz"])
def test_every_form_is_written(form, tmp_path):
    path = save(tmp_path / "posts.jsonl", POSTS)
    pairs, triples = tmp_path / f"pairs.{form}", tmp_path / f"triples.{form}"
    write_pairs(path, pairs, triples=triples)
    assert saved(pairs) == short(PAIRS)
    rows = rows_of(triples)
    assert [(row["context"], row["message"], row["response"]) for row in rows] == [
        ("Who wants\ttea?", "Me, a \\ pot of it!", "Green\nor é?"),
        ("Who wants\ttea?", "Not me.", "Fine."),
    ]
    assert [(row["id"], row["thread"], row["user"]) for row in rows] == [
        ("3", "1", "ann"),
        ("5", "1", "ann"),
    ]
    first = rows_of(pairs)[0]
    assert [first[name] for name in ("id", "time", "thread", "user")] == list(PAIRS[0][2:])
    before = pairs.read_bytes()
    write_pairs(path, pairs)
    assert pairs.read_bytes() == before


def rows_of(path):
    if path.suffix == ".parquet":
        import pyarrow.parquet

        return pyarrow.parquet.read_table(path).to_pylist()
    data = path.read_bytes()
    text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode()
    if ".jsonl" in path.name:
        return [json.loads(line) for line in text.splitlines()]
    header, *lines = text.removesuffix("\n").split("\n")
    escapes = {"\\t": "\t", "\\n": "\n", "\\\\": "\\"}
    rows = [dict(zip(header.split("\t"), line.split("\t"), strict=True)) for line in lines]
    for row in rows:
        for name, value in row.items():
            for spelt, meant in escapes.items():
                value = value.replace(spelt, meant)
            row[name] = value
    return rows


def test_several_files_and_other_columns(tmp_path):
    """A thread may lie in several files; names may be inside values, ids numbers."""
    folder = tmp_path / "posts"
    folder.mkdir()
    renamed = [
        {
            "n": int(post["id"]),
            "author": {"name": post["user"]},
            "created_at": "Wed Mar 01 10:00:00 +0000 2017",
            "in_reply_to": int(post["reply_to"]) if "reply_to" in post else None,
            "body": post["text"],
            "is_retweet": "repost_of" in post,
        }
        for post in POSTS
    ]
    save(folder / "b.jsonl.gz", renamed[:2])
    save(folder / "a.jsonl", renamed[2:])
    columns = {"id": "n", "user": "author.name", "time": "created_at", "reply_to": "in_reply_to"}
    columns |= {"text": "body", "repost": "is_retweet"}
    made = write_pairs(folder, tmp_path / "pairs.tsv", columns=columns)
    assert sorted(saved(tmp_path / "pairs.tsv")) == sorted(short(PAIRS))
    assert dict(made.left_out) == {"repost": 1}
    posts = list(read_posts(str(folder / "*.jsonl"), columns=columns))
    assert posts[0] == Post("3", "Green\nor é?", "ann", 1488362400000, "2")
    assert posts[-1].repost


def test_parquet_with_types(tmp_path):
    """Ids are integers with gaps, which become floats; times are timestamps."""
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet

    table = pa.table(
        {
            "id": pa.array([1, 2, 3]),
            "user": pa.array([7, 8, 7]),
            "time": pa.array([1, 60_000_000_001, 2], pa.timestamp("ns", "UTC")),
            "reply_to": pa.array([None, 1.0, 2.0]),
            "text": ["a", "b", "c"],
            "repost": [False, False, None],
        }
    )
    path = tmp_path / "posts.parquet"
    pyarrow.parquet.write_table(table, path)
    assert [(post.id, post.time, post.reply_to) for post in read_posts(path)] == [
        ("1", 0, ""),
        ("2", 60000, "1"),
        ("3", 0, "2"),
    ]
    assert write_pairs(path, tmp_path / "pairs.parquet").in_pairs == 3


TURNS = "dialog\tturn\tspeaker\ttext\na\t0\tA\tone\na\t1\tB\ttwo\na\t2\tA\tthree\nb\t0\tA\tlone\n"


def test_turns(tmp_path):
    (tmp_path / "chat.tsv").write_text(TURNS)
    made = write_pairs(
        tmp_path / "chat.tsv", tmp_path / "p.tsv", triples=tmp_path / "t.tsv", name_by_file=True
    )
    assert saved(tmp_path / "p.tsv") == [
        ("one", "two", "chat/a:1", "chat/a"),
        ("two", "three", "chat/a:2", "chat/a"),
    ]
    assert (tmp_path / "t.tsv").read_text().splitlines()[1] == (
        "one\ttwo\tthree\tchat/a:2\t\tchat/a\tA"
    )
    assert (made.layout, made.posts, dict(made.left_out)) == ("turns", 4, {"lone": 1})


def test_conversations(tmp_path):
    records = [
        {"id": 1, "turns": ["one", "two", {"text": "three", "speaker": "B"}]},
        {"id": 2, "turns": []},
        {"id": 3, "turns": ["one", " ", "three"]},
    ]
    save(tmp_path / "chats.jsonl", records)
    (tmp_path / "more.tsv").write_text(TURNS)
    made = write_pairs([tmp_path / "chats.jsonl", tmp_path / "more.tsv"], tmp_path / "p.jsonl")
    assert [row[2] for row in saved(tmp_path / "p.jsonl")] == ["1:1", "1:2", "a:1", "a:2"]
    assert dict(made.left_out) == {"empty": 1, "lone": 1, "short": 2}
    assert made.posts == sum(made.left_out.values()) + made.in_pairs


@pytest.mark.parametrize(
    ("rows", "rules", "dropped"),
    [
        ("a 0 A,a 1 B,a 3 A,a 4 B", {}, {"missing_parent": 1, "cut_off": 1}),
        ("a 0 A,a 1 B,a 2 C", {"users": "two"}, {"third_user": 1}),
        ("a 0 A,a 1 B", {"min_posts": 3}, {"short": 2}),
        ("a 0 A,a 1 A,a 2 B", {"own_replies": "drop"}, {"own_reply": 1, "cut_off": 1, "short": 1}),
        ("a 0 A,a 1 A", {"users": "two"}, {"short": 2}),
        ("a 0 A,a 1 B,a 2 A", {"first": True}, {"later": 1}),
    ],
)
def test_rules_of_turns(rows, rules, dropped, tmp_path):
    lines = [f"{row}\ttext\n".replace(" ", "\t", 2) for row in rows.split(",")]
    (tmp_path / "chat.tsv").write_text("dialog\tturn\tspeaker\ttext\n" + "".join(lines))
    made = write_pairs(tmp_path / "chat.tsv", tmp_path / "p.tsv", rules=PairRules(**rules))
    assert dict(made.left_out) == dropped
    assert made.posts == sum(made.left_out.values()) + made.in_pairs


# Periods


def talk(id, year, *texts, month=1):
    """A dialogue of two users, a day between posts."""
    return [
        {
            "id": f"{id}.{n}",
            "user": "ab"[n % 2],
            "time": f"{year}-{month:02}-{28 + n:02}" if n < 4 else f"{year}-{month + 1:02}-01",
            "reply_to": f"{id}.{n - 1}" if n else None,
            "text": text,
        }
        for n, text in enumerate(texts)
    ]


THREE = "evaluator=2017,system=2018,test=2019.."
YEARS = [
    *talk("x", 2017, "Hi!", "Hello.", "How are you?"),
    *talk("y", 2018, "hi", "hello", "bye"),
    *talk("z", 2019, "what", "is", "that"),
    *talk("old", 2016, "what", "is", "that"),
    *talk("w", 2019, "how", "odd", "indeed"),
    *talk("v", 2018, "hi", "HELLO", "again", month=3),
    {"id": "u", "user": "a", "text": "no time"},
    {"id": "u1", "user": "b", "reply_to": "u", "text": "none", "time": "2018"},
    {"id": "u2", "user": "a", "reply_to": "u1", "text": "at all", "time": "2018"},
    {"id": "c", "user": "a", "text": "Happy", "time": "2017-12-31T23:59:00Z"},
    {"id": "c1", "user": "b", "reply_to": "c", "text": "New Year", "time": "2018-01-01"},
    {"id": "c2", "user": "a", "reply_to": "c1", "text": "!!", "time": "2018-01-01"},
]


@pytest.fixture
def years(tmp_path):
    records = [
        record
        | ({"time": None} if record["id"] == "u" else {})
        | ({"time": "2018-02-01"} if record.get("time") == "2018" else {})
        for record in YEARS
    ]
    return save(tmp_path / "posts.jsonl", records)


def test_periods_by_time(years, tmp_path):
    made = write_pairs(years, tmp_path / "out", split=parse_split(THREE), triples=tmp_path / "t")
    assert sorted(os.listdir(tmp_path / "out")) == ["evaluator.tsv", "system.tsv", "test.tsv"]
    assert sorted(os.listdir(tmp_path / "t")) == ["evaluator.tsv", "system.tsv", "test.tsv"]
    threads = {
        name: [row[3] for row in saved(tmp_path / "out" / f"{name}.tsv")]
        for name in ("evaluator", "system", "test")
    }
    assert threads == {
        "evaluator": ["x.0"] * 2,
        "system": ["y.0"] * 2 + ["v.0"] * 2,
        "test": ["z.0"] * 2 + ["w.0"] * 2,
    }
    assert dict(made.left_out) == {"no_time": 3, "no_period": 3, "crossing": 3}
    assert [(one.name, one.threads, one.pairs, one.triples) for one in made.periods] == [
        ("evaluator", 1, 2, 1),
        ("system", 2, 4, 2),
        ("test", 2, 4, 2),
    ]
    assert [one.texts.with_2_responses for one in made.periods] == [0, 1, 0]
    # "hi" and "hello" are a pair of 2017 and of 2018, twice.
    assert (made.overlap, made.overlap_left_out) == (1, 0)
    kept = write_pairs(years, tmp_path / "kept", split=parse_split(THREE, crossing="keep"))
    assert kept.periods[0].pairs == 4
    assert "crossing" not in kept.left_out


def test_overlap_stays_in_the_last_period(years, tmp_path):
    split = parse_split(THREE)
    made = write_pairs(years, tmp_path / "out", split=split, drop_overlap=True, memory=1)
    assert [one.pairs for one in made.periods] == [1, 4, 4]
    assert (made.overlap, made.overlap_left_out) == (1, 1)
    assert [row[:2] for row in saved(tmp_path / "out" / "evaluator.tsv")] == [
        ("Hello.", "How are you?")
    ]
    assert made.periods[0].texts.utterances == 1


def test_periods_by_hash(tmp_path):
    records = [post for n in range(400) for post in talk(str(n), 2017, f"a{n}", f"b{n}", f"c{n}")]
    path = save(tmp_path / "posts.jsonl", records)
    split = parse_split("evaluator:0.7,system:0.2,test:0.1", seed=1)
    made = write_pairs(path, tmp_path / "one", split=split)
    sizes = [one.threads for one in made.periods]
    assert sum(sizes) == 400
    assert 250 < sizes[0] < 310
    assert 55 < sizes[1] < 105
    # A thread's period depends on nothing but its id and the seed.
    part = save(tmp_path / "part.jsonl", records[300:600])
    write_pairs(part, tmp_path / "two", split=split)
    for name in split.names:
        assert set(saved(tmp_path / "two" / f"{name}.tsv")) <= set(
            saved(tmp_path / "one" / f"{name}.tsv")
        )
    other = write_pairs(path, tmp_path / "three", split=parse_split("a:0.7,b:0.3", seed=2))
    assert [one.threads for one in other.periods] != [sizes[0], sizes[1] + sizes[2]]
    half = write_pairs(path, tmp_path / "half", split=parse_split("a:0.5"))
    assert half.left_out["no_period"] == 1200 - 3 * half.periods[0].threads


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a=2017,b=2017-06..2018", "the periods a and b overlap"),
        ("a=..2017,b=2016", "the periods a and b overlap"),
        ("a=2017,a=2018", "there are two periods a"),
        ("a=2018..2017", "'2018..2017' ends before it begins"),
        ("a=..", "has no end"),
        ("a=soon", "'soon' is no date"),
        ("a=2017-13", "'2017-13' is no date"),
        ("a", "'a' is no period"),
        ("a:0.5,b:0.6", "the shares sum to 1.1"),
        ("a:0,b:1", "must lie in \\(0, 1\\]"),
        ("a:many", "must be a number"),
        ("a:0.5,b=2017", "not both"),
        ("../a=2017", "cannot be called '../a'"),
        ("", "'' is no period"),
    ],
)
def test_splits_that_make_no_sense(text, message):
    with pytest.raises(InputError, match=message):
        parse_split(text)
    with pytest.raises(InputError, match="seed is of shares"):
        parse_split("a=2017", seed=1)
    with pytest.raises(InputError, match="crossing is of periods"):
        parse_split("a:1", crossing="keep")
    assert isinstance(parse_split("a=2017-01-01T12:00:00..2017"), TimeSplit)


# What is wrong


def refused(message, logs, output, **settings):
    before = sorted(output.parent.iterdir())
    with pytest.raises(InputError, match=message):
        write_pairs(logs, output, **settings)
    assert sorted(output.parent.iterdir()) == before


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"id": "7"', "line 2: is not valid JSON"),
        ("[1]", "line 2: must be a JSON object"),
        ('{"text": "a"}', "line 2, id: is missing"),
        ('{"id": "7", "text": 5}', "line 2, text: must be a string"),
        ('{"id": "7", "text": "\\ud800"}', "line 2, text: holds a lone surrogate"),
        ('{"id": ["7"], "text": "a"}', "line 2, id: must be a string or a whole number"),
        ('{"id": "7", "text": "a", "time": "noon"}', "line 2, time: must be a time"),
        ('{"id": "7", "text": "a", "time": 1e300}', "line 2, time: must be a time"),
        ('{"id": "7", "text": "a", "repost": "perhaps"}', "line 2, repost: must be true or false"),
        ("\n{}", "line 2: is blank"),
        ('{"id": "7", "text": "\xff"}', "line 2: is not valid UTF-8"),
    ],
)
def test_bad_lines(line, message, tmp_path):
    path = tmp_path / "posts.jsonl"
    lines = [json.dumps(post) for post in POSTS]
    text = "\n".join([lines[0], line, *lines[1:]]) + "\n"
    path.write_bytes(text.encode("latin-1"))
    refused(message, path, tmp_path / "pairs.tsv")
    made = write_pairs(path, tmp_path / "pairs.tsv", on_error="skip")
    assert made.unreadable_rows == 1 + line.startswith("\n")
    assert made.posts == 6
    assert len(saved(tmp_path / "pairs.tsv")) == 4


def test_bad_files(tmp_path):
    out = tmp_path / "pairs.tsv"
    path = tmp_path / "posts.tsv"
    path.write_text("id\tuser\ttext\n")
    refused("has no column 'reply_to'", path, out)
    refused("has no column 'to'", path, out, columns={"reply_to": "to"}, on_error="skip")
    refused("there is no column 'body'", path, out, columns={"body": "text"})
    path.write_text("id\tid\n")
    refused("the column is named twice", path, out)
    path.write_text("")
    refused("the first line must name the columns", path, out)
    path.write_text("id\treply_to\ttext\tuser\n1\t2\n")
    refused("line 2: has 2 cells, but the first line names 4", path, out)
    refused("there is no such file", tmp_path / "none.tsv", out)
    refused("there are no logs", [], out)
    packed = tmp_path / "posts.jsonl.gz"
    packed.write_bytes(gzip.compress(b'{"id": "1", "text": "a"}\n' * 9)[:-9])
    refused("is not a whole gzip file", packed, out)
    broken = write_pairs(packed, out, on_error="skip")
    assert [problem.file for problem in broken.unreadable_files] == [str(packed)]
    save(tmp_path / "chat.jsonl", [{"id": "1", "turns": ["a", "b"]}])
    posts = save(tmp_path / "fine.jsonl", POSTS)
    refused(
        "holds posts, but .*chat.jsonl holds conversations", [tmp_path / "chat.jsonl", posts], out
    )


def test_bad_turns(tmp_path):
    out = tmp_path / "pairs.tsv"
    path = tmp_path / "chat.tsv"
    path.write_text(TURNS + "a\t3\tB\tagain\n")
    refused("line 6, dialog: the dialogue 'a' was there before", path, out)
    assert write_pairs(path, out, on_error="skip").unreadable_rows == 1
    path.write_text(TURNS.replace("a\t1", "a\tone"))
    refused("line 3, turn: must be a whole number", path, out)
    path.write_text(TURNS.replace("a\t1", "a\t0"))
    refused("line 3, turn: comes after turn 0", path, out)
    save(tmp_path / "chat.jsonl", [{"id": "1", "turns": "a b"}])
    refused("line 1, turns: must be a list", tmp_path / "chat.jsonl", out)
    save(tmp_path / "chat.jsonl", [{"id": "1", "turns": [["a"]]}])
    refused(r"turns\[0\]: must be a text or an object", tmp_path / "chat.jsonl", out)


def test_bad_outputs_and_settings(tmp_path):
    path = save(tmp_path / "posts.jsonl", POSTS)
    refused("must end in one of", path, tmp_path / "pairs.csv")
    refused("its name does not end in .parquet", path, tmp_path / "pairs.tsv", form="parquet")
    refused("is read here too", path, path)
    refused("is written here too", path, tmp_path / "a.tsv", triples=tmp_path / "a.tsv")
    refused("memory: must be 1", path, tmp_path / "a.tsv", memory=0)
    refused("no overlap to drop", path, tmp_path / "a.tsv", drop_overlap=True)
    with pytest.raises(InputError, match="its folder does not exist"):
        write_pairs(path, tmp_path / "no" / "pairs.tsv")
    folder = tmp_path / "out"
    folder.mkdir()
    (tmp_path / "folder.tsv").mkdir()
    refused("is a folder, but a file", path, tmp_path / "folder.tsv")
    (folder / "notes.txt").write_text("mine")
    split = parse_split("a:1")
    refused("the folder is not empty", path, folder, split=split)
    refused("move notes.txt away", path, folder, split=split, replace=True)
    (folder / "notes.txt").rename(folder / "a.tsv")
    refused("move a.tsv away", path, folder, split=split, replace=True)
    (folder / "a.tsv").write_text("utterance\tresponse\n")
    write_pairs(path, folder, split=split, replace=True, form="jsonl.gz")
    assert os.listdir(folder) == ["a.jsonl.gz"]
    refused("is a file, but a split of logs is written to a folder", path, path, split=split)
    for settings in (
        {"min_posts": 1},
        {"users": "three"},
        {"clock_skew": -1},
        {"clock_skew": 1e308},  # which in milliseconds is infinite
        {"own_replies": "x"},
    ):
        with pytest.raises(InputError, match=next(iter(settings))):
            PairRules(**settings)


def test_logs_that_change_while_they_are_read(tmp_path):
    path = save(tmp_path / "posts.jsonl", POSTS)
    size = path.stat().st_size

    def grow(what, done, total):
        # Once is enough, and more would never come to an end.
        if path.stat().st_size == size:
            with open(path, "a") as file:
                file.write(json.dumps(POSTS[0]) + "\n")

    refused("has changed while it was read", path, tmp_path / "pairs.tsv", progress=grow)


# Real logs


@pytest.mark.parametrize(
    ("name", "dialogues", "turns", "pairs", "several", "many"),
    [
        ("dailydialog_dev_part", 1_901, 15_625, 13_724, 282, 39),
        ("topical_chat", 2_156, 46_903, 44_747, 273, 37),
        ("twitter_conv", 1_900, 10_603, 8_703, 137, 9),
        pytest.param(
            "self_dialogue", 24_155, 372_709, 348_554, 7_771, 1_520, marks=pytest.mark.long
        ),
        pytest.param("sgd", 17_193, 312_248, 295_055, 14_533, 3_149, marks=pytest.mark.long),
    ],
)
def test_real_layouts(name, dialogues, turns, pairs, several, many, data, tmp_path):
    made = write_pairs(data / "dialogue_logs" / f"{name}.tsv.gz", tmp_path / "pairs.tsv")
    (period,) = made.periods
    assert (made.layout, made.posts, made.in_pairs, made.unreadable_rows) == (
        "turns",
        turns,
        turns,
        0,
    )
    assert (period.threads, period.pairs) == (dialogues, pairs)
    assert (period.texts.with_2_responses, period.texts.with_5_responses) == (several, many)
    assert (
        sum(
            len(block)
            for part in find_partitions(tmp_path / "pairs.tsv")
            for block in part.blocks()
        )
        == pairs
    )
