"""`deltableu plan compare`: the table, the records, the plot, and what is refused."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from deltableu import DeltaBLEU, read_study
from deltableu.compare.power import plan_comparison

SYSTEMS = ("--systems", "careful-neural", "human")
QUICK = (*SYSTEMS, "--replicates", 10, "--items", 20, 60, "--difference", 10)


def cells(out):
    return [re.split(r"\s{2,}", line.strip()) for line in out.splitlines() if line.strip()]


def test_the_table_ends_with_the_answer(succeeds, demo):
    out = succeeds(
        "plan",
        "compare",
        demo,
        *QUICK,
        "--references",
        2,
        "all",
        "--raters",
        1,
        "all",
        "--signatures",
    ).out
    assert out.startswith("More than 60 items are needed with 2 references, 1 rater to show a ")
    lines = cells(out[out.index("to detect") :])
    assert lines[0] == ["to detect a delta-bleu-2 difference of 10"]
    names = ["2 references, 1 rater", "2 references, all raters"]
    names += ["all references, 1 rater", "all references, all raters"]
    assert lines[1] == ["items", *(part for name in names for part in (name, "low", "high"))]
    assert [line[0] for line in lines[3:5]] == ["20", "60"]
    assert all(re.fullmatch(r"[01]\.\d\d", cell) for cell in lines[3][1:])
    assert lines[5][0] == "difference measured"
    assert lines[5][-1] == "10.00"
    assert lines[6][0] == "items for power 0.8"
    assert len(lines[6]) == 5
    assert "human scores 15.56 above careful-neural on 68 items" in out
    assert "|pilot:human-careful-neural|difference:10|significance:0.05|" in out


def test_json_has_what_the_library_finds(succeeds, demo):
    record = succeeds("plan", "compare", demo, *QUICK, "--format", "json", "--seed", 3).json
    plan = plan_comparison(
        read_study(demo),
        ["careful-neural", "human"],
        DeltaBLEU(),
        difference=10.0,
        items=[20, 60],
        replicates=10,
        seed=3,
    )
    (curve,) = record["curves"]
    assert [point["power"] for point in curve["points"]] == [p.power for p in plan.curves[0].points]
    assert curve["items_needed"] == plan.curves[0].needed(0.8)
    assert record["systems"] == ["human", "careful-neural"]
    assert record["signature"] == plan.signature
    assert (curve["references"], curve["raters"]) == (None, None)


def test_sizes_are_found_where_none_are_given(succeeds, demo):
    out = succeeds("plan", "compare", demo, *SYSTEMS, "--replicates", 20, "--format", "tsv").out
    rows = [line.split("\t") for line in out.splitlines() if not line.startswith("#")]
    powers = [float(row[1].split()[0]) for row in rows[1:-2]]
    assert powers[0] < 0.5
    assert powers[-1] > 0.9
    assert 15 < int(rows[-1][1].split()[0]) < 60


def test_sizes_that_are_too_small_or_large_say_so(succeeds, demo):
    out = succeeds("plan", "compare", demo, *SYSTEMS, "--replicates", 10, "--items", 5, 6).out
    assert re.search(r"items for power 0.8\s+more than 6 \(about \d\d\)", out)
    out = succeeds("plan", "compare", demo, *SYSTEMS, "--replicates", 10, "--items", 200, 300).out
    assert re.search(r"items for power 0.8\s+200 or fewer \(about \d\d\)", out)


@pytest.mark.parametrize("format", ["latex", "markdown"])
def test_formats_for_papers(format, succeeds, demo, tmp_path):
    path = tmp_path / "plan"
    assert succeeds("plan", "compare", demo, *QUICK, "--format", format, "-o", path).out == ""
    assert ("tabular" if format == "latex" else "| items |") in path.read_text()


def test_the_plot_shows_the_curve(succeeds, demo, tmp_path):
    path = tmp_path / "power.svg"
    succeeds("plan", "compare", demo, *QUICK, "--plot", path)
    text = path.read_text()
    assert text.startswith("<?xml")
    assert ">human against careful-neural: a delta-bleu-2 difference of 10<" in text
    assert re.search(r">all references: (more than )?\d+ items<", text)
    assert ">power 0.8<" in text
    again = tmp_path / "again.svg"
    succeeds("plan", "compare", demo, *QUICK, "--plot", again)
    assert again.read_text() == text


def test_many_curves_in_a_picture(succeeds, demo, tmp_path):
    path = tmp_path / "power.PNG"
    options = ("--references", 1, 2, "all", "--raters", 1, "all", "--plot", path)
    succeeds("plan", "compare", demo, *QUICK, *options)
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 10_000


def test_metrics_and_their_settings(succeeds, demo):
    options = ("--metric", "bleu", "--order", 2, "--lowercase")
    out = succeeds("plan", "compare", demo, *QUICK[:-2], *options, "--signatures").out
    assert "metric:bleu|order:2|" in out
    assert "|case:lower|" in out


def test_items_without_a_positive_reference_are_remarked_on(run, study, make_item):
    texts = [f"yes it is number {n}" for n in range(12)]
    items = [make_item(f"q{n}", (text, 0.8 if n else -0.2)) for n, text in enumerate(texts)]
    study.items(*items)
    study.outputs("sys", [(f"q{n}", text) for n, text in enumerate(texts)])
    study.outputs("other", [(f"q{n}", "yes it may be") for n in range(12)])
    arguments = ("--systems", "sys", "other", "--items", 10, "--replicates", 5)
    result = run("plan", "compare", study.path, *arguments)
    assert result.code == 0
    assert result.err == "deltableu: left out 1 of 12 items without a positive reference\n"


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("--systems", "human"), "planned for two systems, got 1"),
        (
            ("--systems", "human", "nobody"),
            "there is no system 'nobody' in the pilot; there are bl",
        ),
        ((*SYSTEMS, "--difference", "0"), "difference must be a number above 0, got 0"),
        ((*SYSTEMS, "--difference", "16"), "too little to show a difference of 16: take a pair"),
        ((*SYSTEMS, "--power", "1.2"), "power must lie between 0 and 1, got 1.2"),
        ((*SYSTEMS, "--references", "40"), "references must lie between 1 and 10"),
        ((*SYSTEMS, "--references", "few"), "--references takes whole numbers or all, got 'few'"),
        ((*SYSTEMS, "--references"), "--references"),
        ((*SYSTEMS, "--raters", "1.5"), "--raters takes whole numbers or all, got '1.5'"),
        ((*SYSTEMS, "--items", "ten"), "--items takes whole numbers, got 'ten'"),
        ((*SYSTEMS, "--items", "1"), "items must be numbers from 2 on, got 1"),
        ((*SYSTEMS, "--metric", "bleu", "--raters", "2"), "bleu-4 does not look at weights"),
        ((*SYSTEMS, "--metric", "blue"), "unknown metric 'blue'"),
        ((*SYSTEMS, "--plot", "power.gif"), "--plot takes a name that ends in .svg or .png"),
        ((*SYSTEMS, "--replicates", "0"), "replicates must be at least 1"),
        ((*SYSTEMS, "--digits", "99"), "--digits must lie between 0 and 15"),
        ((), "--systems"),
    ],
    ids=lambda value: " ".join(value)[-40:] if isinstance(value, tuple) else "",
)
def test_bad_input(options, message, run, refusal, demo):
    result = run("plan", "compare", demo, *options)
    refusal(result)
    assert message in result.err


def test_a_pilot_without_raw_ratings(run, refusal, demo, tmp_path):
    for name in ("items.jsonl", "outputs"):
        (tmp_path / name).symlink_to(demo / name)
    result = run("plan", "compare", tmp_path, *SYSTEMS, "--raters", 2)
    refusal(result)
    assert "there are no raw ratings of references" in result.err


def test_a_pilot_without_outputs(run, refusal, study):
    for path in (study.path / "outputs").iterdir():
        path.unlink()
    result = run("plan", "compare", study.path, *SYSTEMS)
    refusal(result)
    assert "has no system outputs" in result.err


def test_the_command_explains_itself(succeeds):
    assert "compare" in succeeds("plan", "--help").out
    out = succeeds("plan", "compare", "--help").out
    assert out.startswith("Usage: deltableu plan compare")
    for option in (
        "systems",
        "difference",
        "power",
        "significance",
        "items",
        "references",
        "raters",
    ):
        assert re.search(rf"--{option}\b.*[a-z]{{3}}", out)


def test_nothing_heavy_is_loaded_without_a_plot(demo):
    script = (
        "import sys\nfrom deltableu.cli.app import main\n"
        "try:\n    main(sys.argv[1:])\nexcept SystemExit:\n    pass\n"
        "print([m for m in ('matplotlib', 'scipy.stats', 'pyarrow') if m in sys.modules])"
    )
    arguments = ["plan", "compare", str(demo), *map(str, QUICK)]
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "[]"
