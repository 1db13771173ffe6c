"""The part that all metrics of the BLEU family share: text -> rows of n-gram statistics."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from deltableu._types import Array, Steps
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.engine.chunks import CHUNK, in_chunks
from deltableu.score.engine.encoding import ChunkEncoder, Encoded, Part
from deltableu.score.engine.formula import Combination
from deltableu.score.engine.inputs import as_list, as_nested, check_layout, first_wrong_text
from deltableu.score.engine.statistics import Statistics
from deltableu.score.engine.tables import Recipe, Table, match
from deltableu.score.metric import Metric
from deltableu.score.results import BLEUScore, Signature
from deltableu.text import Normalization, NotUnicodeError, TokenArrays, Tokenize, Tokenizer

__all__ = ["NgramMetric", "as_reference_set", "checked_order"]

_LARGEST_ORDER = 64


@dataclass(frozen=True, kw_only=True)
class NgramMetric(Metric):
    """Settings common to the BLEU family."""

    order: int = 4
    tokenize: Tokenize = "13a"
    lowercase: bool = False
    normalize: Normalization | None = None
    strip_punctuation: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "order", checked_order(self.order))
        object.__setattr__(self, "_recipe", self._make_recipe())

    def encode(
        self,
        references: ReferenceSet | Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Encoded:
        """Tokenise and hash the references once, for any number of systems.

        Parameters
        ----------
        references : list of lists of str, or ReferenceSet
            The references of each item.
        weights : list of lists of float, optional
            Their weights in [-1, 1], in the same shape; metrics without weights ignore them.
        threads : int, optional
            All cores by default; the result does not depend on it.
        progress : callable, optional
            Called with (items done, items in all).
        """
        given = as_reference_set(references, weights)
        if not given.texts:
            raise InputError("there is nothing to score: no references were given")
        encoder = ChunkEncoder(given, self.recipe)
        parts = list(in_chunks(encoder, len(given.texts), threads, progress))
        return Encoded(tuple(part.tables for part in parts), self.recipe, encoder.info(parts))

    def statistics(
        self,
        hypotheses: Sequence[str],
        encoded: Encoded,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Statistics:
        """One row a segment, for one hypothesis an item."""
        if encoded.recipe != self.recipe:
            raise InputError(
                "these references were encoded with other settings; encode them with this metric"
            )
        texts = as_list(hypotheses, "hypotheses")
        items = encoded.info.items
        if len(texts) != items:
            raise InputError(f"{len(texts)} hypotheses for {items} items: give one for each item")

        def rows_at(start: int) -> Array:
            tokens = self._hash(texts, start)
            return self._match(tokens, encoded.chunks[start // CHUNK])

        if items <= CHUNK:  # loops over single hypotheses must stay cheap
            rows = rows_at(0)
        else:
            rows = np.concatenate(list(in_chunks(rows_at, items, threads, progress)))
        return Statistics(self.finish_rows(rows), self, encoded.info)

    def compute(
        self,
        hypotheses: Sequence[str],
        references: ReferenceSet | Sequence[Sequence[str]],
        weights: Sequence[Sequence[float]] | None = None,
        *,
        threads: int | None = None,
        progress: Steps | None = None,
    ) -> Statistics:
        """Rows in one go, without keeping the encoded references."""
        texts = as_list(hypotheses, "hypotheses")
        given = as_reference_set(references, weights)
        check_layout(texts, given.texts)
        encoder = ChunkEncoder(given, self.recipe)

        def rows_at(start: int) -> tuple[Array, Part]:
            tokens = self._hash(texts, start)
            part = encoder(start, tokens)
            return self._match(tokens, part.tables), part.without_tables()

        results = list(in_chunks(rows_at, len(texts), threads, progress))
        info = encoder.info([part for _, part in results])
        rows = np.concatenate([rows for rows, _ in results])
        return Statistics(self.finish_rows(rows), self, info)

    def finish_rows(self, rows: Array) -> Array:
        """Add what a metric needs beyond the n-gram statistics."""
        return rows

    @property
    def encoding_key(self) -> Recipe:
        return self.recipe

    @property
    def recipe(self) -> Recipe:
        """What the encoded references depend on."""
        made: Recipe = self._recipe  # type: ignore[attr-defined]
        return made

    def _make_recipe(self) -> Recipe:
        return Recipe(self._tokenizer(), self.order)

    def _tokenizer(self) -> Tokenizer:
        return Tokenizer(self.tokenize, self.lowercase, self.normalize, self.strip_punctuation)

    def _text_settings(self) -> tuple[tuple[str, str], ...]:
        return (
            ("case", "lower" if self.lowercase else "mixed"),
            *([("norm", self.normalize)] if self.normalize else []),
            *([("punct", "stripped")] if self.strip_punctuation else []),
            ("tok", self.recipe.tokenizer.name),
        )

    def _hash(self, texts: Sequence[Any], start: int) -> TokenArrays:
        """Token hashes of the hypotheses of one chunk."""
        portion = texts[start : start + CHUNK]
        try:
            return self.recipe.tokenizer.hash(portion)
        except NotUnicodeError as error:
            number, reason = error.position, error.reason
        except TypeError:
            found = first_wrong_text(portion)
            if found is None:
                raise
            number, reason = found[0], f"is {found[1]}, no string"
        raise InputError(f"hypotheses[{start + number}] {reason}")

    def _match(self, tokens: TokenArrays, tables: tuple[Table, ...]) -> Array:
        if len(tables) == 1:
            return match(tokens, tables[0], self.order)
        parts, first = [], 0
        for table in tables:
            last = first + table.items
            portion = TokenArrays(tokens.hashes, tokens.bounds[first : last + 1])
            parts.append(match(portion, table, self.order))
            first = last
        return np.concatenate(parts)

    def _result(
        self, sums: Array, segments: int, signature: Signature, combination: Combination
    ) -> BLEUScore:
        order = self.order
        numbers = sums.tolist()
        return BLEUScore(
            self.name,
            float(combination.score),
            signature,
            segments,
            tuple(combination.precisions.tolist()),
            tuple(numbers[:order]),
            tuple(numbers[order : 2 * order]),
            float(combination.brevity_penalty),
            int(numbers[2 * order]),
            int(numbers[2 * order + 1]),
        )

    def __repr__(self) -> str:
        changed = [
            f"{field.name}={getattr(self, field.name)!r}"
            for field in fields(self)
            if getattr(self, field.name) != field.default
        ]
        return f"{type(self).__name__}({', '.join(changed)})"


def checked_order(order: Any) -> int:
    """The order as an int, if it can be one."""
    try:
        number = operator.index(order)
    except TypeError:
        number = 0
    if isinstance(order, bool) or not 1 <= number <= _LARGEST_ORDER:
        raise InputError(f"order must be a whole number from 1 to {_LARGEST_ORDER}, got {order!r}")
    return number


def as_reference_set(references: Any, weights: Any) -> ReferenceSet:
    """What the caller gave as references, in the one shape that scoring reads."""
    if isinstance(references, ReferenceSet):
        if weights is not None:
            raise InputError("give weights either in the ReferenceSet or beside lists, not twice")
        return references
    texts = as_nested(references, "references", "texts")
    if weights is None:
        return ReferenceSet(texts, None)
    numbers = as_nested(weights, "weights", "numbers")
    if len(numbers) != len(texts):
        raise InputError(
            f"references for {len(texts)} items but weights for {len(numbers)}; "
            "weights have the shape of the references"
        )
    return ReferenceSet(texts, numbers)
