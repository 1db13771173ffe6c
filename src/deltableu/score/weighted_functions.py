"""Scores in one call, by metrics that look at the weights of references."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError, check_choice
from deltableu.score.engine.credit_tables import Variant
from deltableu.score.engine.formula import Smoothing
from deltableu.score.engine.inputs import as_list, as_reference_set
from deltableu.score.engine.soft_pool import with_shares
from deltableu.score.one_call import (
    References,
    ScoreOptions,
    TextOptions,
    Weights,
    bleu_score_of,
    named_metric,
    score_of,
    selected,
)
from deltableu.score.results import BLEUScore, Score
from deltableu.text import Tokenize


def delta_bleu(
    hypotheses: Sequence[str],
    references: References,
    weights: Weights | None = None,
    *,
    order: int = 2,
    variant: Variant = "paper",
    tokenize: Tokenize = "13a",
    smooth: Smoothing | None = None,
    smooth_value: float | None = None,
    effective_order: bool = False,
    combine: Literal["geometric", "arithmetic"] = "geometric",
    brevity: Literal["all", "positive"] = "all",
    no_positive: Literal["error", "skip"] = "error",
    **options: Unpack[TextOptions],
) -> BLEUScore:
    """delta-BLEU of one system: BLEU with weighted references (Galley et al. 2015).

    Parameters
    ----------
    hypotheses : list of str
        One text per item.
    references : list of lists of str
        The references of each item, any number of them.
    weights : list of lists of float
        A weight in [-1, 1] for every reference.
    order, variant, tokenize, smooth, smooth_value, effective_order, combine, brevity
        See `DeltaBLEU`.
    no_positive : {"error", "skip"}
        What to do with items that have no positively weighted reference.
    **options
        See `bleu`.

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
    metric = named_metric("delta-bleu", locals())
    check_choice("no_positive", no_positive, ("error", "skip"))
    chosen = selected(as_reference_set(references, weights), options)
    if no_positive == "skip":
        hypotheses, chosen = _with_positive(hypotheses, chosen)
    return bleu_score_of(metric, hypotheses, chosen, options)


def discriminative(
    hypotheses: Sequence[str],
    references: References,
    weights: Weights | None = None,
    *,
    similarity: Any = "chrf++",
    pool: Literal["mean", "best"] = "mean",
    **options: Unpack[ScoreOptions],
) -> Score:
    """Any sentence similarity weighted by good and bad references: delta-chrF++ and the like.

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    weights : list of lists of float
        A weight in [-1, 1] for every reference.
    similarity : str, callable, mapping or Similarity
        `chrf`, `chrf++`, `rouge-l`, `ter`, or one of your own: see `Discriminative`.
    pool : {"mean", "best"}

    Returns
    -------
    Score

    Examples
    --------
    >>> discriminative(["i hate it"], [["i like it", "i hate it"]], [[0.5, -1.0]]).score < 0
    True
    """
    from deltableu.score.metrics.discriminative import Discriminative

    metric = Discriminative(similarity, pool)
    return score_of(metric, hypotheses, as_reference_set(references, weights), options)


def soft(
    hypotheses: Sequence[str],
    references: References,
    weights: Weights | None = None,
    *,
    similarity: Any = "cosine",
    tau: float = 0.1,
    **options: Unpack[ScoreOptions],
) -> Score:
    """Any sentence similarity, between the best reference and the weighted mean: soft-cosine, ...

    Parameters
    ----------
    hypotheses, references, **options
        See `bleu`.
    weights : list of lists of float, optional
        A weight in [-1, 1] for every reference; those above 0 count. Without, all count alike.
    similarity : str, callable, mapping or Similarity
        `cosine`, `chrf++`, `rouge-l`, or one of your own: see `Soft`.
    tau : float
        How far below the best a reference may lie and still count.

    Returns
    -------
    Score

    Examples
    --------
    >>> round(soft(["i like it"], [["i like it", "i hate it"]], similarity="chrf").score, 1)
    93.1
    """
    from deltableu.score.metrics.soft import Soft

    metric = Soft(similarity, tau)
    given = with_shares(as_reference_set(references, weights))
    return score_of(metric, hypotheses, given, options)


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
