"""Questions in, values out: many at a time, each paid answer kept before it counts."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Sequence
from typing import Any, TypeVar

from deltableu.errors import InputError
from deltableu.judges.llm.asking_run import AskEvent, AskingRun, Judged
from deltableu.judges.llm.client import Client
from deltableu.judges.llm.costs import (
    CostEstimate,
    Prices,
    Spending,
    guessed_input,
    guessed_output,
    money,
)
from deltableu.judges.llm.endpoint import Endpoint, Sampling, Sending
from deltableu.judges.llm.prompts import Question
from deltableu.judges.llm.store import AnswerStore

_Made = TypeVar("_Made")


class Asker:
    """Asks a model many questions.

    Parameters
    ----------
    endpoint, sampling, sending
    store : AnswerStore
    prices : Prices, optional
    max_cost : float, optional
        Stop before more than this is spent; needs prices.
    progress : callable, optional
        Called with an `AskEvent`.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        sampling: Sampling,
        sending: Sending,
        store: AnswerStore,
        *,
        prices: Prices | None = None,
        max_cost: float | None = None,
        progress: Callable[[AskEvent], None] | None = None,
    ) -> None:
        if max_cost is not None and prices is None:
            raise InputError("a largest cost needs prices: give --price-in and --price-out")
        if max_cost is not None and not max_cost >= 0.0:
            raise InputError(f"max_cost must not be negative, got {max_cost:g}")
        self.endpoint, self.sampling, self.sending = endpoint, sampling, sending
        self.store, self.prices, self.max_cost = store, prices, max_cost
        self.progress = progress or (lambda _: None)

    def estimate(self, questions: Sequence[Question]) -> CostEstimate:
        """What asking would take, as far as it can be known; nothing is sent."""
        self.store.load()
        distinct = {self.key(one): one for one in questions}
        new = [one for key, one in distinct.items() if self.store.get(key) is None]
        tokens = [(guessed_input(one.messages), guessed_output(one)) for one in new]
        total_in, total_out = (
            (sum(column) for column in zip(*tokens, strict=True)) if new else (0, 0)
        )
        cost = None if self.prices is None else self.prices.cost(total_in, total_out)
        kept = len(distinct) - len(new)
        return CostEstimate(len(questions), kept, len(new), total_in, total_out, cost)

    def ask(self, questions: Sequence[Question]) -> tuple[list[Judged], Spending]:
        """The values of all questions, in order; equal questions are asked once.

        Raises
        ------
        InputError
            Where nothing more could be asked (a bad key, no credit, no such model, a server that
            is down, the largest cost is reached): what was answered is kept.
        """
        with self.store.locked():
            estimate = self.estimate(questions)
            if self.max_cost is not None and (estimate.cost or 0.0) > self.max_cost:
                raise InputError(
                    f"about {money(estimate.cost or 0.0)} would be spent, and --max-cost is "
                    f"{money(self.max_cost)}: nothing was asked"
                )
            run = AskingRun(self, questions)
            if run.left:
                run.client = Client(self.endpoint, self.sampling, self.sending)
                try:
                    _run_apart(run.all())
                finally:
                    self.store.flush()
            if run.over:
                raise InputError(self._ended(run))
            return [run.judged[self.key(one)] for one in questions], run.spending()

    def key(self, question: Question) -> str:
        """The name under which a question's answer is kept."""
        return question.key(self.endpoint.model, self.sampling.parts)

    def _ended(self, run: AskingRun) -> str:
        kept = f"{len(self.store):,} answers are kept"
        if self.store.path is None or not len(self.store):
            return run.over
        return f"{run.over} ({kept} in {self.store.path}: the same command goes on from there)"


def _run_apart(work: Coroutine[Any, Any, _Made]) -> _Made:
    """Run to the end, also where a loop is running already, as in a notebook."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    made: list[_Made] = []
    failed: list[BaseException] = []

    def run() -> None:
        try:
            made.append(asyncio.run(work))
        except BaseException as error:  # raised again by who waits for it
            failed.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    if failed:
        raise failed[0]
    return made[0]
