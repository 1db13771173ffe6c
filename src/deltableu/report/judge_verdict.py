"""A trained judge in; sentences that say whether it is any good, out."""

from __future__ import annotations

import math
from collections.abc import Mapping

from deltableu.judges import RaterModel
from deltableu.report.phrases import count

_NEEDED = ("examples", "accuracy", "accuracy of word overlap")
_Z = 1.96


def judge_verdict(model: RaterModel) -> tuple[str, ...]:
    """How often a judge is right on held-out examples, and how often counting common words is.

    Both are right or wrong on the same examples. Taking them for different ones makes the error of
    their difference too large rather than too small, so that no difference is claimed too soon.
    """
    held_out = model.card.get("held out")
    if not isinstance(held_out, Mapping):
        return ("Nothing is known of how good this judge is: no examples were held out.",)
    examples, judge, words = (held_out.get(name) for name in _NEEDED)
    if examples is None or judge is None or words is None:
        return ("How good this judge is was not kept with it.",)
    return _sentences(int(examples), float(judge), float(words))


def _sentences(examples: int, judge: float, words: float) -> tuple[str, ...]:
    error = _error(judge, examples)
    right = (
        f"The judge is right on {judge:.1%} of {count(examples, 'held-out example')} "
        f"(95% interval {max(0.0, judge - error):.1%} to {min(1.0, judge + error):.1%}); a coin "
        "is right on 50%."
    )
    if judge - error <= 0.5:
        return (right, "It is not shown to be better than a coin: do not use its weights.")
    apart = math.hypot(error, _error(words, examples))
    beside = f"counting common words, which is right on {words:.1%}"
    if judge - words > apart:
        return (right, f"It is better than {beside}.")
    if words - judge > apart:
        return (right, f"It is worse than {beside}.")
    return (right, f"It is not shown to be better than {beside}.")


def _error(share: float, examples: float) -> float:
    """Half of a 95% interval of a share, which no share makes 0 (Agresti and Coull 1998)."""
    size = examples + _Z**2
    middle = (share * examples + _Z**2 / 2.0) / size
    return _Z * math.sqrt(middle * (1.0 - middle) / size)
