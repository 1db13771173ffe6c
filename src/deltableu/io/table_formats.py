"""How tables look in a terminal, TSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from io import StringIO
from textwrap import wrap
from typing import TYPE_CHECKING, Literal

from deltableu._visible import NARROWEST, visible
from deltableu.io.written import written

if TYPE_CHECKING:
    import rich.console
    import rich.table

    from deltableu.io.table import Table


#: Sentences are no wider, however wide the terminal is.
_PROSE = 100

TextFormat = Literal["tsv", "markdown", "latex", "html"]


def render(tables: Sequence[Table], format: TextFormat, *, verdict: Sequence[str] = ()) -> str:
    """The verdict, one table after the other, then the notes of all; TSV has no verdict."""
    body = {"tsv": _tsv, "markdown": _markdown, "latex": _latex, "html": _html}[format]
    return _verdict(verdict, format) + "\n".join(map(body, tables)) + _notes(tables, format)


def _verdict(sentences: Sequence[str], format: TextFormat) -> str:
    if not sentences or format == "tsv":
        return ""
    if format == "latex":
        return "".join(f"% {visible(one)}\n" for one in sentences)
    if format == "html":
        return "".join(f"<p>{_for_html(one)}</p>\n" for one in sentences)
    return "".join(f"{_markdown_paragraph(one)}\n\n" for one in sentences)


def render_terminal(
    tables: Sequence[Table],
    width: int | None = None,
    *,
    colours: bool = False,
    verdict: Sequence[str] = (),
) -> str:
    """The same for a terminal; one of no width folds no tables."""
    from rich.text import Text

    answer = [Text("\n".join(_folded(one, width)), style="bold") for one in verdict]
    notes = [
        Text(visible(f"{name}  {text}"), style="dim") for name, text in joined_notes(tables).items()
    ]
    return terminal_text([*answer, *map(to_rich, tables), *notes], width, colours=colours)


def _folded(sentence: str, width: int | None) -> list[str]:
    """Lines that end between words; names longer than a line stay whole."""
    longest = _PROSE if width is None else max(min(width, _PROSE), NARROWEST)
    return wrap(visible(sentence), longest, break_long_words=False, break_on_hyphens=False)


def terminal_text(
    parts: Sequence[rich.console.RenderableType], width: int | None = None, *, colours: bool = False
) -> str:
    """What rich prints of tables and texts, without idle spaces at the ends of lines."""
    from rich.console import Console
    from rich.text import Text

    buffer = StringIO()
    console = Console(
        file=buffer,
        width=10_000 if width is None else max(width, NARROWEST),
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

    title = Text(visible(table.caption)) if table.caption else None
    made = RichTable(box=SIMPLE_HEAD, pad_edge=False, title=title)
    made.title_justify = "left"
    for number, column in enumerate(table.columns):
        # What a table is about must survive a narrow terminal whole.
        heading = Text(visible(column.name))
        made.add_column(heading, justify=table.align(number), overflow="fold")
    for row in table.rows:
        cells = []
        for cell, column in zip(row, table.columns, strict=True):
            text = Text(visible(cell.text(column)), style="bold" if cell.best else "")
            if small := cell.small_print(column):
                text.append(f" {visible(small)}", style="dim")
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
    caption = f"{_markdown_paragraph(table.caption)}\n\n" if table.caption else ""
    return caption + "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _latex(table: Table) -> str:
    columns = range(len(table.columns))
    sides = "".join("r" if table.align(number) == "right" else "l" for number in columns)
    heading = _latex_row([_for_latex(column.name) for column in table.columns])
    lines = [f"% {visible(table.caption)}"] if table.caption else []
    lines += [f"\\begin{{tabular}}{{{sides}}}", "\\toprule", heading, "\\midrule"]
    for row in table.rows:
        cells = []
        for cell, column in zip(row, table.columns, strict=True):
            text, small = map(_for_latex, (cell.text(column), cell.small_print(column)))
            text = f"\\textbf{{{text}}}" if cell.best else text
            cells.append(f"{text} {{\\small {small}}}" if small else text)
        lines.append(_latex_row(cells))
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
            notes.setdefault(name, text)
    return notes


def _notes(tables: Sequence[Table], format: TextFormat) -> str:
    lines = [f"{name} {text}" for name, text in joined_notes(tables).items()]
    if not lines:
        return ""
    if format == "markdown":
        return "\n" + "  \n".join(map(_markdown_code, lines)) + "\n"
    if format == "html":
        return "".join(f"<p><small>{_for_html(line)}</small></p>\n" for line in lines)
    if format == "latex":
        return "".join(f"% {visible(line)}\n" for line in lines)
    return "".join(f"# {_in_one_cell(line)}\n" for line in lines)


# What users named or wrote is cleaned here and nowhere else, for each format by one function.


def _in_one_cell(text: str) -> str:
    """White space of every kind becomes a space."""
    return visible(" ".join(text.split()))


#: What a spreadsheet takes for the beginning of a formula (OWASP's list, with the wide forms) or
#: of a quoted cell.
_NOT_FIRST = tuple('=+-@＝＋－＠"')


def _for_tsv(text: str) -> str:
    """One cell; a text that would be a formula begins with an apostrophe."""
    cell = _in_one_cell(text)
    harmless = not cell.startswith(_NOT_FIRST) or len(cell) == 1 or _is_numeric(cell)
    return cell if harmless else f"'{cell}"


def _is_numeric(text: str) -> bool:
    """Whether this is a number, a list of them or a range."""
    try:
        return bool([float(part) for part in re.split(",| to ", text)])
    except ValueError:
        return False


#: Where Markdown sees emphasis, code, tags, entities, links or the end of a cell.
_MARKDOWN = re.compile(
    r"[`*~|]|\\(?=[!-/:-@\[-`{-~]|$)|(?<!\w)_|_(?!\w)|&(?=#?\w+;)|\](?=[(\[:])|<(?=[a-zA-Z/!?])",
    re.ASCII,
)
_MARKDOWN_START = re.compile(r"^(\d*)([#>+=.)-])")


def _for_markdown(text: str) -> str:
    # Not every reader of Markdown knows that \< is no tag.
    return _MARKDOWN.sub(
        lambda found: "&lt;" if found[0] == "<" else f"\\{found[0]}", visible(text)
    )


def _markdown_paragraph(text: str) -> str:
    """The same where a line begins, which must not become a heading or a list."""
    return _MARKDOWN_START.sub(r"\1\\\2", _for_markdown(text).strip())


def _markdown_code(text: str) -> str:
    """Code that holds backticks stands between longer runs of them."""
    text = visible(text)
    fence = "`" * (max(map(len, re.findall("`+", text)), default=0) + 1)
    pad = " " if len(fence) > 1 else ""
    return f"{fence}{pad}{text}{pad}{fence}"


def _for_html(text: str) -> str:
    return html.escape(visible(text, directions=True))


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
        # The oldest encoding of fonts, which is the default, has other characters in these places.
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        # Active in some languages, and part of ligatures.
        '"': "''{}",
        "`": "{}`{}",
    }
)


def _for_latex(text: str) -> str:
    return visible(text).translate(_LATEX).replace("--", "-{}-{}")


def _latex_row(cells: Sequence[str]) -> str:
    r"""A row; after `\\` or a rule, LaTeX would read [..] or * as an argument of that."""
    first = re.sub(r"^(\s*)([\[*])", r"\1{\2}", cells[0])
    return " & ".join([first, *cells[1:]]) + " \\\\"
