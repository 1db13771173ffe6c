"""DSTC7 as a delta-BLEU study: some systems lend rated references, the others are judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from deltableu import BLEU, DeltaBLEU
from deltableu.corpus import ReferenceSet
from deltableu.score import Metric
from deltableu.stats import ConfidenceInterval
from deltableu.validate import PairedRows, SummedScores, UnitPlan, unit_correlations
from reproduce.layout import table, with_interval
from reproduce.rated_sets import read_rated_responses

Array = np.ndarray[Any, np.dtype[np.float64]]
Ints = np.ndarray[Any, np.dtype[np.int64]]

#: Systems beside Human that lend references.
PROVIDERS = 4
SETTINGS = ("single", "w>=0.5", "all")
NEUTRAL = (2.5, 3.0, 3.5)
DRAWS = 100
PLAN = UnitPlan(size=100, assignments=20)
ONE = UnitPlan(size=100, assignments=1)

TEXT = """\
No public set has human-rated references *and* rated outputs, but DSTC7 (Galley et al. 2019) can
be cut into one: Human and {providers} of the nine machine systems lend their outputs as
references, with weights (mean rating - 3) / 2; the other five systems are judged, on units of
100 contexts. All {splits} choices of the {providers} are made. {items} of {total} contexts
count: those where Human's weight is positive. Spearman's correlation of differences of systems
with people's, mean over the choices, {assignments} assignments each; in brackets 95%
percentiles of {draws} draws of contexts *and* of choices; *sd* is the standard deviation over
the choices. Order 2, 13a tokens in lower case, no smoothing. *Arithmetic* is the mean of
precisions, for delta-BLEU signed, with no clamp at 0."""


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """Responses of all systems to all contexts, and the mean rating (1 to 5) of each."""

    systems: tuple[str, ...]
    outputs: dict[str, list[str]]
    ratings: Array


def metrics() -> dict[str, Metric]:
    """The four of the table."""
    options: dict[str, Any] = {"order": 2, "lowercase": True}
    return {
        "BLEU": BLEU(smooth="none", **options),
        "BLEU, arithmetic": BLEU(smooth="none", combine="arithmetic", **options),
        "delta-BLEU": DeltaBLEU(**options),
        "delta-BLEU, arithmetic": DeltaBLEU(combine="arithmetic", **options),
    }


def splits(systems: Sequence[str]) -> list[tuple[str, ...]]:
    """All choices of systems that lend references; Human always does."""
    machines = [name for name in systems if name != "Human"]
    return [("Human", *chosen) for chosen in combinations(machines, PROVIDERS)]


def paired(rated: Rated, providers: Sequence[str], neutral: float, kept: Ints) -> PairedRows:
    """The judged systems under every metric and setting, and people."""
    judged = [name for name in rated.systems if name not in providers]
    weights = np.clip((rated.ratings - neutral) / 2.0, -1.0, 1.0)
    places = [rated.systems.index(name) for name in providers]
    found: dict[str, SummedScores] = {}
    for setting in SETTINGS:
        texts: list[list[str]] = []
        marks: list[list[float]] = []
        for item in kept.tolist():
            # Human comes first and always counts, as the original does.
            chosen = [place for place in places if _counts(setting, weights[place, item])]
            chosen = [places[0], *(place for place in chosen if place != places[0])]
            if setting == "single":
                chosen = chosen[:1]
            texts.append([rated.outputs[rated.systems[place]][item] for place in chosen])
            marks.append([float(weights[place, item]) for place in chosen])
        references = ReferenceSet(texts, marks)
        for name, metric in metrics().items():
            encoded = metric.encode(references)
            rows = [
                metric.statistics([rated.outputs[one][item] for item in kept.tolist()], encoded)
                for one in judged
            ]
            found[f"{name}|{setting}"] = SummedScores(
                np.stack([one.rows for one in rows]), metric.aggregate
            )
    people = rated.ratings[[rated.systems.index(name) for name in judged]][:, kept]
    pairs = list(combinations(range(len(judged)), 2))
    everywhere = np.ones((len(pairs), len(kept)), bool)
    return PairedRows.of(found, SummedScores.of_means(people), pairs, everywhere)


def _counts(setting: str, weight: float) -> bool:
    return setting == "all" or (setting == "w>=0.5" and weight >= 0.5 - 1e-9)


def study(rated: Rated, neutral: float, draws: int) -> tuple[Array, Array, Array, tuple[str, ...]]:
    """Mean, sd and draws of the mean, for each metric and setting."""
    human = rated.ratings[rated.systems.index("Human")]
    kept = np.flatnonzero(human > neutral)
    rng = np.random.default_rng(0)
    every = [paired(rated, one, neutral, kept) for one in splits(rated.systems)]
    means = np.array([unit_correlations(one, PLAN, ("spearman",)).mean()[:, 0] for one in every])
    drawn = []
    for _ in range(draws):
        items = rng.integers(len(kept), size=len(kept))
        chosen = rng.integers(len(every), size=len(every))
        values = [
            unit_correlations(every[place].drawn(items), ONE, ("spearman",)).mean()[:, 0]
            for place in chosen.tolist()
        ]
        drawn.append(np.nanmean(values, axis=0))
    return (
        np.nanmean(means, axis=0),
        np.nanstd(means, axis=0, ddof=1),
        np.array(drawn).reshape(draws, means.shape[1]),
        every[0].names,
    )


def section(data: Path, draws: int = DRAWS) -> list[str]:
    """The study, and how the neutral point of the rating scale changes it."""
    rated = Rated(*read_rated_responses(data))
    human = rated.ratings[rated.systems.index("Human")]
    names = list(metrics())
    value, spread, drawn, order = study(rated, 3.0, draws)
    rows = []
    for setting in SETTINGS:
        cells = []
        for name in names:
            place = order.index(f"{name}|{setting}")
            low, high = np.quantile(drawn[:, place], (0.025, 0.975)).tolist()
            interval = ConfidenceInterval(low, high, 0.95, "percentile")
            cells.append(f"{with_interval(float(value[place]), interval)}, sd {spread[place]:.3f}")
        rows.append([setting, *cells])
    text = TEXT.format(
        providers=PROVIDERS,
        splits=len(splits(rated.systems)),
        items=int((human > 3.0).sum()),
        total=human.size,
        assignments=PLAN.assignments,
        draws=draws,
    )
    lines = [text, "", *table(["references", *names], rows), ""]
    lines += [
        "What counts as neutral decides the sign of a weight. The same with other neutral points "
        "of the scale, all five references (means over the choices; contexts whose Human weight is "
        "positive):",
        "",
    ]
    moved = []
    for neutral in NEUTRAL:
        moved_value = value if neutral == 3.0 else study(rated, neutral, 0)[0]
        cells = [f"{moved_value[order.index(f'{name}|all')]:.3f}" for name in names]
        moved.append([f"{neutral:g}", str(int((human > neutral).sum())), *cells])
    return [*lines, *table(["neutral rating", "contexts", *names], moved)]
