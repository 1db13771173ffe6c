"""What columns are called: `item=segment_id,references=ref1+ref2,ratings=score_*`."""

from __future__ import annotations

import ast
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from deltableu.errors import InputError, Problem, check_kind, hint_at
from deltableu.io import decode, named_columns, number_text, shown

#: Our names, what they are, and what people call them; the first that a table has is taken.
MEANINGS: dict[str, tuple[str, tuple[str, ...]]] = {
    "item": ("the item's id", ("item", "item_id", "id", "doc_id", "segment_id", "seg_id", "sid",
             "context_id", "instance", "instanceid", "prompt_id", "question_id")),
    "system": ("who wrote the prediction", ("system", "model", "system_id", "systemid", "sys_id",
               "model_name", "model_id", "sys")),
    "prediction": ("a system's output", ("prediction", "output", "hypothesis", "response",
                   "translation", "generated", "completion", "candidate", "hyp", "mt",
                   "generated_text", "model_output", "summary")),
    "outputs": ("an object with what each system wrote", ("outputs", "systems")),
    "references": ("one or several references", ("references", "reference", "refs", "ref",
                   "target", "targets", "gold", "ground_truth", "answer", "answers", "label")),
    "message": ("what is answered", ("message", "prompt", "question", "query", "input", "source",
                "src", "utterance", "instruction")),
    "context": ("earlier turns", ("context", "history", "dialog_history", "dialogue_history")),
    "good": ("references of weight 1", ()),
    "bad": ("references of weight -1", ()),
    "weights": ("weights of the references", ("weights", "weight")),
    "rater": ("who rated", ("rater", "annotator", "worker", "worker_id", "workerid", "judge",
              "judgeid", "participant", "prolific_pid", "participant id", "annotator_id", "user")),
    "raters": ("a column for each rater", ()),
    "value": ("the rating", ("value", "rating", "score", "judgement", "judgment")),
    "ratings": ("a column for each criterion that was rated", ("ratings", "scores",
                "annotations")),
    "criterion": ("what was rated", ("criterion", "dimension", "aspect", "quality_dimension")),
    "kind": ("item, bad-reference, reference or repeat", ("kind",)),
    "started": ("when the rating began", ("started",)),
    "finished": ("when it ended", ("finished",)),
}  # fmt: skip
_GAPS = ("", "NA", "nan", "NaN", "null", "None", "-")
#: Names that may stand for several columns.
SEVERAL = ("references", "context", "good", "bad", "weights", "raters", "ratings", "item")


@dataclass(frozen=True, slots=True)
class ColumnMap:
    """Which columns of a table mean what.

    Attributes
    ----------
    given : mapping of str to tuple of str
        Our name -> theirs, which may be patterns; several where cells belong together.
    constants : mapping of str to str
        What is the same for all rows, such as `system='gpt'`, written with a colon: `system=:gpt`.
    """

    given: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, text: str | Mapping[str, str | Sequence[str]] | None) -> ColumnMap:
        """Read `ours=theirs,ours=one+other`, or the same as a mapping."""
        given: dict[str, tuple[str, ...]] = {}
        constants: dict[str, str] = {}
        if text is None:
            return cls()
        said = named_columns(text, "item=segment_id") if isinstance(text, str) else text
        check_kind("columns", said or {}, Mapping)
        for ours, theirs in (said or {}).items():
            check_kind(f"the column of {ours}", theirs, str, list, tuple)
            parts = theirs.split("+") if isinstance(theirs, str) else theirs
            for one in parts:
                check_kind(f"the column of {ours}", one, str)
            names = tuple(one.strip() for one in parts)
            if ours not in MEANINGS:
                there, meant = ", ".join(MEANINGS), hint_at(ours, MEANINGS)
                message = f"there is no name {ours!r}; there are {there}{meant}"
                raise InputError(Problem(message, field="columns"))
            if len(names) == 1 and names[0].startswith(":"):
                constants[ours] = names[0][1:]
            elif len(names) > 1 and ours not in SEVERAL:
                message = f"{ours} is one column, got {len(names)}: {', '.join(names)}"
                raise InputError(Problem(message, field="columns"))
            else:
                given[ours] = names
        return cls(given, constants)

    def of(self, columns: Sequence[str]) -> dict[str, tuple[str, ...]]:
        """Which of a table's columns mean what, by what was said or else by their names."""
        found: dict[str, tuple[str, ...]] = {}
        taken: set[str] = set()
        for ours, names in self.given.items():
            theirs = tuple(
                column
                for name in names
                for alternative in name.split("|")
                for column in _matching(alternative, columns)
            )
            if theirs:
                found[ours] = tuple(dict.fromkeys(theirs))
                taken.update(theirs)
        small = {column.lower(): column for column in reversed(columns)}
        for ours, (_, usual) in MEANINGS.items():
            if ours in self.given or ours in self.constants or ours in found:
                continue
            column = next(
                (small[one] for one in usual if one in small and small[one] not in taken), None
            )
            if column is not None and not (ours == "value" and "ratings" in self.given):
                found[ours] = (column,)
                taken.add(column)
        return found

    def check_used(self, seen: Mapping[str, object], columns: Sequence[str], file: str) -> None:
        """Complain of names that were given and that no table has."""
        for ours, names in self.given.items():
            if ours in seen or names == ("#",):
                continue
            there, meant = ", ".join(map(shown, columns[:20])), hint_at(names[0], columns)
            message = f"has no column {names[0]!r} for {ours}: there are {there}{meant}"
            raise InputError(Problem(message, file=file, field="columns"))


def _matching(name: str, columns: Sequence[str]) -> list[str]:
    if name in columns:
        return [name]
    if "*" in name or "?" in name:
        return [column for column in columns if fnmatchcase(column, name)]
    inside = name.partition(".")[0]
    return [name] if inside != name and inside in columns else []


def cell(row: Mapping[str, object], column: str) -> object:
    """What a column of a row holds; `a.b` is what b is in the object a."""
    if column in row:
        return row[column]
    value: object = row
    for part in column.split("."):
        if not isinstance(value, Mapping) or part not in value:
            return None
        value = value[part]
    return value


def is_gap(value: object) -> bool:
    """Whether a cell is empty, as tables say it in many ways."""
    if value is None:
        return True
    if isinstance(value, float):
        return math.isnan(value)
    return isinstance(value, str) and (value.strip() in _GAPS or value.startswith("N/A"))


def as_list(value: object, mark: str | None = None) -> list[object]:
    """The parts of a cell: of a list, of a text that spells one, or of one with separators.

    Examples
    --------
    >>> as_list("[4, 5]"), as_list("a||||b", "||||"), as_list("['it', \\"it's\\"]")
    ([4, 5], ['a', 'b'], ['it', "it's"])
    """
    if is_gap(value):
        return []
    if isinstance(value, str):
        if mark is not None:
            return [part.strip() for part in value.split(mark) if part.strip()]
        if value[:1] == "[" and value.rstrip()[-1:] == "]":
            for read in (decode, ast.literal_eval):
                try:
                    found = read(value)
                except (ValueError, SyntaxError, MemoryError, RecursionError):
                    continue
                if isinstance(found, list):
                    return found
        return [value]
    if isinstance(value, list | tuple) or type(value).__name__ == "ndarray":
        parts: list[object] = list(value)  # type: ignore[call-overload]
        return parts
    return [value]


def as_text(value: object) -> str:
    """A cell as text."""
    if isinstance(value, str):
        return value
    if isinstance(value, float):
        return number_text(value)
    return str(value)
