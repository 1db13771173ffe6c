"""A table in, lines for a terminal of some width out: no number and no word is ever broken.

What does not fit is tried in this order: headings wrap at spaces and hyphens, texts wrap at spaces,
long names are cut in the middle, columns are dropped, and of those that are left names are cut
shorter.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from deltableu._visible import visible
from deltableu.io.written import written

if TYPE_CHECKING:
    from deltableu.io.table import Align, Cell, Column, Table

#: A piece of a line and how it is printed.
Span = tuple[str, str]
Line = list[Span]

_GAP = 2
#: Names are cut to this length before columns are dropped, and shorter only after that.
_NAME = 20
_SHORTEST_NAME = 4
_ARROWS = {"higher": "↑", "lower": "↓"}
#: What a dropped interval is called, after the name of its column.
_ENDS = " low and high"
#: Not broken, but shown as a space.
_GLUE = "\u00a0"
#: "bleu-4" and "kendall-b" are not broken.
_HEADING = re.compile(r"(?<=\w-)(?=[^\W\d_]{2})| +")
_NUMBER = re.compile(r"[^\w]*\d[\d.,:e%/x+-]{0,23}[^\w]*", re.ASCII)


@dataclass(frozen=True, slots=True)
class TableLines:
    """The lines of a table, and the columns that found no room."""

    lines: list[Line]
    dropped: tuple[str, ...]


@dataclass(slots=True)
class _Strip:
    """What stands below each other: values, low ends, letters."""

    heading: str
    cells: list[Span]
    align: Align
    gap: int = _GAP
    #: Whether a cell's text may be wrapped and its words cut; numbers never are.
    is_text: list[bool] = field(default_factory=list)
    #: Texts get at least this much before columns are dropped.
    room: int = 0


@dataclass(slots=True)
class _Unit:
    """Strips that are shown or dropped together."""

    name: str
    drop: int
    strips: list[_Strip]


def lay_out(table: Table, width: int | None = None) -> TableLines:
    """The lines of a table that fit a width; without one, all columns on lines of any length."""
    shown = table.grouped_rows()
    gaps = {place for place, (begins, _) in enumerate(shown) if begins}
    units = _units(table, [row for _, row in shown])
    dropped: list[str] = []
    if width is None:
        strips = [strip for unit in units for strip in unit.strips]
        return TableLines(_lines(strips, [_natural(one) for one in strips], {}, gaps), ())
    order = sorted(
        range(1, len(units)), key=lambda place: (units[place].drop, place)
    )  # the first column says what the rows are about
    while True:
        strips = [strip for unit in units if unit.strips for strip in unit.strips]
        limit = _limit(strips, width, last=not order)
        if limit is not None or not order:
            break
        unit = units[order.pop()]
        dropped.insert(0, unit.name)
        unit.strips = []
        if unit.name + _ENDS in dropped:
            dropped.remove(unit.name + _ENDS)
    cut = shortened(_words(strips), limit or _SHORTEST_NAME)
    least = [_least(one, cut, tight=not order) for one in strips]
    widths = _widened(strips, least, cut, width)
    return TableLines(_lines(strips, widths, cut, gaps), tuple(dropped))


def _limit(strips: Sequence[_Strip], width: int, *, last: bool) -> int | None:
    """The longest that words may be for these strips to fit; None if nothing helps."""
    words = _words(strips)
    longest = max(map(cells, words), default=0)
    room = min(_NAME, max(width // 4, 2 * _SHORTEST_NAME))
    floor = _SHORTEST_NAME if last else min(room, longest)

    def fits(limit: int) -> bool:
        cut = shortened(words, limit)
        return _total(strips, [_least(one, cut, tight=last) for one in strips]) <= width

    if fits(longest):
        return longest
    if longest <= floor or not fits(floor):
        return floor if last else None
    low, high = floor, longest  # low fits, high does not
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


# --- What a table consists of ---------------------------------------------------------------------


def heading(column: Column) -> str:
    """The heading for people, with a mark of which direction is better."""
    mark = _ARROWS.get(column.better or "", "")
    return f"{column.name} {mark}".strip()


def _units(table: Table, rows: Sequence[Sequence[Cell]]) -> list[_Unit]:
    units = []
    for number, column in enumerate(table.columns):
        found = [row[number] for row in rows]
        units += _column_units(column, found, table.align(number))
    if units:
        units[0].strips[0].gap = 0
    return units


def _column_units(column: Column, found: Sequence[Cell], align: Align) -> list[_Unit]:
    name = column.name or column.key or "value"
    mark = _ARROWS.get(column.better or "", "")
    title = visible(column.name) + (_GLUE + mark if mark else "")
    if any(hasattr(one.value, "high") for one in found):
        prefix = "" if column.name == "interval" else f"{visible(column.name)} "
        strips = [
            _ends(found, column, f"{prefix}low", lambda cell: getattr(cell.value, "low", None)),
            _ends(found, column, f"{prefix}high", lambda cell: getattr(cell.value, "high", None)),
        ]
        return [_Unit(name, column.drop, strips)]
    is_text = [not _is_number(one) for one in found]
    beside = align == "right" and not all(is_text)
    values = []
    for one in found:
        small = "" if beside else " ".join(filter(None, (one.letters, one.note)))
        text = visible(" ".join(filter(None, (one.text(column), small))))
        values.append((text, "bold" if one.best else ""))
    strips = [_Strip(title, values, align, is_text=is_text, room=column.room)]
    if beside:
        for part in ("letters", "note"):
            texts = [visible(getattr(one, part)) for one in found]
            if any(texts):
                numbers = [bool(_NUMBER.fullmatch(text)) for text in texts]
                strips.append(
                    _Strip(
                        "",
                        [(text, "dim") for text in texts],
                        "left",
                        gap=1,
                        is_text=[not one for one in numbers],
                        room=column.room,
                    )
                )
    units = [_Unit(name, column.drop, strips)]
    if any(one.interval is not None for one in found):
        low = _ends(found, column, "low", lambda cell: cell.interval and cell.interval.low)
        high = _ends(found, column, "high", lambda cell: cell.interval and cell.interval.high)
        units.append(_Unit(name + _ENDS, column.drop + 1, [low, high]))
    return units


def _ends(
    found: Sequence[Cell], column: Column, title: str, end: Callable[[Cell], object]
) -> _Strip:
    texts = [
        (visible(written(end(one), column.form if one.form is None else one.form)), "dim")
        for one in found
    ]
    return _Strip(title, texts, "right", is_text=[False] * len(texts))


def _is_number(cell: Cell) -> bool:
    return isinstance(cell.value, int | float) or hasattr(cell.value, "item")


# --- Words and widths -----------------------------------------------------------------------------


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _words(strips: Iterable[_Strip]) -> list[str]:
    """Words that may be cut: of texts and of headings, but no numbers."""
    words: dict[str, None] = {}
    for strip in strips:
        words |= dict.fromkeys(_heading_words(strip.heading))
        for (text, _), is_text in zip(strip.cells, strip.is_text, strict=True):
            if is_text:
                words |= dict.fromkeys(text.split())
    return [word for word in words if not _NUMBER.fullmatch(word)]


def _heading_words(text: str) -> list[str]:
    return [piece for piece in _HEADING.split(text) if piece]


def shortened(words: Sequence[str], limit: int) -> dict[str, str]:
    """Words longer than the limit, cut in the middle; different words stay different.

    Examples
    --------
    >>> shortened(["transformer-large-seed-1", "transformer-large-seed-2", "bleu"], 10)
    {'transformer-large-seed-1': 'trans…ed-1', 'transformer-large-seed-2': 'trans…ed-2'}
    """
    long = [word for word in words if cells(word) > limit]
    kept = {word for word in words if cells(word) <= limit}
    for head in sorted(range(1, limit - 1), key=lambda size: abs(size - limit // 2)):
        made = {word: _cut(word, head, limit) for word in long}
        if len({*made.values()} | kept) == len(long) + len(kept):
            return made
    made, taken = {}, set(kept)
    for word in long:  # no one place tells all apart, so that they are numbered
        number, short = 0, _cut(word, limit // 2, limit)
        while short in taken:
            number += 1
            ending = f"…{number}"
            short = _first(word, max(limit - len(ending), 0)) + ending
        made[word] = short
        taken.add(short)
    return made


def _cut(word: str, head: int, limit: int) -> str:
    start = _first(word, head)
    end = _first(word[::-1], limit - 1 - head)[::-1]
    return f"{start}…{end}"


def _first(text: str, room: int) -> str:
    if text.isascii():
        return text[:room]
    taken = ""
    for character in text:
        if cells(taken + character) > room:
            break
        taken += character
    return taken


def _natural(strip: _Strip) -> int:
    return max(cells(strip.heading), max((cells(text) for text, _ in strip.cells), default=0))


def _least(strip: _Strip, cut: dict[str, str], *, tight: bool) -> int:
    """The narrowest that a strip can be, or should be while columns can be dropped."""
    room = 0 if tight else strip.room
    least = max((cells(cut.get(one, one)) for one in _heading_words(strip.heading)), default=0)
    for (text, _), is_text in zip(strip.cells, strip.is_text, strict=True):
        if is_text:
            words = [cut.get(word, word) for word in text.split()]
            whole = cells(" ".join(words))
            least = max(least, min(whole, room), *map(cells, words), 0)
        else:
            least = max(least, cells(text))
    return least


def _total(strips: Sequence[_Strip], widths: Sequence[int]) -> int:
    return sum(widths) + sum(strip.gap for strip in strips)


def _widened(
    strips: Sequence[_Strip], least: Sequence[int], cut: dict[str, str], width: int
) -> list[int]:
    """Widths, with what is left given first to texts that wrap, then to headings."""
    widths = list(least)
    texts = [
        max((cells(_with_cuts(text, cut)) for text, _ in one.cells), default=0) for one in strips
    ]
    headings = [cells(one.heading) for one in strips]
    for wanted in (texts, headings):
        spare = width - _total(strips, widths)
        short = sorted(
            (place for place in range(len(strips)) if wanted[place] > widths[place]),
            key=lambda place: wanted[place] - widths[place],
        )
        for rank, place in enumerate(short):
            given = min(wanted[place] - widths[place], spare // (len(short) - rank))
            widths[place] += max(given, 0)
            spare -= max(given, 0)
    return widths


def _with_cuts(text: str, cut: dict[str, str]) -> str:
    return " ".join(cut.get(word, word) for word in text.split(" ")) if cut else text


# --- Lines ----------------------------------------------------------------------------------------


def _lines(
    strips: Sequence[_Strip], widths: Sequence[int], cut: dict[str, str], gaps: Container[int]
) -> list[Line]:
    tops = []
    for strip, width in zip(strips, widths, strict=True):
        pieces = [cut.get(one, one) for one in _heading_words(strip.heading)]
        tops.append(_heading_lines(strip.heading, pieces, width, cut))
    height = max(map(len, tops), default=0)
    lines = [
        _joined(strips, widths, [([""] * (height - len(top)) + top)[row] for top in tops], None)
        for row in range(height)
    ]
    # Under one column or many, a heading must be told from the first row.
    lines.append([("─" * max(_total(strips, widths), 1), "")])
    for place in range(len(strips[0].cells) if strips else 0):
        if place in gaps:
            lines.append([])
        wrapped = [
            wrap(_with_cuts(strip.cells[place][0], cut), width)
            if strip.is_text[place]
            else [strip.cells[place][0]]
            for strip, width in zip(strips, widths, strict=True)
        ]
        for row in range(max(map(len, wrapped))):
            texts = [one[row] if row < len(one) else "" for one in wrapped]
            lines.append(_joined(strips, widths, texts, place))
    return lines


def _heading_lines(text: str, pieces: list[str], width: int, cut: dict[str, str]) -> list[str]:
    if not cut and cells(text) <= width:
        return [text.replace(_GLUE, " ")]
    lines = [""]
    for piece in pieces:
        together = lines[-1] + ("" if not lines[-1] or lines[-1].endswith("-") else " ") + piece
        if lines[-1] and cells(together) > width:
            lines.append(piece)
        else:
            lines[-1] = together
    return [line.replace(_GLUE, " ") for line in lines]


def _joined(
    strips: Sequence[_Strip], widths: Sequence[int], texts: Sequence[str], row: int | None
) -> Line:
    line: Line = []
    for strip, width, text in zip(strips, widths, texts, strict=True):
        pad = " " * (width - cells(text))
        style = "bold" if row is None else strip.cells[row][1]
        before = " " * strip.gap + (pad if strip.align == "right" else "")
        line += [(before, ""), (text, style), ("" if strip.align == "right" else pad, "")]
    while line and not line[-1][0].strip(" "):
        line.pop()
    return [span for span in line if span[0]]


def wrap(text: str, width: int | None, indent: str = "", *, whole_words: bool = False) -> list[str]:
    """Lines of at most this width, broken between words, those after the first indented.

    A word that is longer than a line, as signatures are, is broken after its bars, unless words
    are to stay whole, as paths should, which people copy.
    """
    if width is None or cells(text) <= width:
        return [text]
    lines: list[str] = []
    line = ""
    for word in text.split() if whole_words else _foldable(text, width - len(indent)):
        glued = line and not word.startswith("\0")
        together = f"{line} {word}" if glued else line + word.removeprefix("\0")
        if line.strip() and cells(together) > width:
            lines.append(line)
            line = indent + word.removeprefix("\0")
        else:
            line = together
    return [*lines, line]


def _foldable(text: str, width: int) -> list[str]:
    words: list[str] = []
    for word in text.split():
        if cells(word) <= width:
            words.append(word)
            continue
        begun = False
        for part in re.findall(r"[^|]*\|?", word):
            while part:
                piece = _first(part, max(width, 1)) or part[0]
                words.append(("\0" if begun else "") + piece)
                part, begun = part[len(piece) :], True
    return words
