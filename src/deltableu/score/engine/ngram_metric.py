"""The part that all metrics of the BLEU family share: text -> rows of n-gram statistics."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, fields

import numpy as np

from deltableu._types import Array, Steps
from deltableu.corpus import ReferenceSet
from deltableu.errors import InputError
from deltableu.score.engine.chunks import CHUNK, in_chunks
from deltableu.score.engine.credit_tables import CreditTable, Recipe, match
from deltableu.score.engine.encoding import ChunkEncoder, Encoded, Part
from deltableu.score.engine.formula import Combination
from deltableu.score.engine.inputs import as_hypotheses, as_list, as_reference_set, check_layout
from deltableu.score.engine.ordered_metric import OrderedMetric
from deltableu.score.engine.statistics import Statistics
from deltableu.score.results import BLEUScore, Signature
from deltableu.text import NotUnicodeError, TokenArrays


@dataclass(frozen=True, kw_only=True)
class NgramMetric(OrderedMetric):
    """A metric of the BLEU family."""

    def __post_init__(self) -> None:
        super().__post_init__()
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
        given = self.prepare_references(as_reference_set(references, weights))
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
        """One row per segment, for one hypothesis per item."""
        if encoded.recipe != self.recipe:
            raise InputError(
                "these references were encoded with other settings; encode them with this metric"
            )
        items = encoded.info.items
        texts = as_hypotheses(hypotheses, items)

        def rows_at(start: int) -> Array:
            tokens = self.hash_hypotheses(texts[start : start + CHUNK], start)
            if encoded.chosen is not None:
                items = np.ascontiguousarray(encoded.chosen[start : start + CHUNK], np.int64)
                return match(tokens, encoded.table, self.order, items)
            return self._match(tokens, encoded.chunks[start // CHUNK])

        if items <= CHUNK:  # loops over single hypotheses must stay cheap
            rows = rows_at(0)
        else:
            rows = np.concatenate(list(in_chunks(rows_at, items, threads, progress)))
        return Statistics(self.finish_rows(rows), self, encoded.info)

    def segment_score(self, hypothesis: str, encoded: Encoded, item: int) -> float:
        """The score of one hypothesis for one item of joined references.

        It is what `statistics` and `segment_scores` give, to the last bit, without the work that
        pays only for many.

        Examples
        --------
        >>> from deltableu import BLEU
        >>> metric = BLEU(order=1)
        >>> metric.segment_score("y z", metric.encode([["a b"], ["x y"]]).joined(), 1)
        50.0
        """
        try:
            tokens = self.tokenizer.hash_one(hypothesis)
        except (TypeError, NotUnicodeError):
            tokens = self.hash_hypotheses([hypothesis])  # which says it as for many
        rows = match(tokens, encoded.table, self.order, np.array([item]))
        return self.row_score(self.finish_rows(rows))

    def row_score(self, rows: Array) -> float:
        """The segment score of an only row."""
        return float(self.segment_scores(rows)[0])

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
        check_layout(texts, given.texts)  # before a judge is asked, which may take long
        encoder = ChunkEncoder(self.prepare_references(given), self.recipe)

        def rows_at(start: int) -> tuple[Array, Part]:
            tokens = self.hash_hypotheses(texts[start : start + CHUNK], start)
            part = encoder(start, tokens)
            return self._match(tokens, part.tables), part.without_tables()

        results = list(in_chunks(rows_at, len(texts), threads, progress))
        info = encoder.info([part for _, part in results])
        rows = np.concatenate([rows for rows, _ in results])
        return Statistics(self.finish_rows(rows), self, info)

    def finish_rows(self, rows: Array) -> Array:
        """Add what a metric needs beyond the n-gram statistics."""
        return rows

    def counts(self, rows: Array) -> Array:
        """The n-gram statistics in rows of this metric: what other orders can be read from."""
        counted: Array = rows[:, : 2 * self.order + 2]
        return counted

    def rows_from(self, counts: Array) -> Array:
        """Rows from statistics of the same texts, counted up to this order or a longer one.

        Examples
        --------
        >>> from deltableu import BLEU
        >>> long, short = BLEU(order=4), BLEU(order=2)
        >>> rows = [metric.compute(["a b c d"], [["a b d"]]).rows for metric in (long, short)]
        >>> bool((short.rows_from(long.counts(rows[0])) == rows[1]).all())
        True
        """
        longest = (counts.shape[1] - 2) // 2
        if self.order > longest:
            raise InputError(f"order {self.order} cannot be read from counts up to {longest}")
        kept = [*range(self.order), *range(longest, longest + self.order), -2, -1]
        return self.finish_rows(np.ascontiguousarray(counts[:, kept]))

    @property
    def encoding_key(self) -> Hashable:
        return self.recipe

    @property
    def recipe(self) -> Recipe:
        """What the encoded references depend on."""
        made: Recipe = self._recipe  # type: ignore[attr-defined]
        return made

    def _make_recipe(self) -> Recipe:
        return Recipe(self.tokenizer, self.order)

    def _match(self, tokens: TokenArrays, tables: tuple[CreditTable, ...]) -> Array:
        if len(tables) == 1:
            return match(tokens, tables[0], self.order)
        parts, first = [], 0
        for table in tables:
            last = first + table.items
            portion = TokenArrays(tokens.keys, tokens.bounds[first : last + 1])
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
