"""How score, compare, validate and import grow with the items: time and memory of cold processes.

python -m bench.growth [--million] [ITEMS ...]
"""

from __future__ import annotations

import csv
import json
import random
import sys
import tempfile
from collections.abc import Sequence
from multiprocessing import get_context
from pathlib import Path

from bench.corpora import zipf_corpus
from bench.file_speed import cold

__all__ = ["main"]

#: By default, and with `--million` too.
SIZES = (10_000, 100_000)
MILLION = 1_000_000
SYSTEMS, REFERENCES, RATERS = 3, 2, 10


def write_files(folder: Path, items: int) -> None:
    """Write a study with outputs and ratings, and a table to import."""
    rng = random.Random(0)
    corpus = zipf_corpus(items, REFERENCES + SYSTEMS - 1)
    references = [row[:REFERENCES] for row in corpus.references]
    outputs = [
        corpus.hypotheses,
        *zip(*(row[REFERENCES:] for row in corpus.references), strict=True),
    ]
    (folder / "study" / "outputs").mkdir(parents=True)
    with open(folder / "study" / "items.jsonl", "w", encoding="utf-8") as stream:
        for number, (texts, weights) in enumerate(zip(references, corpus.weights, strict=True)):
            listed = [
                {"id": f"r{place}", "text": text, "weight": weight}
                for place, (text, weight) in enumerate(zip(texts, weights, strict=False))
            ]
            stream.write(json.dumps({"id": f"q{number}", "references": listed}) + "\n")
    for system, said in enumerate(outputs):
        with open(folder / "study" / "outputs" / f"s{system}.jsonl", "w", encoding="utf-8") as file:
            for number, text in enumerate(said):
                file.write(json.dumps({"id": f"q{number}", "text": text}) + "\n")
    with open(folder / "study" / "ratings.csv", "w", encoding="utf-8", newline="") as stream:
        write = csv.writer(stream, lineterminator="\n").writerow
        write(("rater", "item", "target", "criterion", "value", "scale", "kind"))
        for number in range(items):
            for system in range(SYSTEMS):
                rater, value = f"p{rng.randrange(RATERS)}", rng.randrange(101)
                target = f"system:s{system}"
                write((rater, f"q{number}", target, "overall", value, "0-100", "item"))
    with open(folder / "table.csv", "w", encoding="utf-8", newline="") as stream:
        write = csv.writer(stream, lineterminator="\n").writerow
        write(("id", "system", "prediction", "references"))
        for number, row in enumerate(references):
            for system, said in enumerate(outputs):
                write((f"q{number}", f"s{system}", said[number], row[0]))


def measure(items: int) -> None:
    """Print a line for each command."""
    with tempfile.TemporaryDirectory() as made:
        folder = Path(made)
        # A child's memory counts from its parent's on, so that files are written by another one.
        with get_context("spawn").Pool(1) as pool:
            pool.apply(write_files, (folder, items))
        ours = [sys.executable, "-m", "deltableu"]
        cold([*ours, "--help"], folder)
        commands = {
            "score": [*ours, "score", "study"],
            "compare": [*ours, "compare", "study"],
            "validate": [*ours, "validate", "study"],
            "import": [*ours, "import", "table", "table.csv", "--output", "imported"],
        }
        for name, command in commands.items():
            seconds, processor, memory = cold(command, folder, quiet=True)
            print(
                f"  {items:9,} items  {name:8}  {seconds:7.2f} s   processor {processor:7.2f} s, "
                f"{1e6 * processor / items:6.1f} microseconds/item   memory {memory:6.0f} MB, "
                f"{1e3 * memory / items:6.1f} kB/item"
            )


def main(sizes: Sequence[int] = SIZES) -> None:
    print(
        f"growth: {SYSTEMS} systems, {REFERENCES} references per item, {RATERS} raters, "
        f"a rating per output"
    )
    for items in sizes:
        measure(items)


if __name__ == "__main__":
    given = sys.argv[1:]
    chosen = tuple(int(one) for one in given if one != "--million") or SIZES
    main((*chosen, MILLION) if "--million" in given else chosen)
