"""`deltableu judge agree`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from deltableu.cli.inputs import check_results
from deltableu.cli.metric_options import noted_metrics
from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Digits, Flag, Output, Positive, Whole, one_tidy_table
from deltableu.cli.output import Format, emit, remark, tell
from deltableu.cli.progress import ProgressBar
from deltableu.cli.rating_inputs import kept_ratings
from deltableu.corpus import (
    RatingTable,
    Study,
    labelled_rows,
    read_ratings,
    read_scores,
    read_study,
)
from deltableu.errors import InputError
from deltableu.io import ColumnNames, as_record, named_columns
from deltableu.rate import Annotators
from deltableu.report import verdict
from deltableu.validate import JudgedTargets, JudgedUnits, compare_judges

_TABLES = ("measures", "signs", "calibration", "systems", "raters", "disagreements")
_COLUMNS = "rater=annotator,value=score"
#: What systems are compared by, and with which people's ratings of outputs are.
_METRIC: dict[JudgedTargets, str] = {"references": "delta-bleu", "outputs": "chrf++"}


@grouped
def agree(
    first: str,
    second: str,
    *,
    study: Path | None = None,
    targets: JudgedTargets | None = None,
    criterion: str | None = None,
    columns: str | None = None,
    drop_failed: Annotated[bool, Flag] = False,
    metric: str | None = None,
    annotators: Annotators = "skilled",
    allowance: float | None = None,
    cases: Whole = 5,
    confidence: float = 0.95,
    significance: float = 0.05,
    resamples: Positive = 1000,
    seed: Whole = 0,
    tables: str | None = None,
    format: Format = "table",
    digits: Digits = 2,
    output: Annotated[Path | None, Output] = None,
) -> None:
    """Say how far two judges of the same texts agree, and what swapping them would change.

    deltableu judge agree STUDY RATINGS, or any two of: a study (its ratings, or the weights of its
    references), a file of ratings (people's or a model's), a table of scores of outputs. The first
    is the standard, the second the one in question.

    Parameters
    ----------
    first
        The standard: a study folder or a file.
    second
        The one in question.
    study
        Whose texts are judged; by default the first study folder given. Without one, neither texts
        nor what a swap does to a metric are shown.
    targets
        Whether references or outputs are compared, where both could be.
    criterion
        Which ratings; may be left out where there is one.
    columns
        What the files call their columns: rater=annotator,value=score.
    drop_failed
        Leave out raters of the first who fail deltableu rate check.
    metric
        For references, what ranks systems with either's weights (delta-bleu); for outputs, whose
        agreement with either is compared (chrf++).
    annotators
        Who the raters of the first are: it sets the allowance of the alternative annotator test,
        .2 for experts, .15 for skilled raters, .1 for crowds.
    allowance
        The allowance itself.
    cases
        How many disagreements are listed.
    confidence
        Confidence of the intervals, which are over items.
    significance
        The expected share of false wins in the alternative annotator test.
    resamples
        Samples of the bootstrap.
    seed
        Seed of everything random.
    tables
        Which tables to print, separated by commas: measures, signs, calibration, systems, raters,
        disagreements; all by default. TSV and CSV hold one: measures, if no other is named.
    format
        How results are printed.
    digits
        Digits after the decimal point in tables for people; JSON, TSV and CSV are never rounded.
    output
        Write to this file.
    """
    wanted = one_tidy_table(tables, format, _TABLES, _TABLES, "measures")
    check_results(output, [first, second, study])
    if "" in (first, second):
        raise InputError("a path is empty")
    mapped = named_columns(columns, _COLUMNS)
    folder = next((path for path in (study, first, second) if path and Path(path).is_dir()), study)
    data = None if folder is None else read_study(folder, columns=mapped, report=tell)
    one = _offers(first, folder, data, mapped, criterion, drop_failed=drop_failed)
    two = _offers(second, folder, data, mapped, criterion)
    kind = _targets(first, one, second, two, targets)
    (chosen,) = noted_metrics([metric or _METRIC[kind]], {})
    with ProgressBar():
        found = compare_judges(
            one[kind],
            two[kind],
            data,
            metric=chosen,
            annotators=annotators,
            allowance=allowance,
            cases=cases,
            confidence=confidence,
            significance=significance,
            resamples=resamples,
            seed=seed,
        )
    if found.first_only or found.second_only:
        remark(
            f"{found.first_only:,} {kind} judged by {found.first} alone and {found.second_only:,} "
            f"by {found.second} alone are left out"
        )
    said = verdict(found)
    shown = found.tables(wanted, digits=digits)
    if not shown:
        raise InputError(f"--tables {wanted[0]}: there is none here")
    tidy = labelled_rows(shown[0], found.simulated)
    record = {**as_record(found), "verdict": list(said)}
    emit(shown, record, format, output, verdict=said, tidy=tidy)


Offers = dict[JudgedTargets, JudgedUnits]


def _offers(
    path: str,
    folder: Path | str | None,
    data: Study | None,
    columns: ColumnNames | None,
    criterion: str | None,
    *,
    drop_failed: bool = False,
) -> Offers:
    """What a study or file says of references, of outputs, or of both."""
    name = _name(path)
    if Path(path).is_dir():
        study = data if data is not None and str(folder) == path else None
        study = study or read_study(path, columns=columns, report=tell)
        ratings = kept_ratings(study.ratings) if drop_failed else study.ratings
        offers = _of_ratings(name, ratings, criterion)
        weighted = any(one.weight is not None for item in study.items for one in item.references)
        if "references" not in offers and weighted:
            offers["references"] = JudgedUnits.of_weights(name, study)
        if not offers:
            raise InputError(f"{path}: has neither ratings nor weights")
        return offers
    try:
        ratings = read_ratings(path, tell, columns=columns)
    except InputError as error:
        try:
            scores = read_scores(path)
        except InputError:
            raise error from None
        return {"outputs": JudgedUnits.of_scores(name, scores)}
    offers = _of_ratings(name, kept_ratings(ratings) if drop_failed else ratings, criterion)
    if not offers:
        raise InputError(f"{path}: has no ratings of references or outputs")
    return offers


def _name(path: str) -> str:
    folder = Path(path)
    return folder.name if folder.is_dir() else folder.name.partition(".")[0] or path


def _of_ratings(name: str, ratings: RatingTable, criterion: str | None) -> Offers:
    there: dict[JudgedTargets, bool] = {
        "references": bool((ratings.reference >= 0).any()),
        "outputs": bool((ratings.system >= 0).any()),
    }
    return {
        kind: JudgedUnits.of_ratings(name, ratings, kind, criterion)
        for kind, any_ in there.items()
        if any_
    }


def _targets(
    first: str, one: Offers, second: str, two: Offers, wanted: JudgedTargets | None
) -> JudgedTargets:
    shared = [kind for kind in one if kind in two]
    if wanted is not None:
        for path, offers in ((first, one), (second, two)):
            if wanted not in offers:
                raise InputError(f"{path}: says nothing of {wanted}")
        return wanted
    if not shared:
        raise InputError(
            f"{first} judges {' and '.join(one)}, {second} judges {' and '.join(two)}: they have "
            "nothing in common"
        )
    if len(shared) > 1:
        raise InputError("both judge references and outputs: choose one of them with --targets")
    return shared[0]
