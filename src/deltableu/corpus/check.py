"""A study's folder in; what it holds, and all that is wrong with it, out."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from deltableu.corpus.contamination import (
    ItemKeys,
    OutputMatches,
    duplicate_items,
    output_problems,
    reference_problems,
)
from deltableu.corpus.groups import ungrouped_note
from deltableu.corpus.items import SeenItems
from deltableu.corpus.layout import StudyFiles, find_study_files
from deltableu.corpus.outputs import match_outputs
from deltableu.corpus.rating import Rating
from deltableu.corpus.rating_targets import RatingTargets
from deltableu.corpus.ratings import numbered_ratings
from deltableu.corpus.study import read_study_items
from deltableu.corpus.systems import read_systems
from deltableu.corpus.types import Item, System
from deltableu.errors import Problem
from deltableu.io import Column, ColumnNames, PathLike, Report, Table, Tabular, fact_table


@dataclass(frozen=True, slots=True)
class ReferenceCounts:
    """How many references there are: in all, for an item, by origin and by weight."""

    total: int
    least: int
    median: float
    most: int
    by_origin: Mapping[str, int]
    positive: int
    zero: int
    negative: int
    unrated: int
    items_without_positive: int
    """Items none of whose references has a weight above 0; 0 when no reference is rated."""


@dataclass(frozen=True, slots=True)
class SystemCounts:
    """What one system's file holds; `mean_words` counts white-space separated words."""

    name: str
    type: str | None
    outputs: int
    empty: int
    mean_words: float
    matches: OutputMatches


@dataclass(frozen=True, slots=True)
class RatingCounts:
    """How many ratings there are, from how many people, of what."""

    rows: int
    raters: int
    by_target: Mapping[str, int]
    by_criterion: Mapping[str, int]
    by_kind: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class CheckResult(Tabular):
    """What a study holds and what is wrong with it.

    `problems` lists the first of each sort; `errors` and `warnings` count all of them, also
    the `unlisted` ones.
    """

    path: Path
    items: int
    contexts: int
    """Items with at least one earlier turn."""
    references: ReferenceCounts
    systems: tuple[SystemCounts, ...]
    ratings: RatingCounts
    problems: tuple[Problem, ...]
    errors: int
    warnings: int

    @property
    def unlisted(self) -> int:
        """How many problems were left out of the list because there are so many of their sort."""
        return self.errors + self.warnings - len(self.problems)

    def table(self) -> Table:
        """Counts of items, references and ratings; the notes are problems."""
        references, ratings = self.references, self.ratings
        by_weight = {
            name: getattr(references, name) for name in ("positive", "zero", "negative", "unrated")
        }
        facts = {
            "items": f"{self.items} ({self.contexts} with earlier turns)",
            "references": f"{references.total} ({_per_item(references)})",
            "references by origin": _counts(references.by_origin),
            "references by weight": _counts(by_weight),
        }
        if references.items_without_positive:
            facts["items without a positive reference"] = str(references.items_without_positive)
        facts["systems"] = str(len(self.systems))
        facts["ratings"] = f"{ratings.rows} by {ratings.raters} raters" if ratings.rows else "none"
        if ratings.rows:
            facts["ratings of"] = _counts(ratings.by_target)
            facts["ratings by criterion"] = _counts(ratings.by_criterion)
            facts["ratings by kind"] = _counts(ratings.by_kind)
        problems = {
            f"{problem.severity} {number}": str(problem)
            for number, problem in enumerate(self.problems, start=1)
        }
        if self.unlisted:
            problems["and"] = f"{self.unlisted} more like these"
        return fact_table(("study", self.path.name or str(self.path)), facts, problems)

    def systems_table(self) -> Table:
        """What each system's outputs look like; the last two columns are contamination."""
        columns = (
            *map(Column, ("system", "type", "outputs", "empty")),
            Column("mean words", ".1f"),
            *map(Column, ("= a reference", "= the message")),
        )
        rows = (
            (
                *(one.name, one.type or "-", one.outputs, one.empty, one.mean_words),
                *(sum(one.matches.by_origin.values()), one.matches.messages),
            )
            for one in self.systems
        )
        return Table(columns, rows)


@dataclass(slots=True)
class _Problems:
    """Keeps the first `most` problems of each sort, and counts all."""

    most: int
    listed: list[Problem] = field(default_factory=list)
    errors: int = 0
    warnings: int = 0
    _sorts: Counter[tuple[str | None, ...]] = field(default_factory=Counter)

    def report(self, problem: Problem) -> None:
        if problem.severity == "error":
            self.errors += 1
        else:
            self.warnings += 1
        sort = (problem.file, _pattern(problem.field), _pattern(problem.message))
        self._sorts[sort] += 1
        if self._sorts[sort] <= self.most:
            self.listed.append(problem)


def _per_item(references: ReferenceCounts) -> str:
    if references.least == references.most:
        return f"{references.most} per item"
    return f"{references.least}-{references.most} per item, median {references.median:g}"


def _counts(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{number} {name}" for name, number in counts.items() if number) or "none"


def _pattern(text: str | None) -> str | None:
    """The text without what differs between problems of one sort: quoted names, numbers."""
    return None if text is None else re.sub(r"'[^']*'|\"[^\"]*\"|[-+0-9.]+", "*", text)


def check_study(
    path: PathLike, *, most: int = 20, columns: ColumnNames | None = None
) -> CheckResult:
    """Read all of a study, count what it holds, and collect all that is wrong with it.

    Errors are what readers refuse, and ratings of items, systems or references that are not
    there. Warnings are what is probably not meant: names nobody reads, systems without outputs,
    items that share a group, and signs that test data leaked, where texts are the same as
    `deltableu.text.text_keys` has it.

    Parameters
    ----------
    path
        The study's folder.
    most
        How many problems of the same sort in the same file are listed; the rest is counted.
    columns
        What the file of ratings calls its columns: see `read_ratings`.
    """
    problems = _Problems(most)
    report = problems.report
    files = find_study_files(path, report)
    seen = SeenItems()
    numbered = list(read_study_items(files, report, seen))
    items = [item for _, item in numbered]
    name = str(files.items or path)
    if not items and seen.complete:
        report(Problem("holds no items", file=name))
    if not seen.complete and (files.outputs or files.ratings):
        message = "some items could not be read, so outputs and ratings were not matched with them"
        report(Problem(message, file=name, severity="warning"))
    keys = ItemKeys.of(items)
    for line, item in numbered:
        if not item.references:
            wrong = "there are none: mine or write some, or take metrics that need none"
            report(Problem(wrong, name, line, "references", item.id, "warning"))
        for problem in reference_problems(item, keys[item.id], name, line):
            report(problem)
    for problem in duplicate_items(numbered, name):
        report(problem)
    together = ungrouped_note(items)
    if together is not None:
        report(Problem(together, file=name, severity="warning"))
    described = read_systems(files.systems, report) if files.systems else {}
    systems = _check_systems(files, keys, seen, described, report)
    ratings = _check_ratings(files, items, seen, columns, report)
    return CheckResult(
        Path(path),
        len(items),
        sum(1 for item in items if item.context),
        _count_references(items),
        systems,
        ratings,
        tuple(problems.listed),
        problems.errors,
        problems.warnings,
    )


def _count_references(items: list[Item]) -> ReferenceCounts:
    sizes = [len(item.references) for item in items] or [0]
    references = [reference for item in items for reference in item.references]
    weights = [one.weight for one in references if one.weight is not None]
    without_positive = sum(
        1 for item in items if not any((r.weight or 0) > 0 for r in item.references)
    )
    return ReferenceCounts(
        total=len(references),
        least=min(sizes),
        median=float(median(sizes)),
        most=max(sizes),
        by_origin=dict(Counter(one.origin for one in references)),
        positive=sum(1 for weight in weights if weight > 0),
        zero=sum(1 for weight in weights if weight == 0),
        negative=sum(1 for weight in weights if weight < 0),
        unrated=len(references) - len(weights),
        items_without_positive=without_positive if weights else 0,
    )


def _check_systems(
    files: StudyFiles,
    keys: Mapping[str, ItemKeys],
    seen: SeenItems,
    described: Mapping[str, System],
    report: Report,
) -> tuple[SystemCounts, ...]:
    counts = []
    for name, path in files.outputs.items():
        texts = match_outputs(path, tuple(seen.lines) if seen.complete else None, report)
        pairs = zip(seen.lines, texts, strict=True) if seen.complete else ()
        matches = OutputMatches.count(
            (keys[id], text) for id, text in pairs if text is not None and id in keys
        )
        for problem in output_problems(matches, str(path)):
            report(problem)
        present = [text for text in texts if text is not None]
        words = sum(len(text.split()) for text in present)
        # What is said of a system holds for its runs.
        about = described.get(name) or described.get(name.rpartition("@")[0])
        type = about.type if about is not None else None
        empty = sum(1 for text in present if not text.strip())
        mean = words / len(present) if present else 0.0
        counts.append(SystemCounts(name, type, len(present), empty, mean, matches))
    runs_of = {name.rpartition("@")[0] for name in files.outputs}
    for name in described:
        if name not in files.outputs and name not in runs_of:
            report(
                Problem(
                    "the system has no outputs: add a file, or remove the entry",
                    file=str(files.systems),
                    field=f"systems.{name}",
                    severity="warning",
                )
            )
    return tuple(counts)


def _check_ratings(
    files: StudyFiles,
    items: list[Item],
    seen: SeenItems,
    columns: ColumnNames | None,
    report: Report,
) -> RatingCounts:
    targets, criteria, kinds = Counter[str](), Counter[str](), Counter[str]()
    raters: set[str] = set()
    references = {item.id: {one.id for one in item.references} for item in items}
    numbered: Iterable[tuple[int, Rating]] = ()
    if files.ratings:
        known = RatingTargets.of(items, files.outputs)
        numbered = numbered_ratings(files.ratings, report, columns=columns, targets=known)
    for line, rating in numbered:
        raters.add(rating.rater)
        criteria[rating.criterion] += 1
        kinds[rating.kind] += 1
        sort, _, name = rating.target.partition(":")
        targets[sort] += 1
        place = (str(files.ratings), line)
        if seen.complete and rating.item not in seen.lines:
            report(Problem(f"there is no item {rating.item!r}", *place, "item"))
        if sort == "system" and name not in files.outputs:
            report(Problem(f"there are no outputs of a system {name!r}", *place, "target"))
        # A bad reference is shown to catch careless raters; it need not be among the references.
        if (
            sort == "reference"
            and rating.kind != "bad-reference"
            and rating.item in references
            and name not in references[rating.item]
        ):
            message = f"the item has no reference {name!r}"
            report(Problem(message, *place, "target", rating.item))
    counts = (dict(targets), dict(criteria), dict(kinds))
    return RatingCounts(targets.total(), len(raters), *counts)
