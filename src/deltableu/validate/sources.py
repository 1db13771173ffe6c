"""What callers have of metrics and of people in; tables of scores and ratings out."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from deltableu.corpus import RatingTable, ReferenceSet, ScoreTable, read_ratings
from deltableu.errors import InputError
from deltableu.io import is_table
from deltableu.score import (
    BLEU,
    ChrFPlusPlus,
    DeltaBLEU,
    DeltaChrFPlusPlus,
    Metric,
    Scoring,
    SentenceBLEU,
    holds_texts,
    score_systems,
    scored_source,
    text_source,
)


def validation_sources(
    scores: Any, *, metrics: Any, columns: Any, **options: Any
) -> tuple[list[Scoring | ScoreTable], RatingTable | None]:
    """Scores of metrics, and the ratings that came with texts."""
    several = isinstance(scores, list | tuple) and not is_table(scores)
    if several and all(isinstance(one, Scoring | ScoreTable) for one in scores):
        if not scores:
            raise InputError("there are no scores to validate")
        if len(scores) > 1 and metrics is not None:
            raise InputError("metrics chooses from one table of scores, and there are several")
        if len(scores) > 1:
            return list(scores), None
        (scores,) = scores
    texts = {name: options[name] for name in ("references", "weights", "messages")}
    if not holds_texts(scores, texts["references"], columns):
        found = scored_source(scores, metrics=metrics, columns=columns, **options)
        return [_table(found, "scores")], None
    source = text_source(scores, columns=columns, **texts)
    scoring = score_systems(
        source.references,
        source.only(options["systems"]).outputs,
        default_metrics(source.references) if metrics is None else metrics,
        select=options["select"],
        no_positive=options["no_positive"],
        threads=options["threads"],
        progress=options["progress"],
    )
    return [scoring], source.ratings


def default_metrics(references: ReferenceSet) -> tuple[Metric, ...]:
    """Metrics of one order, so that like is compared with like."""
    plain = (BLEU(order=2), SentenceBLEU(order=2), ChrFPlusPlus())
    weighted = (DeltaBLEU(), DeltaChrFPlusPlus())
    return plain if references.weights is None else (*weighted, *plain)


def human_source(
    human: Any, ratings: RatingTable | None, scores: Scoring | ScoreTable
) -> RatingTable | ScoreTable:
    """Ratings, or ready human scores, from whatever holds them."""
    if isinstance(human, RatingTable | ScoreTable):
        return human
    if human is None:
        if ratings is None or not len(ratings):
            raise InputError("human is missing: give ratings, or the scores of people")
        return ratings
    if isinstance(human, str | os.PathLike):
        return read_ratings(human)
    if isinstance(human, Mapping) and not {"item", "value"} <= set(human):
        table: ScoreTable = _table(human, "human", scores)
        return table
    if is_table(human):
        return read_ratings(human)
    raise InputError(
        "human must be ratings (a RatingTable, a data frame or file with rater, item, system and "
        f"value) or scores of each system (a ScoreTable or a mapping), got {human!r:.80}"
    )


def _table(found: Any, name: str, like: Scoring | ScoreTable | None = None) -> Any:
    """A mapping of systems to numbers as a table with one metric."""
    if isinstance(found, Scoring | ScoreTable):
        return found
    if not isinstance(found, Mapping) or not found:
        raise InputError(f"{name} must be a mapping of systems to scores, got {found!r:.80}")
    items = None
    if like is not None:
        items = like.item_ids if isinstance(like, Scoring) else like.items
    return ScoreTable.of({"people" if name == "human" else "score": found}, items)
