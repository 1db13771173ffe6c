"""A folder of studies in; how well metrics agree with people in all of them, out."""

from __future__ import annotations

import os
import zlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from deltableu._types import Progress
from deltableu.corpus import Missing, Study, Unknown, read_study
from deltableu.errors import InputError, Problem, check_choice, check_kind
from deltableu.rate import without_failed_raters
from deltableu.score import (
    BLEU,
    ChrFPlusPlus,
    DeltaBLEU,
    DeltaChrFPlusPlus,
    Length,
    Metric,
    SentenceBLEU,
    make_metrics,
)
from deltableu.stats import stream
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.suite_ranks import SuiteDraws, suite_gains, suite_ranking
from deltableu.validate.suite_results import (
    POPULATIONS,
    SuiteFailure,
    SuiteRanking,
    SuiteResample,
    SuiteValidation,
)
from deltableu.validate.suite_study import MeasuredStudy, Row, SuiteChoices, measure_study
from deltableu.validate.winners import SENTINELS

_SEEDS = 14  # key of the random streams
#: What a suite is measured by, unless a plan says otherwise.
SUITE_PLAN = ValidationPlan(methods=("pearson", "kendall-b"), levels=("pooled", "item"))


def validate_suite(
    studies: str | os.PathLike[str] | Mapping[str, Study | str | os.PathLike[str]],
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    *,
    plan: ValidationPlan | None = None,
    resample: SuiteResample = "items",
    criterion: str | Sequence[str] | None = None,
    group: str | None = None,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    missing: Missing = "error",
    unknown: Unknown = "error",
    drop_failed: bool = False,
    on_error: Literal["error", "skip"] = "error",
    threads: int | None = None,
    progress: Progress | None = None,
) -> SuiteValidation:
    """Measure how well metrics agree with people in many studies, beside controls.

    Controls are the sentinel `length`; each metric with the references of other items (`blind`:
    what it knows without the right ones); and each weighted metric with the weights of each item
    dealt out anew (`shuffled`).

    Parameters
    ----------
    studies : path, or mapping of str to Study or path
        A folder whose sub-folders are studies, each with outputs and ratings; or the studies.
    metrics : str, metric, or list of them, optional
        See `score_systems`; by default bleu and sentence-bleu of order 2 and chrf++, and where
        references have weights delta-bleu and delta-chrf++. Sentinels among them are controls.
    plan : ValidationPlan, optional
        Levels `pooled` and `item`, by Pearson and Kendall. The first level and method are what
        metrics are ranked by; `correction` and `significance` are those of differences in mean
        agreement. There is no other test.
    resample : {"items", "studies"}
        What the intervals of averages draw again: items within each study, the same for all
        metrics, which speaks about these studies with as many other items; or whole studies, which
        speaks about other studies like these.
    criterion : str or list of str, optional
        Of studies rated by several: the first of these that a study has. By default overall, else
        the first by name, which is said.
    group : str, optional
        The field of the items' meta that says which belong together; by default an obvious one,
        such as document or dialogue, where a study has it.
    select, no_positive
        As in `score_systems`.
    missing
        As in `read_study`.
    unknown : {"error", "drop"}
        What to do with ratings of items and systems that a study does not have.
    drop_failed : bool
        Whether to leave out raters who fail `check_raters`.
    on_error : {"error", "skip"}
        A study that cannot be used is an error, or is left out and listed.
    threads : int, optional
    progress : callable, optional
        Called with (what is done, done, in all).

    Returns
    -------
    SuiteValidation
        A metric that a study has nothing for (no weights, no references) is left out there. Ranks
        are over studies that have all the metrics ranked.

    References
    ----------
    Perrella et al. 2024, "Guardians of the Machine Translation Meta-Evaluation: Sentinel Metrics
    Fall In!" (controls that a metric must beat).

    Examples
    --------
    >>> from deltableu import study_from
    >>> texts = ["a cat sat", "a cat", "no", "dogs bark", "a dog", "so", "it rains", "rain", "no"]
    >>> table = {"item": [1, 1, 1, 2, 2, 2, 3, 3, 3], "system": list("ABC") * 3,
    ...          "prediction": texts, "references": [t for t in texts[::3] for _ in "ABC"],
    ...          "rater": ["ann"] * 9, "value": [5, 3, 1, 5, 2, 2, 4, 3, 1]}
    >>> found = validate_suite({"tiny": study_from(table)}, "chrf++,bleu-1")
    >>> [(one.metric, one.rank) for one in found.rankings[0].metrics]
    [('chrf++', 1.0), ('bleu-1', 2.0)]
    """
    chosen = SUITE_PLAN if plan is None else plan
    check_kind("plan", chosen, ValidationPlan)
    _check_plan(chosen)
    check_choice("resample", resample, get_args(SuiteResample))
    check_choice("on_error", on_error, ("error", "skip"))
    check_choice("no_positive", no_positive, ("error", "skip"))
    check_choice("unknown", unknown, get_args(Unknown))
    check_choice("missing", missing, get_args(Missing))
    wanted = (criterion,) if isinstance(criterion, str) else tuple(criterion or ())
    choices = SuiteChoices(wanted, group, select, no_positive, unknown)
    named = metrics is not None
    made = _metrics(metrics)
    sources = suite_sources(studies)
    measured: list[MeasuredStudy] = []
    failures: list[SuiteFailure] = []
    for number, (name, source) in enumerate(sources.items()):
        if progress is not None:
            progress("studies", number, len(sources))
        try:
            study, notes = _read(source, missing)
            if drop_failed:
                study, said = without_failed_raters(study)
                notes = [*notes, said]
            measured.append(
                measure_study(
                    name,
                    study,
                    made,
                    chosen,
                    choices,
                    seed=_seed(chosen.seed, name),
                    notes=notes,
                    threads=threads,
                )
            )
        except InputError as error:
            if on_error == "error":
                raise InputError(f"study {name!r}: {error}") from None
            failures.append(SuiteFailure(name, str(error)))
    if progress is not None:
        progress("studies", len(sources), len(sources))
    if not measured:
        first = failures[0]
        raise InputError(
            f"none of {len(failures)} studies can be used; {first.study}: {first.reason}"
        )
    return _result(measured, failures, [one.name for one in made], chosen, resample, named)


def suite_sources(
    studies: str | os.PathLike[str] | Mapping[str, Study | str | os.PathLike[str]],
) -> dict[str, Study | Path]:
    """The studies of a suite, by name."""
    if isinstance(studies, Mapping):
        if not studies:
            raise InputError("the suite holds no studies")
        for name, one in studies.items():
            check_kind("the name of a study", name, str)
            check_kind(f"study {name!r}", one, Study, str, os.PathLike)
        return {name: one if isinstance(one, Study) else Path(one) for name, one in studies.items()}
    check_kind("studies", studies, str, os.PathLike, Mapping)
    folder = Path(studies)
    try:
        inside = sorted(folder.iterdir())
    except FileNotFoundError:
        raise InputError(Problem("there is no such folder", file=str(folder))) from None
    except NotADirectoryError:
        raise InputError(
            Problem("is a file, but a suite is a folder of studies", file=str(folder))
        ) from None
    except OSError as error:
        raise InputError(Problem(f"cannot be read: {error.strerror}", file=str(folder))) from None
    found = {one.name: one for one in inside if one.is_dir() and not one.name.startswith(".")}
    alone = any(one.name.startswith(("items.", "r0.txt")) for one in inside)
    if alone:
        message = "is a study itself, but a suite is a folder whose sub-folders are studies"
        raise InputError(Problem(message, file=str(folder)))
    if not found:
        raise InputError(Problem("holds no folders: a suite has one a study", file=str(folder)))
    return dict(found)


def _check_plan(plan: ValidationPlan) -> None:
    if "system" in plan.levels:
        raise InputError("a suite is measured at level pooled and item, not system")
    if plan.test != "auto":
        raise InputError("a suite tests differences of mean agreement in its own way: no test")
    if plan.accuracies:
        raise InputError(f"a suite is measured by correlations, not by {plan.accuracies[0]}")
    if plan.correction == "wmt":
        raise InputError("correction must be one of holm, bh, none for a suite, got 'wmt'")


def _metrics(given: Any) -> tuple[Metric, ...]:
    """The metrics asked for, and length."""
    found: list[Metric] = []
    if given is None:
        found = [
            *(DeltaBLEU(), DeltaChrFPlusPlus()),
            *(BLEU(order=2), SentenceBLEU(order=2), ChrFPlusPlus()),
        ]
    else:
        several = [given] if isinstance(given, str | Metric) else given
        check_kind("metrics", several, Sequence)
        for one in several:
            check_kind("metrics", one, str, Metric)
            if isinstance(one, Metric):
                found.append(one)
            else:
                names = one.replace(",", " ").split()
                found += make_metrics(names, {})
    names = [one.name for one in found]
    for name in names:
        if names.count(name) > 1:
            raise InputError(f"there are two metrics {name!r}")
    if all(name in SENTINELS for name in names):
        raise InputError("there is no metric to validate: sentinels are only controls")
    real = [one for one in found if one.name not in SENTINELS]
    sentinels = [one for one in found if one.name in SENTINELS]
    if "length" not in names:
        sentinels.insert(0, Length())
    return (*real, *sentinels)


def _read(source: Study | Path, missing: Missing) -> tuple[Study, list[str]]:
    if isinstance(source, Study):
        return source, []
    notes = []

    def report(problem: Problem) -> None:
        if problem.severity == "error":
            raise InputError(problem)
        notes.append(str(problem))

    return read_study(source, missing=missing, report=report), notes


def _seed(seed: int, name: str) -> int:
    """Of a study's own, whatever others are there: equal draws would tie studies together."""
    return int(stream(seed, _SEEDS, zlib.crc32(name.encode())).integers(2**31))


def _result(
    measured: Sequence[MeasuredStudy],
    failures: Sequence[SuiteFailure],
    names: Sequence[str],
    plan: ValidationPlan,
    resample: SuiteResample,
    named: bool,
) -> SuiteValidation:
    notes = [f"{one.study} is left out: {one.reason}" for one in failures]
    said: dict[str, list[str]] = {}
    for one in measured:
        for text in one.study.notes:
            said.setdefault(text, []).append(one.study.name)
    notes += [f"{', '.join(which)}: {text}" for text, which in said.items()]
    everywhere, somewhere = [], []
    for name in names:
        if name in SENTINELS:
            continue
        without = [one for one in measured if (name, None) not in one.values]
        if len(without) == len(measured):
            if named:
                notes.append(
                    f"{name} can be computed in no study: {without[0].study.missing[name]}"
                )
            continue
        somewhere.append(name)
        if not without:
            everywhere.append(name)
        else:
            reasons: dict[str, list[str]] = {}
            for one in without:
                reasons.setdefault(one.study.missing[name], []).append(one.study.name)
            notes += [f"{', '.join(which)}: no {name}, as {why}" for why, which in reasons.items()]
    rows = list(dict.fromkeys(row for one in measured for row in one.values))
    controls: list[Row] = sorted(
        (row for row in rows if row[1] is not None),
        key=lambda row: ("sentinel", "blind", "shuffled").index(str(row[1])),
    )
    draws = SuiteDraws(measured, plan, resample)
    rankings: list[SuiteRanking] = []
    if everywhere:
        rankings.append(suite_ranking(draws, everywhere, controls))
    if somewhere != everywhere:
        whole = [one for one in measured if all((name, None) in one.values for name in somewhere)]
        if whole:
            rankings.append(suite_ranking(draws.only(whole), somewhere, controls))
        else:
            notes.append("no study has all metrics: those that some studies lack are not ranked")
    return SuiteValidation(
        tuple(one.study for one in measured),
        tuple(rankings),
        suite_gains(draws, somewhere, controls),
        tuple(failures),
        plan.levels[0],
        plan.correlations[0],
        POPULATIONS[resample],
        tuple(notes),
        f"studies:{len(measured)}|scale:{plan.scale}|levels:{'+'.join(plan.levels)}"
        f"|methods:{'+'.join(plan.methods)}|resample:{resample}-{plan.resamples}"
        f"|correction:{plan.correction}|significance:{plan.significance:g}"
        f"|ci:{plan.confidence:g}|seed:{plan.seed}",
    )
