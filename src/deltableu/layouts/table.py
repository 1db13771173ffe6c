"""Tables with any column names: one row per item, output or rating, in one file or several."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import zip_longest
from pathlib import Path
from typing import ClassVar, cast

from deltableu.corpus import KINDS, Kind, Rating
from deltableu.errors import InputError, Problem
from deltableu.io import Report, as_number, file_form, file_packing, read_lines, shown
from deltableu.layouts.foreign import Rows, columns_of, foreign_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.mapping import MEANINGS, as_list, as_text, cell, is_gap
from deltableu.layouts.parts import FoundItem, FoundOutput, FoundReference, Place
from deltableu.layouts.plain import system_names

#: Without one of these a row says nothing.
_ABOUT = {"prediction", "outputs", "references", "good", "bad", "value", "ratings", "raters"}
_ABOUT |= {"message"}
#: Columns of our own ratings, whose targets are no texts.
_RATED = frozenset(("rater", "item", "target", "value"))
#: As the item's id: every row is an item.
_EACH_ROW = "#"
_MARKS = {"tab": "\t", "TAB": "\t", "newline": "\n", "comma": ",", "space": " "}


class TableLayout(Layout):
    """Rows that say what they are by their columns."""

    name: ClassVar[str] = "table"
    summary: ClassVar[str] = "CSV, TSV, JSON Lines, JSON or Parquet with any column names"
    example: ClassVar[str] = "table answers.csv --columns item=qid,prediction=answer,system=model"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        if not request.paths and not request.beside:
            raise InputError("name at least one table")
        seen: set[str] = set()
        columns: list[str] = []
        files = request.paths or (next(iter(request.beside.values()))[0],)
        for number, path in enumerate(files):
            rows = foreign_rows(path, report) if request.paths else None
            if request.beside and number == 0:
                rows = _with_lines(rows, path, request.beside, report)
            reader = RowReader(str(path), request, report, understood, stem_of(path.name))
            yield from reader.read(rows or iter(()))
            seen.update(reader.meanings)
            columns += [one for one in reader.columns if one not in columns]
        request.columns.check_used(dict.fromkeys(seen), columns, str(files[-1]))
        for name, path in zip(
            system_names(request.systems, request.names), request.systems, strict=True
        ):
            for line, text in read_lines(path, report):
                yield FoundOutput(name, str(line), text), Place(str(path), line)


def _with_lines(
    rows: Rows | None, path: Path, beside: Mapping[str, Sequence[Path]], report: Report
) -> Rows:
    """Rows, with the lines of plain text that stand beside them as further columns."""
    files = [(ours, file) for ours, several in beside.items() for file in several]
    texts = zip_longest(*(read_lines(file, report) for _, file in files))
    for place, (row, lines) in enumerate(zip_longest(rows or (), texts), start=1):
        if (rows is not None and row is None) or lines is None or None in lines:
            short = path if row is None else files[(lines or (None,)).index(None)][1]
            message = f"has {place - 1} rows or lines, but another file has more: they go together"
            raise InputError(Problem(message, file=str(short)))
        number, known = (place, {}) if row is None else row
        more: dict[str, list[object]] = {}
        for (ours, _), (_, text) in zip(files, lines, strict=True):
            more.setdefault(ours, []).append(text)
        told = {ours: parts if len(parts) > 1 else parts[0] for ours, parts in more.items()}
        yield number, {**known, **told}


def stem_of(name: str) -> str:
    """A file's name without its endings: who wrote what is in it, where nothing else says so."""
    packing, form = file_packing(name), file_form(name)
    for ending in (packing, form):
        name = name.removesuffix(f".{ending}") if ending else name
    return name


@dataclass(slots=True)
class RowReader:
    """Takes the rows of one table apart.

    Parameters
    ----------
    file : str
        As problems name it.
    request : Request
    report : callable
    understood : Understanding
    system : str
        Whose the outputs are, if no column and no option says so.
    """

    file: str
    request: Request
    report: Report
    understood: Understanding
    system: str
    meanings: dict[str, tuple[str, ...]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()

    def read(self, rows: Rows) -> Parts:
        for line, row in rows:
            if not self.columns:
                self._begin(row)
            elif len(row) > len(self.columns) or not row.keys() <= set(self.columns):
                self._begin({**dict.fromkeys(self.columns), **row})  # objects may have more
            if is_wanted(row, self.request, self.understood, self.columns):
                place = Place(self.file, line)
                try:
                    yield from self._parts(row, place)
                except InputError as error:
                    problem = error.problem
                    self.report(Problem(problem.message, self.file, line, problem.field))

    def _begin(self, row: Mapping[str, object]) -> None:
        if _RATED.issubset(row) and str(row["target"]).startswith(("reference:", "system:")):
            message = "holds ratings of a study, as `rate export` writes them, and no texts: put it"
            message = f"{message} into the study's folder as ratings.csv, or give it as --human"
            raise InputError(Problem(message, file=self.file))
        self.columns = tuple(row)
        self.meanings = self.request.columns.of(self.columns)
        used = {one.partition(".")[0] for several in self.meanings.values() for one in several}
        used |= {one for several in self.meanings.values() for one in several}
        used |= set(self.request.where)
        self.understood.columns[self.file] = {
            theirs: f"{ours}: {MEANINGS[ours][0]}"
            for ours, several in self.meanings.items()
            for theirs in several
        }
        self.understood.kept[self.file] = tuple(one for one in self.columns if one not in used)
        if not _ABOUT & self.meanings.keys():
            message = f"no column says what is in it: map some of {columns_of(row)}"
            raise InputError(
                Problem(f"{message} with --columns ours=theirs", file=self.file, field="columns")
            )

    def _parts(self, row: Mapping[str, object], place: Place) -> Parts:
        context = tuple(map(as_text, self._all(row, "context")))
        message = self._text(row, "message")
        if message is None and context and "message" not in self.meanings:
            # The last turn is what is answered.
            *before, message = context
            context = tuple(before)
        references = tuple(self._references(row))
        item = self._item(row, message, context, place)
        kept = self.understood.kept[self.file]
        meta = {} if self._is_rating else {name: row[name] for name in kept if name in row}
        meta = {name: value for name, value in meta.items() if not is_gap(value)}
        yield FoundItem(item, message, context, references, meta), place
        system = self._system(row)
        prediction = self._text(row, "prediction")
        if prediction is not None:
            yield FoundOutput(system, item, prediction), place
        for rating in self._ratings(row, item, system):
            yield rating, place
        for name in self.meanings.get("outputs", ()):
            yield from self._several(cell(row, name), name, item, place)

    def _several(self, value: object, name: str, item: str, place: Place) -> Parts:
        """What an object says of several systems: texts, or objects as rows are."""
        if is_gap(value):
            return
        if not isinstance(value, Mapping):
            message = f"must be an object with a text of each system, got {shown(value)}"
            raise InputError(Problem(message, field=name))
        for system, said in value.items():
            if isinstance(said, Mapping):
                inner = replace(self.request, system=str(system), where={})
                reader = RowReader(self.file, inner, self.report, Understanding(), str(system))
                row = {**said, "item": item}
                yield from reader.read(iter([(place.line or 0, row)]))
            else:
                yield FoundOutput(str(system), item, as_text(said)), place

    @property
    def _is_rating(self) -> bool:
        """Whether rows are ratings, whose other columns say nothing of the item."""
        return "rater" in self.meanings

    def _one(self, row: Mapping[str, object], ours: str) -> object:
        constant = self.request.columns.constants.get(ours)
        if constant is not None:
            return constant
        names = self.meanings.get(ours, ())
        return cell(row, names[0]) if names else None

    def _text(self, row: Mapping[str, object], ours: str) -> str | None:
        value = self._one(row, ours)
        if value is None or (not isinstance(value, str) and is_gap(value)):
            return None
        if isinstance(value, list):
            if len(value) == 1:
                return as_text(value[0])
            message = f"holds {len(value)} values, but {ours} is one text"
            raise InputError(Problem(message, field=self.meanings[ours][0]))
        return as_text(value)

    def _all(self, row: Mapping[str, object], ours: str) -> list[object]:
        mark = self.request.separators.get(ours)
        mark = _MARKS.get(mark, mark) if mark is not None else None
        return [
            part
            for name in self.meanings.get(ours, ())
            for part in as_list(cell(row, name), mark)
            if not is_gap(part)
        ]

    def _references(self, row: Mapping[str, object]) -> Iterator[FoundReference]:
        texts = [as_text(one) for one in self._all(row, "references")]
        weights = [number_of(one, "weights") for one in self._all(row, "weights")]
        if weights and len(weights) != len(texts):
            message = f"there are {len(weights)} weights, but {len(texts)} references"
            raise InputError(Problem(message, field="weights"))
        for number, text in enumerate(texts):
            yield FoundReference(text, weights[number] if weights else None)
        for ours, weight in (("good", 1.0), ("bad", -1.0)):
            for one in self._all(row, ours):
                yield FoundReference(as_text(one), weight, None if ours == "good" else "written")

    def _item(
        self, row: Mapping[str, object], message: str | None, context: Sequence[str], place: Place
    ) -> str:
        if self.request.columns.given.get("item") == (_EACH_ROW,):
            return str(place.line)
        constant = self.request.columns.constants.get("item")
        if constant is not None:
            return constant
        names = self.meanings.get("item")
        if names:
            parts = [as_text(cell(row, name)) for name in names if not is_gap(cell(row, name))]
            if len(parts) < len(names):
                raise InputError(Problem("the item's id is missing", field=names[len(parts)]))
            return "/".join(parts)
        # The same message after the same turns is the same item.
        about = [*context, message] if message is not None else self._all(row, "references")
        if not about:
            message = "there is no column for the item's id, and no message to tell items by"
            raise InputError(Problem(f"{message}: map one with --columns item=...", field="item"))
        return hashlib.sha256("\0".join(map(str, about)).encode(errors="replace")).hexdigest()[:12]

    def _system(self, row: Mapping[str, object]) -> str:
        value = self._one(row, "system")
        if not is_gap(value):
            return as_text(value)
        return self.request.system or self.system

    def _ratings(self, row: Mapping[str, object], item: str, system: str) -> Iterator[Rating]:
        kind = as_text(self._one(row, "kind") or "item")
        if kind not in KINDS:
            message = f"must be one of {', '.join(KINDS)}, got {shown(kind)}"
            raise InputError(Problem(message, field=self.meanings.get("kind", ("kind",))[0]))
        for rater, criterion, value in self._judgements(row):
            yield Rating(
                rater=rater,
                item=item,
                target=f"system:{system}",
                value=value,
                criterion=criterion,
                scale=self.request.scale,
                kind=cast(Kind, kind),
                started=self._text(row, "started"),
                finished=self._text(row, "finished"),
            )

    def _judgements(self, row: Mapping[str, object]) -> Iterator[tuple[str, str, float]]:
        rater = self._one(row, "rater")
        who = "all" if is_gap(rater) else as_text(rater)
        of = as_text(self._one(row, "criterion") or "overall")
        for name in self.meanings.get("raters", ()):
            yield from _values(cell(row, name), name, of, name)
        for name in self.meanings.get("ratings", ()):
            value = cell(row, name)
            if isinstance(value, Mapping):
                for criterion, several in value.items():
                    yield from _values(several, who, str(criterion), name)
            else:
                yield from _values(value, who, name.rpartition(".")[2], name)
        for name in self.meanings.get("value", ()):
            yield from _values(cell(row, name), who, of, name)


def is_wanted(
    row: Mapping[str, object],
    request: Request,
    understood: Understanding,
    columns: Sequence[str] = (),
) -> bool:
    """Whether a row holds what --where asks for; tables that lack a column are not asked."""
    for column, wanted in request.where.items():
        if column not in (columns or row) and "." not in column:
            continue
        if as_text(cell(row, column)) != wanted:
            understood.leave_out(f"{column} is not {wanted}")
            return False
    return True


def _values(
    value: object, rater: str, criterion: str, field: str
) -> Iterator[tuple[str, str, float]]:
    """One rating, or those of several raters in a list."""
    several = as_list(value)
    for number, one in enumerate(several, start=1):
        who = rater if len(several) == 1 else f"{'rater' if rater == 'all' else rater}-{number}"
        if not is_gap(one):
            yield who, criterion, number_of(one, field)


def number_of(value: object, field: str) -> float:
    """The number in a cell, or a problem that names the field."""
    number = as_number(value) if isinstance(value, str) else value
    if isinstance(number, bool) or not isinstance(number, int | float):
        raise InputError(Problem(f"must be a number, got {shown(value)}", field=field))
    if not -1e300 < number < 1e300:
        raise InputError(Problem(f"must be a finite number, got {shown(value)}", field=field))
    return float(number)


def rows_of(records: Iterable[Mapping[str, object]]) -> Rows:
    """Rows that are in memory."""
    return enumerate(records, start=1)
