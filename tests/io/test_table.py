"""A table in each of its looks."""

from __future__ import annotations

import json
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from deltableu.errors import InputError
from deltableu.io import (
    Cell,
    Column,
    Table,
    fact_table,
    record_tables,
    render,
    render_terminal,
    short_signature,
)
from deltableu.io.table_layout import lay_out, shortened


@dataclass(frozen=True)
class Ends:
    low: float
    high: float


TABLE = Table(
    ("system", Column("bleu", ".2f")),
    (
        ("a_b&c%", Cell(12.3, Ends(10.0, 14.0), best=True)),
        ("x|y\tz", -0.5),
    ),
)


def test_tsv_is_for_programs():
    assert TABLE.to_tsv() == (
        "system\tbleu\tbleu low\tbleu high\na_b&c%\t12.3\t10.0\t14.0\nx|y z\t-0.5\t\t\n"
    )


def test_records_hold_every_number_whole():
    assert TABLE.records() == [
        {"system": "a_b&c%", "bleu": 12.3, "bleu low": 10.0, "bleu high": 14.0},
        {"system": "x|y\tz", "bleu": -0.5, "bleu low": None, "bleu high": None},
    ]
    assert json.loads(TABLE.to_json()) == TABLE.records()


def test_records_know_what_is_no_number():
    value = Table(["x"], [[np.float64("nan")], [np.int64(3)], [(1, 2)], [None]])
    assert [record["x"] for record in value.records()] == [None, 3, [1, 2], None]
    assert value.to_tsv() == "x\n\n3\n1, 2\n\n"


def test_letters_notes_and_headings_that_repeat_have_columns_of_their_own():
    table = Table(["a", Column("p", "p"), Column("p", "p")], [["x", Cell(0.1, letters="ab"), 0.2]])
    assert table.records() == [{"a": "x", "p": 0.1, "p letters": "ab", "p #2": 0.2}]
    noted = Table([Column("", key="system"), ""], [["x", Cell(1, note="*")]])
    assert noted.records() == [{"system": "x", "value": 1, "value note": "*"}]


def test_a_column_of_intervals():
    table = Table(["a", Column("interval", ".1f")], [["x", Ends(0.25, 1.0)], ["y", None]])
    assert table.to_tsv() == "a\tinterval low\tinterval high\nx\t0.25\t1.0\ny\t\t\n"
    assert "| x | [0.2, 1.0] |" in table.to_markdown()


def test_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = replace(TABLE, notes={"bleu": "metric:bleu"}).to_frame()
    assert isinstance(frame, pandas.DataFrame)
    assert frame["bleu"].tolist() == [12.3, -0.5]
    assert frame.attrs["notes"] == {"bleu": "metric:bleu"}


def test_data_frames_need_pandas(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(InputError, match="pip install pandas"):
        TABLE.to_frame()


def test_markdown_escapes_bars_and_marks_the_best():
    assert TABLE.to_markdown() == (
        "| system | bleu |\n"
        "| --- | ---: |\n"
        "| a_b&c% | **12.30** [10.00, 14.00] |\n"
        "| x\\|y\tz | -0.50 |\n"
    )


def test_markdown_escapes_also_what_stands_beside_the_best():
    """The note of a bold cell once broke the row."""
    table = Table(["a", "b"], [["x", Cell("y", note="p|q", best=True)]])
    assert table.to_markdown().splitlines()[-1] == "| x | **y** p\\|q |"


def test_latex_escapes_and_marks_the_best():
    assert TABLE.to_latex().splitlines() == [
        r"\begin{tabular}{lr}",
        r"\toprule",
        r"system & bleu \\",
        r"\midrule",
        r"a\_b\&c\% & \textbf{12.30} {\small [10.00, 14.00]} \\",
        "x\\textbar{}y\tz & -0.50 \\\\",
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
    cell = Cell(f"c{character}c", note=f"n{character}n")
    text = Table([f"h{character}h"], [[cell]]).to_latex()
    assert f"h{escaped}h" in text
    assert f"c{escaped}c {{\\small n{escaped}n}}" in text


def test_a_name_in_brackets_is_no_argument_of_the_line_before():
    r"""In LaTeX, the `[x]` after `\\\\` and after `\\midrule` is a length, here an error."""
    lines = Table(["a", "b"], [["[k]", "1"], ["[m]", "2"]]).to_latex().splitlines()
    assert [line for line in lines if line.lstrip().startswith("[")] == []
    assert sum("[k]" in line or "[m]" in line or "{[}" in line for line in lines) == 2


def test_html_escapes_and_marks_the_best():
    table = Table(["<i>", Column("b", ".1f")], [["&", Cell(1.25, note='"', best=True)]], "x<y")
    html = replace(table, notes={"a": "<b>"}).to_html()
    assert html == (
        "<table>\n<caption>x&lt;y</caption>\n"
        '<thead><tr><th class="left">&lt;i&gt;</th><th class="right">b</th></tr></thead>\n<tbody>\n'
        '<tr><td class="left">&amp;</td><td class="right"><b>1.2</b> <small>&quot;</small></td>'
        "</tr>\n</tbody></table>\n<p><small>a: &lt;b&gt;</small></p>\n"
    )
    assert table._repr_html_() == table.to_html()
    assert "caption" not in table.to_html(bare=True)


def test_people_see_the_name_of_a_group_once():
    columns = [Column("item", group=True), Column("text", share=0.5), "n"]
    table = Table(columns, [["a", "x", 1], ["a", "y", 2], ["b", "[z]", 3], ["a", "x", 4]])
    assert [one["item"] for one in table.records()] == ["a", "a", "b", "a"]
    assert table.to_tsv().splitlines()[2] == "a\ty\t2"
    assert table.to_markdown().splitlines()[2:] == [
        *("| a | x | 1 |", "|  | y | 2 |", "| b | [z] | 3 |", "| a | x | 4 |")
    ]
    assert table.to_terminal(40).splitlines()[2:] == [
        *("a     x     1", "      y     2", "", "b     [z]   3", "", "a     x     4")
    ]
    assert table.to_latex().splitlines() == [
        r"\begin{tabular}{lp{0.5\linewidth}r}",
        *(r"\toprule", r"item & text & n \\", r"\midrule"),
        *(r"a & x & 1 \\", r" & y & 2 \\", r"\midrule", r"b & [z] & 3 \\", r"\midrule"),
        *(r"a & x & 4 \\", r"\bottomrule", r"\end{tabular}"),
    ]
    assert table.to_html().count('<td class="left"></td>') == 1


def test_terminal_text_is_shown_as_it_is():
    table = Table(["system"], [["[bold]not markup[/bold]"], [":smile:"], ["two\nlines"]], "[red]")
    out = replace(table, notes={"[i]": "[/i]"}).to_terminal(60)
    for text in ("[bold]not markup[/bold]", ":smile:", "[red]", "[i]: [/i]", "two lines"):
        assert text in out
    assert str(table) == repr(table) == table.to_terminal()


def test_colours_are_only_there_when_asked_for(monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b[1m12.30" in TABLE.to_terminal(80, colours=True)
    assert "\x1b" not in TABLE.to_terminal(80)


@pytest.mark.parametrize("width", [20, 30, 40])
def test_a_narrow_terminal_cuts_names_in_the_middle(width):
    name = "a-very-long-system-name-that-does-not-fit"
    rows = [[f"{name}-1", 1.23], [f"{name}-2", 4.5]]
    out = Table(["system", Column("bleu", ".2f")], rows).to_terminal(width)
    assert max(map(len, out.splitlines())) <= width
    first, second = out.splitlines()[-2:]
    assert first.startswith("a-")
    assert "…" in first
    assert first.split() == [first.split()[0], "1.23"]
    assert first.split()[0].endswith("-1")
    assert second.split()[0].endswith("-2")


def test_texts_stand_left_and_numbers_right():
    table = Table(["a", "b", "c", Column("d", align="left")], [["x", 1, "y", 2], ["z", "-", "", 3]])
    assert [table.align(column) for column in range(4)] == ["left", "right", "left", "left"]


def test_tables_beside_each_other():
    one = Table(["system", "a"], [["x", 1], ["y", 2]], notes={"rule": "first", "a": "A"})
    two = Table(["system", "b"], [["y", 4], ["x", 3]], notes={"rule": "second", "b": "B"})
    both = one.join([two])
    assert both.records() == [{"system": "x", "a": 1, "b": 3}, {"system": "y", "a": 2, "b": 4}]
    assert both.notes == {"rule": "first", "a": "A", "b": "B"}


def test_several_tables_say_their_notes_once():
    one, two = (Table(["x"], [[1]], notes={"sig": "s", name: "n"}) for name in "ab")
    assert render([one, two], "markdown").endswith("\n\n`sig: s`  \n`a: n`  \n`b: n`\n")
    assert render([one, two], "latex").endswith("% sig: s\n% a: n\n% b: n\n")


def test_tsv_and_csv_are_one_table_and_nothing_else():
    table = Table(["a", "b"], [["x,y", 0.1], ['q"', None]], "caption", {"n": "t"}, {"s": "sig"})
    assert table.to_tsv() == 'a\tb\nx,y\t0.1\nq"\t\n'
    assert table.to_csv() == 'a,b\n"x,y",0.1\n"q""",\n'


def test_signatures_are_short_unless_asked_for():
    table = Table(["a"], [["x"]], signatures={"bleu": "metric:bleu|order:4"})
    short = f"sig: bleu {short_signature('metric:bleu|order:4')} (in full with --signatures)"
    for shown in (table.to_terminal(80), table.to_markdown(), table.to_latex()):
        assert short in shown
    for shown in (
        table.to_terminal(80, signatures=True),
        table.to_markdown(signatures=True),
        table.to_latex(signatures=True),
        table.to_html(),
    ):
        assert "bleu: metric:bleu|order:4" in shown
        assert "sig:" not in shown
    assert table.to_dict()["signatures"] == {"bleu": "metric:bleu|order:4"}


@pytest.mark.parametrize("width", [20, 40, 80, 140, None])
def test_a_verdict_comes_first_and_is_folded(width):
    said = ["v2 is better than v1 by 3.1 delta-bleu-2 (95% interval 0.9 to 5.2)." * 4, "All."]
    table = Table(["a", "b"], [["x", 1]])
    out = render_terminal([table], width, verdict=said)
    above, below = out.split("\n\n", 1)
    assert below == render_terminal([table], width)
    lines = above.splitlines()
    assert max(map(len, lines)) <= min(width or 100, 100)
    assert " ".join(lines[:-1]).split() == said[0].split()
    assert lines[-1] == "All."
    assert "All." not in render([table], "tsv", verdict=said)


def test_bold_is_explained_where_there_is_some():
    plain = Table(["a", "b"], [["x", 1]], notes={"bold": "the best"})
    best = replace(plain, rows=[[Cell("x"), Cell(1, best=True)]])
    assert "the best" not in plain.to_markdown()
    assert "the best" in best.to_markdown()
    assert "the best" not in best.to_terminal(80)
    assert "the best" in best.to_terminal(80, colours=True)


def test_arrows_say_which_direction_is_better():
    table = Table([Column("a"), Column("ter", better="lower")], [["x", 1]])
    assert "ter ↓" in table.to_terminal()
    assert "| a | ter ↓ |" in table.to_markdown()
    assert r"a & ter $\downarrow$ \\" in table.to_latex()
    assert table.records() == [{"a": "x", "ter": 1}]
    assert render_terminal([table], ascii_only=True).isascii()


_NAMES = st.text("abcdefgXYZ-_", min_size=1, max_size=30)
_VALUES = st.floats(-1e6, 1e6) | st.integers(-(10**6), 10**6) | st.none()


@st.composite
def _tables(draw: st.DrawFn) -> Table:
    count = draw(st.integers(1, 9))
    names = draw(st.lists(_NAMES, min_size=count, max_size=count, unique=True))
    columns = [Column("system")] + [
        Column(name, ".2f", better=draw(st.sampled_from([None, "lower"])), drop=place % 3)
        for place, name in enumerate(names)
    ]
    rows = []
    for system in draw(st.lists(_NAMES, min_size=1, max_size=4, unique=True)):
        values = [
            Cell(value, Ends(value - 1, value + 1) if value and draw(st.booleans()) else None, "ab")
            for value in draw(st.lists(_VALUES, min_size=count, max_size=count))
        ]
        rows.append([system, *values])
    return Table(columns, rows, "some words in a caption", {"note": "a few words " * 9})


@settings(max_examples=25, deadline=None)
@given(_tables(), st.integers(24, 160))
def test_a_table_fits_and_breaks_no_number(table, width):
    layout = lay_out(table, width)
    out = table.to_terminal(width)
    lines = ["".join(text for text, _ in line) for line in layout.lines]
    # Only in the note on what is not shown may names be longer than a line.
    assert max(map(len, lines)) <= width
    if not any(len(name) > width - 4 for name in layout.dropped):
        assert max(map(len, out.splitlines())) <= width
    shown = " ".join(lines).split()
    for place, column in enumerate(table.columns[1:], start=1):
        if column.name in layout.dropped:
            continue
        for row in table.rows:
            if row[place].value is not None:
                assert row[place].text(column) in shown
    for name in layout.dropped:
        if len(name) <= width - 4:
            assert name in " ".join(out.split())
    rows = lines[next(i for i, line in enumerate(lines) if "─" in line) + 1 :]
    firsts = [line.split()[0] for line in rows]
    assert len(set(firsts)) == len(table.rows)


@given(st.lists(st.text("ab", min_size=1, max_size=12), unique=True, max_size=9), st.integers(4, 9))
def test_names_that_were_cut_stay_different(names, limit):
    cut = shortened(names, limit)
    shown = [cut.get(name, name) for name in names]
    assert len(set(shown)) == len(names)
    assert all(len(name) <= limit for name in shown)


def test_rows_must_fit_the_columns():
    with pytest.raises(ValueError, match="a row has 1 cells for 2 columns"):
        Table(["a", "b"], [["x"]])


def test_facts_and_nested_records():
    assert fact_table(("part", "state"), {"numpy": "2.0"}).records() == [
        {"part": "numpy", "state": "2.0"}
    ]
    record = {"size": 1234, "parts": {"a_b": True, "none": {}}, "epochs": [{"loss": 0.5}, {"x": 1}]}
    facts, parts, epochs = record_tables(record, "model")
    assert "| size | 1,234 |" in facts.to_markdown()
    assert parts.records() == [{"parts": "a b", "value": True}, {"parts": "none", "value": {}}]
    assert epochs.caption == "epochs"
    assert epochs.records() == [{"loss": 0.5, "x": None}, {"loss": None, "x": 1}]
