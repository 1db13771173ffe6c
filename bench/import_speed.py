"""`deltableu import table`: a million rows into a study, beside pandas reading the same file."""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from multiprocessing import get_context
from pathlib import Path

import numpy as np

ROWS = 1_000_000
SYSTEMS = 10


def write_table(path: Path, rows: int, seed: int = 0) -> None:
    """One row per output: item, system, message, output, reference and a rating."""
    rng = np.random.default_rng(seed)
    words = [f"word{number}" for number in range(5000)]
    texts = [" ".join(words[one] for one in rng.integers(0, 5000, 9)) for _ in range(20_000)]
    picks = rng.integers(0, len(texts), (rows, 2))
    with open(path, "w", encoding="utf-8") as stream:
        stream.write("id,system,question,answer,gold,rater,score\n")
        for row, (answer, gold) in enumerate(picks.tolist()):
            item, system = divmod(row, SYSTEMS)
            question = texts[item % len(texts)]
            stream.write(
                f"{item},s{system},{item} {question},{texts[answer]},"
                f"{texts[(item * 7) % len(texts)]},p{gold % 20},{row % 5 + 1}\n"
            )


def _import(path: Path, output: Path) -> tuple[float, float]:
    from deltableu.layouts import ColumnMap, Request, import_study

    start = time.perf_counter()
    columns = ColumnMap.parse("prediction=answer,references=gold")
    import_study("table", Request((path,), columns, scale="1-5"), output)
    return time.perf_counter() - start, _peak()


def _pandas(path: Path) -> tuple[float, float]:
    import pandas

    start = time.perf_counter()
    pandas.read_csv(path)
    return time.perf_counter() - start, _peak()


def _peak() -> float:
    """Megabytes that the process used at most."""
    unit = 1 << 20 if sys.platform == "darwin" else 1 << 10
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit


def main(rows: int = ROWS) -> None:
    """Print seconds and memory of both, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "table.csv")
        write_table(path, rows)
        size = path.stat().st_size / 1e6
        with get_context("spawn").Pool(1) as pool:
            ours = pool.apply(_import, (path, Path(folder, "study")))
        with get_context("spawn").Pool(1) as pool:
            theirs = pool.apply(_pandas, (path,))
    print(f"import: {rows:,} rows, {size:.0f} MB of CSV, to a study on the disk")
    print(
        f"  deltableu import   {ours[0]:6.1f} s  {rows / ours[0]:9,.0f} rows/s  {ours[1]:6.0f} MB"
    )
    print(f"  pandas.read_csv    {theirs[0]:6.1f} s (reads only)        {theirs[1]:6.0f} MB")
    print(f"  ratio of seconds {ours[0] / theirs[0]:.1f}, of memory {ours[1] / theirs[1]:.2f}")


if __name__ == "__main__":
    main()
