"""Databases for tests of the rating server: SQLite, and a PostgreSQL that is started for them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

pytest.importorskip("fastapi")
pytest.importorskip("httpx")

from deltableu.rate.server import service
from tests.rate.server.kit import Postgres


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """A PostgreSQL, as long as the tests run; pytest's own folders are closed to its user."""
    with TemporaryDirectory() as place:
        found = Postgres(Path(place))
        yield found
        found.stop()


@pytest.fixture(params=["sqlite", "postgresql"])
def address(request: pytest.FixtureRequest) -> str:
    """Where a campaign keeps answers: empty is a file in its folder."""
    if request.param == "sqlite":
        return ""
    found: Postgres = request.getfixturevalue("postgres")
    return found.new_place()


@pytest.fixture(autouse=True)
def quick_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let servers in this process see at once what others change."""
    monkeypatch.setattr(service, "_LOOK", 0.05)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where a campaign goes."""
    return tmp_path / "campaign"
