"""Explanations of items for people: for a terminal, and as one self-contained HTML page."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from deltableu._version import __version__
from deltableu.corpus import Item
from deltableu.errors import InputError
from deltableu.report.tables import Cell, Table, to_rich
from deltableu.score.bleu_metric import BLEU
from deltableu.score.explain import CorpusShare, Explanation, Mark, NgramCredit
from deltableu.score.formula import brevity_penalty

if TYPE_CHECKING:
    import rich.console
    import rich.text

__all__ = ["Answer", "Case", "explain_page", "ngram_table", "terminal_view", "verdict"]

# Okabe and Ito 2008; white is legible on both.
_BLUE, _VERMILLION = "#0072b2", "#d55e00"
_RGB = {"credit": "0, 114, 178", "penalty": "213, 94, 0"}
_STYLES: dict[Mark, str] = {
    "credit": f"white on {_BLUE}",
    "penalty": f"white on {_VERMILLION}",
    "shield": "underline",
    "match": "underline dim",
    "none": "dim",
}
_SIGNS: dict[Mark, str] = {"credit": "+", "penalty": "-", "shield": "=", "match": "~", "none": ""}
_COLUMNS = ("n", "n-gram", "count", "credit", "from", "weight", "clip")
_LEGEND = (
    "word(+0.9) earned, word(-0.7) cost; in references +word earned, -word cost, =word kept it at "
    "0, ~word matched but another reference decided"
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
    rows = tuple(
        (
            Cell(str(one.order)),
            Cell(" ".join(one.ngram)),
            Cell(str(one.count)),
            Cell(number(one.credit), note="(floored)" if one.floored else ""),
            Cell(_deciding(case, one)),
            Cell(number(one.weight)),
            Cell(str(one.clip)),
        )
        for _, one in _matched(answer.explanation)
    )
    align: tuple[Literal["left", "right"], ...] = ("right", "left", "right", "right", "left")
    return Table(_COLUMNS, rows, align=(*align, "right", "right"))


def number(value: float) -> str:
    """A credit or a weight, with its sign and without idle zeros.

    Examples
    --------
    >>> number(0.9), number(-0.30000000000000004), number(1.0), number(-1e-17)
    ('+0.9', '-0.3', '+1', '0')
    """
    rounded = round(value, 2)
    return "0" if rounded == 0 else f"{rounded:+g}"


# --- The terminal ---------------------------------------------------------------------------------


def terminal_view(
    cases: Sequence[Case], heading: str, signature: str, *, width: int
) -> rich.console.Group:
    """For a rich console; two systems stand side by side where the terminal is wide enough."""
    from rich.console import Group
    from rich.table import Table as RichTable
    from rich.text import Text

    parts: list[Any] = [Text(heading, style="bold"), Text(_LEGEND, style="dim")]
    for case in cases:
        parts += ["", Text(f"item {case.item.id}", style="bold underline")]
        parts += [Text(f"  context  {line(turn)}", style="dim") for turn in case.item.context]
        if case.item.message is not None:
            parts.append(Text(f"  message  {line(case.item.message)}"))
        blocks = [Group(*_block(case, answer)) for answer in case.answers]
        if len(blocks) == 2 and 150 <= width < 1000:
            grid = RichTable.grid(expand=True, padding=(0, 4, 0, 0))
            grid.add_column(ratio=1)
            grid.add_column(ratio=1)
            grid.add_row(*blocks)
            parts.append(grid)
        else:
            parts += blocks
    return Group(*parts, "", Text(signature, style="dim"))


def _block(case: Case, answer: Answer) -> Iterator[Any]:
    from rich.text import Text

    found = answer.explanation
    yield ""
    yield Text(f"{answer.system}  {answer.score:.2f}", style="bold")
    yield _hypothesis_text(found)
    for sentence in verdict(case, answer):
        yield Text(f"  {sentence}")
    yield Text(f"row     {row_line(case, answer)}")
    yield Text(f"corpus  {corpus_line(answer)}")
    yield to_rich(ngram_table(case, answer))
    for n, texts in _unmatched(found):
        yield Text(f"{n}-grams in no reference: {' | '.join(texts)}", style="dim")
    yield ""
    for index in _by_weight(found):
        yield _reference_text(case, found, index)


def _hypothesis_text(found: Explanation) -> rich.text.Text:
    from rich.text import Text

    text = Text("> ")
    for token in found.tokens():
        credit = token.credit * found.largest_weight
        mark = _token_mark(credit, token.matched)
        text.append(token.token, style=_STYLES[mark])
        if mark in ("credit", "penalty"):
            text.append(f"({number(credit)})")
        text.append(" ")
    if not found.hypothesis:
        text.append("(empty)", style="dim")
    text.rstrip()
    return text


def _reference_text(case: Case, found: Explanation, index: int) -> rich.text.Text:
    from rich.text import Text

    text = Text(f"{case.reference_ids[index]:>4} {number(found.weights[index]):>5}  ")
    marks = found.reference_marks(index)
    for token, mark in zip(found.references[index], marks, strict=True):
        text.append(_SIGNS[mark] + token, style=_STYLES[mark])
        text.append(" ")
    text.rstrip()
    return text


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


# --- The page -------------------------------------------------------------------------------------


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
    try:
        from jinja2 import Environment, PackageLoader, StrictUndefined
    except ImportError as error:
        raise InputError("an HTML page needs more: pip install 'deltableu[report]'") from error
    environment = Environment(
        loader=PackageLoader("deltableu.report", "."),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters["minus"] = lambda text: str(text).replace("-", "−")
    environment.filters["number"] = lambda value: number(value).replace("-", "−")
    return environment.get_template("explain.html").render(
        title=title,
        heading=heading,
        signature=signature,
        version=__version__,
        cases=cases,
        longest=max(answer.explanation.order for case in cases for answer in case.answers),
        # Isolated, so that right-to-left words do not reorder the numbers beside them.
        verdict=lambda case, answer: verdict(case, answer, "“\u2068{}\u2069”".format),
        row_line=row_line,
        corpus_line=corpus_line,
        hypothesis_tokens=_hypothesis_tokens,
        reference_tokens=_reference_tokens,
        matched=_matched,
        unmatched=_unmatched,
        deciding=_deciding,
        by_weight=_by_weight,
        token_mark=_token_mark,
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
        mark = _token_mark(credit, token.matched)
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
    mark = _token_mark(one.credit, matched=True)
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


# --- Both -----------------------------------------------------------------------------------------


def _most_first(ngrams: Sequence[NgramCredit]) -> list[NgramCredit]:
    """The largest credit or penalty first, and of equal ones the longest, which says most."""
    return sorted(ngrams, key=lambda one: (-abs(one.credit), -one.order))


def _by_weight(found: Explanation) -> list[int]:
    """The references, the best first."""
    return sorted(range(len(found.weights)), key=lambda index: -found.weights[index])


def _matched(found: Explanation) -> list[tuple[int, NgramCredit]]:
    """N-grams that a reference has and their numbers, by order, what cost most first."""
    matched = [(index, one) for index, one in enumerate(found.ngrams) if one.matched]
    return sorted(matched, key=lambda pair: (pair[1].order, pair[1].credit))


def _unmatched(found: Explanation) -> list[tuple[int, list[str]]]:
    """The n-grams of each order that no reference has."""
    orders = range(1, found.order + 1)
    texts = [(n, [" ".join(g.ngram) for g in found.of_order(n) if not g.matched]) for n in orders]
    return [(n, ngrams) for n, ngrams in texts if ngrams]


def _token_mark(credit: float, matched: bool) -> Mark:
    if credit > 0.0:
        return "credit"
    if credit < 0.0:
        return "penalty"
    return "shield" if matched else "none"


def _deciding(case: Case, one: NgramCredit) -> str:
    if one.weight_from is None or one.clip_from is None:
        return ""
    weight, clip = case.reference_ids[one.weight_from], case.reference_ids[one.clip_from]
    return weight if weight == clip else f"{weight}, clip {clip}"


def _named(case: Case, ngrams: Sequence[NgramCredit], quote: Callable[[str], str]) -> str:
    named = [
        f"{quote(_shortened(one.ngram))} {number(one.credit)} ({_deciding(case, one)})"
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
