"""Tables that somebody else made, and outputs that are missing, on the command line."""

from __future__ import annotations

import csv
import gzip

import pytest

SYSTEMS, ITEMS = "ABCDEF", range(12)


def value(system, item, shift=0):
    return SYSTEMS.index(system) + (item * 5 + shift) % 7


@pytest.fixture
def tables(write):
    """Scores and human scores of the same outputs, each with names of its own."""
    cells = [(system, item) for system in SYSTEMS for item in ITEMS]
    return {
        "scores": write(
            "scores.csv",
            "model,seg,comet,yisi\n"
            + "".join(f"{s},{i},{value(s, i)},{value(s, i, 3)}\n" for s, i in cells),
        ),
        "human": write(
            "human.tsv",
            "model\tseg\tz\n" + "".join(f"{s}\t{i}\t{value(s, i, 1)}\n" for s, i in cells),
        ),
        "totals": write(
            "totals.csv", "system,score\n" + "".join(f"{s},{ord(s) % 65}\n" for s in SYSTEMS)
        ),
    }


QUICK = ("--resamples", 50, "--format", "json")


def test_tables_with_names_of_their_own(tables, run):
    result = run(
        *("validate", "--scores", tables["scores"], "--columns"),
        *("system=model,item=seg,metrics=comet+yisi", "--human", tables["human"]),
        *("--human-columns", "system=model,item=seg,score=z", *QUICK),
    )
    assert result.code == 0
    assert set(result.json["metrics"]) == {"comet", "yisi"}


def test_one_mapping_serves_both_tables(write, run):
    text = "model,seg,value\n" + "".join(f"{s},{i},{value(s, i)}\n" for s in SYSTEMS for i in ITEMS)
    one, two = write("one.csv", text), write("two.csv", text)
    columns = "system=model,item=seg,score=value"
    result = run("validate", "--scores", one, "--human", two, "--columns", columns, *QUICK)
    assert result.code == 0
    assert result.json["agreements"][0]["value"] == pytest.approx(1.0)


def test_totals_of_people_are_validated_at_level_system(tables, run):
    result = run(
        *("validate", "--scores", tables["scores"], "--columns"),
        *("system=model,item=seg,metrics=comet+yisi", "--human", tables["totals"]),
        *("--human-columns", "system=system,score=score", *QUICK),
    )
    assert result.code == 0
    assert {one["level"] for one in result.json["agreements"]} == {"system"}
    assert "totals of systems: no level pooled and item" in result.err


def test_totals_of_metrics_are_validated_at_level_system(tables, write, run):
    human = write(
        "h.csv",
        "system,item,score\n" + "".join(f"{s},{i},{value(s, i)}\n" for s in SYSTEMS for i in ITEMS),
    )
    result = run("validate", "--scores", tables["totals"], "--human", human, *QUICK)
    assert result.code == 0
    assert "metric scores are totals of systems: no level pooled and item" in result.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--levels", "item"), "level item needs scores of items"),
        (("--tests", "perm-items"), "but perm-items needs scores of items: choose perm-systems"),
    ],
)
def test_what_totals_cannot_say(tables, complains, arguments, said):
    totals = tables["totals"]
    assert said in complains("validate", "--scores", totals, "--human", totals, *arguments)


def test_totals_cannot_be_compared(tables, complains):
    message = complains("compare", "--scores", tables["totals"])
    assert message == "score has no scores of items, so that there is nothing to resample"


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("system", "--columns takes such as system=model,item=segment_id"),
        ("", "--columns takes such as"),
        ("system=", "--columns takes such as"),
        ("system=model,system=seg", "--columns names system twice"),
        ("sistem=model", "there is no column 'sistem'"),
        ("system=modle", "did you mean 'model'?"),
        ("system=model", "no column 'score': there are model, seg, comet, yisi; say which it is"),
    ],
)
def test_mappings_that_do_not_fit(tables, complains, columns, said):
    assert said in complains("compare", "--scores", tables["scores"], "--columns", columns)


def test_a_mapping_needs_a_table(study, complains):
    message = complains("compare", study.path, "--columns", "system=model")
    assert message == "--columns is of no use with neither --scores nor --resample items,raters"


def test_ratings_with_a_column_for_each_rater(study, run):
    study.file(
        "ratings.csv",
        "id,model,score_ann,score_bob\n"
        "q1,sys,5,4\nq2,sys,3,\nq3,sys,4,4\nq1,other,1,2\nq2,other,4,4\nq3,other,5,3\n",
    )
    columns = ("--columns", "item=id,system=model,raters=score_*")
    result = run("validate", study.path, *columns, "--metrics", "bleu", "chrf", *QUICK)
    assert result.code == 0
    assert result.json["signature"].startswith("human:z-2raters")
    checked = run("check", study.path, *columns)
    assert "11 by 2 raters" in checked.out
    wrong = run("check", study.path)
    assert wrong.code == 2
    assert "--columns item=NAME" in wrong.out


# --- Missing outputs ------------------------------------------------------------------------------


@pytest.fixture
def gap(study):
    study.outputs("other", [("q1", "a dog"), ("q3", "no idea")])
    return study.path


@pytest.mark.parametrize("command", ["score", "compare"])
def test_missing_outputs(gap, run, complains, command):
    quick = ("--metrics", "bleu", "--format", "json")
    assert "1 item has no output: 'q2'" in complains(command, gap, *quick)
    empty = run(command, gap, *quick, "--missing", "empty")
    drop = run(command, gap, *quick, "--missing", "drop")
    assert (empty.code, drop.code) == (0, 0)
    assert "outputs that are missing count as empty texts (other 1 of 3)" in empty.err
    assert "left out 1 of 3 items without an output (other 1)" in drop.err
    assert "items:2" in drop.out
    only = run(command, gap, *quick, "--systems", "sys")
    assert only.code == (0 if command == "score" else 2)


def test_missing_outputs_in_validation_and_report(gap, run, tmp_path):
    (gap / "ratings.csv").write_text(
        "rater,item,target,value\na,q1,sys,1\na,q2,sys,2\na,q3,sys,2\na,q1,other,3\na,q3,other,1\n"
    )
    validated = run("validate", gap, "--missing", "drop", "--metrics", "bleu", *QUICK)
    assert validated.code == 0
    assert "items:2|" in validated.json["signature"]
    page = tmp_path / "page.html"
    assert run("report", gap, "--missing", "empty", "-o", page).code == 0
    assert page.is_file()


def test_missing_outputs_in_files_with_ids(plain, run):
    (plain / "out.jsonl").write_text('{"id": "1", "text": "x"}\n{"id": "3", "text": "no idea"}\n')
    result = run("score", "out.jsonl", "sys.txt", "--refs", "r0.txt", "--missing", "drop")
    assert result.code == 0
    assert "left out 1 of 3 items" in result.err


def test_after_a_mistake_nothing_else_is_said(gap, complains):
    assert complains("score", gap, "--missing", "drop", "--metrics", "xyz").startswith("unknown")
    assert "Did you mean" in complains("score", gap, "--missing", "dorp")


# --- Published figures ----------------------------------------------------------------------------


def test_system_level_da_of_wmt18(data, tmp_path, run):
    """Ma et al. 2018, cs-en: BLEU 0.970, from the totals alone."""
    wmt = data / "wmt18_19" / "WMT18"
    folder = tmp_path / "cs-en"
    (folder / "outputs").mkdir(parents=True)
    reference = gzip.decompress((wmt / "references/newstest2018-csen-ref.en.gz").read_bytes())
    (folder / "r0.txt").write_bytes(reference)
    for path in (wmt / "system-outputs/cs-en").iterdir():
        name = path.name.removeprefix("newstest2018.").removesuffix(".cs-en.gz")
        (folder / f"outputs/{name}.txt").write_bytes(gzip.decompress(path.read_bytes()))
    totals = tmp_path / "totals.csv"
    with open(wmt / "DA-syslevel.csv") as source, open(totals, "w") as target:
        target.write("SYSTEM,HUMAN\n")
        for row in csv.DictReader(source, delimiter=" "):
            if row["LP"] == "cs-en":
                target.write(f"{row['SYSTEM']},{row['HUMAN']}\n")
    result = run(
        *("validate", folder, "--human", totals, "--columns", "system=SYSTEM,score=HUMAN"),
        *("--metrics", "BLEU", "--tokenize", "intl", "--lowercase", "--no-sentinels"),
        *("--methods", "pearson", "--format", "json"),
    )
    assert result.code == 0
    (agreement,) = result.json["agreements"]
    assert agreement["value"] == pytest.approx(0.970, abs=0.0005)
    assert agreement["interval"]["low"] == pytest.approx(0.608, abs=0.0005)
