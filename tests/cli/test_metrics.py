"""`deltableu metrics`, the newer metrics in `deltableu score`, and the how-to pages, as written."""

from __future__ import annotations

import doctest
import os
import re
import shlex
import tomllib
from pathlib import Path

import pytest

from deltableu.corpus import read_study, reference_set
from deltableu.score import Discriminative
from deltableu.score.registry import metric_names

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"
GROUP = "deltableu.metrics"
COLUMNS = ["metric", "what it is", "better", "needs", "range", "levels"]


# --- deltableu metrics ----------------------------------------------------------------------------


@pytest.fixture
def listed(succeeds):
    records = succeeds("metrics", "--format", "json").json
    return {record["metric"]: record for record in records}


def test_every_metric_is_listed_with_all_that_matters(listed):
    assert list(listed) == metric_names()
    for record in listed.values():
        assert list(record) == COLUMNS
        assert all(isinstance(value, str) and value for value in record.values())


@pytest.mark.parametrize(
    ("name", "range", "better", "needs"),
    [
        ("bleu", "0 to 100", "higher", "references"),
        ("delta-bleu", "-100 to 100", "higher", "references, weights"),
        ("chrf++", "0 to 100", "higher", "references"),
        ("ter", "0 to any", "lower", "references"),
        ("delta-ter", "-100 to 100", "higher", "references, weights"),
    ],
)
def test_what_is_said_of_a_metric(name, range, better, needs, listed):
    record = listed[name]
    assert (record["range"], record["better"], record["needs"]) == (range, better, needs)
    assert record["levels"] == "corpus, segment"


@pytest.mark.parametrize("format", ["table", "tsv", "markdown", "latex"])
def test_the_table_holds_the_same(format, listed, succeeds):
    out = succeeds("metrics", "--format", format).out
    split = {"tsv": "\t", "markdown": r"\s*\|\s*", "latex": r"\s*(?:&|\\\\)\s*", "table": r"\s{2,}"}
    rows = [
        [cell for cell in re.split(split[format], line.strip()) if cell]
        for line in out.splitlines()
    ]
    wanted = [list(record.values()) for record in listed.values()]
    assert [row for row in rows if row and row[0] in listed] == wanted
    assert COLUMNS in rows


# --- deltableu score ------------------------------------------------------------------------------


def test_discriminative_metrics_on_the_demo(succeeds, demo):
    names = "delta-chrf,delta-rouge-l"
    records = succeeds("score", demo, "--metrics", names, "--format", "json").json
    assert len(records) == 12
    study = read_study(demo, ratings=False)
    references = reference_set(study)
    for record in records:
        metric = Discriminative(record["metric"].removeprefix("delta-"))
        expected = metric.compute(study.outputs[record["system"]], references).score()
        assert record["score"] == expected.score
        assert record["signature"] == str(expected.signature)
        assert record["segments"] == 68


def test_the_pool_is_an_option(succeeds, demo):
    arguments = ["score", demo, "--metrics", "delta-chrf", "--systems", "human", "--format", "json"]
    (mean,), (best,) = (succeeds(*arguments, "--pool", pool).json for pool in ("mean", "best"))
    assert mean["score"] != best["score"]
    assert "|pool:mean|" in mean["signature"]
    assert "|pool:best|" in best["signature"]


def test_many_metrics_share_one_table(succeeds, demo):
    names = "bleu-4,chrf,chrf++,rouge-1,rouge-2,rouge-l,delta-chrf++"
    out = succeeds("score", demo, "--metrics", names, "--format", "tsv").out
    rows = [line.split("\t") for line in out.splitlines()]
    assert rows[0][:3] == ["system", "metric", "score"]
    assert {row[1] for row in rows[1:]} == set(names.split(","))


def test_the_lowest_ter_is_marked_as_the_best(succeeds, study):
    arguments = ["score", study.path, "--metrics", "ter,chrf"]
    records = succeeds(*arguments, "--format", "json").json
    ter = {one["system"]: one["score"] for one in records if one["metric"] == "ter"}
    chrf = {one["system"]: one["score"] for one in records if one["metric"] == "chrf"}
    rows = [
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in succeeds(*arguments, "--format", "markdown").out.splitlines()
        if line.startswith(("| sys |", "| other |"))
    ]
    marked = {row[0]: (row[1].startswith("**"), row[2].startswith("**")) for row in rows}
    assert marked == {
        system: (ter[system] == min(ter.values()), chrf[system] == max(chrf.values()))
        for system in ("sys", "other")
    }
    assert ter["sys"] != ter["other"]


def test_the_report_lists_the_lowest_ter_first(run, study, tmp_path):
    page = tmp_path / "page.html"
    result = run("report", study.path, "--metrics", "ter", "--output", page)
    assert result.code == 0
    records = run("score", study.path, "--metrics", "ter", "--format", "json").json
    best, worst = sorted(records, key=lambda record: record["score"])
    text = re.sub(r"<script.*?</script>", "", page.read_text(), flags=re.DOTALL)
    rows = re.findall(r"<tr.*?</tr>", text, flags=re.DOTALL)
    places = {
        record["system"]: next(
            at
            for at, row in enumerate(rows)
            if f"{record['score']:.2f}" in row and record["system"] in row
        )
        for record in records
    }
    assert places[best["system"]] < places[worst["system"]]


@pytest.fixture
def table(study, tmp_path):
    """Similarities for all pairs of `study`."""
    data = read_study(study.path, ratings=False)
    pairs = {
        (text, reference.text)
        for texts in data.outputs.values()
        for text, item in zip(texts, data.items, strict=True)
        for reference in item.references
    }
    rows = [f'"{h}","{r}",{len(h) % 5 / 5}\n' for h, r in sorted(pairs)]
    path = tmp_path / "t.csv"
    path.write_text("hypothesis,reference,score\n" + "".join(rows))
    return path


def test_similarities_from_a_table(succeeds, study, table):
    arguments = ["--metrics", "delta-table", "--table", table, "--segments", "--format", "json"]
    records = succeeds("score", study.path, *arguments).json
    (sys,) = (record for record in records if record["system"] == "sys")
    # Lengths 22, 3 and 7, against weights (1, .5), (.8) and (.6, -.4).
    expected = {"q1": 40 * 0.75, "q2": 60 * 0.8, "q3": 40 * (0.6 - 0.4)}
    assert sys["segment_scores"] == pytest.approx(expected)
    assert sys["score"] == pytest.approx(sum(expected.values()) / 3)


def test_similarities_from_a_table_can_be_compared(succeeds, study, table):
    arguments = ["--metrics", "delta-table", "--table", table, "--format", "json"]
    records = succeeds("compare", study.path, *arguments).json
    assert {record["metric"] for record in records} == {"delta-table"}


def test_a_table_without_a_pair_is_one_sentence(complains, study, table):
    kept = [line for line in table.read_text().splitlines() if not line.startswith('"yes"')]
    table.write_text("\n".join(kept) + "\n")
    said = complains("score", study.path, "--metrics", "delta-table", "--table", table)
    assert "'yes'" in said
    assert "'yes , of course'" in said


def test_similarities_from_vectors(succeeds, study, tmp_path):
    path = tmp_path / "vectors.txt"
    path.write_text("yes 1 0\nno 0 1\ncourse 1 0\nidea 1 1\n")
    arguments = ["score", study.path, "--metrics", "delta-vectors", "--vectors", path]
    records = succeeds(*arguments, "--segments", "--format", "json").json
    (other,) = (record["segment_scores"] for record in records if record["system"] == "other")
    # "no idea" lies at 67.5 degrees; "no clue , sorry" is "no", at 90.
    expected = 60 - 40 * 0.9238795325
    assert other == pytest.approx({"q1": 0, "q2": 80, "q3": expected})


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--metrics", "delta-table"], "--table"),
        (["--metrics", "delta-vectors"], "--vectors"),
        (["--metrics", "delta-table", "--table", "nowhere.csv"], "nowhere.csv"),
        (["--metrics", "delta-vectors", "--vectors", "nowhere.txt"], "nowhere.txt"),
        (["--metrics", "chrf", "--table", "t.csv"], "chrf has no setting 'table'"),
        (["--metrics", "chrf", "--pool", "best"], "no setting 'pool'"),
        (["--metrics", "delta-chfr"], "unknown metric 'delta-chfr'"),
        (["--metrics", "rouge-l", "--tokenize", "words"], "unknown tokenizer 'words'"),
    ],
)
def test_mistakes_are_one_sentence(options, said, complains, study):
    assert said in complains("score", study.path, *options)


def test_metrics_that_need_weights_say_so(complains, plain):
    said = complains("score", "sys.txt", "--refs", "r0.txt", "--metrics", "delta-chrf")
    assert said.startswith("delta-chrf needs a weight for every reference, and none")


# --- Metrics of other packages, and the pages that explain them -----------------------------------


def blocks(page, language):
    """The code blocks of a page in one language, in order."""
    text = (HOW_TO / page).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```$", text, flags=re.DOTALL | re.MULTILINE)


def install(folder, package, points):
    """What pip would leave behind, beside the module itself."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = [f"{name} = {value}\n" for name, value in points.items()]
    (info / "entry_points.txt").write_text("[deltableu.metrics]\n" + "".join(lines))


@pytest.fixture
def page_folder(tmp_path, demo, monkeypatch):
    """A folder to follow a page in, with the demo where the pages have it."""
    (tmp_path / "examples").mkdir()
    (tmp_path / "examples" / "demo").symlink_to(demo)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run_sessions(page, names):
    """Run the blocks that show a session; each must print what the page says."""
    sessions = [block for block in blocks(page, "python") if block.startswith(">>>")]
    assert sessions
    for number, session in enumerate(sessions):
        test = doctest.DocTestParser().get_doctest(session, names, page, f"{page} {number}", 0)
        said = []
        runner = doctest.DocTestRunner(verbose=False)
        runner.run(test, out=said.append, clear_globs=False)
        assert runner.failures == 0, "".join(said)
        names.update(test.globs)


def test_the_page_on_ones_own_metric(page_folder, process, monkeypatch):
    (module,) = (b for b in blocks("own-metric.md", "python") if not b.startswith(">>>"))
    assert len([line for line in module.splitlines() if line.strip()]) <= 20
    (page_folder / "word_recall.py").write_text(module)
    (toml,) = blocks("own-metric.md", "toml")
    install(page_folder, "word_recall", tomllib.loads(toml)["project"]["entry-points"][GROUP])
    (commands,) = blocks("own-metric.md", "sh")
    printed = []
    for command in commands.splitlines():
        name, *arguments = shlex.split(command)
        assert name == "deltableu"
        more = ["--signatures"] if arguments[0] == "score" else []
        result = process(*arguments, *more, PYTHONPATH=str(page_folder))
        assert result.code == 0
        assert result.err == "" or "no interval for bleu-4 of random: the score is" in result.err
        printed.append(result.out)
    listed, scores = printed
    (line,) = (line for line in listed.splitlines() if line.strip().startswith("word-recall"))
    assert re.split(r"\s{2,}", line.strip())[2:] == [
        "higher",
        "references",
        "0 to 100",
        "corpus, segment",
    ]
    assert {"system", "word-recall", "bleu-4", "low", "↑"} <= set(scores.splitlines()[0].split())
    assert "metric:word-recall|case:lower|items:68|" in scores
    monkeypatch.syspath_prepend(page_folder)
    run_sessions("own-metric.md", {})


def test_the_page_on_discriminative_metrics(page_folder, succeeds):
    run_sessions("discriminative.md", {})
    commands = [line for block in blocks("discriminative.md", "sh") for line in block.splitlines()]
    assert len(commands) == 3
    for command in commands:
        name, *arguments = shlex.split(command)
        assert name == "deltableu"
        out = succeeds(*arguments, "--signatures").out
        assert "metric:delta-" in out
        assert out.count("average:segments") == out.count("|version:")


def test_a_broken_metric_is_listed_with_its_reason(tmp_path, process, study):
    (tmp_path / "broken_metric.py").write_text("raise RuntimeError('there is no GPU')\n")
    install(tmp_path, "broken_metric", {"broken": "broken_metric:Metric"})
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    listing = process("metrics", "--format", "json", PYTHONPATH=path)
    assert (listing.code, listing.err) == (0, "")
    records = {record["metric"]: record for record in listing.json}
    assert set(records) == {*metric_names(), "broken"}
    assert "there is no GPU" in records["broken"]["what it is"]
    assert records["chrf"]["better"] == "higher"
    refused = process("score", str(study.path), "--metrics", "broken", PYTHONPATH=path)
    assert refused.code == 2
    said = "deltableu: the metric 'broken' cannot be loaded: there is no GPU\n"
    assert (refused.out, refused.err) == ("", said)
