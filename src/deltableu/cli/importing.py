"""`deltableu import`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from deltableu.cli.option_groups import grouped
from deltableu.cli.options import Flag, Several
from deltableu.cli.output import Format, emit, note, remark
from deltableu.cli.progress import ProgressBar
from deltableu.errors import InputError
from deltableu.io import Table, named_columns
from deltableu.layouts import (
    ColumnMap,
    Request,
    expanded,
    import_study,
    layout_names,
    load_layout,
)

#: How many there are is not known before, so the bar begins anew after so many.
_ROUND = 1_000_000


@grouped
def importing(
    layout: str | None = None,
    *paths: str,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    columns: str | None = None,
    separators: str | None = None,
    where: str | None = None,
    refs: Annotated[list[str] | None, Several] = None,
    sources: Annotated[list[str] | None, Several] = None,
    systems: Annotated[list[str] | None, Several] = None,
    beside: str | None = None,
    documents: str | None = None,
    names: str | None = None,
    system: str | None = None,
    pair: str | None = None,
    rename: str | None = None,
    scale: str | None = None,
    missing: Literal["error", "empty", "drop"] = "error",
    without_references: Literal["drop", "keep"] = "drop",
    dry_run: Annotated[bool, Flag] = False,
    list_layouts: Annotated[bool, Parameter(name="--list", negative=())] = False,
    replace: Annotated[bool, Flag] = False,
    format: Format = "table",
) -> None:
    """Turn files as they are into a study.

    Parameters
    ----------
    layout
        How the files are laid out; --list names all.
    paths
        Files or folders, also patterns with *.
    output
        The study's folder.
    columns
        What columns are called, as ours=theirs with commas: item=qid, references=ref1+ref2 (or
        ref*), system=:gpt for all rows alike, item=# where every row is an item. Ours: item,
        system, prediction, outputs, references, message, context, good, bad, weights, rater,
        raters, value, ratings, criterion, kind, started, finished. Usual names need not be given.
    separators
        What separates the parts of one cell: references=tab,context=||||.
    where
        Only rows in which a column holds this: lang=cs-en,status=ok.
    refs
        References in plain text, one line per item.
    sources
        What is answered, in plain text, one line per item.
    systems
        Outputs in plain text, one line per item.
    beside
        Plain text with a line for each row of the table, or without a table at all:
        prediction=sys.txt,references=r0.txt+r1.txt,value=scores.txt.
    documents
        Plain text: what each line belongs to.
    names
        How file names give the names of systems: a pattern in which {} is the name.
    system
        Name of the system whose outputs do not say whose they are.
    pair
        Language pair, where a layout holds several, such as cs-en.
    rename
        Systems that shall be called otherwise: old=new,old=new.
    scale
        Scale of the ratings, such as 1-5 or 0-100.
    missing
        Items for which a system has no output are an error, have an empty one, or are left out.
    without_references
        Items without a reference are left out, or kept for metrics that need none.
    dry_run
        Show what was understood as what, with three examples, and write nothing.
    list_layouts
        Name all layouts.
    replace
        Put the study in the place of an old one.
    format
        How the summary is printed.
    """
    if list_layouts:
        rows = [(one.name, one.summary, one.example) for one in map(load_layout, layout_names())]
        emit(Table(("layout", "what it is", "example"), rows), rows, format)
        return
    if layout is None:
        raise InputError(f"name a layout, one of {', '.join(layout_names())}")
    chosen = load_layout(layout)
    if output is None and not dry_run:
        raise InputError("--output names the study's folder; --dry-run writes nothing")
    request = Request(
        paths=expanded(paths),
        columns=ColumnMap.parse(columns),
        separators=named_columns(separators, "references=tab", "--separators") or {},
        where=named_columns(where, "lang=cs-en", "--where") or {},
        system=system,
        scale=scale,
        systems=expanded(systems or ()),
        references=expanded(refs or ()),
        sources=expanded(sources or ()),
        documents=expanded([documents] if documents else ()),
        beside={
            ours: expanded(files.split("+"))
            for ours, files in (
                named_columns(beside, "prediction=sys.txt", "--beside") or {}
            ).items()
        },
        names=names,
        pair=pair,
        renamed=named_columns(rename, "old=new", "--rename") or {},
    )
    with ProgressBar() as bar:

        def progress(what: str, done: int, _: int) -> None:
            bar(what, done % _ROUND, _ROUND, f"{done:,} parts")

        imported = import_study(
            chosen,
            request,
            None if dry_run else output,
            missing=missing,
            keep_all=without_references == "keep",
            overwrite=replace,
            progress=progress,
        )
    emit(imported.tables() if dry_run else imported.table(), imported, format)
    for text in imported.doubts():
        remark(f"warning: {text}")
    if not dry_run:
        note(f"wrote {output}")
