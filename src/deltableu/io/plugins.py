"""What other packages offer: entry points, read once, and loaded with errors for people."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from deltableu.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def offered(group: str) -> Mapping[str, EntryPoint]:
    """The entry points of a group, by name."""
    return _read(group, tuple(sys.path))


@lru_cache(maxsize=8)
def _read(group: str, path: tuple[str, ...]) -> Mapping[str, EntryPoint]:
    from importlib.metadata import entry_points  # most commands need none

    # All installed packages are looked at, which takes long: once for each place to look in.
    return {point.name: point for point in entry_points(group=group)}


def load_offered(
    group: str, name: str, what: str, use: Callable[[Any], Any] = lambda value: value
) -> Any:
    """What an entry point names, or what `use` makes of it.

    Parameters
    ----------
    group, name : str
        The group and name of an entry point that is there.
    what : str
        What a message calls it, such as "metric".
    use : callable, optional
        Called with what was loaded; what it raises counts as a fault of the package too.
    """
    try:
        return use(offered(group)[name].load())
    except InputError:
        raise
    except Exception as error:  # whatever a foreign package raises
        raise InputError(f"the {what} {name!r} cannot be loaded: {error}") from error
