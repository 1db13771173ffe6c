"""Candidates in, fewer and more different ones out."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from deltableu.errors import InputError
from deltableu.text import Texts, WordRule

_WORDS = WordRule()


def maximal_marginal_relevance(
    texts: Sequence[str],
    scores: Sequence[float],
    most: int,
    diversity: float,
    rule: WordRule = _WORDS,
) -> list[int]:
    """Choose texts one by one, each for its score and for being unlike those chosen before.

    The next text has the largest (1 - diversity) * score / best score - diversity * similarity,
    the similarity being the share of common words (Jaccard) with the most similar text chosen
    before; the first of equals is taken.

    Parameters
    ----------
    texts, scores
        Sorted by falling score, positive.
    most : int
        How many to choose.
    diversity : float
        From 0 (score alone) to 1 (difference alone, after the best one).
    rule : WordRule
        What a word is.

    Returns
    -------
    list of int
        Places of the chosen texts, in the order they were chosen.

    References
    ----------
    Carbonell and Goldstein (1998). The use of MMR, diversity-based reranking for reordering
    documents and producing summaries.

    Examples
    --------
    >>> texts = ["yes I do", "yes I do now", "not at all"]
    >>> maximal_marginal_relevance(texts, [3.0, 2.9, 2.0], 2, diversity=0.5)
    [0, 2]
    >>> maximal_marginal_relevance(texts, [3.0, 2.9, 2.0], 2, diversity=0.0)
    [0, 1]
    """
    if not 0.0 <= diversity <= 1.0:
        raise InputError(f"diversity must lie in [0, 1], got {diversity}")
    if not texts:
        return []
    arrays = rule.hash(Texts.of(texts))
    bounds = arrays.bounds.tolist()
    words = [frozenset(arrays.keys[begin:end].tolist()) for begin, end in pairwise(bounds)]
    nearest = [0.0] * len(texts)
    left = list(range(len(texts)))
    chosen: list[int] = []
    while left and len(chosen) < most:
        best = max(
            left,
            key=lambda i: (
                (1.0 - diversity) * scores[i] / scores[0] - diversity * nearest[i],
                -i,
            ),
        )
        chosen.append(best)
        left.remove(best)
        for i in left:
            together = len(words[i] | words[best])
            alike = len(words[i] & words[best]) / together if together else 1.0
            nearest[i] = max(nearest[i], alike)
    return chosen
