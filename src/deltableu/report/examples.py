"""A few items as papers show them: references with weights, an output, its scores in [0, 1]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import cast

import numpy as np

from deltableu._types import Array
from deltableu.corpus import (
    Item,
    RatingTable,
    Reference,
    ReferenceSet,
    System,
    labelled,
    labelled_rows,
    says_simulated,
)
from deltableu.errors import InputError, hint_at
from deltableu.io import Cell, Column, Table, Tabular
from deltableu.rate import mean_ratings
from deltableu.report.cases import best_and_worst
from deltableu.report.explain import line
from deltableu.report.phrases import count
from deltableu.score import BLEU, DeltaBLEU

#: References that are shown of each item besides the original and parrots: the best and the worst.
SHOWN = 4
#: What systems that are people are called, in `systems.toml` or by name.
_HUMAN = "human"
_COLUMNS = (
    Column("item", group=True),
    Column("part"),
    Column("text", share=0.55, align="left", drop=1, room=8),
    Column("value", "signed", align="right"),
)
_SCORE = ".2f"


@dataclass(frozen=True, slots=True)
class OutputExample:
    """An item, its references with the weights that count, and one system's output.

    Attributes
    ----------
    item : str
    context : tuple of str
    message : str, optional
    original : Reference
        The first original one; of items that have none, the first of all.
    others, parrots : tuples of Reference
        All other references, and those that repeat the message, in the item's order.
    output : str
    scores : mapping of str to float
        In [0, 1], by name; what nobody knows is None.
    """

    item: str
    context: tuple[str, ...]
    message: str | None
    original: Reference
    others: tuple[Reference, ...]
    parrots: tuple[Reference, ...]
    output: str
    scores: Mapping[str, float | None]

    @property
    def shown(self) -> tuple[Reference, ...]:
        """The others that people see: the best and the worst."""
        return best_and_worst(self.others, SHOWN)

    @property
    def more(self) -> int:
        """How many others people do not see."""
        return len(self.others) - len(self.shown)


@dataclass(frozen=True, slots=True)
class OutputExamples(Tabular):
    """Examples of one system's outputs.

    Attributes
    ----------
    system : str
    examples : tuple of OutputExample
        From the best rated to the worst; without ratings, in the order of the items.
    chosen : mapping of str to str
        How items, and the system if nobody named it, were chosen.
    notes : mapping of str to str
        What each score is.
    signatures : mapping of str to str
    simulated : bool
        Whether simulated raters are behind a weight or a score.
    """

    system: str
    examples: tuple[OutputExample, ...]
    chosen: Mapping[str, str]
    notes: Mapping[str, str]
    signatures: Mapping[str, str]
    simulated: bool

    @property
    def weighted(self) -> bool:
        """Whether any reference has a weight."""
        found = (two for one in self.examples for two in (one.original, *one.others, *one.parrots))
        return any(one.weight is not None for one in found)

    @property
    def caption(self) -> str:
        """What the table holds."""
        return f"examples of {self.system}, scores from 0 to 1"

    def table(self) -> Table:
        """For people: the best and the worst references of each item, then the output's scores."""
        rows = (
            (one.item, part, line(text), Cell(value, form=form))
            for one in self.examples
            for part, _, text, value, form in _parts(one, one.shown)
        )
        value = {"value": "weight of a reference, or score of the output"}
        notes = {**value, **self.notes, **self.chosen}
        table = Table(_COLUMNS, rows, self.caption, notes, self.signatures)
        return labelled(table, self.simulated)

    def tidy_table(self) -> Table:
        """For programs: a row for each text and each score, with all references."""
        rows = (
            (self.system, one.item, part, id, text, value)
            for one in self.examples
            for part, id, text, value, _ in _parts(one, one.others)
        )
        columns = ("system", "item", "part", "id", "text", "value")
        return labelled_rows(Table(columns, rows, self.caption), self.simulated)


def chosen_examples(
    references: ReferenceSet,
    outputs: Mapping[str, Sequence[str]],
    metric: BLEU,
    *,
    number: int = 3,
    system: str | None = None,
    ratings: RatingTable | None = None,
    systems: Mapping[str, System] | None = None,
) -> OutputExamples:
    """Examples of a system's outputs over the whole range of what people think of them.

    Items are sorted by their mean ratings, ties in the order of the items, and cut into as many
    equal parts as there are to be examples; the middle item of each part is shown. No metric has a
    say in it. Where nobody rated the system's outputs, items stand in their own order.

    Parameters
    ----------
    references : ReferenceSet
        With its items.
    outputs : mapping of str to list of str
        The texts of each system.
    metric : BLEU
        A weighted one, such as delta-BLEU, is shown beside the same BLEU against the original
        reference alone and against all references; of plain BLEU there are only these two.
    number : int
        How many examples; where there are fewer items, all are shown.
    system : str, optional
        By default the best rated system that is not human, or without ratings the best scored one.
    ratings : RatingTable, optional
        Of the outputs, mapped to [-1, 1] by their scales.
    systems : mapping of str to System, optional
        What is said of each system; one without a type is human if that is its name.

    References
    ----------
    Tsuta et al. 2020, "uBLEU: Uncertainty-Aware Automatic Evaluation Method for Open-Domain
    Dialogue Systems", Table 4.

    Examples
    --------
    >>> from deltableu.corpus import reference_set
    >>> texts = (Reference("r0", "yes it is", 1.0), Reference("r1", "no it is", -0.5, "mined"))
    >>> items = [Item("1", texts), Item("2", texts)]
    >>> found = chosen_examples(
    ...     reference_set(items), {"A": ["no it is", "yes"]}, DeltaBLEU(), number=2
    ... )
    >>> [[round(score, 2) for score in one.scores.values()] for one in found.examples]
    [[0.58, 1.0, 0.35], [0.14, 0.14, 0.14]]
    """
    if references.items is None:
        raise InputError("examples need items, and these references are texts alone")
    if number < 1:
        raise InputError(f"the number of examples must be at least 1, got {number}")
    if system is not None and system not in outputs:
        there, meant = ", ".join(outputs), hint_at(system, tuple(outputs))
        raise InputError(f"there is no system {system!r}; there are {there}{meant}")
    # From here on nobody asks a judge again.
    references, settled = metric.settled(references)
    metric = cast(BLEU, settled)
    people = _human_scores(references, outputs, ratings)
    chosen = {}
    if system is None:
        system, why = _best_system(references, outputs, metric, people, systems or {})
        chosen["system"] = why
    rated = people.get(system, np.full(len(references), np.nan))
    places, chosen["items"] = _places(rated, number)
    scores: dict[str, Array] = {}
    notes, signatures = {}, {}
    simulated = ratings is not None and ratings.is_simulated
    if not np.isnan(rated).all():
        name = "simulated raters" if simulated else "human"
        scores[name] = rated
        notes[name] = "mean rating of the output, stretched from its scale to [0, 1]"
    for name, one, against, note in _measures(metric, references):
        rows = one.compute(outputs[system], against)
        scores[name] = rows.segment_scores() / 100.0
        notes[name], signatures[name] = note, str(rows.score().signature)
    weighted = isinstance(metric, DeltaBLEU)
    return OutputExamples(
        system,
        tuple(_example(references, place, outputs[system][place], scores) for place in places),
        chosen,
        notes,
        signatures,
        (simulated and "simulated raters" in scores)
        or (weighted and says_simulated(references.weights_from)),
    )


def _human_scores(
    references: ReferenceSet, outputs: Mapping[str, Sequence[str]], ratings: RatingTable | None
) -> dict[str, Array]:
    """Mean ratings of each system's outputs in [0, 1], NaN where there are none."""
    if ratings is None:
        return {}
    table = mean_ratings(ratings)
    means = dict(zip(table.systems, table.only("human"), strict=True))
    where = {item: place for place, item in enumerate(table.items)}
    places = [where.get(item, -1) for item in references.item_ids or ()]
    found = {}
    for name in outputs:
        if name in means:
            there = np.append(means[name], np.nan)[places]
            if not np.isnan(there).all():
                found[name] = (there + 1.0) / 2.0
    return found


def _best_system(
    references: ReferenceSet,
    outputs: Mapping[str, Sequence[str]],
    metric: BLEU,
    people: Mapping[str, Array],
    systems: Mapping[str, System],
) -> tuple[str, str]:
    """The best rated system, or else the best scored one, and in words that it is."""
    artificial = [name for name in outputs if not _is_human(name, systems)]
    names = artificial or list(outputs)
    which = "system that is not human" if artificial else "system"
    if rated := {name: float(np.nanmean(people[name])) for name in names if name in people}:
        return max(rated, key=lambda name: rated[name]), f"the best rated {which}"
    encoded = metric.encode(references)
    scored = {name: metric.statistics(outputs[name], encoded).score().score for name in names}
    best = max(scored, key=lambda name: scored[name])
    return best, f"the {which} with the best {metric.name}"


def _is_human(name: str, systems: Mapping[str, System]) -> bool:
    described = systems.get(name)
    kind = None if described is None else described.type
    return (kind or name).lower() == _HUMAN


def _places(rated: Array, number: int) -> tuple[list[int], str]:
    """Which items to show, and in words why these."""
    known = np.flatnonzero(~np.isnan(rated))
    order = known[np.argsort(-rated[known], kind="stable")] if len(known) else np.arange(len(rated))
    size = len(order)
    what = f"{count(size, 'item')}{' by their ratings, best first' if len(known) else ' in order'}"
    if number >= size:
        return order.tolist(), f"all of {what}"
    middles = [(2 * part + 1) * size // (2 * number) for part in range(number)]
    how = "the middle one" if number == 1 else f"the middle one of each of {number} equal parts"
    return order[middles].tolist(), f"{how} of {what}"


def _measures(
    metric: BLEU, references: ReferenceSet
) -> Iterable[tuple[str, BLEU, ReferenceSet, str]]:
    """BLEU against one reference, against all, and with their weights; what each is called."""
    # The weighted formula with all weights 1, or else columns would differ in more than references.
    settings = {one.name: getattr(metric, one.name) for one in fields(BLEU) if one.init}
    plain = BLEU(**settings | {"smooth": metric.smoothing})
    zero = ""
    if metric.combine == "geometric" and metric.smoothing == "none":
        zero = "; 0 where an order has no match"
    single = references.keep(references.single(), "single")
    note = f"the output by itself against the original reference alone, over 100{zero}"
    yield plain.name, plain, single, note
    note = "the same against all references, whatever their weights"
    yield f"{plain.name}-multi", plain, references, note
    if isinstance(metric, DeltaBLEU):
        note = "the same with the weights of the references"
        if metric.combine == "arithmetic":
            note += "; signed, so from -1 to 1, and stretched no further"
        yield metric.name, metric, references, note


def _example(
    references: ReferenceSet, place: int, output: str, scores: Mapping[str, Array]
) -> OutputExample:
    item: Item = (references.items or ())[place]
    weights = references.weights
    counted = tuple(
        replace(one, weight=None if weights is None else weights[place][number])
        for number, one in enumerate(item.references)
    )
    ((first,),) = references.take([place]).single()
    rest = [one for number, one in enumerate(counted) if number != first]
    values = {name: float(found[place]) for name, found in scores.items()}
    return OutputExample(
        item.id,
        item.context,
        item.message,
        counted[first],
        tuple(one for one in rest if one.origin != "parrot"),
        tuple(one for one in rest if one.origin == "parrot"),
        output,
        {name: None if np.isnan(value) else value for name, value in values.items()},
    )


def _parts(
    one: OutputExample, others: Sequence[Reference]
) -> Iterable[tuple[str, str, str, float | None, str | None]]:
    """What each row says: its part, a reference's id, the text, a weight or score and its form."""
    for turn in one.context:
        yield "context", "", turn, None, None
    if one.message is not None:
        yield "message", "", one.message, None, None
    for reference in (one.original, *others):
        yield reference.origin, reference.id, reference.text, reference.weight, None
    if len(others) < len(one.others):
        yield "", "", f"and {len(one.others) - len(others)} more", None, None
    for reference in one.parrots:
        yield reference.origin, reference.id, reference.text, reference.weight, None
    yield "output", "", one.output, None, None
    for name, score in one.scores.items():
        yield name, "", "", score, _SCORE
