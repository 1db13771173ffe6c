"""`deltableu explain --examples`."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, cast

from deltableu.cli.inputs import check_outputs, check_results, output_ratings, read_people
from deltableu.cli.output import Format, emit, note_left_out, write_page
from deltableu.corpus import reference_set
from deltableu.errors import InputError, hint_at
from deltableu.io import Own
from deltableu.judges import UpsilonBLEU
from deltableu.report import chosen_examples, examples_page
from deltableu.score import BLEU, DeltaBLEU, make_metrics, metric_name

_METRICS = (DeltaBLEU.family, UpsilonBLEU.family, BLEU.family)
NOTHING_LEFT = "no item is left: none has a positively weighted reference"


def show_examples(
    study: Path,
    *,
    number: int,
    system: str | None,
    metric: str | None,
    judge: str | None,
    settings: Mapping[str, Any],
    select: str,
    no_positive: Literal["error", "skip"],
    criterion: str | None,
    drop_failed: bool,
    page: Path | None,
    output: Path | None,
    format: Format,
    signatures: bool,
) -> None:
    """Print examples of a system's outputs, or write them to a page or a file."""
    if metric is not None or judge is not None:
        # Wrong names are said before a study is read.
        _metric(metric or UpsilonBLEU.family, judge, settings)
    check_results(page or output, [study], Own.RESULTS if page is None else Own.PAGE)
    data = read_people(study, drop_failed=drop_failed)
    check_outputs(data, study, () if system is None else (system,))
    references = reference_set(data).select(select)
    rated = BLEU.family if references.weights is None else DeltaBLEU.family
    chosen = _metric(metric or (rated if judge is None else UpsilonBLEU.family), judge, settings)
    references, settled = chosen.settled(references)
    poor = set(references.without_positive()) if no_positive == "skip" else set()
    kept = [place for place in range(len(references)) if place not in poor]
    if not kept:
        raise InputError(NOTHING_LEFT)
    note_left_out(len(poor), len(references))
    found = chosen_examples(
        references.take(kept),
        {name: [texts[place] for place in kept] for name, texts in data.outputs.items()},
        cast(BLEU, settled),
        number=number,
        system=system,
        ratings=output_ratings(data, criterion),
        systems=data.systems,
    )
    if page is not None:
        write_page(examples_page(f"Examples of {found.system}", found), page)
        return
    tidy = found.tidy_table()
    emit(found.table(), found, format, output, signatures=signatures, tidy=tidy)


def _metric(name: str, judge: str | None, settings: Mapping[str, Any]) -> BLEU:
    """The metric as it scores single outputs: as delta-BLEU does, of bigrams and unsmoothed."""
    family = metric_name(name)
    if family not in _METRICS:
        meant = hint_at(name, _METRICS)
        choices = ", ".join(_METRICS)
        raise InputError(f"examples have no scores of {name!r}; choose from {choices}{meant}")
    given = dict(settings)
    if family == BLEU.family:
        given.setdefault("smooth", "none")
        if name == family:
            given.setdefault("order", 2)
    if judge is not None:
        if family != UpsilonBLEU.family:
            raise InputError(f"--judge is for upsilon metrics, not for {name}")
        given["rater"] = judge
    (made,) = make_metrics([name], given)
    return cast(BLEU, made)
