"""MQM as the WMT publishes it: a row for each error, its span marked with <v> in the text.

Columns and weights are those of github.com/google/wmt-mqm-human-evaluation and of Freitag et al.
(2021), "Experts, Errors, and Context"; names and weights of later years (`globalSegId`, critical
errors, source issues) those of github.com/wmt-conference/wmt24-news-systems.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import ClassVar

from deltableu.corpus import Rating
from deltableu.errors import InputError, Problem
from deltableu.io import Report, shown
from deltableu.layouts.foreign import by_tabs, columns_of, foreign_rows
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.parts import FoundItem, FoundOutput, Place
from deltableu.layouts.segments import Segments
from deltableu.layouts.table import is_wanted

_MEANINGS = {
    "system": "system: who wrote the target",
    "doc": "document: what the segment belongs to",
    "rater": "rater: who marked the errors",
    "source": "message: what was translated",
    "target": "prediction: the translation, with a span marked",
    "category": "criterion: the sort of error, as far as the slash",
    "severity": "value: how bad the error is",
}
#: The segment's number in the whole test set, as it was called over the years.
_NUMBERS = ("globalSegId", "seg_id")
_SEVERITIES = {"major": 5.0, "critical": 5.0, "minor": 1.0, "neutral": 0.0, "no-error": 0.0}
_NON_TRANSLATION = 25.0
_MINOR_PUNCTUATION = 0.1


def error_weight(category: str, severity: str) -> float:
    """How much an error weighs (Freitag et al., 2021, section 3).

    Examples
    --------
    >>> error_weight("Accuracy/Omission", "Major"), error_weight("Fluency/Punctuation", "Minor")
    (5.0, 0.1)
    >>> error_weight("Non-translation!", "Major"), error_weight("No-error", "No-error")
    (25.0, 0.0)
    """
    sort, level = category.strip().lower(), severity.strip().lower() or "no-error"
    if level not in _SEVERITIES:
        message = f"must be Major, Minor, Neutral or No-error, got {shown(severity)}"
        raise InputError(Problem(message, field="severity"))
    weight = _SEVERITIES[level]
    if weight == 0 or sort.startswith(("source issue", "source error", "no-error")):
        return 0.0
    if "reinterpretation" in sort:
        return 0.0
    if sort.startswith("non-translation"):
        return _NON_TRANSLATION
    if level == "minor" and sort.startswith("fluency/punctuation"):
        return _MINOR_PUNCTUATION
    return weight


def top_category(category: str) -> str | None:
    """The criterion of an error: its category as far as the slash; None where there is no error.

    Examples
    --------
    >>> top_category("Locale convention/Date format"), top_category("No-error")
    ('locale-convention', None)
    """
    top = category.partition("/")[0].strip().lower().rstrip("!").replace(" ", "-")
    return None if top in ("no-error", "") else top


@dataclass(slots=True)
class _Marked:
    """What one rater marked in one output."""

    place: Place
    weights: dict[str, float] = field(default_factory=dict)


class MqmLayout(Layout):
    """The errors of a rater in a segment are one rating, `mqm`, and one for each category."""

    name: ClassVar[str] = "mqm"
    summary: ClassVar[str] = "MQM annotations of the WMT: TSV with a row for each error"
    example: ClassVar[str] = "mqm mqm_newstest2021_ende.tsv --refs newstest2021.en-de.ref.A.de"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        if not request.paths:
            raise InputError("name the TSV files of errors")
        if request.sources or request.systems:
            raise InputError("the rows hold sources and outputs: leave out --sources and --systems")
        segments = Segments(request)
        marked: dict[tuple[str, str, str], _Marked] = {}
        categories: dict[str, None] = {}
        for path in request.paths:
            file = str(path)
            for line, row in foreign_rows(path, report, cut=by_tabs):
                place = Place(file, line)
                number = _check_columns(row, file)
                understood.columns[file] = {**_MEANINGS, number: "item: the segment"}
                if not is_wanted(row, request, understood):
                    continue
                cells = {name: str(cell).strip() for name, cell in row.items()}
                item, system = cells[number], cells["system"]
                try:
                    weight = error_weight(cells["category"], cells["severity"])
                    _check_filled(cells, (number, "system", "rater"))
                except InputError as error:
                    problem = error.problem
                    report(Problem(problem.message, file, line, problem.field))
                    continue
                segments.saw(item, place, cells["doc"])
                source, target = unmarked(str(row["source"])), unmarked(str(row["target"]))
                yield FoundItem(item, source, meta={"document": cells["doc"]}), place
                yield FoundOutput(system, item, target), place
                of = marked.setdefault((cells["rater"], item, system), _Marked(place)).weights
                top = top_category(cells["category"])
                if top is not None:
                    categories.setdefault(top)
                    of[top] = of.get(top, 0.0) + weight
        yield from segments.read(report, field="seg_id", only_seen=True)
        yield from _ratings(marked, list(categories))


def _ratings(marked: Mapping[tuple[str, str, str], _Marked], categories: list[str]) -> Parts:
    """Penalties below 0; a category in which a rater found nothing is 0 as well."""
    for (rater, item, system), one in marked.items():
        target = f"system:{system}"
        for criterion, penalty in _penalties(one.weights, categories):
            yield Rating(rater, item, target, 0.0 - round(penalty, 9), criterion), one.place


def _penalties(weights: Mapping[str, float], categories: list[str]) -> Iterator[tuple[str, float]]:
    yield "mqm", sum(weights.values())
    for name in categories:
        yield name, weights.get(name, 0.0)


def unmarked(text: str) -> str:
    """A text without the marks around an error.

    Examples
    --------
    >>> unmarked("a <v>bad</v> word")
    'a bad word'
    """
    return text.replace("<v>", "").replace("</v>", "")


def _check_columns(row: Mapping[str, object], file: str) -> str:
    """The column of the segment's number."""
    number = next((one for one in _NUMBERS if one in row), None)
    for column in (*_MEANINGS, number or _NUMBERS[-1]):
        if column not in row:
            message = f"there is no such column: it has {columns_of(row)}"
            raise InputError(Problem(message, file, 1, column))
    return number or _NUMBERS[-1]


def _check_filled(cells: Mapping[str, str], columns: tuple[str, ...]) -> None:
    for column in columns:
        if not cells[column]:
            raise InputError(Problem("is empty", field=column))
