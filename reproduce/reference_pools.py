"""Soft pools, relevance and scr on public sets: single outputs that people rated."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from reproduce.layout import NOTHING, table
from reproduce.ruber import EXAMPLES
from reproduce.self_calibrated import (
    BLIND,
    ELSEWHERE,
    MINED_ELSEWHERE,
    OURS,
    relevance_model,
    scores,
)
from reproduce.set_columns import Column, Score
from reproduce.soft import METRICS, SOFT, neutral_table
from reproduce.soft_sets import MINED, SPLITS, Judged, labelled_set, mined_sets, provider_sets

__all__ = ["section"]

#: What both are tested against.
OTHERS = (
    "BLEU-2, smoothed",
    "BLEU-2, arithmetic",
    "chrF++, best reference",
    "delta-BLEU",
    "upsilon-BLEU",
    "RUBER with BLEU-2",
    "length",
)
AGAINST = {
    SOFT: (
        *OTHERS,
        "soft-cosine, shuffled weights",
        "soft-cosine, own original, another item's mined",
        "soft-cosine, another item's references",
    ),
    OURS: (
        *OTHERS,
        SOFT,
        "relevance",
        "scr without relevance",
        "scr, shuffled weights",
        MINED_ELSEWHERE,
        ELSEWHERE,
        BLIND,
    ),
}
#: Spearman (for DailyDialog++ AUC) of a prototype.
PROTOTYPE: Mapping[str, Mapping[str, float]] = {
    "multirefeval": {
        "BLEU-2, unsmoothed": 0.137,
        "BLEU-2, arithmetic": 0.206,
        "chrF++, mean of references": 0.004,
        "length": -0.23,
        SOFT: 0.355,
        "relevance": 0.211,
        OURS: 0.368,
        MINED_ELSEWHERE: 0.258,
    },
    "GRADE, dailydialog": {
        "BLEU-2, unsmoothed": 0.149,
        "BLEU-2, arithmetic": 0.147,
        "chrF++, mean of references": -0.117,
        "length": -0.244,
        SOFT: 0.223,
        "relevance": 0.152,
        OURS: 0.179,
        MINED_ELSEWHERE: 0.166,
    },
    "GRADE, convai2": {
        "BLEU-2, unsmoothed": 0.247,
        "BLEU-2, arithmetic": 0.292,
        "chrF++, mean of references": 0.295,
        "length": 0.015,
        SOFT: 0.351,
        "relevance": 0.382,
        OURS: 0.396,
        MINED_ELSEWHERE: 0.376,
    },
    "GRADE, empatheticdialogues": {
        "BLEU-2, unsmoothed": -0.015,
        "BLEU-2, arithmetic": 0.012,
        "chrF++, mean of references": 0.026,
        "length": -0.035,
        SOFT: 0.091,
        "relevance": 0.185,
        OURS: 0.242,
        MINED_ELSEWHERE: 0.205,
    },
    "DSTC7": {
        "BLEU-2, smoothed": 0.091,
        "chrF++, best reference": 0.125,
        SOFT: 0.199,
        "scr, bad references left out": 0.178,
    },
    "DailyDialog++, random": {"BLEU-2, smoothed": 0.797, OURS: 0.873},
    "DailyDialog++, adversarial": {"BLEU-2, smoothed": 0.849, OURS: 0.701},
    "DailyDialog++, adversarial, negatives": {OURS: 0.905, BLIND: 0.867},
}

ABOUT = """\
## Soft pools, relevance and scr

How scores of single outputs go with what people say: Spearman's correlation over all outputs; for
DailyDialog++ the AUC of good against random or adversarial responses. multirefeval and GRADE have
the original reference and {mined} mined ones (BM25 on the utterance, from the five logs of the
section on retrieval); nobody rated them, so that the original counts .3 and the others share .7,
also in delta-BLEU. DSTC7 is split as in the section on units: Human and four systems lend outputs
as references with people's weights, the other five are judged on the {contexts} contexts where
Human's weight is above 0; means over {splits} choices. DailyDialog++ (`dev`, all {dev:,} contexts)
has four good references of weight 1 and, in the last column, four adversarial ones of weight -1.
BLEU and chrF++ look at all references with a weight above 0. All text is lower-cased. Intervals are
95% percentiles of draws of items; tests are not corrected for their number, and p-values on
DailyDialog++ are of Spearman's correlation with the labels.

The relevance model is of {pairs:,} pairs of the five logs. DSTC7 and DailyDialog++ have no messages
here, so that scr does without it there. scr calibrates itself on the references of each set; where
these have negative weights (DSTC7 and the last column) it learns to tell good references from bad
ones. RUBER's scorer is that of the section above. upsilon-BLEU's rater learns from the same logs as
rater *b* further above, but from {examples:,} examples an epoch, as the scorer does, where *b* sees
all of them: it takes minutes. A dash stands where there is no message.

Controls. *Shuffled weights*: each item's weights go to its references at random, and scr calibrates
after that. *Another item's*: the references of the item half the set away, with or without the own
original; scr is calibrated on the true ones. *Reference-blind*: a regression on how near a text is
to the good and the bad references of other items alone, which learns from the same good and bad
references as scr does and never sees the item's own. *Length* is that of the output.

Selected: tau = .1, the shares, the similarities, C and the numbers of draws were fixed by an
earlier study (the prototype below) on these sets, so that these figures are not of new data. BM25
on the utterance was taken because its figures are those of the prototype, which does not say how it
mined. Of the four ways tried here (utterance, response, both with either product) it is the best
for soft-cosine on multirefeval, ConvAI2 and EmpatheticDialogues; a table below has the default of
`mine`. How `auto` finds a neutral weight (two held out, two standard errors, no item may lose its
last good reference) was settled while looking at DSTC7: its columns here are no test of it. Beyond
that nothing was chosen by looking at the tables.
"""

#: Written by hand after a run; the tables below are what it speaks of.
FINDINGS = """\
### soft-cosine

It has the highest value of all metrics that look at nothing but references on multirefeval,
ConvAI2, EmpatheticDialogues and DSTC7, and for good against random responses. It is surely above
smoothed BLEU **on DSTC7 alone**. On multirefeval it is above by .09, with an interval that just
holds 0; on GRADE's three corpora it is not told from smoothed BLEU, and on its DailyDialog it is
not above it at all. Much of what is wrong with mined BLEU is that it is not smoothed: that alone
costs it .04 to .12. Against adversarial responses, which borrow words of the context, soft-cosine
is surely below smoothed BLEU.

It is the cosine that does it, not the pool: soft-chrf++ is below chrF++ with the best reference on
all sets but one, and soft sentence BLEU below smoothed BLEU on all.

Controls: with mined references it hardly matters which one has which share (the original's .3 may
go to any); on DSTC7, where people gave the weights, it does (.07). With another item's mined
references soft-cosine loses .09 to .14 on three sets (surely on two) and nothing on GRADE's
DailyDialog, where mining adds no more than a background. With none of its item's references it
still reaches .15 to .16 on two sets and .63 against adversarial responses: that much is style and
length. Mining on both fields, as `mine` does unasked, costs it .05 to .11 on three sets.

### relevance and scr

With mined references scr is surely above every form of BLEU, chrF++ and delta-BLEU on multirefeval,
ConvAI2 and EmpatheticDialogues, and surely above none of them on GRADE's DailyDialog, where
smoothed BLEU has a higher value. Of these four sets it is surely above soft-cosine on
EmpatheticDialogues alone. Much of it is relevance: without it scr loses .04 to .10, surely on
ConvAI2 only, and relevance alone, which sees no reference, is level with scr on ConvAI2 and on
GRADE's DailyDialog.

On DSTC7, where there are no messages, bad references spoil it: replies that people rated below the
middle of the scale are not what the replies of other systems should be unlike. Without them scr has
a higher value than BLEU and chrF++ and a lower one than soft-cosine; with them it is level with
chrF++, and surely below soft-cosine.

On DailyDialog++ scr is level with smoothed BLEU for good against random responses, and surely below
it against adversarial ones when there are no negatives. With adversarial negatives it is above all
metrics here. **But that is style.** A score that never sees the item's references, calibrated on
the same labels, is higher still (.945 against .925), and shortness alone reaches .835 (the AUC of
length is .165). Adversarial responses are longer, and written to borrow words of the context; what
tells them apart has little to do with what the item's references say.

Other controls: which of the mined references has which share hardly matters; weights that mean
something do (DSTC7, DailyDialog++ with negatives). With another item's mined references scr loses
.03 to .09 on three sets, surely on two, and nothing on GRADE's DailyDialog. With none of its item's
references it still reaches .13 to .36, about what relevance has alone; and .815 against adversarial
responses with negatives, which is style again.

### upsilon-BLEU and RUBER

upsilon-BLEU has a lower value than smoothed BLEU on the same references on all four sets;
soft-cosine is surely above it on two of them, scr on three. RUBER with BLEU-2 has the highest value
of all on GRADE's DailyDialog (.332): surely above scr, and above soft-cosine by .12, with an
interval that ends just before 0 and p = .058. Its scorer learnt from DailyDialog++ too, which holds
talk of that kind (without the messages that are judged). On the other three sets scr is surely
above it, soft-cosine on multirefeval alone.

### Beside the prototype, and the neutral weight

Where a figure differs from the prototype's by more than .02: the rules of its BLEU on
DailyDialog++, its choice of hypotheses and references there and what its reference-blind score
looked at are not known (this one knows how near a text is to other items' bad references, which is
a close look at style), and its mined references were not kept. On ConvAI2 all metrics with mined
references are a little lower, which speaks for other references. On GRADE's DailyDialog it is not
known which other item's references the prototype took.

On DSTC7 `auto` takes a lower neutral weight for delta-chrF++, which brings it much closer to
people, without any rating of the outputs that are judged. It leaves delta-BLEU and soft-cosine
nearly where they are. delta-BLEU with a signed mean would do better with a lower one too, but
held-out references do not tell: here they are outputs of systems and one person's, and what tells
these apart is not what tells systems apart.
"""


def section(data: Path) -> str:
    """The section of docs/reproductions.md."""
    model = relevance_model(data)
    rows = {**METRICS, **scores(model)}
    # With DSTC7's twelve choices each row counts twelve times.
    few = {name: one for name, one in rows.items() if name not in (MINED_ELSEWHERE, ELSEWHERE)}
    lent = provider_sets(data)
    made = [Column.of("DSTC7", lent, few)]
    for kind, negatives in (("random", "none"), ("adversarial", "none"), ("adversarial",) * 2):
        name = f"DailyDialog++, {kind}" + ("" if negatives == "none" else ", negatives")
        made.append(Column.of(name, [labelled_set(data, kind, negatives)], rows))
    mined = mined_sets(data, "utterance", judges=True)
    made = [*(Column.of(name, [one], rows) for name, one in mined.items()), *made]
    both = [
        Column.of(name, [one], METRICS)
        for name, one in mined_sets(data, "both", judges=False).items()
    ]
    return "\n".join(page(rows, made, both, lent, model.sums.pairs))


def page(
    rows: Mapping[str, Score],
    made: Sequence[Column],
    both: Sequence[Column],
    lent: Sequence[Judged],
    pairs: int,
) -> Iterator[str]:
    """The lines of the section."""
    contexts, dev = len(set(lent[0].items)), len(set(made[-1].sets[0].items))
    counts = {"mined": MINED, "contexts": contexts, "splits": SPLITS, "dev": dev, "pairs": pairs}
    yield ABOUT.format(**counts, examples=EXAMPLES)
    yield FINDINGS
    yield "### The figures"
    yield ""
    heading = ["metric", *(column.name for column in made)]
    yield from table(heading, ([name, *(one.cell(name) for one in made)] for name in rows))
    yield ""
    for ours, others in AGAINST.items():
        yield f"{ours} minus another metric, and the p-value by PERM-BOTH (two-sided):"
        yield ""
        lines = []
        for name in others:
            cells = [column.difference(name, ours) for column in made]
            lines.append([name, *(one if p == NOTHING else f"{one}, p {p}" for one, p in cells)])
        yield from table(heading, lines)
        yield ""
    yield "Beside the prototype:"
    yield ""
    lines = []
    for column in made:
        for name, value in PROTOTYPE[column.name].items():
            found = column.value(name)
            lines.append(
                [column.name, name, f"{value:.3f}", f"{found:.3f}", f"{found - value:+.3f}"]
            )
    yield from table(["set", "metric", "prototype", "ours", "difference"], lines)
    yield ""
    yield "With references mined by BM25 on both fields:"
    yield ""
    kept = [name for name in METRICS if name in both[0].scores]
    heading = ["metric", *(column.name for column in both)]
    yield from table(heading, ([name, *(f"{c.value(name):.3f}" for c in both)] for name in kept))
    yield ""
    yield "The neutral weight on DSTC7 (all contexts above, negative weights too):"
    yield ""
    yield from neutral_table(lent)
    yield ""
