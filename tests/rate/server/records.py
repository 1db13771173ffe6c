"""What simulated raters sent and were told, held against what a database has."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import msgspec
from sqlalchemy import select

from bench.raters import Seen
from deltableu.rate import server
from deltableu.rate.server import schema


def check_kept(folder: Path, seen: Seen, *, beyond: int = 0) -> server.CampaignStatus:
    """Every answer that was confirmed is there exactly once, and nothing that nobody sent.

    Parameters
    ----------
    folder
        The campaign.
    seen
        What raters saw; their places are the numbers of raters, less one.
    beyond
        Most ratings over the number that is wanted.
    """
    campaign, database = server.open_database(folder)
    try:
        database.check()
        with database.reading() as connection:
            rows = list(connection.execute(select(schema.answers)))
        state = server.campaign_status(campaign, database, server.utc_now())
    finally:
        database.close()
    assert seen.wrong == []
    there = {row.key: row for row in rows}
    assert len(there) == len(rows)
    for key, sent in seen.sent.items():
        if sent.number is None:
            continue
        assert key in there, "a rating was confirmed, and is lost"
        row = there[key]
        assert (row.number, row.rater, row.task) == (sent.number, sent.rater + 1, sent.task)
        assert row.supersedes == sent.revises
        assert msgspec.json.decode(row.values) == sent.values
    assert there.keys() <= seen.sent.keys()
    superseded = {row.supersedes for row in rows}
    current = Counter((row.rater, row.task) for row in rows if row.number not in superseded)
    assert max(current.values()) == 1, "a rating is there twice"
    assert state.beyond <= beyond
    assert state.given + state.beyond == len(current)
    return state
