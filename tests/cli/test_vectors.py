"""`deltableu vectors`."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from deltableu.corpus import Item, Reference, Study, write_study
from deltableu.text import read_vectors, write_vectors
from deltableu.vectors import train_vectors
from tests.vectors.corpora import grouped

SETTINGS = ["--dimension", "8", "--window", "4", "--epochs", "3", "--min-count", "2", "--seed", "1"]


@pytest.fixture
def logs(tmp_path):
    path = tmp_path / "logs.tsv"
    rows = grouped(rows=300)
    path.write_text("utterance\tresponse\n" + "".join(f"{a}\t{b}\n" for a, b in rows))
    return path


@pytest.fixture
def results(tmp_path):
    folder = tmp_path / "results"
    folder.mkdir()
    return folder


@pytest.mark.parametrize("name", ["v.txt", "v.bin", "v.txt.gz"])
def test_training_writes_what_python_makes(name, logs, results, succeeds):
    made = succeeds("vectors", "train", logs, "-o", results / name, *SETTINGS, "--format", "json")
    wanted = train_vectors(logs, dimension=8, window=4, epochs=3, min_count=2, seed=1)
    found = read_vectors(results / name)
    assert found.rows == wanted.rows
    assert np.array_equal(found.raw, wanted.raw)
    assert [path.name for path in results.iterdir()] == [name]
    assert made.json["words in the logs"] == 300 * 2 * 6
    assert made.json["words with a vector"] == len(wanted.rows) - 1
    assert made.json["epochs"] == 3
    assert made.json["loss of the last epoch"] < made.json["loss of the first epoch"]


def test_threads_and_memory_change_nothing(logs, results, succeeds):
    options = (
        ["--threads", "1"],
        ["--threads", "2", "--memory", "1KB", "--work", results.parent],
        ["--memory", "0.5gb"],
    )
    for number, more in enumerate(options):
        succeeds("vectors", "train", logs, "-o", results / f"{number}.bin", *SETTINGS, *more)
    first, *others = (path.read_bytes() for path in results.iterdir())
    assert others == [first, first]


def test_words_by_a_tokenizer(tmp_path, results, succeeds, run, refusal):
    log = tmp_path / "towns.tsv"
    log.write_text("utterance\tresponse\n京都へ行きました\t東京都です\n京都が好き\t東京です\n")
    file = results / "v.txt"
    more = ("--min-count", "1", "--dimension", "4", "--epochs", "1", "--tokenize", "ja-mecab")
    succeeds("vectors", "train", log, "-o", file, *more)
    assert {"京都", "東京"} <= set(read_vectors(file).rows)
    study = tmp_path / "study"
    write_study(Study((Item("1", (Reference("a", "はい"),), message="京都"),)), study)
    mine = ("mine", study, "--logs", log, "-o", tmp_path / "mined")
    by_vectors = (*mine, "--method", "embedding", "--vectors", file)
    for wrong, said in (
        (by_vectors, "by the rule 'ja-mecab'"),
        ((*mine, "--tokenize", "mecab"), "tokenize must be one of words, none"),
    ):
        result = run(*wrong)
        refusal(result)
        assert said in result.err
    succeeds(*by_vectors, "--tokenize", "ja-mecab")
    made = succeeds(*mine, "--on", "utterance", "--tokenize", "ja-mecab", "--replace")
    assert "tokenize:ja-mecab" in made.out


def test_the_summary(logs, results, succeeds):
    out = succeeds("vectors", "train", logs, "-o", results / "v.txt", *SETTINGS).out
    assert "words in the logs" in out
    assert "3,600" in out


def test_neighbours(logs, results, succeeds):
    vectors = train_vectors(grouped(), dimension=20, window=5, epochs=10)
    write_vectors(vectors, results / "v.bin")
    found = succeeds(
        "vectors", "near", "g1m1", "G2M2", "--vectors", results / "v.bin", "--top", "3",
        "--format", "json",
    ).json  # fmt: skip
    assert [one["word"] for one in found] == ["g1m1"] * 3 + ["G2M2"] * 3
    assert {one["neighbour"][:2] for one in found[:3]} == {"g1"}
    assert {one["neighbour"][:2] for one in found[3:]} == {"g2"}
    table = succeeds("vectors", "near", "g1m1", "--vectors", results / "v.bin").out
    assert len(table.strip().splitlines()) == 2 + 10


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["nowhere.tsv"], "nowhere.tsv"),
        ([], "name at least one file"),
        (["-"], "standard input"),
        (["LOGS", "--min-count", "1000000"], "no word occurs 1000000 times"),
        (["LOGS", "--dimension", "0"], "dimension: must be 1 or more"),
        (["LOGS", "--dimension", "1.5"], "--dimension takes a whole number"),
        (["LOGS", "--memory", "much"], "--memory takes a size such as 500MB"),
        (["LOGS", "--memory", "0GB"], "--memory takes a size"),
        (["LOGS", "--learning-rate", "-1"], "learning_rate: must be a number above 0"),
        (["LOGS", "--learning-rate", "1e30"], "training went astray"),
        (["LOGS", "--work", "LOGS"], "is a file, but checkpoints are kept in a folder"),
    ],
)
def test_mistakes_in_training(arguments, said, logs, results, run, refusal):
    given = [logs if one == "LOGS" else one for one in arguments]
    result = run("vectors", "train", *given, "-o", results / "v.txt")
    refusal(result)
    assert said in result.err
    assert list(results.iterdir()) == []


def test_outputs_that_cannot_be_written(logs, results, run, refusal):
    for path, said in ((results, "is a folder"), (results / "no" / "v.txt", "does not exist")):
        result = run("vectors", "train", logs, "-o", path, *SETTINGS)
        refusal(result)
        assert said in result.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no /dev/full")
def test_what_a_full_disk_leaves_is_named(logs, tmp_path, run):
    work = tmp_path / "work"
    result = run("vectors", "train", logs, "-o", "/dev/full", "--work", work, *SETTINGS)
    assert result.code == 2
    assert f"deltableu: {work} keeps what was done" in result.err
    assert result.err.splitlines()[-1].endswith("No space left on device")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["yess"], "there is no vector for the word 'yess': did you mean yes?"),
        (["yes", "zzzzzz"], "there is no vector for the word 'zzzzzz'"),
        ([], "name at least one word"),
        (["yes", "--top", "0"], "--top must be at least 1"),
        (["yes", "--vectors", "nowhere.txt"], "nowhere.txt: there is no such file"),
        (["yes", "--vectors", "bad.txt"], "bad.txt, line 2: has 1 numbers"),
    ],
)
def test_mistakes_in_looking_up(arguments, said, tmp_path, monkeypatch, run, refusal):
    monkeypatch.chdir(tmp_path)
    Path("v.txt").write_text("yes 1 2\nno 2 1\n")
    Path("bad.txt").write_text("yes 1 2\nno 2\n")
    if "--vectors" not in arguments:
        arguments = [*arguments, "--vectors", "v.txt"]
    result = run("vectors", "near", *arguments)
    refusal(result)
    assert said in result.err


@pytest.mark.parametrize("blow", [signal.SIGINT, signal.SIGKILL])
def test_a_run_that_was_stopped_goes_on(blow, logs, results, run):
    program = Path(sys.executable).parent / "deltableu"
    output = results / "v.txt"
    settings = ["--dimension", "8", "--min-count", "2", "--epochs", "120", "--threads", "1"]
    command = ["vectors", "train", logs, "-o", output, *settings]
    work = Path(f"{output}.training")
    with subprocess.Popen(
        [program, *command], stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        deadline = time.monotonic() + 30
        while not list(work.glob("*/state.npz")) and time.monotonic() < deadline:
            time.sleep(0.01)
        process.send_signal(blow)
        out, err = process.communicate(timeout=30)
    assert process.returncode == -blow
    assert out == ""
    if blow == signal.SIGINT:
        assert err.splitlines() == [
            f"deltableu: {work} keeps what was done: the same command goes on from there",
            "deltableu: stopped by SIGINT",
        ]
    assert [path.name for path in results.iterdir()] == [work.name]
    if blow == signal.SIGINT:
        return
    again = run(*command)
    assert (again.code, len(again.err.splitlines())) == (0, 1)
    assert re.fullmatch(r"deltableu: goes on after epoch \d+ of 120\n", again.err)
    content = output.read_bytes()
    assert [path.name for path in results.iterdir()] == [output.name]
    assert run(*command).code == 0
    assert output.read_bytes() == content
