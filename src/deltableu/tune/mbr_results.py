"""What minimum Bayes risk chose, as texts, a table and a sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus import NBestLists
from deltableu.io import Column, Table, Tabular

#: Probabilities, and utilities, that differ by less than sums in another order do are equal.
EQUAL = 1e-9


@dataclass(frozen=True, slots=True, eq=False)
class MBRChoices(Tabular):
    """The candidates with the highest expected utility.

    Attributes
    ----------
    lists : NBestLists
    utility : str
        The metric's name.
    method : str
        "exact", by all pairs, or "expected counts".
    probabilities_from : str
    chosen : array of int
        The chosen candidate of each item.
    utilities : array
        The expected utility of each candidate, higher is better; NaN where an item has one text
        alone and that is no reference of its own.
    probabilities : array
        Of each candidate's text.
    exact_utilities, exact_chosen : arrays or None
        The same by all pairs, where that was to be compared.
    """

    lists: NBestLists
    utility: str
    method: str
    probabilities_from: str
    chosen: Ints
    utilities: Array
    probabilities: Array
    exact_utilities: Array | None = None
    exact_chosen: Ints | None = None

    @property
    def texts(self) -> tuple[str, ...]:
        """The chosen text of each item."""
        return self.lists.texts_of(self.chosen)

    @property
    def changed(self) -> int:
        """Items whose choice is another text than their first candidate."""
        firsts = self.lists.texts_of(self.lists.bounds[:-1])
        return sum(one != first for one, first in zip(self.texts, firsts, strict=True))

    @property
    def against_majority(self) -> int:
        """Items whose choice is less probable than another text: of samples, less frequent."""
        most = np.maximum.reduceat(self.probabilities, self.lists.bounds[:-1])
        return int((self.probabilities[self.chosen] < most * (1.0 - EQUAL)).sum())

    @property
    def agreement(self) -> float | None:
        """The share of items for which all pairs choose the same text."""
        if self.exact_chosen is None:
            return None
        exact = self.lists.texts_of(self.exact_chosen)
        return sum(one == other for one, other in zip(self.texts, exact, strict=True)) / len(exact)

    @property
    def loss(self) -> float | None:
        """How much exact expected utility the faster choice loses, as a mean over items."""
        if self.exact_utilities is None or self.exact_chosen is None:
            return None
        lost = self.exact_utilities[self.exact_chosen] - self.exact_utilities[self.chosen]
        return _mean(lost)

    def sentences(self) -> tuple[str, ...]:
        """What was chosen, and how near the fast way is to the exact one."""
        items = len(self.lists)
        said = [
            f"{self.utility} chooses another text than the first candidate for {self.changed:,} of "
            f"{items:,} items."
        ]
        if against := self.against_majority:
            most = "frequent" if self.probabilities_from == "uniform" else "probable"
            said.append(
                f"For {against:,} of {items:,} items that is not the most {most} text of the list."
            )
        if self.agreement is not None and self.loss is not None:
            said.append(
                f"Expected counts choose the same text as all pairs for {self.agreement:.1%} of "
                f"items; elsewhere they lose {self._loss_where_they_differ():.2f} of expected "
                f"{self.utility}."
            )
        return tuple(said)

    def _loss_where_they_differ(self) -> float:
        differ = 1.0 - (self.agreement or 0.0)
        return (self.loss or 0.0) / differ if differ > 0.0 else 0.0

    def table(self) -> Table:
        """One row: how it was done, and what came of it."""
        columns = [
            Column("utility"),
            Column("method"),
            Column("probabilities"),
            Column("items", ","),
            Column("candidates", ","),
            Column("changed", ",", drop=1),
            Column("against majority", ",", key="against_majority", drop=1),
            Column("expected", ".2f"),
            Column("of the first", ".2f", key="expected_of_first", drop=2),
        ]
        row: list[object] = [
            *(self.utility, self.method, self.probabilities_from),
            *(len(self.lists), len(self.lists.texts), self.changed),
            self.against_majority,
            _mean(self.utilities[self.chosen]),
            _mean(self.utilities[self.lists.bounds[:-1]]),
        ]
        if self.exact_chosen is not None:
            columns += [Column("as exact", ".1%", key="agreement"), Column("loss", ".3f")]
            row += [self.agreement, self.loss]
        notes = {
            "against majority": "items whose choice is not their most probable text",
            "expected": "mean expected utility of the chosen candidates",
            "of the first": "and of the first of each list",
        }
        if self.exact_chosen is not None:
            notes["as exact"] = "share of items whose choice all pairs share"
            notes["loss"] = "mean loss of exact expected utility"
        return Table(columns, [row], notes=notes)

    def record(self) -> dict[str, Any]:
        """For programs."""
        fields = self.table().records()[0]
        places = self.chosen.tolist()
        choices = [
            {
                "id": id,
                "text": self.lists.texts[place],
                "candidate": place - first,
                "expected": None if np.isnan(self.utilities[place]) else self.utilities[place],
                "probability": self.probabilities[place],
            }
            for id, place, first in zip(
                self.lists.item_ids, places, self.lists.bounds[:-1].tolist(), strict=True
            )
        ]
        return {"verdict": list(self.sentences()), **fields, "choices": choices}


def _mean(values: Array) -> float:
    """The mean of those that there are; NaN where there are none."""
    known = values[~np.isnan(values)]
    return float(known.mean()) if len(known) else float("nan")
