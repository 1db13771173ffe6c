"""Explanations as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from deltableu._version import __version__
from deltableu.report.explain import (
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


@dataclass(frozen=True, slots=True)
class _Token:
    """A token as the page draws it; `groups` are the n-grams it is part of."""

    text: str
    mark: Mark
    number: str
    style: str
    gap_style: str
    groups: str


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
        # Isolated, so that right-to-left words do not reorder the numbers beside them.
        verdict=lambda case, answer: verdict(case, answer, "“\u2068{}\u2069”".format),
        number=number,
        row_line=row_line,
        corpus_line=corpus_line,
        hypothesis_tokens=_hypothesis_tokens,
        reference_tokens=_reference_tokens,
        matched=matched,
        unmatched=unmatched,
        deciding=deciding,
        by_weight=by_weight,
        token_mark=token_mark,
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
        return "#e3e5e8"
    mark = token_mark(one.credit, matched=True)
    if mark not in _RGB:
        return "#8a8f98"
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
