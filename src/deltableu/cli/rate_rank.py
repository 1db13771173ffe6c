"""`deltableu rate rank`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

from deltableu.cli.inputs import check_results
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Digits, Flag, Output, Several, Whole, one_tidy_table
from deltableu.cli.output import Format, emit, remark
from deltableu.cli.plot_files import check_plot, write_plot
from deltableu.cli.progress import ProgressBar
from deltableu.cli.rating_inputs import read_rating_table
from deltableu.errors import InputError
from deltableu.io import Table, as_record
from deltableu.rate import PreferenceRanking, preferences, rank_by_preference
from deltableu.report import preference_plot, verdict

_TABLES = ("systems", "pairs", "position")
#: Pairs that are printed unasked.
_MOST_PAIRS = 66


@grouped
def rank(
    ratings: str,
    *,
    criterion: str | None = None,
    columns: str | None = None,
    drop_failed: Annotated[bool, Flag] = False,
    systems: Annotated[list[str] | None, Several] = None,
    prior: float = 0.0,
    resample: Literal["items", "raters", "items,raters"] | None = None,
    resamples: Whole = 2_000,
    correction: Literal["holm", "bh", "none"] = "holm",
    significance: float = 0.05,
    confidence: float = 0.95,
    seed: Whole = 0,
    tables: str | None = None,
    plot: Path | None = None,
    format: Format = "table",
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
) -> None:
    """Rank systems by which of two outputs people preferred.

    deltableu rate rank STUDY, or deltableu rate rank ratings.csv. Two ratings with the same pair,
    item and rater are one judgement: the higher value won, equal values are a tie. Strengths are
    those of Bradley and Terry's model with Davidson's ties and an effect of being shown first.

    Parameters
    ----------
    ratings
        A study folder, or a file of ratings (- is standard input, as CSV).
    criterion
        Which judgements; may be left out where there is one criterion.
    columns
        What the ratings call their columns: rater=annotator,value=score.
    drop_failed
        Leave out raters who fail deltableu rate check.
    systems
        Only judgements of two of these systems.
    prior
        As if each system had also been compared so many times with an average one, half won and
        half lost: 1, say, where one system wins throughout, and maximum likelihood has no end.
    resample
        What would be others in another study, and is drawn anew for intervals and tests. By
        default both, or items alone where there is one rater.
    resamples
        Samples of the bootstrap.
    correction
        For the number of pairs: Holm, Benjamini-Hochberg, or none.
    significance
        Corrected p-values below it are significant.
    confidence
        Confidence of the intervals.
    seed
        Seed of everything random.
    tables
        Which tables to print, separated by commas: systems, pairs, position; all by default. TSV
        and CSV hold one: systems, if no other is named.
    plot
        Draw strengths with their intervals here: a name that ends in .svg or .png.
    format
        How results are printed.
    digits
        Digits after the decimal point in tables for people; JSON, TSV and CSV are never rounded.
    output
        Write to this file.
    """
    wanted = one_tidy_table(tables, format, _TABLES, _TABLES, "systems")
    form = check_plot(plot, output, [ratings])
    check_results(output, [ratings])
    if systems is not None and not systems:
        raise InputError("--systems names no system")
    said = preferences(read_rating_table(ratings, columns, drop_failed=drop_failed), criterion)
    if systems is not None:
        said = said.select(systems)
    with ProgressBar() as progress:
        found = rank_by_preference(
            said,
            prior=prior,
            resample=resample,
            resamples=resamples,
            correction=correction,
            significance=significance,
            confidence=confidence,
            seed=seed,
            progress=progress,
        )
    if found.position is None:
        remark("nobody wrote down which output was shown first: no effect of position is in this")
    if tables is None and "pairs" in wanted and len(found.pairs) > _MOST_PAIRS:
        wanted.remove("pairs")
        remark(f"{len(found.pairs):,} pairs are not printed: --tables pairs prints them")
    if plot is not None and form is not None:
        write_plot(plot, preference_plot(found, form))
    sentences = verdict(found)
    tidy = {
        "systems": found.tidy_table,
        "pairs": found.tidy_pairs,
        "position": found.tidy_position,
    }
    emit(
        _shown(found, wanted, digits),
        {**as_record(found), "verdict": list(sentences)},
        format,
        output,
        verdict=sentences,
        tidy=tidy[wanted[0]](),
    )


def _shown(found: PreferenceRanking, wanted: list[str], digits: int) -> list[Table]:
    made: dict[str, Callable[[], Table | None]] = {
        "systems": lambda: found.table(digits=digits),
        "pairs": lambda: found.pairs_table(digits=max(digits - 1, 0)),
        "position": lambda: found.position_table(digits=digits),
    }
    shown = [made[name]() for name in wanted]
    known = [one for one in shown if one is not None]
    if not known:
        raise InputError("--tables position: nobody wrote down which output was shown first")
    return known
