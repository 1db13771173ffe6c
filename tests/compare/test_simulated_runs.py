"""What docs/statistics.md says of several runs is what its table holds, and what is simulated."""

from __future__ import annotations

from pathlib import Path

import pytest

from simulations import runs

PAGE = Path(__file__).parents[2] / "docs" / "statistics.md"
SIZE, COVERAGE = 5, 8


def printed() -> list[list[str]]:
    page = PAGE.read_text(encoding="utf-8")
    block = page.partition("<!-- simulated runs -->")[2].partition("<!-- /simulated runs -->")[0]
    lines = [line for line in block.splitlines() if line.startswith("| ")]
    return [line.strip("| ").split(" | ") for line in lines[2:]]


def test_the_page_covers_every_cell():
    assert len(printed()) == len(runs.cells())


def test_the_test_holds_but_where_the_page_says():
    """Runs of one system vary and those of the other do not; nowhere else too often."""
    above = [line[1:4] for line in printed() if "above" in line[SIZE]]
    assert above == [["0.3 and 0", "0.7", "2"], ["0.3 and 0", "0.7", "3"]]
    below = [line[1:4] for line in printed() if "below" in line[COVERAGE]]
    assert below == above


def test_ignoring_runs_does_not_hold():
    lucky = [line for line in printed() if line[1] not in ("0", "0.02")]
    assert all("above" in line[SIZE + 1] and "above" in line[SIZE + 2] for line in lucky)


def test_a_few_replications():
    """Enough to see a test that ignores runs, and one that is broken."""
    cell = runs.Cell("delta-BLEU", (0.1, 0.1), 0.3, (3, 3))
    found = {
        (row.what, row.method): row.rate
        for _, row in runs.simulate(150, 0, chosen=[cell], processes=1)
    }
    assert found["size", "items and runs"] < 0.12
    assert found["size", "one run each"] > 0.25
    assert found["coverage", "items and runs"] > 0.88


@pytest.mark.long
def test_cells_are_as_printed():
    """To the last digit."""
    chosen = [runs.cells()[place] for place in (1, 14, 20)]
    lines = runs.table(runs.simulate(2000, 0, chosen=chosen)).splitlines()[2:]
    assert [line.strip("| ").split(" | ") for line in lines] == [printed()[k] for k in (1, 14, 20)]
