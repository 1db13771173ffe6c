"""Files of any layout, or tables in memory, in; a study out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any

from deltableu._types import Progress
from deltableu.corpus import Item, Rating, Scale, Study, check_new_study
from deltableu.errors import InputError, Problem, check_kind
from deltableu.io import PathLike, Report, Table, Tabular, fact_table, fail, listed, table_records
from deltableu.layouts.gathering import Gathered, Gathering, Missing, gathering
from deltableu.layouts.layout import Layout, Parts, Request, Understanding, load_layout
from deltableu.layouts.mapping import ColumnMap
from deltableu.layouts.parts import FoundOutput
from deltableu.layouts.table import RowReader, rows_of

_EXAMPLES = 3
#: Columns that say something of a system.
_OF_SYSTEMS = frozenset(("prediction", "outputs", "raters", "value", "ratings"))
_SHOWN = 70
_CRITERIA = 3


@dataclass(frozen=True, slots=True)
class Imported(Tabular):
    """What was understood, and what came of it.

    Attributes
    ----------
    layout : str
    counts : Gathered
    understood : Understanding
    examples : tuple of Item
        The first items.
    outputs : mapping of system to tuple of str
        The outputs of each system for these items.
    ratings : tuple of Rating
        The first ratings.
    """

    layout: str
    counts: Gathered
    understood: Understanding
    examples: tuple[Item, ...]
    outputs: Mapping[str, tuple[str, ...]]
    ratings: tuple[Rating, ...]

    def table(self) -> Table:
        """How much there is."""
        counts = self.counts
        facts: dict[str, object] = {"items": counts.items, "references": counts.references}
        facts["systems"] = len(counts.systems)
        facts["outputs"] = counts.outputs
        if counts.ratings:
            facts["ratings"] = counts.ratings
            facts["raters"] = counts.raters
            some = ", ".join(counts.criteria[:_CRITERIA])
            more = len(counts.criteria) - _CRITERIA
            facts["criteria"] = f"{some} and {more} more" if more > 0 else some
        if counts.without_references:
            facts["items without a reference"] = counts.without_references
        if counts.missing:
            facts["outputs that are missing"] = counts.missing
        if counts.dropped:
            facts["items left out: a system has no output"] = counts.dropped
        if counts.unknown:
            facts["ratings left out: no output of their system"] = counts.unknown
        for reason, number in self.understood.left_out.items():
            facts[f"rows left out: {reason}"] = number
        return fact_table(("imported", "number"), facts)

    def doubts(self) -> list[str]:
        """Files that name systems and hold no output or rating of any: a column was not known."""
        said = []
        for file, columns in self.understood.columns.items():
            names = {ours.partition(":")[0] for ours in columns.values()}
            others = self.understood.kept.get(file, ())
            if "system" in names and not names & _OF_SYSTEMS and others:
                said.append(
                    f"{file} names systems, but no column is known as their outputs: say which is "
                    f"with --columns prediction=NAME (kept in meta: {listed(others)})"
                )
        return said

    def columns_table(self) -> Table:
        """What was taken for what."""
        rows = [
            (file.rpartition("/")[2], theirs, ours)
            for file, columns in self.understood.columns.items()
            for theirs, ours in columns.items()
        ]
        rows += [
            (file.rpartition("/")[2], theirs, "not known: kept in meta")
            for file, columns in self.understood.kept.items()
            for theirs in columns
        ]
        return Table(("file", "column", "is"), rows, caption="what was understood as what")

    def examples_table(self) -> Table:
        """Some items, as they will be."""
        rows: list[tuple[str, str, str]] = []
        for number, item in enumerate(self.examples):
            rows += [(item.id, "context", _brief(turn)) for turn in item.context[-2:]]
            if item.message is not None:
                rows.append((item.id, "message", _brief(item.message)))
            for reference in item.references[:_EXAMPLES]:
                weight = "" if reference.weight is None else f" ({reference.weight:+g})"
                rows.append((item.id, f"reference{weight}", _brief(reference.text)))
            if len(item.references) > _EXAMPLES:
                rows.append(
                    (item.id, "", f"and {len(item.references) - _EXAMPLES} references more")
                )
            for system, texts in list(self.outputs.items())[:_EXAMPLES]:
                rows.append((item.id, system, _brief(texts[number])))
            for rating in self.ratings:
                if rating.item == item.id:
                    said = f"{rating.rater} gives {rating.value:g} ({rating.criterion})"
                    rows.append((item.id, rating.target, said))
        return Table(("item", "what", "text"), rows, caption="the first items")

    def tables(self) -> list[Table]:
        """All that is worth a look before anything is written."""
        columns = [self.columns_table()] if self.understood.columns else []
        return [*columns, self.examples_table(), self.table()]


def _brief(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"


def import_study(
    layout: str | Layout,
    request: Request,
    output: PathLike | None = None,
    *,
    missing: Missing = "error",
    keep_all: bool = False,
    overwrite: bool = False,
    report: Report = fail,
    progress: Progress | None = None,
) -> Imported:
    """Read files of a layout and write them as a study.

    Parameters
    ----------
    layout : str or Layout
        See `layout_names`.
    request : Request
        What to read.
    output : path, optional
        The study's folder; without it nothing is written.
    missing : {"error", "empty", "drop"}
        What to do with items for which a system has no output.
    keep_all : bool
        Also keep items without a reference.
    overwrite : bool
        Put the study in the place of an old one.
    report : callable
        Called with each problem; what is wrong is then left out. The default raises InputError.
    progress : callable, optional
        Called with (what is done, done, in all); how much there is in all is not known before.

    Returns
    -------
    Imported
    """
    chosen = load_layout(layout) if isinstance(layout, str) else layout
    if request.scale is not None:
        Scale.parse(request.scale)
    if output is not None:
        named = (*request.paths, *request.systems, *request.references, *request.sources)
        check_new_study(output, named, replace=overwrite)
    understood = Understanding()
    parts = _renamed(chosen.read(request, report, understood), request.renamed)
    with _gathered(parts, missing, keep_all, report, progress) as gathered:
        imported = _described(chosen.name, gathered, understood)
        if output is not None:
            gathered.write(output, replace=overwrite)
        return imported


def _renamed(parts: Parts, names: Mapping[str, str]) -> Parts:
    for part, place in parts:
        if isinstance(part, FoundOutput) and part.system in names:
            part = replace(part, system=names[part.system])
        elif isinstance(part, Rating) and (name := part.target.removeprefix("system:")) in names:
            part = replace(part, target=f"system:{names[name]}")
        yield part, place


@contextmanager
def _gathered(
    parts: Parts, missing: Missing, keep_all: bool, report: Report, progress: Progress | None
) -> Iterator[Gathering]:
    with gathering(report) as gathered:
        count = 0
        for count, (part, place) in enumerate(parts, start=1):
            try:
                gathered.add(part, place)
            except UnicodeEncodeError:
                message = "holds a lone surrogate, which is no text: repair the escape"
                report(Problem(message, place.file, place.line))
            if progress is not None and count % 5000 == 0:
                progress("importing", count, 0)
        if count == 0:
            raise InputError("nothing was found to import")
        gathered.finish(missing, keep_all=keep_all)
        yield gathered


def _described(layout: str, gathered: Gathering, understood: Understanding) -> Imported:
    counts = gathered.counts()
    examples = tuple(islice(gathered.items(), _EXAMPLES))
    outputs = {
        name: tuple(text for _, text in islice(gathered.outputs(name), _EXAMPLES))
        for name in counts.systems
    }
    ratings = tuple(islice(gathered.ratings(), 4 * _EXAMPLES))
    return Imported(layout, counts, understood, examples, outputs, ratings)


def study_from(
    *tables: Any,
    columns: Mapping[str, str | Sequence[str]] | str | None = None,
    separators: Mapping[str, str] | None = None,
    where: Mapping[str, str] | None = None,
    system: str | None = None,
    scale: str | None = None,
    missing: Missing = "error",
    keep_all: bool = False,
) -> Study:
    """Make a study of tables in memory.

    Parameters
    ----------
    tables : data frame, data set, mapping of str to list, or list of mappings
        Rows of items, outputs or ratings, or of all in one; several tables are joined by the
        item's id. pandas, polars, Arrow and Hugging Face's data sets are known by what they can do.
    columns : mapping or str, optional
        Our names -> theirs, such as ``{"item": "qid", "references": ["ref1", "ref2"]}``; usual
        names need not be given.
    separators : mapping, optional
        Our names -> what separates the parts of one cell.
    where : mapping, optional
        Only rows in which a column holds this.
    system : str, optional
        The system of outputs where no column says whose they are.
    scale : str, optional
        The scale of ratings, such as ``"1-5"``.
    missing : {"error", "empty", "drop"}
        What to do with items for which a system has no output.
    keep_all : bool
        Also keep items without a reference.

    Examples
    --------
    >>> study = study_from(
    ...     {"question": ["how are you ?"], "model": ["a"], "answer": ["fine"], "gold": ["well"]},
    ...     columns={"prediction": "answer", "references": "gold"},
    ... )
    >>> study.outputs["a"], study.items[0].references[0].text
    (('fine',), 'well')
    """
    if not tables:
        raise InputError("give at least one table")
    for name, given in (("separators", separators), ("where", where)):
        check_kind(name, given or {}, Mapping)
    request = Request(
        columns=ColumnMap.parse(columns),
        separators=separators or {},
        where=where or {},
        system=system,
        scale=scale,
    )
    understood = Understanding()

    named = {
        "the table" if len(tables) == 1 else f"table {number}": table
        for number, table in enumerate(tables, start=1)
    }
    # Rows without a column that was named contradict each other, which would be said first.
    if not any(isinstance(table, Iterator) for table in tables):
        there = tuple(dict.fromkeys(one for table in tables for one in _column_names(table)))
        request.columns.check_used(request.columns.of(there), there, next(iter(named)))

    def parts() -> Parts:
        for number, (name, table) in enumerate(named.items(), start=1):
            reader = RowReader(name, request, fail, understood, f"system{number}")
            yield from reader.read(rows_of(table_records(table, name)))

    with _gathered(parts(), missing, keep_all, fail, None) as gathered:
        return gathered.study()


def _column_names(table: Any) -> Iterable[str]:
    """What columns a table has; rows in a list may each have others."""
    if isinstance(table, Mapping):
        return map(str, table)
    for names in ("column_names", "columns"):  # Arrow, whose columns are no names; data frames
        if hasattr(table, names):
            return map(str, getattr(table, names))
    rows = table if isinstance(table, Iterable) else ()
    return dict.fromkeys(str(name) for row in rows if isinstance(row, Mapping) for name in row)
