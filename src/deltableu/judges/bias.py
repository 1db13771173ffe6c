"""A judge's ratings in; whether order, length or its own outputs sway it, and how it agrees with
itself, out.

Everything is asked of one judge: the raters `NAME`, or `NAME#1`, `NAME#2` and so on.
"""

from __future__ import annotations

import math
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import numpy as np

from deltableu._types import Ints
from deltableu.corpus import SCORED, RatingTable, Study, texts_by_target
from deltableu.errors import InputError, check_known, check_share
from deltableu.judges.bias_inputs import (
    Key,
    mean_interval,
    means_by_target,
    of_criterion,
    standardised,
)
from deltableu.judges.bias_results import BiasFinding, JudgeBias, clustered_share
from deltableu.rate import (
    alpha_interval,
    in_pairs,
    intraclass_correlations,
    krippendorff_alpha,
    preferences,
    rated_units,
)
from deltableu.stats import (
    ConfidenceInterval,
    bootstrap_counts,
    correlate,
    partial_correlation,
    percentile_interval,
)

_REPETITION = re.compile(r"#[0-9]+\Z")
#: Texts that a correlation or a difference needs.
_FEWEST = 8


def judge_bias(
    ratings: RatingTable,
    study: Study | None = None,
    *,
    judge: str | None = None,
    own: Sequence[str] = (),
    criterion: str | None = None,
    confidence: float = 0.95,
    resamples: int = 1_000,
    seed: int = 0,
) -> tuple[JudgeBias, ...]:
    """What sways each judge.

    Parameters
    ----------
    ratings : RatingTable
        What judges said, such as `judge apply --kind llm --ratings` writes.
    study : Study, optional
        Has the texts, for their length; and people's ratings, if there are any.
    judge : str, optional
        By default each rater, `NAME#1` and `NAME#2` being one.
    own : sequence of str
        Systems that are the judge itself, or its kin.
    criterion : str, optional
        May be left out where there is one.
    confidence, resamples, seed
        Of the intervals; items are drawn anew.

    Examples
    --------
    >>> from deltableu.corpus import Rating
    >>> shown = [("A", "B"), ("B", "A")] * 2
    >>> said = RatingTable.from_records(
    ...     Rating("llm:m", str(n // 2), f"system:{name}", value, scale="0-1",
    ...            pair="|".join(two), position=place)
    ...     for n, two in enumerate(shown)
    ...     for place, (name, value) in enumerate(zip(two, (1, 0)), 1)
    ... )
    >>> [(one.check, one.value) for one in judge_bias(said)[0].findings]
    [('position', 1.0), ('shown first', 1.0)]
    """
    check_share("confidence", confidence)
    table = of_criterion(ratings[ratings.of_kind(*SCORED)], criterion)
    names = list(dict.fromkeys(_REPETITION.sub("", one) for one in table.raters))
    if judge is not None:
        check_known("judge", judge, names)
        names = [judge]
    everybody = set(table.raters)
    people = None
    if study is not None and len(study.ratings):
        rows = study.ratings[study.ratings.of_kind(*SCORED)]
        others = [one for one in rows.raters if one in everybody]
        rows = rows.without_raters(others) if others else rows
        people = rows if len(rows) else None
    if study is not None:
        for name in own:
            check_known("system", name, study.outputs)
    elif own:
        raise InputError("whether a judge favours its own outputs needs the study with ratings")
    made = []
    for name in names:
        rows = table.without_raters(
            [one for one in table.raters if _REPETITION.sub("", one) != name]
        )
        made.append(_Checks(rows, study, people, own, confidence, resamples, seed).all(name))
    return tuple(made)


class _Checks:
    """The checks of one judge."""

    def __init__(
        self,
        rows: RatingTable,
        study: Study | None,
        people: RatingTable | None,
        own: Sequence[str],
        confidence: float,
        resamples: int,
        seed: int,
    ) -> None:
        self._rows, self._study, self._people, self._own = rows, study, people, own
        self._confidence, self._resamples, self._seed = confidence, resamples, seed
        self._paired = in_pairs(rows)

    def all(self, name: str) -> JudgeBias:
        """What each check finds, or why it finds nothing."""
        checks: dict[str, Callable[[], list[BiasFinding]]] = {
            "position": self._position,
            "length": self._length,
            **({"own outputs": self._own_outputs} if self._own else {}),
            "itself": self._itself,
        }
        found: list[BiasFinding] = []
        missing: dict[str, str] = {}
        for check, make in checks.items():
            try:
                found += make()
            except InputError as error:
                missing[check] = error.problem.message
        return JudgeBias(name, tuple(found), missing)

    def _position(self) -> list[BiasFinding]:
        if not self._paired.any():
            raise InputError("no outputs were compared in pairs (--what pairs)")
        said = preferences(self._rows[self._paired])
        shown: dict[tuple[int, ...], dict[int, int]] = defaultdict(dict)
        columns = (said.judgements.first, said.judgements.second, said.judgements.outcome)
        rows = zip(
            said.rater.tolist(),
            said.item.tolist(),
            *(column.tolist() for column in columns),
            said.judgements.order.tolist(),
            strict=True,
        )
        firsts, items = [], []
        for rater, item, one, other, outcome, order in rows:
            if order == 0:
                continue
            low, high = sorted((one, other))
            # 1 where the output that was shown first won.
            first = outcome * order
            before = (one if order > 0 else other) == low
            shown[rater, item, low, high].setdefault(int(before), first)
            firsts.append((first + 1) / 2)
            items.append(item)
        if not firsts:
            raise InputError("nobody wrote down which output was shown first")
        both = {key: (way[0], way[1]) for key, way in shown.items() if len(way) == 2}
        made = []
        if both:
            follows = [one == other != 0 for one, other in both.values()]
            share = clustered_share(follows, [key[1] for key in both], self._confidence)
            made.append(BiasFinding.position(len(both), float(np.mean(follows)), share))
        mean = float(np.mean(firsts))
        interval = clustered_share(firsts, items, self._confidence)
        return [*made, BiasFinding.first(len(firsts), mean, interval)]

    def _length(self) -> list[BiasFinding]:
        if self._study is None:
            raise InputError("the lengths of texts are not known (--study)")
        texts = texts_by_target(self._study)
        made = []
        single = means_by_target(self._rows[~self._paired])
        keys = [key for key in single if key in texts]
        if len(keys) >= _FEWEST:
            made.append(self._length_of(keys, single, texts))
        if self._paired.any():
            made += self._longer(texts)
        if not made and self._paired.any():
            raise InputError("no two outputs that were compared differ in length")
        if not made:
            raise InputError(f"fewer than {_FEWEST} texts of the study were rated")
        return made

    def _length_of(
        self, keys: list[Key], single: Mapping[Key, float], texts: Mapping[Key, str]
    ) -> BiasFinding:
        known = (
            {} if self._people is None else means_by_target(self._people[~in_pairs(self._people)])
        )
        both = [key for key in keys if key in known]
        beside = len(both) >= _FEWEST
        used = both if beside else keys
        values = np.array([single[key] for key in used])
        lengths = np.log1p([float(len(texts[key])) for key in used])
        human = np.array([known[key] for key in used]) if beside else None

        def statistic(rows: Ints) -> float:
            if human is None:
                return float(correlate(values[rows], lengths[rows], "spearman"))
            return float(partial_correlation(values[rows], lengths[rows], human[rows], "spearman"))

        value = statistic(np.arange(len(used)))
        if math.isnan(value):
            raise InputError("all ratings, or all lengths, are equal")
        interval = self._bootstrap(statistic, [key[0] for key in used])
        return BiasFinding.length(len(used), value, interval, beside_people=beside)

    def _longer(self, texts: Mapping[Key, str]) -> list[BiasFinding]:
        said = preferences(self._rows[self._paired])
        wins, items = [], []
        for place, outcome in enumerate(said.judgements.outcome.tolist()):
            item = said.items[int(said.item[place])]
            names = (said.judgements.first[place], said.judgements.second[place])
            sizes = [len(texts.get((item, f"system:{said.systems[int(n)]}"), "")) for n in names]
            if outcome and sizes[0] != sizes[1]:
                wins.append((outcome > 0) == (sizes[0] > sizes[1]))
                items.append(int(said.item[place]))
        if not wins:
            return []
        interval = clustered_share(wins, items, self._confidence)
        return [BiasFinding.longer(len(wins), float(np.mean(wins)), interval)]

    def _own_outputs(self) -> list[BiasFinding]:
        if self._people is None:
            raise InputError("there are no people's ratings to compare with (--study)")
        judge = means_by_target(self._rows[~self._paired])
        people = means_by_target(self._people[~in_pairs(self._people)])
        keys = [key for key in judge if key in people and key[1].startswith("system:")]
        if len(keys) < _FEWEST:
            raise InputError(f"fewer than {_FEWEST} outputs were rated by both people and judge")
        apart = standardised([judge[key] for key in keys]) - standardised(
            [people[key] for key in keys]
        )
        own = {f"system:{name}" for name in self._own}
        mine: dict[str, list[float]] = defaultdict(list)
        others: dict[str, list[float]] = defaultdict(list)
        for (item, target), value in zip(keys, apart.tolist(), strict=True):
            (mine if target in own else others)[item].append(value)
        gaps = [
            float(np.mean(mine[item]) - np.mean(others[item])) for item in mine if item in others
        ]
        if len(gaps) < 3:
            raise InputError("fewer than 3 items have own and others' outputs rated by both")
        return [BiasFinding.own(self._own, *mean_interval(gaps, self._confidence))]

    def _itself(self) -> list[BiasFinding]:
        if len(self._rows.raters) < 2:
            raise InputError("each text was judged once (--repeat)")
        made = []
        for units in rated_units(self._rows):
            _, rows = units.rows()
            several = (~np.isnan(rows)).sum(axis=0) >= 2
            if not several.any():
                raise InputError("nothing was judged twice")
            if np.nanmax(rows[:, several]) == np.nanmin(rows[:, several]):
                raise InputError("all repeated ratings are equal, of whatever text")
            alpha = krippendorff_alpha(rows).value
            interval = alpha_interval(rows, units.groups(), self._confidence)
            icc = None
            if units.targets != "pairs" and not np.isnan(rows).any():
                icc = intraclass_correlations(rows, confidence=self._confidence)["ICC1"].value
            count = int(several.sum()) // units.ways
            made.append(BiasFinding.itself(len(rows), units.targets, count, alpha, interval, icc))
        return made

    def _bootstrap(
        self, statistic: Callable[[Ints], float], items: Sequence[str]
    ) -> ConfidenceInterval | None:
        """Items drawn anew, with all that belongs to them."""
        _, group = np.unique(np.array(items), return_inverse=True)
        order = np.argsort(group, kind="stable")
        ends = np.cumsum(np.bincount(group))
        rows = [order[start:end] for start, end in pairwise([0, *ends.tolist()])]
        counts = bootstrap_counts(len(rows), self._resamples, self._seed)
        values = [
            statistic(np.concatenate([rows[place] for place in np.repeat(range(len(rows)), one)]))
            for one in counts
        ]
        known = np.array([value for value in values if not math.isnan(value)])
        if len(known) < 0.9 * self._resamples:
            return None
        low, high = percentile_interval(known, self._confidence)
        return ConfidenceInterval(low, high, self._confidence, "bootstrap")
