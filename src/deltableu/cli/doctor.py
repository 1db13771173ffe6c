"""`deltableu doctor`."""

from __future__ import annotations

import platform
from importlib.metadata import PackageNotFoundError, version

from deltableu import _kernels
from deltableu._version import __version__
from deltableu.cli.output import Format, emit
from deltableu.io import fact_table

_PACKAGES = {
    "numpy": "core",
    "scipy": "core",
    "sacrebleu": "core",
    "pyarrow": "extra parquet",
    "dask": "extra cluster",
    "distributed": "extra cluster",
    "fsspec": "extra cluster",
    "matplotlib": "extra report",
    "jinja2": "extra report",
    "wordllama": "extra encoder",
    "httpx": "extra llm",
    "torch": "extra neural",
    "safetensors": "extra neural",
    "sentencepiece": "extra neural",
}


def doctor(*, format: Format = "table") -> None:
    """Say how this installation is set up: versions, compiled kernels, extras.

    Parameters
    ----------
    format
        How results are printed.
    """
    facts = {"deltableu": __version__, "python": platform.python_version()}
    for name in _kernels.names():
        compiled = _kernels.compiled(_kernels.load(name))
        facts[f"kernel {name}"] = "compiled" if compiled else "plain Python (slow)"
    for package, need in _PACKAGES.items():
        facts[f"{package} ({need})"] = _version(package)
    emit(fact_table(("part", "state"), facts), facts, format)


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
