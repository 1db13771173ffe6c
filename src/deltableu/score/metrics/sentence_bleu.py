"""Sentence BLEU in four smoothings, and its mean over a set (sBLEU of the delta-BLEU paper)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, get_args

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import check_choice
from deltableu.score.engine.formula import Combination, Method, sentence
from deltableu.score.engine.ngram_metric import NgramMetric
from deltableu.score.engine.similarity import Similarity
from deltableu.score.results import BLEUScore, Signature
from deltableu.text import Tokenize


@dataclass(frozen=True, kw_only=True, repr=False)
class SentenceBLEU(NgramMetric):
    """BLEU of single sentences; a corpus scores the mean of its sentences.

    Parameters
    ----------
    order, tokenize, lowercase, normalize, strip_punctuation
        See `BLEU`.
    method : {"bleu+1", "moses", "nakov", "nakov-cdec"}
        Add one from bigrams on (Lin and Och 2004); add one everywhere (Moses, WMT's sentBLEU);
        that with the reference length plus one (Nakov et al. 2012, Phrasal); cdec's reading.

    Notes
    -----
    The score of several segments reports mean precisions and the mean brevity penalty.

    References
    ----------
    Lin and Och 2004, "ORANGE: a method for evaluating automatic evaluation metrics for machine
    translation". Nakov et al. 2012, "Optimizing for sentence-level BLEU+1 yields short
    translations".

    Examples
    --------
    >>> metric = SentenceBLEU(method="moses", tokenize="none")
    >>> encoded = metric.encode([["lanzmann wrote ."]])
    >>> round(metric.statistics(["朗兹曼 wrote ."], encoded).score().score, 2)
    70.71
    """

    family: ClassVar[str] = "sentence-bleu"
    summary: ClassVar[str] = "mean of BLEU smoothed for single sentences"
    averages_segments: ClassVar[bool] = True

    method: Method = "bleu+1"

    def __post_init__(self) -> None:
        check_choice("method", self.method, get_args(Method))
        super().__post_init__()

    def finish_rows(self, rows: Array) -> Array:
        """Append each segment's score, precisions, penalty and a 1, whose sums give the means."""
        n = self.order
        parts = sentence(
            rows[:, :n], rows[:, n : 2 * n], rows[:, 2 * n], rows[:, 2 * n + 1], self.method
        )
        return np.column_stack(
            (rows, parts.score, parts.precisions, parts.brevity_penalty, np.ones(len(rows)))
        )

    def aggregate(self, sums: Array) -> Array:
        mean: Array = sums[..., 2 * self.order + 2] / sums[..., -1]
        return mean

    def result(self, sums: Array, segments: int, signature: Signature) -> BLEUScore:
        first = 2 * self.order + 3
        means = sums / sums[-1]
        combination = Combination(
            self.aggregate(sums), means[first : first + self.order], means[first + self.order]
        )
        return self._result(sums, segments, signature, combination)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("order", str(self.order)), ("method", self.method), *self.text_settings())


@dataclass(frozen=True, kw_only=True)
class SentenceBLEUSimilarity(Similarity):
    """Sentence BLEU of a hypothesis and one reference.

    Parameters
    ----------
    order : int
    method : {"nakov", "bleu+1", "moses", "nakov-cdec"}
    tokenize : str or callable
    lowercase : bool
    """

    order: int = 2
    method: Method = "nakov"
    tokenize: Tokenize = "13a"
    lowercase: bool = True

    @property
    def name(self) -> str:
        return f"sentence-bleu-{self.order}"

    @property
    def _metric(self) -> SentenceBLEU:
        return SentenceBLEU(
            order=self.order, method=self.method, tokenize=self.tokenize, lowercase=self.lowercase
        )

    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        if not len(owners):
            return np.zeros(0)
        own = [hypotheses[owner] for owner in owners.tolist()]
        return self._metric.compute(own, [[text] for text in references]).segment_scores() / 100.0

    def settings(self) -> tuple[tuple[str, str], ...]:
        return self._metric.settings()
