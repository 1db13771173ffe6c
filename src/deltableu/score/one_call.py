"""What the functions that score in one call have in common."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypedDict, get_args

import numpy as np

from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError, check_at_least, check_choice, check_share
from deltableu.score.engine.inputs import as_reference_set
from deltableu.score.engine.statistics import IntervalMethod
from deltableu.score.metric import Metric
from deltableu.score.registry import metric_class
from deltableu.score.results import BLEUScore, Score
from deltableu.text import Normalization

References = ReferenceSet | Sequence[Sequence[str]]
Weights = Sequence[Sequence[float]]


class ScoreOptions(TypedDict, total=False):
    """What every function takes.

    Attributes
    ----------
    select : str
        `all` references, `single` (the first of each item) or `w>=T`, which keeps the first and
        those with a weight of at least T.
    interval : {"jackknife", "percentile", "bca"}, optional
        Adds a confidence interval: where the score would lie on other items like these.
    confidence : float
        Confidence of the interval, 0.95 by default.
    resamples : int
        Samples of the bootstrap, 1000 by default.
    rng : numpy Generator or int
        Randomness of the bootstrap, 0 by default.
    threads : int, optional
        All cores by default; the score does not depend on it.
    """

    select: str
    interval: IntervalMethod | None
    confidence: float
    resamples: int
    rng: np.random.Generator | int | None
    threads: int | None


class TextOptions(ScoreOptions, total=False):
    """The same, and how texts are changed before they become tokens: see `text.Tokenizer`."""

    lowercase: bool
    normalize: Normalization | None
    strip_punctuation: bool


def named_metric(name: str, given: dict[str, Any]) -> Metric:
    """The metric with those of a function's arguments that are its settings."""
    found = metric_class(name)
    options = given.get("options", {})
    settings = {**given, **{key: one for key, one in options.items() if key in _TEXT}}
    for key in options:
        if key not in _OPTIONS and key not in _TEXT:
            raise TypeError(f"{name} has no setting or option {key!r}")
    known = getattr(found, "__dataclass_fields__", {})
    return found(**{key: one for key, one in settings.items() if key in known and known[key].init})


_OPTIONS = frozenset(ScoreOptions.__annotations__)
_TEXT = frozenset(TextOptions.__annotations__) - _OPTIONS


def selected(references: ReferenceSet, options: ScoreOptions) -> ReferenceSet:
    select = options.get("select", "all")
    return references if select in ("all", references.selection) else references.select(select)


def bleu_score_of(
    metric: Metric, hypotheses: Sequence[str], references: ReferenceSet, options: ScoreOptions
) -> BLEUScore:
    score = score_of(metric, hypotheses, references, options)
    if not isinstance(score, BLEUScore):
        raise TypeError("a metric of the BLEU family gives a BLEUScore")
    return score


def score_of(
    metric: Metric, hypotheses: Sequence[str], references: References, options: ScoreOptions
) -> Score:
    for key in options:
        if key not in _OPTIONS and key not in _TEXT:
            raise TypeError(f"{metric.name} has no setting or option {key!r}")
    interval = options.get("interval")
    confidence, resamples = options.get("confidence", 0.95), options.get("resamples", 1000)
    if interval is not None:
        check_choice("interval", interval, get_args(IntervalMethod))
    check_share("confidence", confidence)
    check_at_least("resamples", resamples, 1)
    chosen = selected(as_reference_set(references, None), options)
    if "weights" in metric.needs and chosen.weights is None:
        raise InputError(f"{metric.name} needs weights: a number in [-1, 1] for every reference")
    rows = metric.compute(hypotheses, chosen, threads=options.get("threads"))
    score = rows.score()
    if interval is None:
        return score
    found = rows.interval(
        interval, confidence=confidence, resamples=resamples, rng=options.get("rng", 0)
    )
    return score if found is None else score.with_interval(found)
