"""A study in; the questions about its references, outputs or pairs of outputs, out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations

from deltableu.corpus import Item, Rating, Reference, Study
from deltableu.errors import InputError, check_known
from deltableu.judges.llm.prompts import Question, ask_about
from deltableu.judges.llm.rubric import Rubric


@dataclass(frozen=True, slots=True)
class JudgeTask:
    """One question of a study, and what an answer to it rates.

    Attributes
    ----------
    item : str
    targets : tuple of str
        One, or the two of a pair in the order in which they are shown.
    question : Question
    """

    item: str
    targets: tuple[str, ...]
    question: Question

    def ratings(self, rater: str, value: float, rubric: Rubric) -> list[Rating]:
        """What an answer says, as the project writes it."""
        names = [target.partition(":")[2] for target in self.targets]
        pair = "|".join(names) if len(names) == 2 else None
        values = (value,) if pair is None else (value, 1.0 - value)
        return [
            Rating(
                rater,
                self.item,
                target,
                one,
                rubric.criterion,
                rubric.scale,
                pair=pair,
                position=None if pair is None else place,
            )
            for place, (target, one) in enumerate(zip(self.targets, values, strict=True), 1)
        ]


def reference_task(
    item: Item, reference: Reference, rubric: Rubric, *, show_references: bool
) -> JudgeTask:
    """The question about one reference, beside the original ones if they are shown."""
    shown = [one for one in _originals(item) if one is not reference] if show_references else []
    target = f"reference:{reference.id}"
    about = f"item {item.id!r}, {target}"
    return JudgeTask(item.id, (target,), ask_about(item, [reference.text], rubric, shown, about))


def output_tasks(
    study: Study, rubric: Rubric, systems: Sequence[str] | None, *, show_references: bool
) -> list[JudgeTask]:
    """A question for each item and system."""
    names = chosen_systems(study, systems)
    return [
        JudgeTask(
            item.id,
            (f"system:{name}",),
            ask_about(
                item,
                [study.outputs[name][place]],
                rubric,
                _shown(item) if show_references else (),
                f"item {item.id!r}, system:{name}",
            ),
        )
        for place, item in enumerate(study.items)
        for name in names
    ]


def pair_tasks(
    study: Study,
    rubric: Rubric,
    systems: Sequence[str] | None,
    against: str | None,
    *,
    show_references: bool,
) -> list[JudgeTask]:
    """Two questions for each item and two systems: each order once."""
    names = chosen_systems(study, systems, with_one=against)
    if len(names) < 2:
        raise InputError(f"a comparison needs two systems, and there is only {names[0]!r}")
    return [
        JudgeTask(
            item.id,
            (f"system:{first}", f"system:{second}"),
            ask_about(
                item,
                [study.outputs[first][place], study.outputs[second][place]],
                rubric,
                _shown(item) if show_references else (),
                f"item {item.id!r}, system:{first} before system:{second}",
            ),
        )
        for place, item in enumerate(study.items)
        for first, second in permutations(names, 2)
        if against is None or against in (first, second)
    ]


def chosen_systems(
    study: Study, systems: Sequence[str] | None, with_one: str | None = None
) -> list[str]:
    """Names of systems whose outputs are judged."""
    if not study.outputs:
        where = "" if study.path is None else f"{study.path}: "
        raise InputError(
            f"{where}the study has no outputs to judge: put each system's into outputs/, or judge "
            "references"
        )
    wanted = list(study.outputs) if systems is None else list(dict.fromkeys(systems))
    if not wanted:
        raise InputError("no system is named")
    if with_one is not None and with_one not in wanted:
        wanted.append(with_one)
    for name in wanted:
        check_known("system", name, study.outputs)
    return wanted


def _originals(item: Item) -> list[Reference]:
    return [one for one in item.references if one.origin == "original"]


def _shown(item: Item) -> list[Reference]:
    """References that are known to be good: the original ones, and those of positive weight."""
    return [
        one
        for one in item.references
        if (one.origin == "original" if one.weight is None else one.weight > 0.0)
    ]
