"""What tuning gives: weights, how they score on seen and unseen items, whether to believe it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from deltableu.compare import Comparison
from deltableu.io import Cell, Column, Table, Tabular, field_record

TuningMethod = Literal["mert", "perceptron"]

#: What the two rankings are called where they are compared.
TUNED, START = "tuned", "start"


@dataclass(frozen=True, slots=True)
class TunedScore:
    """Corpora chosen from the same lists by two vectors of weights.

    Attributes
    ----------
    items, candidates : int
    start, tuned : float
        Scores of what the starting and the tuned weights choose.
    changed : int
        Items for which they choose different texts.
    comparisons : tuple of Comparison
        Whether to believe the difference. There are none for items that were tuned on; where the
        score is clamped, the second is by the signed mean.
    """

    items: int
    candidates: int
    start: float
    tuned: float
    changed: int
    comparisons: tuple[Comparison, ...] = ()

    @property
    def decisive(self) -> Comparison | None:
        """The comparison that could be tested, if any."""
        return self.comparisons[-1] if self.comparisons else None

    def record(self) -> dict[str, Any]:
        """All fields, and the difference."""
        return {**field_record(self), "difference": self.tuned - self.start}


@dataclass(frozen=True, slots=True)
class Tuning(Tabular):
    """Weights that were tuned for a metric.

    Attributes
    ----------
    method : {"mert", "perceptron"}
    metric : str
    higher_is_better : bool
    start, weights : mapping of feature to float
        Before and after. Only the direction of weights matters; these have the length 1 where
        features are measured in how much they vary within lists.
    influence : mapping of feature to float
        Share of each feature in the weights in those units, by absolute value.
    training : TunedScore
        On the lists that were tuned on: no estimate of anything.
    held_out : TunedScore or None
        On other items.
    paths : tuple of tuples of float
        The score at the start and after every step of each search.
    best : int
        Number of the search whose weights these are.
    dropped : tuple of str
        Items that were left out, because no reference of theirs has a positive weight.
    tuned_on : tuple of str
        Items that were not held out.
    warnings : tuple of str
        What to know before the weights are used.
    signature : str
        All that the weights depend on.
    """

    method: TuningMethod
    metric: str
    higher_is_better: bool
    start: Mapping[str, float]
    weights: Mapping[str, float]
    influence: Mapping[str, float]
    training: TunedScore
    held_out: TunedScore | None
    paths: tuple[tuple[float, ...], ...]
    best: int
    dropped: tuple[str, ...]
    tuned_on: tuple[str, ...]
    warnings: tuple[str, ...]
    signature: str = field(repr=False)

    @property
    def believable(self) -> bool | None:
        """Whether other items show a significant gain; None where none were held out."""
        decisive = None if self.held_out is None else self.held_out.decisive
        if self.held_out is None:
            return None
        return decisive is not None and decisive.pair(TUNED, START).better == TUNED

    def table(self, *, digits: int = 2) -> Table:
        """Scores before and after, on the items that were tuned on and on those held out."""
        form = f".{digits}f"
        better: Any = "higher" if self.higher_is_better else "lower"
        columns = [
            Column(self.metric, key="items are"),
            Column("items"),
            Column("candidates", drop=2),
            Column(START, form, better=better),
            Column(TUNED, form, better=better),
            Column("difference", form),
            Column("p", "p"),
            Column("other texts", drop=1, key="changed"),
        ]
        rows = [self._row("tuned on", self.training)]
        if self.held_out is not None:
            rows.append(self._row("held out", self.held_out))
        notes: dict[str, str] = {}
        decisive = None if self.held_out is None else self.held_out.decisive
        if decisive is not None:
            notes["p"] = f"{decisive.tests[0]} test of the items held out, by {decisive.metric}"
        return Table(columns, rows, notes=notes, signatures={"tuning": self.signature})

    def _row(self, what: str, score: TunedScore) -> list[object]:
        interval = p_value = None
        if score.comparisons:
            interval = score.comparisons[0].pair(TUNED, START).interval
        if score.decisive is not None:
            p_value = score.decisive.deciding(score.decisive.pair(TUNED, START))
        difference = Cell(score.tuned - score.start, interval)
        changed = f"{score.changed:,} of {score.items:,}"
        facts = [score.items, score.candidates, score.start, score.tuned, difference]
        return [what, *facts, p_value, changed]

    def weights_table(self) -> Table:
        """A row per feature: its weight before and after, and its influence."""
        columns = [
            Column("feature"),
            Column(START, ".4g"),
            Column(TUNED, ".4g"),
            Column("influence", ".0%"),
        ]
        rows = [
            [name, self.start[name], weight, self.influence[name]]
            for name, weight in self.weights.items()
        ]
        note = "share of the weights where features are measured in how much they vary in lists"
        return Table(columns, rows, notes={"influence": note})

    def tables(self) -> tuple[Table, Table]:
        """Scores, then weights."""
        return self.table(), self.weights_table()

    def record(self) -> dict[str, Any]:
        """All fields, and whether other items show a gain."""
        return {**field_record(self), "believable": self.believable}
