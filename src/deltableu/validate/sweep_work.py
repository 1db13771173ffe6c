"""A study and what is to be varied in; agreement on units at each place of a sweep, out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from deltableu._types import Array, Bools, Ints, Progress, steps_of
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.rate import PairScores
from deltableu.score import Metric, NgramMetric, lacking_weights
from deltableu.stats import ConfidenceInterval, Method
from deltableu.validate.paired_scores import Groups, group_codes
from deltableu.validate.reference_choices import all_positions, random_choice, reference_choices
from deltableu.validate.scored_study import group_labels
from deltableu.validate.sweep_plan import SweepName, SweepPlan
from deltableu.validate.sweep_results import Sweep, UnitAgreement
from deltableu.validate.sweep_rows import Positions, SweepRows, at_order
from deltableu.validate.unit_intervals import draw_units, replication_interval
from deltableu.validate.unit_rows import PairedRows, SummedScores
from deltableu.validate.units import UnitPlan, unit_correlations

#: A metric and a place of the sweep.
Place = tuple[str, str]


@dataclass(frozen=True, slots=True, eq=False)
class SweepWork:
    """Everything that sweeps of one study share: items, pairs, people, rows.

    An item that some setting leaves without a positive reference counts at no setting, so that
    settings differ in nothing else.
    """

    rows: SweepRows
    metrics: tuple[Metric, ...]
    people: SummedScores
    pairs: tuple[tuple[int, int], ...]
    rated: Bools
    codes: Ints | None
    plan: SweepPlan
    units: UnitPlan
    human: str
    choices: Mapping[SweepName, Mapping[str, Positions]]
    without_positive: Mapping[SweepName, Mapping[str, int]]
    dropped: tuple[str, ...]
    notes: tuple[str, ...]

    @classmethod
    def of(
        cls,
        references: ReferenceSet,
        outputs: Mapping[str, Sequence[str]],
        people: PairScores,
        metrics: tuple[Metric, ...],
        names: Sequence[SweepName],
        plan: SweepPlan,
        groups: Groups | Mapping[str, str] | None,
        threads: int | None,
    ) -> SweepWork:
        ids = tuple(references.item_ids or map(str, range(len(references))))
        labels = group_labels(groups, ids)
        values = _of_items(people, ids)
        rated: Bools = np.asarray(~np.isnan(values).any(axis=1))
        anywhere: Bools = np.asarray(rated.any(axis=0))
        for (a, b), some in zip(people.pairs, rated, strict=True):
            if not some.any():
                raise InputError(f"no item has human scores of both {a!r} and {b!r}")
        choices = {name: reference_choices(references, name, plan) for name in names}
        lost = {
            name: {label: _lost(references, one, metrics, label) for label, one in some.items()}
            for name, some in choices.items()
        }
        gone = {item for some in lost.values() for one in some.values() for item in one}
        kept = [item for item in np.flatnonzero(anywhere).tolist() if item not in gone]
        if not kept:
            raise InputError("no rated item has a positively weighted reference at all settings")
        dropped = tuple(ids[item] for item in sorted(gone) if anywhere[item])
        rated, values = rated[:, kept], values[..., kept]
        fewest = int(rated.sum(axis=1).min())
        size = plan.largest_unit(fewest)
        told = []
        if size < plan.units.size:
            told.append(
                f"units of {size} sentences in place of {plan.units.size}: {fewest} items make no "
                "two larger ones"
            )
        systems = list(outputs)
        orders = [one.order for one in metrics if isinstance(one, NgramMetric)]
        if "order" in names:
            orders += plan.orders
        chosen = references.take(kept)
        texts = {name: [rows[item] for item in kept] for name, rows in outputs.items()}
        counts = {
            name: {label: len(one) for label, one in some.items() if one}
            for name, some in lost.items()
        }
        if dropped:
            each = {label: n for some in counts.values() for label, n in some.items()}
            listed = ", ".join(f"{label}: {n}" for label, n in each.items())
            told.append(
                f"left out {len(dropped)} of {len(dropped) + len(kept)} rated items everywhere, "
                f"without a positive reference at some setting ({listed})"
            )
        return cls(
            rows=SweepRows(chosen, texts, max(orders, default=0), threads),
            metrics=metrics,
            people=SummedScores.of_means(values),
            pairs=tuple((systems.index(a), systems.index(b)) for a, b in people.pairs),
            rated=rated,
            codes=None
            if labels is None
            else group_codes([labels[ids[item]] for item in kept], np.ones(len(kept), bool)),
            plan=plan,
            units=replace(plan.units, size=size),
            human=people.source,
            choices={
                name: {label: tuple(one[item] for item in kept) for label, one in some.items()}
                for name, some in choices.items()
            },
            without_positive=counts,
            dropped=dropped,
            notes=tuple(told),
        )

    def signature(self) -> str:
        """What results depend on beside the texts."""
        units, intervals = self.units, self.plan.intervals
        groups = "" if self.codes is None else f"|groups:{int(self.codes.max()) + 1}"
        drawn = f"-{intervals.draws}x{intervals.assignments}-{intervals.resample}"
        return (
            f"human:{self.human}|pairs:{len(self.pairs)}|items:{len(self.rows.references)}{groups}"
            f"|units:{units.size}x{units.assignments}|orientation:{units.orientation}"
            f"|partial:{'yes' if units.partial else 'no'}|shared:{'yes' if units.shared else 'no'}"
            f"|ci:{intervals.confidence:g}-{intervals.method}"
            f"{drawn * (intervals.method == 'bootstrap')}|seed:{units.seed}"
        )

    def sweep(self, name: SweepName, progress: Progress | None) -> Sweep:
        """Agreement of all metrics at each place of a sweep."""
        first = self.plan.methods[:1]
        if name == "references":
            found = self._reference_counts(first, progress)
        elif name == "unit-size":
            found = self._sizes(first, progress)
        else:
            methods = self.plan.methods if name == "settings" else first
            found = self._agreements(self.scores(name), methods, self.units, name, progress)
        return Sweep(name, tuple(found), self.without_positive[name])

    def scores(self, name: SweepName) -> dict[Place, SummedScores]:
        """What gives any sentences a score at each place of a sweep, or with all references."""
        if name == "order":
            return self._orders()
        return {
            (metric.name, label): self.rows.scores(metric, positions, label)
            for metric in self.metrics
            for label, positions in self.choices[name].items()
        }

    def _orders(self) -> dict[Place, SummedScores]:
        ordered = [one for one in self.metrics if isinstance(one, NgramMetric)]
        if not ordered:
            raise InputError("a sweep of orders needs a metric of the BLEU family")
        everything = all_positions(self.rows.references)
        return {
            (metric.family, str(order)): self.rows.scores(longer, everything, "all")
            for metric in ordered
            for order in self.plan.orders
            for longer in [at_order(metric, order)]
        }

    def _sizes(
        self, methods: tuple[Method, ...], progress: Progress | None
    ) -> Iterable[UnitAgreement]:
        sizes = self.plan.fitting_sizes(int(self.rated.sum(axis=1).min()))
        for size in sizes:
            scores = {(name, str(size)): one for (name, _), one in self.scores("unit-size").items()}
            plan = replace(self.units, size=size)
            yield from self._agreements(scores, methods, plan, f"units of {size}", progress)

    def _reference_counts(
        self, methods: tuple[Method, ...], progress: Progress | None
    ) -> Iterable[UnitAgreement]:
        references, draws = self.rows.references, self.plan.reference_draws
        most = max(map(len, references.texts))
        plan = replace(self.units, assignments=max(1, self.units.assignments // draws))
        for count in [one for one in self.plan.reference_counts if one < most]:
            scores = {}
            for draw in range(draws):
                positions = random_choice(references, count, self.units.seed, draw)
                for metric in self.metrics:
                    scores[metric.name, str(draw)] = self.rows.scores(
                        metric, positions, f"random-{count}"
                    )
                self.rows.forget(positions)
            steps = steps_of(progress, f"{count} references")
            found = unit_correlations(
                self._paired(scores), plan, methods, threads=self.rows.threads, progress=steps
            )
            drawn = found.mean().reshape(draws, len(self.metrics), len(methods))
            for place, metric in enumerate(self.metrics):
                values = drawn[:, place, 0]
                yield UnitAgreement(
                    metric.name,
                    str(count),
                    methods[0],
                    float(values.mean()),
                    None,
                    plan.size,
                    found.units,
                    float(values.std(ddof=1)) if draws > 1 else None,
                )
        scores = {
            (name, f"all (up to {most})"): one
            for (name, _), one in self.scores("references").items()
        }
        yield from self._agreements(scores, methods, self.units, "all references", progress)

    def _paired(self, scores: Mapping[Place, SummedScores]) -> PairedRows:
        named = {" ".join(place): one for place, one in scores.items()}
        return PairedRows.of(named, self.people, self.pairs, self.rated)

    def _agreements(
        self,
        scores: Mapping[Place, SummedScores],
        methods: tuple[Method, ...],
        plan: UnitPlan,
        what: str,
        progress: Progress | None,
    ) -> list[UnitAgreement]:
        """Of every metric at every place, all with the same assignments."""
        paired, how, threads = self._paired(scores), self.plan.intervals, self.rows.threads
        found = unit_correlations(
            paired, plan, methods, threads=threads, progress=steps_of(progress, what)
        )
        drawn = None
        if how.method == "bootstrap":
            steps = steps_of(progress, f"intervals of {what}")
            drawn = draw_units(
                paired, plan, methods, how, codes=self.codes, threads=threads, progress=steps
            )
        values: Array = found.mean()
        made = []
        for i, (metric, setting) in enumerate(scores):
            for j, method in enumerate(methods):
                value = float(values[i, j])
                interval: ConfidenceInterval | None = None
                if drawn is not None:
                    interval = drawn.interval(i, j, value, how.confidence)
                elif how.method == "fisher-replication":
                    interval = replication_interval(value, found.units, method, how.confidence)
                made.append(
                    UnitAgreement(metric, setting, method, value, interval, plan.size, found.units)
                )
        return made


def _of_items(people: PairScores, ids: Sequence[str]) -> Array:
    """Human scores in the order of the study's items; NaN for those that nobody rated."""
    places = {item: place for place, item in enumerate(people.items)}
    values = np.full((*people.values.shape[:2], len(ids)), np.nan)
    for number, item in enumerate(ids):
        if item in places:
            values[..., number] = people.values[..., places[item]]
    return values


def _lost(
    references: ReferenceSet, positions: Positions, metrics: Sequence[Metric], label: str
) -> set[int]:
    """Items that cannot be scored with these references."""
    lost = {item for item, kept in enumerate(positions) if not kept}
    chosen = references.keep(positions, label)
    for metric in metrics:
        if "weights" in metric.needs:
            prepared = metric.prepare_references(chosen)
            if prepared.weights is None:
                raise lacking_weights(metric.name)
            lost.update(prepared.without_positive())
    return lost
