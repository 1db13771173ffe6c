"""A study with raw ratings of references in; how sure scores are, given who rated, out.

Reference weights are means of a few ratings. What is wanted is the score under the *true mean
weights*, the means over all people who might have rated, on the population of items from which the
study's were drawn. Two things separate that from the score of the study:

- Chance. Other items and other raters would have given another score. Items are resampled with
  replacement, and raters by a wild bootstrap that keeps a rater's answers together.
- Bias. A metric that takes the best of several references profits from noise in their weights:
  the largest of several means is larger than the mean of the largest. More noise shows by how
  much: rows are computed once more with noise added to the weights, and extrapolated back to no
  noise. Since noise upon noise moves a maximum less than the first noise did, the step back is
  longer than the step that was seen, by a factor that `expected_largest` gives. Two systems have
  nearly the same bias, so that it is taken from single scores and not from differences: there the
  noise of the correction would outweigh it (see docs/statistics.md).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Literal

import numpy as np

from deltableu._types import Array, Ints, Steps
from deltableu.compare.rater_results import RaterDraws, ResampledRaters
from deltableu.corpus import Item, RatingTable, ReferenceSet, Study, reference_set
from deltableu.errors import InputError, check_at_least, check_known
from deltableu.rate import (
    RatingNoise,
    Source,
    expected_largest,
    rated_weights,
    rating_noise,
)
from deltableu.score import Metric, Reweighting, first_wrong_text
from deltableu.stats import (
    bootstrap_sums,
    group_numbers,
    jackknife_interval,
    stream,
    sum_groups,
)

#: Numbers held in memory at once, per thread.
_NUMBERS = 4_000_000
_LARGEST_CHUNK = 64
_STREAMS: dict[Source, int] = {"raters": 2, "answers": 3}  # 0 and 1 are those of other resampling
_LONGEST_STEP = 1.0 + np.sqrt(2.0)


def resample_raters(
    study: Study,
    metric: Metric,
    *,
    systems: Sequence[str] | None = None,
    selection: str = "all",
    criterion: str | None = None,
    groups: Sequence[str] | None = None,
    no_positive: Literal["error", "skip"] = "error",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    threads: int | None = None,
    progress: Steps | None = None,
) -> ResampledRaters:
    """Resample items and raters of a study.

    Parameters
    ----------
    study : Study
        With raw ratings of its references.
    metric : Metric
        One that uses weights.
    systems : list of str, optional
        Only these.
    selection : str
        "all", "single" or "w>=T"; a threshold chooses with the study's weights, once.
    criterion : str, optional
        The criterion of the ratings; may be left out where all ratings of references have the same.
    groups : list of str, optional
        What each item belongs to: whole groups are then resampled.
    no_positive : {"error", "skip"}
        What to do about items without a positively weighted reference.
    resamples : int
    confidence : float
        The confidence of the intervals for other items only.
    seed : int
    threads : int, optional
        All cores by default; no result depends on it.
    progress : callable, optional
        Called with (resamples done, resamples in all).

    Examples
    --------
    >>> from deltableu import DeltaBLEU
    >>> from deltableu.corpus import Item, Rating, RatingTable, Reference
    >>> items, ratings = [], []
    >>> for n in range(8):
    ...     items.append(Item(str(n), (Reference("a", f"yes {n} of course"), Reference("b", "no"))))
    ...     for rater, likes in (("ann", 5), ("bob", 4), ("eve", 3 + n % 3)):
    ...         ratings.append(Rating(rater, str(n), "reference:a", likes, scale="1-5"))
    ...         ratings.append(Rating(rater, str(n), "reference:b", 6 - likes, scale="1-5"))
    >>> outputs = {"A": tuple(f"yes {n} of course" for n in range(8)), "B": ("of course no",) * 8}
    >>> study = Study(tuple(items), outputs, RatingTable.from_records(ratings))
    >>> found = resample_raters(study, DeltaBLEU())
    >>> found.raters, found.p_value("A", "B") < 0.05
    (3, True)
    """
    names = list(study.outputs) if systems is None else list(systems)
    for name in names:
        check_known("system", name, study.outputs)
    _check(metric, resamples, seed)
    answers = study.ratings.of_references(study.items, criterion)
    references, note = rated_weights(reference_set(study), answers)
    return resample_rated(
        references.select(selection),
        answers,
        {name: study.outputs[name] for name in names},
        metric,
        groups=groups,
        no_positive=no_positive,
        resamples=resamples,
        confidence=confidence,
        seed=seed,
        note=note,
        threads=threads,
        progress=progress,
    )


def resample_rated(
    references: ReferenceSet,
    answers: RatingTable,
    outputs: Mapping[str, Sequence[str]],
    metric: Metric,
    *,
    groups: Sequence[str] | None = None,
    no_positive: Literal["error", "skip"] = "error",
    resamples: int = 1000,
    confidence: float = 0.95,
    seed: int = 0,
    note: str = "",
    threads: int | None = None,
    progress: Steps | None = None,
) -> ResampledRaters:
    """The same for references whose weights are the means of their ratings.

    Parameters
    ----------
    references : ReferenceSet
        Made of items.
    answers : RatingTable
        What raters said of these references and perhaps others, as `of_references` gives it.
    outputs : mapping of str to list of str
        Each system's hypotheses, in the order of the items.
    note : str
        What users should know of the weights.
    """
    _check(metric, resamples, seed)
    _check_outputs(outputs, len(references))
    if groups is not None and len(groups) != len(references):
        raise InputError(f"there are {len(groups)} groups for {len(references)} items")
    owner = dict(zip(references.item_ids or (), groups or (), strict=False))
    references, outputs, dropped = _with_positive(references, outputs, no_positive)
    numbers = None
    if groups is not None:
        numbers = group_numbers([owner[item.id] for item in _items(references)])
        if int(numbers.max()) < 1:
            raise InputError("a comparison needs at least two groups of items, got 1")
    metric.encode(references, threads=threads)  # explains what is wrong with references
    answers = answers.of_references(_items(references), unknown="drop")
    noise = rating_noise(references, answers)
    ready = metric.reweighting(references, list(outputs.values()))
    observed = ready.rows(noise.weights[None])[0]

    def resample(source: Source, start: int) -> _Resampled:
        def told(done: int) -> None:
            if progress is not None:
                progress((start + done) // 2, resamples)

        return _resample(ready, noise, source, resamples, seed, threads, told)

    others, noisier = resample("raters", 0), resample("answers", resamples)
    step = _step(noise, noisier.largest)
    corrected = observed - step * (noisier.rows - observed)

    def by_unit(rows: Array) -> Array:
        return rows if numbers is None else sum_groups(rows, numbers)

    def draws(rows: Array) -> RaterDraws:
        """Scores of rows, of samples of them, and of resampled sums moved to where they are."""
        rows = by_unit(rows)
        items, systems, columns = rows.shape
        total = rows.sum(axis=0)
        sums = bootstrap_sums(rows.reshape(items, -1), resamples, seed, threads=threads)

        def around(moved: Array) -> Array:
            return metric.aggregate(moved + (total - moved.mean(axis=0)))

        return RaterDraws(
            metric.aggregate(total),
            metric.aggregate(sums.reshape(resamples, systems, columns)),
            around(others.sums),
            around(noisier.sums),
        )

    totals = observed.sum(axis=0)
    still = metric.clamped(totals)
    left_out = metric.aggregate(totals - by_unit(observed))
    intervals = tuple(
        None if flag else jackknife_interval(float(score), one, confidence, metric.score_limits)
        for flag, score, one in zip(still, metric.aggregate(totals), left_out.T, strict=True)
    )
    return ResampledRaters(
        metric=metric.name,
        higher_is_better=metric.higher_is_better,
        systems=tuple(outputs),
        items=answers.items,
        groups=None if numbers is None else int(numbers.max()) + 1,
        dropped=dropped,
        raters=len(answers.raters),
        answers=len(answers),
        observed=draws(observed),
        corrected=draws(corrected),
        intervals=intervals,
        clamped=still,
        limits=metric.score_limits,
        degrees=noise.degrees,
        step=step,
        left_out=others.unscored,
        note=note,
        seed=seed,
        simulated=answers.is_simulated,
    )


@dataclass(frozen=True, slots=True)
class _Resampled:
    """Rows under resampled weights: of each resample all items', and of each item the mean."""

    sums: Array  # resamples x systems x columns
    rows: Array  # items x systems x columns
    largest: float  # mean of the sum of the items' largest weights
    unscored: float  # share of items that could not be scored


def _resample(
    ready: Reweighting,
    noise: RatingNoise,
    source: Source,
    resamples: int,
    seed: int,
    threads: int | None,
    told: Callable[[int], None],
) -> _Resampled:
    chunk = max(1, min(_LARGEST_CHUNK, _NUMBERS // ready.size))
    starts = range(0, resamples, chunk)

    def one_chunk(start: int) -> tuple[Array, Array, float, float]:
        size = min(chunk, resamples - start)
        weights = noise.weights + noise.draw(source, size, stream(seed, _STREAMS[source], start))
        rows = ready.rows(weights)
        largest = _largest(weights, noise.bounds).sum(axis=1).mean()
        return rows.sum(axis=1), rows.mean(axis=0), largest, ready.without_positive(weights).mean()

    parts = []
    with ThreadPoolExecutor(min(threads or os.cpu_count() or 1, len(starts))) as pool:
        for part in pool.map(one_chunk, starts):
            parts.append(part)
            told(min(len(parts) * chunk, resamples))
    sums, rows, largest, unscored = zip(*parts, strict=True)
    share = np.array([len(one) for one in sums]) / resamples
    return _Resampled(
        sums=np.concatenate(sums),
        rows=np.tensordot(share, np.stack(rows), axes=1),
        largest=float(share @ largest),
        unscored=float(share @ unscored),
    )


def _largest(weights: Array, bounds: Ints) -> Array:
    largest: Array = np.maximum.reduceat(weights, bounds[:-1], axis=1)
    return largest


def _step(noise: RatingNoise, noisier: float) -> float:
    """How long a step back to no noise is, in steps from the weights to noisier ones.

    The true largest weights are one step back from the observed ones if maxima grow evenly with
    the variance of the noise, and up to 1 + sqrt(2) steps if they grow with its root, as they do
    where all references of an item are equally good.
    """
    observed = float(_largest(noise.weights[None], noise.bounds).sum())
    if noisier - observed <= 1e-9 * max(1.0, abs(observed)):
        return 1.0
    true = float(expected_largest(noise.weights, noise.counts, noise.variances, noise.bounds).sum())
    return float(np.clip((observed - true) / (noisier - observed), 0.0, _LONGEST_STEP))


def _check(metric: Metric, resamples: int, seed: int) -> None:
    if "weights" not in metric.needs:
        raise InputError(f"{metric.name} does not use weights: resampling raters changes nothing")
    check_at_least("resamples", resamples, 2)
    check_at_least("seed", seed, 0)


def _check_outputs(outputs: Mapping[str, Sequence[str]], items: int) -> None:
    if not outputs:
        raise InputError("there is nothing to resample: no system outputs were given")
    if items < 2:
        raise InputError(f"resampling items needs at least two, got {items}")
    for system, texts in outputs.items():
        if len(texts) != items:
            raise InputError(f"system {system!r} has {len(texts)} outputs for {items} items")
        wrong = first_wrong_text(texts)
        if wrong is not None:
            raise InputError(f"system {system!r}: hypotheses[{wrong[0]}] is {wrong[1]}, no string")


def _with_positive(
    references: ReferenceSet,
    outputs: Mapping[str, Sequence[str]],
    no_positive: Literal["error", "skip"],
) -> tuple[ReferenceSet, Mapping[str, Sequence[str]], tuple[str, ...]]:
    """Leave out items without a positive weight, where that was asked for."""
    without_positive = set(references.without_positive()) if no_positive == "skip" else set()
    if not without_positive:
        return references, outputs, ()
    kept = [index for index in range(len(references)) if index not in without_positive]
    if len(kept) < 2:
        raise InputError("fewer than two items have a positively weighted reference")
    names = tuple(references.item_name(index) for index in sorted(without_positive))
    texts = {name: [given[index] for index in kept] for name, given in outputs.items()}
    return references.take(kept), texts, names


def _items(references: ReferenceSet) -> Sequence[Item]:
    if references.items is None:
        raise InputError("ratings cannot be matched with references that belong to no items")
    return references.items
