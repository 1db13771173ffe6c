"""Explanations for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from deltableu._visible import visible
from deltableu.io import folded
from deltableu.report.explain import (
    Answer,
    Case,
    by_weight,
    corpus_line,
    line,
    ngram_table,
    number,
    row_line,
    token_mark,
    unmatched,
    verdict,
)
from deltableu.score import Explanation, Mark

if TYPE_CHECKING:
    import rich.console
    import rich.table
    import rich.text


# Okabe and Ito 2008; white is legible on both.
_BLUE, _VERMILLION = "#0072b2", "#d55e00"
_STYLES: dict[Mark, str] = {
    "credit": f"white on {_BLUE}",
    "penalty": f"white on {_VERMILLION}",
    "shield": "underline",
    "match": "underline dim",
    "none": "dim",
}
_SIGNS: dict[Mark, str] = {"credit": "+", "penalty": "-", "shield": "=", "match": "~", "none": ""}
_LEGEND = (
    "word(+0.9) earned, word(-0.7) cost; in references +word earned, -word cost, =word kept it at "
    "0, ~word matched but another reference decided"
)
#: From this width on, nobody looks at a terminal.
_NO_TERMINAL = 1001


def terminal_view(
    cases: Sequence[Case], heading: str, signature: str, *, width: int
) -> rich.console.Group:
    """For a rich console; two systems stand side by side where the terminal is wide enough.

    The heading and the signature stand above and below all.
    """
    from rich.console import Group
    from rich.table import Table as RichTable
    from rich.text import Text

    parts: list[Any] = [_text(heading, style="bold"), _text(_LEGEND, style="dim")]
    for case in cases:
        parts += ["", _text(f"item {case.item.id}", style="bold underline")]
        for turn in case.item.context:
            parts.append(_hanging("  context  ", _text(line(turn)), style="dim"))
        if case.item.message is not None:
            parts.append(_hanging("  message  ", _text(line(case.item.message))))
        blocks = [Group(*_block(case, answer)) for answer in case.answers]
        if len(blocks) == 2 and 150 <= width < _NO_TERMINAL:
            grid = RichTable.grid(expand=True, padding=(0, 4, 0, 0))
            grid.add_column(ratio=1)
            grid.add_column(ratio=1)
            grid.add_row(*blocks)
            parts.append(grid)
        else:
            parts += blocks
    below = folded(signature, width, "  ") if width < _NO_TERMINAL else [visible(signature)]
    return Group(*parts, "", Text("\n".join(below), style="dim"))


def _block(case: Case, answer: Answer) -> Iterator[Any]:
    found = answer.explanation
    yield ""
    yield _text(f"{answer.system}  {answer.score:.2f}", style="bold")
    yield _hypothesis_text(found)
    for sentence in verdict(case, answer):
        yield _hanging("  ", _text(sentence))
    yield _hanging("row     ", _text(row_line(case, answer)))
    yield _hanging("corpus  ", _text(corpus_line(answer)))
    yield ngram_table(case, answer)
    for n, texts in unmatched(found):
        yield _hanging(f"{n}-grams in no reference: ", _text(" | ".join(texts)), style="dim")
    yield ""
    for index in by_weight(found):
        yield _reference_text(case, found, index)


def _hypothesis_text(found: Explanation) -> rich.table.Table:
    text = _text("")
    for token in found.tokens():
        credit = token.credit * found.largest_weight
        mark = token_mark(credit, token.matched)
        text.append(visible(token.token), style=_STYLES[mark])
        if mark in ("credit", "penalty"):
            text.append(f"({number(credit)})")
        text.append(" ")
    if not found.hypothesis:
        text.append("(empty)", style="dim")
    text.rstrip()
    return _hanging("> ", text)


def _reference_text(case: Case, found: Explanation, index: int) -> rich.table.Table:
    text = _text("")
    marks = found.reference_marks(index)
    for token, mark in zip(found.references[index], marks, strict=True):
        text.append(_SIGNS[mark] + visible(token), style=_STYLES[mark])
        text.append(" ")
    text.rstrip()
    name, weight = case.reference_ids[index], number(found.weights[index])
    return _hanging(f"{name:>4} {weight:>5}  ", text)


def _hanging(label: str, text: rich.text.Text, style: str = "") -> rich.table.Table:
    """What does not fit on the label's line stands below its own first word."""
    from rich.table import Table as RichTable

    grid = RichTable.grid(padding=0)
    grid.style = style
    grid.add_column(no_wrap=True)
    grid.add_column()
    grid.add_row(_text(label), text)
    return grid


def _text(content: str, style: str = "") -> rich.text.Text:
    """What users wrote is shown, never obeyed."""
    from rich.text import Text

    return Text(visible(content), style=style)
