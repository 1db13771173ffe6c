"""Explanations of items in words and tables; how they look is elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from deltableu.corpus import Item
from deltableu.io import Cell, Column, Table, written
from deltableu.score import BLEU, CorpusShare, Explanation, Mark, NgramCredit, brevity_penalty

_COLUMNS = (
    *map(Column, ("n", "n-gram", "count")),
    *(Column("credit", "signed"), Column("from"), Column("weight", "signed")),
    Column("clip"),
)
#: A sum of weights that cancel may keep a rounding error.
_NOISE = 1e-12
#: How many n-grams a verdict names.
_NAMED = 3
_LONGEST = 60


@dataclass(frozen=True, slots=True)
class Answer:
    """What one system said to an item, why it scored so, and what that does to the corpus."""

    system: str
    explanation: Explanation
    score: float
    share: CorpusShare
    metric: BLEU


@dataclass(frozen=True, slots=True)
class Case:
    """An item, the ids of the references that counted, and one or two answers."""

    item: Item
    reference_ids: tuple[str, ...]
    answers: tuple[Answer, ...]


def verdict(case: Case, answer: Answer, quote: Callable[[str], str] = "“{}”".format) -> list[str]:
    """Why the answer scored so, in a few sentences, what hurt most first."""
    found = answer.explanation
    sentences = []
    penalties = _most_first([one for one in found.ngrams if one.credit < 0.0])
    if penalties:
        total = sum(one.credit for one in penalties)
        sentences.append(f"Penalties of {number(total)} in all: {_named(case, penalties, quote)}.")
    floored = [one for one in found.ngrams if one.floored]
    if floored:
        sentences.append(f"This variant let {_plural(len(floored), 'penalty')} off.")
    sentences += _empty_orders(answer)
    sentences += _missing(found)
    sentences += _clipped(found, quote)
    length, closest = found.hypothesis_length, found.reference_length
    if length < closest:
        penalty = float(brevity_penalty(np.array(float(length)), np.array(float(closest))))
        sentences.append(
            f"Too short: {length} tokens where the closest reference has {closest}, "
            f"a brevity penalty of {penalty:.2f}."
        )
    earned = _most_first([one for one in found.ngrams if one.credit > 0.0])
    if earned:
        total = sum(one.credit for one in earned)
        sentences.append(f"Credits of {number(total)} in all: {_named(case, earned, quote)}.")
    return sentences


def ngram_table(case: Case, answer: Answer) -> Table:
    """Every n-gram that a reference has: what it earned, from which, with what weight and clip."""
    rows = (
        (
            one.order,
            " ".join(one.ngram),
            one.count,
            Cell(one.credit, note="(floored)" if one.floored else ""),
            deciding(case, one),
            one.weight,
            one.clip,
        )
        for _, one in matched(answer.explanation)
    )
    return Table(_COLUMNS, rows)


def number(value: float) -> str:
    """A credit or a weight, with its sign and without idle zeros."""
    return written(value, "signed")


def row_line(case: Case, answer: Answer) -> str:
    """The item's row in words."""
    found = answer.explanation
    closest = case.reference_ids[found.closest]
    return (
        f"{_sums(found.numerators, found.denominators)}; length {found.hypothesis_length}, "
        f"closest reference {found.reference_length} ({closest})"
    )


def corpus_line(answer: Answer) -> str:
    """What the item does to the corpus score."""
    share = answer.share
    sums = _sums(share.numerators, share.denominators)
    if share.without is None:
        return f"{share.score:.2f}; there is no other item"
    change = f"{share.difference:+.2f}" if abs(share.difference) >= 0.005 else "no change"
    return f"{share.score:.2f}; without this item {share.without:.2f} ({change}); sums {sums}"


def line(text: str) -> str:
    """A text on one line."""
    return " ".join(text.split())


def _most_first(ngrams: Sequence[NgramCredit]) -> list[NgramCredit]:
    """The largest credit or penalty first, and of equal ones the longest, which says most."""
    return sorted(ngrams, key=lambda one: (-abs(one.credit), -one.order))


def by_weight(found: Explanation) -> list[int]:
    """The references, the best first."""
    return sorted(range(len(found.weights)), key=lambda index: -found.weights[index])


def matched(found: Explanation) -> list[tuple[int, NgramCredit]]:
    """N-grams that a reference has and their numbers, by order, what cost most first."""
    matched = [(index, one) for index, one in enumerate(found.ngrams) if one.matched]
    return sorted(matched, key=lambda pair: (pair[1].order, pair[1].credit))


def unmatched(found: Explanation) -> list[tuple[int, list[str]]]:
    """The n-grams of each order that no reference has."""
    orders = range(1, found.order + 1)
    texts = [(n, [" ".join(g.ngram) for g in found.of_order(n) if not g.matched]) for n in orders]
    return [(n, ngrams) for n, ngrams in texts if ngrams]


def token_mark(credit: float, matched: bool) -> Mark:
    if credit > 0.0:
        return "credit"
    if credit < 0.0:
        return "penalty"
    return "shield" if matched else "none"


def deciding(case: Case, one: NgramCredit) -> str:
    if one.weight_from is None or one.clip_from is None:
        return ""
    weight, clip = case.reference_ids[one.weight_from], case.reference_ids[one.clip_from]
    return weight if weight == clip else f"{weight}, clip {clip}"


def _named(case: Case, ngrams: Sequence[NgramCredit], quote: Callable[[str], str]) -> str:
    named = [
        f"{quote(_shortened(one.ngram))} {number(one.credit)} ({deciding(case, one)})"
        for one in ngrams[:_NAMED]
    ]
    return ", ".join(named) + (f" and {len(ngrams) - _NAMED} more" if ngrams[_NAMED:] else "")


def _missing(found: Explanation) -> list[str]:
    """How many tokens no reference has, and whether upper and lower case are to blame."""
    missing = [word.token for word in found.tokens() if not word.matched]
    if not missing:
        return []
    known = {token.lower() for reference in found.references for token in reference}
    cased = sum(token.lower() in known for token in missing)
    verb = "stands" if len(missing) == 1 else "stand"
    sentence = f"{len(missing)} of {len(found.hypothesis)} tokens {verb} in no reference"
    hint = f" ({cased} would if case did not count)" if cased else ""
    return [f"{sentence}{hint}."]


def _clipped(found: Explanation, quote: Callable[[str], str]) -> list[str]:
    """Tokens that were said more often than the deciding reference has them."""
    lost = [one for one in found.of_order(1) if one.matched and one.clip < one.count]
    if not lost:
        return []
    named = [f"{quote(_shortened(g.ngram))} {g.clip} of {g.count} times" for g in lost[:_NAMED]]
    more = f" and {len(lost) - _NAMED} more" if lost[_NAMED:] else ""
    return [f"Repeated beyond the reference, so counted only in part: {', '.join(named)}{more}."]


def _empty_orders(answer: Answer) -> list[str]:
    """Orders that make a geometric mean 0, or would but for smoothing."""
    found, metric = answer.explanation, answer.metric
    if not found.hypothesis:
        return ["The answer is empty."]
    if metric.combine != "geometric":
        return []
    sums = [
        f"{n}-grams add up to {number(numerator)}"
        for n, numerator in enumerate(found.numerators, start=1)
        if numerator <= _NOISE and found.of_order(n)
    ]
    if not sums:
        return []
    then = "so its own score is 0" if answer.score == 0.0 else "which smoothing replaces"
    return [f"Its {' and its '.join(sums)}, {then}."]


def _shortened(ngram: Sequence[str]) -> str:
    """A long n-gram must not drown a sentence; the table has it whole."""
    text = " ".join(ngram)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _sums(numerators: Sequence[float], denominators: Sequence[float]) -> str:
    pairs = enumerate(zip(numerators, denominators, strict=True), start=1)
    return ", ".join(f"{n}-grams {_short(top)}/{_short(bottom)}" for n, (top, bottom) in pairs)


def _short(value: float) -> str:
    text = f"{value:.1f}" if abs(value) >= 100 else f"{round(value, 2):g}"
    return "0" if float(text) == 0 else text


def _plural(count: int, word: str) -> str:
    return f"1 {word}" if count == 1 else f"{count} {word.removesuffix('y')}ies"
