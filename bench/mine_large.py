"""Mining for many items in a long log: processor time, memory, and the same of another version.

`python -m bench.mine_large 29000000 log.tsv` takes so many pairs, and keeps the log there;
`python -m bench.mine_large 29000000 log.tsv FOLDER` also measures the version whose sources, with
kernels compiled in place, are in that folder (`git worktree add FOLDER COMMIT`).
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import process_time

from bench.logs import items, write_logs
from bench.score_speed import _peak, _reset_peak, _resident
from deltableu.mine import MiningPlan, mine_references

__all__ = ["main"]

ITEMS, ROWS = 4_000, 2_000_000
_ROOT = Path(__file__).parents[1]


def main(rows: int = ROWS, log: Path | None = None, other: Path | None = None) -> None:
    """Print a line for each version, measured in a process of its own, and the ratio."""
    print(
        f"mining for {ITEMS:,} items, {rows:,} pairs, product of two fields, processor time",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as folder:
        path = log or Path(folder, "log.tsv")
        if not path.exists():
            write_logs(path, rows)
        before = None if other is None else _measured(path, other, "before")
        seconds, found = _measured(path, _ROOT, "now")
    if before is not None:
        same = "the same references" if found == before[1] else "OTHER REFERENCES"
        print(f"ratio {seconds / before[0]:.2f}, {same}")


def _measured(path: Path, tree: Path, name: str) -> tuple[float, str]:
    command = [sys.executable, "-m", "bench.mine_large", "measure", str(path), name]
    paths = os.pathsep.join((str(tree.resolve() / "src"), str(_ROOT)))
    done = subprocess.run(
        command, check=True, capture_output=True, text=True, env=os.environ | {"PYTHONPATH": paths}
    )
    line, seconds, found = done.stdout.splitlines()
    print(line, flush=True)
    return float(seconds), found


def _measure(path: str, name: str) -> None:
    wanted = items(ITEMS)
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
    print(
        f"{name:6}: {seconds:6.1f} s ({ends['counting']:.1f} counting), "
        f"{_peak() - before:4.0f} MB more memory at the peak"
    )
    print(seconds)
    print(hashlib.sha256(repr(found.study.items).encode()).hexdigest())


if __name__ == "__main__":
    if sys.argv[1:2] == ["measure"]:
        _measure(sys.argv[2], sys.argv[3])
    else:
        given = sys.argv[1:]
        folders = [Path(one) for one in given[1:]]
        main(int(given[0]) if given else ROWS, *folders)
