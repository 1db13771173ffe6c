"""`deltableu mine`: every form of logs, every option, bad input, and runs that were cut off."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from deltableu.cli.mine_log import MiningLog
from deltableu.cli.progress import ProgressBar
from deltableu.corpus import read_study, write_study
from deltableu.mine import BM25, MiningPlan, Progress, RowFilter, mine_references

EXAMPLES = Path(__file__).parents[2] / "examples"
ROWS = [
    {"utterance": u, "response": r, "id": f"log-{n}", "thread": f"t{n // 3}"}
    for n, (u, r) in enumerate(
        [
            ("my projector died", "did you finish without slides ?"),
            ("a meeting on Friday ?", "clearly no weekend plans"),
            ("what did I do wrong ?", "let it rest for ten minutes"),
            ("come with us at eight", "I'd love to\tmeet you"),
            ("they lost my suitcase", "say, when did the airline\nget it back ?"),
            ("Prague or Vienna ?", 'the "beer" of Prague \\ cake'),
            ("is it snowing in April ?", "I got my scarf out"),
            ("cancel the picnic ?", "we can eat at my place"),
            ("I didn't understand the ending", "watch it twice"),
            ("any recommendations ?", "an old comedy , Zoë"),
            ("what is that ?", "Watch it  TWICE !"),
            ("a cough for three weeks", "[deleted]"),
            ("a cough for weeks", "see https://doctor.example"),
        ]
    )
]


def escaped(text):
    for character, spelt in (("\\", "\\\\"), ("\t", "\\t"), ("\n", "\\n")):
        text = text.replace(character, spelt)
    return text


def as_jsonl(rows=ROWS):
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_tsv(rows=ROWS):
    lines = ["utterance\tresponse\tid\tthread"]
    lines += ["\t".join(escaped(value) for value in row.values()) for row in rows]
    return ("\n".join(lines) + "\n").encode()


@pytest.fixture
def logs(tmp_path):
    path = tmp_path / "logs.jsonl"
    path.write_bytes(as_jsonl())
    return path


@pytest.fixture(scope="module")
def unrated(tmp_path_factory):
    """The demo study without its ratings, which take time to read."""
    folder = tmp_path_factory.mktemp("unrated") / "demo"
    write_study(read_study(EXAMPLES / "demo", ratings=False), folder)
    return folder


def contents(folder):
    """Every file of a folder, by name."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def events(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


# --- what it does ---------------------------------------------------------------------------------


def test_it_is_the_python_function(succeeds, demo, logs, tmp_path):
    command = ("mine", demo, "--logs", logs, "-o", tmp_path / "new", "--random", 2, "--seed", 5)
    record = succeeds(*command, "--top", 3, "--format", "json").json
    old, new = read_study(demo), read_study(tmp_path / "new")
    expected = mine_references(old, str(logs), plan=MiningPlan(top=3, random=2, seed=5))
    assert new.items == expected.study.items
    assert record == {
        "rows": 13,
        "unreadable_rows": 0,
        "unreadable_parts": [],
        "left_out": {"a placeholder": 1, "with a link": 1},
        "items": 68,
        "added": dict(sorted(expected.added.items())),
        "short_items": expected.short_items,
        "leaks": {},
        "signature": expected.signature,
    }
    assert expected.added["random"] == 2 * 68
    assert sorted(os.listdir(tmp_path)) == ["logs.jsonl", "new"]


def test_all_else_of_the_study_comes_along(succeeds, demo, logs, tmp_path):
    succeeds("mine", demo, "--logs", logs, "-o", tmp_path / "new")
    old, new = read_study(demo), read_study(tmp_path / "new")
    assert (new.outputs, new.ratings) == (old.outputs, old.ratings)
    assert (new.systems, new.note) == (old.systems, old.note)
    for before, after in zip(old.items, new.items, strict=True):
        assert after.references[: len(before.references)] == before.references
        assert {one.origin for one in after.references[len(before.references) :]} <= {"mined"}
        assert all(one.weight is None for one in after.references[len(before.references) :])


def write_parquet(path, rows=ROWS):
    pyarrow = pytest.importorskip("pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(pyarrow.Table.from_pylist(rows), path, row_group_size=5)


def write_zst(path, data):
    pyarrow = pytest.importorskip("pyarrow")
    with pyarrow.CompressedOutputStream(str(path), "zstd") as stream:
        stream.write(data)


@pytest.mark.parametrize("form", ["tsv", "tsv.gz", "jsonl.gz", "jsonl.zst", "tsv.zst", "parquet"])
def test_all_forms_of_logs_are_the_same(form, succeeds, unrated, logs, tmp_path):
    expected = succeeds("mine", unrated, "--logs", logs, "-o", tmp_path / "expected")
    path = tmp_path / f"other.{form}"
    data = as_tsv() if form.startswith("tsv") else as_jsonl()
    if form == "parquet":
        write_parquet(path)
    elif form.endswith(".gz"):
        path.write_bytes(gzip.compress(data))
    elif form.endswith(".zst"):
        write_zst(path, data)
    else:
        path.write_bytes(data)
    assert succeeds("mine", unrated, "--logs", path, "-o", tmp_path / "new") == expected
    assert contents(tmp_path / "new") == contents(tmp_path / "expected")


def test_several_files_folders_patterns_and_urls(succeeds, unrated, logs, tmp_path):
    expected = succeeds("mine", unrated, "--logs", logs, "-o", tmp_path / "expected")
    folder = tmp_path / "many"
    folder.mkdir()
    (folder / "a.tsv").write_bytes(as_tsv(ROWS[:4]))
    (folder / "b.jsonl").write_bytes(as_jsonl(ROWS[4:9]))
    (folder / "c.jsonl.gz").write_bytes(gzip.compress(as_jsonl(ROWS[9:])))
    pytest.importorskip("fsspec")
    for name, paths in {
        "files": sorted(folder.iterdir()),
        "folder": [folder],
        "pattern": [folder / "*"],
        "url": [folder.as_uri()],
        "local": [f"local://{folder}"],
    }.items():
        assert succeeds("mine", unrated, "--logs", *paths, "-o", tmp_path / name) == expected
        assert contents(tmp_path / name) == contents(tmp_path / "expected")


@pytest.mark.parametrize(
    ("options", "plan"),
    [
        ([], MiningPlan()),
        (["--method", "bm25", "--on", "both"], MiningPlan()),
        (["--on", "utterance"], MiningPlan(BM25(on="utterance"))),
        (["--on", "response", "--top", 2], MiningPlan(BM25(on="response"), top=2)),
        (["--product", "plain"], MiningPlan(BM25(product="plain"))),
        (["--alpha", 0.3, "--epsilon", 0.2], MiningPlan(BM25(alpha=0.3, epsilon=0.2))),
        (["--k1", 0.9, "--b", 0.4], MiningPlan(BM25(k1=0.9, b=0.4))),
        (["--idf", "atire"], MiningPlan(BM25(idf="atire"))),
        (["--min-words", 3], MiningPlan(rows=RowFilter(min_words=3))),
        (["--max-words", 5], MiningPlan(rows=RowFilter(max_words=5))),
        (["--keep-junk"], MiningPlan(rows=RowFilter(junk=False))),
        (["--diversity", 0.5], MiningPlan(diversity=0.5)),
        (["--parrot"], MiningPlan(parrot=True)),
        (["--random", 3, "--seed", 4], MiningPlan(random=3, seed=4)),
        (["--top", 0, "--random", 3], MiningPlan(top=0, random=3)),
    ],
    ids=lambda value: " ".join(map(str, value)) or "defaults" if isinstance(value, list) else "",
)
def test_every_option_is_heeded(options, plan, succeeds, study, logs, tmp_path):
    command = ("mine", study.path, "--logs", logs, "-o", tmp_path / "new", *options)
    record = succeeds(*command, "--format", "json").json
    expected = mine_references(read_study(study.path), str(logs), plan=plan)
    assert record["signature"] == expected.signature == plan.signature
    assert record["left_out"] == expected.left_out
    assert read_study(tmp_path / "new").items == expected.study.items


def test_threads_do_not_change_a_thing(succeeds, unrated, logs, tmp_path):
    one = succeeds("mine", unrated, "--logs", logs, "-o", tmp_path / "one", "--threads", 1)
    assert succeeds("mine", unrated, "--logs", logs, "-o", tmp_path / "3", "--threads", 3) == one
    assert contents(tmp_path / "one") == contents(tmp_path / "3")


def test_a_cluster_does_not_change_a_thing(run, process, unrated, logs, tmp_path):
    pytest.importorskip("distributed")
    arguments = ["mine", unrated, "--logs", logs, EXAMPLES / "logs", "--random", 2]
    expected = run(*arguments, "-o", tmp_path / "threads")
    assert expected.code == 0
    result = process(*arguments, "-o", tmp_path / "dask", "--engine", "dask", "--threads", 1)
    assert result == expected
    assert contents(tmp_path / "dask") == contents(tmp_path / "threads")


# --- what it says ---------------------------------------------------------------------------------


def test_the_table_says_what_was_done(succeeds, unrated, logs, tmp_path):
    out = succeeds("mine", unrated, "--logs", logs, "-o", tmp_path / "new", "--top", 12).out
    rows = dict(re.findall(r"^(.+?)  +([\d,]+)$", out, flags=re.MULTILINE))
    assert rows["rows read"] == "13"
    assert rows["rows left out: a placeholder"] == "1"
    assert rows["rows left out: with a link"] == "1"
    assert rows["items"] == "68"
    assert int(rows["references added: mined"].replace(",", "")) > 0
    assert rows["items with fewer mined references than asked for"] == "68"
    assert rows["items whose own pair is in the logs"] == "0"
    assert out.rstrip().splitlines()[-1].startswith("signature: bm25|on:both|")


@pytest.mark.parametrize("format", ["tsv", "markdown", "latex"])
def test_other_formats(format, succeeds, unrated, logs, tmp_path):
    command = ("mine", unrated, "--logs", logs, "-o", tmp_path / "new", "--format", format)
    out = succeeds(*command).out
    assert re.search(r"rows read\W+13\b", out)
    assert ("signature" in out) == (format != "tsv")  # which is one tidy table


def test_leaks_are_said_loudly(run, study, make_item, tmp_path):
    study.items(*(make_item(f"q{n}", (f"answer {n} is here", None)) for n in range(5)))
    shutil.rmtree(study.path / "outputs")
    own = [{"utterance": f"What of q{n}?", "response": f"Answer {n} is here."} for n in range(4)]
    logs = tmp_path / "logs.jsonl"
    logs.write_bytes(as_jsonl([*own, own[0], {"utterance": "what of it", "response": "a word"}]))
    result = run("mine", study.path, "--logs", logs, "-o", tmp_path / "new", "--format", "json")
    assert result.code == 0
    assert result.err == (
        "deltableu: warning: the logs hold 4 items' own pairs (q0, q1, q2, ...): they were not "
        "used, but systems trained on these logs have seen the test set\n"
    )
    assert result.json["leaks"] == {"q0": 2, "q1": 1, "q2": 1, "q3": 1}
    for item in read_study(tmp_path / "new").items:
        assert item.references[0].text not in [one.text[:-1].lower() for one in item.references[1:]]
    logs.write_bytes(as_jsonl(own[:1]))
    result = run("mine", study.path, "--logs", logs, "-o", tmp_path / "other")
    assert "the logs hold 1 item's own pair (q0): it was not used, but " in result.err


def test_the_log_has_a_line_for_each_part(succeeds, unrated, tmp_path):
    for name in ("a", "b"):
        (tmp_path / f"{name}.tsv").write_bytes(as_tsv())
    command = ("mine", unrated, "--logs", tmp_path / "*.tsv", "--log", tmp_path / "log")
    succeeds(*command, "-o", tmp_path / "new", "--threads", 1)
    found = events(tmp_path / "log")
    names = [str(tmp_path / "a.tsv"), str(tmp_path / "b.tsv")]
    assert found == [
        {
            "stage": stage,
            "partition": number,
            "partitions": 2,
            "name": names[number],
            "rows": 13,
            "kept": False,
        }
        for stage in ("counting", "scoring")
        for number in (0, 1)
    ]
    succeeds(*command, "-o", tmp_path / "again")
    assert len(events(tmp_path / "log")) == 8


# --- what cannot be read --------------------------------------------------------------------------


def test_rows_and_files_that_cannot_be_read_are_left_out(run, unrated, logs, tmp_path):
    (tmp_path / "broken.jsonl.gz").write_bytes(gzip.compress(as_jsonl())[:-20])
    (tmp_path / "bad.jsonl").write_bytes(b'{"utterance": "a"}\nno json\n' + as_jsonl(ROWS[:2]))
    paths = [logs, tmp_path / "bad.jsonl", tmp_path / "broken.jsonl.gz"]
    command = ["mine", unrated, "--logs", *paths, "-o", tmp_path / "new", "--on-error", "skip"]
    result = run(*command, "--format", "json")
    assert result.code == 0
    record = result.json
    assert (record["rows"], record["unreadable_rows"]) == (15, 2)
    (part,) = record["unreadable_parts"]
    assert part.startswith(f"{tmp_path}/broken.jsonl.gz: is not a whole gzip file")
    assert result.err == f"deltableu: left out: {part}\n"
    out = run(*command, "--replace").out
    assert re.search(r"rows that could not be read +2\n", out)
    assert re.search(r"parts of the logs that could not be read +1\n", out)


@pytest.fixture
def refuses(run, refusal, tmp_path, study, logs):
    """Run a command that must refuse: exit code 2, one sentence, nothing written."""

    def refuses(*arguments, study=study.path, logs=(logs,), output="new"):
        before = sorted(tmp_path.rglob("*"))
        command = ["mine", study, "--logs", *logs, "-o", tmp_path / output]
        result = run(*command, *arguments)
        refusal(result)
        assert sorted(tmp_path.rglob("*")) == before
        return result.err.removeprefix("deltableu: ").removesuffix("\n")

    return refuses


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("gone.tsv", None, "there is no such file"),
        ("gone", None, "there is no such file or folder"),
        ("*.gone", None, "no file matches this pattern"),
        ("logs.txt", b"hello\n", "is not known as a log: log files end in .jsonl, .tsv"),
        ("a.tsv", b"question\tresponse\na\tb\n", "the first line names no column 'utterance'"),
        ("b.tsv", b"utterance\tresponse\na\n", "line 2: has 1 cell, but the first line names 2"),
        ("c.jsonl", b'{"utterance": "a", "response": "b"}\n{"utt\n', "line 2: is not valid JSON"),
        ("d.jsonl", b'{"utterance": "a"}\n', "line 1, response: "),
        ("e.jsonl", b'{"utterance": "a", "response": "\xff"}\n', "line 1: is not valid UTF-8"),
        ("f.jsonl", b"", "the logs hold no rows"),
        ("g.tsv", b"utterance\tresponse\n", "the logs hold no rows"),
        ("h.jsonl.gz", b"hello", "is not a whole gzip file"),
        ("i.parquet", b"hello", "is not a readable Parquet file"),
        ("nothing/", None, "holds no logs"),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value[:8] else "",
)
def test_logs_that_are_not_right(name, data, message, refuses, tmp_path):
    if name.endswith("parquet"):
        pytest.importorskip("pyarrow")
    path = tmp_path / name
    if name.endswith("/"):
        path.mkdir()
    elif data is not None:
        path.write_bytes(data)
    said = refuses(logs=[path])
    assert str(path) in said
    assert message in said


def test_a_parquet_log_without_a_column(refuses, tmp_path):
    write_parquet(tmp_path / "logs.parquet", [{"utterance": "a", "reply": "b"}])
    said = refuses(logs=[tmp_path / "logs.parquet"])
    assert said.startswith(f"{tmp_path}/logs.parquet, response: has no column 'response'")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--top", "-1"], "top must be 0 or more, got -1"),
        (["--top", "1.5"], "--top takes a whole number, got '1.5'"),
        (["--top", "0"], "--top 0 without --parrot and --random adds nothing"),
        (["--random", "-1"], "random must be 0 or more, got -1"),
        (["--method", "magic"], "magic"),
        (["--on", "everything"], "everything"),
        (["--k1", "-1"], "k1 must be 0 or more, got -1.0"),
        (["--k1", "nan"], "k1 must be 0 or more, got nan"),
        (["--b", "2"], "b must lie in [0, 1], got 2.0"),
        (["--idf", "best"], "best"),
        (["--alpha", "-0.1"], "alpha must lie in [0, 1], got -0.1"),
        (["--on", "utterance", "--alpha", "0.1"], "--alpha is of no use with --on utterance"),
        (["--on", "response", "--product", "plain"], "--product is of no use with --on response"),
        (["--product", "plain", "--epsilon", "1"], "--epsilon is of no use with --product plain"),
        (["--min-words", "-1"], "min_words must be 0 or more, got -1"),
        (["--min-words", "9", "--max-words", "3"], "max_words must be at least min_words, got 3"),
        (["--diversity", "1.5"], "diversity must lie in [0, 1], got 1.5"),
        (
            ["--engine", "spark"],
            "engine must be threads, dask, dask://HOST:PORT or tls://HOST:PORT, got 'spark'",
        ),
        (["--threads", "0"], "--threads must be at least 1, got 0"),
        (["--on-error", "cry"], "cry"),
        (["--format", "xml"], "xml"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_options_that_are_not_right(options, message, refuses):
    assert message in refuses(*options)


def test_a_study_that_is_not_right(refuses, study, tmp_path):
    assert refuses(study=tmp_path / "gone") == f"{tmp_path}/gone: there is no such folder"
    study.lines('{"id": "q1", "references": ["a"]}', "no json")
    assert refuses(study=study.path).startswith(f"{study.path}/items.jsonl, line 2: is not valid")
    study.lines("")
    assert refuses(study=study.path).startswith(f"{study.path}/items.jsonl")


def test_items_that_cannot_be_looked_for(refuses, succeeds, study, logs, tmp_path):
    shutil.rmtree(study.path / "outputs")
    study.lines('{"id": "q1", "references": ["did you finish"]}')
    assert refuses(study=study.path).startswith("item 'q1', message: the item has no message")
    assert "no message" in refuses("--on", "utterance", study=study.path)
    command = ("mine", study.path, "--logs", logs, "-o", tmp_path / "found", "--replace")
    assert "mined" in succeeds(*command, "--on", "response").out
    written = {"id": "r0", "text": "did you", "origin": "written"}
    study.items({"id": "q1", "message": "my projector", "references": [written]})
    assert "item 'q1', references: the item has no original" in refuses(study=study.path)
    assert "mined" in succeeds(*command, "--on", "utterance").out


def test_logs_must_be_named(refuses, run, refusal, unrated, tmp_path):
    assert refuses(logs=[""]) == "--logs names no file or folder"
    assert refuses(logs=["-"]).startswith("--logs cannot be standard input")
    refusal(run("mine", unrated, "-o", tmp_path / "new"))
    refusal(run("mine", unrated, "--logs", "-o", tmp_path / "new"))


def test_no_output_is_needed_to_refuse(run, refusal, unrated, logs):
    refusal(run("mine", unrated, "--logs", logs))


# --- where it goes --------------------------------------------------------------------------------


@pytest.fixture
def never(monkeypatch):
    """What must be found out before any work is done."""

    def work(*_, **__):
        raise AssertionError("the logs were mined before the output was looked at")

    monkeypatch.setattr("deltableu.cli.mine.mine_references", work)


@pytest.mark.usefixtures("never")
def test_outputs_are_looked_at_first(refuses, study, tmp_path):
    (tmp_path / "file").write_text("")
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "thesis.txt").write_text("")
    assert refuses(output="file").endswith("file: is a file, but a study is written to a folder")
    assert "the folder is not empty: choose another one, or replace it (--replace)" in refuses(
        output="full"
    )
    assert "not empty" in refuses(output="study")
    assert "move thesis.txt away" in refuses("--replace", output="full")
    assert "its folder does not exist" in refuses(output="gone/new")
    assert "new, which is written here" in refuses("--work", tmp_path / "new" / "work")
    assert "new, which is written here" in refuses("--log", tmp_path / "new" / "log")
    assert "is a file, but checkpoints are kept in a folder" in refuses("--work", tmp_path / "file")
    assert "is a folder, but a file is to be written" in refuses("--log", tmp_path / "full")
    assert "its folder does not exist" in refuses("--log", tmp_path / "gone" / "log")
    (tmp_path / ".lost.deltableu-old").mkdir()
    (tmp_path / ".lost.deltableu-old" / "items.jsonl").write_text("")
    assert "not empty" in refuses(output="lost")


def test_an_old_study_is_replaced_only_when_asked(succeeds, study, logs, tmp_path):
    new = tmp_path / "new"
    new.mkdir()  # an empty folder is no loss
    succeeds("mine", study.path, "--logs", logs, "-o", new, "--top", 1)
    once = contents(new)
    succeeds("mine", study.path, "--logs", logs, "-o", new, "--top", 2, "--replace")
    assert contents(new) != once
    # In the place of the study itself: what was mined before is kept, and not found again.
    before = read_study(new).items
    succeeds("mine", new, "--logs", logs, "-o", new, "--top", 2, "--replace")
    for old, one in zip(before, read_study(new).items, strict=True):
        assert one.references[: len(old.references)] == old.references
        texts = [reference.text for reference in one.references]
        assert len(set(texts)) == len(texts)


def test_a_run_without_an_end_leaves_no_output(refuses, tmp_path):
    """A file that breaks in the second half, after parts of it were read."""
    text = as_jsonl() * 2000
    (tmp_path / "long.jsonl.gz").write_bytes(gzip.compress(text)[:-100])
    assert "long.jsonl.gz: is not a whole gzip file" in refuses(logs=[tmp_path / "long.jsonl.gz"])


# --- runs that were cut off -----------------------------------------------------------------------

FILES = 10


@pytest.fixture(scope="module")
def long_logs(tmp_path_factory):
    """Enough rows that a run can be met in the middle."""
    folder = tmp_path_factory.mktemp("long")
    rng = random.Random(1)
    study = read_study(EXAMPLES / "demo", ratings=False)
    words = " ".join(f"{item.message} {item.references[0].text}" for item in study.items).split()
    for number in range(FILES):
        lines = ["utterance\tresponse\tid"]
        for row in range(8_000):
            said = [" ".join(rng.choices(words, k=6)) for _ in range(2)]
            lines.append(f"{said[0]}\t{said[1]}\t{number}-{row}")
        (folder / f"{number}.tsv").write_text("\n".join(lines) + "\n")
    return folder


@pytest.fixture(scope="module")
def undisturbed(unrated, long_logs, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed")
    command = mine_command(unrated, long_logs, folder)
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return contents(folder / "new"), done.stdout


def mine_command(study, logs, folder):
    program = str(Path(sys.executable).parent / "deltableu")
    options = ["--parrot", "--random", "2", "--threads", "1", "--log", folder / "log"]
    command = [program, "mine", study, "--logs", logs, "-o", folder / "new", *options]
    return [str(part) for part in command]


def cut_off(command, folder, stage, many, sign):
    """Run, and send a signal when so many parts have gone through a stage."""
    log = folder / "log"
    for _ in range(5):  # a busy machine may look too late
        process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            lines = log.read_text().splitlines() if log.exists() else []
            if sum(f'"{stage}"' in line for line in lines) >= many:
                process.send_signal(sign)
                break
            time.sleep(0.001)
        out, err = process.communicate(timeout=60)
        if process.returncode != 0 and len(log.read_text().splitlines()) < 2 * FILES:
            return process.returncode, out, err
        for path in folder.iterdir():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    return pytest.fail("no run could be met in the middle")


@pytest.mark.parametrize(
    ("stage", "sign"),
    [("counting", signal.SIGKILL), ("scoring", signal.SIGKILL), ("scoring", signal.SIGINT)],
    ids=["killed while counting", "killed while scoring", "interrupted while scoring"],
)
def test_a_run_goes_on_where_it_was(stage, sign, run, unrated, long_logs, undisturbed, tmp_path):
    command = mine_command(unrated, long_logs, tmp_path)
    log, new, work = (tmp_path / name for name in ("log", "new", "new.mining"))
    code, out, err = cut_off(command, tmp_path, stage, 3, sign)
    assert (code, out) == (-sign, "")
    if sign == signal.SIGINT:
        assert err.splitlines() == [
            f"deltableu: {work} keeps what was done: the same command goes on from there",
            "deltableu: stopped by SIGINT",
        ]
    assert not new.exists()
    first = events(log)
    done = {(event["stage"], event["partition"]) for event in first}
    assert len(done) == len(first)
    assert not any(event["kept"] for event in first)
    assert sum(name == stage for name, _ in done) >= 3
    assert len(list(work.glob("*/*.npz"))) >= len(done)

    log.unlink()
    again = run(*command[1:])
    assert again.code == 0
    second = events(log)
    kept = {(event["stage"], event["partition"]) for event in second if event["kept"]}
    redone = {(event["stage"], event["partition"]) for event in second if not event["kept"]}
    assert kept >= done
    assert redone
    assert not kept & redone
    assert len(kept) + len(redone) == len(second) == 2 * FILES
    counted, scored = (sum(name == one for name, _ in kept) for one in ("counting", "scoring"))
    also = f", {scored} scored" if scored else ""
    said = f"deltableu: goes on: {counted} of {FILES} partitions were counted{also} before\n"
    assert again.err == said
    assert (contents(new), again.out) == undisturbed
    assert not work.exists()


def test_other_settings_start_anew(run, unrated, long_logs, undisturbed, tmp_path):
    command = mine_command(unrated, long_logs, tmp_path)
    code, _, _ = cut_off(command, tmp_path, "counting", 2, signal.SIGKILL)
    assert code == -9
    arguments = [*command[1:], "--k1", "1"]
    result = run(*arguments)
    assert result.code == 0
    assert result.err == (
        f"deltableu: starts anew: what {tmp_path}/new.mining keeps is of other items, logs or "
        "settings\n"
    )
    assert contents(tmp_path / "new") != undisturbed[0]
    assert (tmp_path / "new.mining").exists()


def test_the_work_folder_can_be_chosen(run, unrated, long_logs, undisturbed, tmp_path):
    command = [*mine_command(unrated, long_logs, tmp_path), "--work", str(tmp_path / "here")]
    assert cut_off(command, tmp_path, "counting", 2, signal.SIGKILL)[0] == -9
    assert list((tmp_path / "here").glob("*/*.npz"))
    result = run(*command[1:])
    assert "goes on: " in result.err
    assert contents(tmp_path / "new") == undisturbed[0]
    assert sorted(os.listdir(tmp_path)) == ["log", "new"]


# --- progress -------------------------------------------------------------------------------------


class Clock:
    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def test_a_line_now_and_then(capsys, tmp_path):
    clock = Clock()
    with ProgressBar(lines=True, clock=clock) as bar:
        progress = MiningLog(tmp_path, lambda event: None, bar).show
        for second in range(1, 75):
            clock.now = 100.0 + second
            stage = "counting" if second < 50 else "scoring"
            progress(Progress(stage, 1_000_000 * second, second, 100, 0, float(second)))
    assert capsys.readouterr().err.splitlines() == [
        "deltableu: counting: 30,000,000 rows, 1,000,000 rows/s, 70 s left",
        "deltableu: scoring: 60,000,000 rows, 1,000,000 rows/s, 40 s left",
    ]


def test_short_runs_say_nothing(succeeds, unrated, logs, tmp_path):
    succeeds("mine", unrated, "--logs", logs, "-o", tmp_path / "new")


def test_a_bar_on_a_terminal(monkeypatch, tmp_path):
    class Terminal(io.StringIO):
        def isatty(self):
            return True

    stream = Terminal()
    monkeypatch.setattr(sys, "stderr", stream)
    monkeypatch.setenv("COLUMNS", "120")
    monkeypatch.setenv("TERM", "xterm")
    clock = Clock()
    with ProgressBar(lines=True, clock=clock) as bar:
        progress = MiningLog(tmp_path, lambda event: None, bar).show
        progress(Progress("counting", 10, 1, 100, 0, 0.1))
        assert stream.getvalue() == ""
        clock.now += 1
        for stage in ("counting", "scoring"):
            progress(Progress(stage, 50_000, 50, 100, 0, 1.0))
            bar._bar.refresh()
    shown = stream.getvalue()
    for stage in ("counting", "scoring"):
        assert re.search(rf"{stage} .*50,000 rows, 50,000 rows/s, 1 s left", shown)


# --- what it costs and shows ----------------------------------------------------------------------


@pytest.mark.parametrize("arguments", [["--help"], ["mine"]], ids=["help", "a run"])
def test_heavy_modules_stay_out(arguments, unrated, logs, tmp_path):
    if arguments == ["mine"]:
        arguments = [unrated, "--logs", logs, "-o", tmp_path / "new"]
    script = (
        "import sys\nfrom deltableu.cli.app import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'scipy.stats', 'pyarrow', 'dask', 'distributed', 'fsspec', 'sacrebleu'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    command = [sys.executable, "-c", script, "mine", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_every_option_is_explained(succeeds):
    out = succeeds("mine", "--help").out
    assert out.startswith("Usage: deltableu mine")
    assert " mine " in succeeds("--help").out
    options = re.findall(r"│[ *]+(?:STUDY )?(--[a-z0-9-]+)(.*?)│", out)
    assert len(options) > 20
    for name, text in options:
        assert text.strip(), name


def test_the_logs_of_the_examples_are_what_their_script_writes():
    script = EXAMPLES / "logs" / "write_logs.py"
    subprocess.run([sys.executable, str(script), "--check"], check=True)


def test_references_can_be_mined_for_the_demo(run, demo, tmp_path):
    command = ("mine", demo, "--logs", EXAMPLES / "logs", "-o", tmp_path / "new", "--top", 5)
    result = run(*command, "--format", "json")
    assert (result.code, result.json["short_items"]) == (0, 0)
    assert result.json["leaks"] == {"d29": 1}
    show = [sys.executable, str(EXAMPLES / "show_mined.py"), str(tmp_path / "new"), "d03", "d66"]
    shown = subprocess.run(show, capture_output=True, text=True, check=True).stdout
    assert shown.splitlines()[0] == "d03  It came out super watery, what did I do wrong?"
    assert len(shown.splitlines()) == 12
    assert run("check", tmp_path / "new").code == 0


# By meaning


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--method", "embedding"], "needs --vectors"),
        (["--method", "encoder"], "needs --encoder: wordllama"),
        (["--method", "encoder", "--encoder", "nothing"], "package.module:function"),
        (["--method", "encoder", "--encoder", "no.such:one"], "cannot be loaded"),
        (["--method", "embedding", "--vectors", "none.txt"], "none.txt: there is no such file"),
        (["--vectors", "v.txt"], "--vectors is of no use with --method bm25"),
        (["--method", "embedding", "--k1", "1.2"], "--k1 is of no use with --method embedding"),
        (["--method", "embedding", "--alpha", "0.2"], "--alpha is of no use with --on utterance"),
    ],
)
def test_vectors_that_are_not_there(run, tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    logs = tmp_path / "log.tsv"
    logs.write_bytes(as_tsv())
    result = run("mine", EXAMPLES / "demo", "--logs", logs, "-o", tmp_path / "new", *options)
    assert result.code == 2
    assert sentence in result.err
    assert not (tmp_path / "new").exists()


def test_vectors_of_a_file(run, tmp_path):
    logs, vectors, new = tmp_path / "log.tsv", tmp_path / "vectors.txt", tmp_path / "new"
    logs.write_bytes(as_tsv())
    words = sorted({word for row in ROWS for word in re.findall(r"[a-z]+", row["utterance"])})
    rng = random.Random(1)
    vectors.write_text(
        "".join(f"{word} {rng.random()} {rng.random()} -0.1\n" for word in words), "utf-8"
    )
    options = ["--method", "embedding", "--vectors", vectors, "--top", "3"]
    result = run("mine", EXAMPLES / "demo", "--logs", logs, "-o", new, *options)
    assert result.code == 0
    assert "signature: cosine|words:" in result.out
    scores = [
        one.source.score
        for item in read_study(new).items
        for one in item.references
        if one.source is not None
    ]
    assert scores
    assert all(0.0 < score <= 1.0 + 1e-12 for score in scores)


# What is read is never written to


def test_inputs_are_never_overwritten(run, tmp_path):
    study, logs = tmp_path / "study", tmp_path / "log.tsv"
    write_study(read_study(EXAMPLES / "demo"), study)
    logs.write_bytes(as_tsv())
    inside = tmp_path / "old" / "outputs" / "log.tsv"
    shutil.copytree(study, tmp_path / "old")
    inside.write_bytes(as_tsv())
    new = tmp_path / "new"
    for arguments, sentence in (
        (["--logs", logs, "-o", new, "--log", logs], "is read here too"),
        (["--logs", logs, "-o", new, "--log", study / "items.jsonl"], "study, which is read here"),
        (["--logs", inside, "-o", tmp_path / "old", "--replace"], "log.tsv, which is read here"),
    ):
        result = run("mine", study, *arguments)
        assert result.code == 2
        assert sentence in result.err
    assert logs.read_bytes() == inside.read_bytes() == as_tsv()
    assert not new.exists()
    result = run("vectors", "train", logs, "-o", logs)
    assert (result.code, logs.read_bytes()) == (2, as_tsv())
    folder = tmp_path / "posts"
    folder.mkdir()
    posts = folder / "posts.jsonl"
    shutil.copy(EXAMPLES / "posts.jsonl", posts)
    split = ["--split", "a:0.5,b:0.5", "--replace"]
    result = run("logs", "pairs", posts, "-o", folder, *split)
    assert result.code == 2
    assert "posts.jsonl, which is read here" in result.err
    assert posts.exists()


@pytest.mark.parametrize("option", ["--top", "--random"])
def test_numbers_that_no_memory_holds(run, tmp_path, option):
    logs = tmp_path / "log.tsv"
    logs.write_bytes(as_tsv())
    new = tmp_path / "new"
    result = run("mine", EXAMPLES / "demo", "--logs", logs, "-o", new, option, "1000000000")
    assert result.code == 2
    assert "at most 10,000" in result.err
