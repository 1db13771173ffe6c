"""`deltableu rate agree`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from deltableu.cli.inputs import check_results
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Digits, Flag, Output, Positive, Whole, one_tidy_table
from deltableu.cli.output import Format, emit, remark
from deltableu.cli.plot_files import check_plot, write_plot
from deltableu.cli.rating_inputs import read_rating_table
from deltableu.errors import InputError
from deltableu.io import Table, as_record
from deltableu.rate import (
    RaterAgreement,
    rater_agreements,
    summary_table,
    tidy_enough,
    tidy_measures,
    tidy_raters,
)
from deltableu.report import rater_plot, verdict

_TABLES = ("summary", "measures", "enough", "raters", "icc", "correlations")
#: What is printed of one criterion, and of several.
_ONE, _SEVERAL = ("measures", "enough", "raters"), ("summary",)
#: Raters that are printed unasked.
_MOST_RATERS = 12


@grouped
def agree(
    ratings: str,
    *,
    targets: Literal["outputs", "references", "pairs"] | None = None,
    criterion: str | None = None,
    columns: str | None = None,
    drop_failed: Annotated[bool, Flag] = False,
    scale: Literal["raw", "z"] = "raw",
    target: float = 0.9,
    categories: Positive | None = None,
    confidence: float = 0.95,
    seed: Whole = 0,
    tables: str | None = None,
    plot: Path | None = None,
    format: Format = "table",
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
) -> None:
    """Say how well raters agree, how many are enough, and how high a metric can reach.

    deltableu rate agree STUDY, or deltableu rate agree ratings.csv. Of several criteria, or of
    outputs and references, it prints a summary; of one of them all measures.

    Parameters
    ----------
    ratings
        A study folder, or a file of ratings (- is standard input, as CSV).
    targets
        Only ratings of outputs, of references, or preferences between pairs of outputs.
    criterion
        Only ratings by this criterion.
    columns
        What the ratings call their columns: rater=annotator,value=score.
    drop_failed
        Leave out raters who fail deltableu rate check.
    scale
        Whether reliability, ceiling and correlations are of values as they are (raw), or
        standardised by rater (z).
    target
        What is enough: how high the mean of some ratings correlates with what ever more raters
        would say.
    categories
        Cut the scale into so many equal parts, for kappas; by default values are categories where
        there are at most 11 of them.
    confidence
        Confidence of the intervals.
    seed
        Seed of random halves and orders of ratings.
    tables
        Which tables to print, separated by commas: summary, measures, enough, raters, icc,
        correlations. TSV and CSV hold one: measures, if no other is named.
    plot
        Draw the curve and the raters here: a name that ends in .svg or .png.
    format
        How results are printed.
    digits
        Digits after the decimal point in tables for people; JSON, TSV and CSV are never rounded.
    output
        Write to this file.
    """
    wanted = one_tidy_table(tables, format, _TABLES, _ONE, "measures")
    form = check_plot(plot, output, [ratings])
    check_results(output, [ratings])
    found = rater_agreements(
        read_rating_table(ratings, columns, drop_failed=drop_failed),
        targets=targets,
        criterion=criterion,
        values=scale,
        categories=categories,
        target=target,
        confidence=confidence,
        seed=seed,
    )
    if tables is None and len(found) > 1 and format not in ("tsv", "csv"):
        wanted = list(_SEVERAL)
        more = [
            f"--{name}"
            for name, several in (
                ("targets", len({one.targets for one in found}) > 1),
                ("criterion", len({one.criterion for one in found}) > 1),
            )
            if several
        ]
        remark(f"more about one of them: {' and '.join(more)}")
    if plot is not None and form is not None:
        write_plot(plot, rater_plot(found, form))
    said = verdict(found)
    tidy = {"enough": tidy_enough, "raters": tidy_raters, "measures": tidy_measures}
    shown = _shown(found, wanted, digits, whole=tables is not None)
    if format in ("tsv", "csv") and wanted[0] not in tidy and len(shown) > 1:
        raise InputError(
            f"--format {format} holds one table of {wanted[0]}, and there are {len(shown)}: choose "
            "one with --targets and --criterion"
        )
    emit(
        shown,
        {
            "criterion": [one.criterion for one in found],
            "simulated": any(one.simulated for one in found),
            "agreements": as_record(found),
            "verdict": list(said),
        },
        format,
        output,
        verdict=said,
        tidy=tidy[wanted[0]](found) if wanted[0] in tidy else shown[0],
    )


def _shown(
    found: Sequence[RaterAgreement], wanted: list[str], digits: int, *, whole: bool
) -> list[Table]:
    shown: list[Table] = []
    for name in wanted:
        if name == "summary":
            shown.append(summary_table(found, digits=digits))
            continue
        made = [_table(one, name, digits, whole) for one in found]
        known = [one for one in made if one is not None]
        if not known:
            raise InputError(f"--tables {name}: {_reason(found[0], name)}")
        shown += known
    return shown


def _table(one: RaterAgreement, name: str, digits: int, whole: bool) -> Table | None:
    if name == "measures":
        return one.table(digits=digits)
    if name == "enough":
        return one.enough_table(digits=digits)
    if name == "raters":
        return one.raters_table(most=None if whole else _MOST_RATERS, digits=digits)
    if name == "icc":
        return one.intraclass_table(digits=digits)
    return one.correlations_table(digits=digits)


def _reason(one: RaterAgreement, name: str) -> str:
    return one.missing["ICC2, ICC3" if name == "icc" else "correlations of two raters"]
