"""What should be rated first, as a file: item, target, and what rating it is worth."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from deltableu.io import PathLike, write_csv

#: The columns of the file.
ORDER_COLUMNS = ("item", "target", "value")


@dataclass(frozen=True, slots=True)
class RatingStep:
    """One text to be rated: `target` is `reference:ID` or `system:NAME`."""

    item: str
    target: str
    value: float


def write_order(path: PathLike, steps: Iterable[RatingStep]) -> None:
    """Write an order of rating, which `deltableu rate serve --order` reads; all of it, or nothing.

    Examples
    --------
    >>> from tempfile import mkdtemp
    >>> from pathlib import Path
    >>> path = Path(mkdtemp()) / "order.csv"
    >>> write_order(path, [RatingStep("d01", "reference:r3", 0.25)])
    >>> print(path.read_text())
    item,target,value
    d01,reference:r3,0.25
    <BLANKLINE>
    """
    rows = ({"item": one.item, "target": one.target, "value": repr(one.value)} for one in steps)
    write_csv(path, ORDER_COLUMNS, rows)
