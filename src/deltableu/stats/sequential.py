"""Tests that are looked at again and again: how much significance each look may spend."""

from __future__ import annotations

import math

from deltableu.errors import check_at_least, check_share

#: The shares that looks spend fall with this power of their number, and sum to 1.
_POWER = 1.6
_ZETA = 2.2857656656801293
#: Beyond this many standard errors the normal distribution has nothing left to say.
_FARTHEST = 38.0


def spent_share(look: int) -> float:
    """The share of the significance that a look may spend: k^-1.6 / zeta(1.6).

    The shares of endlessly many looks sum to 1, so that the chance of a false alarm at any of them
    is at most the significance, however the looks depend on each other (Bonferroni).

    Parameters
    ----------
    look : int
        Its number, from 1.

    References
    ----------
    Tian and Ramdas 2021, "Online control of the familywise error rate" (alpha-spending, and this
    sequence).

    Examples
    --------
    >>> [round(spent_share(look), 4) for look in (1, 2, 10, 100)]
    [0.4375, 0.1443, 0.011, 0.0003]
    """
    check_at_least("look", look, 1)
    return math.pow(look, -_POWER) / _ZETA


def confidence_sequence_reach(units: int, planned: int, significance: float) -> float:
    """How many standard errors a one-sided confidence sequence reaches after so many units.

    The bounds of all sizes hold together: whoever looks after every new unit is misled with no more
    than the chance `significance`, asymptotically. Robbins' mixture of likelihood ratios over a
    half-normal distribution of effects, with Student's distribution in place of the normal one for
    the few units of a small sample.

    Parameters
    ----------
    units : int
        Items, or groups of them, so far.
    planned : int
        Units for which the sequence is at its best; chosen before any were seen.
    significance : float

    References
    ----------
    Robbins 1970, "Statistical methods related to the law of the iterated logarithm"; Waudby-Smith
    et al. 2024, "Time-uniform central limit theory and asymptotic confidence sequences".

    Examples
    --------
    >>> [round(confidence_sequence_reach(n, 100, 0.05), 2) for n in (100, 1000, 10000)]
    [2.83, 2.99, 3.33]
    """
    check_at_least("units", units, 2)
    check_at_least("planned", planned, 2)
    check_share("significance", significance)
    from scipy.special import log_ndtr, ndtr, stdtrit

    # The two-sided sequence's best choice at twice the significance, in closed form.
    least = -2.0 * math.log(min(2.0 * significance, 0.5))
    growth = 1.0 + units / planned * (least + math.log(least + 1.0))
    shrunk = math.sqrt(1.0 - 1.0 / growth)

    def log_ratio(errors: float) -> float:
        return (
            math.log(2.0)
            - 0.5 * math.log(growth)
            + 0.5 * (shrunk * errors) ** 2
            + float(log_ndtr(shrunk * errors))
        )

    low, high = 0.0, _FARTHEST
    while high - low > 1e-10:
        middle = (low + high) / 2.0
        low, high = (middle, high) if log_ratio(middle) < -math.log(significance) else (low, middle)
    tail = float(ndtr(-high))
    return -float(stdtrit(units - 1, tail)) if tail > 0.0 else math.inf
