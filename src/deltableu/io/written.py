"""Values as people read them: the one home of number formats."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

from deltableu.io.jsonl import encode


@runtime_checkable
class Interval(Protocol):
    """Anything with two ends, such as a confidence interval."""

    @property
    def low(self) -> float:
        """The lower end."""

    @property
    def high(self) -> float:
        """The upper end."""


def written(value: object, form: str = "") -> str:
    """A value as people read it; texts stay as they are, nothing is empty and NaN a dash.

    Parameters
    ----------
    value : object
    form : str
        For numbers: a format of Python's (`.2f`, `,`, `.1%`); `p` as papers print p-values; `.3r`
        for correlations, without the zero before the point; `signed` for credits and weights;
        `range` for a first and a last rank. By default whole numbers in groups of three, others
        with four digits.

    Examples
    --------
    >>> [written(value) for value in (1234567, 0.123456, True, None, float("nan"), ["a", 2])]
    ['1,234,567', '0.1235', 'yes', '', '-', 'a, 2']
    >>> written(-0.001, ".2f"), written(0.25, ".1%"), written(0.4567, ".3r"), written(-1.0, ".2r")
    ('0.00', '25.0%', '.457', '-1.00')
    >>> written(0.0123, "p"), written(0.00004, "p"), written(1.0, "p")
    ('.012', '<.001', '1.000')
    >>> written(0.9, "signed"), written(-0.30000000000000004, "signed"), written(-1e-17, "signed")
    ('+0.9', '-0.3', '0')
    >>> written((1, 3), "range"), written((2, 2), "range")
    ('1-3', '2')
    """
    match value:
        case None:
            return ""
        case str():
            return value
        case bool():
            return "yes" if value else "no"
        case int() | float():
            return _number(value, form)
        case list() | tuple() if form == "range":
            return "-".join(map(str, dict.fromkeys(value)))
        case list() | tuple():
            return ", ".join(written(one, form) for one in value)
        case Mapping():
            return encode(value)
        case Interval():
            return f"[{written(value.low, form)}, {written(value.high, form)}]"
        case _ if hasattr(value, "item"):  # a number of numpy's
            return written(value.item(), form)
        case _:
            return str(value)


def _number(value: Any, form: str) -> str:
    if math.isnan(value):
        return "-"
    if form == "p":
        return "<.001" if value < 0.0005 else f"{value:.3f}".removeprefix("0")
    if form == "signed":
        rounded = round(value, 2)
        return "0" if rounded == 0 else f"{rounded:+g}"
    if form.endswith("r"):
        text = written(float(value), form[:-1] + "f")
        return text.replace("0.", ".", 1) if text.lstrip("-").startswith("0.") else text
    if form == "":
        form = "," if isinstance(value, int) else ",.0f" if abs(value) >= 1e5 else ".4g"
    text = f"{value:{form}}"
    # -0.00 is a zero with a sign that nobody asked for.
    return text if any(digit in text for digit in "123456789infa") else text.removeprefix("-")


def listed(names: Sequence[str], most: int = 4) -> str:
    """Names in a sentence; of many, the first few.

    Examples
    --------
    >>> listed(["A"]), listed(["A", "B"]), listed(["A", "B", "C"]), listed(list("ABCDEF"), 2)
    ('A', 'A and B', 'A, B and C', 'A, B and 4 more')
    """
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    if len(names) < 2:
        return "".join(names)
    return f"{', '.join(names[:-1])} and {names[-1]}"
