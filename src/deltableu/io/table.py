"""Table: what every result shows itself as."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, Protocol

from deltableu.errors import InputError
from deltableu.io.record import as_record, json_text
from deltableu.io.table_formats import (
    joined_notes,
    joined_signatures,
    latex,
    render,
    render_terminal,
    terminal_lines,
)
from deltableu.io.written import Interval, written

if TYPE_CHECKING:
    import rich.console
    import rich.text


Align = Literal["left", "right"]
Better = Literal["higher", "lower"]


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a table.

    Attributes
    ----------
    name : str
        The heading.
    form : str
        How its numbers are written for people: see `written`.
    align : {"left", "right"}, optional
        By default texts to the left and numbers to the right.
    key : str
        Its name in records, where headings are empty or occur twice; by default the heading.
    better : {"higher", "lower"}, optional
        Which values are better, where that is to be marked in the heading.
    drop : int
        Where a terminal is too narrow, columns with the highest number are dropped first, and
        intervals before the values they belong to; the first column never is.
    room : int
        How narrow its texts may be wrapped before that happens.
    group : bool
        Rows in a row that have the same value here are a group: people see the value once, and a
        gap or a rule between groups.
    share : float
        How much of a line its texts get in LaTeX, where they then wrap; by default they do not.
    """

    name: str
    form: str = ""
    align: Align | None = None
    key: str = ""
    better: Better | None = None
    drop: int = 0
    room: int = 16
    group: bool = False
    share: float = 0.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A value as it is, unrounded, and what is said of it.

    Attributes
    ----------
    value : object
        A number, a text, None, an interval, or a list of these.
    interval : Interval, optional
        Where the value may lie.
    letters, note : str
        In small print, before and after the interval.
    best : bool
        Printed in bold.
    form : str, optional
        In place of the column's.
    """

    value: object
    interval: Interval | None = None
    letters: str = ""
    note: str = ""
    best: bool = False
    form: str | None = None

    def text(self, column: Column) -> str:
        """The value for people."""
        return written(self.value, self._form(column))

    def small_print(self, column: Column, *, letters: bool = True) -> str:
        """What follows the value, for people."""
        interval = written(self.interval, self._form(column))
        return " ".join(filter(None, (self.letters if letters else "", interval, self.note)))

    def _form(self, column: Column) -> str:
        return column.form if self.form is None else self.form


@dataclass(frozen=True, init=False, repr=False)
class Table:
    """Columns, rows of cells, a caption, notes that readers need, and signatures.

    Terminal, Markdown, LaTeX and HTML are for people: numbers are rounded. Records, JSON, TSV, CSV
    and data frames are for programs: numbers are whole, and intervals, letters and notes have
    columns of their own.

    Parameters
    ----------
    columns : iterable of str or Column
    rows : iterable of rows
        A cell may be a plain value.
    caption : str
    notes : mapping of str to str
        What marks mean; one that is called bold is left out where nothing is in bold.
    signatures : mapping of str to str
        The signature of each metric or procedure: people are shown a hash unless they ask for more.

    Examples
    --------
    >>> table = Table(["system", Column("bleu", ".2f")], [["A", Cell(12.3456, best=True)]])
    >>> print(table.to_markdown())
    | system | bleu |
    | --- | ---: |
    | A | **12.35** |
    <BLANKLINE>
    >>> table.records()
    [{'system': 'A', 'bleu': 12.3456}]
    """

    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    notes: Mapping[str, str] = field(default_factory=dict)
    signatures: Mapping[str, str] = field(default_factory=dict)

    def __init__(
        self,
        columns: Iterable[str | Column],
        rows: Iterable[Iterable[object]],
        caption: str = "",
        notes: Mapping[str, str] | None = None,
        signatures: Mapping[str, str] | None = None,
    ) -> None:
        headings = tuple(one if isinstance(one, Column) else Column(one) for one in columns)
        cells = tuple(
            tuple(one if isinstance(one, Cell) else Cell(one) for one in row) for row in rows
        )
        for row in cells:
            if len(row) != len(headings):
                raise ValueError(f"a row has {len(row)} cells for {len(headings)} columns")
        object.__setattr__(self, "columns", headings)
        object.__setattr__(self, "rows", cells)
        object.__setattr__(self, "caption", caption)
        object.__setattr__(self, "notes", dict(notes or {}))
        object.__setattr__(self, "signatures", dict(signatures or {}))

    def align(self, column: int) -> Align:
        """Where a column's cells stand."""
        given = self.columns[column].align
        if given is not None:
            return given
        values = [row[column].value for row in self.rows]
        return "left" if all(isinstance(value, str) for value in values) else "right"

    def grouped_rows(self) -> list[tuple[bool, tuple[Cell, ...]]]:
        """The rows as people see them, and which begin a group that others precede."""
        places = [place for place, column in enumerate(self.columns) if column.group]
        if not places:
            return [(False, row) for row in self.rows]
        found: list[tuple[bool, tuple[Cell, ...]]] = []
        before: tuple[Cell, ...] | None = None
        for row in self.rows:
            same = before is not None and all(row[one] == before[one] for one in places)
            shown = [Cell("") if same and place in places else one for place, one in enumerate(row)]
            found.append((before is not None and not same, tuple(shown)))
            before = row
        return found

    def join(self, others: Iterable[Table]) -> Table:
        """The columns of other tables beside these, their rows found by their first cells."""
        columns, rows = list(self.columns), {row[0].value: list(row) for row in self.rows}
        tables = [self, *others]
        for other in tables[1:]:
            columns += other.columns[1:]
            found = {row[0].value: row[1:] for row in other.rows}
            for name, row in rows.items():
                row += found[name]
        notes, signatures = joined_notes(tables), joined_signatures(tables)
        return Table(columns, rows.values(), self.caption, notes, signatures)

    def records(self) -> list[dict[str, Any]]:
        """A mapping for each row, with values as they are."""
        keys = self._keys()
        parts = [self._parts(number) for number in range(len(self.columns))]
        return [
            {
                key + ending: as_record(get(cell))
                for key, cell, gets in zip(keys, row, parts, strict=True)
                for ending, get in gets.items()
            }
            for row in self.rows
        ]

    def _keys(self) -> list[str]:
        keys: list[str] = []
        for column in self.columns:
            key = column.key or column.name or "value"
            number = sum(one.split(" #")[0] == key for one in keys)
            keys.append(f"{key} #{number + 1}" if number else key)
        return keys

    def _parts(self, column: int) -> dict[str, Any]:
        """What a column holds besides values, by the endings of its names in records."""
        cells = [row[column] for row in self.rows]
        parts: dict[str, Any] = {"": lambda cell: cell.value}
        if any(hasattr(cell.value, "high") for cell in cells):
            parts = {
                " low": lambda cell: getattr(cell.value, "low", None),
                " high": lambda cell: getattr(cell.value, "high", None),
            }
        if any(cell.interval is not None for cell in cells):
            parts |= {
                " low": lambda cell: None if cell.interval is None else cell.interval.low,
                " high": lambda cell: None if cell.interval is None else cell.interval.high,
            }
        if any(cell.letters for cell in cells):
            parts[" letters"] = lambda cell: cell.letters
        if any(cell.note for cell in cells):
            parts[" note"] = lambda cell: cell.note
        return parts

    def to_json(self) -> str:
        """The records as JSON."""
        return json_text(self.records())

    def to_frame(self) -> Any:
        """The records as a data frame of pandas, which must be installed."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise InputError(
                "a data frame needs pandas: pip install pandas, or take records()"
            ) from None
        frame = DataFrame(self.records())
        frame.attrs.update(
            caption=self.caption, notes=dict(self.notes), signatures=dict(self.signatures)
        )
        return frame

    def to_dict(self) -> dict[str, Any]:
        """Caption, records, notes and signatures in full."""
        return {
            "caption": self.caption,
            "rows": self.records(),
            "notes": dict(self.notes),
            "signatures": dict(self.signatures),
        }

    def to_tsv(self) -> str:
        """Tab-separated records below one header, and nothing else."""
        return render([self], "tsv")

    def to_csv(self) -> str:
        """The same with commas."""
        return render([self], "csv")

    def to_markdown(self, *, signatures: bool = False) -> str:
        """A GitHub-style table, with signatures in full if asked for."""
        return render([self], "markdown", signatures=signatures)

    def to_latex(
        self, *, caption: str | None = None, label: str | None = None, signatures: bool = False
    ) -> str:
        r"""A `tabular` for the booktabs package, in a `table` if there is a caption or a label.

        Letters stand as superscripts, and arrows say which direction is better.

        Examples
        --------
        >>> ter = Column("ter", ".1f", better="lower")
        >>> table = Table(["system", ter], [["A", Cell(9, letters="a")]])
        >>> print(table.to_latex(caption="Systems.", label="tab:systems"))
        \begin{table}
        \centering
        \caption{Systems.}
        \label{tab:systems}
        \begin{tabular}{lr}
        \toprule
        system & ter $\downarrow$ \\
        \midrule
        A & 9.0$^{\mathrm{a}}$ \\
        \bottomrule
        \end{tabular}
        \end{table}
        <BLANKLINE>
        """
        return latex(self, caption, label, signatures=signatures)

    def to_html(self, *, bare: bool = False) -> str:
        """A `<table>`, the best in bold, small print in `<small>`; bare without caption, notes."""
        shown = Table(self.columns, self.rows) if bare else self
        return render([shown], "html", signatures=True)

    def to_terminal(
        self, width: int | None = None, *, colours: bool = False, signatures: bool = False
    ) -> str:
        """For a terminal of this width; without one, lines are as long as they need to be."""
        return render_terminal([self], width, colours=colours, signatures=signatures)

    def __str__(self) -> str:
        return self.to_terminal()

    __repr__ = __str__

    def __rich_console__(
        self, console: rich.console.Console, options: rich.console.ConsoleOptions
    ) -> Iterable[rich.text.Text]:
        yield terminal_lines([self], options.max_width)

    def _repr_html_(self) -> str:
        return render([self], "html")


class _HasTable(Protocol):
    def table(self) -> Table: ...


class Tabular:
    """A result that a notebook shows as its table."""

    __slots__ = ()

    def _repr_html_(self: _HasTable) -> str:
        return self.table()._repr_html_()


def mark_best(cells: Sequence[Cell], *, higher_is_better: bool = True) -> list[Cell]:
    """The same cells, the highest or lowest numbers in bold, unless all are equal.

    Examples
    --------
    >>> [cell.best for cell in mark_best([Cell(1.0), Cell(3.0), Cell(float("nan")), Cell(3.0)])]
    [False, True, False, True]
    """
    values = {cell.value for cell in cells if isinstance(cell.value, int | float)}
    known = {value for value in values if value == value}  # NaN is no score
    if len(known) < 2:
        return list(cells)
    best = max(known) if higher_is_better else min(known)
    return [replace(cell, best=cell.value == best) for cell in cells]


def fact_table(
    columns: tuple[str | Column, str | Column],
    facts: Mapping[str, object],
    notes: Mapping[str, str] | None = None,
) -> Table:
    """A table of names and what they are."""
    return Table(columns, facts.items(), notes=notes)
