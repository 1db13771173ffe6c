"""A study in; the tasks of a campaign, in the blocks in which raters get them, out."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec
import numpy as np

from deltableu.corpus import Item, Kind, Study
from deltableu.errors import InputError, Problem, check_known
from deltableu.rate.control_blocks import BlockPlan, ControlledItem, RatedText, control_blocks
from deltableu.rate.server.campaign import What

Pairs = Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class TaskContent:
    """What a rater sees of a task."""

    context: tuple[str, ...]
    message: str | None
    reference: str | None
    responses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Task:
    """One page of a campaign.

    Attributes
    ----------
    item : str
    targets : tuple of tuples of str
        For each response what it is: `reference:ID` or `system:NAME`; several where texts are the
        same, which are rated once.
    content : TaskContent
    kind : str
        item, or a control: bad-reference, reference or repeat.
    reference_id : str or None
        The item's original reference.
    """

    item: str
    targets: tuple[tuple[str, ...], ...]
    content: TaskContent
    kind: Kind = "item"
    reference_id: str | None = None

    @property
    def label(self) -> str | None:
        """The label under which ratings of a pair stand together; None where one thing is rated."""
        if len(self.targets) < 2:
            return None
        return " vs ".join(side[0].removeprefix("system:") for side in self.targets)

    @property
    def thing(self) -> str:
        """What nobody rates twice, unless that is planned: a repeat is the same thing again."""
        targets = (target for side in self.targets for target in side)
        control = (self.kind,) if self.kind in ("bad-reference", "reference") else ()
        return "\n".join((self.item, *targets, *control))


def task_targets(targets: str) -> list[str]:
    """What a task's responses are, of its row in the database."""
    return [one for side in msgspec.json.decode(targets, type=list[list[str]]) for one in side]


def task_content(content: bytes) -> TaskContent:
    """What `content_bytes` made."""
    return msgspec.json.decode(content, type=TaskContent)


def content_bytes(content: TaskContent) -> bytes:
    """As the page gets it."""
    return msgspec.json.encode(content)


def build_tasks(study: Study, what: What, pairs: Pairs | None = None) -> list[Task]:
    """Everything of a study that is to be rated, each thing once, in the study's order.

    Parameters
    ----------
    study
        Items with references, and outputs of systems where those are rated.
    what
        "references": every reference in the light of context and message; "outputs": every
        system's output; "pairs": two systems' outputs at once; "seeds": the original reference of
        each item, to find out which items are worth more references.
    pairs
        Names of systems; by default all pairs.
    """
    if not study.items:
        raise InputError("the study holds no items: there is nothing to rate")
    if what in ("outputs", "pairs") and not study.outputs:
        raise InputError(f"the study holds no outputs of systems: {what} cannot be rated")
    if pairs is not None and what != "pairs":
        raise InputError(f"pairs of systems are of no use where {what} are rated")
    if what == "pairs":
        made = list(_pair_tasks(study, _checked_pairs(study, pairs)))
    elif what == "outputs":
        made = list(_output_tasks(study))
    else:
        made = list(_reference_tasks(study.items, seeds=what == "seeds"))
    if not made:
        raise InputError(f"the study holds no {what} that could be rated")
    return made


def _reference_tasks(items: Iterable[Item], *, seeds: bool) -> Iterator[Task]:
    for item in items:
        if seeds:
            chosen = [one for one in item.references if one.origin == "original"][:1]
            if not chosen:
                message = "has no original response that could be judged as a seed"
                raise InputError(Problem(message, item=item.id))
        else:
            chosen = list(item.references)
        same: dict[str, list[str]] = {}
        for reference in chosen:
            same.setdefault(reference.text, []).append(f"reference:{reference.id}")
        for text, targets in same.items():
            yield _task(item, (tuple(targets),), text)


def _output_tasks(study: Study) -> Iterator[Task]:
    for place, item in enumerate(study.items):
        same: dict[str, list[str]] = {}
        for system, texts in study.outputs.items():
            same.setdefault(texts[place], []).append(f"system:{system}")
        for text, targets in same.items():
            yield _task(item, (tuple(targets),), text)


def _pair_tasks(study: Study, pairs: Pairs) -> Iterator[Task]:
    for place, item in enumerate(study.items):
        for pair in pairs:
            texts = [study.outputs[name][place] for name in pair]
            targets = tuple((f"system:{name}",) for name in pair)
            yield _task(item, targets, *texts)


def _checked_pairs(study: Study, pairs: Pairs | None) -> Pairs:
    names = tuple(study.outputs)
    if pairs is None:
        if len(names) < 2:
            raise InputError("pairs need outputs of at least two systems")
        return [(a, b) for place, a in enumerate(names) for b in names[place + 1 :]]
    for pair in pairs:
        for name in pair:
            check_known("system", name, names)
        if pair[0] == pair[1]:
            raise InputError(f"a pair is of two systems, got {pair[0]!r} twice")
    if len({frozenset(pair) for pair in pairs}) < len(pairs):
        raise InputError("--pairs names one twice")
    return pairs


def _task(item: Item, targets: tuple[tuple[str, ...], ...], *responses: str) -> Task:
    original = next((one for one in item.references if one.origin == "original"), None)
    text = None if original is None else original.text
    content = TaskContent(item.context, item.message, text, responses)
    reference_id = None if original is None else original.id
    return Task(item.id, targets, content, reference_id=reference_id)


def with_controls(tasks: Sequence[Task], plan: BlockPlan, seed: int) -> list[list[Task]]:
    """Tasks in blocks with control items among them, each for one rater at a time.

    A degraded copy is rated as what it was made from, and an original reference as itself; their
    kinds say that they are controls.
    """
    if any(len(task.targets) > 1 for task in tasks):
        raise InputError("control items are degraded copies of single texts: pairs have none")
    texts = [
        RatedText(task.item, task.content.responses[0], task.content.reference) for task in tasks
    ]
    return [
        [_controlled(tasks[one.original], one) for one in made.items]
        for made in control_blocks(texts, plan, rng=seed)
    ]


def _controlled(task: Task, one: ControlledItem) -> Task:
    content = replace(task.content, responses=(one.text,))
    targets = task.targets
    if one.kind == "reference":
        targets = ((f"reference:{task.reference_id}",),)
    return replace(task, targets=targets, content=content, kind=one.kind)


def shuffled(tasks: Sequence[Task], seed: int) -> list[Task]:
    """Tasks in a random order, so that outputs of different systems alternate."""
    order = np.random.default_rng(seed).permutation(len(tasks))
    return [tasks[place] for place in order.tolist()]
