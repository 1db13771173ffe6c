"""BLEU-2 with references from each way of retrieval, in the layout of upsilon-BLEU's Table 2."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np

from deltableu import BLEU
from deltableu.corpus.types import Study
from deltableu.mine import (
    BM25,
    Embedding,
    MiningPlan,
    PairSimilarity,
    WordAverages,
    mine_references,
)
from deltableu.stats.correlation import Method, correlate
from deltableu.vectors import train_vectors
from reproduce.agreement_cells import Agreed, by_item, of_outputs
from reproduce.dialogue_items import grade_items, multirefeval_items, only_originals
from reproduce.dialogue_logs import write_pairs
from reproduce.layout import table
from reproduce.rated_outputs import Rated, rated_grade, rated_multirefeval

__all__ = ["section"]

Array = np.ndarray[Any, np.dtype[np.float64]]
METHODS: tuple[Method, ...] = ("spearman", "pearson")
DIMENSION, EPOCHS, SEED = 100, 15, 0

ABOUT = """\
## References by retrieval (upsilon-BLEU, Table 2)

Tsuta et al. (2020) compare ways to find references for BLEU-2 of single outputs (unsmoothed), by
its correlation with people. The same here on public English sets, with 710,783 pairs of five
public logs in place of 16 million Japanese tweets: the original response, the 15 responses that a
method mined, and the message itself (the parrot). Texts are lower-cased and cut by 13a. Cosine is
of averaged GloVe vectors ({dimension} dimensions, {epochs} epochs) that `train_vectors` made of
the same logs. *Both* is the damped product. Intervals are 95%: bootstrap percentiles over items.

GRADE gives 8 to 11 ratings an output, but does not say whose: *max* and *min* are over the first
eight of the list, which are ratings of many people, not eight annotators. The published figures
are over six annotators. multirefeval has means only. Its last line has the three further
references that people wrote, in place of mined ones.

What comes out is not what was published. Mined references help clearly on one set (ConvAI2), and
there words do it as well as vectors; on the others no way of retrieval differs from one reference
by more than its interval. On DailyDialog, three references that people wrote help, where fifteen
mined ones do not. The logs are small and of other domains (films, bookings), so that the nearest
utterance is often not near; and references are all worth the same here, however wrong.
"""

PUBLISHED = {
    "one reference": (".186", ".091", ".276", ".190"),
    "both, BM25": (".257", ".138", ".298", ".173"),
    "utterance, BM25": (".265", ".136", ".296", ".178"),
    "both, cosine": (".280", ".148", ".322", ".177"),
    "utterance, cosine": (".333", ".181", ".366", ".209"),
}


def _references(study: Study) -> dict[str, list[str]]:
    return {item.id: [one.text for one in item.references] for item in study.items}


def _bleu(rated: Rated, references: dict[str, list[str]]) -> Array:
    metric = BLEU(order=2, smooth="none", lowercase=True)
    encoded = metric.encode([references[item] for item in rated.items])
    return np.asarray(metric.statistics(rated.outputs, encoded).segment_scores())


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    written = multirefeval_items(data)
    studies = {
        "multirefeval": only_originals(written),
        "grade": only_originals(grade_items(data)),
    }
    sets = {
        "multirefeval": rated_multirefeval(data),
        "grade": rated_grade(data, studies["grade"].items),
    }
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        write_pairs(data, logs)
        vectors = WordAverages(
            train_vectors(str(logs), dimension=DIMENSION, epochs=EPOCHS, seed=SEED)
        )
        similarities: dict[str, PairSimilarity] = {
            "both, BM25": BM25("both"),
            "utterance, BM25": BM25("utterance"),
            "both, cosine": Embedding(vectors, "both"),
            "utterance, cosine": Embedding(vectors, "utterance"),
        }
        references: dict[str, dict[str, dict[str, list[str]]]] = {}
        for name, study in studies.items():
            references[name] = {"one reference": _references(study)}
            for how, similarity in similarities.items():
                plan = MiningPlan(similarity, parrot=True)
                mined = mine_references(study, str(logs), plan=plan).study
                references[name][how] = _references(mined)
    references["multirefeval"]["written by people"] = _references(written)
    lines = [ABOUT.format(dimension=DIMENSION, epochs=EPOCHS)]
    lines += _published()
    for name, rated_sets in sets.items():
        for title, rated in rated_sets.items():
            lines += _table(title, rated, references[name])
    return "\n".join(lines)


def _published() -> Iterable[str]:
    yield from ("Published (Japanese tweets, 300 outputs, six annotators):", "")
    heading = ["references", "Spearman max", "min", "Pearson max", "min"]
    yield from table(heading, [[how, *figures] for how, figures in PUBLISHED.items()])
    yield ""


def _table(title: str, rated: Rated, references: dict[str, dict[str, list[str]]]) -> Iterable[str]:
    yield from (f"### {title}", "")
    yield from (f"{len(rated.outputs)} outputs, {len(set(rated.items))} items.", "")
    heading = ["references"]
    for method in METHODS:
        heading.append(f"{method.capitalize()}, mean rating")
        if rated.slots is not None:
            heading += ["max", "min"]
    rows = []
    for how, known in references.items():
        scores = _bleu(rated, known)
        row = [how]
        for method in METHODS:
            metric, human = by_item(rated.items, scores, rated.mean)
            agreed: Agreed = of_outputs(metric, human, method)
            row.append(str(agreed))
            if rated.slots is not None:
                each = [float(correlate(scores, slot, method)) for slot in rated.slots.T]
                row += [f"{max(each):.3f}", f"{min(each):.3f}"]
        rows.append(row)
    yield from table(heading, rows)
    yield ""
