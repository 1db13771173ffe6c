"""A file in, all its bytes out, for who can read many lines at once."""

from __future__ import annotations

from functools import partial

from deltableu.errors import InputError
from deltableu.io.names import PathLike, is_standard_stream
from deltableu.io.sources import ByteSource, locate

#: Lines of a piece that is no longer than a line may be need not be looked at one by one.
_PIECE = 1 << 26


def file_bytes(path: PathLike) -> bytes | None:
    """The bytes of a file, unpacked; None where only a reader of lines can say what is wrong.

    Standard input is None too: it could not be read again. A file is not mapped: the process would
    die with it where somebody cuts it short.
    """
    if is_standard_stream(path):
        return None
    try:
        with ByteSource(locate(path)) as source:
            pieces = list(iter(partial(source.read, _PIECE), b""))
    except InputError:
        return None
    return pieces[0] if len(pieces) == 1 else b"".join(pieces)
