"""Items in, the texts and weights that scoring takes out, narrowed to a reference setting."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from deltableu._types import Array, Ints
from deltableu.corpus.item_columns import LazyItems
from deltableu.corpus.rows import NumberRows, row_sizes
from deltableu.corpus.simulated import SIMULATED_RATERS
from deltableu.corpus.types import ORIGINS, Item, Study
from deltableu.errors import InputError, Problem, check_kind
from deltableu.io import number_text, shown

#: The key of an item's meta that says where its weights came from.
WEIGHTS_FROM = "weights_from"
#: Origins of references that nobody wrote for their item: many are bad.
_FOUND = ("mined", "parrot", "random")
#: Of weights counted from another one: differences of decimal fractions have no more.
_DIGITS = 12
_THRESHOLD = re.compile(r"w(?:>=|≥)([+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+))")


@dataclass(frozen=True, slots=True)
class ReferenceSet:
    """The references of each item and their weights, as scoring takes them.

    Parameters
    ----------
    texts
        The references of each item.
    weights
        The same shape, None where a reference is not rated; or None when nothing is weighted.
    selection
        Which references these are: "all", "single" or "w>=T".
    weights_from
        Where the weights came from; a signature shows it.
    item_ids
        The items' ids, for messages; None when items have no ids.
    originals
        The position of the original reference of each item; None is the first of each.
    messages
        What each item answers, for the metrics that look at it.
    items
        The items themselves, each with exactly the references that `texts` has, for raters;
        None where there are only texts. Their weights may be older than `weights`, which count.
    neutral
        The weight that was taken off all weights, as that of a reference neither good nor bad;
        None where they are as they were given.

    Examples
    --------
    >>> many = ReferenceSet((("yes", "sure", "no"),), ((1.0, 0.7, -0.8),))
    >>> many.select("w>=0.6").texts
    (('yes', 'sure'),)
    >>> many.select("single").texts
    (('yes',),)
    """

    texts: Sequence[Sequence[str]]
    weights: Sequence[Sequence[float | None]] | None = None
    selection: str = "all"
    weights_from: str = "given"
    item_ids: Sequence[str] | None = None
    originals: Sequence[int] | None = None
    messages: Sequence[str | None] | None = None
    items: Sequence[Item] | None = field(default=None, repr=False, hash=False)
    neutral: float | None = None

    def __post_init__(self) -> None:
        for name in ("weights", "item_ids", "originals", "messages", "items"):
            given = getattr(self, name)
            if given is not None and len(given) != len(self.texts):
                message = f"there are {len(given)} entries, but {len(self.texts)} items"
                raise InputError(Problem(message, field=name))
        sizes = row_sizes(self.texts)
        if self.weights is not None and not np.array_equal(row_sizes(self.weights), sizes):
            self._complain_of_weights(sizes.tolist())
        if self.originals is not None:
            originals = np.asarray(self.originals)
            wrong = (originals < 0) | (originals >= np.maximum(sizes, 1))
            if wrong.any():
                index = int(np.argmax(wrong))
                message = f"there is no reference number {self.originals[index]}"
                problem = Problem(message, item=self.item_name(index), field="originals")
                raise InputError(problem)

    def _complain_of_weights(self, sizes: list[int]) -> None:
        for index, (weights, size) in enumerate(zip(self.weights or (), sizes, strict=True)):
            if len(weights) != size:
                message = f"there are {len(weights)} weights, but {size} references"
                problem = Problem(message, item=self.item_name(index), field="weights")
                raise InputError(problem)

    def __len__(self) -> int:
        return len(self.texts)

    @property
    def bounds(self) -> Ints:
        """Where item i begins and ends, at [i] and [i + 1], in one list of all references."""
        return np.concatenate(([0], np.cumsum(row_sizes(self.texts))))

    @property
    def flat_weights(self) -> Array:
        """The weights of all references in one list; NaN where a reference is not rated."""
        if isinstance(self.weights, NumberRows):
            return self.weights.numbers
        rows = self.weights or ()
        return np.array([np.nan if one is None else one for row in rows for one in row])

    def item_name(self, index: int) -> str:
        """What messages call an item: its id, or its index."""
        return str(index) if self.item_ids is None else self.item_ids[index]

    def _original(self, index: int) -> int:
        return 0 if self.originals is None else self.originals[index]

    def select(self, setting: str) -> ReferenceSet:
        """Narrow to one of the reference settings of Galley et al. (2015), section 5.

        Parameters
        ----------
        setting
            "single" keeps the original reference of each item; "w>=T", such as "w>=0.6", keeps
            the references of at least that weight, and always the original; "all" keeps all.

        References
        ----------
        Galley et al. 2015, deltaBLEU: A Discriminative Metric for Generation Tasks with
        Intrinsically Diverse Targets.
        """
        check_kind("the setting", setting, str)
        wanted = setting.replace(" ", "")
        threshold = _THRESHOLD.fullmatch(wanted)
        if threshold is not None:
            wanted = f"w>={number_text(float(threshold[1]))}"
        elif wanted not in ("all", "single"):
            message = f"must be single, all or a threshold such as w>=0.6, got {shown(setting)}"
            raise InputError(Problem(message, field="references"))
        if wanted == self.selection:
            return self
        if self.selection != "all":
            message = f"cannot choose {wanted}: only {self.selection} is left, so start from all"
            raise InputError(Problem(message, field="references"))
        if threshold is not None:
            return self.keep(self.at_least(float(threshold[1])), wanted)
        return self.keep(self.single(), wanted)

    def single(self) -> list[tuple[int, ...]]:
        """Position of the original reference of each item."""
        return [(self._original(index),) for index in range(len(self))]

    def at_least(self, threshold: float) -> list[tuple[int, ...]]:
        """Positions of each item's references of at least this weight, and of its original."""
        if not -1 <= threshold <= 1:
            message = f"the threshold must lie in [-1, 1], got {number_text(threshold)}"
            raise InputError(Problem(message, field="references"))
        if self.weights is None:
            message = "a threshold needs weights, but no reference is rated"
            raise InputError(Problem(message, field="references"))
        kept = []
        for index, weights in enumerate(self.weights):
            original = self._original(index)
            chosen = []
            for position, weight in enumerate(weights):
                if weight is None and position != original:
                    message = f"reference number {position + 1} is not rated: rate it first"
                    raise InputError(Problem(message, item=self.item_name(index)))
                if position == original or (weight is not None and weight >= threshold):
                    chosen.append(position)
            kept.append(tuple(chosen))
        return kept

    def keep(self, positions: Sequence[Sequence[int]], selection: str) -> ReferenceSet:
        """Some references of each item, by position.

        Where the original is not among them, the first stands for it. `selection` is what the
        setting is called.
        """
        for index, texts in enumerate(self.texts):
            if not texts:
                raise InputError(Problem("has no reference", item=self.item_name(index)))
        chosen = list(enumerate(positions))
        return replace(
            self,
            texts=tuple(tuple(self.texts[i][j] for j in kept) for i, kept in chosen),
            weights=None
            if self.weights is None
            else tuple(tuple(self.weights[i][j] for j in kept) for i, kept in chosen),
            selection=selection,
            originals=tuple(
                kept.index(self._original(i)) if self._original(i) in kept else 0
                for i, kept in chosen
            ),
            items=None
            if self.items is None
            else tuple(_with_references(self.items[i], kept) for i, kept in chosen),
        )

    def counted_from(self, neutral: float) -> ReferenceSet:
        """Weights counted from a neutral one: w - neutral, cut to [-1, 1]; done once only.

        Those below it become negative, and those at it 0.

        Examples
        --------
        >>> ReferenceSet([["a", "b", "c"]], [[1.0, 0.25, -0.5]]).counted_from(0.25).weights
        ((0.75, 0.0, -0.75),)
        """
        if self.weights is None or self.neutral is not None or neutral == 0.0:
            return self
        return replace(
            self,
            weights=tuple(
                tuple(None if one is None else counted_weight(one, neutral) for one in row)
                for row in self.weights
            ),
            weights_from=f"{self.weights_from},neutral={number_text(neutral)}",
            neutral=neutral,
        )

    def without_positive(self) -> tuple[int, ...]:
        """The positions of the items none of whose references has a weight above 0."""
        if self.weights is None:
            return ()
        return tuple(
            index
            for index, weights in enumerate(self.weights)
            if not any(weight is not None and weight > 0 for weight in weights)
        )

    def take(self, indices: Iterable[int]) -> ReferenceSet:
        """The references of some items, in the order asked for."""
        chosen = [int(index) for index in indices]
        return replace(
            self,
            texts=tuple(self.texts[i] for i in chosen),
            weights=None if self.weights is None else tuple(self.weights[i] for i in chosen),
            item_ids=None if self.item_ids is None else tuple(self.item_ids[i] for i in chosen),
            originals=None if self.originals is None else tuple(self.originals[i] for i in chosen),
            messages=None if self.messages is None else tuple(self.messages[i] for i in chosen),
            items=None if self.items is None else tuple(self.items[i] for i in chosen),
        )


def reference_set(source: Study | Iterable[Item], selection: str = "all") -> ReferenceSet:
    """The references of a study or of items; weights are None when no reference is rated.

    Where every item says under `weights_from` in its `meta` that the same rater gave the weights,
    as `deltableu judge apply` writes it, signatures will name that judge.

    Examples
    --------
    >>> from deltableu.corpus import Reference
    >>> reference_set([Item("1", (Reference("r0", "yes"),))]).texts
    (('yes',),)
    """
    given = source.items if isinstance(source, Study) else source
    if isinstance(given, LazyItems):
        return _of_columns(given).select(selection)
    items = tuple(given)
    for number, item in enumerate(items):
        check_kind(f"item {number}", item, Item)
    weights = tuple(tuple(one.weight for one in item.references) for item in items)
    rated = any(weight is not None for row in weights for weight in row)
    everything = ReferenceSet(
        texts=tuple(tuple(one.text for one in item.references) for item in items),
        weights=weights if rated else None,
        weights_from=_weights_from([item.meta for item in items]),
        item_ids=tuple(item.id for item in items),
        originals=tuple(_first_original(item) for item in items),
        messages=tuple(item.message for item in items),
        items=items,
    )
    return everything.select(selection)


def _of_columns(items: LazyItems) -> ReferenceSet:
    columns = items.columns
    return ReferenceSet(
        texts=columns.texts,
        weights=None if np.isnan(columns.weights.numbers).all() else columns.weights,
        weights_from=_weights_from(columns.metas or [{}]),
        item_ids=columns.ids,
        originals=columns.originals.tolist(),
        messages=columns.messages,
        items=items,
    )


def _first_original(item: Item) -> int:
    origins = (i for i, reference in enumerate(item.references) if reference.origin == "original")
    return next(origins, 0)


def unrated_finds(references: ReferenceSet) -> dict[str, int]:
    """How many references of each origin were found, not written for their item, and not rated.

    Examples
    --------
    >>> from deltableu.corpus import Reference
    >>> found = Item("1", (Reference("r0", "yes"), Reference("m1", "no", origin="mined")))
    >>> unrated_finds(reference_set([found]))
    {'mined': 1}
    """
    if references.items is None:
        return {}
    if references.weights is not None and not np.isnan(references.flat_weights).any():
        return {}
    if isinstance(references.items, LazyItems):
        columns = references.items.columns
        if columns.origins is None:
            return {}
        unrated = columns.origins[np.isnan(columns.weights.numbers)].tolist()
        found = Counter(ORIGINS[one] for one in unrated if one >= 0)
    else:
        found = Counter(
            one.origin for item in references.items for one in item.references if one.weight is None
        )
    return {origin: found[origin] for origin in _FOUND if found[origin]}


def weights_label(text: str) -> str:
    """A text as the part of a signature that says where weights came from.

    Examples
    --------
    >>> weights_label("nn-rater:3f2a,max"), weights_label("my rater|2")
    ('nn-rater:3f2a,max', 'my_rater_2')
    """
    # A bar would end the part, and a signature stays on one line.
    return "".join("_" if one in "| " or not one.isprintable() else one for one in text)


def _weights_from(metas: Sequence[Mapping[str, object]]) -> str:
    said = [meta.get(WEIGHTS_FROM) for meta in metas]
    first = said[0] if said else None
    if isinstance(first, str) and first and all(one == first for one in said):
        return weights_label(first)
    # Where some items have other weights, simulated ones must not go unsaid.
    if any(isinstance(one, str) and SIMULATED_RATERS in one for one in said):
        return f"items+{SIMULATED_RATERS}"
    return "items"


def counted_weight(weight: float, neutral: float) -> float:
    """A weight counted from the neutral one, cut to [-1, 1]; equal ones become exactly 0.

    Examples
    --------
    >>> counted_weight(0.1 + 0.2, 0.3), counted_weight(-0.8, 0.3)
    (0.0, -1.0)
    """
    return min(max(round(weight - neutral, _DIGITS), -1.0), 1.0)


def _with_references(item: Item, kept: Sequence[int]) -> Item:
    if len(kept) == len(item.references):
        return item
    return replace(item, references=tuple(item.references[place] for place in kept))
