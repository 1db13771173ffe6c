"""How diverse the hypotheses are, as DSTC7 reports it; references play no part."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf
from typing import ClassVar

import numpy as np

from deltableu._types import Array, Ints
from deltableu.score.engine.pooled import PooledMetric


@dataclass(frozen=True, kw_only=True)
class Distinct(PooledMetric):
    """Different n-grams per hundred n-grams of all hypotheses; subclasses give the order.

    The more hypotheses there are the lower it is: compare systems on the same items only. Intervals
    come from the jackknife, since resampled corpora repeat hypotheses.

    Parameters
    ----------
    tokenize, lowercase, normalize, strip_punctuation
        See `deltableu.text.Tokenizer`.

    References
    ----------
    Li et al. 2016, "A Diversity-Promoting Objective Function for Neural Conversation Models".

    Examples
    --------
    >>> rows = Distinct1().compute(["i do", "i do not"], [["yes"], ["no"]])
    >>> rows.score().score
    60.0
    """

    name: ClassVar[str] = "distinct"
    summary: ClassVar[str] = "different {0} among all {0} of a system (Li et al. 2016)"

    def value(self, counts: Ints | Array) -> Array:
        return (counts > 0).astype(np.float64)

    def combine(self, values: Array, totals: Array) -> Array:
        return 100.0 * values / np.maximum(totals, 1)


class Distinct1(Distinct, ngram=1):
    """Different words per hundred; see `Distinct`."""


class Distinct2(Distinct, ngram=2):
    """Different bigrams per hundred; see `Distinct`."""


@dataclass(frozen=True, kw_only=True)
class Entropy(PooledMetric):
    """Entropy, in nats, of the n-grams of all hypotheses; subclasses give the order.

    Few hypotheses cannot have a high one: compare systems on the same items only. Intervals come
    from the jackknife, since resampled corpora repeat hypotheses.

    Parameters
    ----------
    tokenize, lowercase, normalize, strip_punctuation
        See `deltableu.text.Tokenizer`.

    References
    ----------
    Zhang et al. 2018, "Generating Informative and Diverse Conversational Responses via Adversarial
    Information Maximization". Galley et al. 2019, "Grounded Response Generation Task at DSTC7".

    Examples
    --------
    >>> rows = Entropy1().compute(["a b", "a b"], [["yes"], ["no"]])
    >>> round(rows.score().score, 4)  # log 2
    0.6931
    """

    name: ClassVar[str] = "entropy"
    summary: ClassVar[str] = "entropy of a system's {0}, in nats"
    limits: ClassVar[tuple[float, float]] = (0.0, inf)

    def value(self, counts: Ints | Array) -> Array:
        return np.asarray(counts * np.log(np.maximum(counts, 1)), dtype=np.float64)

    def combine(self, values: Array, totals: Array) -> Array:
        # -sum of c/t log(c/t) is log t - (sum of c log c)/t; rounding may leave less than 0.
        some = np.maximum(totals, 1)
        return np.maximum(np.log(some) - values / some, 0.0)


class Entropy1(Entropy, ngram=1):
    """Entropy of words; see `Entropy`."""


class Entropy2(Entropy, ngram=2):
    """Entropy of bigrams; see `Entropy`."""


class Entropy3(Entropy, ngram=3):
    """Entropy of trigrams; see `Entropy`."""


class Entropy4(Entropy, ngram=4):
    """Entropy of 4-grams; see `Entropy`."""
