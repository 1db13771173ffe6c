"""Interrupt jobs: `python -m tests.kills --moments 200`, or at some: `python -m tests.kills 7`."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from pathlib import Path

from tests.kills.moments import Bench, Moment, can_mount


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.kills", description=__doc__)
    parser.add_argument("seeds", nargs="*", type=int, help="moments to run")
    parser.add_argument("--moments", type=int, default=20)
    parser.add_argument("--start", type=int, default=0, help="the first moment")
    given = parser.parse_args()
    seeds = given.seeds or range(given.start, given.start + given.moments)
    failed, started = 0, time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        bench, disks = Bench(Path(folder) / "bench"), can_mount(Path(folder) / "disk")
        for seed in seeds:
            moment = Moment.of(seed, disks=disks)
            try:
                moment.run(bench, Path(folder) / "case")
            except AssertionError as error:
                failed += 1
                print(f"{moment.seed}: {moment.job.name}, {moment.what}\n{error}\n", flush=True)
    print(f"{len(seeds)} moments in {time.monotonic() - started:.0f} s, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
