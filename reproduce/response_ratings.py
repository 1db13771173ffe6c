"""DailyDialog++: does a rater tell good responses from bad ones?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from deltableu.corpus.types import Item, Reference, Study
from deltableu.judges.combination import Triplets
from deltableu.judges.model_file import RaterModel
from deltableu.score.metrics.discriminative import DeltaChrFPlusPlus
from deltableu.text import Texts, WordRule, tf_idf
from reproduce.agreement_cells import RESAMPLES, SEED
from reproduce.layout import table
from reproduce.rater_models import read_rows
from reproduce.upsilon_scores import Said

__all__ = ["Candidates", "area", "read_candidates", "response_table", "tf_idf_cosines"]

Array = np.ndarray[Any, np.dtype[np.float64]]
KINDS = ("random", "adversarial")
RULES: tuple[Triplets, ...] = ("max", "first", "mean")


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """Contexts with responses to tell apart; the first good one is known as the original.

    Attributes
    ----------
    study : Study
        The last turn of each context, and all responses as if given to it.
    places : mapping
        Which references of an item are the other good ones, the random and the adversarial ones.
    """

    study: Study
    places: Mapping[str, slice]

    def of_kind(self, kind: str, scores: Sequence[Sequence[float]]) -> Array:
        """Contexts x responses, from one score a reference."""
        return np.array([row[self.places[kind]] for row in scores])


def read_candidates(data: Path) -> Candidates:
    """Sai et al. 2020, dev."""
    items = []
    for row in read_rows(data / "dailydialogpp" / "dev.jsonl.gz"):
        *context, message = row["context"]
        texts = [
            *row["positive_responses"],
            *row["random_negative_responses"],
            *row["adversarial_negative_responses"],
        ]
        references = tuple(
            Reference(f"r{place}", text, origin="written" if place else "original")
            for place, text in enumerate(texts)
        )
        items.append(Item(str(row["id"]), references, tuple(context), message))
    places = {"good": slice(1, 5), "random": slice(5, 10), "adversarial": slice(10, 15)}
    return Candidates(Study(tuple(items)), places)


def area(good: Array, bad: Array) -> tuple[float, float, float]:
    """How often a good response scores above a bad one of any context, ties counting half.

    Parameters
    ----------
    good, bad : array
        Contexts x responses.

    Returns
    -------
    value, low, high : float
        With a 95% bootstrap interval over contexts.

    Examples
    --------
    >>> area(np.array([[0.9], [0.4]]), np.array([[0.1], [0.4]]))[0]
    0.875
    """
    # Whatever contexts are drawn, pairs of them are won as often.
    won = np.zeros((len(good), len(bad)))
    for column in good.T:
        for other in bad.T:
            ahead = np.sign(column[:, np.newaxis] - other)
            won += (ahead + 1) / 2
    pairs = good.shape[1] * bad.shape[1]
    size = len(good)
    draws = np.random.default_rng(SEED).multinomial(size, np.full(size, 1 / size), RESAMPLES)
    values = ((draws @ won) * draws).sum(axis=1) / (size**2 * pairs)
    low, high = np.quantile(values, (0.025, 0.975))
    return float(won.mean() / pairs), float(low), float(high)


def tf_idf_cosines(study: Study) -> list[list[float]]:
    """The cosine of each reference and the first one of its item, words weighed by rarity."""
    from scipy import sparse

    texts = [one.text for item in study.items for one in item.references]
    found = WordRule().hash(Texts.of(texts))
    words, numbers = np.unique(found.keys, return_inverse=True)
    shape = (len(texts), len(words))
    counts = sparse.csr_array((np.ones(len(numbers)), numbers, found.bounds), shape=shape)
    vectors = tf_idf(counts)
    sizes = [len(item.references) for item in study.items]
    starts = np.cumsum([0, *sizes[:-1]])
    firsts = np.repeat(starts, sizes)
    cosines = np.asarray(vectors.multiply(vectors[firsts]).sum(axis=1)).ravel()
    return [list(map(float, row)) for row in np.split(cosines, starts[1:])]


def chrf_similarities(study: Study) -> list[list[float]]:
    """chrF++ of each reference against the first one of its item, lower-cased."""
    metric = DeltaChrFPlusPlus(lowercase=True)
    hypotheses = [one.text for item in study.items for one in item.references]
    against = [[item.references[0].text] for item in study.items for _ in item.references]
    encoded = metric.encode(against, [[1.0]] * len(against))
    scores = metric.statistics(hypotheses, encoded).segment_scores()
    bounds = np.cumsum([len(item.references) for item in study.items])[:-1]
    return [list(map(float, row)) for row in np.split(np.asarray(scores), bounds)]


def response_table(candidates: Candidates, models: Mapping[str, RaterModel]) -> Iterator[str]:
    """AUC of good against bad responses, for each rater and rule and for plain similarity."""

    def row(name: str, scores: Sequence[Sequence[float]]) -> list[str]:
        good = candidates.of_kind("good", scores)
        cells = []
        for kind in KINDS:
            value, low, high = area(good, candidates.of_kind(kind, scores))
            cells.append(f"{value:.3f} ({low:.3f}, {high:.3f})")
        return [name, *cells]

    rows = []
    for name, model in models.items():
        said = Said.of(model, candidates.study)
        rows += [row(f"rater {name}, {rule}", said.weights(rule)) for rule in RULES]
    rows.append(row("chrF++ with the first good one", chrf_similarities(candidates.study)))
    rows.append(row("TF-IDF cosine with the first good one", tf_idf_cosines(candidates.study)))
    yield from table(["scores", *(f"good against {kind}" for kind in KINDS)], rows)
    yield ""
