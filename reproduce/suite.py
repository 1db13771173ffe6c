"""docs/suite.md: metrics over the public sets that have references and ratings of outputs."""

from __future__ import annotations

import io
import shlex
import tempfile
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from pathlib import Path

import numpy as np

from deltableu.cli.app import main
from deltableu.corpus import (
    Item,
    Rating,
    RatingTable,
    Reference,
    Study,
    read_study,
    write_study,
)
from deltableu.rate import krippendorff_alpha, standardise
from reproduce.imports import IMPORTS, run
from reproduce.layout import table
from reproduce.negative_references import Context, read_contexts

__all__ = ["STUDIES", "labelled_study", "page", "write_suite"]

#: Those of the public sets whose outputs have references and ratings.
STUDIES = (
    "bartscore_nlg",
    "dstc7",
    "e2e_nlg",
    "graham_da",
    "grade",
    "mlqe_multiref",
    "multirefeval",
    "webnlg2020",
    "wmt15_17_daseg",
    "wmt17",
    "wmt21_da",
)
#: Systems whose outputs are among the references of their items.
LEFT_OUT = {"dstc7": ("Human",)}
#: The only one with weights, and made otherwise.
LABELLED = "dailydialogpp"
CRITERIA = ("Relevance", "relevance")
COMMAND = (
    "validate --suite suite --metrics bleu-4,sentence-bleu-2,chrf++,rouge-l,ter,delta-bleu-2,"
    f"delta-chrf++ --criterion {','.join(CRITERIA)}"
)

INTRODUCTION = """# A suite: metrics over many studies

Written by `python -m reproduce suite` from public data sets, which are not part of this project.
Every number is from that run; nothing is edited by hand. How to read it, and how to run it on your
own studies: [many studies at once](how-to/validate.md#many-studies-at-once).

"""

SETTING = """
Each study is made by the command of [import](how-to/import.md#public-data-sets) of the same name.
`{labelled}` is no import: its "systems" are kinds of responses to {contexts:,} contexts (Sai et al.
2020, `dev`). The first good, adversarial and random response of each context are outputs; what
people say is that the good one is good (1) and the others are not (0); the other good responses are
references at 1 and the other bad ones at -1. Metrics without weights take the bad ones for
references like any other: what they reach there is a warning, not a comparison. No other set has
weights, so `delta-bleu-2` and `delta-chrf++` can be ranked nowhere else.

Studies of one criterion are taken as they are; of several criteria, relevance. Studies were chosen
for having references and ratings, before any result was known. `Human` is left out of `dstc7`:
most of its outputs are references of their items, which flatters every metric that looks at them.
Scores are of single outputs: no level compares whole systems.

```sh elsewhere
deltableu {command}
```

"""

RATERS = """
## How far raters agree

Krippendorff's alpha of ratings standardised by rater, over outputs that two or more rated; 1 is
perfect, 0 is chance. Where raters hardly agree no metric can agree with them, and its place there
is a matter of luck. Studies not listed have one rating, or one average, of each output.

"""

#: What the run showed and could not explain.
DOUBT = """
`wmt21_da` is to be read with care: every metric lies near 0 there, with the right references as
with those of other items. Its raters hardly agree with each other, which no mistake in reading the
texts could cause, and which may be all there is to it. But the ratings name lines of the text files
by number, and ratings this noisy cannot confirm that the numbering is meant so. The set stays in,
because leaving out what came out badly would be a choice of results.
"""

OTHERS = """
## Other studies

The same ranks with intervals that draw whole studies again (`--resample studies`): what other sets
like these might say. They are wider, and they are what a claim about a metric in general needs.

"""


def page(data: Path) -> str:
    """The whole page."""
    contexts = read_contexts(data)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name, "suite")
        write_suite(folder, contexts)
        arguments = [str(folder) if one == "suite" else one for one in shlex.split(COMMAND)]
        arguments += ["--format", "markdown"]
        printed = _printed(arguments)
        brief = ["--levels", "pooled", "--methods", "pearson", "--tables", "ranks"]
        others = _printed([*arguments, *brief, "--resample", "studies"])
        raters = rater_agreement(folder)
    lines = [f"- `{name}`: {IMPORTS[name][0]}" for name in STUDIES]
    lines.append(f"- `{LABELLED}`: DailyDialog++, responses that people wrote as good or bad")
    setting = SETTING.format(labelled=LABELLED, contexts=len(contexts), command=COMMAND)
    return "".join(
        [
            INTRODUCTION,
            "\n".join(lines),
            "\n",
            setting,
            printed,
            RATERS,
            raters,
            DOUBT,
            OTHERS,
            others,
        ]
    )


def rater_agreement(folder: Path) -> str:
    """How far raters agree in each study where any output has two."""
    rows = []
    for path in sorted(folder.iterdir()):
        study = read_study(path)
        there = {study.ratings.criteria[place] for place in study.ratings.scored().criterion}
        criterion = next((one for one in CRITERIA if one in there), None)
        ratings = RatingTable.from_study(study, criterion=criterion)
        counts = (~np.isnan(ratings.by_output())).sum(axis=0)
        if (counts > 1).any():
            found = krippendorff_alpha(standardise(ratings)[0])
            cells = (f"{found.units:,}", f"{found.ratings:,}", f"{found.value:.3f}")
            rows.append([path.name, *cells])
    return "\n".join([*table(["study", "outputs", "ratings", "alpha"], rows), ""])


def write_suite(
    folder: Path, contexts: Iterable[Context] | None, names: Iterable[str] = STUDIES
) -> None:
    """A folder with a study for each set."""
    folder.mkdir()
    for name in names:
        run(name, folder / name)
        for system in LEFT_OUT.get(name, ()):
            _leave_out(folder / name, system)
    if contexts is not None:
        write_study(labelled_study(contexts), folder / LABELLED)


def _leave_out(path: Path, system: str) -> None:
    study = read_study(path)
    target = f"system:{system}"
    kept = RatingTable.from_records(one for one in study.ratings if one.target != target)
    outputs = {name: texts for name, texts in study.outputs.items() if name != system}
    write_study(replace(study, outputs=outputs, ratings=kept), path, replace=True)


def labelled_study(contexts: Iterable[Context]) -> Study:
    """Good and bad responses as outputs, the others as weighted references."""
    items, ratings = [], []
    outputs: dict[str, list[str]] = {"good": [], "adversarial": [], "random": []}
    for number, context in enumerate(contexts):
        id = str(number)
        texts = [(text, 1.0) for text in context.good[1:]]
        texts += [(text, -1.0) for text in (*context.adversarial[1:], *context.random[1:])]
        items.append(
            Item(
                id,
                tuple(
                    Reference(f"r{place}", text, weight)
                    for place, (text, weight) in enumerate(texts)
                ),
            )
        )
        for kind, written in outputs.items():
            written.append(getattr(context, kind)[0])
            value = float(kind == "good")
            ratings.append(Rating("writers", id, f"system:{kind}", value, scale="0-1"))
    made = {kind: tuple(texts) for kind, texts in outputs.items()}
    return Study(tuple(items), made, RatingTable.from_records(ratings))


def _printed(arguments: list[str]) -> str:
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as end:
            if end.code:
                raise RuntimeError(f"the suite failed: {err.getvalue()}") from None
    return out.getvalue()
