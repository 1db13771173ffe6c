"""`deltableu rate rank`: what it prints and writes, and what it refuses in a sentence."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

PREFERENCES = Path(__file__).parents[2] / "examples" / "demo" / "preferences.csv"
HEADER = "rater,item,target,value,scale,pair,position\n"


def judgements(path, *rows, scale="0-1"):
    """Rows of rater, item, the system shown first, its value, the other one, its value."""
    lines = [
        f"{rater},{item},system:{name},{value},{scale},{min(a, b)}-{max(a, b)},{position}\n"
        for rater, item, a, x, b, y in rows
        for position, (name, value) in enumerate(((a, x), (b, y)), start=1)
    ]
    path.write_text(HEADER + "".join(lines))
    return path


@pytest.fixture
def even(tmp_path):
    """Two systems, twenty items, four raters; both win half, and each is first half of the time."""
    rows = [
        (f"r{n % 4}", f"i{n}", *(("A", n // 2 % 2) if n % 2 else ("B", n // 2 % 2)))
        + (("B", 1 - n // 2 % 2) if n % 2 else ("A", 1 - n // 2 % 2))
        for n in range(20)
    ]
    return judgements(tmp_path / "even.csv", *rows)


def test_the_answer_comes_first_and_fits_eighty_columns(succeeds, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    shown = succeeds("rate", "rank", PREFERENCES).out
    assert shown.startswith("human is best: people prefer it to all 5 others.\n")
    assert "14 of 15 pairs differ significantly." in shown
    assert "Position mattered: of two equal outputs the one shown first" in shown
    assert max(map(len, shown.splitlines())) <= 80


def test_two_systems_that_cannot_be_told_apart(succeeds, even):
    shown = succeeds("rate", "rank", even).out
    assert shown.startswith("These 20 judgements cannot tell A and B apart: ")
    assert "Nothing shows that being shown first mattered" in shown


def test_json_has_everything(succeeds, even):
    record = succeeds("rate", "rank", even, "--format", "json", "--resamples", "50").json
    assert record["criterion"] == "overall"
    assert [one["system"] for one in record["systems"]] == ["A", "B"]
    assert record["pairs"][0]["wins"] == record["pairs"][0]["losses"] == 10
    assert record["position"]["wins"] + record["position"]["losses"] == 20
    assert (record["resample"], record["resamples"], record["raters"]) == ("items,raters", 50, 4)
    assert record["verdict"][0].startswith("These 20 judgements")


@pytest.mark.parametrize("table", ["systems", "pairs", "position"])
def test_one_tidy_table(table, succeeds, even):
    shown = succeeds(
        *("rate", "rank", even, "--format", "csv", "--tables", table, "--resamples", "20")
    ).out
    rows = list(csv.DictReader(shown.splitlines()))
    assert len(rows) == {"systems": 2, "pairs": 1, "position": 1}[table]
    assert rows[0]["criterion"] == "overall"
    assert "confidence" in rows[0]


def test_likert_ratings_of_pairs_are_preferences(succeeds, tmp_path):
    rows = [(f"r{n % 3}", f"i{n}", "A", 1 + n % 5, "B", 1 + (n + 2) % 5) for n in range(30)]
    path = judgements(tmp_path / "likert.csv", *rows, scale="1-5")
    record = succeeds("rate", "rank", path, "--format", "json", "--resamples", "20").json
    wins = sum(one[3] > one[5] for one in rows)
    assert {one["system"]: one["wins"] for one in record["systems"]}["A"] == wins


def test_unknown_positions_are_remarked(run, tmp_path, even):
    text = "".join(line.rpartition(",")[0] + ",\n" for line in even.read_text().splitlines()[1:])
    path = tmp_path / "unknown.csv"
    path.write_text(HEADER + text)
    result = run("rate", "rank", path, "--resamples", "20")
    assert result.code == 0
    assert "nobody wrote down which output was shown first" in result.err
    refused = run("rate", "rank", path, "--tables", "position", "--resamples", "20")
    assert (refused.code, refused.out) == (2, "")


def test_columns_and_standard_input(succeeds, even):
    text = even.read_text().replace("rater,item,target,value", "who,item,target,mark")
    result = succeeds(
        *("rate", "rank", "-", "--columns", "rater=who,value=mark", "--resamples", "20"),
        stdin=text.encode(),
    )
    assert result.out.startswith("These 20 judgements")


def test_a_plot_and_a_file(succeeds, even, tmp_path):
    pytest.importorskip("matplotlib")
    plot, output = tmp_path / "plot.svg", tmp_path / "result.json"
    for _ in range(2):  # what this tool wrote is replaced
        succeeds(
            *("rate", "rank", even, "--plot", plot, "-o", output, "--format", "json"),
            *("--resamples", "20"),
        )
    assert "strength" in plot.read_text()
    assert json.loads(output.read_text())["judgements"] == 20


DOMINANT = [(f"r{n % 3}", f"i{n}", "A", 1, "B", 0) for n in range(9)]


@pytest.mark.parametrize(
    ("rows", "options", "message"),
    [
        (DOMINANT, (), "A won all 9 judgements with others, so that strengths have no finite"),
        ([(*one[:3], 0.5, "B", 0.5) for one in DOMINANT], (), "all 9 judgements are ties"),
        (
            [*DOMINANT[:1], ("r0", "i0", "C", 1, "D", 0)],
            (),
            "no judgement compares A and B with C and D",
        ),
        (DOMINANT, ("--criterion", "fluency"), "no systems were rated for 'fluency'"),
        (DOMINANT, ("--systems", "A", "X"), "there is no system that was shown in a pair 'X'"),
        (DOMINANT, ("--systems", "A"), "no two of A were shown in a pair"),
        (DOMINANT, ("--prior", "-1"), "prior must be"),
        (DOMINANT, ("--prior", "nan"), "prior must be"),
        (DOMINANT, ("--resamples", "1"), "resamples must be at least 2"),
        (DOMINANT, ("--confidence", "95"), "confidence must lie between 0 and 1"),
        (DOMINANT, ("--tables", "pairz"), "did you mean 'pairs'"),
        (DOMINANT, ("--plot", "x.pdf"), "--plot takes a name that ends in .svg or .png"),
    ],
)
def test_what_is_refused(rows, options, message, run, refusal, tmp_path):
    path = judgements(tmp_path / "rows.csv", *rows)
    result = run("rate", "rank", path, *options)
    refusal(result)
    assert message in result.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("r0,i0,system:A,nan,0-1,A-B,1", "line 2, value: must be a number"),
        ("r0,i0,system:A,2,0-1,A-B,1", "line 2, value: must lie on its scale 0-1"),
        ("r0,i0,A,1,0-1,A-B,1", "line 2, target: must be system:NAME or reference:ID"),
        ("r0,i0,system:A,1,0-1,A-B,first", "line 2, position: must be a whole number"),
        ("r0,i0,system:A", "line 2: has 3 cells"),
        ("r0,i0,system:A,1,0-1,,", "no ratings of systems name a pair"),
        ("r0,i0,system:A,1,0-1,A-B,1", "no rater rated both outputs of a pair"),
    ],
)
def test_malformed_files_are_told_by_line(line, message, run, refusal, tmp_path):
    path = tmp_path / "bad.csv"
    path.write_text(f"{HEADER}{line}\n")
    result = run("rate", "rank", path)
    refusal(result)
    assert message in result.err


def test_a_prior_is_the_way_out(succeeds, tmp_path):
    path = judgements(tmp_path / "rows.csv", *[(*one[:2], *one[2:]) for one in DOMINANT * 3])
    shown = succeeds("rate", "rank", path, "--prior", "1").out
    assert shown.startswith("People prefer A to B: it is expected to win 9")
    assert "prior: as if each system had also won and lost 0.5 judgements" in shown


def test_a_study_without_pairs_and_a_campaign(run, refusal, tmp_path):
    result = run("rate", "rank", PREFERENCES.parent)
    refusal(result)
    assert "no ratings of systems name a pair" in result.err
    (tmp_path / "campaign.toml").write_text("")
    result = run("rate", "rank", tmp_path)
    refusal(result)
    assert "deltableu rate export" in result.err


def test_preferences_from_the_page_to_the_ranking(run, demo, tmp_path):
    """A campaign is made, answered, exported and ranked; answers lean to longer texts."""
    pytest.importorskip("fastapi", reason="campaigns need the extra web")
    from tests.cli.test_rate import answer_all

    study, campaign, ratings = (tmp_path / name for name in ("few", "campaign", "ratings.csv"))
    (study / "outputs").mkdir(parents=True)
    names = ("human", "retrieval", "random")
    for name in ("items.jsonl", *(f"outputs/{one}.jsonl" for one in names)):
        lines = (demo / name).read_text().splitlines(keepends=True)
        (study / name).write_text("".join(lines[:12]))
    assert (
        run(
            *(
                "rate",
                "new",
                campaign,
                "--study",
                study,
                "--what",
                "pairs",
                "--scale",
                "preference",
            ),
            *("--per-item", 2, "--raters", 4, "--no-practice"),
        ).code
        == 0
    )

    def prefer(task, rater):
        first, second = (len(text) + 7 * (rater % 3) for text in task["responses"])
        lead = first - second + (-30, 0, 30)[(first * second + rater) % 3]
        return [[0 if abs(lead) < 6 else 1 if lead > 0 else 2]]

    given = answer_all(campaign, prefer)
    assert run("rate", "export", campaign, "-o", ratings).code == 0
    record = run("rate", "rank", ratings, "--prior", "1", "--format", "json").json
    assert record["judgements"] == given == 2 * 3 * 12
    assert {one["system"] for one in record["systems"]} == set(names)
    shown = record["position"]
    assert shown["wins"] + shown["ties"] + shown["losses"] == given
    assert shown["effect"] is not None
    agreed = run("rate", "agree", ratings, "--format", "json").json["agreements"][0]
    assert (agreed["targets"], agreed["units"], agreed["per_unit"]) == ("pairs", 36, 2)
