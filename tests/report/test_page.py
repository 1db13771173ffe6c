"""`deltableu report`: one self-contained HTML page."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path

import pytest

from tests.report.conftest import DEMO

SETTINGS = ("single", "w>=0.6", "all")
LINKS = {"src", "href", "xlink:href", "srcset", "data", "action", "poster", "background"}


@pytest.mark.parametrize("page", ["demo_page", "trap_page"])
def test_the_page_needs_nothing_but_itself(page, request, parse):
    path = request.getfixturevalue(page)
    parsed = parse(path)
    assert len(parsed.tags) > 100
    tags = {tag for tag, _ in parsed.tags}
    assert not tags & {"link", "iframe", "object", "embed", "img", "base", "form"}
    for tag, attributes in parsed.tags:
        for name, value in attributes.items():
            assert not name.startswith("on"), (tag, name)
            if name in LINKS:
                assert (value or "").startswith("#"), (tag, name, value)
    text = path.read_text()
    assert "@import" not in text
    assert all(target.startswith("#") for target in re.findall(r"url\(([^)]*)\)", text))
    assert text.startswith("<!doctype html>")
    assert '<meta charset="utf-8">' in text


def scores(run, study, *options):
    code, out, _ = run("score", study, "--ci", "--format", "json", *options)
    assert code == 0
    return json.loads(out)


def test_the_main_table_has_the_scores_that_compare_has(run, demo, demo_page, parse):
    header, *rows = parse(demo_page).tables[0]
    code, out, _ = run("compare", demo, "--baseline", "bland-neural", "--format", "json")
    assert code == 0
    for found in json.loads(out):
        column = header.index(f"{found['metric']} ↑")
        for one in found["systems"]:
            (row,) = (row for row in rows if row[0] == one["system"])
            assert row[column].startswith(f"{one['score']:.2f}")


def test_every_choice_of_references_has_the_scores_that_score_prints(run, demo, demo_page, parse):
    expected, shown = set(), set()
    for select in SETTINGS:
        for one in scores(run, demo, "--select", select):
            expected.add((select, one["system"], f"{one['score']:.2f}"))
    for header, *rows in parse(demo_page).tables:
        if [name.split(" ")[0] for name in header] == ["system", *SETTINGS]:
            for row in rows:
                cells = zip(SETTINGS, row[1:], strict=True)
                shown |= {(select, row[0], cell.split(" ")[0]) for select, cell in cells}
    assert shown == expected
    assert len(shown) > 30


def test_every_signature_of_a_score_on_the_page_is_there(run, demo, demo_page, parse):
    shown = parse(demo_page).blocks["code"]
    for select in SETTINGS:
        for one in scores(run, demo, "--select", select):
            if one["interval"] is not None:
                assert any(one["signature"] in block for block in shown), one["signature"]


def test_the_note_that_ratings_are_simulated_is_on_the_page(demo_page, parse):
    notes = parse(demo_page).blocks["p"]
    assert any("all ratings are SIMULATED by a seeded script: no person gave" in n for n in notes)


def test_what_to_know_before_a_claim_is_made_is_on_the_page(demo_page, parse):
    items = parse(demo_page).blocks["li"]
    assert any("the score of phrase-smt is clamped" in item for item in items)


def test_the_counts_are_those_that_check_prints(run, demo, demo_page, parse):
    _, out, _ = run("check", demo)
    table = next(table for table in parse(demo_page).tables if table[0][0] == "study")
    assert len(table) > 8
    for name, value in table:
        assert re.search(rf"{re.escape(name)}\s+{re.escape(value)}\n", out), name


def test_the_title_is_the_one_given(demo_page, parse):
    parsed = parse(demo_page)
    assert parsed.blocks["h1"] == ["The demo study"]
    assert parsed.blocks["title"][0].startswith("The demo study")


def test_the_default_title_is_the_folder(run, small, tmp_path, parse):
    run("report", small(name="my study"), "-o", tmp_path / "r.html")
    assert parse(tmp_path / "r.html").blocks["h1"] == ["my study"]


def test_the_default_page_is_report_html(run, small, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    code, out, err = run("report", small())
    assert (code, out, err) == (0, "", "deltableu: wrote report.html\n")
    assert Path("report.html").read_text().startswith("<!doctype html>")


def test_two_runs_write_the_same_bytes(demo, demo_page, tmp_path):
    """In another process too, where sets and dicts of strings are ordered otherwise."""
    path = tmp_path / "r.html"
    command = [sys.executable, "-m", "deltableu", "report", str(demo), "-o", str(path)]
    command += DEMO
    environment = os.environ | {"PYTHONHASHSEED": "12345"}
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=True)
    assert done.stderr == f"deltableu: wrote {path}\n"
    assert path.read_bytes() == demo_page.read_bytes()


def test_another_seed_gives_another_page(run, demo, tmp_path):
    pages = []
    for seed in (1, 2):
        options = ["--seed", seed, "--metrics", "bleu", "--select", "all", "--changes", 0]
        run("report", demo, "-o", tmp_path / "r.html", *options)
        pages.append((tmp_path / "r.html").read_text())
    assert "|seed:1" in pages[0]
    assert "|seed:2" in pages[1]
    assert pages[0].replace("seed:1", "seed:2") != pages[1]


def test_text_from_the_study_is_shown_and_never_obeyed(trap_page, parse):
    text = trap_page.read_text()
    parsed = parse(trap_page)
    trap = "<script>alert('x')</script> & <b>bold</b> {{ 7 * 7 }}"
    assert parsed.blocks["h1"][0].startswith(trap)
    assert any(block.startswith(trap) for block in parsed.blocks["p"])
    assert "<script>alert" not in text
    assert "<img" not in text
    assert "<b>bold" not in text
    names = [row[0] for row in parsed.tables[0][1:]]
    assert "<img src=x onerror=alert(1)> & co" in names
    assert "{{ 7 * 7 }}" in names
    assert "naïve" in names
    assert set(names) <= {unescape(name).strip() for name in parsed.blocks["bdi"]}
    assert any("systems.<i>&" in block for block in parsed.blocks["li"])


@pytest.mark.parametrize("name", [r"$\frac{$", "_hidden", "[bold]x", "シ🙂", "نظام"])
def test_a_system_name_may_be_anything(name, run, small, tmp_path, parse):
    texts = {"one": "yes it is\nno\nit is 2\n", name: "a\nb\nc\n"}
    code, _, err = run("report", small(texts), "-o", tmp_path / "r.html")
    assert (code, err) == (0, f"deltableu: wrote {tmp_path}/r.html\n")
    assert name in parse(tmp_path / "r.html").blocks["bdi"]


def test_an_unrated_study_gets_a_page_without_weights(run, small, tmp_path, parse):
    code, _, _ = run("report", small(weights=False), "-o", tmp_path / "r.html")
    assert code == 0
    parsed = parse(tmp_path / "r.html")
    assert parsed.tables[0][0][1].startswith("bleu")
    assert "How the references were rated" not in parsed.blocks["summary"]


@pytest.mark.parametrize("baseline", [(), ("--baseline", "alone")], ids=str)
def test_a_single_system_gets_a_page(baseline, run, small, tmp_path, parse):
    study = small({"alone": "yes it is\n\nno\n"})
    code, _, _ = run("report", study, *baseline, "-o", tmp_path / "r.html")
    assert code == 0
    assert [row[0] for row in parse(tmp_path / "r.html").tables[0]] == ["system", "alone"]


@pytest.mark.parametrize("select", ["single,w>=0.6,all", "all"])
def test_the_page_says_how_many_items_were_left_out(select, run, small, tmp_path):
    study = small()
    text = (study / "items.jsonl").read_text().replace('"weight": 1.0', '"weight": 0.0', 1)
    (study / "items.jsonl").write_text(text)
    options = ["--select", select]
    code, _, _ = run("report", study, "-o", tmp_path / "r.html", *options)
    assert code == 0
    page = (tmp_path / "r.html").read_text()
    assert re.search(r"\b1 (of 3 )?items?\b[^<|]*(left out|without a positive)", page)
    assert "items:2|" in page


def test_problems_of_the_study_are_on_the_page(run, small, tmp_path, parse):
    study = small({"leak": "YES it is 0\nb\nc\n"})
    code, _, _ = run("report", study, "-o", tmp_path / "r.html")
    assert code == 0
    problems = parse(tmp_path / "r.html").blocks["li"]
    assert any("1 of 3 outputs equal a reference of origin original" in one for one in problems)


def test_metrics_tokenizer_and_choices_reach_the_page(run, small, tmp_path, parse):
    options = ["--metrics", "sentence-bleu, bleu", "--tokenize", "none"]
    options += ["--select", "single, all", "--examples", 0]
    code, _, err = run("report", small(), "-o", tmp_path / "r.html", *options)
    assert (code, err) == (0, f"deltableu: wrote {tmp_path}/r.html\n")
    parsed = parse(tmp_path / "r.html")
    assert [name.split("-")[0] for name in parsed.tables[0][0][1::2]] == ["sentence", "bleu"]
    signatures = parsed.blocks["code"]
    assert all("tok:none" in code for code in signatures)
    of_scores = [code for code in signatures if "|test:" not in code]
    assert len(of_scores) == 4
    # Of no system's BLEU on so few words is there an interval.
    assert ["|ci:jackknife-0.95|" in code for code in of_scores] == [True, False] * 2
    chosen = [[name.split(" ")[0] for name in table[0]] for table in parsed.tables]
    assert chosen.count(["system", "single", "all"]) == 2


@pytest.mark.parametrize(
    "options",
    [
        ["--metrics", "blue"],
        ["--metrics", ","],
        ["--tokenize", "klingon"],
        ["--select", "best"],
        ["--select", ""],
        ["--resamples", "5"],
        ["--seed", "-1"],
        ["--bogus"],
        ["--baseline", "nobody"],
        ["--systems", "nobody"],
        ["--bucket", "nothing"],
        ["--changes", "-1"],
        ["--confidence", "2"],
        ["--criterion", "overall"],
        ["--weights", "w.tsv"],
    ],
    ids=" ".join,
)
def test_an_option_that_cannot_be_used_leaves_no_page(options, run, small, tmp_path):
    folder = tmp_path / "pages"
    folder.mkdir()
    code, out, err = run("report", small(), "-o", folder / "r.html", *options)
    assert (code, out) == (2, "")
    assert err.startswith("deltableu: ")
    assert err.count("\n") == 1
    assert list(folder.iterdir()) == []


def test_a_threshold_on_an_unrated_study_is_refused(run, small, tmp_path):
    options = ["-o", tmp_path / "r.html", "--select", "w>=0.6"]
    code, out, err = run("report", small(weights=False), *options)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    assert not (tmp_path / "r.html").exists()


def test_items_are_named_when_a_page_cannot_be_made(run, small, tmp_path):
    study = small()
    lines = (study / "items.jsonl").read_text().splitlines()
    record = json.loads(lines[1])
    record["references"][1]["weight"] = None
    lines[1] = json.dumps(record)
    (study / "items.jsonl").write_text("\n".join(lines))
    code, _, err = run("report", study, "-o", tmp_path / "r.html")
    assert code == 2
    assert "item 'q1'" in err
    assert not (tmp_path / "r.html").exists()


def test_a_missing_extra_is_explained(run, small, tmp_path, monkeypatch):
    for name in [name for name in sys.modules if name.split(".")[0] == "jinja2"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "jinja2", None)
    code, out, err = run("report", small(), "-o", tmp_path / "r.html")
    assert (code, out) == (2, "")
    assert err == "deltableu: an HTML report needs jinja2: pip install 'deltableu[report]'\n"
    assert not (tmp_path / "r.html").exists()


def headings(parsed):
    return [heading.strip() for heading in parsed.blocks["h2"]]


def test_the_answer_comes_first_and_the_rest_is_folded(demo_page, parse):
    parsed = parse(demo_page)
    assert headings(parsed) == [
        "Difference from bland-neural",
        "Scores",
        "Does the metric agree with people?",
        "Examples",
        "Where metric and people disagree most",
        "Outputs that changed most",
        "Scores by kind of item",
        "How this was made",
    ]
    targets = {attributes.get("id") for _, attributes in parsed.tags}
    links = [attributes["href"] for tag, attributes in parsed.tags if tag == "a"]
    assert len(links) == 8
    assert all(link[1:] in targets for link in links)


def test_two_plain_files_get_a_page_with_the_first_as_baseline(run, tmp_path, parse):
    lines = {"r0": "yes it is", "r1": "no never", "old": "yes no", "new": "yes it is"}
    for name, text in lines.items():
        words = text.split()
        body = "".join(f"{text} {' '.join(words[: n % 3])}\n" for n in range(12))
        (tmp_path / f"{name}.txt").write_text(body)
    (tmp_path / "w.tsv").write_text("1\t-0.5\n" * 12)
    files = [tmp_path / f"{name}.txt" for name in ("old", "new", "r0", "r1")]
    arguments = (*files[:2], "--refs", *files[2:], "--weights", tmp_path / "w.tsv")
    code, _, err = run("report", *arguments, "-o", tmp_path / "r.html")
    assert (code, err) == (0, f"deltableu: wrote {tmp_path}/r.html\n")
    parsed = parse(tmp_path / "r.html")
    assert parsed.blocks["h1"] == ["old and new"]
    assert headings(parsed)[0] == "Difference from old"
    assert "Does the metric agree with people?" not in headings(parsed)
    code, _, err = run("report", *arguments, "--criterion", "x", "-o", tmp_path / "r.html")
    assert (code, err.count("\n")) == (2, 1)


def test_systems_can_be_chosen(run, demo, tmp_path, parse):
    options = ["--systems", "human", "retrieval", "random", "--baseline", "retrieval"]
    options += ["--metrics", "bleu", "--select", "all", "--changes", 0]
    code, _, _ = run("report", demo, *options, "-o", tmp_path / "r.html")
    assert code == 0
    parsed = parse(tmp_path / "r.html")
    assert {row[0] for row in parsed.tables[0][1:]} == {"human", "retrieval", "random"}
    assert "Outputs that changed most" not in headings(parsed)


def test_buckets_say_how_often_the_data_were_looked_at(demo_page, parse):
    parsed = parse(demo_page)
    assert any(
        re.search(r"These are \d+ looks at the same data", one) for one in parsed.blocks["p"]
    )
    assert "Domain" in parsed.blocks["h3"]


def test_remarks_name_files_of_the_study_wherever_it_is(run, demo, tmp_path):
    shutil.copytree(demo, study := tmp_path / "1456ade2" / "study")
    (first, *others) = (study / "outputs" / "human.jsonl").read_text().splitlines(keepends=True)
    message = json.loads((study / "items.jsonl").read_text().splitlines()[0])["message"]
    said = json.dumps({"id": json.loads(first)["id"], "text": message})
    (study / "outputs" / "human.jsonl").write_text("".join([said + "\n", *others]))
    code, _, _ = run("report", study, "-o", tmp_path / "page.html", "--metrics", "bleu-2")
    assert code == 0
    text = (tmp_path / "page.html").read_text()
    assert "</span> outputs/human.jsonl: 1 of" in text
    assert "1456ade2" not in text
