"""Tables of results, and how they look in a terminal, TSV, Markdown and LaTeX."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    import rich.table

__all__ = ["Cell", "Table", "to_latex", "to_markdown", "to_rich", "to_tsv"]


@dataclass(frozen=True, slots=True)
class Cell:
    """One value as it is shown; `note` follows it in small print, `best` makes it bold."""

    text: str
    note: str = ""
    best: bool = False

    @property
    def plain(self) -> str:
        return f"{self.text} {self.note}" if self.note else self.text


@dataclass(frozen=True, slots=True)
class Table:
    """Column names, rows of cells, and a caption."""

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    caption: str = ""
    align: tuple[Literal["left", "right"], ...] = ()

    def alignment(self, column: int) -> Literal["left", "right"]:
        """Names to the left, numbers to the right, unless the table says otherwise."""
        if self.align:
            return self.align[column]
        return "left" if column == 0 else "right"


def to_tsv(table: Table) -> str:
    """Tab-separated text with a header; white space inside a cell becomes a space."""
    lines = [table.columns, *([cell.plain for cell in row] for row in table.rows)]
    return "".join("\t".join(" ".join(text.split()) for text in line) + "\n" for line in lines)


def to_markdown(table: Table) -> str:
    """A GitHub-style table."""
    marks = ["---:" if table.alignment(i) == "right" else "---" for i in range(len(table.columns))]
    lines = [table.columns, marks]
    for row in table.rows:
        lines.append(
            [
                f"**{_markdown(cell.text)}** {cell.note}".rstrip()
                if cell.best
                else _markdown(cell.plain)
                for cell in row
            ]
        )
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def to_latex(table: Table) -> str:
    """A `tabular` for the booktabs package."""
    spec = "".join("r" if table.alignment(i) == "right" else "l" for i in range(len(table.columns)))
    lines = [f"\\begin{{tabular}}{{{spec}}}", "\\toprule", _latex_row(table.columns), "\\midrule"]
    for row in table.rows:
        cells = []
        for cell in row:
            text = _latex(cell.text)
            text = f"\\textbf{{{text}}}" if cell.best else text
            cells.append(f"{text} {{\\small {_latex(cell.note)}}}" if cell.note else text)
        # LaTeX would read [..] at the beginning of a row as an argument of the line before.
        cells[0] = "{[}" + cells[0][1:] if cells[0].startswith("[") else cells[0]
        lines.append(" & ".join(cells) + " \\\\")
    lines += ["\\bottomrule", "\\end{tabular}"]
    return "\n".join(lines) + "\n"


def to_rich(table: Table) -> rich.table.Table:
    """For a rich console."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text

    made = RichTable(box=SIMPLE_HEAD, pad_edge=False, title=table.caption or None)
    made.title_justify = "left"
    for number, name in enumerate(table.columns):
        # What a table is about must survive a narrow terminal whole.
        made.add_column(Text(name), justify=table.alignment(number), overflow="fold")
    for row in table.rows:
        cells = []
        for cell in row:
            text = Text(cell.text, style="bold" if cell.best else "")
            if cell.note:
                text.append(f" {cell.note}", style="dim")
            cells.append(text)
        made.add_row(*cells)
    return made


def _markdown(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")


def _latex_row(texts: Sequence[str]) -> str:
    return " & ".join(_latex(text) for text in texts) + " \\\\"


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


def _latex(text: str) -> str:
    return text.translate(_LATEX)
