"""`deltableu explain --examples` and the examples of a report."""

from __future__ import annotations

import pytest

from tests.cli.test_upsilon import rater as rater  # a fixture

RATINGS = "rater,item,target,value,scale\n"


@pytest.fixture
def rated(study):
    rows = [f"ann,q{n},system:{name},{value},1-5\n" for n, name, value in SAID]
    study.file("ratings.csv", RATINGS + "".join(rows))
    return study


SAID = [(1, "sys", 2), (2, "sys", 5), (3, "sys", 3), (1, "other", 1), (2, "other", 1)]


def explain(succeeds, path, *options):
    return succeeds("explain", path, "--examples", *options)


def test_a_table_as_papers_have_it(succeeds, rated):
    lines = explain(succeeds, rated.path, 3).out.splitlines()
    assert lines[0] == "examples of sys, scores from 0 to 1"
    cells = [line.split() for line in lines]
    starts = [line[0] for line in cells if len(line) > 1 and line[1] == "message"]
    assert starts == ["q2", "q3", "q1"]
    assert ["original", "the", "cat", "sat", "on", "the", "mat", "+1"] in cells
    # 5 of 6 words and 3 of 5 bigrams; two more bigrams, of a reference of weight .5.
    assert ["bleu-2", "0.71"] in cells
    assert ["bleu-2-multi", "1.00"] in cells
    assert ["delta-bleu-2", "0.86"] in cells
    assert ["human", "0.25"] in cells
    assert any(line.startswith("items: all of 3 items by their ratings") for line in lines)
    assert lines[-1].startswith("sig: bleu-2 ")


def test_every_format_has_it(run, succeeds, rated, tmp_path):
    record = explain(succeeds, rated.path, 1, "--format", "json").json
    (one,) = record["examples"]
    assert (record["system"], one["item"], one["scores"]["human"]) == ("sys", "q3", 0.5)
    assert [ref["text"] for ref in one["others"]] == ["no clue , sorry"]
    header, *rows = explain(succeeds, rated.path, 1, "--format", "tsv").out.splitlines()
    assert header.split("\t") == ["system", "item", "part", "id", "text", "value"]
    assert "sys\tq3\toriginal\tr0\tno idea\t0.6" in rows
    latex = explain(succeeds, rated.path, 2, "--format", "latex").out
    assert r"\begin{tabular}{llp{0.55\linewidth}r}" in latex
    assert latex.count(r"\midrule") == 2
    markdown = explain(succeeds, rated.path, 1, "--format", "markdown").out
    assert "| q3 | message | what of q3 ? |  |" in markdown
    page = tmp_path / "e.html"
    for again in range(2):
        result = run("explain", rated.path, "--examples", 1, "-o", page)
        assert (result.code, result.err) == (0, f"deltableu: wrote {page}\n"), again
    assert "rate serve CAMPAIGN" in page.read_text()
    for format in ("table", "json", "tsv", "csv", "latex", "markdown"):
        file = tmp_path / f"e.{format}"
        for again in range(2):  # its own file may be replaced
            options = ("--examples", 1, "--format", format, "-o", file)
            result = run("explain", rated.path, *options)
            assert (result.code, result.err, result.out) == (0, "", ""), again


def test_without_ratings_or_weights(succeeds, study, make_item):
    study.items(*(make_item(f"q{n}", ("yes , a cat", None), ("no", None)) for n in (1, 2, 3)))
    record = explain(succeeds, study.path, 1, "--format", "json", "--system", "sys").json
    assert list(record["examples"][0]["scores"]) == ["bleu-2", "bleu-2-multi"]
    assert "smooth:none" in record["signatures"]["bleu-2"]
    other = explain(succeeds, study.path, 1, "--metric", "bleu", "--order", 1, "--smooth", "exp")
    assert "bleu-1-multi" in other.out


def test_ratings_without_a_scale_are_left_out_with_a_remark(run, study):
    study.file("ratings.csv", "rater,item,target,value\nann,q1,system:sys,4\n")
    result = run("explain", study.path, "--examples", 1)
    assert (result.code, "human:" in result.out) == (0, False)
    assert "examples have no human scores" in result.err
    assert "has no scale" in result.err
    assert result.err.count("\n") == 1
    asked = run("explain", study.path, "--examples", 1, "--criterion", "overall")
    assert (asked.code, asked.out) == (2, "")


def test_criteria_are_chosen(run, succeeds, study):
    header = "rater,item,target,criterion,value,scale\n"
    rows = "ann,q1,system:sys,fluency,5,1-5\nann,q1,system:sys,relevance,1,1-5\n"
    study.file("ratings.csv", header + rows)
    for criterion, score in (("fluency", 1.0), ("relevance", 0.0)):
        options = (1, "--criterion", criterion, "--format", "json")
        (one,) = explain(succeeds, study.path, *options).json["examples"]
        assert one["scores"]["human"] == score
    assert "fluency, relevance" in run("explain", study.path, "--examples", 1).err


def test_a_judge_rates_the_references(succeeds, rated, rater):
    record = explain(succeeds, rated.path, 3, "--judge", rater, "--format", "json").json
    assert "|weights:overlap|" in record["signatures"]["upsilon-bleu-2"]
    first = next(one for one in record["examples"] if one["item"] == "q1")
    assert first["original"]["weight"] == 1.0
    # "a cat was on the mat" shares cat, on, the and mat of seven words.
    assert first["others"][0]["weight"] == pytest.approx(2 * 4 / 7 - 1)
    own = explain(succeeds, rated.path, 3, "--metric", "upsilon-bleu").out
    assert "upsilon-bleu-2: the same with the weights" in own


def test_items_without_a_positive_reference_are_left_out_if_asked(run, rated, make_item):
    good = [make_item(id, ("yes", 1.0)) for id in ("q1", "q3")]
    rated.items(good[0], make_item("q2", ("yes", -0.5)), good[1])
    refused = run("explain", rated.path, "--examples", 3)
    assert (refused.code, refused.out) == (2, "")
    result = run("explain", rated.path, "--examples", 3, "--no-positive", "skip")
    assert (result.code, "all of 2 items" in result.out) == (0, True)
    assert result.err == "deltableu: left out 1 of 3 items without a positive reference\n"


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--examples", 0], "--examples must be at least 1, got 0"),
        (["--examples", 2, "--worst", 1], "--worst and --examples exclude each other"),
        (["--examples", 2, "--against", "other"], "--against is of no use with --examples"),
        (["--examples", 2, "--system", "gone"], "there is no system 'gone'"),
        (["--examples", 2, "--metric", "chrf"], "examples have no scores of 'chrf'"),
        (["--examples", 2, "--metric", "bleu", "--judge", "x"], "--judge is for upsilon metrics"),
        (["--examples", 2, "--judge", "nobody"], "nobody"),
        (["--examples", 2, "--criterion", "x"], "the study has no ratings of outputs"),
        (["--examples", 2, "--html", "x.html"], "--html and --output exclude each other"),
        (["--system", "sys", "--format", "json"], "--format is of no use with an explanation"),
        (["--system", "sys", "--judge", "x"], "--judge is of no use with an explanation"),
        (["--worst", 2], "--system is missing"),
    ],
    ids=str,
)
def test_what_is_refused(options, said, complains, study):
    assert said in complains("explain", study.path, *options)


def test_a_report_shows_examples(run, rated, tmp_path):
    page, files = tmp_path / "r.html", tmp_path / "files"
    result = run("report", rated.path, "-o", page, "--files", files, "--metrics", "bleu-2")
    assert result.code == 0, result.err
    text = page.read_text()
    assert '<a href="#examples">Examples</a>' in text
    assert "Outputs of <bdi>sys</bdi>" in text
    assert text.count("rate new CAMPAIGN --study STUDY --what references") == 1
    assert text.count('class="change example"') == 3
    assert "q3\toriginal\tno idea\t0.6" in (files / "tables" / "examples.tsv").read_text()
    assert r"\linewidth" in (files / "tables" / "examples.tex").read_text()
    options = ("--metrics", "bleu-2", "--select", "all", "--examples", 0)
    assert run("report", rated.path, "-o", page, *options).code == 0
    assert 'class="change example"' not in page.read_text()
    # Where no example does, the chart of weights says how people can rate.
    assert page.read_text().count("rate new CAMPAIGN --study STUDY --what references") == 1


def test_a_report_shows_examples_with_the_weights_of_a_judge(run, rated, rater, tmp_path):
    page = tmp_path / "r.html"
    assert run("report", rated.path, "--judge", rater, "-o", page).code == 0
    assert "<dt>upsilon-bleu-2</dt>" in page.read_text()


def test_a_report_without_weights_has_no_examples(run, study, make_item, tmp_path):
    study.items(*(make_item(f"q{n}", ("yes , a cat", None), ("no", 0.5)) for n in (1, 2, 3)))
    page = tmp_path / "r.html"
    result = run("report", study.path, "--metrics", "bleu-2", "--select", "all", "-o", page)
    assert result.code == 0, result.err
    assert 'id="examples"' not in page.read_text()
