"""Killed, asked to end, or out of disk at any moment: finished work is kept, nothing else touched.

`python -m tests.kills SEED` runs a moment again.
"""

from __future__ import annotations

from pathlib import Path

import pytest

pytest.importorskip("torch")

from tests.kills.moments import Bench, Moment, can_mount


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"))


@pytest.fixture(scope="module")
def disks(tmp_path_factory: pytest.TempPathFactory) -> bool:
    return can_mount(tmp_path_factory.mktemp("disk"))


@pytest.mark.parametrize("seed", [0, 1, 4])
def test_some_moments(seed: int, bench: Bench, tmp_path: Path):
    Moment.of(seed, disks=False).run(bench, tmp_path / "case")


def test_full_disk(bench: Bench, disks: bool, tmp_path: Path):
    if not disks:
        pytest.skip("needs an account that may mount")
    job = Moment.of(0, disks=True).job
    Moment(4, job, "full disk").run(bench, tmp_path / "case")


@pytest.mark.long
def test_many_moments(bench: Bench, disks: bool, tmp_path: Path):
    for seed in range(200):
        Moment.of(seed, disks=disks).run(bench, tmp_path / "case")
    if not disks:
        pytest.skip("all but full disks, which need an account that may mount")
