"""How tables look in a terminal, TSV, Markdown, LaTeX and HTML."""

from __future__ import annotations

import csv
import hashlib
import html
import re
from collections.abc import Mapping, Sequence
from io import StringIO
from typing import TYPE_CHECKING, Literal

from deltableu._visible import NARROWEST, visible
from deltableu.io.table_layout import Line, heading, lay_out, wrap
from deltableu.io.written import written

if TYPE_CHECKING:
    import rich.console
    import rich.text

    from deltableu.io.table import Table


#: Sentences are no wider, however wide the terminal is.
_PROSE = 100
TextFormat = Literal["tsv", "csv", "markdown", "latex", "html"]
_FOR_PROGRAMS = ("tsv", "csv")
#: What stands for characters that a stream cannot spell.
_ASCII = str.maketrans("─…↑↓", "-~^v")


def render(
    tables: Sequence[Table],
    format: TextFormat,
    *,
    verdict: Sequence[str] = (),
    signatures: bool = False,
) -> str:
    """The verdict, one table after the other, then the notes of all.

    TSV and CSV hold one table and nothing else.
    """
    if format in _FOR_PROGRAMS:
        (table,) = tables
        return _delimited(table, "\t" if format == "tsv" else ",")
    body = {"markdown": _markdown, "latex": _latex, "html": _html}[format]
    notes = _notes(tables, format, signatures)
    return _verdict(verdict, format) + "\n".join(map(body, tables)) + notes


def _verdict(sentences: Sequence[str], format: TextFormat) -> str:
    if format == "latex":
        return "".join(f"% {visible(one)}\n" for one in sentences)
    if format == "html":
        return "".join(f"<p>{_for_html(one)}</p>\n" for one in sentences)
    return "".join(f"{_markdown_paragraph(one)}\n\n" for one in sentences)


def latex(table: Table, caption: str | None, label: str | None, *, signatures: bool = False) -> str:
    """A LaTeX table, in a float if it has a caption or a label."""
    inner = _latex(table) + _notes([table], "latex", signatures)
    if caption is None and label is None:
        return inner
    above = ["\\begin{table}", "\\centering"]
    above += [] if caption is None else [f"\\caption{{{_for_latex(caption)}}}"]
    above += [] if label is None else [f"\\label{{{visible(label)}}}"]
    return "\n".join([*above, inner]) + "\\end{table}\n"


def render_terminal(
    tables: Sequence[Table],
    width: int | None = None,
    *,
    colours: bool = False,
    verdict: Sequence[str] = (),
    signatures: bool = False,
    ascii_only: bool = False,
) -> str:
    """The same for a terminal; one of no width drops no columns and wraps the verdict alone."""
    width = None if width is None else max(width, NARROWEST)
    answer = [[(line, "bold")] for one in verdict for line in folded(one, width)]
    gap: list[Line] = [[]] if answer else []
    lines = [*answer, *gap, *_terminal(tables, width, colours=colours, signatures=signatures)]
    if colours:
        text = terminal_text([_rich_text(lines)], colours=True)
    else:
        text = "".join("".join(text for text, _ in line) + "\n" for line in lines)
    return text.translate(_ASCII) if ascii_only else text


def terminal_lines(
    tables: Sequence[Table], width: int | None, *, signatures: bool = False
) -> rich.text.Text:
    """For a rich console."""
    return _rich_text(_terminal(tables, width, colours=True, signatures=signatures))


def _rich_text(lines: Sequence[Line]) -> rich.text.Text:
    from rich.text import Text

    return Text("\n", no_wrap=True).join(Text.assemble(*line) for line in lines)


def folded(
    sentence: str, width: int | None, indent: str = "", *, whole_words: bool = False
) -> list[str]:
    """A sentence on lines that end between words, as wide as the terminal or as is readable."""
    longest = _PROSE if width is None else min(width, _PROSE)
    return wrap(visible(sentence), longest, indent, whole_words=whole_words)


def _terminal(
    tables: Sequence[Table], width: int | None, *, colours: bool, signatures: bool
) -> list[Line]:
    lines: list[Line] = []
    dropped: list[str] = []
    seen: set[str] = set()
    for table in tables:
        if lines:
            lines.append([])
        if table.caption:
            lines += [[(line, "italic")] for line in wrap(visible(table.caption), width)] + [[]]
        found = lay_out(table, width)
        lines += found.lines
        dropped += [name for name in found.dropped if name not in dropped]
        seen |= {column.name for column in table.columns}.difference(found.dropped)
    notes = _all_notes(tables, signatures, bold=colours)
    if dropped:
        for name in set(dropped) - seen:
            notes.pop(name, None)
        names = ", ".join(map(visible, dropped))
        notes = {"not shown": f"{names} (a wider terminal or --format tsv shows them)", **notes}
    if notes:
        lines.append([])
    for name, text in notes.items():
        shown = f"{name}: {text}"
        found_lines = [visible(shown)] if width is None else folded(shown, width, "  ")
        lines += [[(line, "dim")] for line in found_lines]
    return lines


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


def _delimited(table: Table, separator: str) -> str:
    records = table.records()
    forms = {(column.key or column.name): column.form for column in table.columns}
    lines = [list(records[0])] if records else [[one.key or one.name for one in table.columns]]
    for record in records:
        lines.append([_raw(value, forms.get(key, "")) for key, value in record.items()])
    rows = [[_for_programs(cell) for cell in line] for line in lines]
    if separator == "\t":
        return "".join("\t".join(row) + "\n" for row in rows)
    buffer = StringIO()
    csv.writer(buffer, lineterminator="\n").writerows(rows)
    return buffer.getvalue()


def _raw(value: object, form: str) -> str:
    return repr(value) if isinstance(value, int | float) else written(value, form)


def _markdown(table: Table) -> str:
    columns = range(len(table.columns))
    lines = [
        [_for_markdown(heading(column)) for column in table.columns],
        ["---:" if table.align(number) == "right" else "---" for number in columns],
    ]
    for _, row in table.grouped_rows():
        cells = []
        for cell, column in zip(row, table.columns, strict=True):
            text, small = map(_for_markdown, (cell.text(column), cell.small_print(column)))
            cells.append(f"{f'**{text}**' if cell.best and text else text} {small}".strip())
        lines.append(cells)
    caption = f"{_markdown_paragraph(table.caption)}\n\n" if table.caption else ""
    return caption + "".join("| " + " | ".join(line) + " |\n" for line in lines)


def _latex(table: Table) -> str:
    columns = range(len(table.columns))
    sides = "".join(_latex_side(table, number) for number in columns)
    top = _latex_row([_for_latex(heading(column)) for column in table.columns])
    lines = [f"% {visible(table.caption)}"] if table.caption else []
    lines += [f"\\begin{{tabular}}{{{sides}}}", "\\toprule", top, "\\midrule"]
    for begins, row in table.grouped_rows():
        lines += ["\\midrule"] * begins
        cells = []
        for cell, column in zip(row, table.columns, strict=True):
            beside = cell.small_print(column, letters=False)
            text, small = map(_for_latex, (cell.text(column), beside))
            text = f"\\textbf{{{text}}}" if cell.best else text
            if cell.letters:
                text += f"$^{{\\mathrm{{{_for_latex(cell.letters)}}}}}$"
            cells.append(f"{text} {{\\small {small}}}" if small else text)
        lines.append(_latex_row(cells))
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}"]) + "\n"


def _latex_side(table: Table, number: int) -> str:
    share = table.columns[number].share
    if share:
        return f"p{{{share:g}\\linewidth}}"
    return "r" if table.align(number) == "right" else "l"


def _html(table: Table) -> str:
    columns = range(len(table.columns))
    sides = [f'class="{table.align(number)}"' for number in columns]
    names = [_for_html(heading(column)) for column in table.columns]
    top = "".join(f"<th {side}>{name}</th>" for side, name in zip(sides, names, strict=True))
    lines = ["<table>"]
    if table.caption:
        lines.append(f"<caption>{_for_html(table.caption)}</caption>")
    lines += [f"<thead><tr>{top}</tr></thead>", "<tbody>"]
    for _, row in table.grouped_rows():
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


def joined_signatures(tables: Sequence[Table]) -> dict[str, str]:
    """The signatures of all; of two with one name, that of the earlier table."""
    found: dict[str, str] = {}
    for table in tables:
        for name, text in table.signatures.items():
            found.setdefault(name, text)
    return found


def short_signature(signature: str) -> str:
    """Eight digits by which to see whether two signatures agree.

    Examples
    --------
    >>> short_signature("metric:bleu|order:4")
    'a81a102a'
    """
    return hashlib.sha256(signature.encode("utf-8", "surrogatepass")).hexdigest()[:8]


def _all_notes(tables: Sequence[Table], full: bool, *, bold: bool = True) -> dict[str, str]:
    """Notes that have something to speak of, and signatures, in full or as one line."""
    notes = joined_notes(tables)
    if not (bold and any(cell.best for table in tables for row in table.rows for cell in row)):
        notes.pop("bold", None)
    signatures = joined_signatures(tables)
    if full:
        return notes | signatures
    if signatures:
        notes["sig"] = short_signatures(signatures)
    return notes


def short_signatures(signatures: Mapping[str, str]) -> str:
    """The signatures of metrics and procedures on one line."""
    each = ", ".join(f"{name} {short_signature(text)}" for name, text in signatures.items())
    return f"{each} (in full with --signatures)"


def _notes(tables: Sequence[Table], format: TextFormat, signatures: bool) -> str:
    lines = [f"{name}: {text}" for name, text in _all_notes(tables, signatures).items()]
    if not lines:
        return ""
    if format == "markdown":
        return "\n" + "  \n".join(map(_markdown_code, lines)) + "\n"
    if format == "html":
        return "".join(f"<p><small>{_for_html(line)}</small></p>\n" for line in lines)
    return "".join(f"% {visible(line)}\n" for line in lines)


# What users named or wrote is cleaned here and nowhere else, for each format by one function.


def _in_one_cell(text: str) -> str:
    """White space of every kind becomes a space."""
    return visible(" ".join(text.split()))


#: What a spreadsheet takes for the beginning of a formula (OWASP's list, with the wide forms) or
#: of a quoted cell.
_NOT_FIRST = tuple('=+-@＝＋－＠"')


def _for_programs(text: str) -> str:
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
        "↑": r"$\uparrow$",
        "↓": r"$\downarrow$",
    }
)


def _for_latex(text: str) -> str:
    return visible(text).translate(_LATEX).replace("--", "-{}-{}")


def _latex_row(cells: Sequence[str]) -> str:
    r"""A row; after `\\` or a rule, LaTeX would read [..] or * as an argument of that."""
    first = re.sub(r"^(\s*)([\[*])", r"\1{\2}", cells[0])
    return " & ".join([first, *cells[1:]]) + " \\\\"
