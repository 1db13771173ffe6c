"""Items of public dialogue sets, to find more references for."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

from deltableu.corpus.types import Item, Reference, Study
from reproduce.rated_sets import dstc7_contexts, read_dstc7

__all__ = ["CORPORA", "dstc7_items", "grade_items", "multirefeval_items", "only_originals"]

#: Of GRADE; each has the outputs of a few systems.
CORPORA = ("dailydialog", "convai2", "empatheticdialogues")


def multirefeval_items(data: Path) -> Study:
    """Gupta et al. 2019: 100 contexts of DailyDialog, the original response and three others."""
    path = data / "multirefeval" / "mturk_rating_processed_output.csv"
    with path.open(encoding="utf-8", newline="") as lines:
        rows = {row["context_id"]: row for row in csv.DictReader(lines)}
    items = []
    for id, row in rows.items():
        *context, message = row["context"].split("||||")
        original = row["prevgt"]
        written = [text for text in row["all_references"].split("\t") if text != original]
        references = (
            Reference("r0", original),
            *(
                Reference(f"r{number}", text, origin="written")
                for number, text in enumerate(written, start=1)
            ),
        )
        items.append(Item(id, references, tuple(context), message))
    return Study(tuple(items))


def grade_items(data: Path) -> Study:
    """Huang et al. 2020: the different contexts of three corpora, with the original response.

    Two contexts that are the same count twice where their responses differ.
    """
    items = []
    for corpus in CORPORA:
        seen: dict[tuple[str, str], None] = {}
        for folder in sorted((data / "grade" / "eval_data" / corpus).iterdir()):
            contexts, responses = (
                (folder / f"human_{name}.txt").read_text("utf-8").removesuffix("\n").split("\n")
                for name in ("ctx", "ref")
            )
            seen.update(dict.fromkeys(zip(contexts, responses, strict=True)))
        for number, (context, response) in enumerate(seen, start=1):
            *turns, message = context.split("|||")
            reference = Reference("r0", response)
            items.append(Item(f"{corpus}-{number}", (reference,), tuple(turns), message))
    return Study(tuple(items))


def dstc7_items(data: Path) -> Study:
    """Galley et al. 2019: what a person replied, and the other replies that were collected.

    The turns before are not given: the text that responses were to draw on stands for the message.
    """
    items = []
    contexts = dstc7_contexts(data)
    found = read_dstc7(data)
    for id, (original, *others) in zip(found.items, found.every, strict=True):
        references = (
            Reference("r0", original),
            *(
                Reference(f"r{number}", text, origin="written")
                for number, text in enumerate(others, start=1)
            ),
        )
        items.append(Item(id, references, message=contexts[id]))
    return Study(tuple(items))


def only_originals(study: Study) -> Study:
    """Without the references that people wrote for the study."""
    return Study(
        tuple(
            replace(
                item, references=tuple(one for one in item.references if one.origin == "original")
            )
            for item in study.items
        )
    )
