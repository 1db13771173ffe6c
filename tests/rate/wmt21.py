"""The files of WMT21's human evaluation, read for tests."""

from __future__ import annotations

import gzip
from collections.abc import Iterator
from pathlib import Path

from deltableu.corpus import Kind, RatingTable

KINDS: dict[str, Kind] = {
    "SYSTEM": "item",
    "REPEAT": "repeat",
    "REF": "reference",
    "BAD_REF": "bad-reference",
}
TO_ENGLISH = "wmt21_da/humaneval/newstest2021-toen"
WIKIPEDIA = "wmt21_da/humaneval/facebook-wikipedia-2021"


def rows(path: Path) -> Iterator[list[str]]:
    """The fields of each line but the first; tabs and spaces are mixed, some names are quoted."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        next(lines)
        for line in lines:
            if line.strip():
                yield line.replace('"', "").split()


def rater_scales(path: Path) -> dict[str, tuple[float, float]]:
    """Mean and standard deviation of each rater, as R printed them (seven digits)."""
    printed = [line.split(maxsplit=1)[1].strip('"') for line in path.read_text().splitlines()]
    return {
        name: (float(mean), float(deviation))
        for name, mean, deviation in zip(printed[::3], printed[1::3], printed[2::3], strict=True)
    }


def judgements(path: Path, pair: tuple[str, str]) -> RatingTable:
    """All judgements of one language pair, with the values that the file has."""
    found = [row for row in rows(path) if (row[2], row[3]) == pair]
    return RatingTable.of(
        raters=[row[1] for row in found],
        items=[row[9] for row in found],
        systems=[row[6] for row in found],
        kinds=[KINDS[row[8]] for row in found],
        values=[float(row[10]) for row in found],
    )


def segment_scores(path: Path) -> dict[tuple[str, str], tuple[float, float, int]]:
    """Raw score, z and number of judgements of each system and segment."""
    return {
        (system, segment): (float(raw), float(z), int(count))
        for system, segment, raw, z, count in rows(path)
    }


def system_scores(path: Path) -> dict[str, tuple[float, float, int, int]]:
    """Raw score, z, segments and judgements of each system."""
    return {
        system: (float(raw), float(z), int(segments), int(count))
        for raw, z, segments, system, count in rows(path)
    }


def rank_sums(path: Path) -> dict[tuple[str, str], float]:
    """One-sided p-values below .05 of row better than column; others are not given."""
    names = path.read_text().splitlines()[0].split()
    return {
        (row[0], column): float(p_value)
        for row in rows(path)
        for column, p_value in zip(names, row[1:], strict=True)
        if p_value != "0.12"
    }


def clusters(path: Path, pair: tuple[str, str]) -> dict[str, tuple[int, int, int]]:
    """Wins, first and last rank of the cluster of each system."""
    return {
        row[7]: (int(row[2]), int(row[4]), int(row[5]))
        for row in rows(path)
        if (row[0], row[1]) == pair
    }
