"""Tests that are looked at again and again: how much significance each look may spend."""

from __future__ import annotations

import math

import numpy as np

from deltableu._types import Array
from deltableu.errors import check_at_least, check_share

#: The shares that looks spend fall with this power of their number, and sum to 1.
_POWER = 1.6
_ZETA = 2.2857656656801293
#: What gamblers stake: quantiles of Jeffreys' distribution, Beta(1/2, 1/2).
_SHARES = np.sin(np.pi / 2.0 * (np.arange(64) + 0.5) / 64) ** 2
#: Bounds are known to this part of the limits: 2^-30.
_HALVINGS = 30
_CELLS = 1_000_000


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


def log_capital(values: Array, mean: float, highest: float) -> Array:
    """The logarithm of the capital of who bets that the mean of values is below `mean`.

    Every unit of capital is split evenly over 64 gamblers, who each stake a fixed share of what
    they have on every value: they gain where it lies below the mean, and can lose no more than the
    share, since no value is above `highest`. If the mean is not below, the game is fair at best,
    whatever the distribution: with no more than the chance s does the capital ever reach 1 / s,
    however often one looks (Ville's inequality). The order of the values does not matter.

    Parameters
    ----------
    values : array
        Along the last axis: drawn independently, or each with no lower mean than `mean` given those
        before it.
    mean : float
        Below `highest`.
    highest : float
        No value can be above it.

    References
    ----------
    Waudby-Smith and Ramdas 2024, "Estimating means of bounded random variables by betting";
    Orabona and Jun 2023, "Tight concentrations and confidence sequences from the regret of
    universal portfolio" (shares by Jeffreys' distribution, here by 64 of its quantiles).

    Examples
    --------
    >>> log_capital(np.array([[-1.0, -1.0, 1.0], [-1.0, -1.0, -1.0]]), 0.0, 1.0).round(3)
    array([-0.208,  1.371])
    """
    gains = (mean - values) / (highest - mean)
    # Some gamblers at once, as many as memory has room for.
    parts = np.array_split(_SHARES, min(len(_SHARES), 1 + len(_SHARES) * gains.size // _CELLS))
    logs = np.concatenate(
        [np.log1p(np.multiply.outer(shares, gains)).sum(axis=-1) for shares in parts]
    )
    most = logs.max(axis=0)
    return np.asarray(most + np.log(np.exp(logs - most).mean(axis=0)))


def betting_bounds(
    values: Array, limits: tuple[float, float], significance: float
) -> tuple[float, float]:
    """Bounds of the mean of values that cannot leave the limits, each at a significance.

    They hold for every distribution, and for all sizes of a sample together.

    Parameters
    ----------
    values : array
    limits : (float, float)
        Lowest and highest value that there could be, not that was seen.
    significance : float
        Of each bound.

    Examples
    --------
    >>> values = np.tile([0.0, 0.0, 1.0, 0.0, 0.0], 40)
    >>> [round(bound, 3) for bound in betting_bounds(values, (0.0, 1.0), 0.025)]
    [0.114, 0.304]
    """
    check_share("significance", significance)
    lowest, highest = limits
    above = _upper_bound(values, highest, significance)
    return max(lowest, -_upper_bound(-values, -lowest, significance)), above


def _upper_bound(values: Array, highest: float, significance: float) -> float:
    """The least mean that the bets refute, from above; `highest` where there is none."""
    aim = -math.log(significance)
    # At the sample's own mean nobody gains, so that it is never refuted.
    kept, refuted = float(np.mean(values)), highest
    for _ in range(_HALVINGS):
        middle = (kept + refuted) / 2.0
        if not kept < middle < refuted:
            break
        won = float(log_capital(values, middle, highest)) >= aim
        kept, refuted = (kept, middle) if won else (middle, refuted)
    return refuted
