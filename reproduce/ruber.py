"""RUBER on public sets: the scorer of replies trained on logs, both scorers, and their blend."""

from __future__ import annotations

import gzip
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from deltableu.corpus import Item, Reference, ReferenceSet, Study, reference_set
from deltableu.judges import RUBER, RuberReferenced, RuberUnreferenced, ruber_preset, train_ruber
from deltableu.judges.model_file import RaterModel, read_model, write_model
from deltableu.score import Metric
from deltableu.text import WordVectors
from deltableu.vectors import train_vectors
from reproduce.dialogue_items import dstc7_items, grade_items, multirefeval_items
from reproduce.dialogue_logs import write_pairs
from reproduce.layout import table
from reproduce.rated_outputs import Rated, rated_dstc7, rated_grade, rated_multirefeval
from reproduce.rater_models import POSITIVES, evaluated_turns, write_positives, write_unjudged
from reproduce.retrieval import DIMENSION, SEED
from reproduce.retrieval import EPOCHS as GLOVE_EPOCHS
from reproduce.upsilon import MODELS
from reproduce.upsilon_scores import BLEU_ALL, BLEU_ONE, agreement_table, bleu

__all__ = ["section"]

Array = np.ndarray[Any, np.dtype[np.float64]]

#: Pairs per epoch, so that training takes minutes and the same ones on any machine.
EXAMPLES = 30_000
#: The last digits of a model depend on it.
THREADS = 1
#: Ratings that every output of FED has; the quality that asks for the whole.
RATINGS, OVERALL = 5, "Overall"

ABOUT = """\
## RUBER: a scorer of replies trained on logs

The unreferenced scorer (preset `small`, {examples:,} pairs per epoch) learned from the five logs
of the section on retrieval and from DailyDialog++, without the messages of multirefeval and GRADE;
word vectors are GloVe's, trained on the same logs. Ranges are those of all outputs of a set, and
the blend is the arithmetic mean. DSTC7 gives no turns before the reply, so it has no unreferenced
rows; FED has no references, so it has no others. Rows of RUBER with another metric have that in
place of the referenced scorer. On held-out pairs:
"""

#: Written by hand after a run; the tables below are what it speaks of.
FINDINGS = """\
What comes out: telling the reply to a message from a random one, which the scorer does well (91%
of held-out pairs), is little of what people judge. Pooled over outputs the unreferenced scorer
agrees with them on GRADE's DailyDialog and ConvAI2 and on FED (Spearman .18 to .23), not on
EmpatheticDialogues, and it goes the wrong way on multirefeval (-.11). Within items hardly anything
is left of it. The referenced scorer is worse than BLEU with one reference on multirefeval and
GRADE's DailyDialog, as Tsuta et al. (2020) found on tweets, and better on DSTC7. As there, RUBER
gains where BLEU takes its place: on GRADE's DailyDialog from .08 to .26, above either of its parts.
RUBER with upsilon-BLEU, and tests of the differences, are not in these tables.
"""


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        write_pairs(data, logs)
        vectors = train_vectors(str(logs), dimension=DIMENSION, epochs=GLOVE_EPOCHS, seed=SEED)
        judged = evaluated_turns(data)
        learnt = logs / "learnt"
        learnt.mkdir()
        write_unjudged(logs, learnt, judged)
        write_positives(data, learnt / POSITIVES, judged)
        model = trained_scorer(learnt, MODELS)
    return "\n".join(page(data, model, vectors))


def trained_scorer(logs: Path, folder: Path) -> RaterModel:
    """The model, which is trained only where its file is not there."""
    path = folder / f"ruber-{EXAMPLES}.safetensors"
    if path.exists():
        return read_model(path)
    shape, how = ruber_preset("small")
    how = replace(how, examples=EXAMPLES, seed=SEED)
    made = train_ruber(str(logs), settings=shape, training=how, threads=THREADS)
    folder.mkdir(parents=True, exist_ok=True)
    return write_model(path, made.settings, made.vocabulary, made.state, made.card)


def page(data: Path, model: RaterModel, vectors: WordVectors) -> Iterator[str]:
    """The lines of the section."""
    yield ABOUT.format(examples=EXAMPLES)
    yield from quality(model.card)
    yield FINDINGS
    sets = {**rated_multirefeval(data), **rated_grade(data, grade_items(data).items)}
    studies = {title: grade_items(data) for title in sets}
    studies["multirefeval"] = multirefeval_items(data)
    for title, of_set in sets.items():
        rated = replace(of_set, slots=None)  # who gave which rating is not known
        yield from _titled(title, rated)
        yield from agreement_table(rated, ruber_scores(rated, studies[title], model, vectors))
    (rated,) = rated_dstc7(data).values()
    yield from _titled("DSTC7", rated)
    yield from agreement_table(rated, ruber_scores(rated, dstc7_items(data), None, vectors))
    rated, study = rated_fed(data)
    yield from _titled("FED", rated)
    unreferenced = RuberUnreferenced(model=model)
    scores = {("none", "RUBER unreferenced"): segments(unreferenced, rated, study)}
    yield from agreement_table(rated, scores)


def quality(card: Mapping[str, Any]) -> Iterator[str]:
    """How well held-out replies are told from sampled ones."""
    names = ("examples", "accuracy", "area under curve", "accuracy of word overlap")
    known = card["held out"]
    cells = [f"{known[name]:,}" if name == "examples" else f"{known[name]:.3f}" for name in names]
    yield from table(names, [cells])
    yield ""


def ruber_scores(
    rated: Rated, study: Study, model: RaterModel | None, vectors: WordVectors
) -> dict[tuple[str, str], Array]:
    """Scores of single outputs, by references and metric."""
    known: dict[tuple[str, str], Metric] = {
        ("original", BLEU_ONE): bleu(),
        ("original", "RUBER referenced"): RuberReferenced(vectors=vectors),
    }
    several = any(len(item.references) > 1 for item in study.items)
    if several:
        known["written by people", BLEU_ALL] = bleu()
    if model is not None:
        known["none", "RUBER unreferenced"] = RuberUnreferenced(model=model)
        known["original", "RUBER"] = RUBER(model=model, vectors=vectors)
        known["original", "RUBER + BLEU-2"] = RUBER(model=model, referenced=bleu())
        if several:
            known["written by people", "RUBER + BLEU-2"] = RUBER(model=model, referenced=bleu())
    return {
        (how, name): segments(metric, rated, study, alone=how == "original")
        for (how, name), metric in known.items()
    }


def segments(metric: Metric, rated: Rated, study: Study, *, alone: bool = False) -> Array:
    """One score per output, all outputs of a set together."""
    by_id = {item.id: item for item in study.items}
    chosen = [by_id[item] for item in rated.items]
    references: ReferenceSet = reference_set(chosen, "single" if alone else "all")
    scores: Array = metric.compute(rated.outputs, references).segment_scores()
    return scores


def rated_fed(data: Path) -> tuple[Rated, Study]:
    """Mehri and Eskenazi 2020: the turns, with the message before each and no reference."""
    with gzip.open(data / "fed" / "fed_data.json.gz", "rt", encoding="utf-8") as file:
        rows = [row for row in json.load(file) if "response" in row]
    items, outputs, ratings, systems = [], [], [], []
    for number, row in enumerate(rows):
        given = [one for one in row["annotations"].get(OVERALL, ()) if isinstance(one, int)]
        if not given:
            continue
        *turns, message = (turn.split(":", 1)[1].strip() for turn in row["context"].split("\n"))
        # A study has a reference for every item; the scorer does not look at it.
        items.append(Item(f"fed-{number}", (Reference("r0", "none"),), tuple(turns), message))
        outputs.append(row["response"].split(":", 1)[1].strip())
        ratings.append(float(np.mean(given)))
        systems.append(row["system"])
    rated = Rated([one.id for one in items], outputs, np.array(ratings), None, systems)
    return rated, Study(tuple(items))


def _titled(title: str, rated: Rated) -> Iterator[str]:
    yield from (f"#### {title}", "")
    yield from (f"{len(rated.outputs):,} outputs, {len(set(rated.items)):,} items.", "")
