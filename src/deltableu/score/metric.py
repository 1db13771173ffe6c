"""What a metric is: settings, and three steps from text to score."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, ClassVar, Literal

import numpy as np

from deltableu._types import Array, Bools, Steps
from deltableu._version import __version__
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.engine.chunks import ReferenceInfo
from deltableu.score.engine.reweighting import Recomputed, Reweighting
from deltableu.score.engine.statistics import Statistics
from deltableu.score.results import Score, Signature
from deltableu.stats import numerical_gradient

Need = Literal["references", "weights", "messages"]


class Metric(ABC):
    """Settings of a metric; text becomes rows, rows are summed, sums become scores.

    A metric of one's own is a frozen dataclass that derives from this class or, with less to
    write, from `deltableu.score.SegmentMetric`.
    """

    name: ClassVar[str]
    #: One line for `deltableu metrics`.
    summary: ClassVar[str] = ""
    #: Lowest and highest score.
    limits: ClassVar[tuple[float, float]] = (0.0, 100.0)
    higher_is_better: ClassVar[bool] = True
    #: What it needs beside hypotheses.
    needs: ClassVar[frozenset[Need]] = frozenset({"references"})
    #: Whether it also takes references of which none is rated.
    weights_optional: ClassVar[bool] = False
    #: Whether scores of single segments mean something.
    has_segments: ClassVar[bool] = True
    #: Whether the score of a corpus is the mean of its segments'.
    averages_segments: ClassVar[bool] = False
    #: Whether what an item's row holds depends on the references of the other items too.
    needs_all_items: ClassVar[bool] = False

    def prepare_references(self, references: ReferenceSet) -> ReferenceSet:
        """The references with the weights that count; a metric with a rater rates them here.

        `encode` and `compute` do it themselves. It must not change the number of items, and give
        the same again for some of the items.
        """
        return references

    def settled(self, references: ReferenceSet) -> tuple[ReferenceSet, Metric]:
        """Prepared references, and the metric that takes their weights as they are."""
        return self.prepare_references(references), self

    def for_outputs(self, references: ReferenceSet, outputs: Mapping[str, Sequence[str]]) -> Metric:
        """The metric as it scores these systems beside each other.

        A metric whose scores depend on what else is scored looks at all of it here; what it gives
        back no longer does.
        """
        return self

    def fitted_to(self, references: ReferenceSet) -> Metric:
        """The metric with whatever it chooses by the references settled, outputs unseen.

        What it gives back chooses nothing any more, so that it treats some of the items as all.
        """
        return self

    @abstractmethod
    def encode(
        self,
        references: ReferenceSet | Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Any:
        """Prepare references once, for any number of systems."""

    @abstractmethod
    def statistics(
        self,
        hypotheses: Sequence[str],
        encoded: Any,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Statistics:
        """One row per segment, for one hypothesis per item."""

    def compute(
        self,
        hypotheses: Sequence[str],
        references: ReferenceSet | Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Statistics:
        """Rows in one go, where the encoded references are not needed again."""
        encoded = self.encode(references, weights, threads=threads)
        return self.statistics(hypotheses, encoded, threads=threads, progress=progress)

    @abstractmethod
    def aggregate(self, sums: Array) -> Array:
        """Scores of summed rows, for any number of sums at once (columns on the last axis)."""

    @property
    def score_limits(self) -> tuple[float, float]:
        """Lowest and highest score of a corpus with these settings."""
        return self.limits

    def gradient(self, sums: Array) -> Array:
        """Derivatives of `aggregate` by each column, in the shape of the sums."""
        return numerical_gradient(self.aggregate, sums)

    def clamped(self, sums: Array) -> Bools:
        """Where a score stands still: sums a little better or worse would have the same."""
        return np.zeros(sums.shape[:-1], dtype=bool)

    def bends(self, rows: Array) -> tuple[str, ...]:
        """What bends the score so near these rows that standard errors say too little.

        Errors take the score for straight; sums of other items may lie beyond a bend.
        """
        return ()

    def segment_scores(self, rows: Array) -> Array:
        """Scores of single rows: those of corpora of one segment, unless a metric has others."""
        return self.aggregate(rows)

    def ngram_sums(self, rows: Array) -> tuple[Array, Array]:
        """Numerators and denominators of rows, an order a column, where a metric has them."""
        raise InputError(f"{self.name} cannot be explained; choose bleu or delta-bleu")

    @property
    def mostly_zero(self) -> bool:
        """Whether most segments by themselves score exactly 0, and so tell little."""
        return False

    def result(self, sums: Array, segments: int, signature: Signature) -> Score:
        """One sum as a score with all its ingredients."""
        return Score(self.name, float(self.aggregate(sums)), signature, segments)

    @abstractmethod
    def settings(self) -> tuple[tuple[str, str], ...]:
        """The settings as the signature shows them."""

    @property
    def idle_settings(self) -> frozenset[str]:
        """Settings that change nothing beside the others, such as the value of no smoothing."""
        return frozenset()

    def reweighting(
        self, references: ReferenceSet, outputs: Sequence[Sequence[str]]
    ) -> Reweighting:
        """Systems ready to be scored under many vectors of reference weights.

        A metric that can do so without touching the texts again should: this recomputes everything
        for every vector.

        Parameters
        ----------
        references : ReferenceSet
            With weights.
        outputs : list of lists of str
            The hypotheses of each system, in the order of the items.
        """
        return Recomputed(self, references, outputs)

    @property
    def registered_name(self) -> str:
        """What signatures call it, which show the order by itself."""
        return self.name

    @property
    def encoding_key(self) -> Hashable:
        """Metrics with equal keys can share encoded references."""
        return self

    def signature(self, info: ReferenceInfo) -> Signature:
        """Settings, references and version: what must agree for scores to be comparable."""
        number = f"{info.fewest}" if info.fewest == info.most else f"{info.fewest}-{info.most}"
        parts = [
            ("metric", self.registered_name),
            *self.settings(),
            ("items", str(info.items)),
            ("refs", number),
            ("select", info.selection),
            ("refhash", info.digest),
        ]
        if info.weights_digest is not None:
            parts += [
                ("weights", str(info.weights_from)),
                ("weighthash", info.weights_digest),
            ]
        return Signature((*parts, ("version", __version__)))
