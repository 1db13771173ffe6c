"""Sentence similarities in [0, 1]: what a hypothesis and one reference have in common."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from os import PathLike, fspath
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.errors import InputError, Problem
from deltableu.io import read_table_rows
from deltableu.text import Tokenize, Tokenizer, WordVectors, read_vectors

if TYPE_CHECKING:
    from deltableu.score.engine.pair_cache import PairCache


class Similarity(ABC):
    """Something that compares a hypothesis with one reference."""

    @property
    @abstractmethod
    def name(self) -> str:
        """For signatures and column heads."""

    @abstractmethod
    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        """The similarity in [0, 1] of reference j and hypothesis owners[j], for every j."""

    def encode_texts(self, references: Sequence[str]) -> Any:
        """What can be found out of references once, for all hypotheses."""
        return references

    def compare(self, hypotheses: Sequence[str], encoded: Any, owners: Ints) -> Array:
        """`pairs`, of encoded references."""
        return self.pairs(hypotheses, encoded, owners)

    def settings(self) -> tuple[tuple[str, str], ...]:
        """What the signature says beside the name."""
        return ()


@dataclass(frozen=True)
class VectorSimilarity(Similarity):
    """Cosine of averaged word vectors; one below 0 counts as 0, unknown words are passed over.

    Parameters
    ----------
    vectors : str or path
        A file of word vectors in GloVe's text format.
    tokenize : str or callable
    lowercase : bool
    """

    vectors: str
    tokenize: Tokenize = "13a"
    lowercase: bool = True
    _loaded: WordVectors = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_loaded", read_vectors(self.vectors))

    @property
    def name(self) -> str:
        return "vectors"

    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        tokenizer = Tokenizer(self.tokenize, self.lowercase)
        own = self._loaded.text_vectors(tokenizer.tokens_of(list(hypotheses)))
        other = self._loaded.text_vectors(tokenizer.tokens_of(list(references)))
        cosine: Array = np.einsum("ij,ij->i", own[owners], other)
        return np.clip(cosine, 0.0, 1.0)

    def settings(self) -> tuple[tuple[str, str], ...]:
        case = "lower" if self.lowercase else "mixed"
        return (
            ("vectors", f"{Path(self.vectors).name}-{self._loaded.digest()}"),
            ("case", case),
            ("tok", Tokenizer(self.tokenize).name),
        )


@dataclass(frozen=True)
class FunctionSimilarity(Similarity):
    """Any function of a hypothesis and a reference; equal pairs are scored once.

    Parameters
    ----------
    function : callable
        Takes a hypothesis and a reference, or with `batched` two lists; gives values in [0, 1].
    batched : bool
    label : str, optional
        The name in signatures, by default the function's; a cache needs it, and knows scores by it.
    cache : str or path, optional
        A file that keeps the scores, batch by batch: what was scored before is not asked again.
    batch_size : int
        Pairs a call.
    """

    function: Callable[[Any, Any], Any]
    batched: bool = False
    label: str | None = None
    cache: str | PathLike[str] | None = None
    batch_size: int = 256

    def __post_init__(self) -> None:
        if not isinstance(self.batch_size, int) or self.batch_size < 1:
            raise InputError(f"batch_size must be at least 1, got {self.batch_size!r}")
        if self.cache is not None and self.label is None:
            # Another function, or this one after a change, would get the old one's scores.
            raise InputError("a cache knows scores by their label: give the function a label")

    @property
    def name(self) -> str:
        return self.label or str(getattr(self.function, "__name__", type(self.function).__name__))

    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        own = [hypotheses[owner] for owner in owners.tolist()]
        pairs = list(zip(own, references, strict=True))
        wanted = list(dict.fromkeys(pairs))
        known: dict[tuple[str, str], float] = {}
        with self._opened_cache() as cache:
            if cache is not None:
                known |= cache.read(wanted)
            missing = [pair for pair in wanted if pair not in known]
            for start in range(0, len(missing), self.batch_size):
                batch = missing[start : start + self.batch_size]
                scores = zip(batch, self._ask(batch).tolist(), strict=True)
                fresh = dict(scores)
                if cache is not None:
                    cache.write(fresh.items())
                known |= fresh
        return np.array([known[pair] for pair in pairs])

    def _opened_cache(self) -> AbstractContextManager[PairCache | None]:
        if self.cache is None:
            return nullcontext()
        from deltableu.score.engine.pair_cache import PairCache

        return PairCache(self.cache, self.name)

    def _ask(self, pairs: Sequence[tuple[str, str]]) -> Array:
        own, references = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
        if self.batched:
            values = self.function(own, references)
        else:
            values = [self.function(*pair) for pair in pairs]
        return _checked(values, own, references, self.name)


@dataclass(frozen=True)
class TableSimilarity(Similarity):
    """Similarities computed elsewhere, by hypothesis and reference text."""

    # A mapping has no hash; tables that differ may share one.
    table: Mapping[tuple[str, str], float] = field(hash=False)
    label: str = "table"

    @property
    def name(self) -> str:
        return self.label

    def settings(self) -> tuple[tuple[str, str], ...]:
        digest = hashlib.blake2b(digest_size=4)
        for (hypothesis, reference), score in sorted(self.table.items()):
            digest.update(repr((hypothesis, reference, float(score))).encode(errors="replace"))
        return (("table", digest.hexdigest()),)

    def pairs(self, hypotheses: Sequence[str], references: Sequence[str], owners: Ints) -> Array:
        own = [hypotheses[owner] for owner in owners.tolist()]
        try:
            values = [self.table[pair] for pair in zip(own, references, strict=True)]
        except KeyError as error:
            hypothesis, reference = error.args[0]
            raise InputError(
                f"the table of similarities has no score for hypothesis {hypothesis[:60]!r} and "
                f"reference {reference[:60]!r}"
            ) from None
        return _checked(values, own, references, self.name)


def read_similarities(path: str | PathLike[str]) -> dict[tuple[str, str], float]:
    """A table with the columns hypothesis, reference and score: CSV, TSV, JSON Lines, Parquet."""
    table: dict[tuple[str, str], float] = {}
    name = fspath(path)
    for line, row in read_table_rows(path, ("hypothesis", "reference", "score")):
        try:
            score = float(str(row["score"]))
        except ValueError:
            message = f"is no number: {row['score']!r}"
            raise InputError(Problem(message, file=name, line=line, field="score")) from None
        if not 0.0 <= score <= 1.0:
            message = f"must lie in [0, 1], got {score:g}"
            raise InputError(Problem(message, file=name, line=line, field="score"))
        pair = (str(row["hypothesis"]), str(row["reference"]))
        if table.setdefault(pair, score) != score:
            message = "this pair has another score above"
            raise InputError(Problem(message, file=name, line=line))
    return table


def _checked(values: Any, hypotheses: Sequence[str], references: Sequence[str], name: str) -> Array:
    try:
        scores = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"the similarity {name!r} gave something that is no number") from None
    if scores.shape != (len(references),):
        raise InputError(
            f"the similarity {name!r} gave {scores.size} scores for {len(references)} pairs"
        )
    wrong = ~((scores >= 0.0) & (scores <= 1.0))
    if wrong.any():
        at = int(np.argmax(wrong))
        raise InputError(
            f"the similarity {name!r} gave {scores[at]:g} for hypothesis {hypotheses[at][:60]!r} "
            f"and reference {references[at][:60]!r}; it must lie in [0, 1]"
        )
    return scores
