"""`deltableu doctor`."""

from __future__ import annotations

import os
import platform
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict

from deltableu import _kernels
from deltableu._version import __version__
from deltableu.cli.extras import ExtraState, core_packages, states_of_extras
from deltableu.cli.option_groups import grouped
from deltableu.cli.output import Format, emit, is_terminal, terminal_width
from deltableu.io import Column, Table, fact_table, size_text


class _Size(TypedDict):
    bytes: int
    whole: bool


#: Entries that are counted of one folder: a cache of models may have very many.
_MOST = 100_000


@grouped
def doctor(*, format: Format = "table") -> None:
    """Say how this installation is set up, and how to get what is missing.

    Parameters
    ----------
    format
        How results are printed; JSON has the versions of all packages too.
    """
    kernels = {
        name: "compiled" if _kernels.compiled(_kernels.load(name)) else "plain Python (slow)"
        for name in _kernels.names()
    }
    extras = states_of_extras()
    folders = list(_folders())
    machine = {
        "python": platform.python_version(),
        "interpreter": sys.executable,
        "system": platform.platform(),
        "cores": _cores(),
        "terminal": _terminal(),
        "installed": str(Path(_kernels.__file__).parent),
    }
    verdict = [_said_of_kernels(kernels), *_said_of_extras(extras)]
    record = {
        "deltableu": __version__,
        **machine,
        "kernels": kernels,
        "packages": core_packages(),
        "extras": [
            {
                "extra": one.name,
                "purpose": one.purpose,
                "packages": one.packages,
                "missing": one.missing,
                "command": one.command if one.missing else None,
            }
            for one in extras
        ],
        "folders": [{"what": what, "path": str(path), **size} for what, path, size in folders],
        "verdict": verdict,
    }
    facts = {"deltableu": __version__, **machine, "kernels": _summed(kernels)}
    tables = [fact_table(("part", Column("state", align="left")), facts)]
    if extras:
        rows = [(one.name, one.purpose, _state(one)) for one in extras]
        tables.append(Table(("extra", "for", "state"), rows))
    if folders:
        tables.append(
            Table(
                ("caches and work folders", "where", Column("size", align="right")),
                [[what, str(path), _written(**size)] for what, path, size in folders],
            )
        )
    emit(tables, record, format, verdict=verdict)


def _said_of_kernels(kernels: dict[str, str]) -> str:
    summed = _summed(kernels)
    if summed.startswith("all"):
        return f"deltableu {__version__} is ready: {summed} kernels are compiled."
    advice = "install a C compiler, then: pip install --force-reinstall --no-deps deltableu"
    if os.environ.get("DELTABLEU_UNCOMPILED"):
        advice = "the variable DELTABLEU_UNCOMPILED asks for that"
    return f"deltableu {__version__} works, but slowly: not compiled are {summed}; {advice}."


def _summed(kernels: dict[str, str]) -> str:
    """How many kernels are compiled, or which are not."""
    plain = [name for name, how in kernels.items() if how != "compiled"]
    if not plain:
        return f"all {len(kernels)}"
    return f"{len(plain)} of {len(kernels)} ({', '.join(plain)})"


def _said_of_extras(extras: list[ExtraState]) -> Iterator[str]:
    missing = [one for one in extras if one.missing and one.serves_commands]
    if missing:
        names = ",".join(one.name for one in missing)
        yield f"Missing extras: pip install 'deltableu[{names}]'"


def _state(extra: ExtraState) -> str:
    if not extra.missing:
        return "installed"
    if len(extra.missing) > 4:
        return f"{len(extra.missing)} of {len(extra.packages)} missing"
    return f"missing: {', '.join(extra.missing)}"


def _folders() -> Iterator[tuple[str, Path, _Size]]:
    """Where this and what it uses keep things between runs, as far as something is there."""
    here = Path.cwd()
    candidates = [
        ("left by killed runs", Path(tempfile.gettempdir()), ".*.deltableu.tmp"),
        ("work to go on with", here, "*/*/deltableu.json"),
        ("answers of LLMs", here, "*.answers"),
    ]
    found: dict[Path, str] = {}
    for what, folder, pattern in candidates:
        for path in sorted(folder.glob(pattern)):
            found.setdefault(path.parent if path.name == "deltableu.json" else path, what)
    sets = Path(os.environ.get("SACREBLEU") or Path.home() / ".sacrebleu")
    models = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    found |= {sets: "test sets of sacreBLEU"} if sets.is_dir() else {}
    found |= {models: "models of Hugging Face"} if models.is_dir() else {}
    for path, what in found.items():
        yield what, path, _size(path)


def _size(path: Path) -> _Size:
    """Bytes on the disk, of the first so many entries."""
    total, entries = 0, 0
    stack = [path]
    while stack and entries < _MOST:
        place = stack.pop()
        try:
            if place.is_dir() and not place.is_symlink():
                stack.extend(place.iterdir())
            else:
                total += place.lstat().st_size
        except OSError:
            continue
        entries += 1
    return {"bytes": total, "whole": not stack}


def _written(bytes: int, whole: bool) -> str:
    return size_text(bytes) if whole else f"over {size_text(bytes)}"


def _cores() -> int:
    """Those that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _terminal() -> str:
    width = terminal_width()
    kind = "a terminal" if is_terminal() else "no terminal"
    columns = "" if width is None else f", {width} columns"
    return f"{kind}{columns}, {sys.stdout.encoding}"
