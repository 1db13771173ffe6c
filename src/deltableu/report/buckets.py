"""Items in; scores of each system by kind of item (length, rare words, a field of meta) out.

After compare-mt (Neubig et al. 2019), which showed that a table by buckets tells more about two
systems than another corpus score.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from deltableu._types import Ints
from deltableu.corpus import Item, meta_value
from deltableu.io import Cell, Column, Table, mark_best
from deltableu.score import IntervalPlan, Scoring
from deltableu.stats import group_numbers

#: Buckets that numbers are cut into, and values of a field that are shown by themselves.
_CUTS = 4
_VALUES = 8


@dataclass(frozen=True, slots=True)
class Bucketing:
    """One way to put items into buckets; `places` says into which each item goes."""

    name: str
    labels: tuple[str, ...]
    places: Ints

    def __len__(self) -> int:
        return len(self.labels)


def bucketings(items: Sequence[Item], fields: Sequence[str] = ()) -> tuple[Bucketing, ...]:
    """The usual ways to cut these items, and one for each field of their meta that is named.

    A way that puts all items into one bucket says nothing and is left out, unless it was named.

    Examples
    --------
    >>> from deltableu.corpus import Reference
    >>> items = [Item(str(n), (Reference("r0", "a " * n),)) for n in (1, 2, 9)]
    >>> [(one.name, one.labels) for one in bucketings(items)]
    [('words in the reference', ('1', '2', '9'))]
    """
    texts = [item.references[0].text if item.references else "" for item in items]
    messages = [item.message for item in items]
    found = []
    if all(message is not None for message in messages):
        found.append(_by_length("message", [message or "" for message in messages]))
    found.append(_by_length("reference", texts))
    rarest = "items that share the reference's rarest word"
    found.append(_by_number(rarest, _rarest_words(texts)))
    found.append(_by_number("number of references", [len(item.references) for item in items]))
    wanted = [_by_field(items, field) for field in dict.fromkeys(fields)]
    return (*wanted, *(one for one in found if len(one) > 1))


def bucket_table(
    scoring: Scoring, metric: str, bucketing: Bucketing, *, confidence: float = 0.95
) -> Table:
    """Systems in rows, buckets in columns: scores with their intervals, the best in bold."""
    plan = IntervalPlan(confidence=confidence)
    shown = scoring.only(metric).scores
    groups = None if scoring.groups is None else np.array(scoring.groups)
    columns: list[str | Column] = ["system"]
    cells: list[list[Cell]] = []
    for place, label in enumerate(bucketing.labels):
        members = bucketing.places == place
        size = int(members.sum())
        columns.append(Column(f"{label} ({size} item{'s' * (size != 1)})", ".2f"))
        column = []
        for scored in shown:
            rows = scored.rows[members]
            units = (
                rows if groups is None else rows.grouped(group_numbers(groups[members].tolist()))
            )
            interval = plan.interval(units) if size > 1 else None
            column.append(Cell(rows.score().score, interval))
        cells.append(mark_best(column, higher_is_better=shown[0].rows.metric.higher_is_better))
    names = [scored.system for scored in shown]
    return Table(columns, zip(names, *cells, strict=True), caption=bucketing.name)


def _by_length(what: str, texts: Sequence[str]) -> Bucketing:
    words = [len(text.split()) for text in texts]
    if float(np.median(words)) > 1.0:
        return _by_number(f"words in the {what}", words)
    # Chinese and Japanese are written without spaces.
    return _by_number(f"characters in the {what}", [len(text) for text in texts])


def _rarest_words(texts: Sequence[str]) -> list[int]:
    """In how many items' texts the rarest word of each text stands."""
    words = [set(text.casefold().split()) for text in texts]
    frequency = Counter(word for one in words for word in one)
    return [min((frequency[word] for word in one), default=0) for one in words]


def _by_number(name: str, values: Sequence[float]) -> Bucketing:
    """Buckets of about equal size; every value goes whole into one of them."""
    numbers = np.asarray(values, dtype=np.float64)
    different = np.unique(numbers)
    if len(different) <= _CUTS:
        firsts = different
    else:
        cuts = np.quantile(numbers, np.arange(1, _CUTS) / _CUTS, method="higher")
        firsts = np.unique([different[0], *cuts])
    places = np.searchsorted(firsts, numbers, side="right") - 1
    labels = []
    for place in range(len(firsts)):
        inside = numbers[places == place]
        low, high = f"{inside.min():g}", f"{inside.max():g}"
        labels.append(low if low == high else f"{low} to {high}")
    return Bucketing(name, tuple(labels), places)


def _by_field(items: Sequence[Item], field: str) -> Bucketing:
    values = [meta_value(item, field, "make buckets of", "a bucket") for item in items]
    numeric = all(isinstance(one, int | float) and not isinstance(one, bool) for one in values)
    if numeric and len(set(values)) > _CUTS:
        return _by_number(field, [float(str(one)) for one in values])
    texts = [str(one) for one in values]
    counts = Counter(texts)
    common = [name for name, _ in counts.most_common(_VALUES)]
    if len(counts) <= _VALUES:
        labels = tuple(sorted(counts))
    else:
        labels = (*sorted(common), f"{len(counts) - len(common)} other values")
    number = {name: place for place, name in enumerate(labels)}
    last = len(labels) - 1
    return Bucketing(field, labels, np.array([number.get(text, last) for text in texts]))
