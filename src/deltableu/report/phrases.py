"""Numbers and lists as sentences need them."""

from __future__ import annotations

import math

from deltableu.io import listed as listed
from deltableu.io import written

#: What comes first where nobody is behind the ratings.
SIMULATED = "The ratings are simulated, not people's."


def count(number: int, what: str) -> str:
    """A number of things.

    Examples
    --------
    >>> count(1, "item"), count(1200, "item")
    ('1 item', '1,200 items')
    """
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def all_others(number: int) -> str:
    """All of so many others.

    Examples
    --------
    >>> all_others(1), all_others(2), all_others(5)
    ('the other', 'both others', 'all 5 others')
    """
    return {1: "the other", 2: "both others"}.get(number, f"all {number} others")


def decimals(width: float) -> int:
    """How many decimals show two digits of a width, and at least one.

    Examples
    --------
    >>> decimals(12.0), decimals(4.3), decimals(0.043), decimals(0.0)
    (1, 1, 3, 1)
    """
    if not math.isfinite(width) or width <= 0.0:
        return 1
    return min(max(1, 1 - math.floor(math.log10(width))), 6)


def fixed(value: float, digits: int) -> str:
    """A number with so many decimals, without a sign before zero.

    Examples
    --------
    >>> fixed(-0.04, 1), fixed(-1.25, 2)
    ('0.0', '-1.25')
    """
    text = f"{value:.{digits}f}"
    return text.removeprefix("-") if not text.strip("-0.") else text


def rounded_up(number: float) -> int:
    """Two digits are all that a rough number has.

    Examples
    --------
    >>> rounded_up(41.2), rounded_up(287.0), rounded_up(12345.6)
    (42, 290, 13000)
    """
    step: int = 10 ** max(0, len(str(math.ceil(number))) - 2)
    return math.ceil(number / step) * step


def p_phrase(value: float) -> str:
    """A p-value as a sentence has it.

    Examples
    --------
    >>> p_phrase(0.0301), p_phrase(1e-9)
    ('p = .030', 'p <.001')
    """
    text = written(value, "p")
    return f"p {text}" if text.startswith("<") else f"p = {text}"
