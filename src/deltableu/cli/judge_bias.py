"""`deltableu judge bias`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from deltableu.cli.inputs import check_results
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Output, Positive, Several, Whole
from deltableu.cli.output import Format, emit, tell
from deltableu.cli.rating_inputs import read_rating_table
from deltableu.corpus import read_study
from deltableu.io import as_record
from deltableu.judges import judge_bias, tidy_biases
from deltableu.report import verdict


@grouped
def bias(
    ratings: str,
    *,
    study: Path | None = None,
    judge: str | None = None,
    own: Annotated[list[str] | None, Several] = None,
    criterion: str | None = None,
    columns: str | None = None,
    confidence: float = 0.95,
    resamples: Positive = 1_000,
    seed: Whole = 0,
    format: Format = "table",
    output: Annotated[Path | None, Output] = None,
) -> None:
    """Say whether order, length or its own outputs sway a judge, and how it agrees with itself.

    deltableu judge bias RATINGS --study STUDY. Order needs pairs that were shown both ways (judge
    apply --kind llm --what pairs), agreement with itself repeated ratings (--repeat).

    Parameters
    ----------
    ratings
        A file of a judge's ratings, such as judge apply --ratings writes.
    study
        The study with the texts, for their lengths, and with people's ratings, if there are any.
    judge
        Which judge: a rater, where NAME#1 and NAME#2 are NAME. By default all.
    own
        Systems that are the judge itself, or its kin.
    criterion
        Which ratings; may be left out where there is one criterion.
    columns
        What the ratings call their columns: rater=annotator,value=score.
    confidence
        Confidence of the intervals.
    resamples
        Samples of the bootstrap, in which items are drawn anew.
    seed
        Seed of the bootstrap.
    format
        How results are printed.
    output
        Write to this file.
    """
    check_results(output, [ratings, study])
    table = read_rating_table(ratings, columns)
    data = None if study is None else read_study(study, report=tell)
    found = judge_bias(
        table,
        data,
        judge=judge,
        own=own or (),
        criterion=criterion,
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )
    said = verdict(found)
    emit(
        # Of several, those of whom there is nothing to show have their sentence.
        [one.table() for one in found if one.findings] or [found[0].table()],
        {"judges": as_record(found), "verdict": list(said)},
        format,
        output,
        verdict=said,
        tidy=tidy_biases(found),
    )
