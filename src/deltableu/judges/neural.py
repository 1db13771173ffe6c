"""The optional extra `neural`, imported where it is used."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from deltableu.errors import InputError


def need(module: str, what: str) -> Any:
    """Import a module of the extra, or say what to install.

    Parameters
    ----------
    module : str
        Such as `torch`.
    what : str
        What needs it, to begin the sentence with.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise InputError(
            f"{what} needs {package}: run pip install 'deltableu[neural]' ({error})"
        ) from error
