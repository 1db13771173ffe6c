"""The two halves of RUBER (Tao et al. 2018) as metrics: likeness to a reference, and relevance."""

from __future__ import annotations

import os
from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import ClassVar, get_args

import numpy as np

from deltableu._types import Array
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError, Problem, check_choice
from deltableu.io import shown
from deltableu.judges.model_file import RaterModel
from deltableu.judges.pooled_vectors import Pooling, cosines, pooled_texts
from deltableu.judges.unreferenced import UnreferencedScorer
from deltableu.score import Need, PreparedReferences, SegmentMetric
from deltableu.text import Tokenize, Tokenizer, WordVectors, read_vectors

ModelLike = str | os.PathLike[str] | RaterModel


@dataclass(frozen=True, kw_only=True)
class RuberReferenced(SegmentMetric):
    """RUBER's referenced scorer: the cosine of pooled word vectors of reply and reference.

    Words without a vector are passed over; a reply in which no word has one, and an empty one,
    scores 0. The system score is the mean over segments.

    Parameters
    ----------
    vectors : str, path or WordVectors
        Word vectors, such as `deltableu vectors train` makes.
    pooling : {"max-min", "avg", "all"}
        The largest and the smallest number of each dimension (the default), the means, or all.
    all_references : bool
        Whether the reference counts that is most like the reply; else the original one, as in
        the paper.
    tokenize, lowercase
        How texts become words, by default 13a and lower case.

    References
    ----------
    Tao et al. 2018, "RUBER: An Unsupervised Method for Automatic Evaluation of Open-Domain Dialog
    Systems", section 3.1.

    Examples
    --------
    >>> words = WordVectors({"a": 0, "b": 1, "c": 2, "d": 3}, np.array([[1., 0], [0, 2], [1, -1],
    ...                                                                 [0, 1]]))
    >>> metric = RuberReferenced(vectors=words)
    >>> metric.compute(["a b", "", "x y"], [["c d"]] * 3).segment_scores().round(2)
    array([77.46,  0.  ,  0.  ])
    """

    name: ClassVar[str] = "ruber-referenced"
    summary: ClassVar[str] = "cosine of pooled word vectors (RUBER, Tao et al. 2018)"
    limits: ClassVar[tuple[float, float]] = (-100.0, 100.0)
    needs: ClassVar[frozenset[Need]] = frozenset({"references"})

    # Word vectors in memory have no hash that is of use.
    vectors: str | os.PathLike[str] | WordVectors | None = field(default=None, hash=False)
    pooling: Pooling = "max-min"
    all_references: bool = False
    tokenize: Tokenize | None = None
    lowercase: bool | None = None

    def __post_init__(self) -> None:
        check_choice("pooling", self.pooling, get_args(Pooling))
        tokenizer = Tokenizer(self.tokenize or "13a", self.lowercase is not False)
        object.__setattr__(self, "_tokenizer", tokenizer)
        if not self.vectors:
            raise InputError(f"{self.name} needs a file of word vectors (vectors=, --vectors)")
        loaded = self.vectors
        if not isinstance(loaded, WordVectors):
            if not isinstance(loaded, str | os.PathLike):
                raise InputError(f"vectors must be a file of word vectors, got {shown(loaded)}")
            loaded = read_vectors(loaded)
        object.__setattr__(self, "_loaded", loaded)
        object.__setattr__(self, "_digest", loaded.digest())

    def compared_with(self, references: ReferenceSet) -> ReferenceSet:
        """The original references, unless all count."""
        if self.all_references:
            return references
        return references.keep(references.single(), "single")

    def prepare(self, prepared: PreparedReferences) -> Array:
        loaded: WordVectors = self._loaded  # type: ignore[attr-defined]
        words = self._words(prepared.flat.texts)
        if any(words) and not any(word in loaded.rows for row in words for word in row):
            message = "has a vector for none of the references' words: it is of another language, "
            message += "or its words were cut otherwise (--tokenize)"
            raise InputError(Problem(message, file=self._vectors_name))
        return pooled_texts(loaded, words, self.pooling)

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        flat = encoded.flat
        loaded: WordVectors = self._loaded  # type: ignore[attr-defined]
        own = pooled_texts(loaded, self._words(hypotheses), self.pooling)
        found = cosines(own[flat.owners], encoded.extra)
        best: Array = 100.0 * np.maximum.reduceat(found, flat.bounds[:-1])
        return best

    def _words(self, texts: list[str]) -> list[list[str]]:
        tokenizer: Tokenizer = self._tokenizer  # type: ignore[attr-defined]
        return tokenizer.tokens_of(texts)

    @property
    def _vectors_name(self) -> str:
        given = self.vectors
        return Path(given).name if isinstance(given, str | os.PathLike) else "vectors"

    def settings(self) -> tuple[tuple[str, str], ...]:
        tokenizer: Tokenizer = self._tokenizer  # type: ignore[attr-defined]
        return (
            ("pooling", self.pooling),
            ("vectors", f"{self._vectors_name}-{self._digest}"),  # type: ignore[attr-defined]
            ("case", "mixed" if self.lowercase is False else "lower"),
            ("tok", tokenizer.name),
        )


@dataclass(frozen=True, kw_only=True)
class RuberUnreferenced(SegmentMetric):
    """RUBER's unreferenced scorer: a network says how well a reply suits the message.

    An empty reply scores 0. No reference is looked at: messages stand in for them, and the
    signature says so. The system score is the mean over segments.

    Parameters
    ----------
    model : str, path or RaterModel
        What `deltableu judge train --kind ruber` made.

    References
    ----------
    Tao et al. 2018, "RUBER: An Unsupervised Method for Automatic Evaluation of Open-Domain Dialog
    Systems", section 3.2.
    """

    name: ClassVar[str] = "ruber-unreferenced"
    summary: ClassVar[str] = "how well a reply suits the message, by a network (RUBER)"
    needs: ClassVar[frozenset[Need]] = frozenset({"messages"})

    model: ModelLike | None = None

    def __post_init__(self) -> None:
        given = self.model
        if not given:
            raise InputError(
                f"{self.name} needs a model: train one with `deltableu judge train --kind ruber`, "
                "and give its file (model=, --model)"
            )
        if isinstance(given, RaterModel):
            scorer = UnreferencedScorer(given)
        elif isinstance(given, str | os.PathLike):
            scorer = UnreferencedScorer.load(given)
        else:
            raise InputError(f"model must be a model's file, got {shown(given)}")
        object.__setattr__(self, "_scorer", scorer)

    @property
    def scorer(self) -> UnreferencedScorer:
        """The model at work."""
        found: UnreferencedScorer = self._scorer  # type: ignore[attr-defined]
        return found

    def compared_with(self, references: ReferenceSet) -> ReferenceSet:
        """The messages, which stand in for references."""
        return message_set(references)

    @property
    def encoding_key(self) -> Hashable:
        # Only with each other: the list that other metrics share has the references in it.
        return "messages"

    def segments(self, hypotheses: list[str], encoded: PreparedReferences) -> Array:
        return 100.0 * self.scorer.scores(encoded.flat.texts, hypotheses)

    def settings(self) -> tuple[tuple[str, str], ...]:
        return (("model", self.scorer.signature),)


def message_set(references: ReferenceSet) -> ReferenceSet:
    """The same items with their messages for references."""
    texts = tuple(_messages(references))
    return replace(
        references, texts=texts, weights=None, items=None, originals=None, selection="messages"
    )


def _messages(references: ReferenceSet) -> Iterator[tuple[str]]:
    """The messages that items answer, as the texts of a set of references."""
    for index, message in enumerate(references.messages or [None] * len(references)):
        if not (message or "").strip():
            wrong = "has no message, which this metric needs"
            raise InputError(Problem(wrong, item=references.item_name(index)))
        yield (message or "",)
