"""Samples that lm-evaluation-harness logs (`--log_samples`): samples_TASK_DATE.jsonl.

The fields are those of github.com/EleutherAI/lm-evaluation-harness (`lm_eval/evaluator.py` and
`lm_eval/loggers`); the arguments were a list in older versions and are an object in newer ones.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar

from deltableu.errors import InputError, Problem
from deltableu.io import Report, read_records, shown
from deltableu.layouts.layout import Layout, Parts, Request, Understanding
from deltableu.layouts.mapping import as_list, as_text, is_gap
from deltableu.layouts.parts import FoundItem, FoundOutput, FoundReference, Place
from deltableu.layouts.table import is_wanted, stem_of

_NAME = re.compile(r"samples_(.+?)(?:_[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9.:-]+)?")
_MEANINGS = {
    "doc_id": "item: the item's id",
    "target": "references: what is right",
    "arguments": "message: the prompt",
    "filtered_resps": "prediction: what the model said, as the filter left it",
}
#: All but the metrics.
_FIELDS = {*_MEANINGS, "doc", "resps", "filter", "metrics", "task"}


class LmEvalLayout(Layout):
    """A line is a model's answer to one document of a task; the model is the folder's name."""

    name: ClassVar[str] = "lm-eval"
    summary: ClassVar[str] = "samples that lm-evaluation-harness logs (samples_*.jsonl)"
    example: ClassVar[str] = "lm-eval results/*/samples_gsm8k_*.jsonl --where filter=strict-match"

    def read(self, request: Request, report: Report, understood: Understanding) -> Parts:
        files = [file for path in request.paths for file in _samples(path)]
        if not files:
            raise InputError("name files such as results/MODEL/samples_gsm8k_2024-01-01.jsonl")
        several = len({_task(file) for file in files}) > 1
        systems = {request.system or file.absolute().parent.name for file in files}
        for file in files:
            task, system = _task(file), request.system or file.absolute().parent.name
            understood.columns[str(file)] = dict(_MEANINGS)
            chosen: object = None
            for line, sample in read_records(file, report):
                if not is_wanted(sample, request, understood):
                    continue
                # Each filter repeats all documents; the first is the task's own.
                chosen = sample.get("filter") if chosen is None else chosen
                if sample.get("filter") != chosen:
                    understood.leave_out(f"the filter is {sample.get('filter')}, not {chosen}")
                    continue
                place = Place(str(file), line)
                try:
                    said = _response(sample)
                    if said is None:
                        understood.leave_out("it is the likelihood of choices, and no text")
                        continue
                    item = _item(sample)
                    found = FoundItem(
                        f"{task}/{item}" if several else item,
                        _prompt(sample),
                        references=_references(sample),
                        meta={"task": task, **_metrics(sample, system, len(systems) > 1)},
                    )
                except InputError as error:
                    problem = error.problem
                    report(Problem(problem.message, place.file, line, problem.field))
                    continue
                yield found, place
                yield FoundOutput(system, found.id, said), place


def _samples(path: Path) -> list[Path]:
    """A file, or all samples below a folder."""
    return sorted(path.rglob("samples_*.jsonl")) if path.is_dir() else [path]


def _task(file: Path) -> str:
    stem = stem_of(file.name)
    found = _NAME.fullmatch(stem)
    return stem if found is None else found[1]


def _item(sample: Mapping[str, object]) -> str:
    if is_gap(sample.get("doc_id")):
        raise InputError(Problem("is missing: are these samples of lm-eval?", field="doc_id"))
    return as_text(sample["doc_id"])


def _response(sample: Mapping[str, object]) -> str | None:
    """The first answer; None if there are likelihoods in its place."""
    found = sample.get("filtered_resps", sample.get("resps"))
    if not isinstance(found, list) or not found:
        message = f"must be a list of answers, got {shown(found)}"
        raise InputError(Problem(message, field="filtered_resps"))
    first = found[0]
    if isinstance(first, list) and len(first) == 2 and not isinstance(first[1], str):
        return None
    if isinstance(first, list) and len(first) == 2 and first[1] in ("True", "False"):
        return None
    while isinstance(first, list) and first:
        first = first[0]
    if isinstance(first, float):
        return None
    if not isinstance(first, str):
        message = f"must hold text, got {shown(first)}"
        raise InputError(Problem(message, field="filtered_resps"))
    return first


def _prompt(sample: Mapping[str, object]) -> str | None:
    found = sample.get("arguments")
    if isinstance(found, Mapping):
        found = next(iter(found.values()), None)
        found = found.get("arg_0") if isinstance(found, Mapping) else found
    while isinstance(found, list) and found:
        found = found[0]
    if found is None or found == []:
        return None
    if not isinstance(found, str):
        raise InputError(Problem(f"must hold a prompt, got {shown(found)}", field="arguments"))
    return found


def _references(sample: Mapping[str, object]) -> tuple[FoundReference, ...]:
    target = sample.get("target")
    several = target if isinstance(target, list) else [target]
    # Newer versions write a list as Python shows it.
    spelt = as_list(target)
    if isinstance(target, str) and len(spelt) > 1 and all(isinstance(one, str) for one in spelt):
        several = spelt
    if any(isinstance(one, list | dict) for one in several):
        message = f"must be a text or a list of texts, got {shown(target)}"
        raise InputError(Problem(message, field="target"))
    return tuple(FoundReference(as_text(one)) for one in several if one not in (None, ""))


def _metrics(sample: Mapping[str, object], system: str, several: bool) -> dict[str, object]:
    """What the harness's metrics gave; of each system, where there are several."""
    named = sample.get("metrics")
    names = named if isinstance(named, list) else [
        one for one in sample if one not in _FIELDS and not one.endswith("_hash")
    ]  # fmt: skip
    return {
        f"{name} ({system})" if several else str(name): sample[name]
        for name in names
        if isinstance(name, str) and isinstance(sample.get(name), int | float)
    }
