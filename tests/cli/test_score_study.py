"""`deltableu score STUDY`: the demo study in every format and with every option."""

from __future__ import annotations

import json
import os
import re
from itertools import pairwise

import pytest

import deltableu
from deltableu.score import metric_label

METRICS = "delta-bleu-2,bleu-2,sentence-bleu-2"
SYSTEMS = ["bland-neural", "careful-neural", "human", "phrase-smt", "random", "retrieval"]


@pytest.fixture(scope="session")
def texts(demo):
    """The demo's items and outputs, read without the package."""
    items = [json.loads(line) for line in (demo / "items.jsonl").read_text().splitlines()]
    outputs = {
        path.stem: [json.loads(line)["text"] for line in path.read_text().splitlines()]
        for path in sorted((demo / "outputs").glob("*.jsonl"))
    }
    assert list(outputs) == SYSTEMS
    return items, outputs


@pytest.fixture(scope="session")
def computed(texts):
    """Scores of the demo from the Python functions, by (system, metric)."""
    items, outputs = texts
    references = [[one["text"] for one in item["references"]] for item in items]
    weights = [[one["weight"] for one in item["references"]] for item in items]
    scores = {}
    for system, lines in outputs.items():
        scores[system, "delta-bleu-2"] = deltableu.delta_bleu(lines, references, weights)
        scores[system, "bleu-2"] = deltableu.bleu(lines, references, order=2)
        rows = deltableu.SentenceBLEU(order=2).compute(lines, references)
        scores[system, "sentence-bleu-2"] = rows.score()
    return scores


def cells_of(text):
    """The rows of a TSV or Markdown table as lists of cells, without emphasis."""
    for line in text.splitlines():
        if line.startswith("| "):
            yield [cell.strip().replace("**", "") for cell in line.strip("|").split("|")]
        elif "\t" in line and not line.startswith("#"):
            yield line.split("\t")


def assert_table(rows, computed, form=".2f"):
    header, *body = rows
    header = [name.removesuffix(" ↑").removesuffix(r" $\uparrow$") for name in header]
    assert header == ["system", *METRICS.split(",")]
    assert [row[0] for row in body] == SYSTEMS
    for system, *values in body:
        wanted = [f"{computed[system, metric].score:{form}}" for metric in header[1:]]
        assert values == wanted


def signature_of(name, computed):
    """The signature that the command prints, which knows that the weights came from the items."""
    signature = str(computed["human", name].signature)
    return signature.replace("weights:given", "weights:items")


def test_json_holds_unrounded_numbers_and_signatures(succeeds, demo, computed):
    records = succeeds("score", demo, "--metrics", METRICS, "--format", "json").json
    assert len(records) == 18
    assert {(record["system"], record["metric"]) for record in records} == computed.keys()
    for record in records:
        score = computed[record["system"], record["metric"]]
        assert record["score"] == score.score
        assert record["precisions"] == list(score.precisions)
        assert record["brevity_penalty"] == score.brevity_penalty
        assert record["segments"] == 68
        assert record["interval"] is None
        assert record["signature"] == signature_of(record["metric"], computed)


def test_tsv_parses_back(succeeds, demo, computed):
    out = succeeds("score", demo, "--metrics", METRICS, "--format", "tsv").out
    header, *rows = cells_of(out)
    assert header[:4] == ["system", "metric", "score", "low"]
    assert {(row[0], row[1]) for row in rows} == computed.keys()
    for row in rows:
        record = dict(zip(header, row, strict=True))
        score = computed[record["system"], record["metric"]]
        assert float(record["score"]) == score.score
        assert record["signature"] == signature_of(record["metric"], computed)
    assert len(out.splitlines()) == 1 + len(rows) == 19


def test_markdown_parses_back_and_marks_the_best(succeeds, demo, computed):
    out = succeeds("score", demo, "--metrics", METRICS, "--format", "markdown", "--signatures").out
    header, marks, *body = cells_of(out)
    assert marks == ["---", "---:", "---:", "---:"]
    assert_table([header, *body], computed)
    best = [line for line in out.splitlines() if "**" in line]
    (human,) = best
    assert human.startswith("| human |")
    assert human.count("**") == 6
    for name in METRICS.split(","):
        assert f"`{name}: {signature_of(name, computed)}`" in out


def test_latex_is_a_booktabs_table(succeeds, demo, computed):
    out = succeeds("score", demo, "--metrics", METRICS, "--format", "latex", "--signatures").out
    lines = out.splitlines()
    assert lines[:2] == [r"\begin{tabular}{lrrr}", r"\toprule"]
    assert lines[3] == r"\midrule"
    assert lines[10:12] == [r"\bottomrule", r"\end{tabular}"]
    rows = [lines[2], *lines[4:10]]
    assert all(row.endswith(r" \\") for row in rows)
    cells = [re.sub(r"\\textbf\{(.*?)\}", r"\1", row)[:-3].split(" & ") for row in rows]
    assert_table(cells, computed)
    assert sum(r"\textbf" in row for row in rows) == 1
    names = METRICS.split(",")
    assert lines[12:] == [f"% {name}: {signature_of(name, computed)}" for name in names]


def test_the_table_for_people_shows_scores_and_signatures(succeeds, demo, computed):
    out = succeeds("score", demo, "--metrics", METRICS, "--signatures").out
    lines = [line.replace(" ↑", "").split() for line in out.splitlines() if line.strip()]
    assert "\x1b" not in out
    assert_table([lines[0], *lines[2:8]], computed)
    for name in METRICS.split(","):
        assert [f"{name}:", signature_of(name, computed)] in lines


ODD = ["a_b&c%", "x|y", "{m}^~", "#1 $5", "b\\c", "ünïcode-系统"]
ESCAPED = {
    "latex": [
        r"a\_b\&c\%",
        r"x\textbar{}y",
        r"\{m\}\textasciicircum{}\textasciitilde{}",
        r"\#1 \$5",
        r"b\textbackslash{}c",
        "ünïcode-系统",
    ],
    "tsv": ODD,
    "markdown": ["a_b&c%", r"x\|y", r"{m}^\~", *ODD[3:]],
    "json": ODD,
    "table": ODD,
}


@pytest.mark.parametrize("format", ESCAPED)
def test_odd_names_survive(format, succeeds, study):
    (study.path / "outputs" / "other.jsonl").unlink()
    (study.path / "outputs" / "sys.jsonl").unlink()
    for name in ODD:
        study.file(f"outputs/{name}.txt", "a cat\nyes\nno\n")
    out = succeeds("score", study.path, "--format", format, "--metrics", "bleu").out
    if format == "json":
        shown = [record["system"] for record in json.loads(out)]
    elif format == "latex":
        shown = [line.split(" & ")[0] for line in out.splitlines() if line.endswith(r"\\")][1:]
    elif format == "table":
        shown = [re.split(r"\s{2,}", line.strip())[0] for line in out.splitlines()[2:8]]
    elif format == "tsv":
        shown = [line.split("\t")[0] for line in out.splitlines()[1:7]]
    else:
        shown = [line.removeprefix("| ").split(" | ")[0] for line in out.splitlines()[2:8]]
    assert sorted(shown) == sorted(ESCAPED[format])


@pytest.mark.parametrize("format", ["json", "tsv", "latex", "markdown", "table"])
@pytest.mark.parametrize(
    ("extra", "interval"),
    [
        ([], None),
        (["--segments"], None),
        (["--ci"], "ci:jackknife-0.95"),
        (
            ["--ci", "--interval", "percentile", "--resamples", "20"],
            "ci:percentile-20-0.95-seed0",
        ),
    ],
)
def test_no_format_leaves_out_the_signatures(format, extra, interval, succeeds, demo):
    command = ("score", demo, "--format", format, "--systems", "human", *extra)
    if format == "tsv" and extra == ["--segments"]:
        return  # a row for each segment has no room for it
    if format in ("latex", "markdown", "table"):
        short = succeeds(*command).out
        assert "|version:" not in short
        assert re.search(r"sig: \S+ [0-9a-f]{8}, \S+ [0-9a-f]{8} \(in full with", short)
        command += ("--signatures",)
    out = succeeds(*command).out
    assert "metric:delta-bleu|order:2|variant:paper|" in out
    assert "metric:bleu|order:2|" in out
    assert out.count("|version:") == 2
    assert out.count("|ci:") == (0 if interval is None else 2)
    assert interval is None or out.count(f"|{interval}|") == 2


@pytest.mark.parametrize("metric", ["delta-bleu", "bleu", "sentence-bleu"])
def test_segment_scores_are_those_of_the_rows(metric, succeeds, demo, texts):
    items, outputs = texts
    references = [[one["text"] for one in item["references"]] for item in items]
    weights = [[one["weight"] for one in item["references"]] for item in items]
    classes = {"delta-bleu": deltableu.DeltaBLEU, "bleu": deltableu.BLEU}
    rows = classes.get(metric, deltableu.SentenceBLEU)().compute(
        outputs["human"], references, weights
    )
    arguments = ["score", demo, "--metrics", metric, "--systems", "human", "--segments"]
    expected = dict(zip([i["id"] for i in items], rows.segment_scores().tolist(), strict=True))
    (record,) = succeeds(*arguments, "--format", "json").json
    assert record["segment_scores"] == expected
    header, *body = cells_of(succeeds(*arguments, "--format", "tsv").out)
    assert header == ["system", "metric", "item", "score"]
    assert body == [
        ["human", metric_label(metric), item, repr(value)] for item, value in expected.items()
    ]
    _, _, *body = cells_of(succeeds(*arguments, "--format", "markdown", "--digits", "3").out)
    assert body == [
        ["human", metric_label(metric), item, f"{value:.3f}"] for item, value in expected.items()
    ]


def test_segments_list_every_system_metric_and_item(succeeds, demo):
    rows = list(cells_of(succeeds("score", demo, "--segments", "--format", "markdown").out))
    assert len({tuple(row[:3]) for row in rows[2:]}) == len(rows[2:]) == 6 * 2 * 68


#: What is said of the demo's scores that have no interval.
CLAMPED = (
    "deltableu: no interval for delta-bleu-2 of phrase-smt: the score is clamped, "
    "because the matches of some order sum to nothing or less\n"
)


def intervals(records):
    return [record["interval"] for record in records]


@pytest.mark.parametrize("method", ["percentile", "bca"])
def test_intervals_are_repeatable_and_depend_on_the_seed(method, run, demo):
    arguments = ["score", demo, "--ci", "--interval", method, "--resamples", "200"]
    arguments += ["--metrics", METRICS, "--format", "json"]
    results = [run(*arguments, "--seed", seed) for seed in (7, 7, 8)]
    assert {(result.code, result.err) for result in results} == {(0, CLAMPED)}
    first, again, other = (result.json for result in results)
    assert first == again
    assert [r["score"] for r in first] == [r["score"] for r in other]
    for one, two in zip(first, other, strict=True):
        if (one["metric"], one["system"]) == ("delta-bleu-2", "phrase-smt"):
            assert (one["interval"], two["interval"]) == (None, None)
            assert "|ci:" not in one["signature"]
            continue
        assert one["interval"] != two["interval"]
        assert one["interval"]["low"] < one["score"] < one["interval"]["high"]
        assert one["interval"]["confidence"] == 0.95
        assert method in one["interval"]["method"]
        assert f"ci:{method}-200-0.95-seed7" in one["signature"].split("|")
        assert f"ci:{method}-200-0.95-seed8" in two["signature"].split("|")


def test_both_interval_methods_differ_and_equal_those_of_python(succeeds, demo, texts):
    items, outputs = texts
    references = [[one["text"] for one in item["references"]] for item in items]
    found = {}
    for method in ("percentile", "bca"):
        arguments = ["--systems", "human", "--metrics", "bleu", "--format", "json", "--seed", "3"]
        arguments += ["--ci", "--interval", method, "--resamples", "150"]
        (record,) = succeeds("score", demo, *arguments).json
        score = deltableu.bleu(outputs["human"], references, interval=method, resamples=150, rng=3)
        found[method] = (record["interval"]["low"], record["interval"]["high"])
        assert found[method] == (score.interval.low, score.interval.high)
    assert found["percentile"] != found["bca"]


def test_a_higher_level_gives_wider_intervals(succeeds, demo):
    arguments = ["score", demo, "--systems", "human", "--ci", "--format", "json", "--confidence"]
    wide, narrow = (intervals(succeeds(*arguments, level).json) for level in (0.99, 0.5))
    for outer, inner in zip(wide, narrow, strict=True):
        assert (outer["confidence"], inner["confidence"]) == (0.99, 0.5)
        assert outer["low"] < inner["low"] < inner["high"] < outer["high"]


@pytest.mark.parametrize("format", ["markdown", "table", "latex"])
def test_tables_show_intervals_beside_scores(format, succeeds, demo):
    arguments = ["score", demo, "--systems", "human", "--metrics", "bleu", "--ci"]
    (record,) = succeeds(*arguments, "--format", "json").json
    low, high = record["interval"]["low"], record["interval"]["high"]
    out = succeeds(*arguments, "--format", format).out
    shown = f"[{low:.2f}, {high:.2f}]"
    small = f"{{\\small {shown}}}" if format == "latex" else shown
    if format == "table":  # where ends have columns of their own
        small = f" {low:.2f}  {high:.2f}"
    assert f"{record['score']:.2f} {small}" in out


def test_tsv_has_a_column_for_each_end_of_an_interval(succeeds, demo):
    arguments = ["score", demo, "--systems", "human", "--metrics", "bleu", "--ci"]
    (record,) = succeeds(*arguments, "--format", "json").json
    header, row = cells_of(succeeds(*arguments, "--format", "tsv").out)
    assert header[2:6] == ["score", "low", "high", "confidence"]
    ends = [record["interval"]["low"], record["interval"]["high"]]
    assert [float(cell) for cell in row[2:6]] == [record["score"], *ends, 0.95]


def chosen(item, select):
    """The references of an item under a setting of the paper, told from the raw record."""
    if select == "single":
        return [one for one in item["references"] if one["origin"] == "original"]
    if select == "w>=0.6":
        return [o for o in item["references"] if o["origin"] == "original" or o["weight"] >= 0.6]
    return item["references"]


@pytest.mark.parametrize("select", ["single", "w>=0.6", "all"])
def test_select_narrows_the_references(select, succeeds, demo, texts):
    items, outputs = texts
    kept = [chosen(item, select) for item in items]
    references = [[one["text"] for one in row] for row in kept]
    weights = [[one["weight"] for one in row] for row in kept]
    sizes = [len(row) for row in references]
    span = f"{min(sizes)}-{max(sizes)}" if len(set(sizes)) > 1 else f"{sizes[0]}"
    records = succeeds("score", demo, "--select", select, "--format", "json").json
    assert len(records) == 12
    for record in records:
        lines = outputs[record["system"]]
        if record["metric"] == "bleu-2":
            expected = deltableu.bleu(lines, references, order=2)
        else:
            expected = deltableu.delta_bleu(lines, references, weights)
        assert record["score"] == expected.score
        parts = record["signature"].split("|")
        assert f"select:{select}" in parts
        assert f"refs:{span}" in parts
        assert f"refhash:{expected.signature['refhash']}" in parts


@pytest.mark.parametrize("spelling", ["w >= 0.60", "w≥0.6", "w>=.6"])
def test_a_threshold_can_be_spelled_in_several_ways(spelling, succeeds, demo):
    arguments = ["score", demo, "--systems", "human", "--format", "json", "--select"]
    assert succeeds(*arguments, spelling).json == succeeds(*arguments, "w>=0.6").json


@pytest.fixture
def without_positive(study, make_item):
    """A study whose second item of three has no positive reference."""
    study.items(
        make_item("q1", ("the cat sat on the mat", 1.0)),
        make_item("q2", ("yes , of course", -0.8), ("yes", 0.0)),
        make_item("q3", ("no idea", 0.6)),
    )
    return study.path


def test_items_without_a_positive_reference_are_left_out_for_all_metrics(run, without_positive):
    arguments = ["--metrics", METRICS, "--no-positive", "skip", "--segments", "--format", "json"]
    result = run("score", without_positive, *arguments)
    assert result.code == 0
    assert result.err == "deltableu: left out 1 of 3 items without a positive reference\n"
    assert len(result.json) == 6
    hypotheses = ["the cat was on the mat", "no clue"]
    references = [["the cat sat on the mat"], ["no idea"]]
    expected = {
        "bleu-2": deltableu.bleu(hypotheses, references, order=2),
        "delta-bleu-2": deltableu.delta_bleu(hypotheses, references, [[1.0], [0.6]]),
        "sentence-bleu-2": deltableu.SentenceBLEU(order=2).compute(hypotheses, references).score(),
    }
    for record in result.json:
        assert list(record["segment_scores"]) == ["q1", "q3"]
        assert record["segments"] == 2
        assert "items:2" in record["signature"].split("|")
        if record["system"] == "sys":
            assert record["score"] == expected[record["metric"]].score


def test_nothing_is_said_when_nothing_is_left_out(succeeds, study):
    arguments = ["--format", "json"]
    skipped = succeeds("score", study.path, "--no-positive", "skip", *arguments)
    assert skipped == succeeds("score", study.path, *arguments)


@pytest.mark.parametrize("metric", [["delta-bleu", "--combine", "arithmetic"], ["bleu"]])
def test_skipping_leaves_items_out_also_of_metrics_that_could_score_them(
    run, without_positive, metric
):
    arguments = ["--metrics", *metric, "--format", "json"]
    strict = run("score", without_positive, *arguments)
    assert (strict.code, strict.err) == (0, "")
    skipped = run("score", without_positive, *arguments, "--no-positive", "skip")
    assert skipped.code == 0
    assert "left out" in skipped.err
    assert skipped.json[0]["segments"] < strict.json[0]["segments"]


def test_plain_bleu_does_not_mind_items_without_a_positive_reference(succeeds, without_positive):
    records = succeeds("score", without_positive, "--metrics", "bleu", "--format", "json").json
    assert [record["segments"] for record in records] == [3, 3]


def test_systems_are_chosen_in_the_order_given(succeeds, demo):
    arguments = ["--metrics", "bleu", "--format", "json"]
    every = {r["system"]: r for r in succeeds("score", demo, *arguments).json}
    some = succeeds("score", demo, "--systems", "random", "human", *arguments).json
    assert some == [every["random"], every["human"]]


def test_one_thread_computes_what_many_do(run, demo):
    arguments = ["score", demo, "--metrics", METRICS, "--ci", "--segments", "--format", "json"]
    assert run(*arguments, "--threads", "1") == run(*arguments)
    assert run(*arguments).code == 0


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_results_do_not_depend_on_threads_over_many_chunks(threads, succeeds, plain):
    for name in ("r0.txt", "r1.txt", "w.tsv", "sys.txt"):
        (plain / name).write_text((plain / name).read_text() * 1200)
    arguments = ["score", "sys.txt", "--refs", "r0.txt", "r1.txt", "--weights", "w.tsv"]
    arguments += ["--format", "json", "--segments"]
    assert succeeds(*arguments, "--threads", threads) == succeeds(*arguments)


@pytest.mark.parametrize("digits", [0, 1, 4, 9])
def test_digits_round_tables(digits, succeeds, demo, computed):
    arguments = ["--digits", digits, "--format", "markdown", "--metrics", METRICS]
    rows = list(cells_of(succeeds("score", demo, *arguments).out))
    assert_table([row for row in rows if "---" not in row], computed, f".{digits}f")


def test_digits_do_not_touch_json(succeeds, demo):
    arguments = ["score", demo, "--format", "json"]
    assert succeeds(*arguments, "--digits", "0") == succeeds(*arguments)


SETTINGS = [
    ("bleu", "--order 3", "order:3"),
    ("delta-bleu", "--order 3", "order:3"),
    ("sentence-bleu", "--order 3", "order:3"),
    ("bleu", "--tokenize none", "tok:none"),
    ("delta-bleu", "--tokenize intl", "tok:intl"),
    ("sentence-bleu", "--tokenize char", "tok:char"),
    ("bleu", "--tokenize zh", "tok:zh"),
    ("bleu", "--lowercase", "case:lower"),
    ("delta-bleu", "--lowercase", "case:lower"),
    ("sentence-bleu", "--lowercase", "case:lower"),
    ("bleu", "--normalize NFC", "norm:NFC"),
    ("delta-bleu", "--normalize NFKC", "norm:NFKC"),
    ("bleu", "--strip-punctuation", "punct:stripped"),
    ("delta-bleu", "--strip-punctuation", "punct:stripped"),
    ("delta-bleu", "--variant galley2019", "variant:galley2019|smooth:exp"),
    ("delta-bleu", "--variant tsuta2020", "variant:tsuta2020|smooth:none"),
    ("bleu", "--smooth none", "smooth:none"),
    ("bleu", "--smooth floor", "smooth:floor[0.1]"),
    ("bleu", "--smooth add-k", "smooth:add-k[1]"),
    ("delta-bleu", "--smooth exp", "smooth:exp"),
    ("delta-bleu", "--variant galley2019 --smooth none", "variant:galley2019|smooth:none"),
    ("bleu", "--smooth floor --smooth-value 0.5", "smooth:floor[0.5]"),
    ("delta-bleu", "--smooth add-k --smooth-value 2", "smooth:add-k[2]"),
    ("bleu", "--effective-order", "eff:yes"),
    ("delta-bleu", "--effective-order", "eff:yes"),
    ("bleu", "--combine arithmetic", "combine:arithmetic"),
    ("delta-bleu", "--combine arithmetic", "combine:arithmetic"),
    ("delta-bleu", "--brevity positive", "brevity:positive"),
    ("sentence-bleu", "--method moses", "method:moses"),
    ("sentence-bleu", "--method nakov", "method:nakov"),
    ("sentence-bleu", "--method nakov-cdec", "method:nakov-cdec"),
]
KEYWORDS = {"--smooth-value": float, "--order": int}


@pytest.mark.parametrize(("metric", "options", "parts"), SETTINGS, ids=lambda value: value)
def test_every_setting_reaches_its_metric(metric, options, parts, succeeds, demo, texts):
    items, outputs = texts
    arguments = ["--metrics", metric, "--systems", "phrase-smt", "--format", "json"]
    (default,) = succeeds("score", demo, *arguments).json
    (record,) = succeeds("score", demo, *arguments, *options.split()).json
    given = set(record["signature"].split("|"))
    assert set(parts.split("|")) <= given
    assert not set(parts.split("|")) <= set(default["signature"].split("|"))
    words = [*options.split(), "--"]
    keywords = {
        name.removeprefix("--").replace("-", "_"): True
        if value.startswith("--")
        else KEYWORDS.get(name, str)(value)
        for name, value in pairwise(words)
        if name.startswith("--") and name != "--"
    }
    references = [[one["text"] for one in item["references"]] for item in items]
    weights = [[one["weight"] for one in item["references"]] for item in items]
    classes = {"delta-bleu": deltableu.DeltaBLEU, "bleu": deltableu.BLEU}
    made = classes.get(metric, deltableu.SentenceBLEU)(**keywords)
    score = made.compute(outputs["phrase-smt"], references, weights).score()
    assert record["score"] == score.score
    assert record["precisions"] == list(score.precisions)


def test_a_setting_goes_only_to_the_metrics_that_have_it(run, demo):
    arguments = ["--metrics", METRICS, "--format", "json", "--systems", "human"]
    arguments += ["--method", "moses", "--variant", "tsuta2020"]
    result = run("score", demo, *arguments)
    assert result.err == (
        "deltableu: --variant is not heeded by bleu-2 and sentence-bleu-2; "
        "--method is not heeded by delta-bleu-2 and bleu-2\n"
    )
    delta, bleu, sentence = (one["signature"] for one in result.json)
    assert "variant:tsuta2020" in delta
    assert "variant" not in bleu + sentence
    assert "method:moses" in sentence
    assert "method" not in delta + bleu


@pytest.mark.parametrize("format", ["json", "tsv", "latex", "markdown", "table"])
@pytest.mark.parametrize("option", ["--output", "-o"])
def test_output_goes_to_the_file_alone(format, option, succeeds, demo, tmp_path):
    path = tmp_path / "scores"
    result = succeeds("score", demo, "--format", format, option, path)
    assert result.out == ""
    assert path.read_text() == succeeds("score", demo, "--format", format).out
    assert list(tmp_path.iterdir()) == [path]


OLD = '[{"system": "of an earlier run"}]'


def test_output_replaces_the_old_file_whole(succeeds, study, tmp_path):
    path = tmp_path / "scores.json"
    path.write_text(OLD)
    with open(path) as old:
        succeeds("score", study.path, "--format", "json", "-o", path)
        assert old.read() == OLD
    assert len(json.loads(path.read_text())) == 4


def test_an_interrupted_write_leaves_the_old_file(run, study, tmp_path, monkeypatch):
    folder = tmp_path / "results"
    folder.mkdir()
    path = folder / "scores.json"
    path.write_text(OLD)

    def interrupted(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", interrupted)
    result = run("score", study.path, "-o", path)
    assert (result.code, result.out) == (130, "")
    assert result.err == "deltableu: stopped by SIGINT\n"
    assert path.read_text() == OLD
    assert list(folder.iterdir()) == [path]


def test_an_error_does_not_touch_the_old_file(run, study, tmp_path, refusal):
    path = tmp_path / "scores.json"
    path.write_text("old")
    before = path.stat()
    refusal(run("score", study.path, "--tokenize", "klingon", "-o", path))
    assert path.read_text() == "old"
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_plain_study_folder_is_a_study_too(succeeds, plain):
    (plain / "w.tsv").rename(plain / "weights.tsv")
    (plain / "outputs").mkdir()
    (plain / "sys.txt").rename(plain / "outputs" / "sys.txt")
    records = succeeds("score", plain, "--format", "json").json
    assert [record["metric"] for record in records] == ["delta-bleu-2", "bleu-2"]


def test_an_unrated_study_is_scored_with_bleu(succeeds, study, make_item):
    study.items(*(make_item(id, ("yes", None)) for id in ("q1", "q2", "q3")))
    records = succeeds("score", study.path, "--format", "json").json
    assert {record["metric"] for record in records} == {"bleu-4"}
