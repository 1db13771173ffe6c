"""Segments that ratings know by number in, their texts out: line n of plain files is segment n."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

from deltableu.errors import InputError, Problem
from deltableu.io import Report, shown
from deltableu.layouts.layout import Parts, Request, Understanding
from deltableu.layouts.parts import FoundItem, Place
from deltableu.layouts.plain import read_aligned, system_names

_NUMBERED = re.compile(r"(.+)\.[0-9]+")


class Segments:
    """What ratings are about, and the files that hold its text.

    Parameters
    ----------
    request : Request
        Its plain-text files; one of a system may be written NAME=FILE.
    """

    def __init__(self, request: Request) -> None:
        self._request = request
        self.systems = named_files(request.systems, request.names)
        self._seen: dict[str, tuple[Place, str | None]] = {}

    @property
    def have_texts(self) -> bool:
        """Whether there are files, so that segments go by the numbers of their lines."""
        request = self._request
        return bool(request.references or request.sources or request.documents or self.systems)

    def system(self, name: str) -> str | None:
        """A rated system as its file calls it; None if others have files, but not this one.

        The WMT numbers systems (`Online-B.0`) and puts the name of the test set before them.
        """
        if not self.systems or name in self.systems:
            return name
        found = _NUMBERED.fullmatch(name)
        bare = name if found is None else found[1]
        if bare in self.systems:
            return bare
        fitting = [one for one in self.systems if bare.endswith(f".{one}")]
        return fitting[0] if len(fitting) == 1 else None

    def saw(self, item: str, place: Place, document: str | None = None) -> None:
        """Remember a segment that was rated."""
        self._seen.setdefault(item, (place, document))

    def read(self, report: Report, *, field: str, only_seen: bool = False) -> Parts:
        """Items, with texts where there are files; numbers begin with 0 if 0 was rated.

        Parameters
        ----------
        report
        field
            The column of the numbers, for problems.
        only_seen
            Leave out lines that nobody rated.
        """
        lines: set[str] = set()
        if self.have_texts:
            # First, so that items keep the order of their lines.
            for part, place in self._aligned(report):
                item = part.id if isinstance(part, FoundItem) else part.item
                lines.add(item)
                if isinstance(part, FoundItem):
                    self._check_document(part, report, field)
                if item in self._seen or not only_seen:
                    yield part, place
        for item, (place, document) in self._seen.items():
            if self.have_texts and item not in lines:
                message = f"there is no line {item!r} in the text files, which have {len(lines)}"
                report(Problem(message, place.file, place.line, field))
                continue
            yield FoundItem(item, meta={} if document is None else {"document": document}), place

    def _check_document(self, part: FoundItem, report: Report, field: str) -> None:
        """Complain where ratings and --documents do not agree of which document a line is."""
        place, rated = self._seen.get(part.id, (None, None))
        line = part.meta.get("document")
        # The WMT writes the domain before the document.
        if place is None or rated is None or line is None or rated in str(line).split("\t"):
            return
        message = (
            f"{part.id!r} is of {shown(rated)} here, but its line of --documents is {shown(line)}"
        )
        report(Problem(message, place.file, place.line, field))

    def _aligned(self, report: Report) -> Parts:
        request = self._request
        return read_aligned(
            list(request.references),
            list(request.sources),
            self.systems,
            report,
            documents=list(request.documents),
            first=0 if "0" in self._seen else 1,
        )


def named_files(paths: Sequence[Path], pattern: str | None) -> dict[str, Path]:
    """Files of systems by name; NAME=FILE says the name, else the file's own name does."""
    given: dict[str, Path] = {}
    rest = []
    for path in paths:
        name, equals, file = str(path).partition("=")
        if equals and name and file and not os.path.lexists(path):
            if name in given:
                raise InputError(f"two files are of one system {name!r}: rename one of them")
            given[name] = Path(file)
        else:
            rest.append(path)
    found = dict(zip(system_names(rest, pattern), rest, strict=True))
    for name in given:
        if name in found:
            raise InputError(f"two files are of one system {name!r}: rename one of them")
    return {**found, **given}


class OnePair:
    """Keeps the rows of one language pair, and refuses a mixture that nobody asked for."""

    def __init__(self, wanted: str | None, understood: Understanding) -> None:
        self._wanted = wanted
        self._understood = understood
        self._first: str | None = None

    def keeps(self, pair: str) -> bool:
        if self._wanted is not None:
            if pair != self._wanted:
                self._understood.leave_out(f"the language pair is not {self._wanted}")
            return pair == self._wanted
        self._first = self._first or pair
        if pair != self._first:
            message = f"is of {pair}, but earlier rows are of {self._first}: choose with --pair"
            raise InputError(Problem(f"{message} {self._first}", field="language pair"))
        return True
