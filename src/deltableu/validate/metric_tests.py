"""Several metrics and people in; every pair tested, and which metrics nothing beats, out."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations, product
from math import ceil
from typing import Any, Literal, cast, get_args

import numpy as np
from numpy.typing import ArrayLike

from deltableu._types import Array, Bools, Steps
from deltableu.corpus import ScoreTable
from deltableu.errors import InputError, check_at_least, check_choice, check_share
from deltableu.stats import Method, best_first, williams_metrics, williams_test
from deltableu.validate.agreement_bootstrap import Resample
from deltableu.validate.difference_bootstrap import BootstrapDifference, DrawnMetrics
from deltableu.validate.levels import AccuracyMethod, Level, Measure, Undefined, agreement
from deltableu.validate.paired_scores import Groups, PairedScores, by_group, group_codes
from deltableu.validate.permutation import (
    MetricExchanges,
    PermutationResult,
    Swap,
    exchanged_units,
)
from deltableu.validate.winners import (
    SENTINELS,
    MetricComparison,
    MetricCorrection,
    MetricTest,
    RankedMetric,
    rank_metrics,
)

#: Two-sided p-value, and those of the first and of the second metric being better.
PairOfValues = tuple[float, float, float]


def default_test(level: Level) -> MetricTest:
    """Exchanged systems speak about other systems; below that level items are the sample."""
    return "perm-systems" if level == "system" else "perm-items"


def compare_metrics(
    scores: ScoreTable | Mapping[str, ArrayLike],
    human: ArrayLike,
    *,
    test: MetricTest | Literal["auto"] = "auto",
    method: Method = "pearson",
    level: Level = "system",
    correction: MetricCorrection = "holm",
    significance: float = 0.05,
    sentinels: Sequence[str] = SENTINELS,
    groups: Groups | None = None,
    resamples: int = 1000,
    seed: int = 0,
    undefined: Undefined = "zero",
    threshold: float = 25.0,
    threads: int | None = None,
    progress: Steps | None = None,
) -> MetricComparison:
    """Test every pair of metrics, and find those that no other outperforms.

    Parameters
    ----------
    scores
        Systems x items of every metric; arrays turned so that higher is better. A metric of whole
        systems (corpus BLEU) has one item.
    human
        Systems x items; NaN where an output was not rated, and then no metric's score of it counts.
    test
        `perm-...` and `bootstrap-...` say what is exchanged or drawn again; `williams` compares
        Pearson or Spearman correlations at the system or pooled level. `auto` is `perm-systems`
        at level system and `perm-items` at the others.
    method, level, undefined, threshold
        How agreement is measured: see `agreement`.
    correction
        Tests are two-sided, and `holm` or `bh` corrects for the number of pairs; `none` does not.
        `wmt` is what the metrics tasks at WMT do: each pair is tested both ways, one-sided, without
        correction, so that of two equal metrics one wins in 10 of 100 studies.
    significance
        A p-value below it makes one metric better than another.
    sentinels
        Metrics that know nothing of quality: they cannot win, are not among the pairs to correct
        for, and each other metric is tested, one-sided, for agreeing better than they do.
    groups
        What each item belongs to (a document, a dialogue): it is exchanged or drawn as a whole.
    resamples
        At least so many exchanges or draws; more where the correction for many pairs would leave
        nothing significant otherwise.
    seed, threads
        As in `permutation_test`.
    progress
        Called with pairs done and pairs in all.

    Returns
    -------
    MetricComparison
        Without ranks, winners and p-values where no exchange of so few systems could be significant
        after the correction: `unranked` says so.

    References
    ----------
    Bojar et al. 2017, "Results of the WMT17 Metrics Shared Task" (winners); Freitag et al. 2022,
    "Results of WMT22 Metrics Shared Task" (ranks); Deutsch et al. 2021; Holm 1979.

    Examples
    --------
    >>> human = np.arange(60.0).reshape(6, 10) * 7 % 11
    >>> noise = np.cos(np.arange(60.0)).reshape(6, 10)
    >>> scores = {"good": human + noise, "fair": human + 4 * noise, "poor": noise}
    >>> result = compare_metrics(scores, human, level="pooled")
    >>> result.winners, [metric.rank for metric in result.metrics]
    (('good',), [1, 2, 3])
    >>> compare_metrics(scores, human).unranked.partition(":")[0]
    '6 systems cannot rank 3 metrics'
    """
    if test == "auto":
        test = default_test(level)
    check_choice("test", test, get_args(MetricTest))
    names, tables, people = _tables(scores, human)
    options: dict[str, Any] = {
        "method": method,
        "level": level,
        "undefined": undefined,
        "threshold": threshold,
    }
    values = [float(agreement(table, people, **options)) for table in tables]
    agreements = dict(zip(names, values, strict=True))
    given = dict(zip(names, tables, strict=True))
    metrics = [name for name in names if name not in sentinels]
    units = _units(test, ~np.isnan(people), groups)
    kind, _, moved = test.partition("-")
    points: dict[str, Array] = {}
    if test == "williams":
        if groups is not None and level == "pooled":
            raise InputError("Williams' test takes outputs for independent: it knows no groups")
        found = _points([*tables, people], level, method)
        points = dict(zip((*names, ""), found, strict=True))
    enough = enough_resamples(
        test, len(metrics), resamples, correction=correction, significance=significance
    )

    def sides() -> PairedScores:
        there = {name: given[name] for name, value in agreements.items() if not np.isnan(value)}
        measure = Measure(method, level, undefined, threshold)
        return PairedScores.of(there, people, measure, groups)

    @cache
    def exchanges() -> MetricExchanges:
        return MetricExchanges(sides(), cast(Swap, moved), enough, seed, threads)

    @cache
    def draws() -> DrawnMetrics:
        return DrawnMetrics(sides(), cast(Resample, moved), enough, seed, threads)

    def tested(one: str, two: str) -> PairOfValues:
        if test == "williams":
            return _williams(points[""], points[one], points[two], method)
        if kind == "perm":
            return _of_exchanges(exchanges().test(one, two))
        return _of_draws(draws().difference(one, two))

    return compare_pairs(
        agreements,
        tested,
        sentinels=sentinels,
        correction=correction,
        significance=significance,
        test=test,
        method=method,
        level=level,
        resamples=None if test == "williams" else enough,
        units=units,
        progress=progress,
    )


def compare_pairs(
    agreements: Mapping[str, float],
    tested: Callable[[str, str], PairOfValues],
    *,
    sentinels: Sequence[str],
    correction: MetricCorrection,
    significance: float,
    test: MetricTest,
    method: Method | AccuracyMethod,
    level: Level,
    resamples: int | None,
    units: tuple[int, str] | None = None,
    progress: Steps | None = None,
) -> MetricComparison:
    """Test all pairs of metrics, and each metric against each sentinel.

    `units` are what is exchanged: how many there are, and what they are called.
    """
    check_choice("correction", correction, get_args(MetricCorrection))
    check_share("significance", significance)
    controls = [
        name for name, value in agreements.items() if name in sentinels and not np.isnan(value)
    ]
    names = [name for name in agreements if name not in sentinels]
    for name in names:
        if np.isnan(agreements[name]):
            raise InputError(f"{name} has no {method} agreement with people at level {level!r}")
    unranked = None
    if units is not None and len(names) > 1 and correction != "wmt":
        unranked = _too_few(*units, len(names), correction, significance)
    own = [] if unranked else list(combinations(names, 2))
    pairs = [*own, *product(names, controls)]
    found = {}
    for done, pair in enumerate(pairs, start=1):
        found[pair] = tested(*pair)
        if progress is not None:
            progress(done, len(pairs))
    values = [agreements[name] for name in names]
    if unranked:
        order = [names[place] for place in best_first(names, values)]
        blank = np.full((len(names), len(names)), np.nan)
        ranked = tuple(RankedMetric(name, agreements[name]) for name in order)
        result = MetricComparison(
            ranked, blank, blank, correction, significance, test, method, level, unranked=unranked
        )
    else:
        p_values = np.ones((len(names), len(names)))
        for one, two in own:
            first, second = names.index(one), names.index(two)
            both, greater, less = found[one, two]
            sides = (greater, less) if correction == "wmt" else (both, both)
            p_values[first, second], p_values[second, first] = sides
        result = rank_metrics(
            names,
            values,
            p_values,
            correction=correction,
            significance=significance,
            test=test,
            method=method,
            level=level,
        )
    beats = [[found[one.metric, name][1] for name in controls] for one in result.metrics]
    return replace(
        result,
        resamples=resamples,
        sentinels=tuple(controls),
        beats=np.array(beats).reshape(len(names), len(controls)),
    )


def enough_resamples(
    test: MetricTest,
    metrics: int,
    requested: int,
    *,
    correction: MetricCorrection,
    significance: float,
) -> int:
    """So many that the smallest p-value is at most half of what the correction asks for.

    That of n random exchanges is 1 / (n + 1), that of draws, two-sided, 2 / (n + 1).

    Examples
    --------
    >>> enough_resamples("perm-both", 8, 1000, correction="holm", significance=0.05)
    1120
    """
    check_at_least("resamples", requested, 1)
    if correction == "wmt":
        return requested
    pairs = max(1, metrics * (metrics - 1) // 2) if correction in ("holm", "bh") else 1
    least = 2 if test.startswith("bootstrap") else 1
    return max(requested, ceil(2 * least * pairs / significance))


def _too_few(
    units: int, what: str, metrics: int, correction: MetricCorrection, significance: float
) -> str | None:
    """Why no exchange of so few units can tell so many metrics apart, if none can."""

    def family(number: int) -> int:
        return number * (number - 1) // 2 if correction == "holm" else 1

    smallest = 2.0 ** (1 - units)
    pairs = family(metrics)
    if pairs * smallest < significance:
        return None
    enough = next(n for n in range(units, 1000) if pairs * 2.0 ** (1 - n) < significance)
    fewer = max((k for k in range(2, metrics) if family(k) * smallest < significance), default=0)
    after = f", or below {_short(pairs * smallest)} after correction for {pairs} pairs"
    return (
        f"{units} {what} cannot rank {metrics} metrics: exchanging {what} gives no p-value below "
        f"{_short(smallest)}{after if pairs > 1 else ''}; "
        f"{f'compare at most {fewer} metrics, or ' if fewer else ''}take {enough} {what}"
    )


def _short(p_value: float) -> str:
    return f"{min(p_value, 1.0):.2g}".removeprefix("0")


def _units(test: MetricTest, rated: Bools, groups: Groups | None) -> tuple[int, str] | None:
    """What a test exchanges; None for a test whose p-values can be as small as they like."""
    kind, _, moved = test.partition("-")
    if kind != "perm":
        return None
    codes = group_codes(groups, np.ones(rated.shape[1], bool))
    what = "items" if groups is None else "groups"
    names = {
        "systems": "systems",
        "items": what,
        "both": f"scores of {what}" if groups else "scores",
    }
    there = by_group(rated, codes, 1) > 0
    return exchanged_units(there, cast(Swap, moved)), names[moved]


def _of_exchanges(found: PermutationResult) -> PairOfValues:
    return found.p_value, *found.p_values()


def _of_draws(found: BootstrapDifference) -> PairOfValues:
    greater, less = found.p_values()
    # The side is that of the observed agreements, whatever the draws prefer.
    return min(1.0, 2.0 * (greater if found.difference > 0.0 else less)), greater, less


def _williams(people: Array, first: Array, second: Array, method: Method) -> PairOfValues:
    ranks = cast(Literal["pearson", "spearman"], method)
    found = williams_metrics(people, first, second, method=ranks)
    rest = found.r12, found.r13, found.r23, found.n
    both, less = (williams_test(*rest, side).p_value for side in ("two-sided", "less"))
    return both, found.p_value, less


def _tables(
    scores: ScoreTable | Mapping[str, ArrayLike], human: ArrayLike
) -> tuple[list[str], list[Array], Array]:
    people = np.asarray(human, dtype=np.float64)
    if people.ndim != 2:
        raise InputError(f"human must be systems x items, got {people.ndim} axes")
    named: Mapping[str, ArrayLike]
    if isinstance(scores, ScoreTable):
        named = dict(zip(scores.metrics, scores.turned().values, strict=True))
    else:
        named = scores
    if not named:
        raise InputError("there are no metrics to compare")
    rated = ~np.isnan(people)
    if not rated.any(axis=1).all():
        place = int(np.flatnonzero(~rated.any(axis=1))[0])
        raise InputError(f"system {place} has no human scores: leave it out")
    tables = []
    for name, given in named.items():
        table = np.asarray(given, dtype=np.float64)
        if table.shape != people.shape:
            raise InputError(f"{name} is {table.shape}, but human is {people.shape}")
        lacking = rated & ~np.isfinite(table)
        if lacking.any():
            system, item = np.argwhere(lacking)[0].tolist()
            raise InputError(
                f"{name} has no score for system {system}, item {item}, which people rated"
            )
        tables.append(np.where(rated, table, np.nan))
    return list(named), tables, people


def _points(tables: list[Array], level: Level, method: Method) -> list[Array]:
    """One vector a metric, and people's last: what Williams' test correlates."""
    if method not in ("pearson", "spearman") or level == "item":
        raise InputError(
            "Williams' test compares pearson or spearman correlations at the system or pooled level"
        )
    if level == "system":
        return [np.nanmean(table, axis=1) for table in tables]
    return [table[~np.isnan(table)] for table in tables]
