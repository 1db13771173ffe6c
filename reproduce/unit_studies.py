"""The delta-BLEU paper's study on public data: units of sentences, sweeps, bins, failure cases."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from deltableu.corpus import Item, RatingTable, Reference, ScoreTable, Study, reference_set
from deltableu.io import Table
from deltableu.score import score_systems
from deltableu.text import same_text
from deltableu.validate import (
    SweepPlan,
    Sweeps,
    UnitPlan,
    analyse_validation,
    sweep_metrics,
    validate_metrics,
)
from reproduce import provider_split
from reproduce.layout import table, with_interval
from reproduce.rated_sets import read_judged_responses, read_multirefeval

METRICS = "bleu-2,sentence-bleu-2"
CASES = 2

HEAD = """\
# Units of sentences on public data

Written by `python -m reproduce units` from public data sets; people are as each set has them.
An observation is a pair of systems on M sentences, as in section 5 of the delta-BLEU paper:
differences of scores are correlated with differences of people's ratings, averaged over random
assignments of sentences to units (`deltableu validate STUDY --sweep ...`). Intervals come from
200 draws of items, 20 assignments each: they speak about these systems on other items. None of
these sets has rated references, so that delta-BLEU has rows only in the provider split, where
weights are made from ratings of outputs.
"""


@dataclass(frozen=True, slots=True)
class PublicStudy:
    """A data set as a study, with people's scores."""

    title: str
    about: str
    study: Study
    people: RatingTable | ScoreTable
    units: int


def page(data: Path) -> str:
    """The whole page: a summary, the provider split, then a section per set."""
    sections, summary = [], []
    for one in studies(data):
        swept = sweep_metrics(
            one.study,
            one.people,
            metrics=METRICS,
            sweeps=("settings", "unit-size", "order", "references"),
            plan=SweepPlan(
                units=UnitPlan(size=one.units, assignments=200),
                unit_sizes=(1, 10, 20) if one.units <= 20 else (1, 10, 20, 50, 100),
            ),
        )
        summary.append(_summary(one, swept))
        sections += _section(one, swept)
    header = ["set", "systems", "pairs", "items", "M", *METRICS.split(","), "units"]
    return (
        "\n".join(
            [
                HEAD,
                "Spearman's rho with all references:",
                "",
                *table(header, summary),
                "",
                "## DSTC7 with rated references: a provider split",
                "",
                *provider_split.section(data),
                "",
                *sections,
            ]
        ).rstrip()
        + "\n"
    )


def studies(data: Path) -> Iterator[PublicStudy]:
    """All of them."""
    yield _dstc7(data)
    yield _multirefeval(data)
    yield from _grade(data)


def _summary(one: PublicStudy, swept: Sweeps) -> list[str]:
    settings = swept.sweep("settings")
    last = settings.settings[-1]
    found = [settings.agreement(name, last, "spearman") for name in settings.metrics]
    cells = [
        f"{each.value:.3f}" if each.interval is None else with_interval(each.value, each.interval)
        for each in found
    ]
    sizes = [len(one.study.outputs), len(swept.pairs), swept.items, found[0].unit_size]
    return [one.title, *map(str, sizes), *cells, str(found[0].units)]


def _section(one: PublicStudy, swept: Sweeps) -> list[str]:
    lines = [f"## {one.title}", "", one.about, ""]
    for made in swept.tables():
        lines += [f"**{made.caption}**", "", _markdown(made), ""]
    scoring = score_systems(
        reference_set(one.study), one.study.outputs, "sentence-bleu-2", no_positive="skip"
    )
    validation = validate_metrics(scoring, one.people)
    behind = analyse_validation(validation, one.study, most=CASES)
    for name in ("bins", "cases"):
        for made in behind.tables(name):
            lines += [f"**{made.caption}**", "", _markdown(made), ""]
    return lines


def _markdown(made: Table) -> str:
    """Without caption and notes."""
    return Table(made.columns, made.rows).to_markdown().rstrip()


def _dstc7(data: Path) -> PublicStudy:
    systems, outputs, references, judged = read_judged_responses(data)
    items, kept = [], []
    for item, texts in references.items():
        # Human's response is one of the references: nobody may be compared with itself.
        rest = [text for text in texts if not same_text(text, outputs["Human"][item])]
        if rest:
            kept.append(item)
            pairs = (Reference(f"r{place}", text) for place, text in enumerate(rest))
            items.append(Item(item, tuple(pairs)))
    study = Study(
        tuple(items), {name: tuple(outputs[name][item] for item in kept) for name in systems}
    )
    known = set(kept)
    heard = [one for one in judged if one[1] in known and one[2] in outputs]
    raters, rated, systems, values = zip(*heard, strict=True)
    return PublicStudy(
        "DSTC7",
        "Galley et al. 2019: Reddit, ten systems (one of them people), three judges per response, "
        "standardised by judge; relevance and informativeness are averaged. Human's own response "
        "is taken out of the references; the single reference is the first that is left.",
        study,
        RatingTable.of(raters=raters, items=rated, systems=systems, values=values),
        100,
    )


def _multirefeval(data: Path) -> PublicStudy:
    found = read_multirefeval(data)
    items = tuple(
        Item(
            str(place),
            tuple(Reference(f"r{number}", text) for number, text in enumerate([*one, *every])),
        )
        for place, (one, every) in enumerate(zip(found.single, found.every, strict=True))
    )
    outputs = {name: tuple(texts) for name, texts in zip(found.systems, found.outputs, strict=True)}
    people = ScoreTable.of(
        {"rating": dict(zip(found.systems, found.human.tolist(), strict=True))},
        items=[item.id for item in items],
    )
    return PublicStudy(
        "DailyDialog, four more references",
        "Gupta et al. 2019: five systems (one of them people) on 100 contexts, mean ratings. The "
        "single reference is the original one.",
        Study(items, outputs),
        people,
        20,
    )


def _grade(data: Path) -> Iterator[PublicStudy]:
    folder = data / "grade"
    names = ("transformer_generator", "transformer_ranker")
    for corpus in ("dailydialog", "empatheticdialogues", "convai2"):
        texts = {
            (name, part): (folder / "eval_data" / corpus / name / f"human_{part}.txt")
            .read_text("utf-8")
            .splitlines()
            for name in names
            for part in ("hyp", "ref")
        }
        references = texts[names[0], "ref"]
        items = tuple(
            Item(str(place), (Reference("r0", text),)) for place, text in enumerate(references)
        )
        ratings = folder / "human_score" / corpus
        scores = {
            name: [*map(float, (ratings / name / "human_score.txt").read_text("utf-8").split())]
            for name in names
        }
        yield PublicStudy(
            f"GRADE, {corpus}",
            "Huang et al. 2020: two systems on 150 contexts, one reference, means of 8 to 11 "
            "ratings. With one pair of systems, units differ in their sentences alone.",
            Study(items, {name: tuple(texts[name, "hyp"]) for name in names}),
            ScoreTable.of({"rating": scores}, items=[item.id for item in items]),
            20,
        )
