"""Metric scores and human scores in; the same on what both have, and what was left out."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from deltableu.corpus import ScoreTable
from deltableu.errors import InputError
from deltableu.rate import HumanScores
from deltableu.score import Scoring
from deltableu.validate.metric_scores import MetricScores

__all__ = ["align", "as_metric_scores"]


def as_metric_scores(scores: Scoring | ScoreTable | MetricScores) -> MetricScores:
    """Scores of metrics, from whatever holds them."""
    if isinstance(scores, Scoring):
        return MetricScores.from_scoring(scores)
    if isinstance(scores, ScoreTable):
        return MetricScores.from_table(scores)
    return scores


def align(scores: MetricScores, human: HumanScores) -> tuple[MetricScores, HumanScores, list[str]]:
    """Both on the systems and items that have metric and human scores, and what was left out."""
    rated = ~np.isnan(human.segments)
    notes = []
    by_people = {human.systems[place] for place in np.flatnonzero(rated.any(axis=1)).tolist()}
    systems = [name for name in scores.systems if name in by_people]
    without = [name for name in scores.systems if name not in by_people]
    if without:
        notes.append(f"no human scores for system {_names(without)}: left out")
    strangers = [name for name in human.systems if name in by_people - set(scores.systems)]
    if strangers:
        notes.append(f"no metric scores for system {_names(strangers)}: left out")
    if len(systems) < 2:
        raise InputError(
            f"{len(systems)} of {len(scores.systems)} systems have human scores; a validation "
            "needs at least 2"
        )
    known = set(human.items)
    items = [name for name in scores.items if name in known]
    if not items:
        raise InputError("metric and human scores have no item in common")
    lost = [name for name in human.items if name not in set(scores.items)]
    if lost:
        notes.append(f"no metric scores for {len(lost)} items that people rated: left out")
    people = human.select(systems, items)
    chosen = scores.select(systems, items)
    unrated = int(np.isnan(people.segments).sum())
    if unrated:
        notes.append(f"{unrated} of {people.segments.size} outputs are not rated and do not count")
    incomplete = {
        name: int((np.isnan(values) & ~np.isnan(people.segments)).sum())
        for name, values in chosen.segments.items()
    }
    for name, missing in incomplete.items():
        if missing:
            notes.append(f"{name} has no score for {missing} rated outputs: they count for none")
    if any(incomplete.values()):
        # Metrics are compared on the same outputs.
        absent = np.any([np.isnan(values) for values in chosen.segments.values()], axis=0)
        if (absent | np.isnan(people.segments)).all():
            raise InputError("no output has a human score and a score of every metric")
        kept = np.where(absent, np.nan, people.segments)
        people = replace(people, segments=kept)
    return chosen, people, notes


def _names(names: list[str]) -> str:
    listed = ", ".join(map(repr, names[:5]))
    return f"{listed} and {len(names) - 5} more" if len(names) > 5 else listed
