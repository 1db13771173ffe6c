"""Why an item scored as it did under a soft pool: which references carry the score, which words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deltableu.corpus import ReferenceSet
from deltableu.errors import check_kind
from deltableu.io import Column, Table
from deltableu.score.engine.soft_pool import pool_shares, reference_shares
from deltableu.score.metrics.soft import Soft

#: A word is dropped at a time, and each time all references are compared again.
_MOST_WORDS = 200


@dataclass(frozen=True, slots=True)
class PooledReference:
    """What one reference has to do with the score.

    Attributes
    ----------
    text : str
    origin : str
        Where it came from; empty where that is not known.
    weight : float
        As the metric counts it.
    share : float
        Its weight above 0 over the sum of its item's (omega).
    similarity : float
        To the hypothesis, times 100.
    carries : float
        Its part of the pool's sum, omega * exp(s / tau); over all references 1.
    """

    text: str
    origin: str
    weight: float
    share: float
    similarity: float
    carries: float


@dataclass(frozen=True, slots=True)
class PoolExplanation:
    """A score, its references (those that carry most first), and what each word is worth.

    `words` has each word of the hypothesis and what the score loses without it.
    """

    item: str
    hypothesis: str
    score: float
    metric: str
    signature: str
    references: tuple[PooledReference, ...]
    words: tuple[tuple[str, float], ...]

    def sentence(self) -> str:
        """The answer in one sentence."""
        first = self.references[0]
        said = f"{first.text[:60]!r} carries {first.carries:.0%} of it"
        if self.words and (best := max(self.words, key=lambda one: one[1]))[1] > 0.0:
            said += f", and the word {best[0]!r} is worth {best[1]:.1f}"
        return f"Item {self.item}: {self.hypothesis[:60]!r} scores {self.score:.1f}; {said}."

    def tables(self) -> tuple[Table, ...]:
        """References and words."""
        columns = [
            Column("reference"),
            Column("from", drop=2),
            Column("weight", ".2f", drop=3),
            Column("share", ".0%", drop=1),
            Column("similarity", ".1f"),
            Column("carries", ".0%"),
        ]
        rows = [
            (one.text, one.origin, one.weight, one.share, one.similarity, one.carries)
            for one in self.references
        ]
        signatures = {self.metric: self.signature}
        caption = f"{self.metric} of {self.hypothesis!r}, item {self.item}: {self.score:.1f}"
        found = [Table(columns, rows, caption, signatures=signatures)]
        if self.words:
            caption = "what the score loses without each word"
            found.append(Table(["word", Column("loss", ".1f")], self.words, caption))
        return tuple(found)


def explain_pool(
    metric: Soft, hypothesis: str, references: ReferenceSet, index: int = 0
) -> PoolExplanation:
    """Take the score of one hypothesis apart.

    Parameters
    ----------
    metric : Soft
    hypothesis : str
    references : ReferenceSet
    index : int
        The item that it answers.

    Examples
    --------
    >>> given = ReferenceSet([["i like it a lot", "no , never"]])
    >>> found = explain_pool(Soft("chrf++"), "i like it", given)
    >>> [(one.text, round(one.carries, 2)) for one in found.references]
    [('i like it a lot', 1.0), ('no , never', 0.0)]
    >>> max(found.words, key=lambda one: one[1])[0]
    'like'
    """
    check_kind("the metric", metric, Soft)
    one = references.take([index])
    prepared = metric.prepare_references(one)
    encoded = metric.encode(prepared)
    words = hypothesis.split()
    score = metric.statistics([hypothesis], encoded)
    found = metric.similarities([hypothesis], encoded)
    flat = encoded.flat
    carries = pool_shares(found, flat.weights, flat.bounds, metric.tau)
    shares = reference_shares(flat.weights, flat.bounds)
    known = prepared.items[0].references if prepared.items is not None else ()
    pooled = [
        PooledReference(
            text,
            known[place].origin if known else "",
            float(flat.weights[place]),
            float(shares[place]),
            100.0 * float(found[place]),
            float(carries[place]),
        )
        for place, text in enumerate(flat.texts)
    ]
    own = float(score.segment_scores()[0])
    lost: Sequence[float] = ()
    if 1 < len(words) <= _MOST_WORDS:
        texts = [" ".join((*words[:at], *words[at + 1 :])) for at in range(len(words))]
        many = metric.encode(prepared.take([0] * len(words)))
        lost = (own - metric.statistics(texts, many).segment_scores()).tolist()
    order = np.argsort([-one.carries for one in pooled], kind="stable")
    result = score.score()
    return PoolExplanation(
        references.item_name(index),
        hypothesis,
        own,
        metric.name,
        str(result.signature),
        tuple(pooled[place] for place in order),
        tuple(zip(words, lost, strict=False)),
    )
