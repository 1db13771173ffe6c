"""Outputs that people rated, with mined, lent or written references, to try soft pools on."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltableu.corpus import ReferenceSet, Study, reference_set
from deltableu.judges.model_file import RaterModel
from deltableu.mine import BM25, MiningPlan, mine_references
from reproduce.dialogue_items import grade_items, multirefeval_items, only_originals
from reproduce.dialogue_logs import write_pairs
from reproduce.negative_references import read_contexts, references_of
from reproduce.provider_split import Rated as Providers
from reproduce.provider_split import splits
from reproduce.rated_outputs import Rated, rated_grade, rated_multirefeval
from reproduce.rated_sets import read_rated_responses
from reproduce.ruber import quick_judges
from reproduce.upsilon_scores import Said

__all__ = ["MINED", "SPLITS", "Judged", "labelled_set", "mined_sets", "provider_sets"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: References that are mined for each item, and choices of systems that lend references.
MINED, SPLITS, SEED = 15, 12, 0


@dataclass(frozen=True, slots=True, eq=False)
class Judged:
    """Outputs, what each is compared with (an item per output), what people say, and its item."""

    outputs: list[str]
    references: ReferenceSet
    human: Array
    items: Sequence[str]
    rater: tuple[tuple[float, ...], ...] | None = None
    model: RaterModel | None = None

    @property
    def good(self) -> ReferenceSet:
        """The references that are not rated as bad."""
        if self.references.weights is None:
            return self.references
        rows = [
            [place for place, weight in enumerate(row) if weight is not None and weight > 0]
            for row in self.references.weights
        ]
        return self.references.keep(rows, "w>0")


def mined_sets(data: Path, on: Any, judges: bool) -> dict[str, Judged]:
    """multirefeval and GRADE with mined references, perhaps with what networks say of them."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        write_pairs(data, logs)
        plan = MiningPlan(BM25(on), top=MINED)
        studies = [
            mine_references(only_originals(items(data)), folder, plan=plan).study
            for items in (multirefeval_items, grade_items)
        ]
        rater, scorer = quick_judges(data, logs) if judges else (None, None)
    found = {}
    both = (rated_multirefeval(data), rated_grade(data, grade_items(data).items))
    for study, rated in zip(studies, both, strict=True):
        weights = None if rater is None else Said.of(rater, study).weights()
        for name, one in rated.items():
            found[name] = _judged(one, study, weights, scorer)
    return found


def _judged(
    rated: Rated, study: Study, weights: list[list[float]] | None, scorer: RaterModel | None
) -> Judged:
    places = {item.id: place for place, item in enumerate(study.items)}
    chosen = [places[name] for name in rated.items]
    rater = None if weights is None else tuple(tuple(weights[place]) for place in chosen)
    return Judged(
        rated.outputs, reference_set(study).take(chosen), rated.mean, rated.items, rater, scorer
    )


def provider_sets(data: Path) -> list[Judged]:
    """DSTC7: some systems lend rated references, the others are judged."""
    rated = Providers(*read_rated_responses(data))
    rng = np.random.default_rng(SEED)
    every = splits(rated.systems)
    kept = np.flatnonzero(rated.ratings[rated.systems.index("Human")] > 3.0).tolist()
    made = []
    for chosen in sorted(rng.choice(len(every), SPLITS, replace=False).tolist()):
        providers = [rated.systems.index(name) for name in every[chosen]]
        judged = [place for place in range(len(rated.systems)) if place not in providers]
        outputs = [rated.outputs[rated.systems[place]] for place in judged]
        texts = [[rated.outputs[rated.systems[p]][item] for p in providers] for item in kept]
        marks = [[float(rated.ratings[p, item] - 3.0) / 2.0 for p in providers] for item in kept]
        made.append(
            Judged(
                [own[item] for own in outputs for item in kept],
                ReferenceSet(texts * len(judged), marks * len(judged)),
                np.concatenate([rated.ratings[place, kept] for place in judged]),
                [str(item) for _ in judged for item in kept],
            )
        )
    return made


def labelled_set(data: Path, kind: str, negatives: str = "none") -> Judged:
    """DailyDialog++: the first good and the first bad response of each context."""
    contexts = read_contexts(data)
    texts, weights = references_of(contexts, negatives)
    good = [context.good[0] for context in contexts]
    bad = [getattr(context, kind)[0] for context in contexts]
    return Judged(
        [*good, *bad],
        ReferenceSet(texts * 2, weights * 2),
        np.repeat([1.0, 0.0], len(contexts)),
        [str(place) for place in range(len(contexts))] * 2,
    )
