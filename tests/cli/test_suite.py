"""`deltableu validate --suite`."""

from __future__ import annotations

import json
import shutil

import pytest

FAST = ("--resamples", 50)


@pytest.fixture
def suite(tmp_path, demo):
    """The demo study, and it again without weights."""
    folder = tmp_path / "suite"
    for name in ("plain", "weighted"):
        shutil.copytree(demo, folder / name)
    items = folder / "plain" / "items.jsonl"
    lines = items.read_text("utf-8")
    made = []
    for line in lines.splitlines():
        record = json.loads(line)
        record["references"] = [
            {key: value for key, value in one.items() if key != "weight"}
            for one in record["references"]
        ]
        made.append(json.dumps(record))
    items.write_text("\n".join(made) + "\n", "utf-8")
    return folder


def test_the_whole_of_it(run, suite):
    result = run("validate", "--suite", suite, "--metrics", "delta-bleu-2,chrf++,bleu-2", *FAST)
    assert result.code == 0
    text = " ".join(result.out.split())
    assert text.startswith(
        "Over 2 studies, bleu-2 has the best average rank of 2 metrics, 1.0 (95%"
    )
    assert "In weighted, the only study with all 3 metrics, delta-bleu-2 has the best" in text
    assert "2 metrics over 2 studies: plain, weighted" in text
    assert "chrf++ (control: other items' references)" in text
    assert "delta-bleu-2 (control: shuffled weights)" in text
    assert "pearson with people, level pooled" in text
    assert "gain in pearson, level pooled, over controls" in text
    assert "weighted: overall (6 systems, 68 items, 408 outputs)" in text
    assert "plain: no delta-bleu-2, as references have no weights" in result.err


def test_json_is_repeatable_and_has_all(succeeds, suite):
    command = (
        "validate",
        "--suite",
        suite,
        "--metrics",
        "chrf++,bleu-2",
        "--format",
        "json",
        *FAST,
    )
    one = succeeds(*command, "--threads", 1)
    assert succeeds(*command, "--threads", 3) == one
    assert set(one.json) == {
        *("studies", "rankings", "gains", "failures", "level", "method", "population", "notes"),
        *("signature", "verdict"),
    }
    assert one.json["verdict"][0].startswith("Over 2 studies, ")
    # Weights change nothing in metrics that do not heed them.
    first, second = (study["agreements"][0]["value"] for study in one.json["studies"])
    assert first == second
    others = succeeds(*command, "--resample-studies").json
    assert others["population"] == "other studies like these"


@pytest.mark.parametrize("format", ["tsv", "markdown", "latex"])
def test_formats_and_tables(succeeds, suite, tmp_path, format):
    path = tmp_path / "out"
    succeeds("validate", "--suite", suite, "--metrics", "chrf++,bleu-2", "--tables", "ranks",
             "--levels", "pooled", "--format", format, "-o", path, *FAST)  # fmt: skip
    text = path.read_text("utf-8")
    assert "chrf++" in text
    assert "gain" not in text


def test_a_bad_study(run, complains, suite):
    (suite / "broken").mkdir()
    (suite / "broken" / "items.jsonl").write_text("{\n")
    said = complains("validate", "--suite", suite, "--metrics", "chrf++", *FAST)
    assert "study 'broken': " in said
    result = run("validate", "--suite", suite, "--metrics", "chrf++", "--on-error", "skip", *FAST)
    assert result.code == 0
    assert "1 study could not be used: broken." in " ".join(result.out.split())
    assert "deltableu: broken is left out: " in result.err


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ("--scores comet.csv", "--scores is of no use with --suite"),
        ("--systems A", "--systems is of no use with --suite"),
        ("--tests williams", "--tests is of no use with --suite"),
        ("--no-sentinels", "--sentinels is of no use with --suite"),
        ("--order 2", "--order is of no use with --suite without --metrics"),
        ("--levels system", "not system"),
        ("--tables matrix", "--tables takes ranks, studies, gains, details"),
        ("--metrics length", "sentinels are only controls"),
        ("--correction wmt --metrics chrf", "correction must be one of holm, bh, none"),
        ("--criterion tone --metrics chrf --group nothing", "study 'plain': "),
    ],
)
def test_options_of_no_use(complains, suite, options, said):
    assert said in complains("validate", "--suite", suite, *options.split())


def test_folders_that_are_no_suite(complains, demo, tmp_path):
    assert "is a study itself" in complains("validate", "--suite", demo)
    assert "no such folder" in complains("validate", "--suite", tmp_path / "nowhere")
    (tmp_path / "empty").mkdir()
    assert "holds no folders" in complains("validate", "--suite", tmp_path / "empty")
    assert "not both" in complains("validate", demo, "--suite", demo)
    assert "--on-error is of no use with one study" in complains(
        "validate", demo, "--on-error", "skip"
    )
    assert "--resample-studies is of no use with one study" in complains(
        "validate", demo, "--resample-studies"
    )
