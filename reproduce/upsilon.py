"""upsilon-BLEU end to end: raters trained on logs, mined references rated, people asked."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from deltableu.corpus.types import Study
from deltableu.judges.model_file import RaterModel
from deltableu.mine import (
    BM25,
    Embedding,
    MiningPlan,
    PairSimilarity,
    WordAverages,
    mine_references,
)
from deltableu.vectors import train_vectors
from reproduce.dialogue_items import dstc7_items, grade_items, multirefeval_items, only_originals
from reproduce.dialogue_logs import write_pairs
from reproduce.rated_outputs import Rated, rated_dstc7, rated_grade, rated_multirefeval
from reproduce.rater_models import (
    EPOCHS,
    POSITIVES,
    LeftOut,
    card_tables,
    evaluated_turns,
    train_models,
    write_positives,
    write_unjudged,
)
from reproduce.response_ratings import read_candidates, response_table
from reproduce.retrieval import DIMENSION, SEED
from reproduce.retrieval import EPOCHS as GLOVE_EPOCHS
from reproduce.upsilon_ablations import MAIN, SHUFFLES, ablation_tables, weight_table
from reproduce.upsilon_scores import (
    BLEU_ONE,
    Said,
    agreement_table,
    bleu,
    compared_scores,
    difference_table,
    scores_of,
)

__all__ = ["FINDINGS", "section"]

#: Models stay here, so that a second run need not train them.
MODELS = Path(__file__).parents[1] / "out" / "reproduce"

ABOUT = """\
## upsilon-BLEU: references rated by a network

Tsuta et al. (2020) let a network rate mined references and give its ratings to delta-BLEU as
weights. Here is all of it on public English data. The rater is the preset `small`, {epochs} epochs;
the parameters with the least loss on held-out utterances are kept.
"""

#: Written by hand after a run; the tables below are what it speaks of.
FINDINGS = """\
What comes out: the raters learn what they are taught, and upsilon-BLEU does not beat
multi-reference BLEU on any of these sets. Pooled over outputs the difference lies between -.08 and
+.05 and its interval holds 0, but for ConvAI2 with BM25 and DSTC7, where upsilon-BLEU is worse.
upsilon-chrF mends chrF++ on the two sets of DailyDialog (with the same references, Spearman from
-.01 to .22 and from -.18 to .14) and spoils it on ConvAI2 (.29 to .06). The published gain is not
repeated here; the paper had 16 million pairs to mine and 5.6 million examples of the domain that
was judged.

Why, as far as the tables below tell:

- *Retrieval.* With three references that people wrote, BLEU-2 reaches .21 on multirefeval; with
  fifteen mined ones .13 to .14, which upsilon-BLEU does not lift (.12 to .14). About half of what
  is mined is rated below 0.
- *The rater.* It is right in 91 to 96% of held-out examples, where word overlap is right in 71 to
  72%. On DailyDialog++, which is closer to the job, a rater that never saw such responses is about
  as good as word overlap; with 37,170 of them in training it is clearly better. The negative
  examples of the paper give the best accuracy (*c*) and the worst AUC there: presumably since
  utterances that recur can be told from those that do not. Hence `matched` negatives are the
  default. Parrots are mostly rated as good answers: the rater asks whether two texts are of a
  kind.
- *The weights.* Given to the other references of the same item at random, they do upsilon-BLEU as
  much good (more in 9 of 16 cells): what it gains over BLEU, where it does, is that the original
  counts most. For upsilon-chrF they matter: Spearman is above that of shuffled weights on all four
  sets in both ways of retrieval.
- *The clamp.* The geometric mean is 0 where an order has no positive sum. The arithmetic mean
  without negative weights is above upsilon-BLEU in 15 of 16 cells, but the arithmetic mean alone,
  without a rater, does much of that.
- *Negative weights* cost most where the logs are of another domain (ConvAI2, upsilon-chrF: .06
  with them, .30 without). *Scale* (p or 2p - 1) and the weight of the original hardly matter. The
  first triplet alone tells good from bad responses better than the maximum of both, and is about
  as good elsewhere.

So: look at `judge show` and at references that people rated before trusting such weights, train on
the domain that is judged, and try `--combine arithmetic`. But for DSTC7, all this rests on a few
hundred outputs a set, and hardly a difference would survive a correction for their number.
"""

RATERS = """\
### The raters

*a* learns from the five logs of the section on retrieval. *b* also from DailyDialog++ (Sai et al.
2020, the good responses): the last turn of a context with each of its five responses, {pairs:,}
pairs. Whatever has the words of a message of multirefeval or GRADE, or of a last turn of
DailyDialog++ dev, which all serve to judge raters below, was left out as an utterance: {rows:,}
pairs of the five logs, and {left_out} of {contexts:,} contexts of DailyDialog++. *c* learns from
the same as *b*, but its negative examples are two random pairs of the logs, as in the paper; those
of *a* and *b* are pairs whose utterances both have several responses.

Held out are utterances with all their responses. Accuracy and AUC are of the rule *max*. *Word
overlap* is what a rater has to beat: logistic regression on the TF-IDF cosines of R1 and R2, of U1
and R2, and of U2 and R1. Figures of *c* are of examples of its own kind.
"""

CALIBRATION = """\
Calibration on the same examples: what the rater says (the probability that two pairs belong
together), and how many do.
"""

RESPONSES = """\
### Good and bad responses (DailyDialog++ dev)

{contexts:,} contexts. U1 is the last turn and R1 the first good response; the other four good ones,
five random and five adversarial ones (which share words with the context) are rated as responses
to U1, so that the rater cannot tell by their utterance. AUC over all contexts: how often a good
response gets a larger weight than a bad one, with a 95% bootstrap interval over contexts. Below
stands plain similarity to R1 on the same responses.
"""

PEOPLE = """\
### Agreement with people

References are the original response, 15 mined from the five logs and the message (parrot). Metrics
score single outputs: BLEU-2 (unsmoothed) with one reference and with all; upsilon-BLEU with the
weights of rater {main} (rule max, 2p - 1, original at 1); chrF++ with all references (the mean);
upsilon-chrF, the mean of w * chrF++ over good references less that over bad ones. All is
lower-cased. *All outputs* pools outputs, *within items* correlates the outputs of each item and
averages, items on which a metric says nothing counting 0, *systems* correlates mean scores.
Intervals are 95%: bootstrap percentiles over items, for systems by formula. A difference is that to
BLEU-2 with the same references, with a bootstrap interval over items; p is two-sided by PERM-BOTH.
Both speak of these systems on other items.

GRADE has outputs of two to four systems a corpus, too few to correlate systems. Its *max* and *min*
are over the first eight ratings of an output, which are of many people, not of eight annotators.
"""

DSTC7 = """\
Reddit (DSTC7 task 2). What was said before is not given: the text that responses were to draw on
stands for the message, which is not what the rater was trained for. The original is what a person
replied; the written references are the replies that were collected, among which it mostly is again.
Nothing is mined. There are 317 judges with few ratings each, so that there is no correlation with
single annotators.
"""

WEIGHTS = """\
### What the raters say of references

The share that gets a weight above 0, and the mean weight (max, 2p - 1). Original references are
rated here too, as an answer like themselves.
"""

ABLATIONS = """\
### What does what

All outputs pooled. Each line changes one thing of upsilon-BLEU (rater {main}, rule max, 2p - 1,
original at 1, geometric mean that is 0 where a precision is not positive), or of upsilon-chrF.
*Shuffled* weights are those of the same item, given to its references other than the original at
random (mean correlation of {shuffles} shuffles): what remains is not the rater's doing. Where the
original is rated and an item is left without a reference of positive weight, its outputs score 0.
"""


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    with tempfile.TemporaryDirectory() as folder:
        logs = Path(folder)
        write_pairs(data, logs)
        studies = mined_studies(data, logs)
        judged = evaluated_turns(data)
        learnt = logs / "learnt"
        learnt.mkdir()
        unseen = write_unjudged(logs, learnt, judged)
        left_out = write_positives(data, learnt / POSITIVES, judged)
        models = train_models(learnt, MODELS)
    return "\n".join(page(data, studies, models, unseen, left_out))


def mined_studies(data: Path, logs: Path) -> dict[str, dict[str, Study]]:
    """Studies with mined references, by way of retrieval and set."""
    plain = {
        "multirefeval": only_originals(multirefeval_items(data)),
        "grade": only_originals(grade_items(data)),
    }
    vectors = train_vectors(str(logs), dimension=DIMENSION, epochs=GLOVE_EPOCHS, seed=SEED)
    similarities: dict[str, PairSimilarity] = {
        "utterance, cosine": Embedding(WordAverages(vectors), "utterance"),
        "utterance, BM25": BM25("utterance"),
    }
    return {
        how: {
            name: mine_references(study, str(logs), plan=MiningPlan(similarity, parrot=True)).study
            for name, study in plain.items()
        }
        for how, similarity in similarities.items()
    }


def page(
    data: Path,
    studies: Mapping[str, Mapping[str, Study]],
    models: Mapping[str, RaterModel],
    unseen: int,
    left_out: LeftOut,
) -> Iterator[str]:
    """The lines of the section."""
    yield ABOUT.format(epochs=EPOCHS)
    yield FINDINGS
    yield RATERS.format(
        pairs=left_out.pairs,
        left_out=left_out.contexts,
        contexts=left_out.of,
        rows=unseen,
    )
    yield from card_tables(models, CALIBRATION)
    candidates = read_candidates(data)
    yield RESPONSES.format(contexts=len(candidates.study.items))
    yield from response_table(candidates, models)
    sets = {**rated_multirefeval(data), **rated_grade(data, grade_items(data).items)}
    said = {
        how: {
            name: {key: Said.of(model, study) for key, model in models.items()}
            for name, study in own.items()
        }
        for how, own in studies.items()
    }
    mined = {
        how: {title: own["grade" if "GRADE" in title else title] for title in sets}
        for how, own in said.items()
    }
    others = {
        "multirefeval": Said.of(models[MAIN], multirefeval_items(data)),
        "dstc7": Said.of(models[MAIN], dstc7_items(data)),
    }
    yield PEOPLE.format(main=MAIN)
    for title, rated in sets.items():
        of_set = {how: own[title][MAIN] for how, own in mined.items()}
        if title in others:
            of_set["written by people"] = others[title]
        yield from agreement(title, rated, of_set)
    (rated,) = rated_dstc7(data).values()
    yield from agreement("DSTC7", rated, {"collected": others["dstc7"]}, DSTC7)
    yield WEIGHTS
    yield from weight_table(sets, mined)
    yield ABLATIONS.format(main=MAIN, shuffles=SHUFFLES)
    yield from ablation_tables(sets, mined)


def agreement(
    title: str, rated: Rated, of_set: Mapping[str, Said], about: str = ""
) -> Iterator[str]:
    """Both tables of a set, for each kind of references."""
    yield from (f"#### {title}", "")
    if about:
        yield about
    yield from (f"{len(rated.outputs):,} outputs, {len(set(rated.items)):,} items.", "")
    study = next(iter(of_set.values())).study
    scores = {("original", BLEU_ONE): scores_of(bleu(), rated, only_originals(study))}
    for how, said in of_set.items():
        scores.update(compared_scores(rated, how, said))
    yield from agreement_table(rated, scores)
    yield from ("Difference to BLEU-2 with all references:", "")
    yield from difference_table(rated, scores)
