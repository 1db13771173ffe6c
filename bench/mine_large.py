"""Mining for many items in a long log: processor time with the lists of terms, and without them."""

from __future__ import annotations

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


def main(rows: int = ROWS) -> None:
    """Print a line for each way, each measured in a process of its own, and the ratio."""
    print(f"mining for {ITEMS:,} items, {rows:,} pairs, product of two fields, processor time")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "log.tsv")
        write_logs(path, rows)
        seconds, found = zip(*(_measured(path, way) for way in ("all", "lists")), strict=True)
    same = "the same references" if found[0] == found[1] else "OTHER REFERENCES"
    print(f"ratio {seconds[1] / seconds[0]:.2f}, {same}")


def _measured(path: Path, way: str) -> tuple[float, str]:
    command = [sys.executable, "-m", "bench.mine_large", str(path), way]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    line, seconds, found = done.stdout.splitlines()
    print(line)
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
    print(hash_of(found.study.items))


def hash_of(made: object) -> str:
    """Tells results apart."""
    import hashlib

    return hashlib.sha256(repr(made).encode()).hexdigest()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        _measure(sys.argv[1], sys.argv[2])
    else:
        main(*map(int, sys.argv[1:]))
