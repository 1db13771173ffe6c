"""`deltableu judge apply --kind llm` and `judge bias`: results, bad input, killed runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest

pytest.importorskip("httpx")

from deltableu.corpus import Study, read_ratings, read_study, write_study
from tests.judges.llm_server import KEY, Asked, Says, Server, error, llm_study


@pytest.fixture
def study(tmp_path):
    path = tmp_path / "study"
    write_study(llm_study(), path)
    return path


def options(server, *more):
    return ("--kind", "llm", "--endpoint", server.url, "--model", "m", *more)


def test_references_get_weights_and_ratings(run, study, tmp_path):
    new, ratings = tmp_path / "new", tmp_path / "ratings.csv"
    with Server() as server:
        result = run("judge", "apply", study, *options(server), "-o", new, "--ratings", ratings)
        assert result.code == 0
        assert result.out.startswith("12 of 12 ratings of references are there.\n12 answers took")
        assert [one.weight for one in read_study(new).items[0].references] == [1.0, 0.5, 0.5]
        assert len(read_ratings(ratings)) == 12
        # A second run costs nothing, and gives the same.
        result = run("judge", "apply", study, *options(server), "-o", tmp_path / "newer")
        assert len(server.asked) == 12
        assert "Nothing was asked: 12 answers were there before." in result.out
    assert (tmp_path / "newer" / "items.jsonl").read_bytes() == (new / "items.jsonl").read_bytes()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("new", "newer", "ratings.csv", "study", "study.answers")
    ]


def test_outputs_and_pairs_become_ratings(run, study, tmp_path):
    def behave(asked: Asked) -> Says:
        return Says('{"preferred": "first"}') if "<second>" in asked.prompt else Says()

    repeated, pairs = tmp_path / "repeated.jsonl", tmp_path / "pairs.csv"
    with Server(behave) as server:
        what = ("--what", "outputs", "--systems", "A", "B", "--repeat", "2", "--ratings", repeated)
        record = run("judge", "apply", study, *options(server, *what, "--format", "json")).json
        assert (record["asked"], record["spending"]["answered"]) == (24, 24)
        what = ("--what", "pairs", "--against", "C", "--ratings", pairs)
        assert run("judge", "apply", study, *options(server, *what)).code == 0
    assert read_ratings(repeated).raters == ("llm:m#1", "llm:m#2")
    said = run("judge", "bias", pairs, "--study", study)
    assert "Order decides 100.0%" in said.out.replace("\n", " ")
    assert "llm:m is swayed by: shown first." in said.out
    tidy = run("judge", "bias", pairs, "--format", "tsv").out.splitlines()
    assert tidy[0].split("\t")[:4] == ["judge", "check", "measure", "value"]
    assert run("rate", "rank", pairs, "--prior", "1").code == 0


def test_a_dry_run_sends_nothing_and_needs_no_key(run, study, tmp_path, monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    far = ("--kind", "llm", "--endpoint", "https://nowhere.invalid/v1", "--model", "m", "--dry-run")
    result = run("judge", "apply", study, *far, "--price-in", "1", "--price-out", "2")
    assert result.out.startswith("It would take 12 requests: about ")
    assert "which cost about 0.0" in result.out.replace("\n", " ")
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "say where the results go: -o NEWSTUDY for weights, --ratings FILE"),
        (["--what", "pairs", "-o", "new"], "--output takes a study with weights; pairs get rat"),
        (["--what", "pairs"], "say where the results go: --ratings FILE"),
        (["--systems", "A", "-o", "new"], "--systems is of no use with --what references"),
        (["--what", "outputs", "--against", "A", "--ratings", "r.csv"], "--against is of no use"),
        (["--what", "outputs", "--systems", "Z", "--ratings", "r.csv"], "no system 'Z'; there are"),
        (["--what", "outputs", "--ratings", "r.txt"], "r.txt: ratings are written to .csv"),
        (["--ratings", "-"], "--ratings takes a file"),
        (["--judge", "x", "-o", "new"], "--judge is of no use with --kind llm"),
        (["--batch", "3", "-o", "new"], "--batch is of no use with --kind llm"),
        (["--temperature", "hot", "-o", "new"], "--temperature takes a number from 0 to 2"),
        (["--temperature", "3", "-o", "new"], "temperature must lie between 0 and 2"),
        (["--temperature", "0", "--repeat", "2", "-o", "new"], "need a temperature above 0"),
        (["--timeout", "0", "-o", "new"], "timeout must be above 0 seconds"),
        (["--concurrency", "9999", "-o", "new"], "concurrency must lie between 1 and 1024"),
        (["--price-in", "1", "-o", "new"], "--price-out is missing"),
        (["--max-cost", "1", "-o", "new"], "--max-cost needs --price-in and --price-out"),
        (["--rubric", "none.toml", "-o", "new"], "none.toml: "),
        (["--rubric", "bad.toml", "-o", "new"], "bad.toml, crit: is no field of a rubric"),
        (["--key-env", "NO_SUCH_KEY", "-o", "new"], "the environment variable NO_SUCH_KEY is not"),
        (["--key-env", KEY, "-o", "new"], "takes the name of an environment variable, not the key"),
        (["--cache", "study/x", "-o", "new"], "study/x: lies in "),
    ],
    ids=str,
)
def test_bad_input_is_one_sentence(run, refusal, study, tmp_path, monkeypatch, more, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "bad.toml").write_text('crit = "x"')
    with Server() as server:
        result = run("judge", "apply", study, *options(server), *more)
        assert not server.asked
    refusal(result)
    assert said in result.err
    assert KEY not in result.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.toml", "study"]


def test_a_judge_that_is_not_named(run, refusal, study):
    nowhere = run("judge", "apply", study, "--kind", "llm", "--model", "m", "-o", "new")
    refusal(nowhere)
    assert "--kind llm needs --endpoint" in nowhere.err
    wrong = run(
        *("judge", "apply", study, "--kind", "llm", "--model", "m", "-o", "new"),
        *("--endpoint", "localhost"),
    )
    refusal(wrong)
    assert "endpoint: must be an address such as" in wrong.err


def test_options_of_an_llm_need_its_kind(run, refusal, study):
    result = run("judge", "apply", study, "--judge", "x", "-o", "new", "--model", "m")
    refusal(result)
    assert "--model is of no use with --judge: it belongs to --kind llm" in result.err


def test_a_study_without_outputs(run, refusal, tmp_path):
    write_study(Study(llm_study().items), tmp_path / "bare")
    with Server() as server:
        more = options(server, "--what", "outputs", "--ratings", tmp_path / "r.csv")
        result = run("judge", "apply", tmp_path / "bare", *more)
    refusal(result)
    assert "bare: the study has no outputs to judge" in result.err


def test_a_server_that_is_not_there(run, refusal, study, tmp_path):
    far = ("--kind", "llm", "--endpoint", "http://127.0.0.1:9/v1", "--model", "m")
    result = run("judge", "apply", study, *far, "-o", tmp_path / "new")
    refusal(result)
    assert "http://127.0.0.1:9/v1: cannot be reached" in result.err
    assert [path.name for path in tmp_path.iterdir()] == ["study"]


def test_nothing_but_nonsense_is_no_result(run, study, tmp_path):
    with Server(lambda _: Says("hm")) as server:
        result = run("judge", "apply", study, *options(server), "-o", tmp_path / "new")
    assert result.code == 2
    assert "none of 12 questions got a usable answer; that about item 'q0'" in result.err
    assert not (tmp_path / "new").exists()


def test_some_nonsense_is_told(run, study, tmp_path):
    def behave(asked: Asked) -> Says:
        return Says("hm") if "like 2" in asked.prompt else Says()

    with Server(behave) as server:
        result = run("judge", "apply", study, *options(server), "-o", tmp_path / "new")
    assert result.code == 0
    assert "11 of 12 ratings of references are there." in result.out
    assert "No rating of item 'q2', reference:r1: there is no JSON object." in (
        " ".join(result.out.split())
    )


# --- processes ------------------------------------------------------------------------------------


def start(study, server, *more, **variables):
    command = [sys.executable, "-m", "deltableu", "judge", "apply", study, *options(server), *more]
    return subprocess.Popen(
        list(map(str, command)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=os.environ | variables,
    )


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT], ids=["killed", "stopped"])
def test_a_run_that_was_cut_off_asks_only_what_is_missing(run, tmp_path, number):
    study, new = tmp_path / "study", tmp_path / "new"
    write_study(llm_study(60), study)
    with Server(lambda _: Says(delay=0.03)) as server:
        begun = start(study, server, "-o", new, "--concurrency", "4")
        deadline = time.monotonic() + 20
        while len(server.answered) < 40 and time.monotonic() < deadline:
            time.sleep(0.005)
        begun.send_signal(number)
        _, said = begun.communicate(timeout=20)
        assert begun.returncode == -number
        assert b"Traceback" not in said
        assert (b"keeps the answers: the same command goes on" in said) is (number == signal.SIGINT)
        assert not new.exists()
        (path,) = (tmp_path / "study.answers").glob("*/answers.jsonl")
        kept = path.read_bytes().count(b"\n")
        sent = len(server.asked)
        assert kept >= 40 - 4
        result = run("judge", "apply", study, *options(server, "-o", new))
        # What was under way at that moment may have been answered to nobody.
        assert sent - kept <= 4
        assert len(server.asked) - sent == 120 - kept
    assert f"goes on: {kept} of 120 questions were answered before" in result.err
    assert len(server.answered) == 120
    assert sum(server.answered.values()) <= 120 + 4


def test_the_key_is_nowhere(study, tmp_path):
    def behave(asked: Asked) -> Says:
        if asked.number < 5:
            return Says(f'{{"reason": "{KEY}", "rating": 3}}')
        return error(401, f"Incorrect API key provided: {KEY}")

    with Server(behave) as server:
        more = ("--key-env", "OWN_KEY", "-o", tmp_path / "new", "--ratings", tmp_path / "r.csv")
        ended = start(study, server, *more, OWN_KEY=KEY, PYTHONDEVMODE="1")
        out, said = ended.communicate(timeout=30)
    assert ended.returncode == 2
    assert b"it refuses the key: Incorrect API key provided: [key]" in b" ".join(said.split())
    assert {asked.headers["authorization"] for asked in server.asked} == {f"Bearer {KEY}"}
    assert KEY.encode() not in out + said
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert any(path.name == "answers.jsonl" for path in files)
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    assert not (tmp_path / "new").exists()
    assert not (tmp_path / "r.csv").exists()
