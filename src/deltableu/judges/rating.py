"""A study and a judge in, the same study with weights out; a run that was killed goes on."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal, TypeAlias, get_args

from deltableu.corpus import ORIGINS, WEIGHTS_FROM, Item, Reference, Study
from deltableu.errors import check_at_least, check_choice, check_kind
from deltableu.io import Column, Table, Tabular, WorkFolder, fingerprint
from deltableu.judges.rated_batches import RatedBatches
from deltableu.judges.rater import Rater, rate_batch, rater_signature

Which: TypeAlias = Literal["unrated", "all"]

#: What weights came from that were there before, where the item does not say.
_BEFORE = "items"


@dataclass(frozen=True, slots=True)
class OriginRatings:
    """What became of the references of one origin.

    Attributes
    ----------
    origin : str
        Original, mined, parrot, written or random.
    references : int
        How many there are.
    rated : int
        How many the judge rated; the others kept the weight they had.
    mean : float or None
        The mean weight of those that were rated.
    positive : float or None
        The share of those that got a weight above 0.
    """

    origin: str
    references: int
    rated: int
    mean: float | None
    positive: float | None


@dataclass(frozen=True, slots=True)
class RatedStudy(Tabular):
    """A study whose references all have weights, and how they came by them.

    Attributes
    ----------
    study : Study
        Its items say in `meta["weights_from"]` where weights came from.
    signature : str
        The judge's.
    which : {"unrated", "all"}
        What was asked for.
    origins : tuple of OriginRatings
        Those that occur.
    resumed : int
        Items whose weights an earlier run had found.
    work : WorkFolder
        Where they are kept, if they are.
    """

    study: Study
    signature: str
    which: Which
    origins: tuple[OriginRatings, ...]
    resumed: int
    work: WorkFolder = field(repr=False, compare=False)

    @property
    def rated(self) -> int:
        """References that the judge rated."""
        return sum(one.rated for one in self.origins)

    @property
    def kept(self) -> int:
        """References that kept the weight they had."""
        return sum(one.references - one.rated for one in self.origins)

    def table(self) -> Table:
        """The references of each origin, how many were rated, and how."""
        columns = (
            *map(Column, ("origin", "references", "rated")),
            Column("mean weight", ".3f"),
            Column("positive", ".1%"),
        )
        rows = [(o.origin, o.references, o.rated, o.mean, o.positive) for o in self.origins]
        notes = {}
        if self.kept:
            references = "reference" if self.kept == 1 else "references"
            kept = f"{self.kept:,} {references} had a weight before (--which all rates anew)"
            notes["kept"] = kept
        return Table(columns, rows, notes=notes, signatures={"judge": self.signature})

    def record(self) -> dict[str, Any]:
        """All but the study."""
        return {
            "items": len(self.study.items),
            "rated": self.rated,
            "kept": self.kept,
            "which": self.which,
            "origins": self.origins,
            "items_rated_before": self.resumed,
            "judge": self.signature,
        }


@dataclass(frozen=True, slots=True)
class RatingEvent:
    """Some items are done.

    Attributes
    ----------
    done, total : int
        Items, of all that there is something to rate of.
    items, references : int
        Those that were done now.
    seconds : float
        What they took.
    kept : bool
        Whether an earlier run had done them.
    """

    done: int
    total: int
    items: int
    references: int
    seconds: float
    kept: bool


def rate_study(
    study: Study,
    rater: Rater,
    *,
    which: Which = "unrated",
    batch: int = 256,
    work: Path | None = None,
    keep_work: bool = False,
    progress: Callable[[RatingEvent], None] | None = None,
) -> RatedStudy:
    """Rate the references of a study.

    Parameters
    ----------
    study : Study
        Its outputs and ratings come along.
    rater : Rater
        Such as `NNRater.load("judge.safetensors")`.
    which : {"unrated", "all"}
        Rate the references without a weight, or all of them anew.
    batch : int
        Items the judge sees at once.
    work : Path, optional
        A folder in which each finished batch is kept, so that the same call goes on after being
        killed. Batches of another judge or with other items are not used.
    keep_work : bool
        Leave it to the caller, who may want to write the study first.
    progress : callable, optional
        Called with what an earlier run had done, and then after every batch.
    """
    check_choice("which", which, get_args(Which))
    check_at_least("batch", batch, 1)
    check_kind("study", study, Study)
    signature = rater_signature(rater)
    asked = [
        AskedItem(place, item, positions)
        for place, item in enumerate(study.items)
        if (positions := places_to_rate(item, which))
    ]
    # A batch is what it would have been without an interruption, so that every bit is the same.
    batches = [asked[start : start + batch] for start in range(0, len(asked), batch)]
    kept = WorkFolder(work, fingerprint((signature, *(item.id for item in study.items))))
    with kept.worth_keeping():
        weights, resumed = _weights(rater, batches, RatedBatches(kept, signature), progress)
        items = list(study.items)
        for one, row in zip(asked, weights, strict=True):
            items[one.place] = one.with_weights(row, signature)
    if not keep_work:
        kept.end()
    return RatedStudy(
        replace(study, items=tuple(items)),
        signature,
        which,
        by_origin(study, asked, weights),
        resumed,
        kept,
    )


def _weights(
    rater: Rater,
    batches: Sequence[Sequence[AskedItem]],
    book: RatedBatches,
    progress: Callable[[RatingEvent], None] | None,
) -> tuple[list[tuple[float, ...]], int]:
    """The weights of all items, and of how many an earlier run had found them."""
    tell = progress or (lambda _: None)
    total = sum(map(len, batches))
    asked = [[(one.item, one.references) for one in some] for some in batches]
    found = [book.weights(some) for some in asked]
    before = [row for rows in found for row in rows or ()]
    done = len(before)
    tell(RatingEvent(done, total, done, sum(map(len, before)), 0.0, kept=True))
    for number, some in enumerate(asked):
        if found[number] is not None:
            continue
        started = time.monotonic()
        rows = rate_batch(rater, some)
        book.add(some, rows)
        found[number] = rows
        done += len(some)
        spent = time.monotonic() - started
        tell(RatingEvent(done, total, len(some), sum(map(len, rows)), spent, kept=False))
    return [row for rows in found for row in rows or ()], len(before)


@dataclass(frozen=True, slots=True)
class AskedItem:
    """An item and the positions of those of its references that are to be rated."""

    place: int
    item: Item
    positions: tuple[int, ...]

    @property
    def references(self) -> tuple[Reference, ...]:
        return tuple(self.item.references[position] for position in self.positions)

    def with_weights(self, weights: Sequence[float], signature: str) -> Item:
        """The item with the weights that a judge gave to these references."""
        references = list(self.item.references)
        for position, weight in zip(self.positions, weights, strict=True):
            references[position] = replace(references[position], weight=weight)
        origin = signature
        if len(self.positions) < len(references):
            before = str(self.item.meta.get(WEIGHTS_FROM, _BEFORE))
            origin = before if signature in before.split("+") else f"{before}+{signature}"
        meta = {**self.item.meta, WEIGHTS_FROM: origin}
        return replace(self.item, references=tuple(references), meta=meta)


def places_to_rate(item: Item, which: Which) -> tuple[int, ...]:
    """The positions of an item's references that a judge is asked about."""
    return tuple(
        position
        for position, one in enumerate(item.references)
        if which == "all" or one.weight is None
    )


def by_origin(
    study: Study, asked: Sequence[AskedItem], rated: Sequence[Sequence[float]]
) -> tuple[OriginRatings, ...]:
    """What became of the references of each origin."""
    counts: Counter[str] = Counter(one.origin for item in study.items for one in item.references)
    weights: dict[str, list[float]] = {origin: [] for origin in ORIGINS}
    for one, row in zip(asked, rated, strict=True):
        for reference, weight in zip(one.references, row, strict=True):
            weights[reference.origin].append(weight)
    return tuple(
        OriginRatings(
            origin,
            counts[origin],
            len(own),
            math.fsum(own) / len(own) if own else None,
            sum(weight > 0 for weight in own) / len(own) if own else None,
        )
        for origin, own in weights.items()
        if counts[origin]
    )
