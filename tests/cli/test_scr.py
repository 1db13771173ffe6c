"""relevance and scr on the command line: trained, calibrated, shown, scored, explained."""

from __future__ import annotations

import json

import pytest

from deltableu.judges import read_calibration, read_relevance
from tests.judges.test_relevance import LOGS


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    path = tmp_path_factory.mktemp("logs") / "logs.tsv"
    path.write_text("utterance\tresponse\n" + "".join(f"{u}\t{r}\n" for u, r in LOGS))
    return path


@pytest.fixture
def model(logs, tmp_path, run):
    path = tmp_path / "relevance.safetensors"
    result = run("judge", "train", logs, "--kind", "relevance", "-o", path)
    assert result.code == 0
    assert "pairs" in result.out
    assert "40 pairs are no more than" in result.err
    return path


def test_a_study_is_scored_compared_validated_and_explained(succeeds, run, model, demo, tmp_path):
    used = ["--metrics", "scr,relevance", "--relevance", model]
    records = succeeds("score", demo, *used, "--format", "json").json
    assert {one["metric"] for one in records} == {"scr", "relevance"}
    digest = read_relevance(model).signature
    assert all(digest in one["signature"] for one in records)
    assert "scr" in succeeds("compare", demo, *used, "--trials", 50).out
    arguments = [*used, "--resamples", 5, "--no-sentinels"]
    arguments += ["--levels", "system", "--methods", "pearson"]
    assert run("validate", demo, *arguments).code == 0
    said = succeeds(
        "explain", demo, "--system", "human", "--metric", "scr", "--relevance", model, "--best", 1
    ).out
    assert "relevance" in said
    assert "mostly from" in said


def test_a_calibration_is_kept_and_used_elsewhere(succeeds, run, model, demo, tmp_path):
    path = tmp_path / "calibration.json"
    done = succeeds("judge", "calibrate", demo, "--relevance", model, "-o", path)
    assert "coefficient" in done.out
    assert "no output, no rating of one" in done.out
    found = read_calibration(path)
    assert "alignment" in succeeds("judge", "show", path).out
    assert "relevance" in succeeds("judge", "show", model).out
    used = ["--metrics", "scr", "--relevance", model, "--format", "json"]
    free, fixed, study = (
        succeeds("score", demo, *used, *more).json[0]
        for more in ([], ["--calibration", path], ["--calibration", demo])
    )
    assert free == fixed == study
    assert found.digest in fixed["signature"]
    refused = run("judge", "calibrate", demo, "-o", path)
    assert refused.code == 2
    assert "is there already" in refused.err
    assert run("judge", "calibrate", demo, "-o", path, "--replace").code == 0
    other = run("score", demo, *used, "--calibration", path)
    assert other.code == 2
    assert "was made with no relevance model" in other.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--hidden", "8"], "--hidden is not for models of the kind relevance"),
        (["--minutes", "8"], "--minutes is of no use with --kind relevance"),
        (["--encoder", "nosuch"], "unknown encoder"),
    ],
)
def test_options_of_other_kinds_are_refused(run, logs, tmp_path, arguments, said):
    path = tmp_path / "m.safetensors"
    done = run("judge", "train", logs, "--kind", "relevance", "-o", path, *arguments)
    assert (done.code, path.exists()) == (2, False)
    assert said in done.err
    if "--encoder" in arguments:
        assert "--kind nn-rater" in run("judge", "train", logs, "-o", path, *arguments).err


def test_one_item_has_no_chance_term(run, tmp_path):
    item = {"id": "1", "references": [{"id": "a", "text": "x y"}, {"id": "b", "text": "x z"}]}
    (tmp_path / "items.jsonl").write_text(json.dumps(item) + "\n")
    (tmp_path / "outputs").mkdir()
    (tmp_path / "outputs" / "s.txt").write_text("x\n")
    done = run("score", tmp_path, "--metrics", "scr")
    assert done.code == 2
    assert "there is one item: score more items together" in done.err


def test_relevance_needs_its_model(run, demo):
    done = run("score", demo, "--metrics", "relevance")
    assert done.code == 2
    assert "--kind relevance" in done.err
