"""Why an item scored as it did: the row of BLEU or delta-BLEU taken apart into its n-grams.

Literal and readable rather than fast: it is meant for the few items that a person looks at, and its
parts add up to the row that the compiled kernel gives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from deltableu.errors import InputError
from deltableu.score.engine.inputs import first_wrong_text
from deltableu.score.metrics.bleu import BLEU

Ngram = tuple[str, ...]
Mark = Literal["credit", "penalty", "shield", "match", "none"]


@dataclass(frozen=True, slots=True)
class NgramCredit:
    """What one n-gram of the hypothesis adds to the row, and which references decided that.

    Attributes
    ----------
    ngram : tuple of str
    positions : tuple of int
        Where it begins in the hypothesis.
    found : tuple of tuples of int
        Where it begins in each reference.
    credit : float
        Its share of the numerator: `weight * clip`, or 0 where it has no match or was floored.
    share : float
        Its share of the denominator.
    weight : float
        The weight of the deciding reference; 0 without a match.
    clip : int
        min(count, occurrences in the deciding reference); 0 without a match.
    weight_from, clip_from : int or None
        The references that gave them; they differ only in the variant galley2019.
    floored : bool
        Whether the variant tsuta2020 made 0 of a negative credit.
    """

    ngram: Ngram
    positions: tuple[int, ...]
    found: tuple[tuple[int, ...], ...]
    credit: float
    share: float
    weight: float = 0.0
    clip: int = 0
    weight_from: int | None = None
    clip_from: int | None = None
    floored: bool = False

    @property
    def order(self) -> int:
        """How many tokens it has."""
        return len(self.ngram)

    @property
    def count(self) -> int:
        """How often it occurs in the hypothesis."""
        return len(self.positions)

    @property
    def matched(self) -> bool:
        """Whether a reference has it."""
        return self.weight_from is not None


@dataclass(frozen=True, slots=True)
class TokenCredit:
    """One token of the hypothesis and its part of the row, over the item's largest |weight|.

    `credit` is the unigram's credit, split evenly over its occurrences. `longer` is the credit of
    all longer n-grams, split evenly over their occurrences and then over the tokens of each. So
    all tokens together have all credits, and -1 <= credit <= 1.
    """

    token: str
    credit: float
    longer: float
    matched: bool


@dataclass(frozen=True, slots=True)
class Explanation:
    """The row of one item, taken apart.

    Attributes
    ----------
    hypothesis : tuple of str
        Its tokens.
    references : tuple of tuples of str
        The tokens of each.
    weights : tuple of float
        Weights of the references; all 1 where the metric has no weights.
    ngrams : tuple of NgramCredit
        Every distinct n-gram of the hypothesis, shorter ones first, each order as it is read.
    order : int
        The longest n-gram of the metric, which may be longer than the hypothesis.
    closest : int
        The reference whose length the brevity penalty takes.
    """

    hypothesis: tuple[str, ...]
    references: tuple[tuple[str, ...], ...]
    weights: tuple[float, ...]
    ngrams: tuple[NgramCredit, ...]
    order: int
    closest: int

    @property
    def numerators(self) -> tuple[float, ...]:
        """The row's sums of credits, per order."""
        return tuple(sum(one.credit for one in self.of_order(n)) for n in self._orders)

    @property
    def denominators(self) -> tuple[float, ...]:
        """The row's sums of shares, per order."""
        return tuple(sum(one.share for one in self.of_order(n)) for n in self._orders)

    @property
    def hypothesis_length(self) -> int:
        """How many tokens the hypothesis has."""
        return len(self.hypothesis)

    @property
    def reference_length(self) -> int:
        """The length of the closest reference."""
        return len(self.references[self.closest])

    @property
    def row(self) -> tuple[float, ...]:
        """Numerators, denominators and lengths, as `Statistics.rows` has them."""
        lengths = (float(self.hypothesis_length), float(self.reference_length))
        return (*self.numerators, *self.denominators, *lengths)

    @property
    def largest_weight(self) -> float:
        """The largest |weight|, which colours are relative to."""
        return max(abs(weight) for weight in self.weights)

    def of_order(self, n: int) -> tuple[NgramCredit, ...]:
        """The n-grams of one order."""
        return tuple(one for one in self.ngrams if one.order == n)

    def tokens(self) -> tuple[TokenCredit, ...]:
        """The hypothesis, token by token; see `TokenCredit` for how credit is split."""
        credit = [0.0] * len(self.hypothesis)
        longer = [0.0] * len(self.hypothesis)
        matched = [False] * len(self.hypothesis)
        for one in self.ngrams:
            each = one.credit / one.count / self.largest_weight
            for start in one.positions:
                if one.order == 1:
                    credit[start] = each
                    matched[start] = one.matched
                else:
                    for place in range(start, start + one.order):
                        longer[place] += each / one.order
        return tuple(map(TokenCredit, self.hypothesis, credit, longer, matched))

    def reference_marks(self, index: int) -> tuple[Mark, ...]:
        """What each token of a reference did for the hypothesis.

        "credit", "penalty" and "shield" (a credit of 0) are tokens of n-grams for which this
        reference decided; "match" stands in the hypothesis, but another reference decided.
        """
        marks: list[Mark] = ["none"] * len(self.references[index])
        for one in self.ngrams:
            decides = index in (one.weight_from, one.clip_from)
            for start in one.found[index]:
                for place in range(start, start + one.order):
                    if decides:
                        marks[place] = _mark(one.credit)
                    elif marks[place] == "none":
                        marks[place] = "match"
        return tuple(marks)

    @property
    def _orders(self) -> range:
        return range(1, self.order + 1)


def explain_item(
    metric: BLEU,
    hypothesis: str,
    references: Sequence[str],
    weights: Sequence[float] | None = None,
) -> Explanation:
    """Take the row of one item apart.

    Parameters
    ----------
    metric : BLEU or DeltaBLEU
    hypothesis : str
    references : list of str
    weights : list of float, optional
        In [-1, 1]; BLEU ignores them.

    Returns
    -------
    Explanation
        Its `row` equals `metric.compute([hypothesis], [references], [weights]).rows[0]`.

    References
    ----------
    Galley et al. 2015, "deltaBLEU: A Discriminative Metric for Generation Tasks with
    Intrinsically Diverse Targets", Eq. 3.

    Examples
    --------
    >>> from deltableu import DeltaBLEU
    >>> metric = DeltaBLEU(order=1)
    >>> found = explain_item(metric, "it was bad", ["it was good", "so bad"], [0.9, -0.8])
    >>> [(one.ngram, one.credit, one.weight_from) for one in found.ngrams]
    [(('it',), 0.9, 0), (('was',), 0.9, 0), (('bad',), -0.8, 1)]
    """
    recipe = metric.recipe
    _check(metric, hypothesis, references, weights)
    numbers = tuple(map(float, weights or ())) if recipe.weighted else (1.0,) * len(references)
    scale = max(map(abs, numbers)) if recipe.signed else max(numbers)
    tokens = tuple(recipe.tokenizer.tokens(hypothesis))
    answers = tuple(tuple(recipe.tokenizer.tokens(text)) for text in references)
    ngrams: list[NgramCredit] = []
    for n in range(1, recipe.order + 1):
        places = [_ngram_positions(answer, n) for answer in answers]
        for ngram, positions in _ngram_positions(tokens, n).items():
            found = tuple(place.get(ngram, ()) for place in places)
            share = scale * len(positions)
            ngrams.append(_credit(ngram, positions, found, numbers, share, recipe.variant))
    positive_only = recipe.weighted and recipe.brevity == "positive"
    closest = _closest(tokens, answers, numbers, positive_only=positive_only)
    return Explanation(tokens, answers, numbers, tuple(ngrams), recipe.order, closest)


def _check(
    metric: BLEU, hypothesis: str, references: Sequence[str], weights: Sequence[float] | None
) -> None:
    """Raise for everything that cannot be scored, as scoring does."""
    wrong = first_wrong_text([hypothesis, *references])
    if wrong is not None:
        place = "the hypothesis" if wrong[0] == 0 else f"reference {wrong[0] - 1}"
        raise InputError(f"{place} is {wrong[1]}, no string")
    given = None if weights is None or not metric.recipe.weighted else [list(weights)]
    metric.compute([hypothesis], [list(references)], given)


def _ngram_positions(tokens: Sequence[str], n: int) -> dict[Ngram, tuple[int, ...]]:
    """Where each distinct n-gram begins."""
    found: dict[Ngram, tuple[int, ...]] = {}
    for start in range(len(tokens) - n + 1):
        ngram = tuple(tokens[start : start + n])
        found[ngram] = (*found.get(ngram, ()), start)
    return found


def _credit(
    ngram: Ngram,
    positions: tuple[int, ...],
    found: tuple[tuple[int, ...], ...],
    weights: Sequence[float],
    share: float,
    variant: str,
) -> NgramCredit:
    """Galley et al. 2015, Eq. 3: max_j w_j * min(c, #g(r_j)) over the references that have g."""
    having = [j for j, places in enumerate(found) if places]
    if not having:
        return NgramCredit(ngram, positions, found, 0.0, share)
    clips = {j: min(len(positions), len(found[j])) for j in having}
    if variant == "galley2019":
        # The largest weight and the largest clip, from the same reference where one has both.
        weight_from = max(having, key=lambda j: (weights[j], clips[j]))
        clip_from = max(having, key=lambda j: (clips[j], j == weight_from))
    else:
        weight_from = clip_from = max(having, key=lambda j: weights[j] * clips[j])
    weight, clip = weights[weight_from], clips[clip_from]
    credit = weight * clip
    floored = variant == "tsuta2020" and credit < 0.0
    return NgramCredit(
        ngram,
        positions,
        found,
        0.0 if floored else credit,
        share,
        weight,
        clip,
        weight_from,
        clip_from,
        floored,
    )


def _closest(
    tokens: Sequence[str],
    references: Sequence[Sequence[str]],
    weights: Sequence[float],
    *,
    positive_only: bool,
) -> int:
    """The reference of the closest length; of two as near, the shorter."""
    eligible = [j for j, weight in enumerate(weights) if weight > 0.0 or not positive_only]
    return min(
        eligible or range(len(references)),
        key=lambda j: (abs(len(references[j]) - len(tokens)), len(references[j])),
    )


def _mark(credit: float) -> Mark:
    if credit > 0.0:
        return "credit"
    return "penalty" if credit < 0.0 else "shield"
