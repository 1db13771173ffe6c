"""`deltableu judge apply` and `judge show`: options, bad input, and runs that were cut off."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from deltableu.corpus import read_study, write_study
from deltableu.corpus.types import Source
from deltableu.io import short_signatures
from deltableu.judges.nn_rater import NNRater
from deltableu.judges.rating import rate_study
from tests.judges.rater_kit import CARD, SETTINGS, small_model, small_study

ITEMS = 12


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "judge.safetensors"
    small_model(path)
    return path


@pytest.fixture(scope="module")
def unrated(tmp_path_factory):
    path = tmp_path_factory.mktemp("unrated") / "study"
    write_study(small_study(ITEMS), path)
    return path


@pytest.fixture
def new(tmp_path):
    return tmp_path / "new"


def contents(folder):
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def batches(work):
    return sorted(work.glob("*/batch-*.npz"))


# --- apply ----------------------------------------------------------------------------------------


def test_a_study_is_rated(succeeds, unrated, model, new):
    result = succeeds("judge", "apply", unrated, "--judge", model, "-o", new)
    rated = rate_study(read_study(unrated), NNRater.load(model))
    written = read_study(new)
    assert (written.items, written.outputs) == (rated.study.items, rated.study.outputs)
    lines = [line for line in result.out.splitlines() if line.strip()]
    assert lines[0].split() == ["origin", "references", "rated", "mean", "weight", "positive"]
    assert ["original", "12", "12", "1.000", "100.0%"] in [line.split() for line in lines]
    assert lines[-1] == f"sig: {short_signatures({'judge': rated.signature})}"
    assert [path.name for path in new.parent.iterdir()] == ["new"]


def test_the_summary_as_json(succeeds, unrated, model, new):
    options = ("--judge", model, "-o", new, "--format", "json")
    record = succeeds("judge", "apply", unrated, *options).json
    rated = rate_study(read_study(unrated), NNRater.load(model))
    assert record["judge"] == rated.signature
    assert (record["items"], record["rated"], record["kept"]) == (ITEMS, rated.rated, 0)
    assert [one["origin"] for one in record["origins"]] == [o.origin for o in rated.origins]
    assert record["origins"][1]["mean"] == rated.origins[1].mean


@pytest.mark.parametrize(
    ("options", "settings"),
    [
        (["--triplets", "mean"], {"triplets": "mean"}),
        (["--triplets", "second", "--magnitude", "p"], {"triplets": "second", "magnitude": "p"}),
        (["--original", "rated"], {"original": "rated"}),
        (["--original", "-0.5"], {"original": -0.5}),
        (["--batch", "5", "--threads", "1"], {}),
    ],
    ids=" ".join,
)
def test_options(succeeds, unrated, model, new, options, settings):
    succeeds("judge", "apply", unrated, "--judge", model, "-o", new, *options)
    rater = NNRater.load(model, **settings)
    batch = 5 if "--batch" in options else 256
    assert read_study(new).items == rate_study(read_study(unrated), rater, batch=batch).study.items


@pytest.fixture
def half_rated(tmp_path):
    study = small_study(ITEMS)
    items = [
        replace(item, references=(replace(item.references[0], weight=0.9), *item.references[1:]))
        for item in study.items
    ]
    write_study(replace(study, items=tuple(items)), tmp_path / "half")
    return tmp_path / "half"


def test_which_references(succeeds, half_rated, model, new, tmp_path):
    result = succeeds("judge", "apply", half_rated, "--judge", model, "-o", new)
    assert {item.references[0].weight for item in read_study(new).items} == {0.9}
    said = "kept: 12 references had a weight before (--which all rates anew)"
    assert said in result.out.splitlines()
    anew = tmp_path / "anew"
    options = ("--judge", model, "-o", anew, "--which", "all")
    assert "kept" not in succeeds("judge", "apply", half_rated, *options).out
    assert {item.references[0].weight for item in read_study(anew).items} == {1.0}


def test_nothing_to_rate(run, unrated, model, new, tmp_path):
    run("judge", "apply", unrated, "--judge", model, "-o", new)
    result = run("judge", "apply", new, "--judge", model, "-o", tmp_path / "again")
    assert result.code == 0
    said = "nothing was rated: every reference has a weight (--which all rates anew)"
    assert result.err == f"deltableu: {said}\n"
    assert contents(tmp_path / "again") == contents(new)


def test_a_study_is_replaced(succeeds, run, unrated, model, new):
    command = ("judge", "apply", unrated, "--judge", model, "-o", new)
    succeeds(*command)
    before = contents(new)
    assert "the folder is not empty" in run(*command).err
    succeeds(*command, "--replace", "--magnitude", "p")
    assert contents(new).keys() == before.keys()
    assert contents(new) != before


def test_a_study_is_rated_in_its_own_place(succeeds, unrated, model, new):
    shutil.copytree(unrated, new)
    succeeds("judge", "apply", new, "--judge", model, "-o", new, "--replace")
    assert read_study(new).items == rate_study(read_study(unrated), NNRater.load(model)).study.items


def test_a_log(succeeds, unrated, model, new, tmp_path):
    log = tmp_path / "log.jsonl"
    options = ("--batch", 5, "--log", log)
    succeeds("judge", "apply", unrated, "--judge", model, "-o", new, *options)
    events = [json.loads(line) for line in log.read_text().splitlines()]
    assert [(event["done"], event["items"]) for event in events] == [(5, 5), (10, 5), (12, 2)]
    assert {event["total"] for event in events} == {ITEMS}


# --- a judge of another package -------------------------------------------------------------------

SLOW = """
import time

class Slow:
    def __init__(self, argument):
        self.pause = float(argument or 0)
        self.signature = f"slow({self.pause:g})"
    def rate(self, item, references):
        time.sleep(self.pause)
        return [round((len(one.text) % 7) / 7, 3) for one in references]
"""


@pytest.fixture
def offered(tmp_path, monkeypatch):
    folder = tmp_path / "packages"
    info = folder / "slow_rater-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "slow_rater.py").write_text(SLOW)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slow_rater\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[deltableu.judges]\nslow = slow_rater:Slow\n")
    monkeypatch.syspath_prepend(folder)
    monkeypatch.setenv("PYTHONPATH", str(folder), prepend=os.pathsep)
    return folder


def test_a_rater_of_another_package(succeeds, run, refusal, offered, unrated, new):
    command = ("judge", "apply", unrated, "--judge", "slow:0", "-o", new, "--signatures")
    assert succeeds(*command).out.splitlines()[-1] == "judge: slow(0)"
    assert read_study(new).items[0].meta == {"weights_from": "slow(0)"}
    options = ("--judge", "slow", "--triplets", "max", "--replace")
    refused = run("judge", "apply", unrated, "-o", new, *options)
    refusal(refused)
    assert "triplets cannot be set for the judge 'slow'" in refused.err


def test_no_torch_where_none_is_needed(offered, unrated, model, new):
    script = (
        "import sys; from deltableu.cli.app import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit as end:\n    assert not end.code\n"
        "heavy = {'torch', 'sentencepiece', 'scipy.stats', 'pyarrow'} & sys.modules.keys()\n"
        "assert not heavy, heavy"
    )
    for command in (
        ["judge", "apply", unrated, "--judge", "slow", "-o", new],
        ["judge", "show", model],
        ["judge", "--help"],
    ):
        subprocess.run([sys.executable, "-c", script, *command], check=True, capture_output=True)


# --- runs that were cut off -----------------------------------------------------------------------


def cut_off(command, work, many, sign):
    """Run, and send a signal when so many batches have been rated."""
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while process.poll() is None and time.monotonic() < deadline:
        if len(batches(work)) >= many:
            process.send_signal(sign)
            break
        time.sleep(0.001)
    out, err = process.communicate(timeout=60)
    return process.returncode, out, err


def command_line(*arguments):
    return [str(Path(sys.executable).parent / "deltableu"), *map(str, arguments)]


def test_a_network_killed_in_the_middle_goes_on(run, model, tmp_path, new):
    items = 120
    write_study(small_study(items, seed=2), tmp_path / "study")
    options = ("--judge", model, "--batch", 1, "--threads", 1)
    command = ("judge", "apply", tmp_path / "study", "-o", new, *options)
    work = tmp_path / "new.rating"
    code, out, err = cut_off(command_line(*command), work, 15, signal.SIGKILL)
    assert (code, out, err) == (-9, "", "")
    done = len(batches(work))
    assert 15 <= done < items
    assert not new.exists()
    # As a power cut may leave it.
    damaged = batches(work)[7]
    damaged.write_bytes(damaged.read_bytes()[:-30])

    again = run(*command)
    assert again.code == 0
    said = f"deltableu: goes on: {done - 1} of {items} items were rated before\n"
    assert again.err == said
    undisturbed = run(*command[:4], tmp_path / "undisturbed", *options)
    assert contents(new) == contents(tmp_path / "undisturbed")
    assert again.out == undisturbed.out
    assert not work.exists()


def test_an_interrupted_run_says_that_it_goes_on(run, offered, unrated, new, tmp_path):
    work = tmp_path / "work"
    options = ("--judge", "slow:0.2", "--batch", 2, "--work", work)
    command = ("judge", "apply", unrated, "-o", new, *options)
    code, out, err = cut_off(command_line(*command), work, 2, signal.SIGINT)
    assert (code, out) == (-signal.SIGINT, "")
    assert err.splitlines() == [
        f"deltableu: {work} keeps what was done: the same command goes on from there",
        "deltableu: stopped by SIGINT",
    ]
    assert not new.exists()
    before = batches(work)
    other = run(*command[:4], tmp_path / "other", *options[2:], "--judge", "slow:0")
    said = f"deltableu: starts anew: what {work} keeps is of another judge, other "
    assert other.err == said + "items or another --batch\n"
    assert other.code == 0
    assert batches(work) == before
    assert 2 <= len(before) < ITEMS // 2


def test_the_work_folder_of_somebody_else_stays(succeeds, offered, unrated, new, tmp_path):
    work = tmp_path / "work"
    work.mkdir()
    succeeds("judge", "apply", unrated, "--judge", "slow", "-o", new, "--work", work)
    assert list(work.iterdir()) == []
    (work / "notes").touch()
    succeeds("judge", "apply", unrated, "--judge", "slow", "-o", tmp_path / "two", "--work", work)
    assert [path.name for path in work.iterdir()] == ["notes"]


# --- bad input ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        (["--judge", "absent.safetensors"], "absent.safetensors: there is no such file"),
        (["--judge", "nobody"], "there is no file 'nobody', and no judge of that name"),
        (["--judge", "text.safetensors"], "text.safetensors: is no whole safetensors file"),
        (["--judge", "MODEL", "--triplets", "most"], "triplets"),
        (
            ["--judge", "MODEL", "--original", "first"],
            "--original takes a number in .* got 'first'",
        ),
        (["--judge", "MODEL", "--original", "2"], r"original: must be a number in \[-1, 1\]"),
        (["--judge", "MODEL", "--which", "some"], "which"),
        (["--judge", "MODEL", "--batch", "0"], "--batch must be at least 1, got 0"),
        (["--judge", "MODEL", "--batch", "1.5"], "--batch takes a whole number, got '1.5'"),
        (["--judge", "MODEL", "--threads", "0"], "--threads must be at least 1, got 0"),
        (["--judge", "MODEL", "--threads", "2147483648"], "threads: must lie between 1 and 1024"),
        (
            ["--judge", "MODEL", "--work", "text.safetensors"],
            "is a file, but checkpoints are kept in a folder",
        ),
        (
            ["--judge", "MODEL", "--log", "no/log"],
            "no/log: .* its folder does not exist",
        ),
        (["--judge", "MODEL", "--log", "."], "holds .*new, which is written here"),
        (["--judge", "MODEL", "--log", "MODEL"], "is read here too: choose another place"),
        (["--judge", "MODEL", "--log", "STUDY/log"], "lies in .*, which is read here"),
        (["--judge", "MODEL", "--work", "NEW/work"], "work: lies in .*, which is written here"),
        ([], "judge"),
    ],
)
def test_bad_options(run, refusal, unrated, model, new, tmp_path, monkeypatch, options, sentence):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "text.safetensors").write_text("no model")
    names = {"MODEL": model, "STUDY": unrated, "NEW": new}
    for name, path in names.items():
        options = [option.replace(name, str(path)) for option in options]
    before = model.read_bytes()
    result = run("judge", "apply", unrated, "-o", new, *options)
    refusal(result)
    assert re.search(sentence, result.err)
    assert [path.name for path in tmp_path.iterdir()] == ["text.safetensors"]
    assert model.read_bytes() == before


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda item: replace(item, message=None), "item 'q3': has no message"),
        (
            lambda item: replace(
                item,
                references=(*item.references[:-1], replace(item.references[-1], source=Source())),
            ),
            "item 'q3': the random reference 'x' does not say which utterance it answered",
        ),
    ],
    ids=["no message", "no utterance"],
)
def test_items_that_cannot_be_rated(run, refusal, model, new, tmp_path, change, sentence):
    study = small_study(ITEMS)
    items = tuple(change(item) if item.id == "q3" else item for item in study.items)
    write_study(replace(study, items=items), tmp_path / "bad")
    result = run("judge", "apply", tmp_path / "bad", "--judge", model, "-o", new)
    refusal(result)
    assert sentence in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["bad"]


def test_a_study_that_is_none(run, refusal, model, new, tmp_path):
    result = run("judge", "apply", tmp_path / "absent", "--judge", model, "-o", new)
    refusal(result)
    assert "absent" in result.err


def test_a_model_is_not_replaced_by_a_study(run, refusal, model, unrated, new):
    new.mkdir()
    inside = new / "judge.safetensors"
    shutil.copy(model, inside)
    result = run("judge", "apply", unrated, "--judge", inside, "-o", new, "--replace")
    refusal(result)
    assert inside.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_log_that_cannot_be_written(run, refusal, model, unrated, new, tmp_path):
    (tmp_path / "log").touch(0o400)
    options = ("--judge", model, "--log", tmp_path / "log")
    refusal(run("judge", "apply", unrated, "-o", new, *options))


# --- show -----------------------------------------------------------------------------------------


def test_a_models_card(succeeds, model):
    result = succeeds("judge", "show", model)
    lines = [line.split() for line in result.out.splitlines() if line.strip()]
    for line in (
        ["embedding", "6"],
        ["hidden", "5"],
        ["kind", "words"],
        ["rows", "1,234,567"],
        ["languages", "en,", "ja"],
        ["epoch", "training", "loss", "validation", "loss", "kept"],
        ["1", "0.6931", "0.7"],
        ["2", "0.5", "0.625", "yes"],
        ["accuracy", "0.75"],
        ["from", "to", "examples", "share"],
        ["0.5", "0.6", "10", "0.52"],
    ):
        assert line in lines
    assert NNRater.load(model).model.digest in result.out


@pytest.mark.parametrize("width", [80, 100, 140])
def test_a_models_card_fits(succeeds, model, width, monkeypatch):
    whole = succeeds("judge", "show", model).out.split()
    monkeypatch.setenv("COLUMNS", str(width))
    narrow = succeeds("judge", "show", model).out
    assert max(map(len, narrow.splitlines())) <= width
    assert narrow.split() == whole or not set(narrow.split()) - set(whole) - {"─" * width}


def test_a_models_card_as_json(succeeds, model):
    record = succeeds("judge", "show", model, "--format", "json").json
    assert record["card"] == CARD
    assert record["settings"]["max_length"] == SETTINGS.max_length
    assert record["vocabulary"] == {"kind": "words", "size": 21}
    assert record["digest"] == NNRater.load(model).model.digest


@pytest.mark.parametrize("format", ["tsv", "markdown", "latex"])
def test_a_models_card_elsewhere(succeeds, model, format):
    assert "0.6931" in succeeds("judge", "show", model, "--format", format).out


def test_a_card_with_little(succeeds, tmp_path):
    small_model(tmp_path / "bare", card={})
    assert "embedding" in succeeds("judge", "show", tmp_path / "bare").out
    odd = {"empty": {}, "none": [], "mixed": [1, {"a": 2}], "deep": {"deeper": {"x": None}}}
    small_model(tmp_path / "odd", card=odd)
    out = succeeds("judge", "show", tmp_path / "odd").out
    assert '{"a": 2}' in out


def test_files_that_are_no_models(run, refusal, tmp_path):
    (tmp_path / "text").write_text("no model")
    for name in ("text", "absent", "."):
        refusal(run("judge", "show", tmp_path / name))


def test_every_option_is_explained(succeeds):
    for command, many in (("apply", 12), ("show", 2)):
        out = succeeds("judge", command, "--help").out
        assert out.startswith(f"Usage: deltableu judge {command}")
        options = re.findall(r"│[ *]+(?:STUDY |MODEL )?(--[a-z0-9-]+)(.*?)│", out)
        assert len(options) >= many
        for name, text in options:
            assert text.strip(), name
    assert " judge " in succeeds("--help").out


def test_a_line_now_and_then(run, unrated, model, new, monkeypatch):
    monkeypatch.setattr("deltableu.cli.progress._PAUSE", -1.0)
    result = run("judge", "apply", unrated, "--judge", model, "-o", new, "--batch", 6)
    assert result.code == 0
    said = [f"deltableu: rated {done} of 12 items" for done in (0, 6, 12)]
    assert result.err.splitlines() == said
