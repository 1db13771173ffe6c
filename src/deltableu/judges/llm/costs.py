"""Tokens and what they cost: guessed before anything is asked, counted after."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from deltableu.errors import InputError
from deltableu.io import Column, Table, Tabular, fact_table, field_record
from deltableu.judges.llm.prompts import Message, Question

#: Letters of a token of English; other scripts take about a token a letter.
_LETTERS = 4.0
_PER_MESSAGE = 4
#: Of an answer with a sentence of reasons, and without.
_ANSWER, _BARE_ANSWER = 45, 10
_MILLION = 1_000_000


@dataclass(frozen=True, slots=True)
class Prices:
    """What a million tokens cost, in any currency.

    Parameters
    ----------
    input, output : float
    """

    input: float
    output: float

    def __post_init__(self) -> None:
        for name in ("input", "output"):
            value = getattr(self, name)
            if not (math.isfinite(value) and value >= 0.0):
                raise InputError(f"the price of {name} must not be negative, got {value:g}")

    def cost(self, input_tokens: int, output_tokens: int) -> float:
        """Of so many tokens.

        Examples
        --------
        >>> Prices(0.5, 1.5).cost(2_000_000, 1_000_000)
        2.5
        """
        return (input_tokens * self.input + output_tokens * self.output) / _MILLION


def guessed_input(messages: Iterable[Message]) -> int:
    """About how many tokens messages have; models cut texts in their own ways.

    Examples
    --------
    >>> guessed_input([("user", "How did the presentation go?")])
    11
    """
    tokens = 0.0
    for _, text in messages:
        plain = sum(letter.isascii() for letter in text)
        tokens += _PER_MESSAGE + plain / _LETTERS + (len(text) - plain)
    return math.ceil(tokens)


def guessed_output(question: Question) -> int:
    """About how many tokens an answer has."""
    return _ANSWER if question.form.reason else _BARE_ANSWER


@dataclass(frozen=True, slots=True)
class CostEstimate(Tabular):
    """What asking would take.

    Attributes
    ----------
    texts : int
        Texts, or pairs in one order, that are judged.
    kept : int
        Questions that were answered before and cost nothing.
    requests : int
        Questions that remain; answers that are none are asked about once more.
    input_tokens, output_tokens : int
        A guess, from letters.
    cost : float or None
        None where prices are not known.
    """

    texts: int
    kept: int
    requests: int
    input_tokens: int
    output_tokens: int
    cost: float | None

    def sentences(self) -> tuple[str, ...]:
        """What to expect."""
        before = f" ({self.kept:,} were answered before and cost nothing)" if self.kept else ""
        price = "" if self.cost is None else f", which cost about {money(self.cost)}"
        requests = "1 request" if self.requests == 1 else f"{self.requests:,} requests"
        return (
            f"It would take {requests}{before}: about {self.input_tokens:,} tokens in and "
            f"{self.output_tokens:,} out{price}.",
        )

    def table(self) -> Table:
        """The numbers."""
        facts = {
            "texts": self.texts,
            "answered before": self.kept,
            "requests": self.requests,
            "tokens in, about": self.input_tokens,
            "tokens out, about": self.output_tokens,
            "cost, about": None if self.cost is None else money(self.cost),
        }
        return fact_table(
            ("what", "number"), {name: value for name, value in facts.items() if value is not None}
        )


@dataclass(frozen=True, slots=True)
class Spending(Tabular):
    """What asking took.

    Attributes
    ----------
    kept : int
        Answers of earlier runs, which cost nothing.
    answered : int
        Answers that were received.
    sent, retried : int
        Requests, and those among them that were sent again.
    repaired : int
        Answers that could be used only after saying what was wrong.
    input_tokens, output_tokens : int
        As the server counted; a guess for the answers that it did not count.
    guessed : int
        Answers that the server did not count.
    cost : float or None
    """

    kept: int = 0
    answered: int = 0
    sent: int = 0
    retried: int = 0
    repaired: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    guessed: int = 0
    cost: float | None = None

    def sentence(self) -> str:
        """What was paid."""
        kept = f"{self.kept:,} answers were there before" if self.kept else ""
        if not self.sent:
            return f"Nothing was asked: {kept or 'there was nothing to ask'}."
        answers = "1 answer" if self.answered == 1 else f"{self.answered:,} answers"
        price = "" if self.cost is None else f", {money(self.cost)}"
        tokens = f"{self.input_tokens:,} tokens in and {self.output_tokens:,} out"
        about = "about " if self.guessed else ""
        said = f"{answers} took {about}{tokens}{price}"
        more = [f"{self.retried:,} requests were sent again"] if self.retried else []
        return "; ".join([said, *more, *([kept] if kept else [])]) + "."

    def table(self) -> Table:
        """The numbers."""
        names = ("kept", "answered", "sent", "retried", "repaired", "input_tokens", "output_tokens")
        columns = [Column(name.replace("_", " "), key=name) for name in names]
        row: list[Any] = [getattr(self, name) for name in names]
        notes = {}
        if self.guessed:
            notes["tokens"] = f"a guess for {self.guessed:,} answers that the server did not count"
        if self.cost is not None:
            columns.append(Column("cost", ".4f"))
            row.append(self.cost)
        return Table(columns, [row], notes=notes)

    def record(self) -> dict[str, Any]:
        """The numbers."""
        return field_record(self)


def money(amount: float) -> str:
    """An amount, with at least two digits.

    Examples
    --------
    >>> money(12.345), money(0.00123), money(0.0)
    ('12.35', '0.0012', '0.00')
    """
    if amount == 0.0 or amount >= 0.1:
        return f"{amount:,.2f}"
    return f"{amount:.{1 - math.floor(math.log10(amount))}f}"
