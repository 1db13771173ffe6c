"""A validation in; what a careful reader would object to out.

Each piece of advice names what is wrong, by how much, and what to do about it (Wei, "On conducting
better validation studies", section 3; Mathur et al. 2020, "Tangled up in BLEU", for outliers).
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array, Bools
from deltableu.corpus import ItemKeys, OutputMatches, Study
from deltableu.stats import correlate
from deltableu.validate.results import Agreement, Validation

#: With fewer, no correlation of systems but a nearly perfect one is significant.
_SYSTEMS = 5
#: With fewer raters of an output, its score is mostly their moods.
_RATERS = 3
#: Shares of pairs that tie, and of outputs that equal a reference, from which they matter.
_TIES, _COPIES = 0.25, 0.05
#: Robust standard deviations from the median beyond which a system is an outlier (WMT20).
_OUTLYING = 2.5
_MAD_TO_DEVIATION = 1.483
_TOKENS = re.compile(r"\btok:([^|]+)")


@dataclass(frozen=True, slots=True)
class Advice:
    """One objection.

    Attributes
    ----------
    topic : str
        A short name of what it is about, such as `few-systems`.
    text : str
        A sentence.
    """

    topic: str
    text: str

    def __str__(self) -> str:
        return self.text


def validation_advice(validation: Validation, study: Study | None = None) -> tuple[Advice, ...]:
    """What to mind before a validation is believed.

    Parameters
    ----------
    validation : Validation
    study : Study, optional
        Where its texts and ratings came from; without it, less can be looked at.

    Returns
    -------
    tuple of Advice
        Empty where nothing is found, which is no proof that all is well.

    Examples
    --------
    >>> from deltableu import validate_metrics
    >>> from deltableu.corpus import ScoreTable
    >>> people = ScoreTable.of({"people": {"A": [5, 4, 5], "B": [3, 3, 4], "C": [1, 2, 3]}})
    >>> metric = ScoreTable.of({"m": {"A": [9, 7, 8], "B": [6, 5, 7], "C": [2, 3, 4]}})
    >>> [one.topic for one in validation_advice(validate_metrics(metric, people))]
    ['few-systems']
    """
    found: list[Advice] = []
    for look in _OF_SCORES:
        if not (validation.simulated and look in _OF_PEOPLE):
            found += look(validation)
    if study is not None:
        for look_at in _OF_STUDIES:
            if not (validation.simulated and look_at in _OF_PEOPLE):
                found += look_at(validation, study)
    return tuple(found)


def _few_systems(validation: Validation) -> Iterator[Advice]:
    number = len(validation.human.systems)
    if any(one.level == "system" for one in validation.agreements) and number < _SYSTEMS:
        yield Advice(
            "few-systems",
            f"{number} systems are too few for a correlation of systems: {_SYSTEMS} is the least "
            "with which one can be significant, so look at outputs (level pooled or item) instead",
        )


def _few_raters(validation: Validation) -> Iterator[Advice]:
    raters = validation.raters
    if raters is None:
        return
    if raters.raters < _RATERS:
        yield Advice(
            "few-raters",
            f"{raters.raters} rater{'s' * (raters.raters != 1)} cannot show how people in general "
            f"judge: ask at least {_RATERS}",
        )
    elif raters.doubly_rated < raters.outputs / 2:
        yield Advice(
            "few-raters",
            f"only {raters.doubly_rated} of {raters.outputs} outputs were rated by two people or "
            "more: how noisy the ratings are, and what a perfect metric would reach, rests on them",
        )


def _mixed_tokenisation(validation: Validation) -> Iterator[Advice]:
    by_tokens: dict[str, list[str]] = {}
    for metric, signature in validation.signatures.items():
        found = _TOKENS.search(signature)
        if found and metric not in validation.sentinels:
            by_tokens.setdefault(found[1], []).append(metric)
    if len(by_tokens) > 1:
        parts = "; ".join(f"{name}: {', '.join(own)}" for name, own in by_tokens.items())
        yield Advice(
            "mixed-tokenisation",
            f"metrics see different tokens ({parts}): give all the same --tokenize, or differences "
            "between them may be differences between tokenizers",
        )


def _wrong_direction(validation: Validation) -> Iterator[Advice]:
    seen = set(validation.sentinels)
    for one in validation.agreements:
        against = one.interval is not None and one.interval.high < 0.0
        if one.metric in seen or not against:
            continue
        seen.add(one.metric)
        yield Advice(
            "wrong-direction",
            f"{one.metric} disagrees with people at level {one.level} ({one.method} "
            f"{one.value:.2f}): if lower is better for it, say so (--lower-is-better)",
        )


def _many_ties(validation: Validation) -> Iterator[Advice]:
    if not any(one.level != "system" for one in validation.agreements):
        return
    people = validation.human.values[0]
    rated = ~np.isnan(people)
    tied = _tied_share(people[rated])
    if tied > _TIES:
        yield Advice(
            "ties",
            f"people give {_percent(tied)} of all pairs of outputs the same score: look at "
            "kendall-b and acc-eq, which account for ties, rather than kendall-wei",
        )
    scores = validation.scores
    for metric in scores.metrics if scores is not None else ():
        if scores is None or metric in validation.sentinels or not scores.has_items(metric):
            continue
        values = scores.only(metric)[rated]
        tied = _tied_share(values[~np.isnan(values)])
        if tied > _TIES:
            yield Advice(
                "ties",
                f"{metric} gives {_percent(tied)} of all pairs of outputs the same score: it "
                "cannot tell them apart, so take a smoothed or signed form for single outputs",
            )


def _outliers(validation: Validation) -> Iterator[Advice]:
    """Systems that people place far from all others, by the median rule of WMT20."""
    measured = [
        one
        for one in validation.agreements
        if one.level == "system" and one.metric not in validation.sentinels
    ]
    people = validation.human.totals[0]
    far = outlying(people)
    if not measured or validation.scores is None or not far.any():
        return
    names = [name for name, one in zip(validation.human.systems, far, strict=True) if one]
    kept = ~far
    turned = validation.scores.turned()
    moves: list[tuple[Agreement, float]] = []
    for one in measured:
        if one.method == measured[0].method and kept.sum() > 2:
            rest = float(correlate(turned.total(one.metric)[kept], people[kept], one.method))
            moves.append((one, rest))
    known = [(one, rest) for one, rest in moves if not math.isnan(one.value - rest)]
    without = ""
    if known:
        one, rest = max(known, key=lambda move: abs(move[0].value - move[1]))
        it = "it" if len(names) == 1 else "them"
        without = f": without {it}, {one.method} of {one.metric} is {rest:.2f}, not {one.value:.2f}"
    place = "lies" if len(names) == 1 else "lie"
    yield Advice(
        "outliers",
        f"{_listed(names)} {place} far from the other systems in people's eyes, and may carry the "
        f"correlation alone{without}",
    )


def outlying(scores: Array) -> Bools:
    """Which scores lie more than 2.5 robust standard deviations from the median.

    References
    ----------
    Mathur, Baldwin and Cohn 2020, "Tangled up in BLEU", section 4.1: 1.483 times the median
    absolute deviation stands for the standard deviation.

    Examples
    --------
    >>> outlying(np.array([0.1, 0.2, 0.15, 0.18, -1.4])).tolist()
    [False, False, False, False, True]
    """
    away = np.abs(scores - np.median(scores))
    deviation = _MAD_TO_DEVIATION * float(np.median(away))
    # Where half of the systems are level, any other would be infinitely far from them.
    return np.asarray((away > _OUTLYING * deviation) & (deviation > 0.0))


def _one_type(validation: Validation, study: Study) -> Iterator[Advice]:
    names = validation.human.systems
    types = {study.systems[name].type for name in names if name in study.systems} - {None}
    if len(types) == 1 and all(name in study.systems for name in names) and len(names) > 1:
        yield Advice(
            "one-type",
            f"all systems are of type {types.pop()}: what holds among them need not hold for other "
            "types, so add some, or claim it of this type only",
        )


def _copies(validation: Validation, study: Study) -> Iterator[Advice]:
    keys = ItemKeys.of(study.items)
    for name in validation.human.systems:
        texts = study.outputs.get(name)
        described = study.systems.get(name)
        if texts is None or (described is not None and described.type == "human"):
            continue
        pairs = ((keys[item.id], text) for item, text in zip(study.items, texts, strict=True))
        matches = OutputMatches.count(pairs)
        copied = sum(matches.by_origin.values())
        if copied > _COPIES * matches.outputs:
            yield Advice(
                "equal-outputs",
                f"{copied} of {matches.outputs} outputs of {name} equal a reference of their item: "
                "the references may have been made from them, or it from the references",
            )


def _retrieved(validation: Validation, study: Study) -> Iterator[Advice]:
    names = [
        name
        for name in validation.human.systems
        if name in study.systems and "retriev" in (study.systems[name].type or "").lower()
    ]
    mined = sum(one.origin == "mined" for item in study.items for one in item.references)
    if names and mined:
        yield Advice(
            "retrieval-and-mined",
            f"{_listed(names)} retrieve{'s' * (len(names) == 1)} answers, and {mined} references "
            "were mined: if both come from the same logs, they match for that reason alone, so "
            "look at the agreement without them",
        )


def _double_raters(validation: Validation, study: Study) -> Iterator[Advice]:
    ratings = study.ratings
    both = set(ratings.rater[ratings.system >= 0].tolist()) & set(
        ratings.rater[ratings.reference >= 0].tolist()
    )
    if both:
        yield Advice(
            "raters-of-both",
            f"{len(both)} rater{'s' * (len(both) != 1)} rated references and outputs alike: "
            "metrics that use these weights then agree with their taste, so let others rate "
            "the outputs",
        )


_OF_SCORES: tuple[Callable[[Validation], Iterator[Advice]], ...] = (
    _few_systems,
    _few_raters,
    _mixed_tokenisation,
    _wrong_direction,
    _many_ties,
    _outliers,
)
_OF_STUDIES: tuple[Callable[[Validation, Study], Iterator[Advice]], ...] = (
    _one_type,
    _copies,
    _retrieved,
    _double_raters,
)
#: What rests on ratings, and so says nothing where these are simulated.
_OF_PEOPLE = (_few_systems, _few_raters, _wrong_direction, _many_ties, _outliers, _double_raters)


def _tied_share(values: Array) -> float:
    """The share of pairs with equal values; 0 below two."""
    if len(values) < 2:
        return 0.0
    counts = np.unique(values, return_counts=True)[1].astype(np.float64)
    return float((counts * (counts - 1)).sum() / (len(values) * (len(values) - 1)))


def _percent(share: float) -> str:
    return f"{100 * share:.0f}%"


def _listed(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
