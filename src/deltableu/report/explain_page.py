"""Explanations as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from deltableu._version import __version__
from deltableu.report.explain import (
    Answer,
    Case,
    by_weight,
    corpus_line,
    deciding,
    matched,
    number,
    row_line,
    token_mark,
    unmatched,
    verdict,
)
from deltableu.report.render import render
from deltableu.score import Explanation, Mark, NgramCredit

# Okabe and Ito 2008.
_RGB = {"credit": "0, 114, 178", "penalty": "213, 94, 0"}
#: With more references than this, those that decided nothing are folded away.
_MANY_REFERENCES = 6


@dataclass(frozen=True, slots=True)
class _Token:
    """A token as the page draws it; `groups` are the n-grams it is part of."""

    text: str
    mark: Mark
    number: str
    style: str
    gap_style: str
    groups: str


@dataclass(frozen=True, slots=True)
class ExplainTools:
    """What the templates call to draw an explanation."""

    number: Callable[..., str] = number
    row_line: Callable[..., str] = row_line
    corpus_line: Callable[..., str] = corpus_line
    matched: Callable[..., object] = matched
    unmatched: Callable[..., object] = unmatched
    deciding: Callable[..., str] = deciding
    token_mark: Callable[..., str] = token_mark

    @staticmethod
    def verdict(case: Case, answer: Answer) -> list[str]:
        # Isolated, so that right-to-left words do not reorder the numbers beside them.
        return verdict(case, answer, "“\u2068{}\u2069”".format)

    @staticmethod
    def hypothesis_tokens(found: Explanation) -> list[_Token]:
        return _hypothesis_tokens(found)

    @staticmethod
    def reference_tokens(found: Explanation, index: int) -> list[_Token]:
        return _reference_tokens(found, index)

    @staticmethod
    def shown_references(found: Explanation) -> tuple[list[int], list[int]]:
        """The references to show, the best first, and those to fold away: many and idle."""
        order = by_weight(found)
        if len(order) <= _MANY_REFERENCES:
            return order, []
        deciding = {place for one in found.ngrams for place in (one.weight_from, one.clip_from)}
        kept = [index for index in order if index in deciding] or order[:_MANY_REFERENCES]
        return kept, [index for index in order if index not in kept]


def explain_page(title: str, cases: Sequence[Case], heading: str, signature: str) -> str:
    """The page."""
    return render(
        "explain.html",
        title=title,
        heading=heading,
        signature=signature,
        version=__version__,
        cases=cases,
        longest=max(answer.explanation.order for case in cases for answer in case.answers),
        tools=ExplainTools(),
    )


def _hypothesis_tokens(found: Explanation) -> list[_Token]:
    """Tokens coloured by their own credit, with a line below for each order of longer n-grams.

    In the line of order n every n-gram has a piece of its own, one token wide and centred on the
    n-gram: a bigram's lies under the joint of its words, a trigram's under its middle word.
    """
    at: dict[int, dict[int, NgramCredit]] = {start: {} for start in range(len(found.hypothesis))}
    groups: list[list[str]] = [[] for _ in found.hypothesis]
    for index, one in enumerate(found.ngrams):
        for start in one.positions:
            at[start][one.order] = one
            for place in range(start, start + one.order):
                groups[place].append(str(index))

    def colour(n: int, start: int) -> str:
        one = at.get(start, {}).get(n)
        return "transparent" if one is None else _line_colour(one, found.largest_weight)

    tokens = []
    for place, token in enumerate(found.tokens()):
        lefts, rights, gaps = [], [], []
        for n in range(2, found.order + 1):
            lefts.append(colour(n, place - n // 2))
            rights.append(colour(n, place - (n - 1) // 2))
            gaps.append("transparent" if n % 2 else rights[-1])
        credit = token.credit * found.largest_weight
        mark = token_mark(credit, token.matched)
        tokens.append(
            _Token(
                token.token,
                mark,
                number(credit).replace("-", "−") if mark in _RGB else "",
                _background(mark, token.credit) + _lines(lefts, rights),
                _lines(gaps, gaps),
                " ".join(groups[place]),
            )
        )
    return tokens


def _reference_tokens(found: Explanation, index: int) -> list[_Token]:
    groups: list[list[str]] = [[] for _ in found.references[index]]
    for place, one in enumerate(found.ngrams):
        for start in one.found[index]:
            for token in range(start, start + one.order):
                groups[token].append(str(place))
    strength = found.weights[index] / found.largest_weight
    marks = found.reference_marks(index)
    return [
        _Token(text, mark, "", _background(mark, strength), "", " ".join(numbers))
        for text, mark, numbers in zip(found.references[index], marks, groups, strict=True)
    ]


def _background(mark: Mark, strength: float) -> str:
    if mark not in _RGB:
        return ""
    # Strong enough to be seen when weak, weak enough for black letters when strong.
    return f"background-color: rgba({_RGB[mark]}, {0.12 + 0.4 * min(1.0, abs(strength)):.2f});"


def _line_colour(one: NgramCredit, largest: float) -> str:
    if not one.matched:
        return "var(--line)"
    mark = token_mark(one.credit, matched=True)
    if mark not in _RGB:
        return "var(--faint)"
    strength = min(1.0, abs(one.credit) / one.count / largest)
    return f"rgba({_RGB[mark]}, {0.35 + 0.65 * strength:.2f})"


def _lines(lefts: Sequence[str], rights: Sequence[str]) -> str:
    """CSS that draws the lines below a token, its left and right half."""
    if not lefts:
        return ""
    halves = zip(lefts, rights, strict=True)
    images = [f"linear-gradient(to var(--end), {left} 50%, {right} 50%)" for left, right in halves]
    places = [f"0 calc(100% - {4 * (len(images) - 1 - row)}px)" for row in range(len(images))]
    return (
        f"background-image: {', '.join(images)}; background-position: {', '.join(places)}; "
        f"padding-bottom: {4 * len(images) + 1}px;"
    )
