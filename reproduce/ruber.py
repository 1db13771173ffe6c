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

from deltableu import UpsilonBLEU
from deltableu.corpus import Item, Reference, ReferenceSet, Study, reference_set
from deltableu.judges import (
    RUBER,
    Range,
    RuberReferenced,
    RuberUnreferenced,
    blended,
    ruber_preset,
    train_ruber,
)
from deltableu.judges.model_file import RaterModel, read_model, write_model
from deltableu.judges.settings import preset
from deltableu.mine import Embedding, MiningPlan, WordAverages, mine_references
from deltableu.score import Metric
from deltableu.stats import correlate
from deltableu.text import WordVectors
from deltableu.vectors import train_vectors
from reproduce.dialogue_items import dstc7_items, grade_items, multirefeval_items, only_originals
from reproduce.dialogue_logs import write_pairs
from reproduce.layout import table
from reproduce.rated_outputs import Rated, rated_dstc7, rated_grade, rated_multirefeval
from reproduce.rated_sets import read_judged_responses
from reproduce.rater_models import (
    EPOCHS,
    POSITIVES,
    RATERS,
    evaluated_turns,
    train_models,
    write_positives,
    write_unjudged,
)
from reproduce.retrieval import DIMENSION, SEED
from reproduce.retrieval import EPOCHS as GLOVE_EPOCHS
from reproduce.upsilon import MODELS
from reproduce.upsilon_ablations import MAIN
from reproduce.upsilon_scores import (
    BLEU_ALL,
    BLEU_ONE,
    METHODS,
    UPSILON_BLEU,
    Said,
    agreement_table,
    bleu,
    differences,
    scores_of,
)

__all__ = ["EXAMPLES", "quick_judges", "section"]

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
place of the referenced scorer; upsilon-BLEU is that of the section above (rater {main}, 15 mined
references, by the cosine of utterances). Where single ratings are known, *one rating* is how one
goes with the mean of the others, output by output: what a metric that is as good as a rater would
reach. A difference is that of two metrics' correlations, with a bootstrap interval over items; p is
two-sided by PERM-BOTH. On held-out pairs:
"""

#: Written by hand after a run; the tables below are what it speaks of.
FINDINGS = """\
What comes out: telling the reply to a message from a random one, which the scorer does well (91%
of held-out pairs), is little of what people judge. Pooled over outputs the unreferenced scorer
agrees with them on GRADE's DailyDialog and ConvAI2 and on FED (Spearman .18 to .23), not on
EmpatheticDialogues, and it goes the wrong way on multirefeval (-.11). Within items hardly anything
is left of it. The referenced scorer is worse than BLEU with one reference on multirefeval and
GRADE's DailyDialog, as Tsuta et al. (2020) found on tweets, and better on DSTC7.

RUBER with upsilon-BLEU is above RUBER on all four sets, as published, surely on two (by .13 on
multirefeval and .21 on GRADE's DailyDialog, where its .30 is the best of all). Against upsilon-BLEU
alone it gains .11 there, loses as much on multirefeval, where the unreferenced scorer misleads, and
changes nothing surely elsewhere. Thirteen tests or so a set are not corrected for their number.
People agree little themselves on GRADE: one rating goes with the mean of seven others by .20, .24
and .06, which is about what the better metrics reach; on FED by .39, twice the scorer's.
"""

PLANS = [one for one in RATERS if one.name == MAIN]

#: Whose difference is tested: metrics with their references.
MINED = "utterance, cosine"
BLENDED = "RUBER + upsilon-BLEU"
PAIRS = (
    (("original", "RUBER"), ("original", BLEU_ONE)),
    (("original", "RUBER"), ("original", "RUBER referenced")),
    (("original", "RUBER"), ("none", "RUBER unreferenced")),
    ((MINED, BLENDED), (MINED, UPSILON_BLEU)),
    ((MINED, BLENDED), ("original", "RUBER")),
    ((MINED, BLENDED), ("none", "RUBER unreferenced")),
    ((MINED, UPSILON_BLEU), ("original", BLEU_ONE)),
)


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        write_pairs(data, logs)
        vectors = train_vectors(str(logs), dimension=DIMENSION, epochs=GLOVE_EPOCHS, seed=SEED)
        by_cosine = Embedding(WordAverages(vectors), "utterance")
        mined = {
            name: mine_references(study, str(logs), plan=MiningPlan(by_cosine, parrot=True)).study
            for name, study in (
                ("multirefeval", only_originals(multirefeval_items(data))),
                ("grade", only_originals(grade_items(data))),
            )
        }
        learnt = write_learnt(data, logs)
        model = trained_scorer(learnt, MODELS)
        rater = train_models(learnt, MODELS, plans=PLANS)[MAIN]
    said = {name: Said.of(rater, study) for name, study in mined.items()}
    return "\n".join(page(data, model, vectors, said))


def write_learnt(data: Path, logs: Path) -> Path:
    """Logs to learn from, without what judges are judged on; a folder in that of all logs."""
    judged = evaluated_turns(data)
    learnt = logs / "learnt"
    learnt.mkdir()
    write_unjudged(logs, learnt, judged)
    write_positives(data, learnt / POSITIVES, judged)
    return learnt


def quick_judges(data: Path, logs: Path) -> tuple[RaterModel, RaterModel]:
    """The rater of upsilon-BLEU, trained on as few examples as RUBER's scorer; and that scorer."""
    learnt = write_learnt(data, logs)
    how = replace(preset("small")[1], epochs=EPOCHS, examples=EXAMPLES)
    rater = train_models(learnt, MODELS, plans=PLANS, training=how)[MAIN]
    return rater, trained_scorer(learnt, MODELS)


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


def page(
    data: Path, model: RaterModel, vectors: WordVectors, said: Mapping[str, Said]
) -> Iterator[str]:
    """The lines of the section."""
    yield ABOUT.format(examples=EXAMPLES, main=MAIN)
    yield from quality(model.card)
    yield FINDINGS
    sets = {**rated_multirefeval(data), **rated_grade(data, grade_items(data).items)}
    studies = {title: grade_items(data) for title in sets}
    studies["multirefeval"] = multirefeval_items(data)
    for title, of_set in sets.items():
        yield from _titled(title, of_set)
        # Who gave which rating is not known, so that there are no annotators to correlate with.
        rated = replace(of_set, slots=None)
        scores = ruber_scores(rated, studies[title], model, vectors)
        own = said["grade" if "GRADE" in title else title]
        scores |= with_upsilon(rated, own, scores["none", "RUBER unreferenced"])
        yield from agreement_table(rated, scores)
        yield from ("Differences:", "")
        yield from differences(rated, scores, PAIRS)
    (rated,) = rated_dstc7(data).values()
    yield from _titled("DSTC7", replace(rated, slots=_judges(data, rated)))
    yield from agreement_table(rated, ruber_scores(rated, dstc7_items(data), None, vectors))
    rated, study = rated_fed(data)
    yield from _titled("FED", rated)
    rated = replace(rated, slots=None)
    unreferenced = RuberUnreferenced(model=model)
    found = {("none", "RUBER unreferenced"): segments(unreferenced, rated, study)}
    yield from agreement_table(rated, found)


def with_upsilon(rated: Rated, said: Said, unreferenced: Array) -> dict[tuple[str, str], Array]:
    """upsilon-BLEU on mined references, BLEU on the same, and RUBER with upsilon-BLEU."""
    upsilon = scores_of(UpsilonBLEU(lowercase=True), rated, said.study, said.weights())
    ends = [Range.of(one).normalise(one) for one in (upsilon, unreferenced)]
    return {
        (MINED, BLEU_ALL): scores_of(bleu(), rated, said.study),
        (MINED, UPSILON_BLEU): upsilon,
        (MINED, BLENDED): blended(ends[0], ends[1]),
    }


def _judges(data: Path, rated: Rated) -> Array:
    """The first three ratings of each output of DSTC7."""
    given: dict[tuple[str, str], list[float]] = {}
    for _, item, system, value in read_judged_responses(data)[3]:
        given.setdefault((system, item), []).append(value)
    keys = zip(rated.systems, rated.items, strict=True)
    return np.array([given[key][:3] for key in keys])


def one_against_others(slots: Array) -> str:
    """How one rating goes with the mean of the others, averaged over which one it is."""
    size = slots.shape[1]
    found = []
    for method in METHODS:
        values = []
        for place in range(size):
            others = np.delete(slots, place, axis=1).mean(axis=1)
            values.append(float(correlate(slots[:, place], others, method)))
        found.append(f"{method.capitalize()} {np.mean(values):.3f}")
    return f"One rating with the mean of the {size - 1} others: {', '.join(found)}."


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
    items, outputs, systems = [], [], []
    ratings: list[list[int]] = []
    for number, row in enumerate(rows):
        given = [one for one in row["annotations"].get(OVERALL, ()) if isinstance(one, int)]
        if len(given) < RATINGS:
            continue
        *turns, message = (turn.split(":", 1)[1].strip() for turn in row["context"].split("\n"))
        # A study has a reference for every item; the scorer does not look at it.
        items.append(Item(f"fed-{number}", (Reference("r0", "none"),), tuple(turns), message))
        outputs.append(row["response"].split(":", 1)[1].strip())
        ratings.append(given[:RATINGS])
        systems.append(row["system"])
    slots = np.array(ratings, dtype=np.float64)
    rated = Rated([one.id for one in items], outputs, slots.mean(axis=1), slots, systems)
    return rated, Study(tuple(items))


def _titled(title: str, rated: Rated) -> Iterator[str]:
    yield from (f"#### {title}", "")
    yield f"{len(rated.outputs):,} outputs, {len(set(rated.items)):,} items."
    if rated.slots is not None:
        yield one_against_others(rated.slots)
    yield ""
