"""Simulated raters: how they are told from people, and how tables made from them are labelled."""

from __future__ import annotations

from dataclasses import replace

from deltableu.io import Column, Table

#: What the names of simulated raters begin with.
SIMULATED_PREFIX = "simulated-"
#: What signatures say of scores and weights that come from them.
SIMULATED_RATERS = "simulated-raters"
#: What people read.
SIMULATED_LABEL = "(simulated raters)"


def says_simulated(signature: str) -> bool:
    """Whether a signature says that ratings behind a score or weight are simulated.

    Examples
    --------
    >>> says_simulated("z-10simulated-raters-min1"), says_simulated("z-10raters-min1")
    (True, False)
    """
    return SIMULATED_RATERS in signature


def rater_words(number: int, *, simulated: bool) -> str:
    """How many raters, as signatures say it: `10raters`, or `10simulated-raters`."""
    return f"{number}{SIMULATED_RATERS if simulated else 'raters'}"


def of_simulated(text: str) -> str:
    """A text about people, said of simulated raters.

    Examples
    --------
    >>> of_simulated("pearson with people"), of_simulated("people's scores")
    ('pearson with simulated raters', "simulated raters' scores")
    """
    return text.replace("people's", "simulated raters'").replace("people", "simulated raters")


def told_of_simulated(table: Table) -> Table:
    """The table, with simulated raters wherever it speaks of people, and labelled."""
    columns = [replace(one, name=of_simulated(one.name)) for one in table.columns]
    notes = {of_simulated(name): of_simulated(text) for name, text in table.notes.items()}
    made = Table(columns, table.rows, of_simulated(table.caption), notes, table.signatures)
    return labelled(made)


def labelled(table: Table, simulated: bool = True) -> Table:
    """The table with a caption that says that raters are simulated, if they are.

    Examples
    --------
    >>> labelled(Table(["system"], [["A"]], "systems")).caption
    'systems (simulated raters)'
    """
    if not simulated or SIMULATED_LABEL in table.caption:
        return table
    caption = f"{table.caption} {SIMULATED_LABEL}".strip()
    return Table(table.columns, table.rows, caption, table.notes, table.signatures)


def labelled_rows(table: Table, simulated: bool = True) -> Table:
    """The table with a column `simulated`, for forms that have no caption, such as TSV.

    Examples
    --------
    >>> labelled_rows(Table(["system"], [["A"]])).records()
    [{'system': 'A', 'simulated': True}]
    """
    if not simulated or any(one.name == "simulated" for one in table.columns):
        return table
    columns = (*table.columns, Column("simulated"))
    rows = [(*row, True) for row in table.rows]
    return Table(columns, rows, table.caption, table.notes, table.signatures)
