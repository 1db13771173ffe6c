"""Public data sets, each by one command; the page shows what is printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from deltableu import read_study, score_systems, validate_metrics
from deltableu.corpus import check_study, reference_set
from deltableu.score import SentenceBLEU
from deltableu.validate import ValidationPlan
from reproduce.imports import BEGIN, DATA, END, IMPORTS, PAGE, run

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="the public data sets are not here")

SLOW = ("dstc7", "wmt21_da", "wmt18_19", "wmt17", "e2e_nlg", "webnlg2020", "multirefeval/dialogues")


@pytest.mark.parametrize(
    "name",
    [pytest.param(one, marks=pytest.mark.long) if one in SLOW else one for one in IMPORTS],
)
def test_a_set_is_a_study_after_one_command(name: str, tmp_path: Path):
    printed = run(name, tmp_path / "study")
    assert check_study(tmp_path / "study").errors == 0
    shown = PAGE.read_text(encoding="utf-8").split(BEGIN)[1].split(END)[0]
    table = "\n".join(line.rstrip() for line in printed.splitlines() if line.strip())
    command = f"deltableu import {IMPORTS[name][1]} -o study"
    assert f"{command}\n```\n\n```text elsewhere\n{table}\n" in shown


@pytest.mark.parametrize(
    ("name", "settings", "expected"),
    [
        pytest.param(
            "wmt17", {"order": 4, "tokenize": "none"}, {"pearson": 0.435}, marks=pytest.mark.long
        ),
        (
            "multirefeval",
            {"order": 2, "tokenize": "none"},
            {"pearson": 0.226, "spearman": 0.219, "kendall-b": 0.153},
        ),
        (
            "mlqe_multiref",
            {"order": 2},
            {"pearson": 0.520, "spearman": 0.522, "kendall-b": 0.361},
        ),
    ],
)
def test_its_figures_are_those_of_the_reproductions(name, settings, expected, tmp_path):
    """docs/reproductions.md has them from readers of its own."""
    run(name, tmp_path / "study")
    study = read_study(tmp_path / "study")
    metric = SentenceBLEU(method="moses", **settings)
    scoring = score_systems(reference_set(study), study.outputs, [metric])
    plan = ValidationPlan(levels=("pooled",), methods=tuple(expected), scale="raw", resamples=20)
    found = validate_metrics(scoring, study.ratings, plan=plan)
    for method, value in expected.items():
        agreement = found.agreement(metric.name, "pooled", method)
        assert agreement.value == pytest.approx(value, abs=0.001)
