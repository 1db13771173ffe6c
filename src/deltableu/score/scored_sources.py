"""Scores, or texts that are scored first, in whatever shape they come; scores out."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from deltableu._types import Progress
from deltableu.corpus import ScoreTable, Study, read_scores
from deltableu.errors import InputError
from deltableu.io import is_frame, is_table
from deltableu.score.engine.inputs import as_list
from deltableu.score.engine.statistics import Statistics
from deltableu.score.sources import Columns, Metrics, holds_scores
from deltableu.score.systems import Scoring, score_systems


def scored_source(
    source: Any,
    *,
    references: Any = None,
    weights: Any = None,
    messages: Any = None,
    metrics: Metrics | None = None,
    columns: Columns | None = None,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    systems: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Any:
    """Scores as they are, a frame or file of scores as a ScoreTable, texts as a Scoring.

    Parameters are those of `score_systems`; with ready scores, `metrics` chooses among them.
    """
    if not holds_texts(source, references, columns):
        _refuse(
            "these are scores, not texts",
            references=(references, None),
            weights=(weights, None),
            messages=(messages, None),
            select=(select, "all"),
            no_positive=(no_positive, "error"),
        )
        return _chosen(_ready(source, columns), metrics)
    return score_systems(
        source,
        metrics=metrics,
        references=references,
        weights=weights,
        messages=messages,
        columns=columns,
        systems=systems,
        select=select,
        no_positive=no_positive,
        threads=threads,
        progress=progress,
    )


def holds_texts(source: Any, references: Any = None, columns: Columns | None = None) -> bool:
    """Whether a source has texts to be scored; what has neither texts nor scores is refused."""
    if isinstance(source, Scoring | ScoreTable):
        return False
    if isinstance(source, Study):
        return True
    if isinstance(source, str | os.PathLike):
        return not os.path.isfile(source)
    if isinstance(source, Mapping) and any(isinstance(one, Statistics) for one in source.values()):
        return False
    if isinstance(source, list | tuple) and source and all(map(is_frame, source)):
        return True
    if is_table(source):
        return not holds_scores(source, columns)
    if references is not None:
        return True
    raise InputError(
        "give scores (a Scoring, a ScoreTable, or a mapping of systems to numbers), or texts (a "
        "study, its folder, a data frame, or a mapping of systems to texts with references=), not "
        f"{type(source).__name__}"
    )


def _ready(source: Any, columns: Columns | None) -> Any:
    file = isinstance(source, str | os.PathLike)
    rows = is_table(source) and not isinstance(source, Mapping)
    if file or rows or (isinstance(source, Mapping) and {"system", "score"} <= set(source)):
        return read_scores(source, columns=_plain(columns))
    if columns is not None:
        if isinstance(source, Mapping):
            return read_scores(source, columns=_plain(columns))
        raise InputError("columns name those of a data frame or file of scores")
    return source


def _plain(columns: Columns | None) -> dict[str, str] | None:
    """Columns as `read_scores` takes them."""
    if columns is None:
        return None
    if isinstance(columns, str):
        parts = [part.partition("=") for part in columns.split(",")]
        return {ours.strip(): theirs.strip() for ours, _, theirs in parts}
    if not isinstance(columns, Mapping):
        raise InputError(f"columns must be a mapping of our names to theirs, got {columns!r:.60}")
    return {
        ours: theirs if isinstance(theirs, str) else "+".join(map(str, theirs))
        for ours, theirs in columns.items()
    }


def _chosen(source: Any, metrics: Metrics | None) -> Any:
    if metrics is None:
        return source
    if isinstance(metrics, str):
        metrics = metrics.replace(",", " ").split()
    names: list[str] = []
    for name in as_list(metrics, "metrics"):
        if not isinstance(name, str):
            raise InputError(f"metrics must name metrics of the scores, got {name!r:.60}")
        names.append(name)
    if isinstance(source, Scoring):
        kept = [one for name in names for one in _of(source, name).scores]
        return Scoring(tuple(kept), source.item_ids, source.dropped, source.groups)
    if isinstance(source, ScoreTable):
        return source.select(metrics=names)
    raise InputError("metrics is for texts or tables of several metrics; these are scores of one")


def _of(scoring: Scoring, name: str) -> Scoring:
    if name not in scoring.metrics:
        raise InputError(f"there is no metric {name!r}; there are {', '.join(scoring.metrics)}")
    return scoring.only(name)


def _refuse(why: str, **given: tuple[Any, Any]) -> None:
    """Complain of arguments that would be ignored."""
    for name, (value, default) in given.items():
        if value is not default and value != default:
            raise InputError(f"{name} has no use here: {why}")
