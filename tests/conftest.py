"""What all tests share: where the real data sets are, if they are there."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DATA = ROOT.parent / "shared" / "data"


@pytest.fixture(scope="session")
def data() -> Path:
    """The folder of real data sets; a clone has none."""
    if not DATA.is_dir():
        pytest.skip("the real data sets are not here")
    return DATA


@pytest.fixture(scope="session")
def demo() -> Path:
    """The demo study."""
    return ROOT / "examples" / "demo"
