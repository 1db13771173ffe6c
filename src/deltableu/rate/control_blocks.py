"""Texts to be rated in; sets of blocks with control items among them, as raters get them, out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np

from deltableu.corpus import Kind
from deltableu.errors import InputError, check_at_least
from deltableu.rate.degraded import PhrasePool


@dataclass(frozen=True, slots=True)
class RatedText:
    """One text that people are to rate.

    Attributes
    ----------
    item : str
        What the text is an answer to.
    text : str
    reference : str, optional
        The original reference of the item.
    """

    item: str
    text: str
    reference: str | None = None


@dataclass(frozen=True, slots=True)
class ControlledItem:
    """A text as a rater sees it.

    Attributes
    ----------
    kind : {"item", "bad-reference", "repeat", "reference"}
        The text itself, a degraded copy of it, the text once more, or its reference.
    original : int
        Place of the text among those given.
    text : str
    """

    kind: Kind
    original: int
    text: str


@dataclass(frozen=True, slots=True)
class ControlledSet:
    """What one rater rates in one go; repeats and copies are of texts of the same set."""

    blocks: tuple[tuple[ControlledItem, ...], ...]

    @property
    def items(self) -> tuple[ControlledItem, ...]:
        """All of it in the order of rating."""
        return tuple(one for block in self.blocks for one in block)


@dataclass(frozen=True, slots=True, kw_only=True)
class BlockPlan:
    """How texts and control items are mixed; by default as Direct Assessment publishes it.

    Attributes
    ----------
    blocks : int
        Most blocks of a set.
    outputs : int
        Most texts of a block, beside its control items.
    bad_references, repeats, references : int
        Control items of a block: degraded copies, exact repeats and original references.
    distance : int
        How many blocks away the texts stand that control items are made of.
    """

    blocks: int = 10
    outputs: int = 7
    bad_references: int = 1
    repeats: int = 1
    references: int = 1
    distance: int = 5

    def __post_init__(self) -> None:
        for name, least in (("blocks", 1), ("outputs", 1), ("distance", 0)):
            check_at_least(name, getattr(self, name), least)
        for name in ("bad_references", "repeats", "references"):
            check_at_least(name, getattr(self, name), 0)
            if getattr(self, name) > self.outputs:
                raise InputError(
                    f"{name} must not be more than the {self.outputs} outputs of a block, got "
                    f"{getattr(self, name)}"
                )

    @property
    def size(self) -> int:
        """Number of ratings of a full set."""
        controls = self.bad_references + self.repeats + self.references
        return self.blocks * (self.outputs + controls)


def control_blocks(
    texts: Sequence[RatedText],
    plan: BlockPlan | None = None,
    *,
    rng: np.random.Generator | int = 0,
) -> tuple[ControlledSet, ...]:
    """Mix control items among texts.

    Texts are shuffled and cut into blocks. Each block gets a degraded copy, an exact repeat and an
    original reference of three texts of the block `distance` away in its set, and is then shuffled
    itself: a text and its copy are never close to each other. Where texts fill no whole number of
    sets, sets differ by one block at most, and blocks by one text, so that no rater gets a remnant
    of mostly control items; a set of fewer blocks than twice the distance takes those half of it
    away, and a set of one block its own texts. (The published script fills up with texts that were
    dealt out before, which a small campaign's rater would meet again and again.)

    A text that cannot be degraded, has no reference, or is its own reference, is passed over for
    another of its block; a block whose texts are all like this lacks that control item.

    Parameters
    ----------
    texts
    plan
    rng

    References
    ----------
    Graham, Baldwin, Moffat and Zobel 2017, "Can machine translation systems be evaluated by the
    crowd alone", Natural Language Engineering 23(1).

    Examples
    --------
    >>> texts = [RatedText(str(n), f"number {n} is here", f"it is {n}") for n in range(70)]
    >>> made, = control_blocks(texts)
    >>> len(made.blocks), len(made.items)
    (10, 100)
    >>> from collections import Counter
    >>> sorted(Counter(one.kind for one in made.blocks[0]).items())
    [('bad-reference', 1), ('item', 7), ('reference', 1), ('repeat', 1)]
    """
    chosen = plan or BlockPlan()
    if not texts:
        raise InputError("there is no text to rate")
    generator = np.random.default_rng(rng)
    order = generator.permutation(len(texts))
    blocks = np.array_split(order, math.ceil(len(texts) / chosen.outputs))
    cuts = np.array_split(np.arange(len(blocks)), math.ceil(len(blocks) / chosen.blocks))
    pool = PhrasePool([one.text for one in texts], [one.item for one in texts])
    mixer = _Mixer(texts, pool, chosen, generator)
    return tuple(
        ControlledSet(mixer.mixed([blocks[place].tolist() for place in cut.tolist()]))
        for cut in cuts
    )


@dataclass(frozen=True, slots=True)
class _Mixer:
    texts: Sequence[RatedText]
    pool: PhrasePool
    plan: BlockPlan
    generator: np.random.Generator

    def mixed(self, blocks: Sequence[list[int]]) -> tuple[tuple[ControlledItem, ...], ...]:
        """The blocks of one set, with control items."""
        away = min(self.plan.distance, len(blocks) // 2)
        made = []
        for place, block in enumerate(blocks):
            items = [ControlledItem("item", one, self.texts[one].text) for one in block]
            items += self._controls(blocks[(place + away) % len(blocks)])
            order = self.generator.permutation(len(items))
            made.append(tuple(items[one] for one in order.tolist()))
        return tuple(made)

    def _controls(self, source: Sequence[int]) -> list[ControlledItem]:
        """Control items of different texts, as far as there are enough."""
        order = [source[place] for place in self.generator.permutation(len(source)).tolist()]
        found: list[ControlledItem] = []
        kinds: tuple[tuple[Kind, int], ...] = (
            ("bad-reference", self.plan.bad_references),
            ("repeat", self.plan.repeats),
            ("reference", self.plan.references),
        )
        for kind, count in kinds:
            taken = {one.original for one in found}
            # Those that nothing was made of yet come first.
            candidates = sorted(order, key=taken.__contains__)
            made = (self._control(kind, one) for one in candidates)
            found += islice(filter(None, made), count)
        return found

    def _control(self, kind: Kind, place: int) -> ControlledItem | None:
        one = self.texts[place]
        text: str | None = one.text
        if kind == "bad-reference":
            text = self.pool.degrade(place, self.generator)
        elif kind == "reference":
            text = None if one.reference is None else one.reference.strip()
            text = None if text == one.text.strip() else text
        return ControlledItem(kind, place, text) if text else None
