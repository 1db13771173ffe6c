"""Scores as tables and as records for JSON."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from deltableu.errors import InputError
from deltableu.io import Cell, Table
from deltableu.score import BLEUScore, Score, ScoredSystem, Scoring
from deltableu.stats import ConfidenceInterval

__all__ = [
    "best_first",
    "interval_record",
    "number",
    "score_records",
    "score_table",
    "segment_table",
    "signatures",
]


def score_table(scoring: Scoring, *, digits: int = 2, caption: str = "") -> Table:
    """Systems in rows, metrics in columns; the best of each metric is marked."""
    metrics = list(dict.fromkeys(scored.score.name for scored in scoring.scores))
    systems = list(dict.fromkeys(scored.system for scored in scoring.scores))
    found = {(scored.system, scored.score.name): scored.score for scored in scoring.scores}
    direction = {s.score.name: s.rows.metric.higher_is_better for s in scoring.scores}
    best = {
        metric: _best([found[system, metric].score for system in systems], direction[metric])
        for metric in metrics
    }
    rows = []
    for system in systems:
        cells = [Cell(system)]
        for metric in metrics:
            score = found[system, metric]
            marked = score.score == best[metric]
            cells.append(Cell(number(score.score, digits), _note(score, digits), marked))
        rows.append(tuple(cells))
    return Table(("system", *metrics), tuple(rows), caption)


def best_first(scoring: Scoring) -> Scoring:
    """The same scores, systems ordered by the first metric."""
    first = scoring.scores[0].score.name
    sign = -1.0 if scoring.scores[0].rows.metric.higher_is_better else 1.0
    ranks = {s.system: sign * s.score.score for s in scoring.scores if s.score.name == first}
    metrics = list(dict.fromkeys(scored.score.name for scored in scoring.scores))
    ordered = sorted(
        scoring.scores, key=lambda s: (metrics.index(s.score.name), ranks[s.system], s.system)
    )
    return replace(scoring, scores=tuple(ordered))


def segment_table(scoring: Scoring, *, digits: int = 2) -> Table:
    """A row for each system, metric and item."""
    rows = [
        (Cell(scored.system), Cell(scored.score.name), Cell(item), Cell(number(value, digits)))
        for scored in _with_segments(scoring)
        for item, value in zip(scoring.item_ids, scored.rows.segment_scores().tolist(), strict=True)
    ]
    return Table(
        ("system", "metric", "item", "score"), tuple(rows), align=("left", "left", "left", "right")
    )


def score_records(scoring: Scoring, *, segments: bool = False) -> list[dict[str, Any]]:
    """What `--format json` prints: unrounded numbers and every ingredient."""
    return [_record(scored, scoring.item_ids if segments else None) for scored in scoring.scores]


def signatures(scoring: Scoring) -> dict[str, str]:
    """The signature of each metric; it does not depend on the system."""
    return {scored.score.name: str(scored.score.signature) for scored in scoring.scores}


def _with_segments(scoring: Scoring) -> list[ScoredSystem]:
    """Without the metrics that say nothing about single segments."""
    kept = [scored for scored in scoring.scores if scored.rows.metric.has_segments]
    if not kept:
        raise InputError("none of these metrics has scores of single segments")
    return kept


def _record(scored: ScoredSystem, item_ids: tuple[str, ...] | None) -> dict[str, Any]:
    score = scored.score
    record: dict[str, Any] = {
        "system": scored.system,
        "metric": score.name,
        "score": score.score,
        "interval": interval_record(score.interval),
        "segments": score.segments,
    }
    if isinstance(score, BLEUScore):
        record |= {
            "precisions": list(score.precisions),
            "brevity_penalty": score.brevity_penalty,
            "numerators": list(score.numerators),
            "denominators": list(score.denominators),
            "hypothesis_length": score.hypothesis_length,
            "reference_length": score.reference_length,
        }
    record["signature"] = str(score.signature)
    if item_ids is not None and scored.rows.metric.has_segments:
        values = scored.rows.segment_scores().tolist()
        record["segment_scores"] = dict(zip(item_ids, values, strict=True))
    return record


def interval_record(interval: ConfidenceInterval | None) -> dict[str, Any] | None:
    """An interval for JSON."""
    if interval is None:
        return None
    return {
        "low": interval.low,
        "high": interval.high,
        "level": interval.level,
        "method": interval.method,
    }


def _note(score: Score, digits: int) -> str:
    if score.interval is None:
        return ""
    return f"[{number(score.interval.low, digits)}, {number(score.interval.high, digits)}]"


def _best(scores: list[float], higher_is_better: bool) -> float | None:
    """The best of several, unless all are equal."""
    low, high = min(scores), max(scores)
    if low == high:
        return None
    return high if higher_is_better else low


def number(value: float, digits: int) -> str:
    """A rounded number without a negative zero."""
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if float(text) == 0 else text
