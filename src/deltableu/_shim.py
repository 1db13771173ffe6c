"""A stand-in for the `cython` module, so that the kernels run uncompiled without Cython."""

from __future__ import annotations

from contextlib import nullcontext
from typing import Any

compiled = False


class _Type:
    """Anything that may stand in an annotation: `cython.int`, `cython.const[cython.double][:]`."""

    def __getitem__(self, _: object) -> _Type:
        return self


class _NoGil(nullcontext[None]):
    """`with cython.nogil:` and `@cython.nogil`."""

    def __call__(self, function: Any) -> Any:
        return function


int = uint = p_uint = longlong = p_longlong = ulonglong = _Type()
float = double = p_double = uchar = ushort = bint = const = _Type()
nogil = _NoGil()


def cfunc(function: Any) -> Any:
    return function


inline = cfunc


def exceptval(*_: object, **__: object) -> Any:
    return cfunc


def cast(_: object, value: Any) -> Any:
    return value
