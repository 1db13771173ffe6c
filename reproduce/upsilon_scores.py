"""What a rater says of references, metrics that use it, and their agreement with people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from deltableu import BLEU, UpsilonBLEU, UpsilonChrF
from deltableu.corpus.types import Item, Study
from deltableu.judges.combination import Magnitude, Triplets, combined_weights
from deltableu.judges.model_file import RaterModel
from deltableu.judges.nn_rater import NNRater
from deltableu.judges.rater import rate_batch
from deltableu.score import Metric
from deltableu.stats.correlation import Method, correlate
from deltableu.validate.difference_bootstrap import bootstrap_difference
from deltableu.validate.levels import Level
from deltableu.validate.permutation import permutation_test
from reproduce.agreement_cells import RESAMPLES, SEED, by_item, of_outputs, of_systems
from reproduce.layout import p_value, table, with_interval
from reproduce.rated_outputs import Rated

__all__ = [
    "BLEU_ALL",
    "BLEU_ONE",
    "CHRF_ALL",
    "METHODS",
    "UPSILON_BLEU",
    "UPSILON_CHRF",
    "Said",
    "agreement_table",
    "compared_scores",
    "difference_table",
    "differences",
    "original_place",
    "scores_of",
]

Array = np.ndarray[Any, np.dtype[np.float64]]
Weights = Sequence[Sequence[float]]
#: Scores of single outputs, by references and metric.
Scores = Mapping[tuple[str, str], Array]

METHODS: tuple[Method, ...] = ("spearman", "pearson")
#: Fewer systems than this are not correlated.
SYSTEMS = 5

BLEU_ONE, BLEU_ALL = "BLEU-2, one reference", "BLEU-2, all"
CHRF_ALL = "chrF++, all"
UPSILON_BLEU, UPSILON_CHRF = "upsilon-BLEU", "upsilon-chrF"
LEVELS: dict[Level, str] = {"pooled": "all outputs", "item": "within items", "system": "systems"}


@dataclass(frozen=True, slots=True, eq=False)
class Said:
    """The probabilities that a rater gives to the references of some items.

    Attributes
    ----------
    study : Study
    positive : tuple of arrays
        Of each item: references x triplets. The original reference is rated as any other.
    """

    study: Study
    positive: tuple[Array, ...]

    @classmethod
    def of(cls, model: RaterModel, study: Study) -> Said:
        """Ask for each triplet alone: all rules follow from that."""
        batch = [(item, item.references) for item in study.items]
        rules: tuple[Triplets, ...] = ("first", "second")
        triplets = [rate_batch(NNRater(model, rule, original="rated"), batch) for rule in rules]
        both = zip(*triplets, strict=True)
        return cls(study, tuple((np.array(rows, np.float64).T + 1) / 2 for rows in both))

    def weights(
        self,
        triplets: Triplets = "max",
        magnitude: Magnitude = "2p-1",
        original: float | Literal["rated"] = 1.0,
    ) -> list[list[float]]:
        """One a reference of each item, as `NNRater` gives them."""
        found = []
        for item, positive in zip(self.study.items, self.positive, strict=True):
            classes = np.stack((1 - positive, positive), axis=-1)
            own = list(map(float, combined_weights(classes, triplets, magnitude)))
            if original != "rated":
                own[original_place(item)] = original
            found.append(own)
        return found


def original_place(item: Item) -> int:
    """Where the reference stands that a rater compares the others with."""
    return next((place for place, one in enumerate(item.references) if one.origin == "original"), 0)


def scores_of(metric: Metric, rated: Rated, study: Study, weights: Weights | None = None) -> Array:
    """One score an output; 0 where no reference has a positive weight, as nothing can be earned."""
    places = {item.id: place for place, item in enumerate(study.items)}
    chosen = np.array([places[item] for item in rated.items])
    scores = np.zeros(len(chosen))
    if weights is None:
        kept = np.arange(len(chosen))
    else:
        hopeful = np.array([any(weight > 0 for weight in row) for row in weights])
        kept = np.flatnonzero(hopeful[chosen])
    texts = [[one.text for one in item.references] for item in study.items]
    references = [texts[place] for place in chosen[kept]]
    rows = None if weights is None else [weights[place] for place in chosen[kept]]
    encoded = metric.encode(references, rows)
    outputs = [rated.outputs[place] for place in kept]
    scores[kept] = metric.statistics(outputs, encoded).segment_scores()
    return scores


def bleu() -> Metric:
    """As in the section on retrieval."""
    return BLEU(order=2, smooth="none", lowercase=True)


def compared_scores(rated: Rated, how: str, said: Said) -> dict[tuple[str, str], Array]:
    """The scores of the metrics that use all references."""
    study, weights = said.study, said.weights()
    even = [[1.0] * len(row) for row in weights]
    return {
        (how, BLEU_ALL): scores_of(bleu(), rated, study),
        (how, UPSILON_BLEU): scores_of(UpsilonBLEU(lowercase=True), rated, study, weights),
        (how, CHRF_ALL): scores_of(UpsilonChrF(lowercase=True), rated, study, even),
        (how, UPSILON_CHRF): scores_of(UpsilonChrF(lowercase=True), rated, study, weights),
    }


def _levels(rated: Rated) -> tuple[Level, ...]:
    several = len(set(rated.systems)) >= SYSTEMS
    return ("pooled", "item", "system") if several else ("pooled", "item")


def tables_of(rated: Rated, level: Level, *columns: Array) -> list[Array]:
    """Scores of single outputs as the level wants them: systems x items."""
    if level != "system":
        return by_item(rated.items, *columns)
    rows = {name: row for row, name in enumerate(dict.fromkeys(rated.systems))}
    places = {name: place for place, name in enumerate(dict.fromkeys(rated.items))}
    cells = [rows[name] for name in rated.systems], [places[name] for name in rated.items]
    made = []
    for values in columns:
        whole = np.full((len(rows), len(places)), np.nan)
        whole[cells] = values
        made.append(whole)
    return made


def agreement_table(rated: Rated, scores: Scores) -> Iterator[str]:
    """The correlation of each metric with people, at each level."""
    heading = ["references", "metric"]
    for level in _levels(rated):
        for method in METHODS:
            heading.append(f"{method.capitalize()}, {LEVELS[level]}")
            if level == "pooled" and rated.slots is not None:
                heading += ["max", "min"]
    rows = []
    for (how, name), own in scores.items():
        row = [how, name]
        for level in _levels(rated):
            metric, human = tables_of(rated, level, own, rated.mean)
            for method in METHODS:
                if level == "system":
                    means = metric.mean(axis=1), human.mean(axis=1)
                    row.append(str(of_systems(*means, method)))
                else:
                    row.append(str(of_outputs(metric, human, method, level)))
                if level == "pooled" and rated.slots is not None:
                    each = [float(correlate(own, slot, method)) for slot in rated.slots.T]
                    row += [f"{max(each):.3f}", f"{min(each):.3f}"]
        rows.append(row)
    yield from table(heading, rows)
    yield ""


Key = tuple[str, str]


def difference_table(rated: Rated, scores: Scores) -> Iterator[str]:
    """How much better than BLEU with all references the rated metrics agree."""
    pairs = [
        ((how, name), (how, BLEU_ALL))
        for how in dict.fromkeys(how for how, name in scores if name == BLEU_ALL)
        for name in (UPSILON_BLEU, UPSILON_CHRF)
    ]
    heading = ["references", "level", "metric"]
    for method in METHODS:
        heading += [f"{method.capitalize()}, difference", "p"]
    rows = []
    for how in dict.fromkeys(how for (how, _), _ in pairs):
        for level in _levels(rated):
            for first, second in (pair for pair in pairs if pair[0][0] == how):
                cells = _difference(rated, scores, level, first, second)
                rows.append([how, LEVELS[level], first[1], *cells])
    yield from table(heading, rows)
    yield ""


def differences(rated: Rated, scores: Scores, pairs: Sequence[tuple[Key, Key]]) -> Iterator[str]:
    """How much better the first of two metrics agrees than the second, output by output."""
    heading = ["metric", "against", "level"]
    for method in METHODS:
        heading += [f"{method.capitalize()}, difference", "p"]
    known = [pair for pair in pairs if pair[0] in scores and pair[1] in scores]
    levels: tuple[Level, ...] = ("pooled", "item")
    rows = []
    for first, second in known:
        for level in levels:
            cells = _difference(rated, scores, level, first, second)
            rows.append([_titled(first), _titled(second), LEVELS[level], *cells])
    yield from table(heading, rows)
    yield ""


def _titled(key: Key) -> str:
    how, name = key
    return name if how in ("none", "original") else f"{name} ({how})"


def _difference(rated: Rated, scores: Scores, level: Level, first: Key, second: Key) -> list[str]:
    tables = tables_of(rated, level, scores[first], scores[second], rated.mean)
    cells = []
    for method in METHODS:
        options: dict[str, Any] = {"method": method, "level": level, "seed": SEED}
        options["resamples"] = RESAMPLES
        drawn = bootstrap_difference(*tables, resample="items", **options)
        cells.append(with_interval(drawn.difference, drawn.interval))
        cells.append(p_value(permutation_test(*tables, **options).p_value))
    return cells
