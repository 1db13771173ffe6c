"""`deltableu rate check`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

from deltableu.cli.inputs import check_results
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Digits, Flag, Output, Positive
from deltableu.cli.output import Format, emit, note
from deltableu.cli.rating_inputs import read_rating_table
from deltableu.corpus import write_ratings
from deltableu.errors import InputError
from deltableu.io import as_record, check_apart
from deltableu.rate import ControlEvidence, ControlRule, RaterCheckPlan, check_raters
from deltableu.report import verdict


@grouped
def check(
    ratings: str,
    *,
    criterion: str | None = None,
    columns: str | None = None,
    rule: ControlRule = "paired-t",
    pass_at: float | None = None,
    evidence: ControlEvidence = "both",
    min_pairs: Positive = 6,
    min_repeats: Positive = 10,
    min_seconds: float = 1.0,
    constant_after: Positive = 10,
    min_run: Positive = 10,
    chance: float = 0.001,
    in_order: Annotated[bool, Flag] = False,
    format: Format = "table",
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
    kept: Path | None = None,
) -> None:
    """Say which raters failed, and why.

    deltableu rate check RATINGS.csv, or deltableu rate check STUDY. Raters must rate damaged copies
    of texts lower than the texts; exact repeats, speed, and runs of one value are looked at too.
    Other commands leave out who fails here if they are told to --drop-failed.

    Parameters
    ----------
    ratings
        A file of ratings (CSV, TSV, JSONL, Parquet; - is standard input), or a study folder.
    criterion
        Only these ratings; by default all criteria together.
    columns
        What the ratings call their columns: rater=annotator,value=score.
    rule
        Test of damaged texts against their originals: Student's paired test (Direct Assessment), or
        the rank-sum test (Appraise).
    pass_at
        p-value of that test up to which raters pass; by default 0.05 for paired-t and 0.01 for
        rank-sum.
    evidence
        bad-references: that test alone decides, as published. both: who nearly passes it also
        passes if damaged texts and exact repeats together reach the same p-value.
    min_pairs
        Least number of damaged texts rated beside their originals; with fewer, a rater cannot be
        judged by them.
    min_repeats
        Least number of exact repeats by which raters are judged where damaged texts are too few.
    min_seconds
        Raters whose median time per text is shorter fail; Appraise asks for 6.
    constant_after
        Number of ratings from which on raters who gave one value only fail.
    min_run
        Number of equal ratings in a row from which on raters may fail for straight-lining.
    chance
        Raters with one value, or with long runs of one, fail only if chance explains that with at
        most this probability.
    in_order
        The rows of ratings without times are in the order in which they were made; else nothing is
        said about runs there.
    format
        How results are printed.
    digits
        Digits after the decimal point in tables for people; JSON, TSV and CSV are never rounded.
    output
        Write to this file.
    kept
        Also write the ratings of all who did not fail to this file: CSV, TSV, JSONL or Parquet.
    """
    plan = RaterCheckPlan(
        rule=rule,
        significance=pass_at,
        evidence=evidence,
        min_pairs=min_pairs,
        min_repeats=min_repeats,
        min_seconds=min_seconds,
        constant_after=constant_after,
        min_run=min_run,
        chance=chance,
        in_order=in_order,
    )
    check_results(output, [ratings])
    if kept is not None:
        check_results(kept, [ratings], None)
        if os.path.exists(kept):
            raise InputError(f"{kept}: is there already, and ratings are never overwritten")
        if output is not None:
            check_apart(kept, [output], "written")
    table = read_rating_table(ratings, columns)
    found = check_raters(table, plan, criterion=criterion)
    if kept is not None:
        left = table.without_raters(found.failed)
        write_ratings(kept, left)
        note(f"wrote {len(left):,} of {len(table):,} ratings to {kept}")
    said = verdict(found)
    record = {**as_record(found), "verdict": list(said)}
    emit(
        found.table(digits=digits),
        record,
        format,
        output,
        verdict=said,
        tidy=found.tidy_table(),
    )
