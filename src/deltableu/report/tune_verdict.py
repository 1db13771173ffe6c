"""Tuned weights in; whether they help on other items, in plain sentences, out."""

from __future__ import annotations

from deltableu.report.compare_verdict import compare_verdict
from deltableu.report.phrases import count, fixed
from deltableu.tune import TunedScore, Tuning


def tune_verdict(tuning: Tuning) -> tuple[str, ...]:
    """What items that were held out say of weights first; then the items they were tuned on."""
    sentences: list[str] = []
    unseen = tuning.held_out
    if unseen is not None and unseen.decisive is not None:
        first, *others = compare_verdict([unseen.decisive])
        sentences += [f"On {count(unseen.items, 'item')} held out: {first}", *others]
        if unseen.decisive.metric != tuning.metric:
            sentences.append(
                f"There {tuning.metric} is clamped, so that {unseen.decisive.metric} was tested."
            )
    seen = _change(tuning, tuning.training)
    which = f"On the {count(tuning.training.items, 'item')} tuned on, {seen}"
    if tuning.held_out is None:
        which += ", which says nothing of other items: hold some out (--held-out 0.3) to know"
    return (*sentences, f"{which}.")


def _change(tuning: Tuning, score: TunedScore) -> str:
    ends = f"from {fixed(score.start, 2)} to {fixed(score.tuned, 2)}"
    if score.tuned == score.start:
        return f"{tuning.metric} stays at {fixed(score.start, 2)}"
    return f"{tuning.metric} goes {ends}"
