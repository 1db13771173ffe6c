"""`python -m simulations`: simulates everything and writes the tables of docs/statistics.md."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

from deltableu.corpus import atomic_write
from simulations import compare, families
from simulations.replications import Progress
from simulations.tables import Row, band, pivot, replace_block

PAGE = Path(__file__).parents[1] / "docs" / "statistics.md"
REPLICATIONS = 2000
SEED = 0


def blocks(
    replications: int, seed: int = SEED, *, progress: Progress | None = None
) -> dict[str, str]:
    """The tables by the names of their places in the page."""
    rows = compare.simulate(replications, seed, progress=progress)
    sizes = [row for row in rows if row.what == "size"]
    exact = [row for row in sizes if row.method == "permutation"]
    covered = [row for row in rows if row.what == "coverage"]
    made = {
        "simulated tests": pivot([row for row in sizes if row not in exact], compare.TESTS),
        "simulated exact tests": pivot(exact, compare.TESTS),
        "simulated intervals": pivot(covered, compare.INTERVALS),
        "simulated families": pivot(families.simulate(replications, seed), families.CORRECTIONS),
    }
    # Uncertainty of the weights has a simulation of its own.
    if find_spec("simulations.raters") is not None:
        found: list[Row] = import_module("simulations.raters").simulate(replications, seed)
        made["simulated raters"] = pivot(found, _methods(found))
    introduction = _introduction(replications)
    return {name: f"{introduction}\n\n{table}" for name, table in made.items()}


def _methods(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(row.method for row in rows))


def _introduction(replications: int) -> str:
    low, high = band(compare.SIGNIFICANCE, replications)
    return (
        f"Per cent of {replications:,} replications. 99% bands: {100 * low:.1f} to "
        f"{100 * high:.1f} around 5, {100 * (1 - high):.1f} to {100 * (1 - low):.1f} around 95."
    )


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m simulations", description=__doc__)
    parser.add_argument(
        "--replications",
        type=int,
        help=f"print tables of so many replications and write nothing ({REPLICATIONS} are written)",
    )
    wanted = parser.parse_args(arguments).replications
    start = time.perf_counter()

    def tell(done: int, total: int) -> None:
        passed = time.perf_counter() - start
        print(f"\r{done}/{total} batches, {passed:.0f} s", end="", file=sys.stderr, flush=True)

    tables = blocks(wanted or REPLICATIONS, progress=tell)
    print(f"\n{time.perf_counter() - start:.0f} s in all", file=sys.stderr)
    if wanted:
        print("\n\n".join(f"## {name}\n\n{table}" for name, table in tables.items()))
        return 0
    page = PAGE.read_text(encoding="utf-8")
    for name, table in tables.items():
        page = replace_block(page, name, table)
    with atomic_write(PAGE) as file:
        file.write(page)
    print(f"wrote docs/{PAGE.name}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
