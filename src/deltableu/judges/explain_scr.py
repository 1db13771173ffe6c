"""Why an output scored as it did: which similarity, which references and which words carry it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Array
from deltableu.corpus import ReferenceSet
from deltableu.errors import check_kind
from deltableu.io import Column, Table
from deltableu.judges.scr import SCR
from deltableu.judges.scr_texts import SIMILARITIES
from deltableu.score import PreparedReferences, pool_shares

#: A word is dropped at a time, and each time all references are compared again.
_MOST_WORDS = 200


@dataclass(frozen=True, slots=True)
class ScrPart:
    """What one similarity adds to the score.

    Attributes
    ----------
    similarity, to : str
        And to which references: good or bad ones, or to the message.
    value : float
        The pool less chance, or relevance.
    coefficient : float
    adds : float
        Their product.
    reference : str
        The reference that carries most of the pool.
    carries : float
        Its part of the pool's sum.
    """

    similarity: str
    to: str
    value: float
    coefficient: float
    adds: float
    reference: str
    carries: float


@dataclass(frozen=True, slots=True)
class ScrExplanation:
    """A score, what adds to it, what each reference has to do with it, and what words are worth.

    `references` has each reference, its weight, and its share in what all similarities add (of
    those that add something, by how much). `words` has each word and what the score loses without.
    """

    item: str
    hypothesis: str
    score: float
    signature: str
    parts: tuple[ScrPart, ...]
    references: tuple[tuple[str, float, float], ...]
    words: tuple[tuple[str, float], ...]

    def sentence(self) -> str:
        """The answer in one sentence."""
        most = max(self.parts, key=lambda one: abs(one.adds))
        said = f"{most.similarity} to the {most.to} references adds {most.adds:+.2f}"
        if most.to == "message":
            said = f"relevance to the message adds {most.adds:+.2f}"
        if self.references:
            said += f", and {self.references[0][0][:60]!r} counts most among references"
        return f"Item {self.item}: {self.hypothesis[:60]!r} scores {self.score:.2f}; {said}."

    def tables(self) -> tuple[Table, ...]:
        """Parts, references and words."""
        columns: list[str | Column] = [
            Column("similarity"),
            Column("to"),
            Column("beyond chance", ".3f"),
            Column("coefficient", ".2f"),
            Column("adds", "+.2f"),
            Column("mostly from", drop=1),
            Column("carries", ".0%", drop=2),
        ]
        rows = [
            (
                one.similarity,
                one.to,
                one.value,
                one.coefficient,
                one.adds,
                one.reference,
                one.carries,
            )
            for one in self.parts
        ]
        caption = f"scr of {self.hypothesis!r}, item {self.item}: {self.score:.2f}"
        found = [Table(columns, rows, caption, signatures={"scr": self.signature})]
        references: list[str | Column] = [
            "reference",
            Column("weight", ".2f"),
            Column("carries", ".0%"),
        ]
        found.append(Table(references, self.references, "what references have to do with it"))
        if self.words:
            caption = "what the score loses without each word"
            found.append(Table(["word", Column("loss", ".2f")], self.words, caption))
        return tuple(found)


def explain_scr(
    metric: SCR, hypothesis: str, references: ReferenceSet, index: int = 0
) -> ScrExplanation:
    """Take the score of one hypothesis apart.

    Parameters
    ----------
    metric : SCR
    hypothesis : str
    references : ReferenceSet
        All of the study: some of it stands for chance.
    index : int
        The item that the hypothesis answers.

    Examples
    --------
    >>> given = ReferenceSet([["i love pizza", "pizza please"], ["the train is late", "no trains"]])
    >>> found = explain_scr(SCR(), "pizza for me", given)
    >>> found.references[0][0]
    'pizza please'
    >>> bool(np.isclose(sum(one.adds for one in found.parts), found.score))
    True
    """
    check_kind("the metric", metric, SCR)
    fitted = metric.fitted_to(references)
    one = references.take([index])
    encoded = fitted.encode(one)
    values = fitted.features([hypothesis], encoded)[0]
    calibration = encoded.extra.calibration
    counts = fitted.coefficients(calibration)
    carried = _carried(fitted, hypothesis, encoded)
    parts: list[ScrPart] = []
    for place, (name, to, coefficient) in enumerate(calibration.features()):
        share = np.zeros(0)
        if to != "message":
            share = carried[to][SIMILARITIES.index(name)]
        best = int(np.argmax(share)) if share.any() else -1
        value = float(values[place])
        parts.append(
            ScrPart(
                name,
                to,
                value,
                coefficient,
                value * coefficient,
                encoded.flat.texts[best] if best >= 0 else "",
                float(share[best]) if best >= 0 else 0.0,
            )
        )
    statistics = fitted.statistics([hypothesis], encoded)
    own = float(statistics.segment_scores()[0])
    words = hypothesis.split()
    lost: Sequence[float] = ()
    if 1 < len(words) <= _MOST_WORDS:
        texts = [" ".join((*words[:at], *words[at + 1 :])) for at in range(len(words))]
        many = fitted.encode(one.take([0] * len(words)))
        lost = (own - fitted.statistics(texts, many).segment_scores()).tolist()
    return ScrExplanation(
        references.item_name(index),
        hypothesis,
        own,
        str(statistics.score().signature),
        tuple(parts),
        _references(encoded.flat.texts, encoded.flat.weights, counts, values, carried),
        tuple(zip(words, lost, strict=False)),
    )


def _carried(metric: SCR, hypothesis: str, encoded: PreparedReferences) -> dict[str, Array]:
    """What each reference carries of the pools of each similarity, good and bad ones."""
    found, weights, bounds = metric.reference_similarities([hypothesis], encoded)
    return {
        to: np.stack([pool_shares(one, sign * weights, bounds, metric.tau) for one in found])
        for to, sign in (("good", 1.0), ("bad", -1.0))
    }


def _references(
    texts: Sequence[str],
    weights: Array,
    counts: Array,
    values: Array,
    carried: dict[str, Array],
) -> tuple[tuple[str, float, float], ...]:
    size = len(SIMILARITIES)
    sums = np.zeros(len(texts))
    for number, to in enumerate(("good", "bad")):
        adds = np.abs(counts * values)[number * size : (number + 1) * size]
        if len(adds) == size:
            sums += adds @ carried[to]
    total = float(sums.sum()) or 1.0
    order = np.argsort(-sums, kind="stable")
    return tuple(
        (texts[place], float(weights[place]), float(sums[place]) / total)
        for place in order.tolist()
    )
