"""`deltableu judge train`."""

from __future__ import annotations

import io
import json
import signal
import subprocess
import sys
import time
from contextlib import redirect_stderr, redirect_stdout
from types import SimpleNamespace

import pytest

pytest.importorskip("torch")

from deltableu.cli.app import main
from deltableu.judges.model_file import read_model
from tests.judges.planted import planted_topics

SHAPE = ["--embedding", "8", "--hidden", "8", "--layer", "16", "--batch", "50"]
SHAPE += ["--validation", "20", "--vocabulary", "words", "--threads", "1"]
TINY = [*SHAPE, "--epochs", "2"]


def run(*arguments):
    """In this process: importing torch takes longer than to train such a model."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), pytest.raises(SystemExit) as ended:
        main(["judge", *map(str, arguments)])
    return SimpleNamespace(
        returncode=int(ended.value.code or 0), stdout=out.getvalue(), stderr=err.getvalue()
    )


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "logs.tsv"
    rows = planted_topics(150, topics=5, length=6)
    path.write_text("utterance\tresponse\n" + "".join(f"{u}\t{r}\n" for u, r in rows))
    return path


@pytest.fixture(scope="module")
def trained(logs, tmp_path_factory):
    model = tmp_path_factory.mktemp("model") / "judge.safetensors"
    done = run("train", logs, "-o", model, *TINY, "--format", "json")
    assert done.returncode == 0, done.stderr
    return model, done


def test_writes_a_model_with_its_card(trained):
    model, done = trained
    read = read_model(model)
    assert read.settings.hidden == 8
    assert read.card["data"]["rows"] == 750
    assert len(read.card["epochs"]) == 2
    assert "epoch 2 of 2: loss" in done.stderr
    assert json.loads(done.stdout)
    assert not model.with_name("judge.safetensors.training").exists()


def test_same_command_same_bytes(trained, logs, tmp_path):
    again = tmp_path / "again.safetensors"
    assert run("train", logs, "-o", again, *TINY).returncode == 0
    one, other = (read_model(path) for path in (trained[0], again))
    assert one.digest == other.digest


def test_interrupted_and_resumed(logs, trained, tmp_path):
    """kill -9 while training: the same command goes on, and the model is the same."""
    model = tmp_path / "judge.safetensors"
    work = tmp_path / "work"
    more = [*SHAPE, "--epochs", "5", "--patience", "5", "--work", work]
    command = [sys.executable, "-m", "deltableu", "judge", "train", logs, "-o", model, *more]
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "epoch 2 of" in line:
                process.send_signal(signal.SIGKILL)
                break
    assert not model.exists()
    assert list(work.glob("*/state.npz"))
    done = run("train", logs, "-o", model, *more)
    assert done.returncode == 0, done.stderr
    assert "goes on after epoch 2 of 5" in done.stderr
    whole = tmp_path / "whole.safetensors"
    assert run("train", logs, "-o", whole, *more).returncode == 0
    assert read_model(model).digest == read_model(whole).digest


def test_control_c_keeps_what_was_done(logs, tmp_path):
    model = tmp_path / "judge.safetensors"
    more = [*SHAPE, "--epochs", "1000", "--patience", "1000"]
    command = [sys.executable, "-m", "deltableu", "judge", "train", logs, "-o", model, *more]
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "epoch 2 of" in line:
                process.send_signal(signal.SIGINT)
                break
        rest = process.stderr.read()
        process.wait(timeout=60)
    assert process.returncode == -signal.SIGINT
    assert "the same command goes on from there" in rest
    assert "Traceback" not in rest


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["LOGS", "-o", "model.bin"], "ends in .safetensors"),
        (["LOGS", "-o", "nowhere/model.safetensors"], "folder does not exist"),
        (["-o", "model.safetensors"], "name at least one file"),
        (["missing.tsv", "-o", "model.safetensors"], "missing.tsv"),
        (["LOGS", "-o", "model.safetensors", "--batch", "0"], "batch"),
        (["LOGS", "-o", "model.safetensors", "--threads", "0"], "threads"),
        (["LOGS", "-o", "model.safetensors", "--learning-rate", "nan"], "learning_rate"),
        (["LOGS", "-o", "model.safetensors", "--validation", "149"], "held out"),
        (["EMPTY", "-o", "model.safetensors"], "the logs hold no words"),
        (["ONCE", "-o", "model.safetensors"], "has two different responses"),
    ],
)
def test_bad_input_is_one_sentence(arguments, said, logs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    empty, once = tmp_path / "empty.tsv", tmp_path / "once.tsv"
    empty.write_text("utterance\tresponse\n")
    once.write_text("utterance\tresponse\nhello there\thi\nwhat now\tno idea\n")
    names = {"LOGS": str(logs), "EMPTY": str(empty), "ONCE": str(once)}
    before = sorted(tmp_path.iterdir())
    started = time.monotonic()
    done = run("train", *(names.get(one, one) for one in arguments), "--vocabulary", "words")
    assert done.returncode == 2, done.stderr
    assert said in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert sorted(tmp_path.iterdir()) == before
    assert time.monotonic() - started < 60


def test_a_model_that_is_there_is_not_overwritten(trained, logs):
    before = trained[0].read_bytes()
    done = run("train", logs, "-o", trained[0], *TINY)
    assert done.returncode == 2
    assert "is there already" in done.stderr
    assert trained[0].read_bytes() == before
