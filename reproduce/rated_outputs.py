"""Single outputs that people rated, of public dialogue sets."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltableu.corpus.types import Item
from reproduce.dialogue_items import CORPORA, dstc7_items, multirefeval_items
from reproduce.rated_sets import RatedSet, read_dstc7, read_multirefeval

__all__ = ["Rated", "rated_dstc7", "rated_grade", "rated_multirefeval"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: Ratings that every output of GRADE has.
SLOTS = 8


@dataclass(frozen=True, slots=True, eq=False)
class Rated:
    """Outputs that people rated: the item of each, its text, its ratings (outputs x slots)."""

    items: list[str]
    outputs: list[str]
    mean: Array
    slots: Array | None = None
    systems: Sequence[str] = ()


def rated_multirefeval(data: Path) -> dict[str, Rated]:
    """Gupta et al. 2019."""
    ids = [item.id for item in multirefeval_items(data).items]
    return {"multirefeval": _flat(read_multirefeval(data), ids)}


def rated_dstc7(data: Path) -> dict[str, Rated]:
    """Galley et al. 2019."""
    return {"dstc7": _flat(read_dstc7(data), [item.id for item in dstc7_items(data).items])}


def _flat(found: RatedSet, ids: Sequence[str]) -> Rated:
    return Rated(
        [*ids] * len(found.systems),
        [text for own in found.outputs for text in own],
        found.human.ravel(),
        systems=[name for name in found.systems for _ in ids],
    )


def rated_grade(data: Path, items: Sequence[Item]) -> dict[str, Rated]:
    """Huang et al. 2020, the three corpora."""
    known = {
        (item.id.rpartition("-")[0], *item.context, item.message, item.references[0].text): item.id
        for item in items
    }
    ratings = json.loads((data / "grade/human_score/human_judgement.json").read_text("utf-8"))
    scores: dict[tuple[str, str], list[list[float]]] = {}
    for row in ratings:
        key = (row["Dataset"].lower().removesuffix("_eval"), row["DialogModel"].lower())
        given = row["HumanScores"]
        scores.setdefault(key, []).append(json.loads(given) if isinstance(given, str) else given)
    found: dict[str, Rated] = {}
    for corpus in CORPORA:
        ids: list[str] = []
        outputs: list[str] = []
        own: list[list[float]] = []
        systems: list[str] = []
        for folder in sorted((data / "grade" / "eval_data" / corpus).iterdir()):
            contexts, responses, texts = (
                (folder / f"human_{name}.txt").read_text("utf-8").removesuffix("\n").split("\n")
                for name in ("ctx", "ref", "hyp")
            )
            outputs += texts
            own += scores[corpus, folder.name.lower()]
            systems += [folder.name] * len(texts)
            ids += [
                known[(corpus, *context.split("|||"), response)]
                for context, response in zip(contexts, responses, strict=True)
            ]
        found[f"GRADE, {corpus}"] = Rated(
            ids,
            outputs,
            np.array([np.mean(one) for one in own]),
            np.array([one[:SLOTS] for one in own]),
            systems,
        )
    return found
