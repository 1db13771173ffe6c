"""`logs pairs` beside plain reading of the same posts: pandas, and `json.loads` line by line."""

from __future__ import annotations

import gzip
import json
import tempfile
import time
from pathlib import Path

import pandas

from bench.logs import write_posts
from bench.timing import best_of
from deltableu.logs import write_pairs

__all__ = ["main"]

POSTS = 300_000


def _loads(path: Path) -> int:
    with path.open(encoding="utf-8") as file:
        return sum(1 for line in file if json.loads(line))


def main() -> None:
    """Print posts per second, and ratios."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "posts.jsonl")
        write_posts(path, POSTS)
        size = path.stat().st_size / 1e6
        print(f"logs pairs: {POSTS:,} posts, JSON Lines of {size:.0f} MB, best of 3")
        ours = best_of(lambda: write_pairs(path, Path(folder, "pairs.tsv")))
        print(f"deltableu, posts to a file of pairs: {ours:.2f} s, {POSTS / ours:,.0f} posts/s")
        packed = Path(folder, "posts.jsonl.gz")
        packed.write_bytes(gzip.compress(path.read_bytes()))
        for one in (path, packed):
            began = time.process_time()
            seconds = best_of(lambda one=one: write_pairs(one, Path(folder, "pairs.tsv")), 1)  # type: ignore[misc]
            spent = time.process_time() - began
            print(
                f"  {one.name}, once: {seconds:.2f} s, processor {spent:.2f} s, "
                f"{POSTS / spent:,.0f} posts per second of it"
            )
        for name, read in (
            ("pandas.read_json(lines=True)", lambda: pandas.read_json(path, lines=True)),
            ("json.loads line by line", lambda: _loads(path)),
        ):
            theirs = best_of(read)
            print(
                f"{name}, which only reads: {theirs:.2f} s, {POSTS / theirs:,.0f} posts/s; "
                f"deltableu takes {ours / theirs:.2f}x as long"
            )


if __name__ == "__main__":
    main()
