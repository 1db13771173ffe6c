"""A study and an LLM in; ratings, weights, what failed and what it cost, out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from deltableu.corpus import RatingTable, Scale, Study
from deltableu.errors import check_kind
from deltableu.io import Column, Table, WorkFolder
from deltableu.judges.llm.asking_run import Judged
from deltableu.judges.llm.costs import Spending
from deltableu.judges.llm.rater import LLMRater
from deltableu.judges.llm.rubric import Rubric, What
from deltableu.judges.llm.tasks import JudgeTask, output_tasks, pair_tasks
from deltableu.judges.rating import AskedItem, RatedStudy, Which, by_origin, places_to_rate

#: Failures that are told one by one.
_TOLD = 3


@dataclass(frozen=True, slots=True)
class JudgedStudy:
    """What an LLM said of a study.

    Attributes
    ----------
    what : {"references", "outputs", "pairs"}
    ratings : RatingTable
        Of texts that got one; each repetition is a rater.
    asked : int
        Ratings (of pairs: comparisons) that were asked for.
    failed : tuple of (str, str)
        What got no rating, and why.
    spending : Spending
    signature : str
    rated : RatedStudy or None
        The study with weights, where references were rated.
    """

    what: What
    ratings: RatingTable
    asked: int
    failed: tuple[tuple[str, str], ...]
    spending: Spending
    signature: str
    rated: RatedStudy | None = field(default=None, repr=False)

    def sentences(self) -> tuple[str, ...]:
        """How many texts were judged, what failed, what it cost."""
        noun = {"references": "reference", "outputs": "output", "pairs": "pair"}[self.what]
        good = self.asked - len(self.failed)
        name = "comparison" if self.what == "pairs" else f"rating of {noun}s"
        plural = "comparisons" if self.what == "pairs" else f"ratings of {noun}s"
        said = [f"{good:,} of {self.asked:,} {plural if self.asked != 1 else name} are there."]
        if self.failed:
            some = "; ".join(f"{about}: {reason}" for about, reason in self.failed[:_TOLD])
            more = len(self.failed) - _TOLD
            said.append(f"No rating of {some}{f'; and {more:,} more' if more > 0 else ''}.")
        return (*said, self.spending.sentence())

    def tables(self) -> list[Table]:
        """Values by target, and what was spent."""
        first = self.rated.table() if self.rated is not None else self._by_system()
        return [first, self.spending.table()]

    def record(self) -> dict[str, Any]:
        """For programs: all but ratings and study, which have files of their own."""
        return {
            "what": self.what,
            "asked": self.asked,
            "rated": self.asked - len(self.failed),
            "failed": [{"about": about, "reason": reason} for about, reason in self.failed],
            "spending": self.spending,
            "judge": self.signature,
            "verdict": list(self.sentences()),
            **({} if self.rated is None else {"origins": self.rated.origins}),
        }

    def _by_system(self) -> Table:
        names = self.ratings.systems
        counts: Counter[int] = Counter(self.ratings.system.tolist())
        means = [
            float(self.ratings.values[self.ratings.system == place].mean())
            for place in range(len(names))
        ]
        heading = "share won" if self.what == "pairs" else "mean rating"
        columns = (Column("system"), Column("ratings"), Column(heading, ".3f"))
        rows = [(name, counts[place], means[place]) for place, name in enumerate(names)]
        rows.sort(key=lambda row: -float(row[2]))
        return Table(columns, rows, signatures={"judge": self.signature})


def reference_tasks(study: Study, rater: LLMRater, which: Which = "unrated") -> list[JudgeTask]:
    """The questions that `judge_references` asks."""
    rubric = rater.rubric_for("references")
    return [
        rater.task(item, item.references[place], rubric)
        for item in study.items
        for place in places_to_rate(item, which)
        if not rater.keeps(item.references[place])
    ]


def judge_references(study: Study, rater: LLMRater, *, which: Which = "unrated") -> JudgedStudy:
    """Rate the references of a study; its new weights are the means of the ratings.

    Parameters
    ----------
    study : Study
    rater : LLMRater
    which : {"unrated", "all"}
        Rate the references without a weight, or all of them anew.

    Returns
    -------
    JudgedStudy
        A reference that got no rating keeps the weight it had, or has none.
    """
    check_kind("study", study, Study)
    tasks = reference_tasks(study, rater, which)
    rubric = rater.rubric_for("references")
    rows, spending = rater.ask(tasks)
    scale = Scale.parse(rubric.scale)
    weights = {
        (task.item, task.targets[0].partition(":")[2]): scale.weight(sum(values) / len(values))
        for task, row in zip(tasks, rows, strict=True)
        if (values := [one.value for one in row if one.value is not None])
    }
    asked: list[AskedItem] = []
    given: list[tuple[float, ...]] = []
    items = list(study.items)
    for place, item in enumerate(study.items):
        pairs = [
            (position, float(rater.original) if rater.keeps(one) else weights[item.id, one.id])
            for position in places_to_rate(item, which)
            if rater.keeps(one := item.references[position]) or (item.id, one.id) in weights
        ]
        if pairs:
            asked.append(AskedItem(place, item, tuple(position for position, _ in pairs)))
            given.append(tuple(weight for _, weight in pairs))
            items[place] = asked[-1].with_weights(given[-1], rater.signature)
    judged = _judged(rater, "references", rubric, tasks, rows, spending)
    rated = RatedStudy(
        replace(study, items=tuple(items)),
        rater.signature,
        which,
        by_origin(study, asked, given),
        0,
        WorkFolder(None, ""),
    )
    return replace(judged, rated=rated)


def judge_outputs(
    study: Study, rater: LLMRater, *, systems: Sequence[str] | None = None
) -> JudgedStudy:
    """Rate the outputs of some systems, by default of all.

    Parameters
    ----------
    study : Study
    rater : LLMRater
        Shows references where its `show_references` says so.
    systems : sequence of str, optional
    """
    rubric = rater.rubric_for("outputs")
    tasks = output_tasks(study, rubric, systems, show_references=rater.show_references)
    rows, spending = rater.ask(tasks)
    return _judged(rater, "outputs", rubric, tasks, rows, spending)


def judge_pairs(
    study: Study,
    rater: LLMRater,
    *,
    systems: Sequence[str] | None = None,
    against: str | None = None,
) -> JudgedStudy:
    """Compare the outputs of each two systems, in both orders.

    Parameters
    ----------
    study : Study
    rater : LLMRater
    systems : sequence of str, optional
        By default all.
    against : str, optional
        Only pairs that this system is in: with many systems, all pairs are many.
    """
    rubric = rater.rubric_for("pairs")
    tasks = pair_tasks(study, rubric, systems, against, show_references=rater.show_references)
    rows, spending = rater.ask(tasks)
    return _judged(rater, "pairs", rubric, tasks, rows, spending)


def _judged(
    rater: LLMRater,
    what: What,
    rubric: Rubric,
    tasks: Sequence[JudgeTask],
    rows: Sequence[Sequence[Judged]],
    spending: Spending,
) -> JudgedStudy:
    told = [
        (task, name, one)
        for task, row in zip(tasks, rows, strict=True)
        for name, one in zip(rater.raters, row, strict=True)
    ]
    ratings = [
        rating
        for task, name, one in told
        if one.value is not None
        for rating in task.ratings(name, one.value, rubric)
    ]
    failed = [(task.question.about, one.problem) for task, _, one in told if one.value is None]
    return JudgedStudy(
        what,
        RatingTable.from_records(ratings),
        len(told),
        tuple(failed),
        spending,
        rater.signature_for(what),
    )
