"""How fragile conclusions are: what would change them, as tables and as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from deltableu.io import Cell, Column, Table, Tabular

#: Changes that are tried, what tables call them, and how their sizes are written.
_NAMES = {"shift": "shift", "half_dropped": "dropped", "power": "power"}
_FORMS = {"shift": "+.2f", "half_dropped": ".0%", "power": ".2f"}
_CONDITIONS = {
    "shift": "all weights shift by {}",
    "half_dropped": "{} of the extra references are dropped",
    "power": "weights are taken to the power {}",
}


@dataclass(frozen=True, slots=True)
class Flip:
    """The smallest change that flips a conclusion.

    Attributes
    ----------
    size : float or None
        None if nothing flips it within the range that was tried.
    left_out : int
        Items without a positive reference after this change; the largest number where references
        were drawn.
    clamped : bool
        Whether a score is clamped there, so that nothing can be tested.
    """

    size: float | None
    left_out: int = 0
    clamped: bool = False


@dataclass(frozen=True, slots=True)
class Flips:
    """What one kind of change does to a pair.

    Attributes
    ----------
    lost : Flip
        From here on the difference is not significant, or turned round.
    turned : Flip
        From here on the other system scores higher.
    """

    lost: Flip
    turned: Flip


@dataclass(frozen=True, slots=True)
class PairSensitivity:
    """What would change the conclusion that one system beats another.

    Attributes
    ----------
    better, worse : str
    difference : float
        The difference of the two scores, better minus worse.
    strength : float
        The difference over its standard error, as a multiple of what is significant.
    shift : Flips or None
        Added to all weights, cut to [-1, 1]: the neutral point of the scale moves. None here and
        below for metrics without weights.
    power : Flips or None
        g of sign(w) |w|^g: 1 leaves the weights as they are.
    dropped : Flips
        The share of references that are dropped at random, where the mean over draws flips. The
        original reference of each item is always kept.
    half_dropped : Flips
        The same, where at least half of the draws flip.
    """

    better: str
    worse: str
    difference: float
    strength: float
    shift: Flips | None
    power: Flips | None
    dropped: Flips
    half_dropped: Flips

    @property
    def sentence(self) -> str:
        """The conclusion, and what it depends on."""
        lost = self._conditions({kind: found.lost for kind, found in self._kinds.items()})
        if not lost:
            return f"{self.better} beats {self.worse} whatever is changed within the ranges tried."
        text = f"{self.better} beats {self.worse} unless {lost}"
        turned = self._conditions({kind: found.turned for kind, found in self._kinds.items()})
        return f"{text}; {self.worse} is ahead if {turned}." if turned else f"{text}."

    def flips(self) -> list[Flip]:
        """The flips of all kinds that tables show."""
        return [flip for found in self._kinds.values() for flip in (found.lost, found.turned)]

    @property
    def _kinds(self) -> dict[str, Flips]:
        found = {kind: getattr(self, kind) for kind in _NAMES}
        return {kind: flips for kind, flips in found.items() if flips is not None}

    def _conditions(self, flips: Mapping[str, Flip]) -> str:
        parts = [
            _CONDITIONS[kind].format(Cell(flip.size).text(Column("", _FORMS[kind])))
            + (" (a score is clamped there)" if flip.clamped else "")
            for kind, flip in flips.items()
            if flip.size is not None
        ]
        return " or ".join(filter(None, (", ".join(parts[:-1]), *parts[-1:])))


@dataclass(frozen=True, slots=True)
class Sensitivity(Tabular):
    """How fragile the significant differences under one metric are.

    Attributes
    ----------
    metric : str
    items, references : int
        How many there are.
    pairs : tuple of PairSensitivity
        Those whose difference is significant.
    shift_step, power_step, drop_step : float
        How finely sizes were tried: sizes of flips are right to this step (of powers, to this
        factor).
    draws, seed : int
        How often references are dropped, and the seed of these choices.
    """

    metric: str
    items: int
    references: int
    pairs: tuple[PairSensitivity, ...]
    shift_step: float
    power_step: float
    drop_step: float
    draws: int
    seed: int

    def pair(self, first: str, second: str) -> PairSensitivity:
        """The pair of these two systems, in either order."""
        for pair in self.pairs:
            if {pair.better, pair.worse} == {first, second}:
                return pair
        raise KeyError(f"there is no significant difference between {first!r} and {second!r}")

    def sentences(self) -> Table:
        """A sentence for each pair."""
        rows = [[pair.sentence] for pair in self.pairs]
        if not rows:
            rows = [["No difference is significant, so that no conclusion could change."]]
        return Table([Column(f"{self.metric}: how fragile?", key="conclusion")], rows)

    def table(self) -> Table:
        """A row for each pair: at which size each kind of change flips the conclusion."""
        columns: dict[Column, list[object]] = {
            Column("better"): [pair.better for pair in self.pairs],
            Column("worse"): [pair.worse for pair in self.pairs],
        }
        weighted = any(pair.shift is not None for pair in self.pairs)
        for kind in _NAMES if weighted else ["half_dropped"]:
            found: list[Flips] = [getattr(pair, kind) for pair in self.pairs]
            for name, flips in (
                (_NAMES[kind], [one.lost for one in found]),
                ("turned", [one.turned for one in found]),
            ):
                key = name if name != "turned" else f"{_NAMES[kind]} turned"
                column = Column(name, _FORMS[kind], "right", key)
                columns[column] = [_cell(flip) for flip in flips]
        caption = f"{self.metric}: the smallest change that flips each difference"
        rows = zip(*columns.values(), strict=True)
        return Table(columns, rows, caption, self._notes(weighted))

    def _notes(self, weighted: bool) -> dict[str, str]:
        notes = {
            "turned": "where the other system scores higher; beside it, where the difference is "
            "not significant",
            "dropped": "share of the extra references, all but the originals, at which at least "
            f"half of {self.draws} random draws flip (steps of {self.drop_step:.0%})",
        }
        if weighted:
            notes |= {
                "shift": "added to all weights, as if the neutral point of the scale lay elsewhere "
                f"(-1 to 1, steps of {self.shift_step:g})",
                "power": "g of sign(w) |w|^g, as if the scale were bent (1/4 to 4)",
            }
        found = [flip for pair in self.pairs for flip in pair.flips()]
        if any(flip.left_out for flip in found):
            notes["~"] = "items without a positive reference after this change are left out"
        if any(flip.clamped for flip in found):
            notes["c"] = "a score is clamped after this change, so that nothing can be tested"
        return notes


def _cell(flip: Flip) -> object:
    if flip.size is None:
        return "never"
    return Cell(flip.size, note=("c" if flip.clamped else "") + ("~" if flip.left_out else ""))
