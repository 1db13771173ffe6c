"""`deltableu explain --metric soft-...`: which references and words carry the score."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np

from deltableu.cli.explain_examples import NOTHING_LEFT
from deltableu.cli.inputs import check_outputs, check_results, read_people
from deltableu.cli.metric_options import fitted_metrics
from deltableu.cli.output import Format, emit, note_left_out
from deltableu.corpus import reference_set
from deltableu.errors import InputError, check_known
from deltableu.score import Soft, explain_pool, make_metrics, metric_class


def is_soft(name: str) -> bool:
    """Whether the metric of this name pools similarities softly."""
    return issubclass(metric_class(name), Soft)


def show_pool(
    study: Path,
    *,
    system: str | None,
    item: str | None,
    worst: int | None,
    best: int | None,
    metric: str,
    settings: Mapping[str, Any],
    select: str,
    no_positive: Literal["error", "skip"],
    drop_failed: bool,
    output: Path | None,
    format: Format,
    signatures: bool,
) -> None:
    """Print why some items of a system scored as they did, or write it to a file."""
    if system is None:
        raise InputError("--system is missing: name the system whose responses to explain")
    (made,) = make_metrics([metric], settings)
    check_results(output, [study])
    data = read_people(study, ratings=False, drop_failed=drop_failed)
    check_outputs(data, study, [system])
    references = reference_set(data).select(select)
    (found_metric,) = fitted_metrics([made], references)
    fitted = cast(Soft, found_metric)
    prepared = fitted.prepare_references(references)
    poor = set(prepared.without_positive()) if no_positive == "skip" else set()
    kept = [place for place in range(len(prepared)) if place not in poor]
    if not kept:
        raise InputError(NOTHING_LEFT)
    note_left_out(len(poor), len(prepared))
    prepared = prepared.take(kept)
    texts = [data.outputs[system][place] for place in kept]
    scores = fitted.compute(texts, prepared).segment_scores()
    ids = [prepared.item_name(place) for place in range(len(kept))]
    if item is not None:
        check_known("item", item, ids)
        chosen = [ids.index(item)]
    else:
        order = np.argsort(scores if best is None else -scores, kind="stable")
        chosen = order[: (worst or 1) if best is None else best].tolist()
    found = [explain_pool(fitted, texts[place], prepared, place) for place in chosen]
    emit(
        [table for one in found for table in one.tables()],
        found,
        format,
        output,
        verdict=[one.sentence() for one in found],
        signatures=signatures,
    )
