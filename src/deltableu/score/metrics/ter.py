"""TER (Snover et al. 2006): edits per reference word, as sacreBLEU counts them; lower is better."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from deltableu import _kernels
from deltableu._types import Array, Ints
from deltableu.score.engine.segment_metric import PreparedReferences, ReferenceMetric
from deltableu.score.engine.similarity import Similarity

_kernel = _kernels.load("score.metrics._ter")

#: How far the edit distance looks to both sides of the diagonal, as in Tercom.
_BEAM = 25
#: Steps of a kernel's call: a fraction of a second, after which Ctrl-C is heard.
_STEPS = 50_000_000


@dataclass(frozen=True, kw_only=True)
class TERSimilarity(Similarity):
    """1 - min(TER, 1) of a hypothesis and one reference."""

    lowercase: bool = True

    @property
    def name(self) -> str:
        return "ter"

    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        edits, lengths = self.edits(hypotheses, references, owners)
        similarity: Array = 1.0 - np.minimum(_rate(edits, lengths), 1.0)
        return similarity

    def edits(
        self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints
    ) -> tuple[Ints, Ints]:
        """Edits from hypothesis owners[j] to reference j, and the words of that, for every j."""
        return count_edits(map(self._words, hypotheses), map(self._words, references), owners)

    def _words(self, text: str) -> list[str]:
        return (text.lower() if self.lowercase else text).split()

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
        flat = encoded.flat
        edits, lengths = self.edits(hypotheses, flat.texts, flat.owners)
        first = flat.bounds[:-1]
        mean_length = np.add.reduceat(lengths, first) / np.diff(flat.bounds)
        return np.column_stack((np.minimum.reduceat(edits, first), mean_length))

    def aggregate(self, sums: Array) -> Array:
        return 100.0 * _rate(sums[..., 0], sums[..., 1])


def _rate(edits: Ints | Array, length: Ints | Array) -> Array:
    # Without any reference word, edits are all wrong and none are all right.
    nothing = np.asarray(edits > 0, dtype=np.float64)
    ratio: Array = np.divide(edits, length, out=nothing, where=length > 0)
    return ratio


def count_edits(
    hypotheses: Iterable[Sequence[str]], references: Iterable[Sequence[str]], owners: Ints
) -> tuple[Ints, Ints]:
    """Edits and shifts from hypothesis owners[j] to reference j, and the length of that.

    Examples
    --------
    >>> count_edits(["d e a b c".split()], ["a b c d e".split()], np.array([0]))
    (array([1]), array([5]))
    """
    numbers: dict[str, int] = {}
    own, own_bounds = _numbered(hypotheses, numbers)
    other, other_bounds = _numbered(references, numbers)
    lengths, sizes = np.diff(own_bounds)[owners], np.diff(other_bounds)
    ratios = sizes / np.maximum(lengths, 1)
    # A row must meet the one before it where one text is very much longer.
    beams = np.where(ratios > 2 * _BEAM, np.ceil(ratios / 2 + _BEAM), _BEAM).astype(np.int64)
    widths = 2 * beams + np.ceil(ratios).astype(np.int64) + 3
    longest, widest = int(lengths.max(initial=0)), int(widths.max(initial=0))
    largest = int(((lengths + 1) * widths).max(initial=0))
    side = max(longest, int(sizes.max(initial=0))) + 1
    edits = np.zeros(len(sizes), dtype=np.int64)
    space = (
        np.empty((2, longest), dtype=np.int32),
        np.empty(longest + 1, dtype=np.int64),
        np.empty(longest + 1, dtype=np.int64),
        np.empty(largest, dtype=np.int32),
        np.empty(2 * widest, dtype=np.int32),
        np.empty(side, dtype=np.int64),
        np.empty((2, side), dtype=np.int64),
        np.zeros(12, dtype=np.int64),
    )
    texts = (own, own_bounds, other, other_bounds, np.ascontiguousarray(owners, dtype=np.int64))
    while not _kernel.count_edits(*texts, beams, widths, *space, _STEPS, edits):
        pass
    return edits, sizes


def _numbered(texts: Iterable[Sequence[str]], numbers: dict[str, int]) -> tuple[Ints, Ints]:
    """The texts in one array, with a number for every word, and where each begins."""
    words: list[int] = []
    bounds = [0]
    for text in texts:
        words.extend(numbers.setdefault(word, len(numbers)) for word in text)
        bounds.append(len(words))
    return np.array(words, dtype=np.int32), np.array(bounds, dtype=np.int64)
