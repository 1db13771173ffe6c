"""Mining beside bm25s with its numba backend: raw strings to the top 15, on all cores."""

from __future__ import annotations

import logging
from typing import Any

import bm25s

from bench.logs import items, pairs
from bench.timing import best_of
from deltableu.mine import BM25, MiningPlan, RowFilter, mine_references

__all__ = ["main"]

ITEMS, ROWS, TOP = 1_000, 300_000, 15


def main() -> None:
    """Print times and ratios."""
    logging.getLogger("bm25s").setLevel(logging.ERROR)
    wanted = items(ITEMS)
    logs = pairs(ROWS)
    documents = [utterance for utterance, _ in logs]
    queries = [item.message or "" for item in wanted]
    print(f"mining: {ITEMS:,} items, {ROWS:,} pairs, top {TOP}, best of 3")

    def cut(texts: list[str]) -> Any:
        return bm25s.tokenize(texts, stopwords=None, show_progress=False)

    def index() -> bm25s.BM25:
        made = bm25s.BM25(backend="numba")
        made.index(cut(documents), show_progress=False)
        return made

    def retrieve(made: bm25s.BM25) -> Any:
        return made.retrieve(
            cut(queries), k=TOP, show_progress=False, backend_selection="numba", n_threads=-1
        )

    ready = index()
    retrieve(ready)  # compiles
    whole = best_of(lambda: retrieve(index()))
    query = best_of(lambda: retrieve(ready))
    print(f"bm25s, one field: {whole:.2f} s, of which querying {query:.2f} s")
    for on in ("utterance", "both"):
        plan = MiningPlan(
            BM25(on),
            top=TOP,
            rows=RowFilter(min_words=0, junk=False),
        )
        seconds: list[float] = []

        def mine(plan: MiningPlan = plan, seconds: list[float] = seconds) -> None:
            stages: dict[str, float] = {}
            mine_references(
                wanted,
                logs,
                plan=plan,
                progress=lambda one: stages.__setitem__(one.stage, one.seconds),
            )
            seconds.append(stages["scoring"])

        ours = best_of(mine)
        print(
            f"deltableu, {'one field' if on == 'utterance' else 'product of two fields'}: "
            f"{ours:.2f} s, of which scoring {min(seconds):.2f} s"
            + (
                f"; whole job {whole / ours:.1f}x as fast, queries {query / min(seconds):.2f}x"
                if on == "utterance"
                else "; bm25s cannot do it"
            )
        )


if __name__ == "__main__":
    main()
