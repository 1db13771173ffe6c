"""Intervals of units and of accuracies, simulated with few studies."""

from __future__ import annotations

import re

import pytest
from scipy.stats import binom

from simulations import validate
from simulations.__main__ import SEED, VALIDATION_PAGE
from simulations.validate_accuracy import Accuracies
from simulations.validate_tables import PARTS, tables
from simulations.validate_units import Units


def rates(cell, studies: int) -> dict[tuple[str, str], int]:
    """Intervals that hold the truth, by method and target."""
    rows = validate.simulate(studies, SEED, chosen=[cell], processes=1)[cell]
    return {(row.method, row.target): round(row.rate * studies) for row in rows}


def test_few_studies_of_units():
    studies = 12
    found = rates(Units("strong", 4, 40, 10), studies)
    # One in ten thousand falls below by chance.
    least = int(binom.ppf(1e-4, studies, 0.95))
    for correlation in ("spearman", "kendall-b"):
        assert found["draws of items", correlation] >= least


@pytest.mark.long
def test_few_studies_of_dialogues():
    """Items of a dialogue taken one by one are too sure of themselves."""
    found = rates(Units("strong", 4, 100, 10, dialogues=True), 20)
    assert found["draws of dialogues", "spearman"] >= 15
    assert found["draws of items", "spearman"] <= found["draws of dialogues", "spearman"]


@pytest.mark.parametrize("labels", ["five-point", "good or bad"])
def test_few_studies_of_accuracies(labels):
    found = rates(Accuracies(labels, 0.5, 40), 12)
    for method in ("acc-eq", "acc-eq-by-system", "auc"):
        assert found.get((method, "over all items"), 12) >= 8


def test_names_of_cells_differ():
    cells = [cell for name in ("units", "accuracies") for cell in PARTS[name]()]
    assert len({(cell.data, cell.relation, cell.n) for cell in cells}) == len(cells)
    one = PARTS["accuracies"]()[-1]
    found = tables(validate.simulate(1, SEED, chosen=[one], processes=1))
    assert list(found) == ["validated accuracies"]


def printed(name: str) -> list[dict[str, str]]:
    """The lines of a table of the page."""
    page = VALIDATION_PAGE.read_text(encoding="utf-8")
    block = page.partition(f"<!-- validated {name} -->")[2].partition("<!-- /")[0]
    heading, _, *rest = (
        [cell.strip() for cell in line.strip("|").split("|")]
        for line in block.splitlines()
        if line.startswith("|")
    )
    return [dict(zip(heading, line, strict=True)) for line in rest]


def rate(cell: str) -> float:
    return float(re.sub(r"\*\*|above|below", "", cell))


def test_what_the_page_says_of_accuracies():
    lines = printed("accuracies")
    assert len(lines) == len(PARTS["accuracies"]())
    for method in ("acc-eq", "auc", "average-precision"):
        assert all(91.0 <= rate(line[method]) <= 97.5 for line in lines if line[method])
    noisy = [line for line in lines if line["metric"] == "noise 3" and line["pairwise-accuracy"]]
    assert [round(rate(line["pairwise-accuracy"])) for line in noisy] == [66, 85]


def test_what_the_page_says_of_units():
    lines = printed("units")
    assert len(lines) == 2 * len(PARTS["units"]())
    whole = [line for line in lines if "dialogues" not in line["metric"]]
    drawn = [rate(line["draws of items"]) for line in whole if line["metric"] != "none"]
    assert min(drawn) >= 91.5
    assert max(drawn) <= 98.5
    assert all(
        89.5 <= rate(line["draws of items"]) <= 90 for line in whole if line["metric"] == "none"
    )
    dialogues = [line for line in lines if line["draws of dialogues"]]
    assert {round(rate(line["draws of dialogues"])) for line in dialogues} == {94}
    one_by_one = [rate(line["draws of items"]) for line in dialogues]
    assert (round(min(one_by_one)), round(max(one_by_one))) == (82, 94)
    papers = [rate(line["Fisher, N = 2 units"]) for line in lines if "spear" in line["correlation"]]
    assert (round(min(papers)), round(max(papers))) == (64, 83)
