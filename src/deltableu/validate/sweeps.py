"""A study in; how metrics' agreement with people depends on references, units and orders, out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from deltableu._types import Progress
from deltableu.corpus import RatingTable, ReferenceSet, ScoreTable, says_simulated
from deltableu.errors import InputError, check_kind, check_known
from deltableu.rate import pair_scores
from deltableu.score import BLEU, DeltaBLEU, Metric, SentenceBLEU, as_metrics, text_source
from deltableu.validate.paired_scores import Groups
from deltableu.validate.sweep_plan import SweepPlan, check_sweeps
from deltableu.validate.sweep_results import Sweeps
from deltableu.validate.sweep_work import SweepWork


def sweep_metrics(
    study: Any,
    human: RatingTable | ScoreTable | None = None,
    *,
    metrics: str | Metric | Sequence[str | Metric] | None = None,
    sweeps: str | Sequence[str] = ("settings",),
    plan: SweepPlan | None = None,
    pairs: Sequence[tuple[str, str]] | None = None,
    systems: Sequence[str] | None = None,
    groups: Groups | Mapping[str, str] | None = None,
    notes: Sequence[str] = (),
    threads: int | None = None,
    progress: Progress | None = None,
) -> Sweeps:
    """Correlate metrics with people on units of M sentences, and vary what that depends on.

    Parameters
    ----------
    study
        A study or its folder, or a data frame, see `score_systems`.
    human
        Ratings, or a table of ready scores; by default the study's ratings.
    metrics
        By default BLEU, sentence BLEU (Nakov's) and, where references have weights, delta-BLEU, all
        of order 2.
    sweeps
        `settings`: the original reference alone, those of weight .6 and more, and all (the paper's
        Table 2); `threshold`, `unit-size` and `order` (its Figure 2); `references`: how many are
        drawn at random; `origin`: all but those of one origin.
    plan : SweepPlan, optional
    pairs
        Of systems; by default all, or those that were rated together.
    systems
        Only these.
    groups
        What each item belongs to, as in `validate_metrics`.
    notes
        What else the result is to say.
    threads : int, optional
    progress : callable, optional

    Returns
    -------
    Sweeps
        Of the items that have a positive reference at all settings of all sweeps.

    References
    ----------
    Galley et al. 2015, deltaBLEU: A Discriminative Metric for Generation Tasks with Intrinsically
    Diverse Targets, sections 5 and 6.

    Examples
    --------
    >>> found = sweep_metrics(
    ...     "examples/demo", sweeps="order", plan=SweepPlan(orders=(1, 2)), metrics="bleu-2"
    ... )
    >>> found.sweep("order").settings
    ('1', '2')
    """
    chosen = plan or SweepPlan()
    check_kind("plan", chosen, SweepPlan)
    names = check_sweeps(sweeps)
    source = text_source(study).only(systems)
    if human is None:
        human = source.ratings
    if human is None or (isinstance(human, RatingTable) and not len(human)):
        raise InputError("human is missing: give ratings, or the scores of people")
    check_kind("human", human, RatingTable, ScoreTable)
    people = pair_scores(
        human,
        pairs,
        systems=list(source.outputs),
        scale=chosen.scale,
        min_raters=chosen.min_raters,
    )
    for name in sorted({name for pair in people.pairs for name in pair}):
        check_known("system with outputs", name, source.outputs)
    made = (
        swept_metrics(source.references)
        if metrics is None
        else as_metrics(metrics, source.references)
    )
    made = tuple(metric.fitted_to(source.references) for metric in made)
    work = SweepWork.of(
        source.references, source.outputs, people, made, names, chosen, groups, threads
    )
    outputs_simulated = says_simulated(people.source)
    simulated = outputs_simulated or (
        says_simulated(source.references.weights_from)
        and any("weights" in one.needs for one in made)
    )
    found = tuple(
        replace(
            work.sweep(name, progress), simulated=simulated, outputs_simulated=outputs_simulated
        )
        for name in names
    )
    return Sweeps(
        found,
        people.pairs,
        len(work.rows.references),
        work.dropped,
        people.source,
        (*notes, *work.notes),
        work.signature(),
        simulated,
    )


def swept_metrics(references: ReferenceSet) -> tuple[Metric, ...]:
    """The metrics of the delta-BLEU paper's study."""
    plain = (BLEU(order=2), SentenceBLEU(order=2, method="nakov"))
    return plain if references.weights is None else (*plain, DeltaBLEU(order=2))
