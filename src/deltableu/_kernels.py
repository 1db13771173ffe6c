"""Loads the kernels: compiled where they were built, else the same files as plain Python."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from types import FunctionType, ModuleType

from deltableu import _shim

_PACKAGE = Path(__file__).parent
_warned = False


def load(name: str) -> ModuleType:
    """Import the kernel `name` ("text._tokens"), uncompiled if `DELTABLEU_UNCOMPILED` is set."""
    full = f"deltableu.{name}"
    if full in sys.modules:
        return sys.modules[full]
    # An installed Cython must not change what the plain files do, and nobody else should meet
    # the stand-in: it is in place only while the kernel is imported.
    real = sys.modules.get("cython")
    sys.modules["cython"] = _shim
    try:
        module = _from_source(full) if _forced() else importlib.import_module(full)
    finally:
        if real is None:
            del sys.modules["cython"]
        else:
            sys.modules["cython"] = real
    if compiled(module):
        return module
    if not _forced():
        _warn_once()
    _accept_arrays(module)
    return module


def names() -> list[str]:
    """All kernels: the modules _NAME.py whose first line speaks to Cython."""
    found = []
    for path in sorted(_PACKAGE.rglob("_*.py")):
        with path.open(encoding="utf-8") as lines:
            if lines.readline().startswith("# cython:"):
                found.append(".".join(path.relative_to(_PACKAGE).with_suffix("").parts))
    return found


def compiled(module: ModuleType) -> bool:
    """Whether a loaded kernel is machine code."""
    return not str(module.__file__).endswith(".py")


def _accept_arrays(module: ModuleType) -> None:
    """Hand plain kernels memoryviews for arrays: their elements are Python numbers."""
    for name, function in list(vars(module).items()):
        if isinstance(function, FunctionType) and not name.startswith("_"):
            setattr(module, name, _with_views(function))


def _with_views(function: FunctionType) -> Callable[..., object]:
    def call(*arguments: object) -> object:
        return function(*(getattr(value, "data", value) for value in arguments))

    return call


def _forced() -> bool:
    return bool(os.environ.get("DELTABLEU_UNCOMPILED"))


def _from_source(full: str) -> ModuleType:
    path = _PACKAGE.joinpath(*full.split(".")[1:]).with_suffix(".py")
    spec = importlib.util.spec_from_file_location(full, path)
    if spec is None or spec.loader is None:
        raise ImportError(f"cannot load {path}")
    module = importlib.util.module_from_spec(spec)
    sys.modules[full] = module
    spec.loader.exec_module(module)
    return module


def _warn_once() -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "deltableu was installed without a C compiler: its kernels run as plain Python, "
            "with equal results but hundreds of times slower; install a compiler and reinstall",
            RuntimeWarning,
            stacklevel=3,
        )
