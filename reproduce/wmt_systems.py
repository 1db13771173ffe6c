"""Outputs of the systems of a WMT news task, references, and how people rate the systems."""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltableu.score import Metric
from reproduce.scores import system_scores

__all__ = ["NewsTask", "read_lines", "read_news_task"]

Array = np.ndarray[Any, np.dtype[np.float64]]


@dataclass(frozen=True, slots=True, eq=False)
class NewsTask:
    """One language pair: what systems wrote for each sentence, and how people rate the systems."""

    systems: tuple[str, ...]
    human: Array
    outputs: tuple[list[str], ...]
    references: list[str]

    def scores(self, metric: Metric) -> Array:
        """Each system's score."""
        return system_scores(metric, self.outputs, [[text] for text in self.references])


def read_lines(path: Path) -> list[str]:
    """Lines of a compressed text file; nothing but a line feed ends one."""
    with gzip.open(path, "rt", encoding="utf-8", newline="\n") as file:
        return file.read().removesuffix("\n").split("\n")


def read_news_task(folder: Path, year: int, pair: str) -> NewsTask:
    """All systems of a pair such as `cs-en` that have a rating."""
    ratings = {}
    for line in (folder / "DA-syslevel.csv").read_text("utf-8").splitlines()[1:]:
        language_pair, rating, system = line.split()
        if language_pair == pair:
            ratings[system] = float(rating)
    joined = pair.replace("-", "")
    outputs = folder / "system-outputs" / pair
    return NewsTask(
        tuple(ratings),
        np.array(list(ratings.values())),
        tuple(read_lines(outputs / f"newstest{year}.{name}.{pair}.gz") for name in ratings),
        read_lines(folder / "references" / f"newstest{year}-{joined}-ref.en.gz"),
    )
