"""A test of a translation system, as any project could have it."""

from pathlib import Path

from deltableu.testing import assert_not_worse

HERE = Path(__file__).parent


def test_v2_is_not_worse_than_v1() -> None:
    assert_not_worse(
        HERE / "outputs" / "v2.txt", HERE / "outputs" / "v1.txt", [HERE / "references.txt"]
    )
