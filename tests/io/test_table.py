"""A table in each of its looks."""

from __future__ import annotations

import pytest

from deltableu.io.table import Cell, Table, to_latex, to_markdown, to_rich, to_tsv

TABLE = Table(
    ("system", "bleu"),
    (
        (Cell("a_b&c%"), Cell("12.30", "[10.00, 14.00]", best=True)),
        (Cell("x|y\tz"), Cell("-0.50")),
    ),
)


def test_tsv_keeps_one_cell_a_column():
    assert to_tsv(TABLE) == "system\tbleu\na_b&c%\t12.30 [10.00, 14.00]\nx|y z\t-0.50\n"


def test_markdown_escapes_bars_and_marks_the_best():
    assert to_markdown(TABLE) == (
        "| system | bleu |\n"
        "| --- | ---: |\n"
        "| a_b&c% | **12.30** [10.00, 14.00] |\n"
        "| x\\|y\tz | -0.50 |\n"
    )


def test_latex_escapes_and_marks_the_best():
    assert to_latex(TABLE).splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"system & bleu \\",
        r"\midrule",
        r"a\_b\&c\% & \textbf{12.30} {\small [10.00, 14.00]} \\",
        "x|y\tz & -0.50 \\\\",
        r"\bottomrule",
        r"\end{tabular}",
    ]


@pytest.mark.parametrize(
    ("character", "escaped"),
    [
        ("\\", r"\textbackslash{}"),
        ("&", r"\&"),
        ("%", r"\%"),
        ("$", r"\$"),
        ("#", r"\#"),
        ("_", r"\_"),
        ("{", r"\{"),
        ("}", r"\}"),
        ("~", r"\textasciitilde{}"),
        ("^", r"\textasciicircum{}"),
        ("\n", " "),
    ],
)
def test_latex_escapes_every_special_character_once(character, escaped):
    table = Table((f"h{character}h",), ((Cell(f"c{character}c", f"n{character}n"),),))
    text = to_latex(table)
    assert f"h{escaped}h" in text
    assert f"c{escaped}c {{\\small n{escaped}n}}" in text


def test_a_name_in_brackets_is_no_argument_of_the_line_before():
    r"""In LaTeX, the `[x]` after `\\\\` and after `\\midrule` is a length, here an error."""
    table = Table(("a", "b"), ((Cell("[k]"), Cell("1")), (Cell("[m]"), Cell("2"))))
    lines = to_latex(table).splitlines()
    assert [line for line in lines if line.lstrip().startswith("[")] == []
    assert sum("[k]" in line or "[m]" in line or "{[}" in line for line in lines) == 2


def test_terminal_text_is_shown_as_it_is(capsys):
    from rich.console import Console

    table = Table(("system",), ((Cell("[bold]not markup[/bold]"),), (Cell(":smile:"),)), "[red]")
    console = Console(width=60, no_color=True)
    console.print(to_rich(Table(table.columns, table.rows)))
    out = capsys.readouterr().out
    assert "[bold]not markup[/bold]" in out
    assert ":smile:" in out


@pytest.mark.parametrize("width", [20, 30, 40])
def test_a_narrow_terminal_folds_names_and_loses_nothing(width, capsys):
    from rich.console import Console

    name = "a-very-long-system-name-that-does-not-fit"
    Console(width=width).print(to_rich(Table(("system", "bleu"), ((Cell(name), Cell("1.23")),))))
    out = capsys.readouterr().out
    assert "…" not in out
    cells = out[out.rindex("─") + 1 :].replace("1.23", "")
    assert name in "".join(cells.split())
    assert "1.23" in out
