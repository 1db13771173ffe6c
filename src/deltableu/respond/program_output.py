"""Lines that a program wrote in, its response and candidates for each item out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from deltableu.corpus import NBestLists
from deltableu.io import Checker, fail


class _Candidate(NamedTuple):
    text: str
    values: tuple[float, ...]
    total: float | None


class ProgramOutput:
    """What a program said so far; the first line that is wrong is named in an InputError.

    Parameters
    ----------
    name : str
        As problems name the output.
    item_ids : sequence of str
    """

    def __init__(self, name: str, item_ids: Sequence[str]) -> None:
        self.name = name
        self._item_ids = tuple(item_ids)
        self._found: dict[str, list[_Candidate]] = {id: [] for id in item_ids}
        self._lines: dict[str, int] = {}
        self._checker = Checker(name, fail)
        self._names: tuple[str, ...] | None = None
        self._has_totals = False
        self._has_features = False

    def add(self, line: int, record: Mapping[str, object]) -> None:
        """Take one line."""
        checker = self._checker
        checker.start(line)
        id = checker.identifier(record.get("id"), "id")
        checker.item = id
        if id not in self._found:
            checker.complain("id", "there is no item with this id")
        text = checker.text(record.get("text"), "text")
        features = record.get("features")
        total = checker.number(record.get("total"), "total")
        values = self._values(features)
        self._check_alike(features is not None, total is not None)
        if self._found[id] and features is None and total is None:
            message = f"has a response on line {self._lines[id]} already; candidates of one item "
            checker.complain("id", message + "need features or a total")
        self._lines.setdefault(id, line)
        self._found[id].append(_Candidate(text, values, total))

    def _values(self, features: object) -> tuple[float, ...]:
        """The numbers of a line's features, in the order of the first line's."""
        checker = self._checker
        if features is None:
            return ()
        if not isinstance(features, Mapping) or not features:
            checker.complain("features", "must be an object of names and numbers")
            return ()
        names = self._names or tuple(features)
        for name in (*names, *features):
            if name not in features:
                checker.complain("features", f"{name} is missing, which earlier lines have")
            if name not in names:
                checker.complain("features", f"{name} is here, which earlier lines lack")
        values = []
        for name in names:
            value = checker.number(features[name], f"features.{name}")
            if value is None:
                checker.complain(f"features.{name}", "must be a finite number, got null")
            values.append(value or 0.0)
        self._names = names
        return tuple(values)

    def _check_alike(self, features: bool, total: bool) -> None:
        """All lines have features or none, and totals or none."""
        if not self._lines:
            self._has_features, self._has_totals = features, total
        for name, has, had in (
            ("features", features, self._has_features),
            ("total", total, self._has_totals),
        ):
            if has != had:
                message = "is missing, but earlier lines have one"
                if has:
                    message = "is here, but earlier lines have none"
                self._checker.complain(name, message)

    def responses(self) -> tuple[list[str | None], NBestLists | None]:
        """The response to each item, None where there is none; and candidates, if it gave some."""
        best = [self._best(id) for id in self._item_ids]
        if not (self._has_features or self._has_totals):
            return best, None
        answered = [id for id in self._item_ids if self._found[id]]
        candidates = [one for id in answered for one in self._found[id]]
        sizes = [len(self._found[id]) for id in answered]
        totals = [one.total for one in candidates]
        return best, NBestLists(
            tuple(answered),
            np.concatenate(([0], np.cumsum(sizes))),
            tuple(one.text for one in candidates),
            self._names or (),
            np.array([one.values for one in candidates], np.float64).reshape(len(candidates), -1),
            np.array(totals, np.float64) if self._has_totals else None,
        )

    def _best(self, id: str) -> str | None:
        candidates = self._found[id]
        if not candidates:
            return None
        # The first of equals.
        return max(candidates, key=lambda one: one.total or 0.0).text
