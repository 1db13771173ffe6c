"""Which part of upsilon-BLEU does what: the rater's rule, its data, the scale, the clamp."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from deltableu import BLEU, UpsilonBLEU, UpsilonChrF
from deltableu.corpus.types import Study
from deltableu.score import Metric
from deltableu.stats.correlation import correlate
from deltableu.stats.resampling import stream
from reproduce.agreement_cells import SEED
from reproduce.dialogue_items import only_originals
from reproduce.layout import number, table
from reproduce.rated_outputs import Rated
from reproduce.upsilon_scores import METHODS, Said, bleu, original_place, scores_of

__all__ = ["MAIN", "SHUFFLES", "ablation_tables", "shuffled", "weight_table"]

Array = np.ndarray[Any, np.dtype[np.float64]]
Weights = list[list[float]]
#: What each rater says of the same study, by the rater's name.
Raters = Mapping[str, Said]

MAIN = "b"
SHUFFLES = 10


@dataclass(frozen=True, slots=True, eq=False)
class Variant:
    """A metric and what it is given; correlations are averaged over the weights."""

    metric: Metric
    study: Study
    weights: Sequence[Weights | None] = (None,)

    def agreement(self, rated: Rated) -> str:
        each = []
        for weights in self.weights:
            scores = scores_of(self.metric, rated, self.study, weights)
            each.append([float(correlate(scores, rated.mean, method)) for method in METHODS])
        return " / ".join(number(float(mean)) for mean in np.mean(each, axis=0))


def shuffled(said: Said, seed: int) -> Weights:
    """Each item's weights in random order, but for that of the original reference."""
    found = []
    for place, (item, row) in enumerate(zip(said.study.items, said.weights(), strict=True)):
        others = [one for one in range(len(row)) if one != original_place(item)]
        own = list(row)
        for old, new in zip(others, stream(seed, place).permutation(others), strict=True):
            own[new] = row[old]
        found.append(own)
    return found


def _positive(said: Said) -> Weights:
    return [[max(weight, 0.0) for weight in row] for row in said.weights()]


def _even(said: Said) -> Weights:
    return [[1.0] * len(item.references) for item in said.study.items]


def _liked(said: Said) -> Study:
    """With the references of positive weight alone."""
    items = []
    for item, row in zip(said.study.items, said.weights(), strict=True):
        pairs = zip(item.references, row, strict=True)
        items.append(replace(item, references=tuple(one for one, weight in pairs if weight > 0)))
    return Study(tuple(items))


def _rated(
    metric: Metric, *weights: Callable[[Said], Weights], by: str = MAIN
) -> Callable[[Raters], Variant]:
    def variant(raters: Raters) -> Variant:
        said = raters[by]
        return Variant(metric, said.study, [one(said) for one in weights or (Said.weights,)])

    return variant


def _variants() -> dict[str, Callable[[Raters], Variant]]:
    upsilon = UpsilonBLEU(lowercase=True)
    signed = UpsilonBLEU(lowercase=True, combine="arithmetic")
    chrf = UpsilonChrF(lowercase=True)
    shuffles = [lambda said, n=n: shuffled(said, SEED + n) for n in range(SHUFFLES)]
    return {
        "BLEU-2, one reference": lambda own: Variant(bleu(), only_originals(own[MAIN].study)),
        "BLEU-2, all": lambda own: Variant(bleu(), own[MAIN].study),
        "BLEU-2, all, arithmetic mean": lambda own: Variant(
            BLEU(order=2, combine="arithmetic", lowercase=True), own[MAIN].study
        ),
        "BLEU-2, references of positive weight": lambda own: Variant(bleu(), _liked(own[MAIN])),
        "**upsilon-BLEU**": _rated(upsilon),
        "weights shuffled": _rated(upsilon, *shuffles),
        "rule first": _rated(upsilon, lambda said: said.weights("first")),
        "rule mean": _rated(upsilon, lambda said: said.weights("mean")),
        "magnitude p": _rated(upsilon, lambda said: said.weights(magnitude="p")),
        "original rated": _rated(upsilon, lambda said: said.weights(original="rated")),
        "no negative weights": _rated(upsilon, _positive),
        "arithmetic mean, signed": _rated(signed),
        "arithmetic mean, no negative weights": _rated(signed, _positive),
        "arithmetic mean, weights shuffled": _rated(signed, *shuffles),
        "rater a": _rated(upsilon, by="a"),
        "rater c": _rated(upsilon, by="c"),
        "chrF++, one reference": lambda own: Variant(
            chrf, only_originals(own[MAIN].study), [[[1.0] for _ in own[MAIN].study.items]]
        ),
        "chrF++, all": _rated(chrf, _even),
        "**upsilon-chrF**": _rated(chrf),
        "upsilon-chrF, weights shuffled": _rated(chrf, *shuffles),
        "upsilon-chrF, rule first": _rated(chrf, lambda said: said.weights("first")),
        "upsilon-chrF, rule mean": _rated(chrf, lambda said: said.weights("mean")),
        "upsilon-chrF, no negative weights": _rated(chrf, _positive),
        "upsilon-chrF, best of a pool": _rated(UpsilonChrF(lowercase=True, pool="best")),
        "upsilon-chrF, rater a": _rated(chrf, by="a"),
        "upsilon-chrF, rater c": _rated(chrf, by="c"),
    }


def ablation_tables(
    sets: Mapping[str, Rated], raters: Mapping[str, Mapping[str, Raters]]
) -> Iterator[str]:
    """Pooled correlations of each variant.

    Parameters
    ----------
    sets
        Rated outputs, by title.
    raters
        By way of retrieval, then by title.
    """
    for how, own in raters.items():
        yield from (f"References by {how}; Spearman / Pearson with the mean rating:", "")
        rows = [
            [name, *(variant(own[title]).agreement(rated) for title, rated in sets.items())]
            for name, variant in _variants().items()
        ]
        yield from table(["metric", *sets], rows)
        yield ""


def weight_table(
    sets: Mapping[str, Rated], raters: Mapping[str, Mapping[str, Raters]]
) -> Iterator[str]:
    """How many references each rater likes, by where they are from."""
    rows: list[list[str]] = []
    names: list[str] = []
    for how, own in raters.items():
        for title in sets:
            names = list(own[title])
            wanted = set(sets[title].items)
            weights = {name: _by_origin(said, wanted) for name, said in own[title].items()}
            for origin in weights[names[0]]:
                row = [title, how, origin, f"{len(weights[names[0]][origin]):,}"]
                for name in names:
                    given = np.array(weights[name][origin])
                    row += [f"{np.mean(given > 0):.0%}", number(float(given.mean()), 2)]
                rows.append(row)
    heading = ["set", "references", "origin", "number"]
    for name in names:
        heading += [f"{name}: above 0", "mean"]
    yield from table(heading, rows)
    yield ""


def _by_origin(said: Said, wanted: set[str]) -> dict[str, list[float]]:
    """Also of the original references, which are rated here."""
    found: dict[str, list[float]] = {}
    for item, row in zip(said.study.items, said.weights(original="rated"), strict=True):
        if item.id in wanted:
            for reference, weight in zip(item.references, row, strict=True):
                found.setdefault(reference.origin, []).append(weight)
    return found
