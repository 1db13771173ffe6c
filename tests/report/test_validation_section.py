"""What lies behind the agreement with people, on the page and as files."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from deltableu import read_study, validate_metrics
from deltableu.corpus import RatingTable, ScoreTable
from deltableu.rate import rater_consistency
from deltableu.report import methods_paragraph
from deltableu.report.validation_charts import (
    consistency_curve,
    density,
    heat_map,
    violin_chart,
)
from deltableu.validate import (
    Analyses,
    Validation,
    ValidationPlan,
    analyse_validation,
    quality_bins,
)


@pytest.fixture(scope="module")
def validation(demo: Path) -> Validation:
    plan = ValidationPlan(levels=("system", "pooled"), resamples=50)
    return validate_metrics(read_study(demo), metrics="signed-delta-bleu-2,bleu-2", plan=plan)


@pytest.fixture(scope="module")
def analyses(demo: Path, validation: Validation) -> Analyses:
    study = read_study(demo)
    return analyse_validation(validation, study, RatingTable.from_study(study), most=3)


def test_violins_lie_within_the_chart_and_hold_their_quartiles(analyses):
    for found in analyses.bins:
        chart = violin_chart(found)
        assert [one.name for one in chart.violins] == ["bad", "average", "good"]
        for one in chart.violins:
            points = [tuple(map(float, pair.split(","))) for pair in one.outline.split()]
            across = [x for x, _ in points]
            assert 0.0 <= min(across) <= one.low <= one.median <= one.high <= max(across) <= 100.0
            assert all(0.0 <= y <= 100.0 for _, y in points)


def test_a_bin_of_one_score_is_a_bar():
    people = ScoreTable.of({"people": {"A": [1, 1, 2, 3, 4]}})
    metric = ScoreTable.of({"m": {"A": [0, 0, 1, 2, 2]}})
    chart = violin_chart(quality_bins(metric, people)[0])
    assert chart.violins[0].outline.count(" ") == 3


@pytest.mark.parametrize("size", [2, 30, 20_000])
def test_densities_sum_to_one(size):
    scores = np.sort(np.random.default_rng(1).gamma(2.0, size=size))
    low, high = scores[0], scores[-1]
    heights = density(scores, low, high)
    assert (heights >= 0.0).all()
    total = np.trapezoid(heights, np.linspace(0, 244, len(heights)))
    assert total == pytest.approx(size, rel=0.03)


def test_the_map_of_tests_fills_what_is_significant(validation):
    comparison = next(one for one in validation.comparisons if one.level == "pooled")
    found = heat_map(comparison)
    for row, (_, _, cells) in enumerate(found.rows):
        for column, cell in enumerate(cells):
            if cell is not None:
                assert row < column
                assert cell.significant == (comparison.adjusted[row, column] < 0.05)
    # Six systems cannot rank metrics: there is nothing to draw.
    few = next(one for one in validation.comparisons if one.level == "system")
    assert heat_map(few) is None or not few.unranked


def test_the_curve_of_consistency_stops_at_the_half():
    rng = np.random.default_rng(0)
    ratings = rng.normal(size=(50, 1)) + rng.normal(size=(50, 10))
    curve = consistency_curve(rater_consistency(ratings, 10))
    assert len(curve.dots) == 5
    assert consistency_curve(rater_consistency(ratings, 5)) is None


def test_the_methods_are_those_that_were_used(validation):
    text = methods_paragraph(validation)
    assert text.startswith("We compared metrics with the human scores of 6 systems on 68 items.")
    assert "18 raters judged 408 outputs" in text
    assert "standardised by rater as in Direct Assessment" in text
    assert "Pearson's r, Spearman's rho and Kendall's tau-b" in text
    assert "PERM-INPUT" in text
    assert validation.signature in text


def test_the_page_shows_all_of_it(demo_page, parse):
    parsed = parse(demo_page)
    summaries = " ".join(parsed.blocks["summary"])
    for part in ("By type of system", "Every correlation", "Which metric agrees significantly"):
        assert part in summaries
    text = demo_page.read_text()
    assert text.count('class="violin"') >= 6
    assert "remarks on how far to trust this agreement" in text
    assert "We compared metrics with the human scores of" in text


def test_failure_cases_on_the_page_are_those_of_the_analysis(demo_page):
    text = re.sub(r"<[^>]+>", " ", demo_page.read_text())
    assert re.search(r"Good outputs, low scores\s+1 \. item\s+\w+", text)
    assert "Bad outputs, high scores" in text


# ----------------------------------------------------------------------------- files


def test_every_table_and_plot_is_a_file(run: Any, demo: Path, tmp_path: Path) -> None:
    page, folder = tmp_path / "r.html", tmp_path / "files"
    code, _, err = run("report", demo, "-o", page, "--files", folder, "--metrics", "bleu-2")
    assert code == 0
    tables = sorted(one.name for one in (folder / "tables").iterdir())
    plots = sorted(one.name for one in (folder / "plots").iterdir())
    assert f"wrote {len(tables) + len(plots)} files in {folder}" in err
    for name in ("scores", "agreement-pooled", "bins-bleu-2", "by-type", "cases", "facts"):
        for ending in ("tsv", "json", "tex"):
            assert f"{name}.{ending}" in tables
        assert json.loads((folder / "tables" / f"{name}.json").read_text())
        assert "\\begin{tabular}" in (folder / "tables" / f"{name}.tex").read_text()
    for name in ("differences", "agreement", "scatter-systems", "bins", "by-type"):
        assert (folder / "plots" / f"{name}.pdf").read_bytes().startswith(b"%PDF")
        assert b"<svg" in (folder / "plots" / f"{name}.svg").read_bytes()
    # A second run replaces the first, byte for byte the same.
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    assert run("report", demo, "-o", page, "--files", folder, "--metrics", "bleu-2")[0] == 0
    assert before == {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_a_folder_with_anything_else_is_left_alone(run: Any, demo: Path, tmp_path: Path) -> None:
    folder = tmp_path / "files"
    (folder / "tables").mkdir(parents=True)
    (folder / "tables" / "mine.docx").write_text("mine")
    code, _, err = run("report", demo, "-o", tmp_path / "r.html", "--files", folder)
    assert code == 2
    assert "is not replaced, because it holds more than the files of a report" in err
    assert "tables/mine.docx" in err
    assert not (tmp_path / "r.html").exists()
    assert [path.name for path in folder.rglob("*")] == ["tables", "mine.docx"]


def test_files_do_not_go_into_the_study(run: Any, demo: Path, tmp_path: Path) -> None:
    code, _, err = run("report", demo, "-o", tmp_path / "r.html", "--files", demo / "files")
    assert code == 2
    assert err.count("\n") == 1
    assert not (demo / "files").exists()


def test_sweeps_are_curves_on_the_page_and_files(
    run: Any, demo: Path, tmp_path: Path, parse
) -> None:
    page, folder = tmp_path / "r.html", tmp_path / "files"
    options = ("--sweep", "settings", "--metrics", "bleu-2", "--files", folder)
    assert run("report", demo, "-o", page, *options)[0] == 0
    parsed = parse(page)
    assert "Agreement on units of sentences" in [one.strip() for one in parsed.blocks["h2"]]
    _, *rows = next(one for one in parsed.tables if one[0][:2] == ["metric", "references"])
    assert {row[0] for row in rows} == {"bleu-2", "sentence-bleu-2", "delta-bleu-2"}
    kept = json.loads((folder / "tables" / "sweeps.json").read_text())
    spearman = [one for one in kept if one["method"] == "spearman"]
    values = {(one["metric"], one["setting"]): one["value"] for one in spearman}
    for metric, setting, cell, *_ in rows:
        assert float(cell.split()[0]) == pytest.approx(values[metric, setting], abs=5e-4)
    assert (folder / "plots" / "sweep-settings.pdf").read_bytes().startswith(b"%PDF")


def test_sweeps_need_ratings(run: Any, demo: Path, tmp_path: Path) -> None:
    page = tmp_path / "r.html"
    code, _, err = run("report", demo, "-o", page, "--sweep", "setings")
    assert (code, "did you mean 'settings'?" in err) == (2, True)
    assert not page.exists()
