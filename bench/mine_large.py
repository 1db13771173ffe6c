"""Mining for many items in a long log: processor time with the lists of terms, and without them.

`python -m bench.mine_large 29000000 log.tsv` takes so many pairs, and keeps the log there.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

from bench.logs import items, write_logs
from bench.score_speed import _peak, _reset_peak, _resident
from deltableu.mine import MiningPlan, mine_references, term_lists

__all__ = ["main"]

ITEMS, ROWS = 4_000, 2_000_000


def main(rows: int = ROWS, log: Path | None = None) -> None:
    """Print a line for each way, each measured in a process of its own, and the ratio."""
    print(
        f"mining for {ITEMS:,} items, {rows:,} pairs, product of two fields, processor time",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = log or Path(folder, "log.tsv")
        if not path.exists():
            write_logs(path, rows)
        seconds, found = zip(*(_measured(path, way) for way in ("all", "lists")), strict=True)
    same = "the same references" if found[0] == found[1] else "OTHER REFERENCES"
    print(f"ratio {seconds[1] / seconds[0]:.2f}, {same}")


def _measured(path: Path, way: str) -> tuple[float, str]:
    command = [sys.executable, "-m", "bench.mine_large", way, str(path)]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    line, seconds, found = done.stdout.splitlines()
    print(line, flush=True)
    return float(seconds), found


def _measure(path: str, way: str) -> None:
    wanted = items(ITEMS)
    if way == "all":
        term_lists.BESIDE = 0.0
    ends: dict[str, float] = {}
    before = _resident()
    _reset_peak()
    start = process_time()
    found = mine_references(
        wanted,
        path,
        plan=MiningPlan(),
        progress=lambda one: ends.__setitem__(one.stage, process_time() - start),
    )
    seconds = process_time() - start
    name = "all items added up" if way == "all" else "lists of terms"
    print(
        f"{name:18}: {seconds:6.1f} s ({ends['counting']:.1f} counting), "
        f"{_peak() - before:4.0f} MB more memory at the peak"
    )
    print(seconds)
    print(hashlib.sha256(repr(found.study.items).encode()).hexdigest())


if __name__ == "__main__":
    if sys.argv[1:2] in (["all"], ["lists"]):
        _measure(sys.argv[2], sys.argv[1])
    else:
        given = sys.argv[1:]
        main(int(given[0]) if given else ROWS, Path(given[1]) if len(given) > 1 else None)
