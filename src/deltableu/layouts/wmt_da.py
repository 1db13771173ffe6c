"""The WMT's direct assessments (`ad-*.csv`), raw or standardised, with texts from plain files.

The columns are those of the files that the organisers publish with each news task, such as
github.com/wmt-conference/wmt21-news-systems.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from deltableu.corpus import Kind, Rating
from deltableu.errors import InputError, Problem
from deltableu.io import Report, shown
from deltableu.layouts.foreign import by_blanks, columns_of, foreign_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.parts import Place
from deltableu.layouts.segments import OnePair, Segments
from deltableu.layouts.table import is_wanted, number_of

_KINDS: dict[str, Kind] = {
    "SYSTEM": "item",
    "REPEAT": "repeat",
    "REF": "reference",
    "BAD_REF": "bad-reference",
}
_COLUMNS = {
    "WorkerId": "rater: who rated",
    "sys_id": "system: who wrote the prediction",
    "type": "kind: SYSTEM, REPEAT, REF or BAD_REF",
    "sid": "item: the segment, a line of the text files",
    "score": "value: the rating",
}
_PAIR = ("Input.src", "Input.trg")


class WmtDaLayout(Layout):
    """A row is a rating; `sid` is the number of a line, from 1 on."""

    name: ClassVar[str] = "wmt-da"
    summary: ClassVar[str] = "direct assessments of the WMT (ad-*.csv), texts from plain files"
    example: ClassVar[str] = (
        "wmt-da ad-csen-good-stnd-redup.csv --refs newstest2021.cs-en.ref.A.en "
        "--systems newstest2021.cs-en.hyp.*.en --names newstest2021.cs-en.hyp.{}.en"
    )

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        if not request.paths:
            raise InputError("name the ratings, such as ad-csen-good-stnd-redup.csv")
        segments = Segments(request)
        pair = OnePair(request.pair, understood)
        for path in request.paths:
            file = str(path)
            understood.columns[file] = dict(_COLUMNS)
            # Cells are parted by tabs in some rows and by blanks in others.
            for line, row in foreign_rows(path, report, cut=by_blanks):
                place = Place(file, line)
                _check_columns(row, file)
                try:
                    if not is_wanted(row, request, understood):
                        continue
                    if not pair.keeps("-".join(str(row.get(one)) for one in _PAIR)):
                        continue
                    system = segments.system(str(row["sys_id"]))
                    if system is None:
                        understood.leave_out(f"system {row['sys_id']} has no file in --systems")
                        continue
                    rating = _rating(row, system, request.scale)
                except InputError as error:
                    problem = error.problem
                    report(Problem(problem.message, file, line, problem.field))
                    continue
                segments.saw(rating.item, place)
                yield rating, place
        yield from segments.read(report, field="sid")


def _check_columns(row: Mapping[str, object], file: str) -> None:
    for column in (*_COLUMNS, *_PAIR):
        if column not in row:
            message = f"there is no such column: it has {columns_of(row)}"
            raise InputError(Problem(message, file, 1, column))


def _rating(row: Mapping[str, object], system: str, scale: str | None) -> Rating:
    sort = str(row["type"])
    if sort not in _KINDS:
        message = f"must be one of {', '.join(_KINDS)}, got {shown(sort)}"
        raise InputError(Problem(message, field="type"))
    return Rating(
        rater=str(row["WorkerId"]),
        item=str(row["sid"]),
        target=f"system:{system}",
        value=number_of(row["score"], "score"),
        scale=scale,
        kind=_KINDS[sort],
    )
