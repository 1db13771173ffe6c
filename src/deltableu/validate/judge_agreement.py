"""Two judges of the same texts in; how far they agree, and what it changes to swap them, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import Item, Study, texts_by_target
from deltableu.errors import InputError, check_at_least, check_choice, check_share
from deltableu.rate import (
    ALLOWANCES,
    AlternativeAnnotatorTest,
    Annotators,
    alternative_annotator_test,
    check_allowance,
    cohen_kappa,
    mean_ratings,
)
from deltableu.score import Metric, score_systems
from deltableu.stats import (
    ConfidenceInterval,
    Method,
    best_first,
    bootstrap_counts,
    correlate,
    percentile_interval,
    sum_groups,
)
from deltableu.validate.agreement_bootstrap import bootstrap_agreement
from deltableu.validate.difference_bootstrap import bootstrap_difference
from deltableu.validate.judge_agreement_results import (
    Disagreement,
    JudgeAgreement,
    JudgeCorrelation,
    JudgedBin,
    JudgedSigns,
    RankedByBoth,
    SwappedAgreement,
    SwappedRanking,
)
from deltableu.validate.judged_units import JudgedUnits, item_numbers, shared_units

_METHODS: tuple[Method, ...] = ("pearson", "spearman", "kendall-b")
_BINS = 5
#: Nearer to the neutral point than that is neutral: means of thirds are not exact.
_NEUTRAL = 1e-9


def compare_judges(
    first: JudgedUnits,
    second: JudgedUnits,
    study: Study | None = None,
    *,
    metric: Metric | None = None,
    annotators: Annotators = "skilled",
    allowance: float | None = None,
    cases: int = 5,
    confidence: float = 0.95,
    significance: float = 0.05,
    resamples: int = 1000,
    seed: int = 0,
) -> JudgeAgreement:
    """Compare what two judges say of the same references or outputs.

    Parameters
    ----------
    first, second : JudgedUnits
        The first is the standard (people, say), the second the one in question.
    study : Study, optional
        Whose texts they judge: then disagreements show them, and it is said what swapping the
        judges does to the ranking of its systems and to a metric's agreement with people.
    metric : Metric, optional
        One that uses weights, where references are judged; one of single outputs otherwise.
    annotators : {"expert", "skilled", "crowd"}
        Who the first's raters are: it sets the allowance of the alternative annotator test.
    allowance : float, optional
        In its place.
    cases : int
        Disagreements that are listed.
    confidence, significance : float
    resamples, seed : int
        Of intervals, which are over items.

    Examples
    --------
    >>> from deltableu.corpus import RatingTable
    >>> rng = np.random.default_rng(0)
    >>> quality = rng.normal(size=40)
    >>> def table(raters, noise):
    ...     said = np.clip(np.round(3 + quality + noise * rng.normal(size=(raters, 40))), 1, 5)
    ...     return RatingTable.of(
    ...         raters=[f"r{k}" for k in range(raters) for _ in range(40)],
    ...         items=[f"i{i}" for _ in range(raters) for i in range(40)],
    ...         systems=["A"] * (40 * raters), values=said.ravel(), scale="1-5",
    ...     )
    >>> people = JudgedUnits.of_ratings("people", table(4, 0.8))
    >>> model = JudgedUnits.of_ratings("model", table(1, 0.5))
    >>> found = compare_judges(people, model)
    >>> round(found.correlations[0].value, 2), found.replacement.passed
    (0.63, True)
    """
    check_choice("annotators", annotators, get_args(Annotators))
    check_share("confidence", confidence)
    check_at_least("cases", cases, 0)
    check_at_least("resamples", resamples, 20)
    allowed = check_allowance(ALLOWANCES[annotators] if allowance is None else allowance)
    sizes = len(first.keys), len(second.keys)
    one, two = shared_units(first, second)
    items = item_numbers(one.keys)
    for source in (one, two):
        if np.ptp(source.values) <= _NEUTRAL:
            raise InputError(f"{source.name} says the same of all {len(one.keys)} shared texts")
    missing: dict[str, str] = {}
    scaled = one.scaled and two.scaled
    if not scaled:
        unknown = " and ".join(source.name for source in (one, two) if not source.scaled)
        missing["signs"] = f"the scale of {unknown} is not known"
    bias, bias_interval = None, None
    if scaled:
        away = two.values - one.values
        bias = float(away.mean())
        bias_interval = _mean_interval(away, items, confidence, resamples, seed)
    return JudgeAgreement(
        first=one.name,
        second=two.name,
        targets=one.targets,
        texts=len(one.keys),
        items=int(items.max()) + 1,
        first_only=sizes[0] - len(one.keys),
        second_only=sizes[1] - len(one.keys),
        scaled=scaled,
        correlations=_correlations(one, two, items, confidence, resamples, seed),
        bias=bias,
        bias_interval=bias_interval,
        distance=float(np.abs(two.values - one.values).mean()) if scaled else None,
        signs=_signs(one.values, two.values) if scaled else None,
        calibration=_calibration(one.values, two.values, items, confidence, resamples, seed),
        disagreements=_disagreements(one, two, study, cases, scaled),
        ranking=_ranking(one, two, study, metric, missing),
        agreement=_agreement(one, two, study, metric, missing, confidence, resamples, seed),
        replacement=_replacement(one, two, allowed, significance, missing),
        missing=missing,
        confidence=confidence,
        simulated=one.simulated
        or two.simulated
        or (study is not None and study.ratings.is_simulated),
    )


def _correlations(
    one: JudgedUnits, two: JudgedUnits, items: Ints, confidence: float, resamples: int, seed: int
) -> tuple[JudgeCorrelation, ...]:
    found = []
    for method in _METHODS:
        drawn = bootstrap_agreement(
            two.values[np.newaxis],
            one.values[np.newaxis],
            method=method,
            level="pooled",
            confidence=confidence,
            resamples=resamples,
            seed=seed,
            groups=items.tolist(),
        )
        found.append(JudgeCorrelation(method, drawn.value, drawn.interval))
    return tuple(found)


def _mean_interval(
    values: Array, items: Ints, confidence: float, resamples: int, seed: int
) -> ConfidenceInterval:
    """Of a mean over texts, whole items being drawn."""
    labels = np.unique(items, return_inverse=True)[1]
    groups = int(labels.max()) + 1
    if groups < 2:
        return ConfidenceInterval(np.nan, np.nan, confidence, "percentile")
    sums = sum_groups(np.stack([values, np.ones(len(values))], axis=1), labels)
    drawn = bootstrap_counts(groups, resamples, seed) @ sums
    low, high = percentile_interval(drawn[:, 0] / drawn[:, 1], confidence)
    return ConfidenceInterval(low, high, confidence, "percentile")


def _signs(one: Array, two: Array) -> JudgedSigns:
    first, second = (_classes(values) for values in (one, two))
    counts = np.zeros((3, 3), dtype=np.int64)
    np.add.at(counts, (first, second), 1)
    classes = np.unique(np.concatenate([first, second]))
    kappa = float("nan")
    if len(classes) > 1:
        kappa = cohen_kappa(first.astype(np.float64), second.astype(np.float64)).value
    return JudgedSigns(
        tuple((int(a), int(b), int(c)) for a, b, c in counts.tolist()),
        float(counts[0, 2] + counts[2, 0]) / len(one),
        kappa,
    )


def _classes(values: Array) -> Ints:
    return (values > -_NEUTRAL).astype(np.int64) + (values > _NEUTRAL)


def _calibration(
    one: Array, two: Array, items: Ints, confidence: float, resamples: int, seed: int
) -> tuple[JudgedBin, ...]:
    """Bins of about as many texts each, equal values being in one bin."""
    edges = np.unique(np.quantile(two, np.linspace(0.0, 1.0, _BINS + 1)[1:-1]))
    bins = np.searchsorted(edges, two, side="left")
    found = []
    for number in np.unique(bins).tolist():
        own = bins == number
        interval = _mean_interval(one[own], items[own], confidence, resamples, seed)
        found.append(
            JudgedBin(
                float(two[own].min()),
                float(two[own].max()),
                int(np.count_nonzero(own)),
                float(two[own].mean()),
                float(one[own].mean()),
                interval,
            )
        )
    return tuple(found)


def _disagreements(
    one: JudgedUnits, two: JudgedUnits, study: Study | None, cases: int, scaled: bool
) -> tuple[Disagreement, ...]:
    """By distance on the common scale; without one, by distance of standardised values."""
    first, second = one.values, two.values
    if not scaled:
        first, second = ((own - own.mean()) / own.std() for own in (first, second))
    order = np.argsort(-np.abs(first - second), kind="stable")[:cases]
    texts = {} if study is None else texts_by_target(study)
    return tuple(
        Disagreement(
            one.keys[place][0],
            one.keys[place][1],
            float(one.values[place]),
            float(two.values[place]),
            texts.get(one.keys[place], ""),
        )
        for place in order.tolist()
    )


def _ranking(
    one: JudgedUnits,
    two: JudgedUnits,
    study: Study | None,
    metric: Metric | None,
    missing: dict[str, str],
) -> SwappedRanking | None:
    if one.targets == "outputs":
        return _ranking_of_means(one, two, missing)
    if study is None or metric is None or len(study.outputs) < 2:
        missing["ranking"] = "no study with two systems or more was given"
        return None
    totals = []
    for study_under in _weighted(one, two, study):
        if not study_under.items:
            missing["ranking"] = "no item has a reference with a positive weight by both"
            return None
        totals.append(score_systems(study_under, metrics=[metric]).score_table().totals[0])
    sign = 1.0 if metric.higher_is_better else -1.0
    measure = f"{metric.name} with the weights of either"
    return _ranked(
        tuple(study.outputs), totals[0], totals[1], sign, measure, len(study_under.items)
    )


def _ranking_of_means(
    one: JudgedUnits, two: JudgedUnits, missing: dict[str, str]
) -> SwappedRanking | None:
    names = list(dict.fromkeys(target.removeprefix("system:") for _, target in one.keys))
    if len(names) < 2:
        missing["ranking"] = "there is one system"
        return None
    numbers = {name: place for place, name in enumerate(names)}
    own = np.array([numbers[target.removeprefix("system:")] for _, target in one.keys])
    counts = np.bincount(own)
    means = [np.bincount(own, source.values) / counts for source in (one, two)]
    items = len({item for item, _ in one.keys})
    return _ranked(names, means[0], means[1], 1.0, "means of what either says", items)


def _ranked(
    names: Sequence[str], first: Array, second: Array, sign: float, measure: str, items: int
) -> SwappedRanking:
    ranks = [1 + (sign * own[None, :] > sign * own[:, None]).sum(axis=1) for own in (first, second)]
    above, below = np.triu_indices(len(names), 1)
    moves = np.sign(first[above] - first[below]) * np.sign(second[above] - second[below])
    order = best_first(names, first, higher_is_better=sign > 0.0)
    return SwappedRanking(
        measure,
        tuple(
            RankedByBoth(
                names[place],
                float(first[place]),
                float(second[place]),
                int(ranks[0][place]),
                int(ranks[1][place]),
            )
            for place in order
        ),
        float(correlate(first, second, "kendall-b")),
        int(np.count_nonzero(moves < 0.0)),
        items,
    )


def _weighted(one: JudgedUnits, two: JudgedUnits, study: Study) -> list[Study]:
    """The study with the weights of either, on the items that can be scored with both."""
    weights = [dict(zip(own.keys, own.values.tolist(), strict=True)) for own in (one, two)]
    kept: list[int] = []
    versions: tuple[list[Item], list[Item]] = ([], [])
    for place, item in enumerate(study.items):
        judged = [ref for ref in item.references if (item.id, f"reference:{ref.id}") in weights[0]]
        own = [
            [replace(ref, weight=by[item.id, f"reference:{ref.id}"]) for ref in judged]
            for by in weights
        ]
        if all(any((ref.weight or 0.0) > 0.0 for ref in refs) for refs in own):
            kept.append(place)
            for version, refs in zip(versions, own, strict=True):
                version.append(replace(item, references=tuple(refs)))
    outputs = {name: tuple(texts[place] for place in kept) for name, texts in study.outputs.items()}
    return [replace(study, items=tuple(version), outputs=outputs) for version in versions]


def _agreement(
    one: JudgedUnits,
    two: JudgedUnits,
    study: Study | None,
    metric: Metric | None,
    missing: dict[str, str],
    confidence: float,
    resamples: int,
    seed: int,
) -> SwappedAgreement | None:
    if study is None or metric is None or not study.outputs:
        missing["agreement"] = "no study with outputs was given"
        return None
    if not metric.has_segments:
        missing["agreement"] = f"{metric.name} does not score single outputs"
        return None
    if one.targets == "outputs":
        scored = score_systems(study, metrics=[metric]).score_table()
        systems = {f"system:{name}": place for place, name in enumerate(scored.systems)}
        items = {name: place for place, name in enumerate(scored.items)}
        tables = np.full((2, len(systems), len(items)), np.nan)
        for place, (item, target) in enumerate(one.keys):
            if item in items and target in systems:
                tables[:, systems[target], items[item]] = one.values[place], two.values[place]
        first, second, standard = tables[0], tables[1], scored.values[0]
        people = "each judge's own ratings"
    else:
        if not (study.ratings.system >= 0).any():
            missing["agreement"] = "the study has no ratings of outputs"
            return None
        versions = _weighted(one, two, study)
        if not versions[0].items:
            missing["agreement"] = "no item has a reference with a positive weight by both"
            return None
        scores = [score_systems(own, metrics=[metric]).score_table() for own in versions]
        said = mean_ratings(
            study.ratings.of_systems(
                items=[item.id for item in study.items], systems=list(study.outputs)
            )
        ).select(systems=scores[0].systems, items=scores[0].items)
        first, second = (own.turned().values[0] for own in scores)
        standard = said.values[0]
        people = "the study's ratings of outputs"
    known = ~(np.isnan(first) | np.isnan(second) | np.isnan(standard))
    if np.count_nonzero(known) < 3:
        missing["agreement"] = "fewer than three outputs are rated and scored"
        return None
    first, second, standard = (np.where(known, own, np.nan) for own in (first, second, standard))
    drawn = bootstrap_difference(
        first,
        second,
        standard,
        level="pooled",
        resample="items",
        confidence=confidence,
        resamples=resamples,
        seed=seed,
    )
    cells = [own[known] for own in (first, second, standard)]
    values = [float(correlate(own, cells[2], "pearson")) for own in cells[:2]]
    return SwappedAgreement(
        metric.name,
        people,
        values[0],
        values[1],
        drawn.difference,
        drawn.interval,
        int(np.count_nonzero(known)),
    )


def _replacement(
    one: JudgedUnits,
    two: JudgedUnits,
    allowance: float,
    significance: float,
    missing: dict[str, str],
) -> AlternativeAnnotatorTest | None:
    if one.said is None:
        missing["replacement"] = f"single raters of {one.name} are not known"
        return None
    if one.scaled != two.scaled:
        missing["replacement"] = missing["signs"]
        return None
    try:
        return alternative_annotator_test(
            one.said, two.values, one.raters, allowance=allowance, significance=significance
        )
    except InputError as error:
        missing["replacement"] = str(error)
        return None
