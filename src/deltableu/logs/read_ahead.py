"""Chunks of a file's lines in, the same out: a packed file is unpacked by a thread of its own."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from queue import Queue
from typing import TypeAlias

from deltableu.io import ByteSource
from deltableu.logs.read_lines import read_chunks

Chunk: TypeAlias = tuple[bytes, int]
"""Whole lines, and how many bytes of the file have been read so far."""

#: Chunks that wait to be taken.
_WAITING = 2


def chunks_of(source: ByteSource) -> Iterator[Chunk]:
    """Yield all lines, many at once, each with a line feed."""
    chunks = ((chunk, source.position) for chunk in read_chunks(source))
    return _ahead(chunks) if source.file.packing else chunks


def _ahead(chunks: Iterator[Chunk]) -> Iterator[Chunk]:
    """The same, made by another thread while whoever asks is busy with those before."""
    made: Queue[Chunk | BaseException | None] = Queue(_WAITING)
    stop = threading.Event()

    def make() -> None:
        last: BaseException | None = None
        try:
            for chunk in chunks:
                made.put(chunk)
                if stop.is_set():
                    return
        except BaseException as error:
            last = error
        made.put(last)

    thread = threading.Thread(target=make, name="deltableu-reader", daemon=True)
    thread.start()
    try:
        while (chunk := made.get()) is not None:
            if isinstance(chunk, BaseException):
                raise chunk
            yield chunk
    finally:
        # The source is closed next, which nobody may be reading any more.
        stop.set()
        while thread.is_alive():
            while not made.empty():
                made.get()
            thread.join(0.01)
