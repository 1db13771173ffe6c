"""What newcomers do first, and the mistakes they make: each is answered with the way on."""

from __future__ import annotations

import json

import pytest

import deltableu
from deltableu.errors import InputError

OUTPUTS = {
    "good": ["make a curry with rice", "try a crime novel", "yes please", "at seven"],
    "dull": ["i do not know", "i do not know", "no", "i do not know"],
}
MESSAGES = ["what shall i cook ?", "which book ?", "tea ?", "when does it leave ?"]
ANSWERS = ["make a curry", "take a crime novel", "yes , please", "it leaves at seven"]


@pytest.fixture
def study(tmp_path):
    """Four items with one reference each, and two systems."""
    folder = tmp_path / "study"
    (folder / "outputs").mkdir(parents=True)
    items = [
        {"id": f"{number}", "message": message, "references": [answer]}
        for number, (message, answer) in enumerate(zip(MESSAGES, ANSWERS, strict=True), start=1)
    ]
    lines = "".join(json.dumps(item) + "\n" for item in items)
    (folder / "items.jsonl").write_text(lines)
    for name, texts in OUTPUTS.items():
        (folder / "outputs" / f"{name}.txt").write_text("\n".join(texts) + "\n")
    return folder


@pytest.fixture
def logs(tmp_path):
    """A few logged pairs."""
    path = tmp_path / "log.tsv"
    rows = [f"{text}\tanswer {number} to it" for number, text in enumerate(MESSAGES * 3)]
    path.write_text("utterance\tresponse\n" + "\n".join(rows) + "\n")
    return path


def said(result):
    """One line of what went to standard error."""
    return " ".join(result.err.split())


@pytest.fixture
def mined(run, study, logs, tmp_path):
    """The study with mined references that nobody rated."""
    assert run("mine", study, "--logs", logs, "--top", 2, "-o", tmp_path / "mined").code == 0
    return tmp_path / "mined"


@pytest.mark.parametrize("command", ["score", "compare"])
def test_references_that_nobody_rated_are_not_silently_good_ones(run, mined, command):
    result = run(command, mined, "--metrics", "bleu-2,chrf")
    assert result.code == 0
    assert "bleu-2, chrf take every reference for a good one" in said(result)
    assert "8 mined (--select single leaves them out)" in said(result)
    assert "every reference" not in said(run(command, mined, "--select", "single"))
    assert "every reference" not in said(run(command, mined, "--metrics", "soft-chrf"))


@pytest.fixture
def ratings(tmp_path):
    """What two people said of both systems, as a campaign exports it."""
    path = tmp_path / "exported.csv"
    rows = ["rater,item,target,criterion,value,scale,kind,pair,position,started,finished"]
    for rater, shift in (("ann", 0), ("bob", 1)):
        for item in "1234":
            for system, value in (("good", 4 + (int(item) + shift) % 2), ("dull", 1 + shift)):
                rows.append(f"{rater},{item},system:{system},overall,{value},1-5,item,,,,")
    path.write_text("\n".join(rows) + "\n")
    return path


VALIDATE = ("--metrics", "chrf", "--levels", "pooled", "--format", "json")


def test_exported_ratings_are_people_as_well_outside_a_study(run, study, ratings):
    beside = run("validate", study, "--human", ratings, *VALIDATE)
    (study / "ratings.csv").write_text(ratings.read_text())
    inside = run("validate", study, *VALIDATE)
    assert (beside.code, inside.code) == (0, 0)
    assert beside.json == inside.json
    by_values = run("validate", study, "--human", ratings, "--scale", "raw", *VALIDATE)
    assert by_values.code == 0
    assert by_values.json != beside.json


def test_exported_ratings_are_people_in_python_too(study, ratings):
    pandas = pytest.importorskip("pandas")
    frame = pandas.read_csv(ratings)  # its gaps are NaN
    assert frame["pair"].isna().all()
    found = deltableu.validate_metrics(study, metrics="chrf", human=frame)
    assert found.agreement("chrf", "pooled", "pearson").units == 8


def test_a_study_without_ratings_says_where_they_may_be(run, study):
    assert "--human ratings.csv" in said(run("validate", study, "--metrics", "chrf"))


@pytest.mark.parametrize(
    ("old", "new", "answer"),
    [
        (",4,", ",04,", "no such item; it has 1, 2, 3, 4; did you mean '4'?"),
        ("system:good", "system:goood", "no such system; it has dull, good; did you mean 'good'?"),
    ],
)
def test_ratings_of_something_else_are_told_what_there_is(run, study, ratings, old, new, answer):
    ratings.write_text(ratings.read_text().replace(old, new))
    result = run("validate", study, "--human", ratings, *VALIDATE)
    assert result.code == 2
    assert answer in said(result)


def test_people_who_call_items_otherwise_are_told_so(run, study, tmp_path):
    people = tmp_path / "people.csv"
    rows = [f"{system},doc{item},{item}" for system in OUTPUTS for item in range(4)]
    people.write_text("\n".join(["system,item,score", *rows]) + "\n")
    result = run("validate", study, "--human", people, *VALIDATE)
    assert result.code == 2
    assert "metrics call items 1, 2, 3, 4, people doc0, doc1, doc2, doc3" in said(result)


@pytest.mark.parametrize(
    ("name", "text", "answer"),
    [
        ("chat.jsonl", '{"turns": ["hi", "ho"]}\n', "deltableu logs pairs"),
        ("chat.jsonl", '{"messages": []}\n', "deltableu logs pairs"),
        ("posts.tsv", "id\tuser\ttext\n1\tann\thi\n", "deltableu logs pairs"),
        ("pairs.tsv", "utterence\tresponse\nhi\tho\n", "did you mean 'utterence'?"),
    ],
)
def test_logs_that_are_no_pairs_are_told_what_makes_them(run, study, tmp_path, name, text, answer):
    (tmp_path / name).write_text(text)
    result = run("mine", study, "--logs", tmp_path / name, "-o", tmp_path / "new")
    assert result.code == 2
    assert answer in said(result)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["mine", "STUDY", "--logs", "x"], "--output or -o is missing: deltableu mine --help"),
        (["plan", "compare", "STUDY"], "--systems is missing: deltableu plan compare --help"),
        (["mine"], "STUDY is missing"),
        (["explain", "STUDY", "--refs"], "Unknown option: --refs. All are in"),
        (["score", "STUDY", "--metric", "bleu"], "Did you mean --metrics?"),
        (
            ["score", "STUDY", "--metrics", "blue"],
            "'blue' (deltableu metrics lists all); did you mean 'bleu'?",
        ),
        (["score", "STUDY", "--metrics", "delta-bleu"], "rate the references (deltableu rate"),
    ],
)
def test_mistakes_on_the_command_line_lead_on(run, study, words, answer):
    result = run(*[study if word == "STUDY" else word for word in words])
    assert (result.code, result.out) == (2, "")
    assert answer in said(result)


def test_metrics_that_need_no_weights_do_not_say_so(run):
    needs = {one["metric"]: one["needs"] for one in run("metrics", "--format", "json").json}
    assert needs["soft-cosine"] == needs["scr"] == needs["bleu"] == "references"
    assert needs["delta-bleu"] == "references, weights"


@pytest.mark.parametrize(
    ("design", "answer"),
    [
        ('[logs]\nfile = "x.jsonl"\n[items]\nstudy = "study"\n', "did you mean 'files'?"),
        ('[logs]\nfiles = "x.jsonl"\n[items]\nstudy = "study"\n', "there is no file"),
    ],
)
def test_a_wrong_experiment_leaves_nothing_behind(run, study, tmp_path, design, answer):
    (tmp_path / "mine.toml").write_text(design)
    result = run("experiment", "run", tmp_path / "mine.toml")
    assert result.code == 2
    assert answer in said(result)
    assert not (tmp_path / "mine").exists()


ROWS = [
    {"id": number, "model": system, "output": texts[number], "gold": ANSWERS[number]}
    for system, texts in OUTPUTS.items()
    for number in range(4)
]
COLUMNS = {"item": "id", "system": "model", "prediction": "output", "references": "gold"}


@pytest.mark.parametrize(
    ("call", "answer"),
    [
        (lambda: deltableu.score_systems(OUTPUTS, ANSWERS), "given by their name: references="),
        (
            lambda: deltableu.score_systems(OUTPUTS, references=[ANSWERS, ANSWERS]),
            "it takes a list per item, such as list(zip(*references))",
        ),
        (
            lambda: deltableu.score_systems(
                OUTPUTS | {"short": ["a"]}, references=[[one] for one in ANSWERS]
            ),
            "system 'short': 1 hypotheses for 4 items",
        ),
        (
            lambda: deltableu.score_systems(ROWS, columns=COLUMNS | {"system": "modle"}),
            "no column 'modle' for system: there are 'id', 'model', 'output', 'gold'",
        ),
        (
            lambda: deltableu.score_systems(
                {name: [row[name] for row in ROWS] for name in ROWS[0]},
                columns=COLUMNS | {"system": "modle"},
            ),
            "did you mean 'model'?",
        ),
    ],
)
def test_mistakes_in_python_lead_on(call, answer):
    with pytest.raises(InputError) as told:
        call()
    assert answer in str(told.value)


def test_a_campaign_says_how_to_go_on(run, study, tmp_path):
    words = ("rate", "new", tmp_path / "asked", "--study", study, "--what", "outputs")
    first = run(*words)
    assert first.code == 0
    assert "nobody has a link yet: deltableu rate add" in said(first)
    assert "served by: deltableu rate serve" in said(first)
    again = run(*words)
    assert again.code == 2
    # There is no --replace here: answers are not thrown away.
    assert said(again).endswith("the folder is not empty: choose another one")
    mine = run("import", "text", "x", "--refs", "y", "-o", tmp_path / "asked")
    assert said(mine).endswith("or replace it (--replace)")


def test_a_report_of_three_files_is_called_by_their_names(run, tmp_path):
    for name in ("a", "b", "c", "r"):
        (tmp_path / f"{name}.txt").write_text(f"yes {name}\nno\n")
    files = [tmp_path / f"{name}.txt" for name in "abc"]
    page = tmp_path / "page.html"
    assert run("report", *files, "--refs", tmp_path / "r.txt", "-o", page).code == 0
    assert "<h1>a, b and c</h1>" in page.read_text()


def test_a_table_whose_outputs_are_not_known_says_so(run, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("question,model,reply,gold\nhi?,v1,yes,well\nho?,v1,no,fine\n")
    result = run("import", "table", table, "-o", tmp_path / "one")
    assert result.code == 0
    assert "names systems, but no column is known as their outputs" in said(result)
    assert "--columns prediction=NAME (kept in meta: reply)" in said(result)
    columns = ("--columns", "prediction=reply")
    assert "warning" not in said(run("import", "table", table, *columns, "-o", tmp_path / "two"))


def test_a_relevance_model_of_few_pairs_says_so(run, logs, tmp_path):
    pytest.importorskip("wordllama")
    model = tmp_path / "few.safetensors"
    result = run("judge", "train", logs, "--kind", "relevance", "-o", model)
    assert result.code == 0
    assert "12 pairs are no more than the numbers of their vectors (2 x 256)" in said(result)
