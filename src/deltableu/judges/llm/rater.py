"""An LLM as a judge: what it is asked with, and the `Rater` that it makes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from deltableu.corpus import Item, Reference, Scale
from deltableu.errors import InputError, Problem, check_at_least
from deltableu.io import PathLike
from deltableu.judges.llm.asking import Asker
from deltableu.judges.llm.asking_run import AskEvent, Judged
from deltableu.judges.llm.costs import CostEstimate, Prices, Spending
from deltableu.judges.llm.endpoint import Endpoint, Sampling, Sending
from deltableu.judges.llm.prompts import Question
from deltableu.judges.llm.rubric import Rubric, What, default_rubric
from deltableu.judges.llm.store import AnswerStore
from deltableu.judges.llm.tasks import JudgeTask, reference_task
from deltableu.judges.rater import RatingBatch


@dataclass(frozen=True, kw_only=True)
class LLMRater:
    """A model behind an endpoint for chat completions, that rates references.

    `judge_references`, `judge_outputs` and `judge_pairs` take it too, and judge whole studies.

    Parameters
    ----------
    endpoint : str
        Such as `https://api.openai.com/v1`, or `http://localhost:8080/v1` of a local server.
    model : str
        As the server calls it.
    rubric : Rubric, optional
        By default the package's one for what is judged.
    show_references : bool
        Whether the model sees references: when it rates references, the original ones; when it
        judges outputs, the original ones and those of positive weight.
    original : float or "rated"
        The weight of original references, or "rated" to rate them too.
    repeat : int
        How often each text is judged; a weight is the mean.
    temperature : float or "default", optional
        By default 0 for one rating, and 0.7 for several.
    max_tokens : int
        Of one answer.
    key_env : str, optional
        The environment variable with the key: see `Endpoint`.
    cache : path, optional
        A folder in which answers are kept, so that none is paid for twice.
    sending : Sending
        How many at a time, how long to wait, how often to try again.
    prices : Prices, optional
    max_cost : float, optional
        Ask nothing more once this would be exceeded.
    progress : callable, optional
        Called with an `AskEvent`.

    Examples
    --------
    >>> rater = LLMRater(endpoint="http://localhost:8080/v1", model="qwen3-4b")
    >>> rater.name, rater.raters
    ('llm:qwen3-4b', ('llm:qwen3-4b',))
    """

    endpoint: str
    model: str
    rubric: Rubric | None = None
    show_references: bool = False
    original: float | Literal["rated"] = 1.0
    repeat: int = 1
    temperature: float | Literal["default"] | None = None
    max_tokens: int = 1024
    key_env: str | None = field(default=None, repr=False)
    cache: PathLike | None = None
    sending: Sending = field(default=Sending(), repr=False)
    prices: Prices | None = field(default=None, repr=False)
    max_cost: float | None = field(default=None, repr=False)
    progress: Callable[[AskEvent], None] | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        check_at_least("repeat", self.repeat, 1)
        if self.original != "rated" and not -1.0 <= float(self.original) <= 1.0:
            raise InputError(f"original must lie in [-1, 1] or be rated, got {self.original:g}")
        if self.repeat > 1 and self.temperature == 0.0:
            raise InputError("ratings that are repeated need a temperature above 0, such as 0.7")
        asker = Asker(
            Endpoint(self.endpoint, self.model, self.key_env),
            self.sampling,
            self.sending,
            AnswerStore(self.cache, self.model),
            prices=self.prices,
            max_cost=self.max_cost,
            progress=self.progress,
        )
        object.__setattr__(self, "_asker", asker)

    @property
    def sampling(self) -> Sampling:
        """How answers are drawn."""
        usual = 0.0 if self.repeat == 1 else 0.7
        return Sampling(usual if self.temperature is None else self.temperature, self.max_tokens)

    @property
    def name(self) -> str:
        """What ratings call it."""
        return f"llm:{self.model}"

    @property
    def raters(self) -> tuple[str, ...]:
        """Its name, or one for each repetition."""
        if self.repeat == 1:
            return (self.name,)
        return tuple(f"{self.name}#{number}" for number in range(1, self.repeat + 1))

    @property
    def signature(self) -> str:
        """All that weights depend on."""
        return self.signature_for("references")

    def rubric_for(self, what: What) -> Rubric:
        """Its own rubric, or the package's."""
        if self.rubric is None:
            return default_rubric(what)
        if self.rubric.what != what:
            raise InputError(f"the rubric is for {self.rubric.what}, and {what} are to be judged")
        if self.show_references and not self.rubric.uses("references"):
            raise InputError(
                Problem("has no {references}, but references are to be shown", field="prompt")
            )
        return self.rubric

    def signature_for(self, what: What) -> str:
        """All that ratings depend on but the texts."""
        sampling = self.sampling
        parts = [
            f"{self.name},{what}-{self.rubric_for(what).fingerprint}",
            f"temperature={sampling.temperature},max={sampling.max_tokens},repeat={self.repeat}",
        ]
        if what == "references":
            parts.append(f"original={self.original}")
        if self.show_references:
            parts.append("references-shown")
        return ",".join(parts)

    def estimate(self, tasks: Sequence[JudgeTask]) -> CostEstimate:
        """What asking would take; nothing is sent, and no key is needed."""
        return self._asked_with.estimate(self._questions(tasks))

    def ask(self, tasks: Sequence[JudgeTask]) -> tuple[list[tuple[Judged, ...]], Spending]:
        """What became of each task, once for each repetition."""
        judged, spending = self._asked_with.ask(self._questions(tasks))
        rows = [
            tuple(judged[place * self.repeat + number] for number in range(self.repeat))
            for place in range(len(tasks))
        ]
        return rows, spending

    def rate(self, item: Item, references: Sequence[Reference]) -> Sequence[float]:
        """One weight in [-1, 1] per reference."""
        return self.rate_items([(item, references)])[0]

    def rate_items(self, batch: RatingBatch) -> Sequence[Sequence[float]]:
        """The weights of many items' references, asked for at the same time."""
        rubric = self.rubric_for("references")
        tasks = [
            self.task(item, one, rubric)
            for item, some in batch
            for one in some
            if not self.keeps(one)
        ]
        rows = iter(self.ask(tasks)[0])
        waiting = iter(tasks)
        scale = Scale.parse(rubric.scale)
        return [
            [
                float(self.original)
                if self.keeps(one)
                else scale.weight(_mean(next(waiting), next(rows)))
                for one in some
            ]
            for _, some in batch
        ]

    def keeps(self, reference: Reference) -> bool:
        """Whether a reference has its weight without being judged."""
        return self.original != "rated" and reference.origin == "original"

    def task(self, item: Item, reference: Reference, rubric: Rubric) -> JudgeTask:
        """The question about one reference."""
        return reference_task(item, reference, rubric, show_references=self.show_references)

    @property
    def _asked_with(self) -> Asker:
        found: Asker = self._asker  # type: ignore[attr-defined]
        return found

    def _questions(self, tasks: Sequence[JudgeTask]) -> list[Question]:
        return [
            replace(task.question, repetition=number)
            for task in tasks
            for number in range(1, self.repeat + 1)
        ]


def _mean(task: JudgeTask, row: Sequence[Judged]) -> float:
    values = [one.value for one in row if one.value is not None]
    if not values:
        reason = row[0].problem
        raise InputError(f"the model did not rate {task.question.about}: {reason}")
    return sum(values) / len(values)
