"""Metrics with a judge, on the command line: a judge that a package offers, and rated studies."""

from __future__ import annotations

import json

import pytest

from deltableu.corpus import read_study, reference_set
from deltableu.score import DeltaBLEU
from deltableu.score.metrics.discriminative import DeltaChrFPlusPlus

SOURCE = """
class Overlap:
    signature = "overlap"

    def __init__(self, argument):
        self.floor = float(argument or -1)
        if argument is not None:
            self.signature += "=" + argument

    def rate(self, item, references):
        wanted = set(item.references[0].text.split())
        def weight(text):
            words = set(text.split())
            return max(self.floor, 2 * len(words & wanted) / len(words | wanted) - 1)
        return [weight(one.text) for one in references]
"""


@pytest.fixture
def rater(tmp_path, monkeypatch):
    """A package that offers the judge `overlap`, as pip would have left it."""
    folder = tmp_path / "packages"
    info = folder / "overlap_rater-1.0.dist-info"
    info.mkdir(parents=True)
    (folder / "overlap_rater.py").write_text(SOURCE)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: overlap_rater\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[deltableu.judges]\noverlap = overlap_rater:Overlap\n")
    monkeypatch.syspath_prepend(folder)
    return "overlap"


def overlap(item):
    wanted = set(item.references[0].text.split())
    words = [set(one.text.split()) for one in item.references]
    return [2 * len(one & wanted) / len(one | wanted) - 1 for one in words]


METRICS = ("upsilon-bleu", "upsilon-chrf")
BOTH = ("--metrics", ",".join(METRICS))
RESAMPLE = ("--resample", "items,raters")
PLAIN = {"upsilon-bleu-2": DeltaBLEU(), "upsilon-chrf": DeltaChrFPlusPlus()}


def test_they_are_listed(succeeds):
    records = {one["metric"]: one for one in succeeds("metrics", "--format", "json").json}
    for name in METRICS:
        assert records[name]["range"] == "-100 to 100"
        assert records[name]["needs"] == "references, weights"
        assert "judge" in records[name]["what it is"]


def test_a_study_is_rated_and_scored(succeeds, demo, rater):
    records = succeeds("score", demo, *BOTH, "--judge", rater, "--format", "json").json
    study = read_study(demo, ratings=False)
    texts = [[one.text for one in item.references] for item in study.items]
    weights = [overlap(item) for item in study.items]
    assert len(records) == 2 * len(study.outputs)
    for record in records:
        metric = PLAIN[record["metric"]]
        expected = metric.compute(study.outputs[record["system"]], texts, weights).score()
        assert record["score"] == expected.score
        assert "|weights:overlap|" in record["signature"]
        assert f"|weighthash:{expected.signature['weighthash']}|" in record["signature"]


def test_arguments_reach_the_rater(succeeds, study, rater):
    out = succeeds("score", study.path, *BOTH, "--judge", f"{rater}:0.25", "--signatures").out
    assert out.count("|weights:overlap=0.25|") == 2


def test_a_rater_alone_means_upsilon_bleu(succeeds, study, rater):
    out = succeeds("score", study.path, "--judge", rater, "--format", "tsv").out
    _, *rows = (line.split("\t") for line in out.splitlines())
    assert {row[1] for row in rows} == {"upsilon-bleu-2", "bleu-2"}


def test_a_rated_study_needs_no_rater(succeeds, study):
    """As `deltableu judge apply` leaves it."""
    lines = (study.path / "items.jsonl").read_text().splitlines()
    records = [json.loads(line) | {"meta": {"weights_from": "nn-rater:3f,max"}} for line in lines]
    study.items(*records)
    delta = succeeds("score", study.path, "--metrics", "delta-bleu", "--format", "json").json
    upsilon = succeeds("score", study.path, "--metrics", "upsilon-bleu", "--format", "json").json
    assert [one["score"] for one in delta] == [one["score"] for one in upsilon]
    assert all("|weights:nn-rater:3f,max|" in one["signature"] for one in [*delta, *upsilon])


@pytest.mark.parametrize("select", ["single", "w>=0.6"])
def test_narrowed_references_are_rated(succeeds, study, rater, select):
    arguments = ["score", study.path, *BOTH, "--judge", rater, "--select", select]
    records = succeeds(*arguments, "--format", "json").json
    chosen = reference_set(read_study(study.path, ratings=False)).select(select)
    weights = [overlap(item) for item in chosen.items]
    outputs = read_study(study.path, ratings=False).outputs
    for record in records:
        metric = PLAIN[record["metric"]]
        expected = metric.compute(outputs[record["system"]], chosen.texts, weights).score()
        assert record["score"] == expected.score
        assert f"|select:{select}|" in record["signature"]


def test_parallel_files_can_be_rated(succeeds, plain, rater):
    """By a judge that looks at no message."""
    arguments = ["sys.txt", "--refs", "r0.txt", "r1.txt", *BOTH, "--judge", rater]
    assert succeeds("score", *arguments, "--signatures").out.count("|weights:overlap|") == 2


def test_systems_are_compared(succeeds, demo, rater):
    arguments = ["--metrics", "upsilon-bleu,upsilon-chrf,bleu-2", "--judge", rater, "--trials", 50]
    out = succeeds("compare", demo, *arguments, "--systems", "human", "random", "--signatures").out
    assert "upsilon-chrf" in out
    assert out.count("|weights:overlap|") == 2


def test_a_report_shows_what_changed(run, study, rater, tmp_path):
    for number, judge in enumerate([(), ("--judge", rater)]):
        page = tmp_path / f"{number}.html"
        result = run("report", study.path, "--metrics", "upsilon-bleu", *judge, "-o", page)
        assert result.code == 0, result.err
        assert "upsilon-bleu-2" in page.read_text()


def test_metrics_are_validated(run, demo, rater):
    arguments = ["--metrics", "upsilon-bleu,delta-bleu", "--judge", rater, "--resamples", 5]
    arguments += ["--no-sentinels", "--levels", "system", "--methods", "pearson"]
    result = run("validate", demo, *arguments, "--format", "json")
    assert result.code == 0, result.err
    assert "upsilon-bleu" in result.out


def test_weights_that_ratings_gave_can_be_resampled(run, demo):
    arguments = ["--metrics", "upsilon-bleu", *RESAMPLE, "--resamples", 20]
    result = run("compare", demo, *arguments, "--systems", "human", "random")
    assert result.code == 0, result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["score", *BOTH, "--judge", "nobody"], "nobody"),
        (["score", *BOTH, "--judge", "nowhere.safetensors"], "nowhere.safetensors"),
        (["score", *BOTH, "--judge", ""], "the judge has no name"),
        (["score", *BOTH, "--triplets", "mean"], "triplets can be set for a judge that is named"),
        (["score", *BOTH, "--judge", "overlap", "--magnitude", "p"], "magnitude cannot be set"),
        (
            ["score", "--metrics", "delta-bleu", "--judge", "overlap"],
            "--judge is for upsilon metrics",
        ),
        (["score", *BOTH, "--original", "2"], "--original"),
        (["validate", "--judge", "overlap"], "--judge is for upsilon metrics"),
        (
            ["compare", "--metrics", "upsilon-bleu", "--judge", "overlap", *RESAMPLE],
            "upsilon-bleu-2 does not use weights",
        ),
    ],
)
def test_mistakes_are_one_sentence(arguments, said, complains, demo, rater):
    command, *options = arguments
    assert said in complains(command, demo, *options)


def test_what_cannot_be_explained_says_so(run, refusal, study):
    result = run("explain", study.path, "--system", "sys", "--metric", "upsilon-bleu")
    refusal(result)
    assert "'upsilon-bleu' cannot be explained" in result.err


def test_unrated_references_need_a_rater(complains, succeeds, study, make_item, rater):
    study.items(*(make_item(f"q{n}", ("yes , a cat", None), ("no", None)) for n in (1, 2, 3)))
    assert "`deltableu judge apply`" in complains("score", study.path, "--metrics", "upsilon-bleu")
    command = ("score", study.path, *BOTH, "--judge", rater, "--signatures")
    assert "|weights:overlap|" in succeeds(*command).out
