"""The Python of the how-to pages prints what they say."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

HOW_TO = Path(__file__).parents[2] / "docs" / "how-to"


@pytest.mark.parametrize("page", ["compare.md", "validate.md"])
def test_examples(page):
    result = doctest.testfile(str(HOW_TO / page), module_relative=False)
    assert result.attempted > 0
    assert result.failed == 0
