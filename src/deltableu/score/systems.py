"""Several systems under several metrics: references are prepared once for each."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal, get_args

import numpy as np

from deltableu._types import Progress
from deltableu.corpus import ReferenceSet, ScoreTable, labelled, labelled_rows, says_simulated
from deltableu.errors import (
    InputError,
    check_at_least,
    check_choice,
    check_kind,
    check_share,
    find_name,
)
from deltableu.io import Better, Cell, Column, Table, Tabular, field_record, mark_best
from deltableu.score.engine.inputs import lacking_weights
from deltableu.score.engine.ordered_metric import OrderedMetric
from deltableu.score.engine.statistics import IntervalMethod, Statistics
from deltableu.score.metric import Metric
from deltableu.score.results import Score, Signature
from deltableu.score.sources import Columns, Metrics, TextSource, as_metrics, text_source
from deltableu.stats import INTERVAL_COLUMNS, ConfidenceInterval, group_numbers, interval_cells


@dataclass(frozen=True, slots=True)
class IntervalPlan:
    """How confidence intervals are made; `seed` makes them repeatable."""

    method: IntervalMethod = "jackknife"
    resamples: int = 1000
    confidence: float = 0.95
    seed: int = 0

    def __post_init__(self) -> None:
        check_choice("interval", self.method, get_args(IntervalMethod))
        check_at_least("resamples", self.resamples, 1)
        check_share("confidence", self.confidence)
        check_at_least("seed", self.seed, 0)

    def interval(self, rows: Statistics) -> ConfidenceInterval | None:
        """The interval of the score of these rows; the same seed for all, so pairs stay paired."""
        return rows.interval(
            self.method, confidence=self.confidence, resamples=self.resamples, rng=self.seed
        )

    def signature(self, score: Signature, interval: ConfidenceInterval) -> Signature:
        """The signature with what the interval depends on."""
        part = f"{interval.method}-{self.confidence:g}"
        if interval.method != "jackknife":  # a metric may know better than to take a bootstrap
            part = f"{self.method}-{self.resamples}-{self.confidence:g}-seed{self.seed}"
        return Signature((*score.parts[:-1], ("ci", part), score.parts[-1]))


@dataclass(frozen=True, slots=True)
class ScoredSystem:
    """One system under one metric."""

    system: str
    score: Score
    rows: Statistics

    def record(self) -> dict[str, Any]:
        """The score with every ingredient."""
        score = field_record(self.score)
        return {"system": self.system, "metric": score.pop("name"), **score}


@dataclass(frozen=True, slots=True, repr=False)
class Scoring(Tabular):
    """All systems under all metrics, on which items, and which were left out of all of them.

    `groups` says what each item belongs to, where items come in groups.
    """

    scores: tuple[ScoredSystem, ...]
    item_ids: tuple[str, ...]
    dropped: tuple[str, ...] = ()
    groups: tuple[str, ...] | None = None

    def __repr__(self) -> str:
        """The best systems under each metric; `table` has all."""
        best = "; ".join(_brief(self.best_first().only(metric)) for metric in self.metrics[:2])
        more = f"; and {len(self.metrics) - 2} metrics more" if len(self.metrics) > 2 else ""
        sizes = f"{len(self.systems)} systems, {len(self.item_ids)} items"
        return f"Scoring({sizes}; {best}{more})"

    def only(self, metric: str) -> Scoring:
        """The scores of one metric, whose name needs no order where there is one of its family."""
        name = self._label(metric)
        kept = tuple(scored for scored in self.scores if scored.score.name == name)
        return replace(self, scores=kept)

    def _label(self, name: str) -> str:
        found = find_name(name, self.metrics)
        families = {
            scored.score.name: scored.rows.metric.family
            for scored in self.scores
            if isinstance(scored.rows.metric, OrderedMetric)
        }
        alike = [label for label, family in families.items() if family == name.lower()]
        return alike[0] if found not in self.metrics and len(alike) == 1 else found

    def score_table(self) -> ScoreTable:
        """Corpus scores, and scores of single outputs under metrics that have them."""
        systems = self.systems
        by_metric: dict[Metric, dict[str, ScoredSystem]] = {}
        for scored in self.scores:
            by_metric.setdefault(scored.rows.metric, {})[scored.system] = scored
        shape = (len(by_metric), len(systems), len(self.item_ids))
        values, totals = np.full(shape, np.nan), np.full(shape[:2], np.nan)
        lengths = None
        for m, (metric, found) in enumerate(by_metric.items()):
            for s, system in enumerate(systems):
                totals[m, s] = found[system].score.score
                if metric.has_segments:
                    values[m, s] = found[system].rows.segment_scores()
            lengths = values[m] if metric.name == "length" else lengths
        return ScoreTable.from_arrays(
            [metric.name for metric in by_metric],
            systems,
            self.item_ids,
            values,
            totals=totals,
            lower_is_better=[one.name for one in by_metric if not one.higher_is_better],
            signatures=[
                str(next(iter(found.values())).score.signature) for found in by_metric.values()
            ],
            lengths=lengths,
        )

    @property
    def metrics(self) -> tuple[str, ...]:
        """The names of the metrics, in the order in which they were asked for."""
        return tuple(dict.fromkeys(scored.score.name for scored in self.scores))

    @property
    def systems(self) -> tuple[str, ...]:
        """The names of the systems."""
        return tuple(dict.fromkeys(scored.system for scored in self.scores))

    @property
    def signatures(self) -> dict[str, str]:
        """The signature of each metric; it does not depend on the system."""
        return {scored.score.name: str(scored.score.signature) for scored in self.scores}

    def best_first(self) -> Scoring:
        """The same scores, systems ordered by the first metric."""
        first = self.only(self.metrics[0]).scores
        sign = -1.0 if first[0].rows.metric.higher_is_better else 1.0
        place = {scored.system: sign * scored.score.score for scored in first}
        ordered = sorted(
            self.scores,
            key=lambda one: (self.metrics.index(one.score.name), place[one.system], one.system),
        )
        return replace(self, scores=tuple(ordered))

    def table(self, *, digits: int = 2) -> Table:
        """Systems in rows, metrics in columns; the best of each metric is marked."""
        columns = [self._column(metric, digits) for metric in self.metrics]
        return labelled(columns[0].join(columns[1:]), self.simulated)

    @property
    def simulated(self) -> bool:
        """Whether weights that any of the metrics uses come from simulated raters."""
        return any(map(says_simulated, self.signatures.values()))

    def _column(self, metric: str, digits: int) -> Table:
        shown = self.only(metric).scores
        cells = [Cell(scored.score.score, scored.score.interval) for scored in shown]
        cells = mark_best(cells, higher_is_better=shown[0].rows.metric.higher_is_better)
        rows = zip((scored.system for scored in shown), cells, strict=True)
        better: Better = "higher" if shown[0].rows.metric.higher_is_better else "lower"
        columns = ("system", Column(metric, f".{digits}f", better=better))
        return Table(columns, rows, signatures={metric: self.signatures[metric]})

    def tidy_table(self) -> Table:
        """A row for each system and metric, for programs."""
        columns = ("system", "metric", "score", *INTERVAL_COLUMNS, "better", "items", "signature")
        rows = [
            (
                *(one.system, one.score.name, one.score.score),
                *interval_cells(one.score.interval),
                "higher" if one.rows.metric.higher_is_better else "lower",
                *(len(self.item_ids), str(one.score.signature)),
            )
            for one in self.scores
        ]
        return labelled_rows(Table(columns, rows), self.simulated)

    def segment_table(self, *, digits: int = 2) -> Table:
        """A row for each system, metric and item."""
        rows = [
            (scored.system, scored.score.name, item, value)
            for scored in self.scores
            if scored.rows.metric.has_segments  # some metrics say nothing about single segments
            for item, value in self._segment_scores(scored)
        ]
        if not rows:
            raise InputError("none of these metrics has scores of single segments")
        columns = ("system", "metric", "item", Column("score", f".{digits}f"))
        made = Table(columns, rows, signatures=self.signatures)
        return labelled(made, self.simulated)

    def record(self, *, segments: bool = False) -> list[dict[str, Any]]:
        """A record for each system and metric, with the scores of single segments or without."""
        records = [scored.record() for scored in self.scores]
        for record, scored in zip(records, self.scores, strict=True):
            if segments and scored.rows.metric.has_segments:
                record["segment_scores"] = dict(self._segment_scores(scored))
        return records

    def _segment_scores(self, scored: ScoredSystem) -> Iterator[tuple[str, float]]:
        return zip(self.item_ids, scored.rows.segment_scores().tolist(), strict=True)


def _brief(scoring: Scoring) -> str:
    """The scoring of one metric on one line."""
    shown = [f"{one.system} {one.score.score:.2f}" for one in scoring.scores[:3]]
    more = ", ..." if len(scoring.scores) > 3 else ""
    return f"{scoring.scores[0].score.name}: {', '.join(shown)}{more}"


def score_systems(
    source: Any,
    outputs: Mapping[str, Sequence[str]] | None = None,
    metrics: Metrics | None = None,
    *,
    references: ReferenceSet | Sequence[Sequence[str]] | None = None,
    weights: Sequence[Sequence[float]] | None = None,
    messages: Sequence[str] | None = None,
    columns: Columns | None = None,
    systems: Sequence[str] | None = None,
    select: str = "all",
    no_positive: Literal["error", "skip"] = "error",
    intervals: IntervalPlan | None = None,
    groups: Sequence[str] | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> Scoring:
    """Score every system with every metric.

    Parameters
    ----------
    source : Study, path, data frame, mapping of system to texts, or ReferenceSet
        A study or its folder; a data frame (or columns, or rows) with outputs and references, see
        `study_from`; each system's texts, in the order of the items, with `references`; or a
        ReferenceSet, with `outputs`.
    outputs : mapping of str to list of str, optional
        Each system's texts, where `source` is a ReferenceSet.
    metrics : str, metric, or list of them, optional
        Such as ``"delta-bleu,chrf++"`` or ``["bleu", DeltaBLEU(order=3)]``. By default delta-bleu
        and bleu of order 2 where references have weights, else bleu.
    references : list of lists of str, optional
        The references of each item, where `source` holds the systems' texts.
    weights : list of lists of float, optional
        In [-1, 1], in the shape of the references.
    messages : list of str, optional
        What each item answers, for metrics that look at it.
    columns : mapping or str, optional
        What a data frame calls its columns: ``{"system": "model", "prediction": "answer"}``.
    systems : list of str, optional
        Only these.
    select : str
        Which references count: `all`, `single` or a threshold such as `w>=0.6`.
    no_positive : {"error", "skip"}
        Whether items without a positively weighted reference are an error (under metrics that
        need one) or are left out of all metrics alike, also of those that could score them. Where
        metrics see different weights, because a rater gives theirs, an item is left out if it has
        no positive one for any of them.
    intervals : IntervalPlan, optional
        Without it, for a single segment and for a clamped score, there are no intervals.
    groups : list of str, optional
        What each item belongs to (a document, a dialogue): intervals then speak about other groups.
    threads : int, optional
    progress : callable, optional
        Called with (what is done, done, in all).

    Returns
    -------
    Scoring

    Examples
    --------
    >>> outputs = {"v1": ["yes", "no idea"], "v2": ["yes , i do", "no"]}
    >>> references = [["yes , i do"], ["no", "nope"]]
    >>> score_systems(outputs, references=references, metrics="chrf")
    Scoring(2 systems, 2 items; chrf: v2 100.00, v1 42.93)
    """
    if isinstance(source, ReferenceSet):
        if references is not None or weights is not None or columns is not None:
            raise InputError("the first argument has the references: give them once")
        given = source
        check_kind("outputs", outputs, Mapping)
        found = TextSource(given, outputs or {})
    else:
        if outputs is not None:
            raise InputError(
                "outputs goes with a ReferenceSet in the first place; else outputs stand there, "
                "and references are given by their name: references="
            )
        found = text_source(
            source, references=references, weights=weights, messages=messages, columns=columns
        )
    found = found.only(systems)
    if intervals is not None:
        check_kind("intervals", intervals, IntervalPlan)
    check_choice("no_positive", no_positive, ("error", "skip"))
    outputs = found.outputs
    if not outputs:
        raise InputError("there is nothing to score: no system outputs were given")
    made = as_metrics(metrics, found.references)
    chosen = found.references
    if select != "all":
        # What a metric learns from references it learns from all, whichever then count.
        made = tuple(metric.fitted_to(chosen) for metric in made)
        chosen = chosen.select(select)
    return _scored(
        chosen,
        outputs,
        made,
        no_positive,
        intervals,
        groups,
        threads,
        progress,
    )


def _scored(
    references: ReferenceSet,
    outputs: Mapping[str, Sequence[str]],
    metrics: tuple[Metric, ...],
    no_positive: Literal["error", "skip"],
    intervals: IntervalPlan | None,
    groups: Sequence[str] | None,
    threads: int | None,
    progress: Progress | None,
) -> Scoring:
    metrics = tuple(metric.fitted_to(references) for metric in metrics)
    for metric in metrics:
        # A rater, which may take long, is asked after this.
        weighted = "weights" in metric.needs
        if weighted and metric.prepare_references(references).weights is None:
            raise lacking_weights(metric.name)
    items = len(references.texts)
    dropped: set[int] = set()
    if no_positive == "skip":
        seen = [metric.prepare_references(references) for metric in metrics]
        dropped = {index for one in seen for index in one.without_positive()}
        if len(dropped) == items:
            raise InputError("no item is left: none has a positively weighted reference")
    kept = [index for index in range(items) if index not in dropped]
    ids = references.item_ids or tuple(map(str, range(items)))
    if dropped:
        references = references.take(kept)
        outputs = {name: [texts[i] for i in kept] for name, texts in outputs.items()}
    numbers = None
    if groups is not None:
        if len(groups) != items:
            raise InputError(f"there are {len(groups)} groups for {items} items")
        groups = [groups[index] for index in kept]
        numbers = group_numbers(groups)
    scores = []
    encoded: dict[Hashable, Any] = {}
    for metric in metrics:
        if "messages" in metric.needs:
            _check_messages(metric, references)
    for metric in (one.for_outputs(references, outputs) for one in metrics):
        for system, texts in outputs.items():
            rows = _rows(
                metric, system, texts, references, encoded, len(outputs), threads, progress
            )
            score = rows.score()
            interval = None
            if intervals is not None:
                interval = intervals.interval(rows if numbers is None else rows.grouped(numbers))
            if intervals is not None and interval is not None:
                signature = intervals.signature(score.signature, interval)
                score = replace(score, signature=signature, interval=interval)
            scores.append(ScoredSystem(system, score, rows))
    return Scoring(
        tuple(scores),
        tuple(ids[index] for index in kept),
        tuple(ids[index] for index in sorted(dropped)),
        None if groups is None else tuple(groups),
    )


def _check_messages(metric: Metric, references: ReferenceSet) -> None:
    messages = references.messages or [None] * len(references.texts)
    missing = [index for index, message in enumerate(messages) if message is None]
    if missing:
        name = references.item_name(missing[0])
        raise InputError(
            f"{metric.name} needs the message that each item answers: {len(missing)} of "
            f"{len(messages)} items have none, the first is {name!r}"
        )


def _rows(
    metric: Metric,
    system: str,
    texts: Sequence[str],
    references: ReferenceSet,
    encoded: dict[Hashable, Any],
    systems: int,
    threads: int | None,
    progress: Progress | None,
) -> Statistics:
    def tell(what: str) -> Callable[[int, int], None] | None:
        if progress is None:
            return None
        return lambda done, total: progress(what, done, total)

    try:
        if systems == 1:
            return metric.compute(texts, references, threads=threads, progress=tell(system))
        key = metric.encoding_key
        if key not in encoded:
            encoded[key] = metric.encode(references, threads=threads, progress=tell("references"))
        ready = encoded[key]
        return metric.statistics(texts, ready, threads=threads, progress=tell(system))
    except InputError as error:
        message = str(error)
        if message.startswith("hypotheses["):
            raise InputError(f"system {system!r}: {message}") from None
        raise
