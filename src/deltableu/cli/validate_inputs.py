"""What `deltableu validate` compares: scores of metrics, and what people said."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from deltableu.cli.inputs import check_outputs
from deltableu.cli.metric_options import MetricOptions, at_one_order
from deltableu.cli.options import no_use
from deltableu.cli.output import note_left_out
from deltableu.cli.progress import ProgressBar
from deltableu.corpus import (
    RatingTable,
    ReferenceSet,
    ScoreTable,
    Study,
    item_groups,
    read_scores,
    reference_set,
    ungrouped_note,
)
from deltableu.errors import InputError
from deltableu.io import ColumnNames
from deltableu.score import Metric, Scoring, make_metrics, score_systems


def groups_of(data: Study | None, field: str | None) -> dict[str, str] | None:
    """Which group each item is of, if a field was named."""
    if field is None:
        return None
    if data is None:
        raise InputError("--group names a field of a study's items: give the study folder too")
    return dict(zip((item.id for item in data.items), item_groups(data, field), strict=True))


def group_warnings(data: Study | None, field: str | None) -> list[str]:
    """That items seem to belong together, if they do and no field was named."""
    warning = None if data is None or field is not None else ungrouped_note(data)
    return [] if warning is None else [warning]


def human_scores(
    data: Study | None,
    path: Path | None,
    human: str | None,
    columns: ColumnNames | None,
    criterion: str | None,
    unknown: Literal["error", "drop"],
) -> ScoreTable | RatingTable:
    """What people said: a table of ready scores, or the ratings of the study."""
    if human is not None:
        table = read_scores(human, columns=columns)
        return table if criterion is None else table.select(metrics=[criterion])
    if data is None or not (data.ratings.system >= 0).any():
        raise InputError(
            f"{path}: the study has no ratings of systems: give them as --human ratings.csv, or "
            "put the file into the study"
        )
    return RatingTable.from_study(data, criterion=criterion, unknown=unknown)


def metric_scores(
    data: Study | None,
    tables: list[str] | None,
    columns: ColumnNames | None,
    lower_is_better: list[str],
    metrics: str | None,
    options: MetricOptions,
    select: str,
    no_positive: Literal["error", "skip"],
    *,
    sentinels: bool,
    threads: int | None,
    progress: ProgressBar,
) -> list[Scoring | ScoreTable]:
    """Scores of the metrics asked for, and of sentinels as far as the texts are there."""
    found: list[Scoring | ScoreTable] = []
    if data is not None:
        check_outputs(data, data.path)
        references = reference_set(data)
        wanted: list[Metric] = []
        if metrics is not None or tables is None:
            wanted += options.make(metrics or _suiting(references, options.order), references)
        else:
            no_use(options.changed(), "ready --scores alone")
        if sentinels:
            there = {metric.name for metric in wanted}
            wanted += make_metrics([n for n in _sentinels(references) if n not in there], {})
        if wanted:
            scoring = score_systems(
                references,
                data.outputs,
                wanted,
                select=select,
                no_positive=no_positive,
                threads=threads,
                progress=progress,
            )
            note_left_out(len(scoring.dropped), len(data.items))
            found.append(scoring)
    for path in tables or []:
        table = read_scores(path, columns=columns)
        table = table.with_lower_better([name for name in lower_is_better if name in table.metrics])
        found.insert(0, table)
    for name in lower_is_better:
        if not any(name in one.metrics for one in found if isinstance(one, ScoreTable)):
            raise InputError(f"--lower-is-better names {name!r}, which no table has")
    if not found:
        raise InputError("there is no metric to validate")
    return found


def _suiting(references: ReferenceSet, order: int | None) -> str:
    weighted = [] if references.weights is None else ["delta-bleu", "delta-chrf++"]
    return ",".join(at_one_order([*weighted, "bleu", "sentence-bleu", "chrf++"], order))


def _sentinels(references: ReferenceSet) -> list[str]:
    messages = references.messages
    answered = messages is not None and all(message is not None for message in messages)
    return ["length", *(["message-overlap"] if answered else []), "random", "constant"]
