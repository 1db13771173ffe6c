"""Mining by vectors beside the bare matrix product, and texts to vectors."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.logs import pairs
from bench.timing import best_of
from deltableu.corpus.types import Item, Reference
from deltableu.mine import Embedding, MiningPlan, Progress, RowFilter, WordAverages, mine_references
from deltableu.text import Texts
from deltableu.text.vectors import WordVectors

__all__ = ["main"]

ITEMS, ROWS, DIMENSION, TOP, STEP = 1_000, 300_000, 300, 15, 2_048

Singles = np.ndarray[Any, np.dtype[np.float32]]


def unit_vectors(count: int, seed: int) -> Singles:
    made = np.random.default_rng(seed).normal(size=(count, DIMENSION)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


@dataclass(frozen=True, slots=True, eq=False)
class Ready:
    """Vectors that are there already: the texts are their numbers, one after the other."""

    rows: Singles
    queries: Singles
    signature: str = "ready"
    own_threads: bool = True

    def vectors(self, texts: Texts) -> Singles:
        first = texts[0]
        known = self.queries if first.startswith("q") else self.rows
        begin = int(first[1:])
        return known[begin : begin + len(texts)]


def main() -> None:
    """Print times and ratios."""
    rows, queries = unit_vectors(ROWS, 1), unit_vectors(ITEMS, 2)
    print(
        f"mining by vectors: {ITEMS:,} items, {ROWS:,} ready vectors of {DIMENSION} dimensions, "
        f"top {TOP}, best of 3"
    )
    turned = np.ascontiguousarray(queries.T)
    out = np.empty((STEP, ITEMS), np.float32)

    def bare() -> None:
        for begin in range(0, ROWS, STEP):
            part = rows[begin : begin + STEP]
            np.matmul(part, turned, out=out[: len(part)])

    logs = [(f"r{number}", f"response {number}") for number in range(ROWS)]
    items = [Item(str(at), (Reference("own", "?"),), message=f"q{at}") for at in range(ITEMS)]
    plan = MiningPlan(
        Embedding(Ready(rows, queries)), top=TOP, rows=RowFilter(min_words=0, junk=False)
    )
    stages: list[float] = []
    processor: list[float] = []

    def mine() -> None:
        seconds: dict[str, float] = {}
        spent: dict[str, float] = {}

        def told(one: Progress) -> None:
            seconds[one.stage] = one.seconds
            spent[one.stage] = time.process_time()

        mine_references(items, logs, plan=plan, progress=told)
        stages.append(seconds["scoring"])
        processor.append(spent["scoring"] - spent["counting"])

    product = best_of(bare)
    began = time.process_time()
    bare()
    product_processor = time.process_time() - began
    best_of(mine)
    at_once = best_of(lambda: rows @ turned)
    print(
        f"bare matrix product of numpy: {at_once:.2f} s at once, {product:.2f} s in blocks of "
        f"{STEP:,} rows whose results are thrown away"
    )
    print(
        f"deltableu, scoring: {min(stages):.2f} s, {100.0 * at_once / min(stages):.0f}% of the "
        f"product's speed at once, {100.0 * product / min(stages):.0f}% of that in blocks"
    )
    print(
        f"processor time: product in blocks {product_processor:.2f} s, scoring "
        f"{min(processor):.2f} s, {100.0 * product_processor / min(processor):.0f}%"
    )
    _texts_to_vectors()


def _texts_to_vectors() -> None:
    logs = pairs(200_000)
    names = list(dict.fromkeys(word for text, _ in logs[:50_000] for word in text.split()))
    vectors = WordVectors(
        {name: at for at, name in enumerate(names)},
        unit_vectors(len(names), 3).astype(np.float64),
    )
    source = WordAverages(vectors)
    texts = Texts.of([text for text, _ in logs])
    source.vectors(texts.choose(slice(STEP)))

    def one_thread() -> None:
        for begin in range(0, len(texts), STEP):
            source.vectors(texts.choose(slice(begin, begin + STEP)))

    def two_threads() -> None:
        from concurrent.futures import ThreadPoolExecutor

        begins = range(0, len(texts), STEP)
        with ThreadPoolExecutor(2) as pool:
            list(pool.map(lambda at: source.vectors(texts.choose(slice(at, at + STEP))), begins))

    for name, run in (("1 thread", one_thread), ("2 threads", two_threads)):
        seconds = best_of(run)
        print(
            f"texts of 10 words to vectors of {DIMENSION}, {name}: "
            f"{len(texts) / seconds / 1e3:.0f} thousand texts/s"
        )


if __name__ == "__main__":
    main()
