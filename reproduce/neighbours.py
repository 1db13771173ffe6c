"""docs/neighbours.md: nearest neighbours of ten common words, from vectors trained on real logs."""

from __future__ import annotations

import io
import tempfile
from contextlib import redirect_stdout
from pathlib import Path

from deltableu.cli.app import main
from deltableu.text import read_vectors
from deltableu.vectors import nearest_words
from reproduce.dialogue_logs import LOGS, write_pairs
from reproduce.layout import table

__all__ = ["WORDS", "page"]

#: Chosen before anything was trained.
WORDS = ("good", "music", "food", "movie", "people", "happy", "please", "day", "water", "love")

INTRODUCTION = """# Neighbours

Written by `python -m reproduce neighbours` from public data sets, which are not part of this
project: the ten nearest neighbours, by cosine, of ten common words, from vectors that
`deltableu vectors train LOGS -o vectors.bin` trains with its default options (100 numbers per
vector, window 15, words that occur 5 times or more, x_max 100, alpha 0.75, learning rate 0.05, 25
epochs, seed 0). Nothing is edited; the words were chosen before anything was trained. How to train:
[word vectors](how-to/vectors.md).

These logs are small, and much of them is about films and restaurants: so are the neighbours.

The logs are any two turns that follow on each other in:
"""


def page(data: Path) -> str:
    """The whole page."""
    lines = [INTRODUCTION, *(f"- `{name}`: {source}" for name, source in LOGS.items()), ""]
    with tempfile.TemporaryDirectory() as name:
        logs = Path(name, "logs")
        logs.mkdir()
        write_pairs(data, logs)
        path = Path(name, "vectors.bin")
        lines += [_trained(logs, path)]
        vectors = read_vectors(path)
    rows = []
    for word in WORDS:
        near = nearest_words(vectors, word, 10)
        rows.append([word, ", ".join(f"{one.word} {one.cosine:.2f}" for one in near)])
    return "\n".join([*lines, *table(["word", "neighbours and cosines"], rows), ""])


def _trained(logs: Path, path: Path) -> str:
    """Run `deltableu vectors train`; what it printed."""
    out = io.StringIO()
    with redirect_stdout(out):
        try:
            main(["vectors", "train", str(logs), "-o", str(path), "--format", "markdown"])
        except SystemExit as end:
            if end.code:
                raise RuntimeError("training failed") from None
    return out.getvalue()
