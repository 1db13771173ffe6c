"""Scores in one call."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.engine.inputs import as_list, as_reference_set
from deltableu.score.engine.statistics import IntervalMethod, Statistics
from deltableu.score.metrics.bleu import BLEU
from deltableu.score.metrics.delta_bleu import DeltaBLEU
from deltableu.score.metrics.sentence_bleu import SentenceBLEU
from deltableu.score.results import BLEUScore

References = ReferenceSet | Sequence[Sequence[str]]
Weights = Sequence[Sequence[float]]


def bleu(
    hypotheses: Sequence[str],
    references: References,
    *,
    weights: Weights | None = None,
    select: str = "all",
    ci: IntervalMethod | None = None,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = 0,
    threads: int | None = None,
    **settings: Any,
) -> BLEUScore:
    """Corpus BLEU of one system.

    Parameters
    ----------
    hypotheses : list of str
        One text an item.
    references : list of lists of str
        The references of each item, any number of them.
    weights : list of lists of float, optional
        Only to choose references by: BLEU does not weigh them.
    select : str
        `all`, `single` (the first reference of each item) or `w>=T`, which keeps the first
        reference and those with a weight of at least T.
    ci : {"jackknife", "percentile", "bca"}, optional
        Adds a 95% bootstrap interval over segments.
    n_resamples, rng
        Of the bootstrap.
    threads : int, optional
        All cores by default; the score does not depend on it.
    **settings
        Of `BLEU`: order=4, tokenize="13a", smooth="exp", ...

    Returns
    -------
    BLEUScore

    Examples
    --------
    >>> print(bleu(["the dog bit the man ."], [["the dog bit the man .", "it bit him ."]]))
    bleu = 100.00 100.0/100.0/100.0/100.0 (BP = 1.000 hyp_len = 6 ref_len = 6)
    """
    chosen = as_reference_set(references, weights)
    chosen = chosen if select == "all" else chosen.select(select)
    rows = BLEU(**settings).compute(hypotheses, chosen, threads=threads)
    return _score(rows, ci, n_resamples, rng)


def delta_bleu(
    hypotheses: Sequence[str],
    references: References,
    weights: Weights | None = None,
    *,
    select: str = "all",
    no_positive: str = "error",
    ci: IntervalMethod | None = None,
    n_resamples: int = 1000,
    rng: np.random.Generator | int | None = 0,
    threads: int | None = None,
    **settings: Any,
) -> BLEUScore:
    """delta-BLEU of one system: BLEU with weighted references (Galley et al. 2015).

    Parameters
    ----------
    hypotheses : list of str
        One text an item.
    references : list of lists of str
        The references of each item, any number of them.
    weights : list of lists of float
        A weight in [-1, 1] for every reference.
    select : str
        `all`, `single` or `w>=T`; see `bleu`.
    no_positive : {"error", "skip"}
        What to do with items that have no positively weighted reference.
    ci, n_resamples, rng, threads
        See `bleu`.
    **settings
        Of `DeltaBLEU`: order=2, variant="paper", combine="geometric", ...

    Returns
    -------
    BLEUScore
        `numerators` are the raw sums, negative ones included.

    Examples
    --------
    >>> score = delta_bleu(
    ...     ["the food tasted terrible .", "the music was awful ."],
    ...     [["the food was delicious .", "it tasted terrible ."], ["it was great .", "awful"]],
    ...     [[1, -1], [1, -1]],
    ... )
    >>> score.numerators, score.score
    ((2.0, -1.0), 0.0)
    """
    metric = DeltaBLEU(**settings)
    chosen = as_reference_set(references, weights)
    chosen = chosen if select == "all" else chosen.select(select)
    if no_positive == "skip":
        hypotheses, chosen = _with_positive(hypotheses, chosen)
    elif no_positive != "error":
        raise InputError(f"no_positive must be error or skip, got {no_positive!r}")
    return _score(metric.compute(hypotheses, chosen, threads=threads), ci, n_resamples, rng)


def sentence_bleu(hypothesis: str, references: Sequence[str], **settings: Any) -> BLEUScore:
    """BLEU of one sentence, smoothed.

    Parameters
    ----------
    hypothesis : str
    references : list of str
    **settings
        Of `SentenceBLEU`: order=4, method="bleu+1", tokenize="13a", ...

    Examples
    --------
    >>> score = sentence_bleu("the cat sat on mat", ["the cat is on the mat"], order=2)
    >>> round(score.score, 2)
    46.31
    """
    if not isinstance(hypothesis, str):
        raise InputError("hypothesis must be one string; SentenceBLEU(...).compute takes lists")
    texts = as_list(references, "references")
    return _score(SentenceBLEU(**settings).compute([hypothesis], [texts]), None, 0, None)


def _with_positive(
    hypotheses: Sequence[str], references: ReferenceSet
) -> tuple[Sequence[str], ReferenceSet]:
    texts = as_list(hypotheses, "hypotheses")
    dropped = set(references.without_positive())
    if not dropped:
        return texts, references
    kept = [index for index in range(len(references.texts)) if index not in dropped]
    if not kept:
        raise InputError("no item is left: none has a positively weighted reference")
    if len(texts) != len(references.texts):
        return texts, references  # the next check explains it
    return [texts[index] for index in kept], references.take(kept)


def _score(
    rows: Statistics,
    ci: IntervalMethod | None,
    n_resamples: int,
    rng: np.random.Generator | int | None,
) -> BLEUScore:
    score = rows.score()
    if not isinstance(score, BLEUScore):
        raise TypeError("a metric of the BLEU family gives a BLEUScore")
    if ci is None:
        return score
    interval = rows.interval(ci, n_resamples=n_resamples, rng=rng)
    return score if interval is None else score.with_interval(interval)
