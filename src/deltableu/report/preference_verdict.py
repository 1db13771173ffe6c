"""A ranking by preferences in; who is best, and whether position mattered, in sentences, out."""

from __future__ import annotations

from deltableu.rate import PositionEffect, PreferenceRanking
from deltableu.report.phrases import all_others, count, listed, p_phrase


def preference_verdict(found: PreferenceRanking) -> tuple[str, ...]:
    """Who is best, how many differences are sure, and what position did."""
    return (*_best(found), *_position(found.position, found.significance))


def _best(found: PreferenceRanking) -> list[str]:
    ranked, nearest = found.systems, found.nearest
    judged = count(found.judgements, "judgement")
    top = [one.system for one in ranked if one.rank[0] == 1]
    interval = nearest.share_interval
    wins = (
        f"is expected to win {nearest.share:.0%} of judgements ({100 * found.confidence:g}% "
        f"interval {interval.low:.0%} to {interval.high:.0%}, ties counted half)"
    )
    if len(ranked) == 2:
        if nearest.better is None:
            names = f"{nearest.first} and {nearest.second}"
            return [f"These {judged} cannot tell {names} apart: {nearest.first} {wins}."]
        return [f"People prefer {nearest.first} to {nearest.second}: it {wins}."]
    if not found.significant:
        return [f"These {judged} cannot tell any of the {len(ranked):,} systems apart."]
    if len(top) == 1:
        sentences = [f"{top[0]} is best: people prefer it to {all_others(len(ranked) - 1)}."]
        if nearest.better is not None:
            sentences.append(f"Against {nearest.second}, the next, it {wins}.")
    else:
        sentences = [
            f"These {judged} cannot tell which of {listed(top)} is best: people prefer no system "
            "significantly to any of them."
        ]
    pairs = len(ranked) * (len(ranked) - 1) // 2
    return [*sentences, f"{found.significant:,} of {count(pairs, 'pair')} differ significantly."]


def _position(effect: PositionEffect | None, significance: float) -> list[str]:
    if effect is None or effect.p_value is None or effect.share is None:
        return []
    p = p_phrase(effect.p_value)
    if effect.p_value >= significance:
        return [f"Nothing shows that being shown first mattered ({p})."]
    which = "first" if effect.share > 0.5 else "second"
    share = max(effect.share, 1.0 - effect.share)
    return [
        f"Position mattered: of two equal outputs the one shown {which} is expected to win "
        f"{share:.0%} of judgements ({p}); strengths are free of that."
    ]
