"""What a log is: files of pairs wherever they lie, or pairs in memory, cut into partitions."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias, cast

from deltableu._types import BytesRead
from deltableu.errors import InputError, Problem
from deltableu.io import (
    BrokenFile,
    FoundFile,
    PathLike,
    Report,
    WrongColumns,
    fail,
    find_files,
    pyarrow_for,
)
from deltableu.logs.blocks import Block
from deltableu.logs.read_memory import read_memory
from deltableu.logs.read_parquet import RowGroup, read_row_groups, row_groups
from deltableu.logs.readers import check_header, read_text

Logs: TypeAlias = PathLike | Iterable[object]

#: Enough for many cores; how many there are must not change what a killed run can go on with.
_PARTS = 64
_SMALLEST, _LARGEST = 2 << 20, 256 << 20
_IN_MEMORY = 1 << 19


class Partition(Protocol):
    """A part of the logs that is read by itself, on any machine that can reach it."""

    @property
    def name(self) -> str:
        """As problems and progress name it."""

    @property
    def size(self) -> int:
        """Bytes of the file as it lies there."""

    @property
    def fingerprint(self) -> str:
        """Changes when what the partition holds does."""

    def blocks(self, report: Report = fail) -> Iterator[Block]:
        """Yield its rows.

        Each row that cannot be read is one problem; when `report` returns, the row is left out.
        A partition that cannot be read to its end is a problem too, and then a `BrokenFile`
        is raised: what came of it before must be dropped.
        """


def _telling(blocks: Iterator[Block], report: Report) -> Iterator[Block]:
    try:
        yield from blocks
    except BrokenFile as error:
        if report is not fail:
            report(error.problem)
        raise


def _fingerprint(file: FoundFile, *part: object) -> str:
    parts = (file.name, file.size, file.stamp, *part)
    return hashlib.sha256("\0".join(map(str, parts)).encode(errors="surrogateescape")).hexdigest()


@dataclass(frozen=True, slots=True)
class TextPartition:
    """Lines of a TSV or JSON Lines file that start in a range of its bytes."""

    file: FoundFile
    start: int = 0
    end: int | None = None
    """None where the file cannot be read in parts."""
    block_rows: int = 16384

    @property
    def name(self) -> str:
        if self.end is None or (self.start == 0 and self.end == self.file.size):
            return self.file.name
        return f"{self.file.name}, bytes {self.start}-{self.end}"

    @property
    def size(self) -> int:
        return (self.file.size or 0) if self.end is None else self.end - self.start

    @property
    def fingerprint(self) -> str:
        return _fingerprint(self.file, self.start, self.end)

    def blocks(self, report: Report = fail) -> Iterator[Block]:
        return _telling(read_text(self.file, self.start, self.end, self.block_rows, report), report)


@dataclass(frozen=True, slots=True)
class ParquetPartition:
    """Row groups of a Parquet file."""

    file: FoundFile
    begin: int = 0
    end: int | None = None
    """The row group after the last one; None for all."""
    group_bytes: int | None = None
    whole: bool = True
    block_rows: int = 16384

    @property
    def name(self) -> str:
        if self.whole or self.end is None:
            return self.file.name
        if self.end == self.begin + 1:
            return f"{self.file.name}, row group {self.begin}"
        return f"{self.file.name}, row groups {self.begin}-{self.end - 1}"

    @property
    def size(self) -> int:
        return (self.file.size or 0) if self.group_bytes is None else self.group_bytes

    @property
    def fingerprint(self) -> str:
        return _fingerprint(self.file, self.begin, self.end)

    def blocks(self, report: Report = fail) -> Iterator[Block]:
        return _telling(
            read_row_groups(self.file, self.begin, self.end, self.block_rows, report), report
        )


@dataclass(frozen=True, slots=True, eq=False)
class MemoryPartition:
    """Pairs that are in memory."""

    first: int
    """Number of the first row among all, from 0."""
    parts: tuple[Block, ...]

    @property
    def name(self) -> str:
        """Which rows it holds."""
        return f"rows {self.first}-{self.first + sum(map(len, self.parts))}"

    @property
    def size(self) -> int:
        """How far the source had been read when it was full."""
        return self.parts[-1].read

    @property
    def fingerprint(self) -> str:
        """A hash of all texts, ids and threads."""
        digest = hashlib.sha256(str(self.first).encode())
        for block in self.parts:
            for texts in (block.utterances, block.responses, block.ids, block.threads):
                if texts is None:
                    digest.update(b"none")
                else:
                    digest.update(texts.ends.tobytes())
                    digest.update(texts.data)
        return digest.hexdigest()

    def blocks(self, report: Report = fail) -> Iterator[Block]:
        """The blocks of rows, which lie in memory."""
        return iter(self.parts)


def read_blocks(partitions: Sequence[Partition], tell: BytesRead) -> Iterator[Block]:
    """All rows of partitions; problems end it."""
    for partition in partitions:
        read = 0
        for block in partition.blocks():
            yield block
            tell(block.read - read)
            read = block.read
        tell(partition.size - read)


def find_partitions(
    logs: Logs,
    *,
    partition_bytes: int | None = None,
    block_rows: int = 16384,
    report: Report = fail,
) -> tuple[Partition, ...]:
    r"""Find logs and cut them into partitions, always in the same order.

    Parameters
    ----------
    logs
        A file, a folder, a pattern with ``*`` or ``**``, a URL that fsspec knows (also of a folder
        or with a pattern), or a list of these. Files are JSON Lines, TSV (a line that names the
        columns, then cells with tab, line end and backslash spelt ``\t``, ``\n``, ``\r``, ``\\``)
        or Parquet, the first two also packed as ``.gz`` or ``.zst``; a row has `utterance` and
        `response`, and maybe `id` and `thread`. Or a list of rows: pairs of texts, or mappings
        or objects with these names.
    partition_bytes
        About how many bytes of a file make a partition; by default a 64th of all files, but at
        least 2 and at most 256 megabytes. Packed files are never cut, Parquet files only between
        row groups.
    block_rows
        How many rows are in memory at once, at most.
    report
        Called for files and folders that may not be read.

    Raises
    ------
    InputError
        Where there is no log, or one lacks a column. A file that turns out to be damaged is found
        when it is read.

    Examples
    --------
    >>> (partition,) = find_partitions([("how are you?", "fine"), ("hi", "hello")])
    >>> [block.responses[1] for block in partition.blocks()]
    ['hello']
    """
    for value, what in ((partition_bytes, "partition_bytes"), (block_rows, "block_rows")):
        if value is not None and value < 1:
            raise InputError(Problem(f"must be 1 or more, got {value}", field=what))
    many = [logs] if isinstance(logs, str | os.PathLike) else list(logs)
    if not many:
        raise InputError("there are no logs: name at least one file or folder")
    # Rows may be millions, but are of few types.
    are_paths = {issubclass(kind, str | os.PathLike) for kind in set(map(type, many))}
    if are_paths == {False}:
        return tuple(_memory_partitions(many, partition_bytes or _IN_MEMORY, block_rows))
    if are_paths == {True, False}:
        raise InputError("logs are either paths or rows, not both: save the rows as a file")
    found: list[Partition] = []
    files = find_files(cast(list[PathLike], many), report)
    if partition_bytes is None:
        total = sum(file.size or 0 for file in files)
        partition_bytes = min(max(total // _PARTS, _SMALLEST), _LARGEST)
    for file in files:
        if file.form == "parquet":
            found += _parquet_partitions(file, partition_bytes, block_rows)
        else:
            found += _text_partitions(file, partition_bytes, block_rows)
    return tuple(found)


def _text_partitions(
    file: FoundFile, partition_bytes: int, block_rows: int
) -> Iterator[TextPartition]:
    if file.packing == "zst":
        pyarrow_for("Zstandard", file.name)
    # Wrong columns should not be found after hours, but headers of far files cost time themselves.
    if file.form == "tsv" and file.system is None:
        try:
            check_header(file)
        except WrongColumns:
            raise
        except BrokenFile:
            pass  # who reads the partition is told, and may want to go on without it
    if file.packing or file.size is None:
        yield TextPartition(file, block_rows=block_rows)
        return
    for start in range(0, max(file.size, 1), partition_bytes):
        end = min(start + partition_bytes, file.size)
        yield TextPartition(file, start, end, block_rows)


def _parquet_partitions(
    file: FoundFile, partition_bytes: int, block_rows: int
) -> Iterator[ParquetPartition]:
    pyarrow_for("Parquet", file.name)
    try:
        groups = row_groups(file)
    except WrongColumns:
        raise
    except BrokenFile:
        yield ParquetPartition(file, block_rows=block_rows)
        return
    runs: list[list[tuple[int, RowGroup]]] = []
    for number, group in enumerate(groups):
        if not runs or sum(one.size for _, one in runs[-1]) >= partition_bytes:
            runs.append([])
        runs[-1].append((number, group))
    if not runs:
        yield ParquetPartition(file, 0, 0, 0, block_rows=block_rows)
    for run in runs:
        begin, end = run[0][0], run[-1][0] + 1
        size = sum(group.size for _, group in run)
        yield ParquetPartition(file, begin, end, size, len(runs) == 1, block_rows)


def _memory_partitions(
    rows: Sequence[object], partition_bytes: int, block_rows: int
) -> Iterator[MemoryPartition]:
    parts: list[Block] = []
    first = before = 0  # rows and bytes of the partitions that are done
    for block in read_memory(rows, block_rows):
        parts.append(replace(block, first=block.first - first, read=block.read - before))
        if parts[-1].read >= partition_bytes:
            yield MemoryPartition(first, tuple(parts))
            first, before = block.first + len(block), block.read
            parts = []
    if parts:
        yield MemoryPartition(first, tuple(parts))
