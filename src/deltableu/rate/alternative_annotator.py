"""What raters and a judge said of the same texts in; whether the judge can replace a rater, out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from deltableu._types import Array, Bools
from deltableu.errors import InputError, check_at_least, check_choice, check_share
from deltableu.io import Column, Table, Tabular
from deltableu.stats import benjamini_yekutieli

Alignment = Literal["rmse", "accuracy"]
Annotators = Literal["expert", "skilled", "crowd"]

#: How much worse than a rater a judge may be, for being cheaper: the more, the dearer the raters.
ALLOWANCES: dict[Annotators, float] = {"expert": 0.2, "skilled": 0.15, "crowd": 0.1}
#: Raters and units of each that the test needs.
_RATERS, _UNITS = 3, 30
#: Rounding must not decide who is closer.
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class RivalRater:
    """One rater, left out and compared with the judge.

    Attributes
    ----------
    rater : str
    units : int
        Texts that the rater, the judge and at least one other rater rated.
    judge_share, rater_share : float
        Of those, how often the judge (the rater) is at least as close to the others.
    p_value, p_adjusted : float
        Of the judge being worse by the allowance or more; adjusted by Benjamini and Yekutieli.
    won : bool
        Whether the judge represents the others better than this rater does.
    """

    rater: str
    units: int
    judge_share: float
    rater_share: float
    p_value: float
    p_adjusted: float
    won: bool


@dataclass(frozen=True, slots=True)
class AlternativeAnnotatorTest(Tabular):
    """Whether a judge can replace one of the raters.

    Attributes
    ----------
    alignment : {"rmse", "accuracy"}
    allowance, significance : float
    winning_rate : float
        Share of the raters that the judge wins against.
    advantage : float
        How often the judge is at least as close to the others as a rater is, on average: the
        number to compare judges by.
    raters : tuple of RivalRater
    skipped : tuple of str
        Raters with too few units.
    left_out : int
        Units without a second rater or without a verdict of the judge.
    """

    alignment: Alignment
    allowance: float
    significance: float
    winning_rate: float
    advantage: float
    raters: tuple[RivalRater, ...]
    skipped: tuple[str, ...]
    left_out: int

    @property
    def passed(self) -> bool:
        """Whether the judge wins against at least half of the raters."""
        return self.winning_rate >= 0.5

    def table(self, *, digits: int = 2) -> Table:
        """A row for each rater."""
        rows = (
            (one.rater, one.units, one.judge_share, one.rater_share, one.p_adjusted, one.won)
            for one in self.raters
        )
        share = f".{digits}r"
        columns = (
            Column("rater left out"),
            Column("texts", ",d"),
            Column("judge as close", share),
            Column("rater as close", share),
            Column("p", "p"),
            Column("judge wins"),
        )
        notes = {
            "as close": "how often at least as close to the other raters as its rival",
            "p": f"of the judge being worse by {self.allowance:g} or more (Benjamini-Yekutieli)",
        }
        return Table(columns, rows, "alternative annotator test", notes)


def alternative_annotator_test(
    said: Array,
    judge: Array,
    raters: Sequence[str] | None = None,
    *,
    alignment: Alignment = "rmse",
    allowance: float = ALLOWANCES["skilled"],
    significance: float = 0.05,
    min_units: int = _UNITS,
) -> AlternativeAnnotatorTest:
    """Test whether a judge agrees with the raters as well as one of them does with the others.

    Parameters
    ----------
    said : array
        Raters x units; NaN where a rater said nothing.
    judge : array
        The judge's value of each unit; NaN where there is none.
    raters : list of str, optional
        Their names; by default their numbers.
    alignment : {"rmse", "accuracy"}
        How close somebody is to the other raters of a unit: root mean squared distance, or the
        share of equal values (categories).
    allowance : float
        By how much rarer a judge may be at least as close, and still win: .2 beside experts, .15
        beside skilled raters, .1 beside crowd workers (`ALLOWANCES`), as the authors advise. The
        paper calls it epsilon.
    significance : float
        The expected share of false wins.
    min_units : int
        Raters with fewer units are skipped.

    Notes
    -----
    For each rater left out, d = [rater at least as close] - [judge at least as close] is tested
    over units by a one-sided t-test against the allowance. The judge wins where d is
    significantly below, p-values corrected by Benjamini and Yekutieli; it passes with half of the
    raters or more. That it passes does not say that it is right: only that it speaks for these
    raters as well as one of them.

    References
    ----------
    Calderon, Reichart and Dror 2025, "The Alternative Annotator Test for LLM-as-a-Judge".

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> quality = rng.normal(size=60)
    >>> said = quality + rng.normal(size=(4, 60))
    >>> good = alternative_annotator_test(said, quality + 0.3 * rng.normal(size=60))
    >>> bad = alternative_annotator_test(said, rng.normal(size=60))
    >>> good.passed, good.winning_rate, bad.passed, bad.winning_rate
    (True, 1.0, False, 0.0)
    """
    check_choice("alignment", alignment, get_args(Alignment))
    check_share("significance", significance)
    check_at_least("min_units", min_units, 2)
    check_allowance(allowance)
    said, judge = np.asarray(said, dtype=np.float64), np.asarray(judge, dtype=np.float64)
    if said.ndim != 2 or judge.shape != said.shape[1:]:
        raise InputError(
            f"give raters x units, and one value of the judge per unit; got shapes {said.shape} "
            f"and {judge.shape}"
        )
    names = [str(place) for place in range(len(said))] if raters is None else list(raters)
    there = ~np.isnan(said)
    usable = (there.sum(axis=0) >= 2) & ~np.isnan(judge)
    found, skipped = [], []
    for place, name in enumerate(names):
        units = np.flatnonzero(there[place] & usable)
        if len(units) < min_units:
            skipped.append(name)
            continue
        others = np.delete(said[:, units], place, axis=0)
        found.append((name, *_shares(said[place, units], judge[units], others, alignment)))
    if len(found) < _RATERS:
        raise InputError(
            f"the alternative annotator test needs {_RATERS} raters with {min_units} texts each "
            f"that others and the judge rated too, got {len(found)}"
        )
    p_values = [_p_value(close - rival, allowance) for _, rival, close in found]
    adjusted = benjamini_yekutieli(p_values)
    rivals = tuple(
        RivalRater(
            name,
            len(rival),
            float(rival.mean()),
            float(close.mean()),
            p_value,
            float(p_adjusted),
            bool(p_adjusted <= significance),
        )
        for (name, rival, close), p_value, p_adjusted in zip(found, p_values, adjusted, strict=True)
    )
    return AlternativeAnnotatorTest(
        alignment,
        allowance,
        significance,
        sum(one.won for one in rivals) / len(rivals),
        float(np.mean([one.judge_share for one in rivals])),
        rivals,
        tuple(skipped),
        int(np.count_nonzero(there.any(axis=0) & ~usable)),
    )


def check_allowance(allowance: float) -> float:
    """The allowance, if it is one."""
    if not 0.0 <= allowance < 1.0:
        raise InputError(f"allowance must be at least 0 and below 1, got {allowance!r}")
    return allowance


def _shares(own: Array, judge: Array, others: Array, alignment: Alignment) -> tuple[Array, Array]:
    """Where the judge, and where the rater, is at least as close to the others."""
    there: Bools = ~np.isnan(others)
    counts = there.sum(axis=0)
    distances = []
    for values in (judge, own):
        away = np.where(there, values - others, 0.0)
        if alignment == "accuracy":
            distances.append((there & (away != 0.0)).sum(axis=0) / counts)
        else:
            distances.append(np.sqrt((away**2).sum(axis=0) / counts))
    far, rival = distances
    slack = _ROUNDING * np.maximum(far, rival)
    return (far <= rival + slack).astype(np.float64), (rival <= far + slack).astype(np.float64)


def _p_value(differences: Array, allowance: float) -> float:
    """One-sided t-test of the mean being below the allowance."""
    from scipy.special import stdtr

    size = len(differences)
    away = float(differences.mean()) - allowance
    error = float(differences.std(ddof=1)) / math.sqrt(size)
    if error == 0.0:
        return 0.0 if away < 0.0 else 1.0
    return float(stdtr(size - 1, away / error))
