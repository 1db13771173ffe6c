"""One run through many questions: who asks what, when it ends, what was spent."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from deltableu.errors import InputError
from deltableu.judges.llm.answers import AnswerError
from deltableu.judges.llm.client import Client, EndpointError
from deltableu.judges.llm.costs import Spending, guessed_input, guessed_output, money
from deltableu.judges.llm.prompts import Question
from deltableu.judges.llm.store import KeptAnswer

if TYPE_CHECKING:
    from deltableu.judges.llm.asking import Asker

#: Texts in a row without an answer, after which the server counts as down.
_MOST_IN_VAIN = 5


@dataclass(frozen=True, slots=True)
class Judged:
    """What became of a question.

    Attributes
    ----------
    value : float or None
        On the scale that was asked for; None where there is no usable answer.
    problem : str
        Why there is none.
    answered : bool
        Whether the model answered at all; what it did not answer is asked again by the next run.
    """

    value: float | None
    problem: str = ""
    answered: bool = True


@dataclass(frozen=True, slots=True)
class AskEvent:
    """Some questions are done.

    Attributes
    ----------
    done, total, kept : int
        Of all questions; those that an earlier run had answered.
    cost : float or None
        So far, where prices are known.
    """

    done: int
    total: int
    kept: int
    cost: float | None


class AskingRun:
    """What happens between asking and being done."""

    def __init__(self, asker: Asker, questions: Sequence[Question]) -> None:
        self._asker = asker
        self._store, self._prices = asker.store, asker.prices
        self.judged: dict[str, Judged] = {}
        self.left: list[tuple[str, Question]] = []
        self.over = ""
        self._spent = Spending(cost=None if self._prices is None else 0.0)
        self._in_vain = 0
        self._reserved = 0.0
        self.client: Client
        for key, question in {asker.key(one): one for one in questions}.items():
            found = self._known(question)
            if found is None:
                self.left.append((key, question))
            else:
                self.judged[key] = found
        self._kept = len(self.judged)
        self._total = self._kept + len(self.left)

    def _known(self, question: Question) -> Judged | None:
        """What kept answers say; None where something is to be asked."""
        answer = self._store.get(self._asker.key(question))
        if answer is None:
            return None
        try:
            return Judged(_value(question, answer))
        except AnswerError as problem:
            second = question.repaired(answer.text, str(problem))
        repaired = self._store.get(self._asker.key(second))
        return None if repaired is None else _last(second, repaired)

    async def all(self) -> None:
        """Ask what is left: one first, from which is learnt what the server takes."""
        self._tell()
        waiting = iter(self.left)
        async with self.client.open():
            await self._work(iter([next(waiting)]))
            workers = min(self._asker.sending.concurrency, len(self.left))
            await asyncio.gather(*(self._work(waiting) for _ in range(workers)))

    async def _work(self, waiting: Iterator[tuple[str, Question]]) -> None:
        for key, question in waiting:
            if self.over:
                return
            try:
                self.judged[key] = await self._one(question)
            except EndpointError as reason:
                self._end(str(reason))
                return
            except InputError as error:  # the disk is full
                self._end(str(error))
                return
            self._tell()

    async def _one(self, question: Question) -> Judged:
        known = self._store.get(self._asker.key(question))
        answer = known or await self._answer(question)
        if isinstance(answer, Judged):
            return answer
        try:
            return Judged(_value(question, answer))
        except AnswerError as problem:
            second = question.repaired(answer.text, str(problem))
        repaired = await self._answer(second)
        if isinstance(repaired, Judged):
            return repaired
        judged = _last(second, repaired)
        self._spent = replace(
            self._spent, repaired=self._spent.repaired + (judged.value is not None)
        )
        return judged

    async def _answer(self, question: Question) -> KeptAnswer | Judged:
        price = self._guess(question)
        limit = self._asker.max_cost
        if limit is not None and (self._spent.cost or 0.0) + self._reserved + price > limit:
            raise EndpointError(
                f"{money(self._spent.cost or 0.0)} was spent, and --max-cost is {money(limit)}"
            )
        self._reserved += price
        try:
            reply = await self.client.ask(question)
        finally:
            self._reserved -= price
        if reply.fate != "answered":
            # One text that is refused says nothing of others.
            self._in_vain = self._in_vain + 1 if reply.fate == "again" else 0
            if self._in_vain >= _MOST_IN_VAIN:
                raise EndpointError(
                    f"{self._asker.endpoint.shown_url}: {self._in_vain} texts in a row got no "
                    f"answer, the last because of: {reply.text}"
                )
            return Judged(None, reply.text, answered=False)
        self._in_vain = 0
        answer = KeptAnswer(
            self._asker.key(question),
            question.about,
            reply.text,
            reply.finish,
            reply.input_tokens,
            reply.output_tokens,
        )
        await self._store.keep(answer)
        self._count(question, answer)
        return answer

    def _guess(self, question: Question) -> float:
        if self._prices is None:
            return 0.0
        return self._prices.cost(guessed_input(question.messages), guessed_output(question))

    def _count(self, question: Question, answer: KeptAnswer) -> None:
        counted = answer.input_tokens is not None and answer.output_tokens is not None
        tokens = (answer.input_tokens or 0, answer.output_tokens or 0)
        if not counted:
            tokens = (guessed_input(question.messages), guessed_input([("", answer.text)]))
        before = self._spent
        cost = None if self._prices is None else (before.cost or 0.0) + self._prices.cost(*tokens)
        self._spent = replace(
            before,
            answered=before.answered + 1,
            input_tokens=before.input_tokens + tokens[0],
            output_tokens=before.output_tokens + tokens[1],
            guessed=before.guessed + (not counted),
            cost=cost,
        )

    def _end(self, reason: str) -> None:
        # Those who wait for another try are told so, without a reason of their own.
        self.over = self.over or reason or "it was stopped"
        self.client.stop()

    def _tell(self) -> None:
        event = AskEvent(len(self.judged), self._total, self._kept, self._spent.cost)
        self._asker.progress(event)

    def spending(self) -> Spending:
        """What was paid."""
        sent, retried = (self.client.sent, self.client.retried) if self.left else (0, 0)
        return replace(self._spent, kept=self._kept, sent=sent, retried=retried)


def _value(question: Question, answer: KeptAnswer) -> float:
    """What an answer says; of one that was cut off, a number may have lost its end."""
    if answer.finish == "length" and not answer.text.rstrip().endswith(("}", "```")):
        raise AnswerError("the answer was cut off (raise --max-tokens)")
    return question.form.parse(answer.text)


def _last(question: Question, answer: KeptAnswer) -> Judged:
    """What a second answer says, after which nothing more is asked."""
    try:
        return Judged(_value(question, answer))
    except AnswerError as problem:
        return Judged(None, str(problem))
