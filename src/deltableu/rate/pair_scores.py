"""Ratings or human scores in; what people think of both systems of a pair, item by item, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import SIMULATED_RATERS, RatingTable, ScoreTable, rater_words, says_simulated
from deltableu.errors import InputError, check_at_least, check_known
from deltableu.rate.direct_assessment import output_counts, output_means
from deltableu.rate.human_scores import HumanScale, human_scores
from deltableu.rate.rater_rows import of_one_criterion
from deltableu.rate.standardise import standardise

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True, eq=False)
class PairScores:
    """Human scores of both systems of each pair.

    Attributes
    ----------
    pairs : tuple of (str, str)
        Names of systems.
    items : tuple of str
    values : array
        Pairs x 2 x items; NaN where an output was not rated.
    source : str
        How the scores were made.
    by_pair : bool
        Whether an output has the ratings that it got beside the other output of the pair, which
        differ from pair to pair.
    """

    pairs: tuple[tuple[str, str], ...]
    items: tuple[str, ...]
    values: Array
    source: str
    by_pair: bool


def pair_scores(
    human: RatingTable | ScoreTable,
    pairs: Pairs | None = None,
    *,
    systems: Sequence[str] | None = None,
    scale: HumanScale = "z",
    min_raters: int = 1,
) -> PairScores:
    """Scores of both outputs of each pair of systems.

    Parameters
    ----------
    human
        Ratings; those that name a `pair` count for the pair of systems that was shown there. Or a
        table of ready scores with one metric.
    pairs
        Of names; by default all whose outputs were shown together, or, where ratings name no pair,
        all pairs.
    systems
        By default pairs are of these.
    scale, min_raters
        See `human_scores`.

    Examples
    --------
    >>> made = RatingTable.of(
    ...     raters=["a", "a", "b", "b"], items=["1", "1", "1", "1"],
    ...     systems=["A", "B", "A", "B"], values=[90, 40, 70, 60],
    ... )
    >>> found = pair_scores(made, scale="raw")
    >>> found.pairs, found.values[0].tolist()
    ((('A', 'B'),), [[80.0], [50.0]])
    """
    check_at_least("min_raters", min_raters, 1)
    if isinstance(human, ScoreTable):
        if len(human.metrics) != 1:
            there = ", ".join(human.metrics)
            raise InputError(f"there are several human scores ({there}): choose a criterion")
        return _of_table(human.turned(), pairs, systems, table_source(human))
    ratings = of_one_criterion(human)
    if not (ratings.scored().pair >= 0).any():
        table = human_scores(ratings, scale=scale, min_raters=min_raters)
        return _of_table(table, pairs, systems, table.signatures[0])
    if scale == "mixed":
        raise InputError("a mixed model has no scores by pair: choose scale z or raw")
    scored = (standardise(ratings)[0] if scale == "z" else ratings).scored()
    first, second = _shown_together(scored)
    names = ratings.systems
    known = names if systems is None else [name for name in names if name in systems]
    if pairs is None:
        shown = set(zip(first.tolist(), second.tolist(), strict=True))
        numbers = [(names.index(a), names.index(b)) for a, b in combinations(known, 2)]
        pairs = tuple((names[a], names[b]) for a, b in numbers if (a, b) in shown)
        if not pairs:
            raise InputError("no two systems were shown together in a pair of the ratings")
    values = []
    for a, b in _checked(pairs, known):
        low, high = sorted((names.index(a), names.index(b)))
        own = scored[(first == low) & (second == high)].without_repeats()
        means = np.where(output_counts(own) >= min_raters, output_means(own), np.nan)
        found = means[[names.index(a), names.index(b)]]
        if np.isnan(found).all(axis=1).any():
            raise InputError(f"no ratings of {a!r} and {b!r} in a pair")
        values.append(found)
    raters = rater_words(len(ratings.raters), simulated=ratings.is_simulated)
    source = f"{scale}-{raters}-min{min_raters}-by-pair"
    return PairScores(tuple(pairs), ratings.items, np.stack(values), source, True)


def table_source(human: ScoreTable) -> str:
    """Where ready scores of people come from, as signatures say it."""
    simulated = says_simulated(human.signatures[0])
    return f"table-{human.metrics[0]}{f'-{SIMULATED_RATERS}' if simulated else ''}"


def _of_table(
    table: ScoreTable, pairs: Pairs | None, systems: Sequence[str] | None, source: str
) -> PairScores:
    scores, names = table.values[0], table.systems
    if not table.has_items(table.metrics[0]):
        raise InputError("the human scores are totals of systems: units need scores of items")
    if pairs is None:
        known = names if systems is None else [name for name in names if name in systems]
        rated = [name for name in known if not np.isnan(scores[names.index(name)]).all()]
        pairs = tuple(combinations(rated, 2))
    values = [scores[[names.index(a), names.index(b)]] for a, b in _checked(pairs, names)]
    if not values:
        raise InputError("units compare systems: at least two need human scores")
    return PairScores(tuple(pairs), table.items, np.stack(values), source, False)


def _checked(pairs: Pairs, systems: Sequence[str]) -> Pairs:
    for a, b in pairs:
        for name in (a, b):
            check_known("rated system", name, systems)
        if a == b:
            raise InputError(f"a pair is of two systems, got {a!r} twice")
    if len({frozenset(pair) for pair in pairs}) < len(pairs):
        raise InputError("pairs names one twice")
    return pairs


def _shown_together(scored: RatingTable) -> tuple[Ints, Ints]:
    """The numbers of both systems that were shown where a rating was given; -1 where unknown.

    A label may stand for two systems, for what was shown of an item, or for what one rater saw.
    """
    first, second = np.full((2, len(scored)), -1)
    label = scored.pair
    keys = [label, label * len(scored.items) + scored.item]
    keys.append(keys[1] * len(scored.raters) + scored.rater)
    for key in keys:
        left = np.flatnonzero((label >= 0) & (first < 0))
        if not len(left):
            break
        _, group = np.unique(key[left], return_inverse=True)
        system = scored.system[left]
        low, high = np.full(group.max() + 1, len(scored.systems)), np.full(group.max() + 1, -1)
        np.minimum.at(low, group, system)
        np.maximum.at(high, group, system)
        third = (system != low[group]) & (system != high[group])
        two = (low < high) & (np.bincount(group, third) == 0)
        found = left[two[group]]
        first[found], second[found] = low[group][two[group]], high[group][two[group]]
    return first, second
