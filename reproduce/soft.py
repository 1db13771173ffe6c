"""Soft pools on public sets, beside what they are compared with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from deltableu import BLEU, DeltaBLEU, DeltaChrFPlusPlus, Soft, SoftCosine, UpsilonBLEU
from deltableu.corpus import ReferenceSet
from deltableu.judges import RUBER
from deltableu.score import Metric, choose_neutral, with_shares
from deltableu.score.metrics.chrf import ChrFPlusPlus
from deltableu.score.metrics.sentinels import Length
from deltableu.stats import correlate
from deltableu.validate.controls import shuffled_weights
from reproduce.agreement_cells import SEED
from reproduce.layout import table
from reproduce.set_columns import Score
from reproduce.soft_sets import Judged

__all__ = ["METRICS", "SOFT", "neutral_table"]

Array = np.ndarray[Any, np.dtype[np.float64]]

SOFT = "soft-cosine"


def _segments(metric: Metric, judged: Judged, references: ReferenceSet) -> Array:
    scores: Array = metric.compute(judged.outputs, references).segment_scores()
    return scores


def _on_good(metric: Metric) -> Score:
    """A metric without weights, on all references that are not bad."""
    return lambda judged: _segments(metric, judged, judged.good)


def _weighted(metric: Metric) -> Score:
    """A metric on references with their weights: by origin, where nobody rated them."""
    return lambda judged: _segments(metric, judged, with_shares(judged.references))


def _even(metric: Metric) -> Score:
    """A metric with weights, all of which are 1."""

    def score(judged: Judged) -> Array:
        rows = [[1.0] * len(row) for row in judged.good.texts]
        return _segments(metric, judged, ReferenceSet(judged.good.texts, rows))

    return score


def _shuffled(judged: Judged) -> Array | None:
    """soft-cosine with each item's weights given to its references at random."""
    given = shuffled_weights(with_shares(judged.references), SEED)
    if given is None or len(given.without_positive()):
        return None
    return _segments(SoftCosine(), judged, given)


def _other_item(*, original: bool) -> Score:
    """soft-cosine with the references of another item, perhaps beside its own original."""

    def score(judged: Judged) -> Array | None:
        given = with_shares(judged.references)
        if original and judged.references.weights is not None:
            return None
        names = list(dict.fromkeys(judged.items))
        first = {name: place for place, name in reversed(list(enumerate(judged.items)))}
        turn = len(names) // 2
        other = {name: first[names[(k + turn) % len(names)]] for k, name in enumerate(names)}
        texts, weights = [], []
        for place, name in enumerate(judged.items):
            row, numbers = given.texts[other[name]], (given.weights or ())[other[name]]
            if original:
                row = (given.texts[place][0], *row[1:])
            texts.append(row)
            weights.append(numbers)
        return _segments(SoftCosine(), judged, ReferenceSet(texts, weights))

    return score


def _upsilon(judged: Judged) -> Array | None:
    if judged.rater is None:
        return None
    given = replace(judged.references, weights=judged.rater, items=None)
    return _segments(UpsilonBLEU(lowercase=True), judged, given)


def _ruber(judged: Judged) -> Array | None:
    if judged.model is None or judged.references.messages is None:
        return None
    metric = RUBER(model=judged.model, referenced=BLEU(order=2, lowercase=True))
    return _segments(metric, judged, judged.good)


_WORDS: dict[str, Any] = {"order": 2, "lowercase": True}

#: A row each.
METRICS: dict[str, Score] = {
    "BLEU-2, unsmoothed": _on_good(BLEU(smooth="none", **_WORDS)),
    "BLEU-2, smoothed": _on_good(BLEU(**_WORDS)),
    "BLEU-2, arithmetic": _on_good(BLEU(combine="arithmetic", **_WORDS)),
    "chrF++, best reference": _on_good(ChrFPlusPlus(lowercase=True)),
    "chrF++, mean of references": _even(DeltaChrFPlusPlus(lowercase=True)),
    "delta-BLEU": _weighted(DeltaBLEU(**_WORDS)),
    "delta-BLEU, signed": _weighted(DeltaBLEU(combine="arithmetic", **_WORDS)),
    "delta-chrF++": _weighted(DeltaChrFPlusPlus(lowercase=True)),
    "upsilon-BLEU": _upsilon,
    "RUBER with BLEU-2": _ruber,
    "length": _on_good(Length()),
    SOFT: _weighted(SoftCosine()),
    "soft-chrf++": _weighted(Soft("chrf++")),
    "soft-rouge-l": _weighted(Soft("rouge-l")),
    "soft of sentence BLEU-2": _weighted(Soft("sentence-bleu")),
    "soft-cosine, shuffled weights": _shuffled,
    "soft-cosine, own original, another item's mined": _other_item(original=True),
    "soft-cosine, another item's references": _other_item(original=False),
}


def neutral_table(sets: Sequence[Judged]) -> Iterator[str]:
    """What the neutral weight of DSTC7's references does, and what `auto` takes."""
    made: dict[str, Any] = {
        "delta-BLEU": DeltaBLEU(**_WORDS),
        "delta-BLEU, signed": DeltaBLEU(combine="arithmetic", **_WORDS),
        "delta-chrF++": DeltaChrFPlusPlus(lowercase=True),
        "delta-chrF++, best": DeltaChrFPlusPlus(lowercase=True, pool="best"),
        SOFT: SoftCosine(),
    }
    fixed = (-0.75, -0.5, -0.25, 0.0, 0.25)
    rows = []
    for name, metric in made.items():
        values: dict[Any, list[float]] = {one: [] for one in (*fixed, "auto")}
        taken = []
        for judged in sets:
            systems = len(judged.outputs) // len(set(judged.items))
            items = len(judged.outputs) // systems
            own = judged.references.take(range(items))
            outputs = np.array(judged.outputs, object).reshape(systems, items).tolist()
            taken.append(choose_neutral(metric, own).value)
            for key in values:
                moved = replace(metric, neutral=taken[-1] if key == "auto" else key)
                ready = moved.reweighting(own, outputs).rows(own.flat_weights[np.newaxis])[0]
                scores = [moved.segment_scores(ready[:, system]) for system in range(systems)]
                found = correlate(np.concatenate(scores), judged.human, "spearman")
                values[key].append(float(found))
        cells = [f"{np.mean(values[key]):.3f}" for key in values]
        rows.append([name, *cells, f"{np.mean(taken):.2f} ({min(taken):g} to {max(taken):g})"])
    heading = ["metric", *(f"{one:g}" for one in fixed), "auto", "taken by auto"]
    yield from table(heading, rows)
