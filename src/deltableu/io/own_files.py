"""Files that this tool wrote, told by how they begin: only those are replaced or added to."""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from enum import Enum
from pathlib import Path

from deltableu.errors import InputError
from deltableu.io.sources import ByteSource, FoundFile

_HEAD = 1 << 16
#: What all Parquet files begin with; which columns they have stands at their end.
_PARQUET = b"PAR1"
_WORDS = rb"(?:criterion|system|metric|level|human|items|groups|first|better|pair)"


class Own(Enum):
    """What a file is, and how one begins."""

    #: Tables in any of their formats: JSON, TSV, CSV, LaTeX, Markdown, or as a terminal shows them.
    RESULTS = re.compile(
        rb'\s*(?:\[\s*)?\{\s*"' + _WORDS + rb'"|\s*\[\s*\]\s*\Z'
        rb"|(?:#[^\n]*\n)*" + _WORDS + rb"[^\n\t,]*[\n\t,]"
        # Of raters, whose tables must not begin as ratings do.
        rb'|\s*\{\s*"failed"|verdict[\t,]rater[\t,]'
        rb"|(?:%[^\n]*\n)*\\begin\{tab(?:le|ular)\}"
        rb"|(?:[^\n|#][^\n|]{0,1000}\n\n){0,40}\| [^\n]*\|\n\| :?-"
        rb"|\s*[^\n]*\n(?:[^\n]*\n){0,40}[ \xe2\x94\x80]*\xe2\x94\x80"
    )
    PAGE = re.compile(rb"(?s)\s*<!doctype html>.{0,2000} \xc2\xb7 deltableu</title>")
    PLOT = re.compile(rb"(?s)(?:\x89PNG|<\?xml|<svg).{0,2000}deltableu")
    JUNIT = re.compile(rb'(?s)<\?xml[^>]{0,80}\?>\s*<testsuites name="deltableu gate"')
    SUMMARY = re.compile(rb"### deltableu gate ")
    #: Pairs and triples of logs, in any of their forms.
    PAIRS = re.compile(
        rb'(?:utterance|context\tmessage)\tresponse[\t\n]|\{"(?:utterance|context|message)": '
    )
    #: What is to be rated first.
    ORDER = re.compile(rb"item,target,value\n")
    #: What --log adds lines to.
    LOG = re.compile(rb'\{"(?:stage|done)": ')
    RATINGS = re.compile(rb'rater[\t,]item[\t,]|\{"rater": ?"')
    VECTORS = re.compile(rb"[0-9]+ [0-9]+\n|[^\s]+(?: -?[0-9][-+.0-9e]*)+\n")
    #: What an LLM answered.
    ANSWERS = re.compile(rb'\{"key": "')
    CALIBRATION = re.compile(rb'\s*\{\s*"format": "deltableu-scr-calibration"')
    MODEL = re.compile(rb'(?s).{8}\{"__metadata__":.*"format":"deltableu')


def was_written_here(path: Path, own: Own) -> bool:
    """Whether a file is empty, or begins as those do that this tool writes."""
    with suppress(InputError), ByteSource(FoundFile(str(path)), lines=False) as source:
        head = b""
        while len(head) < _HEAD and (piece := source.read(_HEAD - len(head))):
            head += piece
        if head.startswith(_PARQUET):
            return _has_columns(path, _COLUMNS.get(own, ()))
        return not head or own.value.match(head) is not None
    return False


#: Columns by which a Parquet file is known.
_COLUMNS = {Own.PAIRS: (b"response",), Own.RATINGS: (b"rater", b"item", b"target", b"value")}


def _has_columns(path: Path, names: Sequence[bytes]) -> bool:
    """Whether a Parquet file's last part speaks of columns; none is known where none are named."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _HEAD))
        tail = file.read()
    return bool(names) and all(name in tail for name in names)
