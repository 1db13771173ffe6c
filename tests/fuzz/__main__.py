"""Run cases: `python -m tests.fuzz --cases 100000 --jobs 2`, or some: `python -m tests.fuzz 7`."""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.runs import run_many, run_one


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("seeds", nargs="*", type=int, help="cases to run and tell about")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--start", type=int, default=0, help="the first case")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--keep", metavar="FOLDER", help="leave the files of a case here")
    given = parser.parse_args()
    if given.seeds:
        failures = [one for seed in given.seeds for one in run_one(seed, given.keep)]
        for one in failures:
            print(f"{one.seed}: {one.signature}\n{one.details}\n")
        return 1 if failures else 0
    done = run_many(range(given.start, given.start + given.cases), given.jobs, tell=sys.stderr)
    print(done.summary())
    return 1 if done.failures else 0


if __name__ == "__main__":
    sys.exit(main())
