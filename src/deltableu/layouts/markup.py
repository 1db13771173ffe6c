"""The WMT's test sets in SGML and XML: sources, references and outputs, segment by segment."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar
from xml.parsers import expat

from deltableu.errors import InputError, Problem
from deltableu.io import Report, file_name, open_binary, read_lines
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.parts import FoundItem, FoundOutput, FoundReference, Place

_SET = re.compile(r"<(srcset|refset|tstset)\b", re.IGNORECASE)
_DOC = re.compile(r"<doc\b([^>]*)>", re.IGNORECASE)
_SEG = re.compile(r"<seg\b([^>]*)>(.*?)</seg>", re.IGNORECASE | re.DOTALL)
_OPEN = re.compile(r"<seg\b", re.IGNORECASE)
_CLOSED = re.compile(r"</seg>", re.IGNORECASE)
_ATTRIBUTE = re.compile(r"""([\w-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')""")


class SgmLayout(Layout):
    """`<srcset>`, `<refset>` and `<tstset>` files, as mteval reads them."""

    name: ClassVar[str] = "sgm"
    summary: ClassVar[str] = "SGML of the WMT and of NIST: source, reference and system files"
    example: ClassVar[str] = "sgm newstest2017-deen-src.de.sgm newstest2017-deen-ref.en.sgm sys.sgm"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        if not request.paths:
            raise InputError("name the .sgm files: sources, references and outputs")
        for path in request.paths:
            yield from _sgm_parts(path, report)


def _sgm_parts(path: Path, report: Report) -> Parts:
    kind: str | None = None
    document = system = ""
    waiting, begun = "", 0
    for number, line in read_lines(path, report):
        if found := _SET.search(line):
            kind = found[1].lower()
        if doc := _DOC.search(line):
            known = _attributes(doc[1])
            document, system = known.get("docid", ""), known.get("sysid", known.get("SYSID", ""))
        begun = number if not waiting else begun
        waiting = f"{waiting} {line}" if waiting else line
        for match in _SEG.finditer(waiting):
            if kind is None:
                message = "comes before <srcset>, <refset> or <tstset>, which say what it is"
                raise InputError(Problem(message, str(path), number, "seg"))
            yield from _segment(kind, document, system, match, Place(str(path), begun))
        # A segment may go on in the next line.
        if len(_OPEN.findall(waiting)) == len(_CLOSED.findall(waiting)):
            waiting = ""
    if waiting:
        report(Problem("the segment is never closed", str(path), begun, "seg"))
    if kind is None:
        report(Problem("holds no <srcset>, <refset> or <tstset>", file=str(path)))


def _segment(kind: str, document: str, system: str, match: re.Match[str], place: Place) -> Parts:
    number = _attributes(match[1]).get("id", "")
    if not number:
        raise InputError(Problem("the segment has no id", place.file, place.line, "seg"))
    item = f"{document}/{number}" if document else number
    text = html.unescape(" ".join(match[2].split()))
    meta = {"document": document} if document else {}
    if kind == "srcset":
        yield FoundItem(item, text, meta=meta), place
    elif kind == "refset":
        yield FoundItem(item, references=(FoundReference(text),), meta=meta), place
    else:
        yield FoundOutput(system or Path(place.file).stem, item, text), place


def _attributes(text: str) -> dict[str, str]:
    return {found[1]: html.unescape(found[2] or found[3] or "") for found in
            _ATTRIBUTE.finditer(text)}  # fmt: skip


class WmtXmlLayout(Layout):
    """`<dataset>` of documents with `<src>`, `<ref translator>` and `<hyp system>`, since WMT21."""

    name: ClassVar[str] = "wmt-xml"
    summary: ClassVar[str] = "XML of the WMT since 2021: documents with src, ref and hyp"
    example: ClassVar[str] = "wmt-xml newstest2021.cs-en.all.xml"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        if not request.paths:
            raise InputError("name the .xml file of a test set")
        for path in request.paths:
            yield from _xml_parts(path)


def _xml_parts(path: Path) -> Parts:
    reader = _XmlReader(str(path))
    with open_binary(path, lines=False) as stream:
        while piece := stream.read(1 << 16):
            yield from reader.feed(piece, final=False)
        yield from reader.feed(b"", final=True)
    if not reader.segments:
        raise InputError(Problem("holds no segments", file=file_name(path)))


class _XmlReader:
    """Events of the parser in, parts out; entities that a file defines itself are refused."""

    def __init__(self, file: str) -> None:
        self._file = file
        self._parser = expat.ParserCreate()
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = self._entity
        self._document = self._part = self._who = self._number = ""
        self._text: list[str] | None = None
        self._found: list[tuple[FoundItem | FoundOutput, Place]] = []
        self.segments = 0

    def feed(self, data: bytes, *, final: bool) -> Iterator[tuple[FoundItem | FoundOutput, Place]]:
        try:
            self._parser.Parse(data, final)
        except expat.ExpatError as error:
            message = f"is not valid XML: {expat.ErrorString(error.code)}"
            raise InputError(Problem(message, self._file, error.lineno)) from None
        except (LookupError, ValueError) as error:  # of the encoding that its first line names
            if isinstance(error, InputError):
                raise
            raise InputError(Problem(f"cannot be decoded: {error}", self._file)) from None
        found, self._found = self._found, []
        yield from found

    def _entity(self, *_: object) -> None:
        message = "defines entities of its own, which are not read"
        raise InputError(Problem(message, self._file, self._parser.CurrentLineNumber))

    def _start(self, tag: str, known: dict[str, str]) -> None:
        if tag == "doc":
            self._document = known.get("id", "")
        elif tag in ("src", "ref", "hyp"):
            self._part, self._who = tag, known.get("system", known.get("translator", ""))
        elif tag == "seg":
            self._number, self._text = known.get("id", ""), []

    def _characters(self, data: str) -> None:
        if self._text is not None:
            self._text.append(data)

    def _end(self, tag: str) -> None:
        if tag != "seg" or self._text is None:
            return
        text, self._text = " ".join("".join(self._text).split()), None
        item = f"{self._document}/{self._number}" if self._document else self._number
        place = Place(self._file, self._parser.CurrentLineNumber)
        meta = {"document": self._document} if self._document else {}
        self.segments += 1
        if self._part == "src":
            self._found.append((FoundItem(item, text, meta=meta), place))
        elif self._part == "ref":
            reference = (FoundReference(text),)
            self._found.append((FoundItem(item, references=reference, meta=meta), place))
        elif self._part == "hyp":
            self._found.append((FoundOutput(self._who or "hyp", item, text), place))
