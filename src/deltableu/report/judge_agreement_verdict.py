"""Two judges of the same texts in; whether one can stand for the other, in sentences, out."""

from __future__ import annotations

from deltableu.io import written
from deltableu.report.phrases import count, decimals, fixed
from deltableu.stats import ConfidenceInterval
from deltableu.validate import JudgeAgreement

_SIMULATED = (
    "The ratings are simulated, not people's: how judges and metrics agree with them says nothing "
    "about the judges and metrics."
)


def judge_agreement_verdict(found: JudgeAgreement) -> tuple[str, ...]:
    """How far they agree, whether the second may replace a rater, and what a swap would change."""
    if found.simulated:
        return tuple(filter(None, (_SIMULATED, _agree(found), _bias(found), _signs(found))))
    sentences = (_agree(found), _replaces(found), _bias(found), _signs(found))
    return tuple(filter(None, (*sentences, _ranking(found), _people(found))))


def _agree(found: JudgeAgreement) -> str:
    one = found.correlations[0]
    size = f"{found.texts:,} {found.targets} of {count(found.items, 'item')}"
    return (
        f"{found.second} goes with {found.first} by r = {written(one.value, '.2r')} "
        f"({_interval(one.interval, '.2r')}) over {size}."
    )


def _interval(interval: ConfidenceInterval, kind: str) -> str:
    ends = (written(value, kind) for value in (interval.low, interval.high))
    return f"{100 * interval.confidence:g}% interval {' to '.join(ends)}"


def _replaces(found: JudgeAgreement) -> str:
    test = found.replacement
    if test is None:
        reason = found.missing.get("replacement", "")
        return f"Whether it can replace a rater was not tested: {reason}." if reason else ""
    won = sum(one.won for one in test.raters)
    can = "can" if test.passed else "cannot"
    beaten = "none of them does" if won == 0 else f"{won:,} of them {'does' if won == 1 else 'do'}"
    return (
        f"It {can} replace one of the {len(test.raters):,} raters: it speaks for the others better "
        f"than {beaten}, and at least half are needed (alternative annotator test, "
        f"allowance {test.allowance:g})."
    )


def _bias(found: JudgeAgreement) -> str:
    interval = found.bias_interval
    if found.bias is None or interval is None:
        return ""
    digits = max(2, decimals(interval.high - interval.low))
    ends = f"{fixed(interval.low, digits)} to {fixed(interval.high, digits)}"
    span = f"({100 * interval.confidence:g}% interval {ends} on a scale from -1 to 1)"
    if interval.low <= 0.0 <= interval.high:
        return f"On average it is neither stricter nor milder {span}."
    how = "milder" if found.bias > 0.0 else "stricter"
    return f"On average it is {fixed(abs(found.bias), digits)} {how} {span}."


def _signs(found: JudgeAgreement) -> str:
    if found.signs is None:
        return ""
    return f"What is good to the one is bad to the other in {found.signs.other:.1%} of the texts."


def _ranking(found: JudgeAgreement) -> str:
    ranking = found.ranking
    if ranking is None:
        return ""
    systems = len(ranking.systems)
    pairs = systems * (systems - 1) // 2
    if ranking.swapped == 0:
        return f"No pair of the {systems:,} systems changes places by {ranking.measure}."
    return (
        f"{ranking.swapped:,} of {count(pairs, 'pair')} of systems change places by "
        f"{ranking.measure} (Kendall's tau {written(ranking.tau, '.2r')})."
    )


def _people(found: JudgeAgreement) -> str:
    one = found.agreement
    if one is None:
        return ""
    values = f"{written(one.first, '.2r')} and {written(one.second, '.2r')}"
    sure = one.interval.low > 0.0 or one.interval.high < 0.0
    how = (
        f"a difference of {written(one.difference, '.2r')} ({_interval(one.interval, '.2r')})"
        if sure
        else f"no sure difference ({_interval(one.interval, '.2r')})"
    )
    if found.targets == "references":
        return (
            f"With the weights of {found.first} and of {found.second}, {one.metric} goes with "
            f"people's ratings of outputs by r = {values}: {how}."
        )
    return (
        f"{one.metric} goes with {found.first} and with {found.second} by r = {values}, output by "
        f"output: {how}."
    )
