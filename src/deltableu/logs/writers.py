"""Pairs in, one file or a file for each period out: whole, or not at all."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, TypeAlias, get_args

from deltableu.errors import InputError, Problem
from deltableu.io import (
    Own,
    PathLike,
    atomic_folder,
    atomic_path,
    check_new_file,
    check_new_folder,
    encode,
    file_form,
    file_packing,
    is_log,
    is_standard_stream,
    packed_bytes,
    parquet_writer,
    pyarrow_for,
    unwritable,
    was_written_here,
)
from deltableu.logs.thread_blocks import PairColumns
from deltableu.logs.times import time_texts
from deltableu.text import Texts, join_cells

Form = Literal["tsv", "tsv.gz", "jsonl", "jsonl.gz", "parquet"]
Writer: TypeAlias = Callable[[PairColumns], object]
"""Takes pairs."""

_BATCH = 4096


@dataclass(frozen=True, slots=True)
class Rows:
    """What is written of a pair: a cell for each column, empty where there is nothing."""

    columns: tuple[str, ...]

    def cells(self, pairs: PairColumns, times: Texts) -> list[Texts]:
        """The cells of each column."""
        texts = pairs.texts
        found = {
            "utterance": texts.choose(pairs.utterances),
            "message": texts.choose(pairs.utterances),
            "response": texts.choose(pairs.responses),
            "id": pairs.ids,
            "time": times,
            "thread": pairs.threads,
            "user": pairs.users,
        }
        if "context" in self.columns:
            none = pairs.contexts < 0
            context = texts.choose(pairs.contexts)
            context.starts[none] = context.ends[none] = 0
            found["context"] = context
        return [found[name] for name in self.columns]


_REST = ("id", "time", "thread", "user")
PAIRS = Rows(("utterance", "response", *_REST))
TRIPLES = Rows(("context", "message", "response", *_REST))


@contextmanager
def _opened(path: Path, form: str, rows: Rows) -> Iterator[Writer]:
    columns = rows.columns

    def strings(pairs: PairColumns) -> Iterator[tuple[str, ...]]:
        cells = rows.cells(pairs, time_texts(pairs.times))
        return zip(*(column.strings() for column in cells), strict=True)

    if form == "parquet":
        with parquet_writer(path, dict.fromkeys(columns, "string"), _BATCH) as write:

            def write_parquet(pairs: PairColumns) -> None:
                for row in strings(pairs):
                    write({name: text or None for name, text in zip(columns, row, strict=True)})

            yield write_parquet
        return
    with packed_bytes(path, f"x.{form}") as stream:
        if form.startswith("tsv"):
            stream.write("\t".join(columns).encode() + b"\n")
            yield lambda pairs: stream.write(_lines(pairs, rows))
        else:
            yield lambda pairs: stream.write(
                "".join([_object(columns, row) for row in strings(pairs)]).encode()
            )


def _lines(pairs: PairColumns, rows: Rows) -> bytes:
    """Lines of a table."""
    times = time_texts(pairs.times)
    data = pairs.texts.data
    # Behind all texts, as `join_cells` has it.
    behind = Texts(data, times.starts + len(data), times.ends + len(data))
    return join_cells(rows.cells(pairs, behind), times.data)


def _object(columns: Sequence[str], cells: Sequence[str]) -> str:
    named = zip(columns, cells, strict=True)
    return encode({name: text for name, text in named if text}) + "\n"


def check_output(
    path: PathLike,
    form: Form | None,
    names: Sequence[str] | None,
    inputs: Sequence[PathLike],
    *,
    replace: bool,
) -> Form:
    """The form in which to write, after asking whether that will be possible.

    Parameters
    ----------
    names
        Names of the files in the folder `path`; None where `path` is a file.
    inputs
        Files that are read, which must not be overwritten.
    """
    target = Path(os.path.realpath(path))
    where = os.fspath(path)
    if form is not None and form not in get_args(Form):
        raise InputError(f"the form must be one of {', '.join(get_args(Form))}, got {form!r}")
    if form == "parquet" or target.suffix == ".parquet":
        pyarrow_for("Parquet", where)
    if names is None:
        check_new_file(path, inputs, own=Own.PAIRS)
        if is_standard_stream(path):
            return form or "tsv"
        parts = (file_form(target.name), file_packing(target.name))
        by_name = ".".join(part for part in parts if part)
        if by_name not in get_args(Form):
            endings = ", ".join(f".{one}" for one in get_args(Form))
            raise InputError(Problem(f"must end in one of {endings}", file=where))
        if form is not None and form != by_name:
            raise InputError(Problem(f"its name does not end in .{form}", file=where))
        return by_name  # type: ignore[return-value]
    check_new_folder(path, inputs, replace=replace, what="a split of logs", strangers=_no_logs)
    return form or "tsv"


def _no_logs(folder: Path) -> list[str]:
    there = sorted(folder.iterdir())
    return [one.name for one in there if not _is_split(one)]


def _is_split(path: Path) -> bool:
    plain = path.is_file() and not path.is_symlink() and is_log(path.name)
    return plain and was_written_here(path, Own.PAIRS)


@contextmanager
def written(
    path: PathLike, form: Form, rows: Rows, names: Sequence[str] | None, replace: bool
) -> Iterator[list[Writer]]:
    """Yield a writer for each name, or one; all files appear when the block ends well."""
    with ExitStack() as stack:
        if names is None:
            paths = [stack.enter_context(atomic_path(path))]
        else:
            folder = stack.enter_context(atomic_folder(path, replace=replace))
            paths = [folder / f"{name}.{form}" for name in names]
        try:
            with ExitStack() as files:
                yield [files.enter_context(_opened(one, form, rows)) for one in paths]
        except OSError as error:
            if isinstance(error, BrokenPipeError):
                raise
            raise unwritable(path, error) from None
