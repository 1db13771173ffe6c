"""N-best lists in files: Moses' form or JSON Lines in, checked lists out, and back."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from operator import itemgetter
from typing import Any, NoReturn, TypeAlias

import numpy as np

from deltableu.corpus.nbest_lists import NBestLists
from deltableu.corpus.outputs import line_text
from deltableu.errors import InputError, Problem
from deltableu.io import (
    Checker,
    PathLike,
    as_number,
    fail,
    file_form,
    file_name,
    filled_lines,
    read_lines,
    read_records,
    shown,
    write_lines,
    write_records,
)

_SEPARATOR = "|||"
_FIELDS = ("id", "text", "features", "total")

#: A line's number, its id, text, names and values of its features, and its total.
_Candidate: TypeAlias = tuple[int, str, str, "_Features", float | None]
_Features: TypeAlias = tuple[tuple[str, ...], Sequence[float]]


def read_nbest(
    path: PathLike,
    *,
    item_ids: Sequence[str] | None = None,
    complete: bool = True,
    allow_empty: bool = False,
    samples: bool = False,
) -> NBestLists:
    """Read what a system considered for each item.

    Parameters
    ----------
    path
        `.jsonl` with `{"id", "text", "features": {name: value}, "total"}` per line; any other name
        is Moses' form, `id ||| text ||| name= value ... ||| total`. A name followed by several
        values stands for as many features: `TM= -3 -4` is `TM_1` and `TM_2`. The total may be left
        out, by all lines. Either may be packed as `.gz`.
    item_ids
        The ids of the items, in order. The id of the first line says which ids a file has: the
        items' own, or their numbers from 0. Without `item_ids`, a file that starts with 0 has
        numbers, others have ids of their own.
    complete
        Whether every one of these items must have candidates, in their order. If not, lists by ids
        may be of some of them, in any order; lists by numbers are always of all.
    allow_empty
        Whether a candidate may have an empty text. By default it is an error: it is far more often
        a text that was lost on the way than an answer that a system considered.
    samples
        Whether candidates may be texts without features, as samples of a model are: in Moses' form
        `id ||| text`.

    Returns
    -------
    NBestLists
        Items in the order given, candidates in that of the file.
    """
    name = file_name(path)
    read = _read_json if file_form(path) == "jsonl" else _read_moses
    found = read(path, name, samples)
    builder = _Builder(name, _Order(name, item_ids, complete), allow_empty)
    for candidate in found:
        builder.add(*candidate)
    return builder.lists()


class _Builder:
    """Puts candidates behind each other, and stops at the first that does not fit."""

    def __init__(self, name: str, order: _Order, allow_empty: bool) -> None:
        self.name = name
        self.order = order
        self.allow_empty = allow_empty
        self.bounds: list[int] = []
        self.texts: list[str] = []
        self.names: tuple[str, ...] = ()
        self.values = array("d")
        self.totals = array("d")
        self.id: str | None = None

    def add(self, line: int, id: str, text: str, features: _Features, total: float | None) -> None:
        if id != self.id:
            self.order.begin(id, line)
            self.bounds.append(len(self.texts))
            self.id = id
        if not text and not self.allow_empty:
            message = "the candidate has no text: remove it, or allow empty candidates"
            self._complain(line, "text", message)
        names, values = features
        if not self.texts:
            self.names = names
        elif names is not self.names and names != self.names:
            self._complain(line, "features", _other_names(names, self.names))
        if self.texts and (total is None) == bool(self.totals):
            lost = "is missing, but earlier lines have one"
            new = "is here, but earlier lines have none"
            self._complain(line, "total", lost if total is None else new)
        self.texts.append(text)
        self.values.extend(values)
        if total is not None:
            self.totals.append(total)

    def _complain(self, line: int, field: str, message: str) -> NoReturn:
        raise InputError(Problem(message, self.name, line, field, self.id))

    def lists(self) -> NBestLists:
        if not self.texts:
            raise InputError(Problem("holds no candidates", file=self.name))
        item_ids = self.order.end()
        features = np.array(self.values, dtype=np.float64).reshape(len(self.texts), -1)
        return NBestLists(
            item_ids,
            np.array([*self.bounds, len(self.texts)], dtype=np.int64),
            tuple(self.texts),
            self.names,
            features,
            np.array(self.totals, dtype=np.float64) if len(self.totals) else None,
        )


def _other_names(names: Sequence[str], wanted: Sequence[str]) -> str:
    lost = [name for name in wanted if name not in names]
    new = [name for name in names if name not in wanted]
    if lost:
        return f"{lost[0]} is missing, which earlier lines have"
    if new:
        return f"{new[0]} is here, which earlier lines lack"
    return f"must be in the order of earlier lines: {', '.join(wanted)}"


class _Order:
    """Checks that the candidates of each item stand together, and items in order."""

    def __init__(self, name: str, item_ids: Sequence[str] | None, complete: bool) -> None:
        self.name = name
        self.item_ids = item_ids
        self.complete = complete
        self.numbered = False
        self.places: dict[str, int] = {}
        #: The line on which each item's candidates begin.
        self.begun: dict[str, int] = {}

    def begin(self, id: str, line: int) -> None:
        if not self.begun:
            self._decide(id, line)
        if id in self.begun:
            message = "the candidates of an item must stand together: others stand on line {}"
            self._complain(id, line, message.format(self.begun[id]))
        place = len(self.begun)
        if self.numbered or self.item_ids is not None:
            self._check(id, line, place)
        self.begun[id] = line

    def _decide(self, id: str, line: int) -> None:
        if self.item_ids is None:
            self.numbered = id == "0"
            return
        ids = self.item_ids
        self.numbered = id == "0" and "0" not in ids
        known = map(str, range(len(ids))) if self.numbered else ids
        self.places = {one: place for place, one in enumerate(known)}
        if id not in self.places:
            message = "there is no item with this id"
            if self.complete and ids:
                message += f"; the first id must be that of the first item, {shown(ids[0])}, or 0"
            self._complain(id, line, message)

    def _check(self, id: str, line: int, place: int) -> None:
        if self.item_ids is None:
            found = int(id) if id.isascii() and id.isdecimal() and id == str(int(id)) else -1
        else:
            found = self.places.get(id, -1)
        if found < 0:
            wanted = "a number, as that of the first line is" if self.numbered else "an item's id"
            many = "" if self.item_ids is None else f"; there are {len(self.item_ids)} items"
            self._complain(id, line, f"must be {wanted}{many}")
        if self._free():
            return
        if found > place:
            lost = str(place) if self.item_ids is None or self.numbered else self.item_ids[place]
            self._complain(id, line, f"item {shown(lost)} has no candidates before this line")
        if found < place:
            self._complain(id, line, "is out of order: an earlier line has a later item")

    def _free(self) -> bool:
        """Whether items may be missing, and stand in any order."""
        return not self.complete and not self.numbered

    def _complain(self, id: str, line: int, message: str) -> NoReturn:
        raise InputError(Problem(message, self.name, line, "id", id))

    def end(self) -> tuple[str, ...]:
        if self.item_ids is None or self._free():
            return tuple(self.begun)
        if lost := self.item_ids[len(self.begun) :]:
            rest = f" and {len(lost) - 1} more items have" if len(lost) > 1 else " has"
            raise InputError(Problem(f"item {shown(lost[0])}{rest} no candidates", self.name))
        return tuple(self.item_ids)


def _read_moses(path: PathLike, name: str, samples: bool) -> Iterator[_Candidate]:
    parse: _Pattern | None = None
    for line, text in filled_lines(read_lines(path), name, fail):
        fields = text.split(_SEPARATOR)
        if not (2 if samples else 3) <= len(fields) <= 4:
            many = "2 to 4" if samples else "3 or 4"
            message = f"must have {many} fields (id ||| text ||| features ||| total)"
            raise InputError(Problem(f"{message}, got {len(fields)}", name, line))
        id = fields[0].strip()
        if not id:
            raise InputError(Problem("must not be empty", name, line, "id"))
        tokens = fields[2].split() if len(fields) > 2 else []
        features = None if parse is None else parse(tokens)
        if samples and not tokens:
            features = _NONE
        elif features is None:
            # A first line, or one that is wrong, or differs: here the time does not matter.
            features, parse = _spell_out(tokens, name, line, id)
        total = None
        if len(fields) == 4:
            total = _number(fields[3].strip(), "total", name, line, id)
        yield line, id, fields[1].strip(), features, total


#: What samples have.
_NONE: _Features = ((), ())

_Pattern: TypeAlias = Callable[[list[str]], "_Features | None"]


def _spell_out(tokens: list[str], name: str, line: int, id: str) -> tuple[_Features, _Pattern]:
    """The features of a line, and how to read others that look the same fast."""
    if not tokens:
        raise InputError(Problem("there are no features", name, line, "features", id))
    if not tokens[0].endswith("="):
        message = f"must begin with a name and an equals sign (LM= -1.5), got {shown(tokens[0])}"
        raise InputError(Problem(message, name, line, "features", id))
    groups: list[tuple[str, list[float]]] = []
    for token in tokens:
        if token.endswith("="):
            groups.append((token[:-1], []))
            if not groups[-1][0]:
                raise InputError(Problem("a name is empty", name, line, "features", id))
        else:
            groups[-1][1].append(_number(token, groups[-1][0], name, line, id))
    names: list[str] = []
    for label, values in groups:
        if not values:
            raise InputError(Problem("has no value", name, line, label, id))
        names += _value_names(label, len(values))
    for place, one in enumerate(names):
        if one in names[:place]:
            message = f"the name {shown(one)} is there twice"
            raise InputError(Problem(message, name, line, "features", id))
    features = tuple(names), [value for _, values in groups for value in values]
    return features, _pattern(tokens, features[0])


def _value_names(label: str, values: int) -> list[str]:
    """What the values behind one label are called."""
    return [label] if values == 1 else [f"{label}_{number}" for number in range(1, values + 1)]


def _pattern(tokens: list[str], names: tuple[str, ...]) -> _Pattern:
    labelled = [place for place, token in enumerate(tokens) if token.endswith("=")]
    valued = [place for place, token in enumerate(tokens) if not token.endswith("=")]
    labels_of, values_of = _getter(labelled), _getter(valued)
    labels, count = labels_of(tokens), len(tokens)

    def parse(tokens: list[str]) -> _Features | None:
        if len(tokens) != count or labels_of(tokens) != labels:
            return None
        values = values_of(tokens)
        text = " ".join(values)
        # float() reads more than numbers of files: 1_000, nan, inf and digits of other scripts.
        if not text.isascii() or "_" in text or "n" in text or "N" in text:
            return None
        try:
            numbers = tuple(map(float, values))
        except ValueError:
            return None
        return None if np.inf in numbers or -np.inf in numbers else (names, numbers)

    return parse


def _getter(places: list[int]) -> Callable[[list[str]], tuple[str, ...]]:
    found: Any = itemgetter(*places)
    return found if len(places) > 1 else lambda tokens: (found(tokens),)


def _number(text: str, field: str, name: str, line: int, id: str) -> float:
    value = as_number(text)
    if isinstance(value, str) or not np.isfinite(number := _float(value)):
        message = f"must be a finite number, got {shown(text)}"
        raise InputError(Problem(message, name, line, field, id))
    return number


def _float(value: Any) -> float:
    try:
        return float(value)
    except OverflowError:
        return float("inf")


def _read_json(path: PathLike, name: str, samples: bool) -> Iterator[_Candidate]:
    checker = Checker(name, fail)
    names: tuple[str, ...] = ()
    for line, record in read_records(path):
        checker.start(line)
        id = checker.identifier(record.get("id"), "id")
        checker.item = id
        checker.unknown(record, _FIELDS)
        text = checker.text(record.get("text"), "text")
        features = record.get("features")
        if samples and (features is None or features == {}):
            features = {}
        elif not isinstance(features, Mapping) or not features:
            message = "must be an object of names and numbers"
            checker.complain("features", "is missing" if features is None else message)
            continue
        # JSON objects have no order: the first line's is that of all.
        if features.keys() == set(names):
            given = names
        else:
            given = tuple(features)
            names = names or given
        values = [_json_number(checker, features[one], one) for one in given]
        total = checker.number(record.get("total"), "total")
        yield line, id, text, (given, values), total


def _json_number(checker: Checker, value: object, name: str) -> float:
    number = checker.number(value, f"features.{name}")
    if number is None:
        checker.complain(f"features.{name}", "must be a finite number, got null")
        return 0.0
    return number


def write_nbest(path: PathLike, lists: NBestLists) -> None:
    """Write n-best lists; the name's ending says the form, as for `read_nbest`.

    Features that follow each other and are called `TM_1`, `TM_2` ... are one label with several
    values in Moses' form; spaces around a text are lost there.
    """
    if file_form(path) == "jsonl":
        write_records(path, _json_records(lists))
    else:
        write_lines(path, _moses_lines(lists))


def _rows(lists: NBestLists) -> Iterable[tuple[str, str, list[float], float | None]]:
    totals = [None] * len(lists.texts) if lists.totals is None else lists.totals.tolist()
    ids = [lists.item_ids[place] for place in lists.owners.tolist()]
    return zip(ids, lists.texts, lists.features.tolist(), totals, strict=True)


def _json_records(lists: NBestLists) -> Iterator[Mapping[str, object]]:
    for id, text, values, total in _rows(lists):
        record = {"id": id, "text": text, "features": dict(zip(lists.names, values, strict=True))}
        yield record if total is None else {**record, "total": total}


def _moses_lines(lists: NBestLists) -> Iterator[str]:
    labels = _labels(lists.names)
    for id, text, values, total in _rows(lists):
        for what, field in ((id, "id"), (text, "text")):
            if _SEPARATOR in what:
                message = "holds |||, which separates fields in Moses' form: write JSON Lines"
                raise InputError(Problem(message, item=id, field=field))
        pairs = zip(labels, map(repr, values), strict=True)
        features = " ".join(f"{label}{value}" for label, value in pairs)
        line = f"{line_text(id, id, 'id')} ||| {line_text(text, id, 'text')} ||| {features}"
        yield line if total is None else f"{line} ||| {total!r}"


def _labels(names: tuple[str, ...]) -> list[str]:
    """What stands before each value: the name, or nothing behind the first of several."""
    for name in names:
        if not name or name.split() != [name] or _SEPARATOR in name:
            message = f"the name {shown(name)} does not fit Moses' form: write JSON Lines"
            raise InputError(Problem(message, field="features"))
    labels: list[str] = []
    place = 0
    while place < len(names):
        label, mark, number = names[place].rpartition("_")
        values = 1
        if mark and label and number == "1":
            while names[place + values : place + values + 1] == (f"{label}_{values + 1}",):
                values += 1
        labels += [f"{label if values > 1 else names[place]}= ", *[""] * (values - 1)]
        place += values
    return labels
