"""RUBER on the command line: trained, killed and resumed, shown, and used as a metric."""

from __future__ import annotations

import signal
import subprocess
import sys

import pytest

pytest.importorskip("torch")

from deltableu.cli.progress import duration
from deltableu.corpus import read_study
from deltableu.judges.model_file import read_model
from tests.judges.planted import planted_topics

SHAPE = ["--kind", "ruber", "--embedding", "8", "--hidden", "8", "--layer", "8", "--batch", "50"]
SHAPE += ["--vocabulary", "words", "--validation", "20", "--threads", "1"]


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "logs.tsv"
    rows = planted_topics(100, topics=5, length=6)
    path.write_text("utterance\tresponse\n" + "".join(f"{u}\t{r}\n" for u, r in rows))
    return path


@pytest.fixture
def model(logs, tmp_path, run):
    path = tmp_path / "ruber.safetensors"
    done = run("judge", "train", logs, "-o", path, *SHAPE, "--epochs", "2")
    assert done.code == 0, done.err
    assert "training takes about" in done.err
    assert "epoch 2 of 2: loss" in done.err
    return path


@pytest.fixture
def vectors(demo, tmp_path):
    """Of the demo's words, each at an angle of its own."""
    words = sorted(
        {
            word
            for item in read_study(demo, ratings=False).items
            for reference in item.references
            for word in reference.text.lower().split()
        }
    )
    path = tmp_path / "vectors.txt"
    path.write_text("".join(f"{word} {n % 7} {-n % 5} 1\n" for n, word in enumerate(words)))
    return path


def test_a_study_is_scored_compared_and_validated(succeeds, run, model, vectors, demo):
    used = ["--model", model, "--vectors", vectors]
    names = "ruber,ruber-referenced,ruber-unreferenced,ruber-upsilon-bleu"
    records = succeeds("score", demo, "--metrics", names, *used, "--format", "json").json
    assert {one["metric"] for one in records} == set(names.split(","))
    assert len(records) == 4 * 6
    assert all(-100 <= one["score"] <= 100 for one in records)
    digest = read_model(model).digest[:12]
    assert all(digest in one["signature"] for one in records if "referenced" not in one["metric"])
    assert "ruber" in succeeds("compare", demo, "--metrics", "ruber", *used, "--trials", 50).out
    arguments = ["--metrics", "ruber", *used, "--resamples", 5, "--no-sentinels"]
    arguments += ["--levels", "system", "--methods", "pearson"]
    assert run("validate", demo, *arguments).code == 0
    said = succeeds("judge", "show", model).out
    assert "held-out example" in said


def test_ranges_of_a_study_hold_for_other_sets(succeeds, model, vectors, demo):
    fixed = ["--metrics", "ruber", "--model", model, "--vectors", vectors, "--blend", "geometric"]
    fixed += ["--format", "json", "--calibration"]
    every = {one["system"]: one for one in succeeds("score", demo, *fixed, demo).json}
    for some in (demo, "model"):
        (alone,) = succeeds("score", demo, *fixed, some, "--systems", "human").json
        assert (alone["score"] == every["human"]["score"]) == (some == demo)
        assert (alone["signature"] == every["human"]["signature"]) == (some == demo)
    free = [one for one in fixed if one != "--calibration"]
    together = succeeds("score", demo, *free).json
    (human,) = (one for one in together if one["system"] == "human")
    assert human["score"] == every["human"]["score"]


def test_interrupted_and_resumed(logs, run, tmp_path):
    """kill -9 while training: the same command goes on, and the model is the same."""
    path = tmp_path / "judge.safetensors"
    more = [*SHAPE, "--epochs", "5", "--patience", "5", "--work", tmp_path / "work"]
    command = [sys.executable, "-m", "deltableu", "judge", "train", logs, "-o", path, *more]
    with subprocess.Popen([*map(str, command)], stderr=subprocess.PIPE, text=True) as process:
        for line in process.stderr:
            if "epoch 2 of" in line:
                process.send_signal(signal.SIGKILL)
                break
    assert not path.exists()
    done = run("judge", "train", logs, "-o", path, *more)
    assert done.code == 0, done.err
    assert "goes on after epoch 2 of 5" in done.err
    whole = tmp_path / "whole.safetensors"
    assert run("judge", "train", logs, "-o", whole, *more).code == 0
    assert read_model(path).digest == read_model(whole).digest


def test_a_budget_says_what_it_leaves_out(run, tmp_path):
    logs = tmp_path / "more.tsv"
    rows = planted_topics(300, topics=5, length=6)
    logs.write_text("utterance\tresponse\n" + "".join(f"{u}\t{r}\n" for u, r in rows))
    path = tmp_path / "judge.safetensors"
    budget = ["--minutes", "0.00001"]
    done = run("judge", "train", logs, "-o", path, *SHAPE, *budget)
    assert done.code == 0, done.err
    said = " ".join(done.err.split())
    assert "drawn at random from" in said
    assert "--minutes 1e-05, 0 takes all)" in said
    plan = read_model(path).card["plan"]
    assert plan["examples"] < plan["available"]
    everything = run("judge", "train", logs, "-o", path, *SHAPE, "--minutes", "0", "--replace")
    assert "at random" not in everything.err


def test_help_says_how_long_it_takes(run):
    said = " ".join(run("judge", "train", "--help").out.split())
    assert "examples a second" in said
    assert "--minutes" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metrics", "ruber"], "ruber needs a model: train one with"),
        (["--metrics", "ruber", "--model", "MODEL"], "ruber needs a file of word vectors"),
        (["--metrics", "ruber", "--model", "VECTORS"], "is no whole safetensors file"),
        (["--metrics", "ruber-referenced", "--vectors", "OTHERS"], "a vector for none of the"),
        (["--metrics", "upsilon-bleu", "--judge", "MODEL"], "is the unreferenced scorer of RUBER"),
        (["--metrics", "bleu", "--blend", "min"], "bleu has no setting 'blend'"),
        (
            ["--metrics", "ruber", "--model", "MODEL", "--vectors", "VECTORS", "--judge", "x"],
            "'rater' changes nothing in ruber",
        ),
        (
            ["--metrics", "ruber-upsilon-bleu", "--model", "MODEL", "--calibration", "nowhere"],
            "nowhere: there is no such folder",
        ),
    ],
)
def test_mistakes_are_one_sentence(arguments, said, complains, demo, model, vectors, tmp_path):
    others = tmp_path / "others.txt"
    others.write_text("zut 1 0\nalors 0 1\n")
    names = {"MODEL": model, "VECTORS": vectors, "OTHERS": others}
    assert said in complains("score", demo, *(names.get(one, one) for one in arguments))


def test_a_study_without_messages(complains, model, plain):
    said = complains(
        "score", "sys.txt", "--refs", "r0.txt", "--metrics", "ruber-unreferenced", "--model", model
    )
    assert "needs the message that each item answers" in said


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--kind", "ruber", "--negatives", "random"], "--negatives is not for judges of the kind"),
        (["--margin", "0.5"], "--margin is not for judges of the kind nn-rater"),
        (["--kind", "ruber", "--minutes", "-1"], "minutes"),
        (["--kind", "ruber", "--margin", "2"], "margin"),
    ],
)
def test_options_of_another_kind(arguments, said, run, refusal, logs, tmp_path):
    result = run("judge", "train", logs, "-o", tmp_path / "m.safetensors", *arguments)
    refusal(result)
    assert said in result.err


def test_durations_are_said_as_people_say_them():
    wanted = {0.0: "1 s", 61: "61 s", 130: "2 min", 3599: "1 h 0 min", 7300: "2 h 2 min"}
    assert {seconds: duration(seconds) for seconds in wanted} == wanted
