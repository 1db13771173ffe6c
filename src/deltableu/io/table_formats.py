"""How tables look in a terminal, TSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import html
from collections.abc import Sequence
from io import StringIO
from typing import TYPE_CHECKING, Literal

from deltableu.io.written import written

if TYPE_CHECKING:
    import rich.console
    import rich.table

    from deltableu.io.table import Table


TextFormat = Literal["tsv", "markdown", "latex", "html"]


def render(tables: Sequence[Table], format: TextFormat) -> str:
    """One table after the other, then the notes of all."""
    body = {"tsv": _tsv, "markdown": _markdown, "latex": _latex, "html": _html}[format]
    return "\n".join(map(body, tables)) + _notes(tables, format)


def render_terminal(
    tables: Sequence[Table], width: int | None = None, *, colours: bool = False
) -> str:
    """The same for a terminal; one of no width folds nothing."""
    from rich.text import Text

    notes = [Text(f"{name}  {text}", style="dim") for name, text in joined_notes(tables).items()]
    return terminal_text([*map(to_rich, tables), *notes], width, colours=colours)


def terminal_text(
    parts: Sequence[rich.console.RenderableType], width: int | None = None, *, colours: bool = False
) -> str:
    """What rich prints of tables and texts, without idle spaces at the ends of lines."""
    from rich.console import Console
    from rich.text import Text

    buffer = StringIO()
    console = Console(
        file=buffer,
        width=width or 10_000,
        force_terminal=colours,
        color_system="auto" if colours else None,
        highlight=False,
        markup=False,
        emoji=False,
    )
    for part in parts:
        console.print(part, soft_wrap=isinstance(part, Text))
    return "\n".join(line.rstrip() for line in buffer.getvalue().split("\n"))


def to_rich(table: Table) -> rich.table.Table:
    """For a rich console."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    title = Text(_for_terminal(table.caption)) if table.caption else None
    made = RichTable(box=SIMPLE_HEAD, pad_edge=False, title=title)
    made.title_justify = "left"
    for number, column in enumerate(table.columns):
        # What a table is about must survive a narrow terminal whole.
        heading = Text(_for_terminal(column.name))
        made.add_column(heading, justify=table.align(number), overflow="fold")
    for row in table.rows:
        cells = []
        for cell, column in zip(row, table.columns, strict=True):
            text = Text(_for_terminal(cell.text(column)), style="bold" if cell.best else "")
            if small := cell.small_print(column):
                text.append(f" {_for_terminal(small)}", style="dim")
            cells.append(text)
        made.add_row(*cells)
    return made


def _tsv(table: Table) -> str:
    records = table.records()
    forms = {(column.key or column.name): column.form for column in table.columns}
    lines = [list(records[0])] if records else [[one.name for one in table.columns]]
    for record in records:
        lines.append([_raw(value, forms.get(key, "")) for key, value in record.items()])
    return "".join("\t".join(map(_for_tsv, line)) + "\n" for line in lines)


def _raw(value: object, form: str) -> str:
    return repr(value) if isinstance(value, int | float) else written(value, form)


def _markdown(table: Table) -> str:
    columns = range(len(table.columns))
    lines = [
        [_for_markdown(column.name) for column in table.columns],
        ["---:" if table.align(number) == "right" else "---" for number in columns],
    ]
    for row in table.rows:
        cells = []
        for cell, column in zip(row, table.columns, strict=True):
            text, small = map(_for_markdown, (cell.text(column), cell.small_print(column)))
            cells.append(f"{f'**{text}**' if cell.best and text else text} {small}".strip())
        lines.append(cells)
    caption = f"{_for_markdown(table.caption)}\n\n" if table.caption else ""
    return caption + "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _latex(table: Table) -> str:
    columns = range(len(table.columns))
    sides = "".join("r" if table.align(number) == "right" else "l" for number in columns)
    heading = " & ".join(_for_latex(column.name) for column in table.columns)
    lines = [f"% {_one_line(table.caption)}"] if table.caption else []
    lines += [f"\\begin{{tabular}}{{{sides}}}", "\\toprule", f"{heading} \\\\", "\\midrule"]
    for row in table.rows:
        cells = []
        for cell, column in zip(row, table.columns, strict=True):
            text, small = map(_for_latex, (cell.text(column), cell.small_print(column)))
            text = f"\\textbf{{{text}}}" if cell.best else text
            cells.append(f"{text} {{\\small {small}}}" if small else text)
        # LaTeX would read [..] at the beginning of a row as an argument of the line before.
        cells[0] = "{[}" + cells[0][1:] if cells[0].startswith("[") else cells[0]
        lines.append(" & ".join(cells) + " \\\\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


def _html(table: Table) -> str:
    columns = range(len(table.columns))
    sides = [f'class="{table.align(number)}"' for number in columns]
    names = [_for_html(column.name) for column in table.columns]
    heading = "".join(f"<th {side}>{name}</th>" for side, name in zip(sides, names, strict=True))
    lines = ["<table>"]
    if table.caption:
        lines.append(f"<caption>{_for_html(table.caption)}</caption>")
    lines += [f"<thead><tr>{heading}</tr></thead>", "<tbody>"]
    for row in table.rows:
        cells = []
        for cell, column, side in zip(row, table.columns, sides, strict=True):
            text, small = map(_for_html, (cell.text(column), cell.small_print(column)))
            text = f"<b>{text}</b>" if cell.best else text
            cells.append(f"<td {side}>{text}{f' <small>{small}</small>' if small else ''}</td>")
        lines.append(f"<tr>{''.join(cells)}</tr>")
    return "\n".join([*lines, "</tbody></table>"]) + "\n"


def joined_notes(tables: Sequence[Table]) -> dict[str, str]:
    """The notes of all; of two with one name, that of the earlier table."""
    notes: dict[str, str] = {}
    for table in tables:
        for name, text in table.notes.items():
            notes.setdefault(_one_line(name), _one_line(text))
    return notes


def _notes(tables: Sequence[Table], format: TextFormat) -> str:
    lines = [f"{name} {text}" for name, text in joined_notes(tables).items()]
    if not lines:
        return ""
    if format == "markdown":
        return "\n" + "  \n".join(f"`{line}`" for line in lines) + "\n"
    if format == "html":
        return "".join(f"<p><small>{_for_html(line)}</small></p>\n" for line in lines)
    return "".join(f"{'#' if format == 'tsv' else '%'} {line}\n" for line in lines)


def _one_line(text: str) -> str:
    return " ".join(text.split("\n"))


def _for_terminal(text: str) -> str:
    return _one_line(text)


def _for_tsv(text: str) -> str:
    """One cell: white space of every kind becomes a space."""
    return " ".join(text.split())


def _for_markdown(text: str) -> str:
    return _one_line(text).replace("|", "\\|")


def _for_html(text: str) -> str:
    return html.escape(text)


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\n": " ",
    }
)


def _for_latex(text: str) -> str:
    return text.translate(_LATEX)
