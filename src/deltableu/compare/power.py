"""A pilot study in; the power of comparisons with more items or fewer references out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import combinations, product
from statistics import NormalDist

from deltableu._types import Ints, Progress, steps_of
from deltableu.compare.pilot import Pilot
from deltableu.compare.population import Population, kept_share
from deltableu.compare.power_results import (
    PowerCurve,
    PowerPlan,
    PowerPoint,
    never_falling,
    setting_name,
)
from deltableu.corpus import Study
from deltableu.errors import InputError, check_at_least, check_share
from deltableu.score import Metric
from deltableu.stats import ConfidenceInterval

#: Variants of each item, where references or raters are drawn.
_DRAWS = 20
#: Most items of a study whose size was not asked for.
_LARGEST_STUDY = 20_000
_LEVEL = 0.95


def plan_comparison(
    pilot: Study,
    systems: Sequence[str],
    metric: Metric,
    *,
    difference: float | None = None,
    power: float = 0.8,
    significance: float = 0.05,
    items: Sequence[int] | None = None,
    references: Sequence[int | None] = (None,),
    raters: Sequence[int | None] = (None,),
    criterion: str | None = None,
    groups: Sequence[str] | None = None,
    replicates: int = 400,
    draws: int = _DRAWS,
    seed: int = 0,
    threads: int | None = None,
    progress: Progress | None = None,
) -> PowerPlan:
    """Find out how many items, references and raters detect a difference between two systems.

    Studies are simulated from the pilot: items are drawn with replacement; on a share of them the
    two outputs stand as they are, on the others a fair coin exchanges them, so that endlessly many
    items would show the difference asked for. Each study is tested as `compare_systems` does by
    default, two-sided; power is the share of studies with p < significance.

    The difference is defined under all references of the pilot and their weights. Fewer
    references are a random part of an item's, with the original; `raters` adds to each weight the
    noise of the mean of so many ratings (see `RatingNoise`). Neither changes the systems: the same
    gap is measured with a worse instrument. Each item has `draws` such variants, and a study draws
    from all of them.

    Parameters
    ----------
    pilot : Study
        With raw ratings of the references where raters are to be varied.
    systems : two str
    metric : Metric
        Whose rows can be summed.
    difference : float, optional
        To be detected: up to the pilot's, which is the default.
    power : float
        The power asked for.
    significance : float
        p-values below it are significant.
    items : list of int, optional
        Sizes of studies; by default around what a normal approximation needs.
    references : list of int or None
        References per item; None is all.
    raters : list of int or None
        Raters per reference; None takes the pilot's weights as they are.
    criterion : str, optional
        The criterion of the ratings; may be left out where all ratings of references have the same.
    groups : list of str, optional
        What each item of the pilot belongs to: whole groups are then drawn, and sizes are numbers
        of groups.
    replicates : int
        Simulated studies of each sort.
    draws : int
    seed : int
    threads : int, optional
        All cores by default; no result depends on it.
    progress : callable, optional
        Called with (what is done, done, in all).

    Returns
    -------
    PowerPlan

    References
    ----------
    Card et al. 2020, "With Little Power Comes Great Responsibility".

    Examples
    --------
    >>> from deltableu import DeltaBLEU
    >>> from deltableu.corpus import Item, Reference
    >>> numbers = range(20)
    >>> items = [Item(str(n), (Reference("r", f"yes it is {n}", 1.0),)) for n in numbers]
    >>> outputs = {"A": [f"yes it is {n}" for n in numbers], "B": ["yes it was"] * 20}
    >>> study = Study(tuple(items), {name: tuple(texts) for name, texts in outputs.items()})
    >>> plan = plan_comparison(study, ["A", "B"], DeltaBLEU(), items=[5, 10], replicates=20)
    >>> [point.power for point in plan.curves[0].points]
    [0.0, 1.0]
    """
    _check(power, significance, items, replicates, draws, seed, threads)
    if not references or not raters:
        raise InputError("no number of references or raters was given")
    settings = list(product(dict.fromkeys(references), dict.fromkeys(raters)))
    varied = any(number is not None for number in raters)
    base = Pilot.of(pilot, systems, metric, ratings=varied, criterion=criterion, groups=groups)
    for setting in settings:
        base.check(*setting)
    both = base.rows(threads=threads)
    observed = both[0].score().score - both[1].score().score
    if observed < 0.0:
        base, both = base.turned(), both[::-1]
    wanted = _difference(difference, abs(observed), pilot, base, threads)
    kept = kept_share(both[0].rows, both[1].rows, metric.aggregate, wanted)
    drawn = []
    for setting in settings:
        tell = steps_of(progress, f"{setting_name(*setting)}: drawing")
        drawn.append(base.draw(*setting, draws, seed, threads=threads, progress=tell))
    populations = [
        Population(one, other, metric.aggregate, metric.gradient, kept, metric.clamped)
        for one, other, _ in drawn
    ]
    units = base.units
    needs = [one.approximate_size(power, significance, units, seed) for one in populations]
    sizes = _sizes(needs) if items is None else sorted(set(items))
    curves = []
    for place, (setting, population) in enumerate(zip(settings, populations, strict=True)):
        found = population.rejections(
            sizes,
            significance=significance,
            replicates=replicates,
            seed=seed,
            progress=steps_of(progress, setting_name(*setting)),
        )
        curves.append(
            PowerCurve(
                references=setting[0],
                raters=setting[1],
                mean_references=drawn[place][2],
                difference=population.difference,
                points=_points(sizes, found, replicates),
                approximate=needs[place],
            )
        )
    return PowerPlan(
        metric=metric.name,
        systems=base.systems,
        pilot_items=len(base.references),
        pilot_groups=None if groups is None else units,
        dropped=base.dropped,
        pilot_difference=abs(observed),
        difference=wanted,
        kept=kept,
        power=power,
        significance=significance,
        replicates=replicates,
        draws=draws,
        seed=seed,
        curves=tuple(curves),
        signature=(
            f"{both[0].score().signature}|pilot:{'-'.join(base.systems)}|difference:{wanted:.6g}"
            f"|significance:{significance:g}|test:studentized|replicates:{replicates}|draws:{draws}|seed:{seed}"
            f"{'' if groups is None else f'|groups:{units}'}"
        ),
    )


def _difference(
    wanted: float | None, observed: float, study: Study, pilot: Pilot, threads: int | None
) -> float:
    names = " and ".join(pilot.systems)
    if observed == 0.0:
        raise InputError(f"{names} do not differ on the pilot under {pilot.metric.name}")
    if wanted is None:
        return observed
    if not wanted > 0.0 or not math.isfinite(wanted):
        raise InputError(f"difference must be a number above 0, got {wanted:g}")
    if wanted > observed:
        raise InputError(
            f"{names} differ by {observed:.4g} on the pilot, too little to show a difference of "
            f"{wanted:.4g}: {_better_pair(wanted, study, pilot, threads)}"
        )
    return wanted


def _better_pair(wanted: float, study: Study, pilot: Pilot, threads: int | None) -> str:
    lost = set(pilot.dropped)
    kept = [place for place, item in enumerate(study.items) if item.id not in lost]
    encoded = pilot.metric.encode(pilot.references, threads=threads)
    scores = {
        name: pilot.metric.statistics([texts[i] for i in kept], encoded, threads=threads).score()
        for name, texts in study.outputs.items()
    }
    apart = {
        pair: abs(scores[pair[0]].score - scores[pair[1]].score) for pair in combinations(scores, 2)
    }
    enough = [pair for pair, difference in apart.items() if difference >= wanted]
    if enough:
        nearest = min(enough, key=lambda pair: apart[pair])
        return f"take a pair that differs more, such as {nearest[0]} and {nearest[1]}"
    return f"no pair of the pilot differs by more than {max(apart.values()):.4g}"


def _sizes(needs: Sequence[int]) -> list[int]:
    """Round numbers from a quarter of the fewest items needed to twice the most."""
    low = min(min(needs) / 4.0, _LARGEST_STUDY / 4.0)
    high = min(2.0 * max(needs), float(_LARGEST_STUDY))
    steps = [step * 10**k for k in range(5) for step in (10, 15, 20, 30, 40, 60, 80)]
    rounded = [4, 6, 8, *(step for step in steps if step <= _LARGEST_STUDY)]
    first = max((k for k, size in enumerate(rounded) if size <= low), default=0)
    last = min((k for k, size in enumerate(rounded) if size >= high), default=len(rounded) - 1)
    return rounded[first : max(last, first + 3) + 1]


def _points(sizes: Sequence[int], found: Ints, replicates: int) -> tuple[PowerPoint, ...]:
    shares = (found / replicates).tolist()
    smoothed = never_falling(shares).tolist()
    intervals = [_wilson(count, replicates) for count in found.tolist()]
    return tuple(map(PowerPoint, sizes, shares, intervals, smoothed))


def _wilson(count: int, total: int) -> ConfidenceInterval:
    """Wilson 1927: the shares that a score test does not reject."""
    z = NormalDist().inv_cdf((1.0 + _LEVEL) / 2.0)
    share = count / total
    middle = (share + z**2 / (2.0 * total)) / (1.0 + z**2 / total)
    reach = z * math.sqrt(share * (1.0 - share) / total + (z / (2.0 * total)) ** 2)
    reach /= 1.0 + z**2 / total
    low, high = max(0.0, middle - reach), min(1.0, middle + reach)
    return ConfidenceInterval(low, high, _LEVEL, f"Wilson, {total} simulated studies")


def _check(
    power: float,
    significance: float,
    items: Sequence[int] | None,
    replicates: int,
    draws: int,
    seed: int,
    threads: int | None,
) -> None:
    check_share("power", power)
    check_share("significance", significance)
    if power <= significance:
        raise InputError(
            f"power must be more than significance, which is {significance:g}, got {power:g}"
        )
    if items is not None and (not items or min(items) < 2):
        what = f"got {min(items)}" if items else "none was given"
        raise InputError(f"items must be numbers from 2 on, {what}")
    for name, number in (("replicates", replicates), ("draws", draws), ("threads", threads)):
        if number is not None:
            check_at_least(name, number, 1)
    check_at_least("seed", seed, 0)
