"""How mining grows with the logs: rows per second and memory, from 0.1 to 10 million pairs."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from bench.logs import items, write_logs
from bench.score_speed import _peak, _reset_peak, _resident
from deltableu.mine import MiningPlan, mine_references

__all__ = ["main"]

ITEMS = 1_000
#: The same for all sizes: how much a thread has in hand depends on it.
_PARTITION = 16 << 20
SIZES = (100_000, 1_000_000, 10_000_000)


def main() -> None:
    """Print a line for each size, each measured in a process of its own."""
    print(f"growth of mining: {ITEMS:,} items, product of two fields, TSV on disk, all cores")
    with tempfile.TemporaryDirectory() as folder:
        for rows in SIZES:
            path = Path(folder, "log.tsv")
            write_logs(path, rows)
            subprocess.run(
                [sys.executable, "-m", "bench.mine_growth", str(path), str(rows)], check=True
            )


def _measure(path: str, rows: int) -> None:
    wanted = items(ITEMS)
    stages: dict[str, float] = {}
    before = _resident()
    _reset_peak()
    found = mine_references(
        wanted,
        path,
        plan=MiningPlan(),
        partition_bytes=_PARTITION,
        progress=lambda one: stages.__setitem__(one.stage, one.seconds),
    )
    seconds = sum(stages.values())
    print(
        f"{rows / 1e6:5.1f}M pairs, {Path(path).stat().st_size / 1e6:5,.0f} MB: "
        f"{seconds:6.1f} s ({stages['counting']:.1f} counting, {stages['scoring']:.1f} scoring), "
        f"{rows / seconds / 1e3:4.0f} thousand rows/s, "
        f"{_peak() - before:4.0f} MB more memory at the peak, "
        f"{found.added['mined']:,} references"
    )


if __name__ == "__main__":
    if len(sys.argv) > 1:
        _measure(sys.argv[1], int(sys.argv[2]))
    else:
        main()
