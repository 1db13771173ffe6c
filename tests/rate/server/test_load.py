"""Two hundred raters at a time: nothing is lost, nothing doubled, nothing rated too often."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.raters import Plan, rate
from deltableu.rate import server
from tests.rate.server.kit import Postgres, ServerProcess, make_campaign, small_study
from tests.rate.server.records import check_kept

RATERS, PER_ITEM = 200, 5


def run(folder: Path, ratings: int, address: str = "") -> None:
    """Let all rate until nothing is left, changing some answers and sending some twice."""
    study = small_study(ratings // PER_ITEM // 2, ())
    names = server.random_names(RATERS)
    new = make_campaign(folder, address, study=study, raters=names, per_item=PER_ITEM)
    assert new.wanted == ratings
    tokens = [link.token for link in new.links]
    with ServerProcess(folder) as process:
        seen = rate(Plan(process.address, tokens, revise=0.02, repeat=0.02))
    assert set(seen.statuses) == {"200", "303"}
    state = check_kept(folder, seen)
    assert (state.given, state.complete) == (ratings, ratings // PER_ITEM)
    assert sum(one.revised for one in state.raters) > 0
    assert process.said == ""


def test_a_tenth_on_sqlite(folder: Path):
    run(folder, 2_000)


def test_a_tenth_on_postgresql(folder: Path, postgres: Postgres):
    run(folder, 500, postgres.new_database())


@pytest.mark.long
def test_all_on_sqlite(folder: Path):
    run(folder, 20_000)


@pytest.mark.long
def test_all_on_postgresql(folder: Path, postgres: Postgres):
    run(folder, 5_000, postgres.new_database())
