"""Candidates by BM25 of every row and every item, added up term by term."""

from __future__ import annotations

from collections import Counter

import numpy as np

from deltableu._types import Array, Bytes
from deltableu.mine.bm25 import Bm25Scorer, FieldQueries
from deltableu.mine.rows import LogRows
from deltableu.mine.similarity import Candidates
from deltableu.text import TokenArrays


def values_of(
    scorer: Bm25Scorer, field: FieldQueries, words: TokenArrays, row: int
) -> dict[int, float]:
    """The term frequency part of each term of a row."""
    begin, end = words.bounds[row : row + 2].tolist()
    terms = Counter(scorer.vocabulary.find(words.keys[begin:end]).tolist())
    constant, slope, factor = field.shape.tolist()
    norm = constant + slope * (end - begin)
    return {term: tf * factor / (tf + norm) for term, tf in terms.items() if term >= 0}


def bm25(field: FieldQueries, item: int, values: dict[int, float]) -> float:
    """In the order of the item's words, so that the last bit is right."""
    begin, end = field.bounds[item : item + 2].tolist()
    score = 0.0
    for term, weight in zip(
        field.terms[begin:end].tolist(), field.weights[begin:end].tolist(), strict=True
    ):
        score += weight * values.get(term, 0.0)
    return score


def candidates(
    scorer: Bm25Scorer, rows: LogRows, begin: int, admitted: Bytes, thresholds: Array
) -> Candidates:
    """Stands in for `Bm25Scorer.candidates`."""
    first = rows.utterances if scorer.first_name == "utterance" else rows.responses
    found: list[tuple[int, int, float]] = []
    for row in range(begin, len(rows)):
        if not admitted[row]:
            continue
        values = values_of(scorer, scorer.first, first, row)
        others = values_of(scorer, scorer.second, rows.responses, row) if scorer.slope else {}
        for item, threshold in enumerate(thresholds.tolist()):
            score = bm25(scorer.first, item, values)
            if scorer.slope:
                other = bm25(scorer.second, item, others)
                score = score * (scorer.slope * other + scorer.constant)
            if score > threshold:
                found.append((item, row, score))
    return Candidates(
        np.array([item for item, _, _ in found], np.int32),
        np.array([row for _, row, _ in found], np.int64),
        np.array([score for _, _, score in found], np.float64),
        len(rows),
    )
