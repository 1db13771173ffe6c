"""Outputs that people rated, with several references per item: three public sets."""

from __future__ import annotations

import csv
import gzip
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from reproduce.wmt_systems import read_lines

__all__ = [
    "RatedSet",
    "dstc7_contexts",
    "read_dstc7",
    "read_judged_responses",
    "read_mlqe",
    "read_multirefeval",
    "read_rated_responses",
]

Array = np.ndarray[Any, np.dtype[np.float64]]
References = list[list[str]]


@dataclass(frozen=True, slots=True, eq=False)
class RatedSet:
    """What systems wrote for each item, how people rate it, and two sets of references.

    Attributes
    ----------
    outputs : tuple of lists
        One text per item, for each system.
    human : array
        Systems x items.
    single, every : lists of lists
        The one reference of each item that a study would have had, and all there are.
    items : tuple of str
        What items are called, where something else of them must be found.
    """

    systems: tuple[str, ...]
    outputs: tuple[list[str], ...]
    human: Array
    single: References
    every: References
    items: tuple[str, ...] = ()


def read_multirefeval(data: Path) -> RatedSet:
    """Gupta et al. 2019: 5 systems (one of them people) on 100 contexts of DailyDialog."""
    path = data / "multirefeval" / "mturk_rating_processed_output.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = {(row["model"], row["context_id"]): row for row in csv.DictReader(lines)}
    systems = tuple(dict.fromkeys(model for model, _ in rows))
    items = list(dict.fromkeys(context for _, context in rows))
    table = [[rows[system, item] for item in items] for system in systems]
    return RatedSet(
        systems,
        tuple([row["response"] for row in own] for own in table),
        np.array([[float(row["human_average_rating"]) for row in own] for own in table]),
        [[row["prevgt"]] for row in table[0]],
        [row["all_references"].split("\t") for row in table[0]],
    )


def read_dstc7(data: Path) -> RatedSet:
    """Galley et al. 2019: 9 machine systems on Reddit; the single reference is Human's response.

    Human cannot be scored by itself and is left out, and so are the contexts without references.
    """
    folder = data / "dstc7"
    every = {}
    for item, *references in _rows(folder / "dstc7-task2-gold_responses.tsv.gz")[1:]:
        every[item] = [text for text in references if text.strip()]
    outputs: dict[str, dict[str, str]] = {}
    for system, item, response in _rows(folder / "dstc7-task2-system_responses.tsv.gz")[1:]:
        outputs.setdefault(system, {})[item] = response
    (_, *systems), *ratings = _rows(folder / "dstc7-task2-human_evaluation.tsv.gz")
    human = {item: dict(zip(systems, map(float, row), strict=True)) for item, *row in ratings}
    items = [item for item, references in every.items() if references]
    machines = tuple(name for name in systems if name != "Human")
    original = outputs["Human"]
    return RatedSet(
        machines,
        tuple([outputs[name][item] for item in items] for name in machines),
        np.array([[human[item][name] for item in items] for name in machines]),
        [[original[item]] for item in items],
        [[original[item], *every[item]] for item in items],
        tuple(items),
    )


def read_rated_responses(data: Path) -> tuple[tuple[str, ...], dict[str, list[str]], Array]:
    """DSTC7: all ten systems, what they said to a thousand contexts, and mean ratings (1 to 5)."""
    folder = data / "dstc7"
    (_, *systems), *ratings = _rows(folder / "dstc7-task2-human_evaluation.tsv.gz")
    means = {item: list(map(float, row)) for item, *row in ratings if item != "Average"}
    outputs: dict[str, dict[str, str]] = {}
    for system, item, response in _rows(folder / "dstc7-task2-system_responses.tsv.gz")[1:]:
        outputs.setdefault(system, {})[item] = response
    texts = {name: [outputs[name][item] for item in means] for name in systems}
    return tuple(systems), texts, np.array(list(means.values())).T


def read_judged_responses(
    data: Path,
) -> tuple[
    tuple[str, ...],
    dict[str, dict[str, str]],
    dict[str, list[str]],
    list[tuple[str, str, str, float]],
]:
    """DSTC7: systems, their responses and the references by context, and what each judge said."""
    folder = data / "dstc7"
    references = {
        item: [text for text in texts if text.strip()]
        for item, *texts in _rows(folder / "dstc7-task2-gold_responses.tsv.gz")[1:]
    }
    outputs: dict[str, dict[str, str]] = {}
    for system, item, response in _rows(folder / "dstc7-task2-system_responses.tsv.gz")[1:]:
        outputs.setdefault(system, {})[item] = response
    judged = [
        (judge, item, {"TeamEC": "TeamCE"}.get(system, system), (float(one) + float(two)) / 2.0)
        for judge, item, system, one, two in _rows(
            folder / "dstc7-task2-human-eval-per-judge.tsv.gz"
        )[1:]
    ]
    return tuple(outputs), outputs, references, judged


def dstc7_contexts(data: Path) -> dict[str, str]:
    """The text that the responses to an item were to draw on."""
    rows = _rows(data / "dstc7" / "dstc7-task2-context.tsv.gz")[1:]
    return {item: text for item, _, text in rows}


def read_mlqe(data: Path) -> RatedSet:
    """Fomicheva et al. 2020: one system, Estonian to English, two references, z-scores."""
    names = ("mt.en", "ref-1.en", "ref-2.en", "DA-z.scores")
    output, first, second, ratings = (
        read_lines(data / "mlqe_multiref" / f"{name}.gz") for name in names
    )
    return RatedSet(
        ("mt",),
        (output,),
        np.array([[float(rating) for rating in ratings]]),
        [[text] for text in first],
        [list(pair) for pair in zip(first, second, strict=True)],
    )


def _rows(path: Path) -> list[list[str]]:
    with gzip.open(path, "rt", encoding="utf-8-sig", newline="\n") as lines:
        return [line.rstrip("\n").split("\t") for line in lines]
