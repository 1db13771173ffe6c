"""Soft metrics and the neutral weight from the command line."""

from __future__ import annotations

import json

import pytest

from deltableu import Discriminative, Soft, choose_neutral, read_study
from deltableu.corpus import reference_set

pytest.importorskip("wordllama")


def test_score_compare_and_validate_know_soft_metrics(run, succeeds, demo):
    metrics = "soft-cosine,soft-chrf++,soft-rouge-l"
    scored = succeeds("score", demo, "--metrics", metrics, "--format", "json").out
    names = {record["metric"] for record in json.loads(scored)}
    assert names == set(metrics.split(","))
    study = read_study(demo)
    expected = Soft("chrf++").compute(study.outputs["human"], reference_set(study)).score().score
    found = next(
        record["score"]
        for record in json.loads(scored)
        if (record["system"], record["metric"]) == ("human", "soft-chrf++")
    )
    assert found == pytest.approx(expected)
    compared = succeeds("compare", demo, "--metrics", "soft-chrf++", "--baseline", "human").out
    assert compared.startswith("human is better than")
    validated = run("validate", demo, "--metrics", "soft-chrf++")
    assert validated.code == 0
    assert "soft-chrf++" in validated.out


def test_tau_and_encoder_reach_the_signature(succeeds, demo, tmp_path):
    path = tmp_path / "v.txt"
    path.write_text("yes 1 0\nno 0 1\n")
    arguments = ("--metrics", "soft-cosine,soft-ter", "--tau", "0.5", "--encoder", path)
    said = succeeds("score", demo, *arguments, "--systems", "human", "--signatures").out
    assert said.count("|tau:0.5|") == 2
    assert "|encoder:words-" in said


def test_explain_names_references_and_words(succeeds, demo):
    arguments = ("--system", "human", "--metric", "soft-chrf++", "--item", "d38", "--tau", "1")
    said = succeeds("explain", demo, *arguments).out
    assert "carries 43% of it" in said
    assert "the word 'Congratulations!' is worth 20.1" in " ".join(said.split())
    parsed = json.loads(succeeds("explain", demo, *arguments, "--format", "json").out)
    (found,) = parsed if isinstance(parsed, list) else [parsed]
    assert found["score"] == pytest.approx(55.0, abs=0.05)
    assert sum(one["carries"] for one in found["references"]) == pytest.approx(1.0)
    assert found["item"] == "d38"


def test_neutral_auto_says_what_it_took_and_is_that_value(run, succeeds, demo):
    arguments = ("score", demo, "--metrics", "delta-chrf++", "--systems", "human", "random")
    told = run(*arguments, "--neutral", "auto", "--format", "json")
    assert told.code == 0
    references = reference_set(read_study(demo))
    choice = choose_neutral(Discriminative("chrf++"), references)
    assert choice.summary in " ".join(told.err.split())
    fixed = succeeds(*arguments, "--neutral", choice.value, "--format", "json").out
    assert json.loads(fixed) == json.loads(told.out)


def test_mbr_takes_a_soft_utility(succeeds, tmp_path):
    lists = tmp_path / "nbest.jsonl"
    texts = ("yes i do", "yes i do so", "no way")
    rows = [{"id": "1", "text": text, "features": {"lm": -1.0}} for text in texts]
    lists.write_text("".join(json.dumps(row) + "\n" for row in rows))
    out = tmp_path / "chosen.jsonl"
    succeeds("tune", "mbr", lists, "-o", out, "--utility", "soft-chrf++")
    assert json.loads(out.read_text())["text"] in texts[:2]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metrics", "soft-cosine", "--encoder", "wordlama"], "unknown encoder 'wordlama'"),
        (["--metrics", "soft-cosine", "--encoder", "nowhere.txt"], "nowhere.txt"),
        (["--metrics", "soft-chrf++", "--tau", "0"], "tau must be a number above 0"),
        (["--metrics", "bleu", "--tau", "0.2"], "no setting 'tau'"),
        (["--metrics", "delta-bleu", "--neutral", "1"], "neutral must be a weight between"),
        (["--metrics", "delta-bleu", "--neutral", "middle"], "neutral"),
        (["--metrics", "soft-table"], "--table"),
    ],
)
def test_mistakes_are_named(complains, demo, arguments, said):
    assert said in complains("score", demo, *arguments)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--metric", "soft-chrf++"], "--system is missing"),
        (["--metric", "soft-chrf++", "--system", "human", "--item", "d999"], "d999"),
        (["--metric", "soft-chrf++", "--system", "human", "--html", "x.html"], "--html"),
    ],
)
def test_what_explain_refuses(complains, demo, arguments, said):
    assert said in complains("explain", demo, *arguments)
