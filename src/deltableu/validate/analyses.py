"""A validation in; all that Wei's section 4 asks to look at out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from deltableu.corpus import (
    Item,
    RatingTable,
    Study,
    StudyFacts,
    labelled,
    says_simulated,
    study_facts,
    told_of_simulated,
)
from deltableu.errors import InputError
from deltableu.io import Cell, Column, Table, field_record
from deltableu.rate import Consistency, consistency_curve
from deltableu.validate.advice import Advice, validation_advice
from deltableu.validate.failure_cases import FailureCase, failure_cases
from deltableu.validate.kinds_of_systems import KindsOfSystems, kinds_of_systems
from deltableu.validate.quality_bins import BinRule, QualityBins, bins_table, quality_bins
from deltableu.validate.results import Validation

#: The analyses that have tables.
ANALYSES = ("bins", "cases", "kinds", "facts", "consistency")
#: Letters of a text in a table.
_LONGEST = 160


@dataclass(frozen=True, slots=True)
class Analyses:
    """What lies behind a correlation with people.

    Attributes
    ----------
    bins : tuple of QualityBins
        How each metric scores bad, average and good outputs.
    cases : tuple of FailureCase
        Where a metric and people disagree most.
    kinds : tuple of KindsOfSystems
        Agreement by type of system, and by other tags.
    facts : StudyFacts or None
        The texts of the test set.
    consistency : Consistency or None
        How many ratings an output needs; None where outputs have too few.
    advice : tuple of Advice
    simulated, outputs_simulated : bool
        Whether raters of outputs or references are; whether those of outputs are.
    """

    bins: tuple[QualityBins, ...] = ()
    cases: tuple[FailureCase, ...] = ()
    kinds: tuple[KindsOfSystems, ...] = ()
    facts: StudyFacts | None = None
    consistency: Consistency | None = None
    advice: tuple[Advice, ...] = ()
    simulated: bool = False
    outputs_simulated: bool = False
    items: Mapping[str, Item] = field(default_factory=dict, repr=False)
    outputs: Mapping[tuple[str, str], str] = field(default_factory=dict, repr=False)

    def tables(self, name: str) -> list[Table]:
        """Those of one analysis: bins, cases, kinds, facts or consistency; none where it is not."""
        found: dict[str, list[Table]] = {
            "bins": [bins_table(self.bins)] if self.bins else [],
            "cases": [self.cases_table()] if self.cases else [],
            "kinds": [one.table() for one in self.kinds],
            "facts": [] if self.facts is None else [self.facts.table()],
            "consistency": [] if self.consistency is None else [self.consistency.table()],
        }
        # The texts are what they are, whoever rated them.
        return found[name] if name == "facts" else [self.told(one) for one in found[name]]

    def told(self, table: Table) -> Table:
        """A table that rests on ratings, with what its readers must know."""
        if not self.simulated:
            return table
        return told_of_simulated(table) if self.outputs_simulated else labelled(table)

    def cases_table(self) -> Table:
        """One row per case: what was asked, said, expected, and what people and metric think."""
        rows = []
        for one in self.cases:
            item = self.items.get(one.item)
            best = None
            if item is not None and item.references:
                best = max(item.references, key=lambda found: found.weight or 0.0).text
            rows.append(
                (
                    Cell(one.metric, note=f"{one.kind} {one.rank}"),
                    one.system,
                    one.item,
                    one.human,
                    one.score,
                    _shortened(None if item is None else item.message),
                    _shortened(self.outputs.get((one.system, one.item))),
                    _shortened(best),
                )
            )
        columns = (
            *("metric", "system", "item"),
            Column("people", ".2f"),
            Column("score", ".2f"),
            *("message", "output", "best reference"),
        )
        note = "low scores of outputs that people find good, high scores of those they find bad"
        return Table(columns, rows, "failure cases", {"cases": note})

    def record(self) -> dict[str, Any]:
        """All of it, for programs."""
        return field_record(self, without=("items", "outputs"))


def analyse_validation(
    validation: Validation,
    study: Study | None = None,
    ratings: RatingTable | None = None,
    *,
    metrics: Sequence[str] | None = None,
    tags: Sequence[str] | None = None,
    bins: int = 3,
    rule: BinRule = "quantile",
    most: int = 5,
    confidence: float = 0.95,
    seed: int = 0,
) -> Analyses:
    """Look behind the correlations of a validation.

    Parameters
    ----------
    validation : Validation
    study : Study, optional
        Where texts, types of systems and ratings came from.
    ratings : RatingTable, optional
        The ratings of outputs, for the curve of consistency.
    metrics : list of str, optional
        By default all but sentinels.
    tags : list of str, optional
        Tags of systems to look at agreement by; by default the type and all others that tell
        systems apart.
    bins, rule
        As in `quality_bins`.
    most : int
        Failure cases of each kind and metric; 0 for none.
    confidence : float
    seed : int

    References
    ----------
    Wei, "On conducting better validation studies of automatic metrics in natural language
    generation evaluation", sections 3 and 4.

    Examples
    --------
    >>> from deltableu import validate_metrics
    >>> from deltableu.corpus import ScoreTable
    >>> people = ScoreTable.of({"people": {"A": [5, 4, 5], "B": [3, 3, 4], "C": [1, 2, 3]}})
    >>> metric = ScoreTable.of({"m": {"A": [9, 7, 8], "B": [6, 5, 7], "C": [2, 3, 4]}})
    >>> found = analyse_validation(validate_metrics(metric, people), most=1)
    >>> [(one.kind, one.system, one.item) for one in found.cases]
    [('too low', 'A', '2'), ('too high', 'B', '0')]
    """
    scores, human = validation.scores, validation.human
    if scores is None:
        raise InputError("this validation does not hold its metrics' scores to look at")
    chosen = [one for one in scores.metrics if one not in validation.sentinels]
    if metrics is not None:
        chosen = list(scores.select(metrics=metrics).metrics)
    rated = human.values[0]
    of_outputs = [one for one in chosen if scores.has_items(one)]
    # Where people gave all outputs one score there are no bins, and no cases.
    if not human.items or np.nanmin(rated) == np.nanmax(rated):
        of_outputs = []
    found_bins: tuple[QualityBins, ...] = ()
    cases: tuple[FailureCase, ...] = ()
    if of_outputs:
        found_bins = quality_bins(scores, human, metrics=of_outputs, bins=bins, rule=rule)
        if most:
            cases = failure_cases(
                scores, human, metrics=of_outputs, most=most, bins=bins, rule=rule
            )
    kinds = []
    if study is not None and len(human.systems) > 1:
        for tag in tags if tags is not None else _tags(study, human.systems):
            known = {
                name: study.systems[name].tag(tag) if name in study.systems else None
                for name in human.systems
            }
            if not any(known.values()):
                raise InputError(f"no system of the study has a tag {tag!r} in systems.toml")
            kinds.append(
                kinds_of_systems(
                    scores, human, known, tag=tag, metrics=chosen, confidence=confidence
                )
            )
    texts = {} if study is None else _texts(study, cases)
    return Analyses(
        found_bins,
        cases,
        tuple(kinds),
        None
        if study is None
        else study_facts(study, [n for n in human.systems if n in study.outputs]),
        None if ratings is None else consistency_curve(ratings, seed=seed),
        validation_advice(validation, study),
        validation.simulated,
        says_simulated(validation.source),
        {} if study is None else {item.id: item for item in study.items},
        texts,
    )


def _tags(study: Study, systems: Sequence[str]) -> list[str]:
    """Those that put some of the systems, but not all, together."""
    known = [study.systems[name] for name in systems if name in study.systems]
    names = ["type", *dict.fromkeys(tag for one in known for tag in one.tags)]
    found = []
    for name in names:
        values = [one.tag(name) for one in known if one.tag(name) is not None]
        if 1 < len(set(values)) < len(values):
            found.append(name)
    return found


def _texts(study: Study, cases: Sequence[FailureCase]) -> dict[tuple[str, str], str]:
    places = {item.id: place for place, item in enumerate(study.items)}
    return {
        (one.system, one.item): study.outputs[one.system][places[one.item]]
        for one in cases
        if one.system in study.outputs and one.item in places
    }


def _shortened(text: str | None) -> str | None:
    return text if text is None or len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
