"""A study and metrics in; how well these, and controls, agree with people there, out."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np

from deltableu._types import Array
from deltableu.corpus import (
    ItemKeys,
    OutputMatches,
    RatingTable,
    ReferenceSet,
    ScoreTable,
    Study,
    Unknown,
    align_scores,
    item_groups,
    obvious_groups,
    reference_set,
    says_simulated,
)
from deltableu.errors import InputError, hint_at
from deltableu.rate import human_scores, of_one_criterion
from deltableu.score import Metric, WeightedMetric, score_systems
from deltableu.stats import ConfidenceInterval, Method, percentile_interval
from deltableu.validate.agreement_bootstrap import drawn_agreements, expanded_level
from deltableu.validate.controls import exchanged_references, shuffled_weights
from deltableu.validate.levels import Level, Measure
from deltableu.validate.paired_scores import Groups
from deltableu.validate.plan import ValidationPlan
from deltableu.validate.resampled_scores import ResampledScores
from deltableu.validate.suite_results import Control, SuiteAgreement, SuiteStudy
from deltableu.validate.winners import SENTINELS

#: The criterion that is taken where there are several and none was named.
_OVERALL = "overall"
#: Items, or groups of them, that a study must have.
_FEWEST = 3
#: Share of a system's outputs that equal a reference, from which it is one of them.
_COPIED = 0.5

#: A metric, or one of its controls.
Row = tuple[str, Control | None]


@dataclass(frozen=True, slots=True)
class SuiteChoices:
    """What is taken of each study."""

    criterion: Sequence[str] = ()
    group: str | None = None
    select: str = "all"
    no_positive: Literal["error", "skip"] = "error"
    unknown: Unknown = "error"


@dataclass(frozen=True, slots=True, eq=False)
class MeasuredStudy:
    """A study's results, and the first measure of each row as it is and in each draw.

    Attributes
    ----------
    values : mapping of (metric, control) to float
        0 for what gives all outputs the same score.
    draws : mapping of (metric, control) to array
        In the same order of draws for all.
    """

    study: SuiteStudy
    values: Mapping[Row, float]
    draws: Mapping[Row, Array]


@dataclass(slots=True)
class _Scored:
    """Scores of all rows, and what could not be scored."""

    table: ScoreTable | None = None
    rows: list[Row] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    signatures: dict[str, str] = field(default_factory=dict)

    def add(self, table: ScoreTable, control: Control | None) -> None:
        """More rows; those of a control have the names of its metrics."""
        for name, signature in zip(table.metrics, table.signatures, strict=True):
            kind: Control | None = "sentinel" if name in SENTINELS else control
            self.rows.append((name, kind))
            if kind is None:
                self.signatures[name] = signature
        if control is not None:
            names = tuple(f"{name} ({control})" for name in table.metrics)
            table = replace(table, metrics=names)
        self.table = table if self.table is None else self.table.joined(table)


def measure_study(
    name: str,
    study: Study,
    metrics: Sequence[Metric],
    plan: ValidationPlan,
    choices: SuiteChoices,
    *,
    seed: int,
    notes: Sequence[str] = (),
    threads: int | None = None,
) -> MeasuredStudy:
    """Score a study's outputs with metrics and controls, and compare with its ratings.

    The seed is of the draws and of the controls. Metrics that the study has nothing for are left
    out, with the reason.
    """
    told = list(notes)
    if not study.outputs:
        raise InputError("the study has no system outputs; put them in outputs/")
    if not (study.ratings.system >= 0).any():
        raise InputError("the study has no ratings of systems")
    criterion, said = _criterion(study, choices.criterion)
    told += [*said, *_copies(study)]
    ratings = RatingTable.from_study(study, criterion=criterion, unknown=choices.unknown)
    if ratings.is_simulated:
        raise InputError(
            "its ratings are simulated, and a suite ranks metrics by what people say: leave it out"
        )
    people = human_scores(of_one_criterion(ratings), scale=plan.scale, min_raters=plan.min_raters)
    scored = _scores(study, metrics, choices, seed, told, threads)
    if scored.table is None or all(kind is not None for _, kind in scored.rows):
        reasons = "; ".join(f"{metric}: {why}" for metric, why in scored.missing.items())
        raise InputError(f"no metric can be computed ({reasons})")
    if any(map(says_simulated, scored.table.signatures)):
        raise InputError(
            "the weights of its references are simulated, and a suite ranks metrics by what people "
            "say: leave it out, or metrics that use weights"
        )
    given, human, left_out = align_scores(scored.table.turned(), people.turned(), least=1)
    told += left_out
    rated = human.values[0]
    group = choices.group or obvious_groups(study)
    groups = None
    if group is not None:
        labels = dict(
            zip((item.id for item in study.items), item_groups(study, group), strict=True)
        )
        groups = [labels[item] for item in given.items]
    _check_units(rated, groups)
    measured = _Measured(given, rated, scored.rows, plan, groups, seed, threads)
    agreements: list[SuiteAgreement] = []
    values: dict[Row, float] = {}
    draws: dict[Row, Array] = {}
    for level in plan.levels:
        why = _unmeasurable(rated, level)
        if why is not None:
            if level == plan.levels[0]:
                raise InputError(f"level {level} is empty, which metrics are ranked by: {why}")
            told.append(f"level {level} is empty: {why}")
            continue
        for method in plan.correlations:
            found, drawn = measured.at(level, method)
            agreements += found
            if (level, method) == (plan.levels[0], plan.methods[0]):
                for row, one, own in zip(scored.rows, found, drawn.T, strict=True):
                    values[row] = 0.0 if math.isnan(one.value) else one.value
                    draws[row] = np.nan_to_num(own, nan=0.0)
                    if math.isnan(one.value) and one.control is None:
                        told.append(
                            f"{row[0]} gives all outputs the same score, which counts as no "
                            "agreement"
                        )
    result = SuiteStudy(
        name,
        criterion,
        len(given.systems),
        int((~np.isnan(rated)).any(axis=0).sum()),
        int((~np.isnan(rated)).sum()),
        group,
        tuple(agreements),
        scored.missing,
        tuple(told),
        scored.signatures,
    )
    return MeasuredStudy(result, values, draws)


def _criterion(study: Study, wanted: Sequence[str]) -> tuple[str, list[str]]:
    """Which ratings count, and what to say of that."""
    own = study.ratings.scored()
    there = sorted({own.criteria[place] for place in own.criterion.tolist()})
    if len(there) == 1:
        return there[0], []
    for name in wanted:
        if name in there:
            return name, []
    listed = ", ".join(there)
    if wanted:
        meant = hint_at(wanted[0], there)
        raise InputError(f"outputs were rated for {listed}, not for {', '.join(wanted)}{meant}")
    if _OVERALL in there:
        return _OVERALL, []
    return there[0], [f"of the criteria {listed} the first was taken"]


def _copies(study: Study) -> list[str]:
    """Systems whose outputs are references, which metrics cannot but score best."""
    keys = ItemKeys.of(study.items)
    found = []
    for name, texts in study.outputs.items():
        pairs = [(keys[item.id], text) for item, text in zip(study.items, texts, strict=True)]
        matches = OutputMatches.count(pairs)
        copied = sum(matches.by_origin.values())
        if copied >= _COPIED * matches.outputs:
            found.append(
                f"{copied:,} of {matches.outputs:,} outputs of {name} equal a reference of their "
                "item, so that agreement is flattered: leave that system out"
            )
    return found


def _check_units(rated: Array, groups: Groups | None) -> None:
    """Refuse studies of which nothing can be drawn again."""
    kept = np.flatnonzero((~np.isnan(rated)).any(axis=0)).tolist()
    units = len(kept) if groups is None else len({groups[place] for place in kept})
    if units < _FEWEST:
        what = "items" if groups is None else "groups of items"
        raise InputError(f"{units} {what} have ratings, and a study needs at least {_FEWEST}")


def _unmeasurable(rated: Array, level: Level) -> str | None:
    """Why people's scores say nothing at a level."""
    present = ~np.isnan(rated)
    if level == "item":
        if not (present.sum(axis=0) > 1).any():
            return "no item has rated outputs of two systems"
        kept = rated[:, present.any(axis=0)]
        apart = np.nanmax(kept, axis=0) > np.nanmin(kept, axis=0)
        return None if apart.any() else "people tie all systems within every item"
    return None if np.ptp(rated[present]) > 0.0 else "people give all outputs the same score"


def _fitted(
    metrics: Sequence[Metric], references: ReferenceSet, told: list[str]
) -> Iterator[Metric]:
    for metric in metrics:
        choice = None
        if isinstance(metric, WeightedMetric) and any(references.texts):
            choice = metric.neutral_choice(references)
        if choice is None or not isinstance(metric, WeightedMetric):
            yield metric
        else:
            told.append(f"{metric.name}: {choice.summary}")
            yield replace(metric, neutral=choice.value)


def _unsuited(metric: Metric, references: ReferenceSet) -> str | None:
    """Why a metric cannot be computed in a study that lacks something altogether."""
    if not metric.has_segments:
        return "it has no scores of single outputs"
    if "references" in metric.needs and not any(references.texts):
        return "there are no references"
    if "weights" in metric.needs and references.weights is None:
        try:
            prepared = metric.prepare_references(references)
        except InputError:
            return "references have no weights"
        if prepared.weights is None:
            return "references have no weights"
    if "messages" in metric.needs:
        known = references.messages
        if known is None or any(one is None for one in known):
            return "items have no message"
    return None


def _scores(
    study: Study,
    metrics: Sequence[Metric],
    choices: SuiteChoices,
    seed: int,
    told: list[str],
    threads: int | None,
) -> _Scored:
    """Scores of metrics, sentinels and controls, in this order."""
    scored = _Scored()
    references = everything = reference_set(study)
    if any(references.texts):
        references = references.select(choices.select)
    suited: list[Metric] = []
    # Controls are scored as the references themselves are.
    for metric in _fitted(metrics, everything, told):
        why = _unsuited(metric, references)
        if why is None:
            suited.append(metric)
        else:
            scored.missing[metric.name] = why
    if choices.select != "all":
        # As `score_systems` does: all references are learnt from, whichever then count.
        suited = [metric.fitted_to(everything) for metric in suited]
    outputs: Mapping[str, Sequence[str]] = study.outputs
    if not suited:
        return scored
    if choices.no_positive == "skip":
        # Once for all, so that controls are measured on the same items.
        dropped = {
            place
            for metric in suited
            for place in metric.prepare_references(references).without_positive()
        }
        if len(dropped) == len(references):
            raise InputError("no item is left: none has a positively weighted reference")
        if dropped:
            kept = [place for place in range(len(references)) if place not in dropped]
            references = references.take(kept)
            outputs = {name: [texts[i] for i in kept] for name, texts in outputs.items()}
            told.append(f"{len(dropped)} items without a positive reference are left out")

    def add(used: ReferenceSet, some: Sequence[Metric], control: Control | None) -> None:
        if some:
            found = score_systems(used, outputs, list(some), threads=threads)
            scored.add(found.score_table(), control)

    add(references, suited, None)
    real = [metric for metric in suited if metric.name not in SENTINELS]
    comparing = [metric for metric in real if "references" in metric.needs]
    for metric in real:
        if metric not in comparing:
            scored.missing[f"{metric.name} (blind)"] = "it looks at no references"
    if comparing:
        exchanged = exchanged_references(references, seed)
        if exchanged is None:
            for metric in comparing:
                scored.missing[f"{metric.name} (blind)"] = "all items have the same references"
        else:
            add(exchanged, comparing, "blind")
    weighing = []
    for metric in comparing:
        if "weights" in metric.needs:
            prepared = metric.prepare_references(references)
            if references.weights is None:
                scored.missing[f"{metric.name} (shuffled)"] = "references have no weights"
            elif prepared is references or prepared.neutral is not None:
                weighing.append(metric)
            else:
                scored.missing[f"{metric.name} (shuffled)"] = "a judge gives it its weights"
    if weighing:
        shuffled = shuffled_weights(references, seed)
        why = "all weights are the same"
        if shuffled is not None and len(shuffled.without_positive()) > len(
            references.without_positive()
        ):
            shuffled, why = None, "shuffled weights leave items without a positive reference"
        if shuffled is None:
            for metric in weighing:
                scored.missing[f"{metric.name} (shuffled)"] = why
        else:
            add(shuffled, weighing, "shuffled")
    return scored


@dataclass(frozen=True, slots=True, eq=False)
class _Measured:
    """Scores of rows and people's, ready to be compared."""

    scores: ScoreTable
    people: Array
    rows: Sequence[Row]
    plan: ValidationPlan
    groups: Groups | None
    seed: int
    threads: int | None

    def at(self, level: Level, method: Method) -> tuple[list[SuiteAgreement], Array]:
        """Agreements of all rows, and those in the draws that all share: draws x rows."""
        how = Measure(method, level, "zero", self.plan.threshold)
        tables = [
            ResampledScores.of(own, self.people, how, self.groups) for own in self.scores.values
        ]
        values = {
            row: float(how.agree(one.x, one.y)) for row, one in zip(self.rows, tables, strict=True)
        }
        units = tables[0].units
        drawn = drawn_agreements(
            tables, resamples=self.plan.resamples, seed=self.seed, threads=self.threads
        )
        columns = dict(zip(self.rows, drawn.T, strict=True))
        found = []
        for row in self.rows:
            name, control = row
            gain, gain_interval = None, None
            if control in ("blind", "shuffled"):
                whole: Row = (name, None)
                gain = _number(values[whole]) - _number(values[row])
                apart = np.nan_to_num(columns[whole]) - np.nan_to_num(columns[row])
                gain_interval = self._interval(apart, units)
            interval = None if math.isnan(values[row]) else self._interval(columns[row], units)
            found.append(
                SuiteAgreement(
                    name, control, level, method, values[row], interval, gain, gain_interval
                )
            )
        return found, drawn

    def _interval(self, drawn: Array, units: int) -> ConfidenceInterval | None:
        there = drawn[~np.isnan(drawn)]
        if len(there) < 2:
            return None
        confidence = self.plan.confidence
        low, high = percentile_interval(there, expanded_level(confidence, units))
        name = "percentile bootstrap over items" + " by group" * (self.groups is not None)
        return ConfidenceInterval(low, high, confidence, name)


def _number(value: float) -> float:
    return 0.0 if math.isnan(value) else value
