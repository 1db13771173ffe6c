"""`deltableu validate --sweep`: agreement on units of M sentences, and what it depends on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Annotated, Any, cast

from cyclopts import Parameter

from deltableu.cli.inputs import system_pairs
from deltableu.cli.metric_options import MetricOptions
from deltableu.cli.option_groups import SWEEPS, foldable
from deltableu.cli.options import Flag, Positive, Several, listed
from deltableu.cli.output import Format, emit, remark
from deltableu.cli.progress import ProgressBar
from deltableu.corpus import RatingTable, ScoreTable, Study, reference_set
from deltableu.errors import InputError
from deltableu.io import as_record
from deltableu.rate import HumanScale
from deltableu.report import verdict
from deltableu.score import Metric, OrderedMetric, SentenceBLEU
from deltableu.stats import Method
from deltableu.validate import (
    Orientation,
    Resample,
    SweepPlan,
    UnitInterval,
    UnitIntervalPlan,
    UnitPlan,
    sweep_metrics,
    swept_metrics,
)

SWEPT_METHODS = "spearman,kendall-b"


@Parameter(name="*", group=SWEEPS)
@foldable
@dataclass(frozen=True, kw_only=True)
class SweepOptions:
    """Settings of sweeps.

    Parameters
    ----------
    sweep
        In place of levels, correlate differences of systems on units of sentences, and vary,
        separated by commas: settings (which references count: the delta-BLEU paper's Table 2),
        threshold, unit-size, order (its Figure 2), references (how many), origin.
    pairs
        With --sweep: only these pairs of systems, such as --pairs A,B A,C.
    unit_size
        With --sweep: sentences per unit; fewer where a study is small.
    unit_sizes
        Sizes for the sweep of unit-size.
    thresholds
        Least weights for the sweep of threshold.
    orders
        Orders for the sweep of order.
    reference_counts
        Numbers of references for the sweep of references.
    assignments
        With --sweep: random assignments of sentences to units.
    orientation
        With --sweep: whose difference from whom a unit has: at random, as the pair is named, or
        both.
    whole_units
        With --sweep: leave out sentences that make no whole unit.
    share_assignments
        With --sweep: one assignment for all pairs of systems, not one each.
    interval
        With --sweep: bootstrap; none; or fisher-replication, the formula behind the paper's Table
        2, which takes units for independent and is far too sure.
    resample
        With --sweep: what the bootstrap draws again.
    draws
        With --sweep: how often it does, with 20 assignments each time.
    """

    sweep: str | None = None
    pairs: Annotated[list[str] | None, Several] = None
    unit_size: Positive = 100
    unit_sizes: str = "1,10,20,50,100"
    thresholds: str = "1,0.6,0.2,-0.2,-0.6,-1"
    orders: str = "1,2,3,4"
    reference_counts: str = "1,2,4,8"
    assignments: Positive = 1000
    orientation: Orientation = "random"
    whole_units: Annotated[bool, Flag] = False
    share_assignments: Annotated[bool, Flag] = False
    interval: UnitInterval = "bootstrap"
    resample: Resample = "items"
    draws: Positive = 200

    def changed(self) -> dict[str, Any]:
        """What was given."""
        given = {one.name: (getattr(self, one.name), one.default) for one in fields(self)}
        return {name: value for name, (value, default) in given.items() if value != default}

    def plan(
        self,
        methods: str,
        scale: HumanScale,
        min_raters: int,
        confidence: float,
        seed: int,
    ) -> SweepPlan:
        """The plan that these options make."""
        return SweepPlan(
            units=UnitPlan(
                size=self.unit_size,
                assignments=self.assignments,
                orientation=self.orientation,
                partial=not self.whole_units,
                shared=self.share_assignments,
                seed=seed,
            ),
            intervals=UnitIntervalPlan(
                method=self.interval,
                draws=self.draws,
                resample=self.resample,
                confidence=confidence,
            ),
            methods=cast(tuple[Method, ...], tuple(listed(methods))),
            thresholds=_numbers("thresholds", self.thresholds, float),
            unit_sizes=_numbers("unit-sizes", self.unit_sizes, int),
            orders=_numbers("orders", self.orders, int),
            reference_counts=_numbers("reference-counts", self.reference_counts, int),
            scale=scale,
            min_raters=min_raters,
        )


def sweep_study(
    study: Study,
    people: RatingTable | ScoreTable,
    options: SweepOptions,
    plan: SweepPlan,
    *,
    metrics: str | None,
    metric_options: MetricOptions,
    systems: Sequence[str] | None,
    groups: Mapping[str, str] | None,
    notes: Sequence[str],
    digits: int,
    format: Format,
    output: Path | None,
    threads: int | None,
) -> None:
    """Sweep, and print."""
    references = reference_set(study)
    names = listed(options.sweep or "")
    made: tuple[Metric, ...] = swept_metrics(references)
    if metrics is not None or metric_options.changed():
        usual = [one.family for one in made if isinstance(one, OrderedMetric)]
        if metric_options.order is None:
            usual = [f"{family}-2" for family in usual]
        wanted = metrics or ",".join(usual)
        made = metric_options.make(wanted, references)
        if metric_options.method == "default":
            # What the paper calls sBLEU is Nakov's.
            made = tuple(
                replace(one, method="nakov") if isinstance(one, SentenceBLEU) else one
                for one in made
            )
    with ProgressBar() as progress:
        found = sweep_metrics(
            study,
            people,
            metrics=made,
            sweeps=names,
            plan=plan,
            pairs=None
            if options.pairs is None
            else system_pairs(options.pairs, tuple(study.outputs)),
            systems=systems,
            groups=groups,
            notes=notes,
            threads=threads,
            progress=progress,
        )
    for text in found.notes:
        remark(text)
    said = verdict(found)
    record = {**as_record(found), "verdict": list(said)}
    tables = found.tables(digits=digits)
    emit(tables, record, format, output, verdict=said, tidy=found.tidy_table())


def _numbers(option: str, text: str, kind: Any) -> tuple[Any, ...]:
    try:
        return tuple(kind(one) for one in listed(text))
    except (ValueError, OverflowError):
        what = "whole numbers" if kind is int else "numbers"
        raise InputError(f"--{option} takes {what} separated by commas, got {text!r}") from None
