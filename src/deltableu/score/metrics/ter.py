"""TER (Snover et al. 2006) through sacreBLEU: edits per reference word; lower is better."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from deltableu._types import Array, Ints
from deltableu.score.engine.segment_metric import PreparedReferences, ReferenceMetric
from deltableu.score.engine.similarity import Similarity


def _sacrebleu_ter(lowercase: bool) -> Any:
    from sacrebleu.metrics import ter

    return ter.TER(case_sensitive=not lowercase)


@dataclass(frozen=True, kw_only=True)
class TERSimilarity(Similarity):
    """1 - min(TER, 1) of a hypothesis and one reference."""

    lowercase: bool = True

    @property
    def name(self) -> str:
        return "ter"

    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        ter = _sacrebleu_ter(self.lowercase)
        scores = [
            ter.sentence_score(hypotheses[owner], [reference]).score / 100.0
            for reference, owner in zip(references, owners.tolist(), strict=True)
        ]
        similarity: Array = 1.0 - np.minimum(scores, 1.0)
        return similarity

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("case", "lower" if self.lowercase else "mixed"), ("tok", "tercom"))


@dataclass(frozen=True, kw_only=True)
class TER(TERSimilarity, ReferenceMetric):
    """Edits to the closest reference per word of the average reference, in percent.

    Parameters
    ----------
    lowercase : bool
        True by default, as in sacreBLEU.

    References
    ----------
    Snover et al. 2006, "A study of translation edit rate with targeted human annotation".

    Examples
    --------
    >>> TER().compute(["the cat sat"], [["the cat sat down"]]).score().score
    25.0
    """

    name: ClassVar[str] = "ter"
    summary: ClassVar[str] = "edits per reference word (Snover et al. 2006)"
    limits: ClassVar[tuple[float, float]] = (0.0, float("inf"))
    higher_is_better: ClassVar[bool] = False

    def rows(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        ter = _sacrebleu_ter(self.lowercase)
        flat = encoded.flat
        bounds = flat.bounds.tolist()
        scores = [
            ter.sentence_score(text, flat.texts[bounds[i] : bounds[i + 1]])
            for i, text in enumerate(hypotheses)
        ]
        return np.array([[score.num_edits, score.ref_length] for score in scores], dtype=float)

    def aggregate(self, sums: Array) -> Array:
        edits, length = sums[..., 0], sums[..., 1]
        # Without any reference word, edits are all wrong and none are all right.
        nothing = np.asarray(edits > 0, dtype=np.float64)
        ratio: Array = np.divide(edits, length, out=nothing, where=length > 0)
        return 100.0 * ratio
